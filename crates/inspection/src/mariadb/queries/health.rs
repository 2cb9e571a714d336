//! Findings about the health of the server: keys that run out, old transactions, replicas
//! that are behind, tables that are mostly free space.
//!
//! <https://mariadb.com/kb/en/information-schema-innodb_trx-table/>,
//! <https://mariadb.com/kb/en/show-replica-status/>

use super::{Reader, is_mariadb, quote_identifier};
use crate::statements::{Advice, AdviceKind, Certainty, Snapshot};
use engine::ServerError;
use engine::server::MARK;
use observations::number::{bytes, count, percent, seconds};

/// The part of the numbers of a key that is used up before it is reported.
const USED_MIN: f64 = 0.7;
/// Seconds that a transaction may be open, and that its session may sleep.
const OPEN_S: u64 = 300;
const IDLE_S: u64 = 10;
/// Seconds that a replica may be behind.
const BEHIND_S: f64 = 10.0;
/// Old versions of rows that the purge leaves for a while.
const HISTORY_MAX: f64 = 1_000_000.0;
/// A table that is half free is worth a rebuild when so much is free.
const FREE_SHARE: f64 = 0.5;
const FREE_MIN: f64 = 104_857_600.0;

type Check = fn(&mut Reader, &Snapshot) -> Result<Vec<Advice>, ServerError>;

/// Looks for what needs care.
pub(super) fn health(reader: &mut Reader, snapshot: &mut Snapshot) -> Vec<Advice> {
    let checks: [(&str, Check); 5] = [
        ("keys that count up", keys),
        ("open transactions", transactions),
        ("old versions of rows", history),
        ("state of replication", replica),
        ("free space of tables", free),
    ];
    let mut all = Vec::new();
    // Digests of SHOW hide our mark: from there, our statements are known as ours.
    let observed_from = reader.session.server().database.clone();
    let _ = reader.session.run(&format!("USE {observed_from}"));
    for (what, check) in checks {
        match check(reader, snapshot) {
            Ok(found) => all.extend(found),
            Err(error) => snapshot.note_unread(what, error),
        }
    }
    all
}

/// The largest number of a type.
fn largest(kind: &str) -> Option<f64> {
    let bits = match kind.split(['(', ' ']).next()? {
        "tinyint" => 8,
        "smallint" => 16,
        "mediumint" => 24,
        "int" => 32,
        "bigint" => 64,
        _ => return None,
    };
    let signed = i32::from(!kind.contains("unsigned"));
    Some(2_f64.powi(bits - signed) - 1.0)
}

fn keys(reader: &mut Reader, snapshot: &Snapshot) -> Result<Vec<Advice>, ServerError> {
    let rows = reader.rows::<5>(&format!(
        "SELECT t.table_schema AS {MARK}, t.table_name, t.auto_increment, c.column_name, \
         c.column_type FROM information_schema.tables t JOIN information_schema.columns c ON \
         c.table_schema = t.table_schema AND c.table_name = t.table_name AND c.extra LIKE \
         '%auto_increment%' WHERE t.auto_increment IS NOT NULL"
    ))?;
    let mut all = Vec::new();
    for [database, table, next, column, kind] in rows {
        let (Some(end), Ok(next)) = (largest(&kind), next.parse::<f64>()) else { continue };
        let used = next / end;
        let known = snapshot
            .tables
            .iter()
            .position(|entry| entry.database == database && entry.name == table);
        if used < USED_MIN || known.is_none() {
            continue;
        }
        let wider = if kind.contains("bigint") { "BIGINT UNSIGNED" } else { "BIGINT" };
        all.push(Advice {
            table: known,
            subject: format!("{table} ({column})"),
            evidence: format!(
                "The next number is {} of {} that {kind} has ({}).",
                count(next as u64),
                count(end as u64),
                percent(used, 1)
            ),
            change: "At the end each insert fails. Give the column a wider type, and columns of \
                     other tables that refer to it."
                .into(),
            price:
                "The server copies the table; writers wait for that time. pt-online-schema-change \
                    or gh-ost copy it in steps."
                    .into(),
            ddl: Some(format!(
                "ALTER TABLE {}.{} MODIFY {} {wider} NOT NULL AUTO_INCREMENT",
                quote_identifier(&database),
                quote_identifier(&table),
                quote_identifier(&column)
            )),
            database,
            weight: used,
            ..Advice::new(AdviceKind::Exhaustion, Certainty::Counted)
        });
    }
    Ok(all)
}

fn transactions(reader: &mut Reader, _: &Snapshot) -> Result<Vec<Advice>, ServerError> {
    let rows = reader.rows::<7>(&format!(
        "SELECT t.trx_mysql_thread_id AS {MARK}, p.user, coalesce(p.db, ''), p.command, p.time, \
         timestampdiff(SECOND, t.trx_started, now()), t.trx_rows_modified FROM \
         information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = \
         t.trx_mysql_thread_id WHERE p.id <> connection_id() AND (timestampdiff(SECOND, \
         t.trx_started, now()) > {OPEN_S} OR (p.command = 'Sleep' AND p.time > {IDLE_S})) ORDER \
         BY 6 DESC"
    ))?;
    Ok(rows
        .into_iter()
        .map(|[id, user, database, command, idle, open, changed]| {
            let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
            let idle = if command == "Sleep" {
                format!(" It has done nothing for {}.", seconds(number(&idle)))
            } else {
                String::new()
            };
            Advice {
                database,
                subject: format!("session {id} of {user}"),
                evidence: format!(
                    "Its transaction is open since {} and has changed {} rows.{idle}",
                    seconds(number(&open)),
                    count(number(&changed) as u64)
                ),
                change:
                    "It keeps its locks, and all old versions of rows since it began. Find out \
                         why the program does not commit; idle_transaction_timeout ends such \
                         sessions."
                        .into(),
                price: "Ending the session rolls its work back.".into(),
                ddl: Some(format!("KILL {id}")),
                weight: number(&open),
                ..Advice::new(AdviceKind::HeldUp, Certainty::Counted)
            }
        })
        .collect())
}

fn history(reader: &mut Reader, _: &Snapshot) -> Result<Vec<Advice>, ServerError> {
    let rows = reader
        .rows::<2>(&format!("SHOW GLOBAL STATUS /* {MARK} */ LIKE 'Innodb_history_list_length'"))?;
    let length = rows.first().and_then(|[_, value]| value.parse::<f64>().ok());
    let found = length.filter(|length| *length > HISTORY_MAX);
    Ok(found
        .map(|length| Advice {
            subject: "history list".into(),
            evidence: format!("{} old versions of rows wait for the purge.", count(length as u64)),
            change: "Reads pass them, and the undo log grows. End old transactions; raise \
                     innodb_purge_threads if there are none."
                .into(),
            price: "None in itself.".into(),
            ..Advice::new(AdviceKind::DeadRows, Certainty::Counted)
        })
        .into_iter()
        .collect())
}

fn replica(reader: &mut Reader, _: &Snapshot) -> Result<Vec<Advice>, ServerError> {
    let is_mariadb = is_mariadb(&*reader.session);
    let sql = if is_mariadb { "SHOW ALL SLAVES STATUS" } else { "SHOW REPLICA STATUS" };
    let answer = reader.session.query(sql)?;
    let column = |names: [&str; 2]| {
        answer.columns().iter().position(|column| names.contains(&column.as_str()))
    };
    let behind = column(["Seconds_Behind_Master", "Seconds_Behind_Source"]);
    let error = column(["Last_SQL_Error", "Last_SQL_Error"]);
    let running = column(["Slave_SQL_Running", "Replica_SQL_Running"]);
    let mut all = Vec::new();
    for row in answer.iter() {
        let cell = |at: Option<usize>| row.get(at?);
        let late = cell(behind).and_then(|text| text.parse::<f64>().ok());
        let is_stopped = cell(running).is_some_and(|state| state != "Yes");
        if !is_stopped && late.is_none_or(|late| late < BEHIND_S) {
            continue;
        }
        let why = cell(error).filter(|text| !text.is_empty());
        let why = why.map(|why| format!(" {why}")).unwrap_or_default();
        all.push(Advice {
            subject: "this replica".into(),
            evidence: if is_stopped {
                format!("It does not apply changes.{why}")
            } else {
                format!("It is {} behind.", seconds(late.unwrap_or(0.0)))
            },
            change:
                "Reads on it are old. Look for the error, for long transactions, and for tables \
                     without a primary key, whose changes it applies by reading them whole."
                    .into(),
            price: "None in itself.".into(),
            ..Advice::new(AdviceKind::Replication, Certainty::Counted)
        });
    }
    Ok(all)
}

fn free(reader: &mut Reader, snapshot: &Snapshot) -> Result<Vec<Advice>, ServerError> {
    let rows = reader.rows::<4>(&format!(
        "SELECT table_schema AS {MARK}, table_name, data_free, data_length + index_length FROM \
         information_schema.tables WHERE engine = 'InnoDB' AND data_free > {FREE_MIN}"
    ))?;
    let mut all = Vec::new();
    for [database, name, free, used] in rows {
        let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
        let (free, used) = (number(&free), number(&used));
        let known = snapshot
            .tables
            .iter()
            .position(|table| table.database == database && table.name == name);
        let Some(at) = known.filter(|_| free >= FREE_SHARE * (free + used)) else { continue };
        let table = &snapshot.tables[at];
        all.push(Advice {
            database,
            table: Some(at),
            subject: table.label(),
            evidence: format!(
                "{} of its file are free beside {} of rows and indexes.",
                bytes(free as u64),
                bytes(used as u64)
            ),
            change: "New rows fill that room. If it stays empty, a rebuild gives it back.".into(),
            price: "The rebuild writes a second copy; other sessions read and write in that time."
                .into(),
            ddl: Some(format!("OPTIMIZE TABLE {}", table.quoted)),
            weight: free,
            ..Advice::new(AdviceKind::DeadRows, Certainty::Estimated)
        });
    }
    Ok(all)
}

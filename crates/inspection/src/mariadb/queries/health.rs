//! Findings about the health of the server: keys that run out, old transactions, replicas
//! that are behind, tables that are mostly free space.
//!
//! <https://mariadb.com/kb/en/information-schema-innodb_trx-table/>,
//! <https://mariadb.com/kb/en/show-replica-status/>

use super::{Reader, is_mariadb, quote_identifier};
use crate::statements::{Advice, AdviceKind, Certainty, Snapshot};
use engine::Row;
use engine::server::MARK;
use observations::number::{bytes, count, percent, seconds};

/// The part of the numbers of a key that is used up before it is reported.
const USED_MIN: f64 = 0.7;
/// Seconds that a replica may be behind.
const BEHIND_S: f64 = 10.0;
/// Old versions of rows that the purge leaves for a while.
const HISTORY_MAX: f64 = 1_000_000.0;
/// A table that is half free is worth a rebuild, where the query finds enough that is free.
const FREE_SHARE: f64 = 0.5;

/// A query, and the findings that a row of its answer leads to.
struct Check {
    what: &'static str,
    /// `{MARK}` stands for our mark.
    sql: &'static str,
    find: fn(Row<'_>, &Snapshot, &mut Vec<Advice>),
}

/// Looks for what needs care.
pub(super) fn health(reader: &mut Reader, snapshot: &mut Snapshot) -> Vec<Advice> {
    let replicas =
        if is_mariadb(&*reader.session) { "SHOW ALL SLAVES STATUS" } else { "SHOW REPLICA STATUS" };
    let checks = [
        Check { what: "keys that count up", sql: KEYS, find: keys },
        Check { what: "open transactions", sql: TRANSACTIONS, find: transactions },
        Check { what: "old versions of rows", sql: HISTORY, find: history },
        Check { what: "state of replication", sql: replicas, find: replica },
        Check { what: "free space of tables", sql: FREE, find: free },
    ];
    let mut found = Vec::new();
    // Digests of SHOW hide our mark: from there, our statements are known as ours.
    let observed_from = reader.session.server().database.clone();
    let _ = reader.session.run(&format!("USE {observed_from}"));
    for Check { what, sql, find } in checks {
        match reader.session.query(&sql.replace("{MARK}", MARK)) {
            Ok(rows) => rows.iter().for_each(|row| find(row, snapshot, &mut found)),
            Err(error) => snapshot.note_unread(what, error),
        }
    }
    found
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

const KEYS: &str = "SELECT t.table_schema AS {MARK}, t.table_name, t.auto_increment, \
                    c.column_name, c.column_type FROM information_schema.tables t JOIN \
                    information_schema.columns c ON c.table_schema = t.table_schema AND \
                    c.table_name = t.table_name AND c.extra LIKE '%auto_increment%' WHERE \
                    t.auto_increment IS NOT NULL";

fn keys(row: Row<'_>, snapshot: &Snapshot, found: &mut Vec<Advice>) {
    let [database, table, _, column, kind] = row.texts();
    let (Some(end), Some(next)) = (largest(&kind), row.parse::<f64>(2)) else { return };
    let used = next / end;
    let known = snapshot.table_at(&database, "", &table);
    if used < USED_MIN || known.is_none() {
        return;
    }
    let wider = if kind.contains("bigint") { "BIGINT UNSIGNED" } else { "BIGINT" };
    found.push(Advice {
        table: known,
        subject: format!("{table} ({column})"),
        evidence: format!(
            "The next number is {} of {} that {kind} has ({}).",
            count(next as u64),
            count(end as u64),
            percent(used, 1)
        ),
        change: "At the end each insert fails. Give the column a wider type, and columns of other \
                 tables that refer to it."
            .into(),
        price: "The server copies the table; writers wait for that time. pt-online-schema-change \
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

/// Transactions that are open for 5 minutes, or whose session sleeps.
const TRANSACTIONS: &str = "SELECT t.trx_mysql_thread_id AS {MARK}, p.user, coalesce(p.db, ''), \
                            p.command, p.time, timestampdiff(SECOND, t.trx_started, now()), \
                            t.trx_rows_modified FROM information_schema.innodb_trx t JOIN \
                            information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE \
                            p.id <> connection_id() AND (timestampdiff(SECOND, t.trx_started, \
                            now()) > 300 OR (p.command = 'Sleep' AND p.time > 10)) ORDER BY 6 DESC";

fn transactions(row: Row<'_>, _: &Snapshot, found: &mut Vec<Advice>) {
    let [id, user, database, command] = row.texts();
    let [idle, open, changed] = [4, 5, 6].map(|at| row.parse(at).unwrap_or(0.0));
    let idle = (command == "Sleep").then(|| format!(" It has done nothing for {}.", seconds(idle)));
    found.push(Advice {
        database,
        subject: format!("session {id} of {user}"),
        evidence: format!(
            "Its transaction is open since {} and has changed {} rows.{}",
            seconds(open),
            count(changed as u64),
            idle.unwrap_or_default()
        ),
        change: "It keeps its locks, and all old versions of rows since it began. Find out why \
                 the program does not commit; idle_transaction_timeout ends such sessions."
            .into(),
        price: "Ending the session rolls its work back.".into(),
        ddl: Some(format!("KILL {id}")),
        weight: open,
        ..Advice::new(AdviceKind::HeldUp, Certainty::Counted)
    });
}

const HISTORY: &str = "SHOW GLOBAL STATUS /* {MARK} */ LIKE 'Innodb_history_list_length'";

fn history(row: Row<'_>, _: &Snapshot, found: &mut Vec<Advice>) {
    let length: f64 = row.parse(1).unwrap_or(0.0);
    if length <= HISTORY_MAX {
        return;
    }
    found.push(Advice {
        subject: "history list".into(),
        evidence: format!("{} old versions of rows wait for the purge.", count(length as u64)),
        change: "Reads pass them, and the undo log grows. End old transactions; raise \
                 innodb_purge_threads if there are none."
            .into(),
        price: "None in itself.".into(),
        ..Advice::new(AdviceKind::DeadRows, Certainty::Counted)
    });
}

fn replica(row: Row<'_>, _: &Snapshot, found: &mut Vec<Advice>) {
    let either = |name: &str, other: &str| row.get(name).or_else(|| row.get(other));
    let late = either("Seconds_Behind_Master", "Seconds_Behind_Source");
    let late = late.and_then(|text| text.parse::<f64>().ok());
    let is_stopped =
        either("Slave_SQL_Running", "Replica_SQL_Running").is_some_and(|state| state != "Yes");
    if !is_stopped && late.is_none_or(|late| late < BEHIND_S) {
        return;
    }
    let why = row.get("Last_SQL_Error").filter(|text| !text.is_empty());
    found.push(Advice {
        subject: "this replica".into(),
        evidence: if is_stopped {
            let why = why.map(|why| format!(" {why}")).unwrap_or_default();
            format!("It does not apply changes.{why}")
        } else {
            format!("It is {} behind.", seconds(late.unwrap_or(0.0)))
        },
        change: "Reads on it are old. Look for the error, for long transactions, and for tables \
                 without a primary key, whose changes it applies by reading them whole."
            .into(),
        price: "None in itself.".into(),
        ..Advice::new(AdviceKind::Replication, Certainty::Counted)
    });
}

/// Tables with more than 100 MiB that are free.
const FREE: &str = "SELECT table_schema AS {MARK}, table_name, data_free, data_length + \
                    index_length FROM information_schema.tables WHERE engine = 'InnoDB' AND \
                    data_free > 104857600";

fn free(row: Row<'_>, snapshot: &Snapshot, found: &mut Vec<Advice>) {
    let [database, name] = row.texts();
    let [free, used] = [2, 3].map(|at| row.parse(at).unwrap_or(0.0));
    let known = snapshot.table_at(&database, "", &name);
    let Some(at) = known.filter(|_| free >= FREE_SHARE * (free + used)) else { return };
    let table = &snapshot.tables[at];
    found.push(Advice {
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

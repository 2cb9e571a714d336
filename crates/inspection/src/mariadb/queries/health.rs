//! Findings about the health of the server: keys that run out, old transactions, replicas
//! that are behind, tables that are mostly free space.
//!
//! <https://mariadb.com/kb/en/information-schema-innodb_trx-table/>,
//! <https://mariadb.com/kb/en/show-replica-status/>

use super::Reader;
use crate::mariadb::statement_rules::quoted;
use crate::statements::{Advice, AdviceKind, Certainty, Snapshot};
use engine::{Row, View};
use observations::number::{bytes, count, percent, seconds};

/// The part of the numbers of a key that is used up before it is reported.
const USED_MIN: f64 = 0.7;
/// Seconds that a replica may be behind.
const BEHIND_S: f64 = 10.0;
/// Old versions of rows that the purge leaves for a while.
const HISTORY_MAX: f64 = 1_000_000.0;
/// A table that is half free is worth a rebuild, where the query finds enough that is free.
const FREE_SHARE: f64 = 0.5;

/// The queries, each with our mark where digests keep it.
const FILE: &str = include_str!("health.sql");

/// A query, and the findings that a row of its answer leads to.
struct Check {
    query: View,
    find: fn(Row<'_>, &Snapshot, &mut Vec<Advice>),
}

const CHECKS: [Check; 5] = [
    Check { query: View::new("keys that count up", FILE), find: keys },
    Check { query: View::new("open transactions", FILE), find: transactions },
    Check { query: View::new("old versions of rows", FILE), find: history },
    Check { query: View::new("state of replication", FILE), find: replica },
    Check { query: View::new("free space of tables", FILE), find: free },
];

/// Looks for what needs care.
pub(super) fn health(reader: &mut Reader, snapshot: &mut Snapshot) -> Vec<Advice> {
    let mut found = Vec::new();
    // Digests of SHOW hide our mark: from there, our statements are known as ours.
    let observed_from = reader.session.server().database.clone();
    let _ = reader.session.run(&format!("USE {observed_from}"));
    for Check { query, find } in &CHECKS {
        let answer = reader.session.query(&reader.form(query));
        if let Some(rows) = snapshot.read(query.name, answer) {
            rows.iter().for_each(|row| find(row, snapshot, &mut found));
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
            quoted(&database),
            quoted(&table),
            quoted(&column)
        )),
        database,
        weight: used,
        ..Advice::new(AdviceKind::Exhaustion, Certainty::Counted)
    });
}

/// Transactions that are open for 5 minutes, or whose session sleeps.
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

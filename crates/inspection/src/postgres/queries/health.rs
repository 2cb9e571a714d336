//! Findings about the health of the server: vacuum, numbers that run out, sessions and
//! slots that hold back the removal of old rows and logs.
//!
//! <https://www.postgresql.org/docs/current/routine-vacuuming.html>,
//! <https://www.postgresql.org/docs/current/view-pg-replication-slots.html>

use super::reader::Reader;
use crate::statements::{Advice, AdviceKind, Certainty, Snapshot, Table};
use engine::{Row, View};
use observations::number::{bytes, count, percent, seconds};
use std::collections::BTreeSet;

/// `autovacuum_vacuum_scale_factor` and `autovacuum_vacuum_threshold` by default: autovacuum cleans
/// a table with more dead rows than this, unless it is off or falls behind.
const DEAD_SHARE: f64 = 0.2;
const DEAD_MIN: f64 = 1_000.0;
/// A table that is half empty is worth a rewrite when so much is free.
const FREE_SHARE: f64 = 0.5;
const FREE_MIN: f64 = 10_485_760.0;
/// The age at which the server itself begins to freeze is exceeded by so much only where that does
/// not work.
const AGE_FACTOR: f64 = 1.5;
/// Transaction numbers before the server refuses writes.
const TRANSACTION_NUMBERS: f64 = 2_147_483_648.0;
/// The part of a sequence that is used up before it is reported.
const USED_MIN: f64 = 0.7;
/// Seconds that a replica may be late.
const LATE_S: f64 = 10.0;
/// Log that a slot or a replica may be behind.
const BEHIND_BYTES: f64 = 16_777_216.0;

/// The queries, each with our mark.
const FILE: &str = include_str!("health.sql");

/// A query, and the findings that a row of its answer leads to.
struct Check {
    query: View,
    find: fn(Row<'_>, &Database<'_>, &mut Vec<Advice>),
}

/// A database that is looked into.
struct Database<'a> {
    name: &'a str,
    snapshot: &'a Snapshot,
}

/// Checks of the whole server.
const OF_SERVER: [Check; 7] = [
    Check { query: View::new("ages of transactions", FILE), find: ages },
    Check { query: View::new("open transactions", FILE), find: transactions },
    Check { query: View::new("prepared transactions", FILE), find: prepared },
    Check { query: View::new("replication slots", FILE), find: slots },
    Check { query: View::new("replicas", FILE), find: replicas },
    Check { query: View::new("replay of this replica", FILE), find: this_replica },
    Check { query: View::new("settings", FILE), find: settings },
];

/// Checks of each database.
const OF_DATABASES: [Check; 2] = [
    Check { query: View::new("sequences", FILE), find: sequences },
    Check { query: View::new("dead rows", FILE), find: dead_rows },
];

/// Looks for what needs care in all databases that were read.
pub(super) fn health(reader: &mut Reader, snapshot: &mut Snapshot) -> Vec<Advice> {
    let databases: BTreeSet<String> =
        snapshot.tables.iter().map(|table| table.database.clone()).collect();
    let home = reader.home.clone();
    let of_server = OF_SERVER.iter().map(|check| (check, &home));
    let of_databases = databases
        .iter()
        .flat_map(|database| OF_DATABASES.iter().map(move |check| (check, database)));
    let mut found = Vec::new();
    for (Check { query, find }, name) in of_server.chain(of_databases) {
        let answer = reader.session(name).and_then(|session| session.query(&query.sql()));
        let answer = answer.map_err(|error| error.words());
        if let Some(rows) = snapshot.read(&format!("{} of database {name}", query.name), answer) {
            let database = Database { name, snapshot };
            rows.iter().for_each(|row| find(row, &database, &mut found));
        }
    }
    found
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn ages(row: Row<'_>, _: &Database<'_>, found: &mut Vec<Advice>) {
    let age: f64 = row.parse(1).unwrap_or(0.0);
    let limit: f64 = row.parse(2).unwrap_or(TRANSACTION_NUMBERS);
    if age < AGE_FACTOR * limit {
        return;
    }
    let database = row.text(0);
    found.push(Advice {
        subject: format!("transaction numbers of database {database}"),
        evidence: format!(
            "Its oldest transaction number is {} old, {} of those that there are; the server \
             freezes from {} on, and has not.",
            count(age as u64),
            percent(age / TRANSACTION_NUMBERS, 1),
            count(limit as u64)
        ),
        change: "At 2 billion the server refuses all writes. VACUUM (FREEZE) in that database \
                 renews the numbers; end old transactions, prepared transactions and slots \
                 first, which hold it back."
            .into(),
        price: "It reads all tables that were not frozen.".into(),
        ddl: Some("VACUUM (FREEZE)".into()),
        database,
        ..Advice::new(AdviceKind::Exhaustion, Certainty::Counted)
    });
}

fn transactions(row: Row<'_>, _: &Database<'_>, found: &mut Vec<Advice>) {
    let (pid, state) = (row.text(0), row.text(4));
    let open: f64 = row.parse(5).unwrap_or(0.0);
    let idle: f64 = row.parse(6).unwrap_or(0.0);
    let is_idle = state.starts_with("idle");
    let idle = is_idle.then(|| format!(" It has done nothing for {}.", seconds(idle)));
    let idle = idle.unwrap_or_default();
    let holds = if row.get(7) == Some("t") {
        "It keeps VACUUM from removing rows that were deleted since it began, and "
    } else {
        "It "
    };
    found.push(Advice {
        database: row.text(1),
        subject: format!("session {pid} of {} ({})", row.text(2), row.text(3)),
        evidence: format!("Its transaction is open since {} ({state}).{idle}", seconds(open)),
        change: format!(
            "{holds}keeps its locks. Find out why the program does not commit; \
             idle_in_transaction_session_timeout ends such sessions."
        ),
        price: "Ending the session rolls its work back.".into(),
        ddl: Some(format!("SELECT pg_terminate_backend({pid})")),
        weight: open,
        ..Advice::new(AdviceKind::HeldUp, Certainty::Counted)
    });
}

fn prepared(row: Row<'_>, _: &Database<'_>, found: &mut Vec<Advice>) {
    found.push(Advice {
        database: row.text(1),
        subject: format!("prepared transaction {}", row.text(0)),
        evidence: format!(
            "{} prepared it {} ago, and it was neither committed nor rolled back.",
            row.text(2),
            seconds(row.parse(3).unwrap_or(0.0))
        ),
        change: "It keeps its locks and keeps VACUUM from removing rows, also across restarts. \
                 Commit it or roll it back, as its transaction manager decided."
            .into(),
        price: "A wrong decision makes two systems differ.".into(),
        ddl: Some(format!("ROLLBACK PREPARED {}", quoted(&row.text(0)))),
        ..Advice::new(AdviceKind::HeldUp, Certainty::Counted)
    });
}

fn slots(row: Row<'_>, _: &Database<'_>, found: &mut Vec<Advice>) {
    let behind: f64 = row.parse(3).unwrap_or(0.0);
    found.push(Advice {
        database: row.text(1),
        subject: format!("replication slot {}", row.text(0)),
        evidence: format!(
            "The {} slot has no consumer and retains {} of WAL (status {}).",
            row.text(2),
            bytes(behind.max(0.0) as u64),
            row.text(4)
        ),
        change: "It retains WAL until the disk is full, and may keep VACUUM from removing \
                 rows. Start its consumer, or drop it; max_slot_wal_keep_size sets a limit."
            .into(),
        price: "A consumer whose slot is dropped has to be copied again.".into(),
        ddl: Some(format!("SELECT pg_drop_replication_slot({})", quoted(&row.text(0)))),
        weight: behind,
        ..Advice::new(
            AdviceKind::HeldUp,
            if behind >= BEHIND_BYTES { Certainty::Counted } else { Certainty::Possible },
        )
    });
}

fn replicas(row: Row<'_>, _: &Database<'_>, found: &mut Vec<Advice>) {
    let behind: f64 = row.parse(3).unwrap_or(0.0);
    let lag: f64 = row.parse(4).unwrap_or(0.0);
    if behind >= BEHIND_BYTES || lag >= LATE_S {
        found.push(Advice {
            subject: format!("replica {} at {}", row.text(0), row.text(1)),
            evidence: format!(
                "It is {} of WAL behind and replays {} late (state {}).",
                bytes(behind as u64),
                seconds(lag),
                row.text(2)
            ),
            change: "Reads on it are old, and a failover loses or replays as much. Look for \
                     long queries there, slow storage or a slow network."
                .into(),
            price: "None in itself.".into(),
            ..Advice::new(AdviceKind::Replication, Certainty::Counted)
        });
    }
}

fn this_replica(row: Row<'_>, _: &Database<'_>, found: &mut Vec<Advice>) {
    let behind = row.parse::<f64>(0).filter(|behind| *behind >= BEHIND_BYTES);
    let late = row.parse::<f64>(1).filter(|late| *late >= LATE_S);
    let evidence = [
        behind.map(|behind_bytes| {
            format!("It has not replayed {} of WAL that it has.", bytes(behind_bytes as u64))
        }),
        late.map(|late_s| format!("Its last transaction was replayed {} ago.", seconds(late_s))),
    ];
    let evidence = evidence.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let replica = Advice {
        subject: "this replica".into(),
        evidence,
        change: "Look for long queries that hold up the replay (max_standby_streaming_delay), for \
                 a pause of the replay and for slow storage."
            .into(),
        price: "None in itself.".into(),
        ..Advice::new(AdviceKind::Replication, Certainty::Counted)
    };
    found.extend(Some(replica).filter(|replica| !replica.evidence.is_empty()));
}

/// Settings that leave tables without care. What fits the machine, the rules of surveys tell.
fn settings(row: Row<'_>, _: &Database<'_>, found: &mut Vec<Advice>) {
    let name = row.text(0);
    found.push(Advice {
        evidence: format!("{name} is off."),
        change: "Dead rows are not removed and statistics are not renewed unless a job \
                 does it. Turn it on, and reload the settings."
            .into(),
        price: "Vacuuming reads the pages that have changed.".into(),
        ddl: Some(format!("ALTER SYSTEM SET {name} = on")),
        subject: name,
        ..Advice::new(AdviceKind::Setting, Certainty::Counted)
    });
}

fn sequences(row: Row<'_>, database: &Database<'_>, found: &mut Vec<Advice>) {
    let (last, top): (f64, f64) = (row.parse(1).unwrap_or(0.0), row.parse(2).unwrap_or(0.0));
    let of_column: f64 = row.parse(6).unwrap_or(top);
    let end = top.min(of_column);
    let used = last / end.max(1.0);
    if used < USED_MIN || row.get(3) != Some("t") {
        return;
    }
    let (sequence, table, column) = (row.text(0), row.text(4), row.text(5));
    let is_column = of_column <= top && !table.is_empty();
    let subject = if table.is_empty() { sequence.clone() } else { format!("{table} ({column})") };
    found.push(Advice {
        database: database.name.to_owned(),
        subject,
        evidence: format!(
            "Sequence {sequence} is at {} of {} ({}).",
            count(last as u64),
            count(end as u64),
            percent(used, 1)
        ),
        change: "At the end each insert fails. Make the column and its sequence bigint, in good \
                 time: on a large table in steps, by a second column that a trigger fills."
            .into(),
        price: "The change of the type rewrites the table and its indexes under an exclusive \
                lock."
            .into(),
        ddl: Some(if is_column {
            format!("ALTER TABLE {table} ALTER COLUMN {column} TYPE bigint")
        } else {
            format!("ALTER SEQUENCE {sequence} AS bigint MAXVALUE 9223372036854775807")
        }),
        weight: used,
        ..Advice::new(AdviceKind::Exhaustion, Certainty::Counted)
    });
}

fn dead_rows(row: Row<'_>, database: &Database<'_>, found: &mut Vec<Advice>) {
    let name = row.text(0);
    let mut tables = database.snapshot.tables.iter().enumerate();
    let known = tables.find(|(_, entry)| entry.database == database.name && entry.quoted == name);
    let Some((at, table)) = known else { return };
    let options = row.text(2);
    let is_off = ["autovacuum_enabled=false", "autovacuum_enabled=off"]
        .iter()
        .any(|option| options.contains(option));
    let of_table = |advice: Advice| Advice {
        database: database.name.to_owned(),
        table: Some(at),
        subject: table.label(),
        ..advice
    };
    let (dead, live) = (table.dead_rows.unwrap_or(0) as f64, table.rows.unwrap_or(0.0));
    let is_dead = dead >= DEAD_MIN && dead >= DEAD_SHARE * live;
    if is_off && live + dead >= DEAD_MIN {
        found.push(of_table(autovacuum_off(table)));
    }
    if is_dead {
        found.push(of_table(dead_of(table, dead, live, row.parse(1), is_off)));
    } else if let Some(free) = free(table, database.snapshot.block_bytes) {
        found.push(of_table(free_of(table, free)));
    }
}

fn autovacuum_off(table: &Table) -> Advice {
    Advice {
        evidence: "Autovacuum is off for this table (autovacuum_enabled).".into(),
        change:
            "Its dead rows are not removed and its statistics are not renewed unless a job does \
                 it. Turn it on."
                .into(),
        price: "Vacuuming reads the pages that have changed.".into(),
        ddl: Some(format!("ALTER TABLE {} RESET (autovacuum_enabled)", table.quoted)),
        ..Advice::new(AdviceKind::Setting, Certainty::Counted)
    }
}

fn dead_of(table: &Table, dead: f64, live: f64, vacuumed_s: Option<f64>, is_off: bool) -> Advice {
    let last = vacuumed_s.map_or_else(
        || "It was never vacuumed.".to_owned(),
        |age| format!("It was vacuumed {} ago.", seconds(age)),
    );
    let cause = if is_off {
        "Autovacuum is off for it."
    } else {
        "Look for old transactions and slots that hold it back, or lower \
         autovacuum_vacuum_scale_factor of the table."
    };
    Advice {
        evidence: format!(
            "{} dead rows beside {} live ones (the server's estimates). {last}",
            count(dead as u64),
            count(live as u64)
        ),
        change: format!("VACUUM makes their room free for new rows. {cause}"),
        price: "It reads the pages that have changed and blocks no session.".into(),
        ddl: Some(format!("VACUUM (ANALYZE) {}", table.quoted)),
        weight: dead,
        ..Advice::new(AdviceKind::DeadRows, Certainty::Counted)
    }
}

/// Bytes that are free in a table, by the widths of its columns: a row has a header of 24 bytes and
/// a pointer of 4, a page a header of 24 (PostgreSQL's documentation, "Database Page Layout").
fn free(table: &Table, block_bytes: u64) -> Option<f64> {
    let (rows, size) = (table.rows?, table.bytes? as f64);
    if table.columns.is_empty() || table.columns.iter().any(|column| column.is_unanalyzed) {
        return None;
    }
    let width: f64 =
        table.columns.iter().map(|column| column.width * (1.0 - column.nulls) + 1.0).sum();
    let row = 28.0 + (width / 8.0).ceil() * 8.0;
    let by_page = ((block_bytes as f64 - 24.0) / row).floor().max(1.0);
    let free = size - (rows / by_page).ceil() * block_bytes as f64;
    (free >= FREE_MIN && free >= FREE_SHARE * size).then_some(free)
}

fn free_of(table: &Table, free: f64) -> Advice {
    let size = table.bytes.unwrap_or(0);
    Advice {
        evidence: format!(
            "Its size is {}. By the number and width of its rows, {} ({}) are free (estimate).",
            bytes(size),
            bytes(free as u64),
            percent(free / size.max(1) as f64, 0)
        ),
        change: "New rows fill that room. If it stays empty, a rewrite gives it back; pg_repack \
                 does it without the long lock."
            .into(),
        price: "VACUUM FULL locks out all sessions while it writes a second copy.".into(),
        ddl: Some(format!("VACUUM (FULL) {}", table.quoted)),
        weight: free,
        ..Advice::new(AdviceKind::DeadRows, Certainty::Estimated)
    }
}

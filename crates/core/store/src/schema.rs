//! The format of the file: its application id, its version and the steps from each version to the
//! next.

use rusqlite::{Connection, Row, Transaction};

/// Written to the file header so that `file` and other programs can tell whose it is (the letters
/// `StLb`).
pub(crate) const APPLICATION_ID: i64 = 0x5374_4c62;

/// The first released format. Earlier ones are refused: development versions wrote them.
pub(crate) const FIRST: i64 = 16;

/// Each step leads to the next format, from none to the first one. Published steps never change.
pub(crate) const STEPS: [&str; 5] = [
    include_str!("schema/16_tables.sql"),
    include_str!("schema/17_roles.sql"),
    include_str!("schema/18_percentiles.sql"),
    include_str!("schema/19_machines.sql"),
    include_str!("schema/20_failures.sql"),
];

/// The newest format, which this program writes.
pub(crate) const NEWEST: i64 = FIRST - 1 + STEPS.len() as i64;

/// The steps that lead to a format; those after them lead on to the newest one.
fn steps_to(version: i64) -> usize {
    usize::try_from(version - FIRST + 1).unwrap_or(0)
}

/// Reads the header of a file: its application id, its version, and the number of its tables and
/// views.
pub(crate) fn inspect(connection: &Connection) -> rusqlite::Result<(i64, i64, i64)> {
    // Tables first: this reads a whole page, so that SQLite notices damage and rolls back what a
    // killed process left.
    let objects =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((pragma("application_id")?, pragma("user_version")?, objects))
}

/// A table, a view, an index or a trigger: its type, its name, the table that it belongs to, and
/// its SQL.
type Object = [String; 4];

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let sql = "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema ORDER BY type, name";
    let mut query = connection.prepare(sql)?;
    query
        .query_map([], |row: &Row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, plain(&row.get::<_, String>(3)?)])
        })?
        .collect()
}

/// SQL without comments, without blanks that mean nothing, and without quotes around plain names:
/// columns that a step added, and tables that it renamed, differ in these from new ones.
///
/// Returns text with other quotes or comments unchanged, which is not in our schema.
fn plain(sql: &str) -> String {
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii();
    let (mut words, mut rest) = (String::with_capacity(sql.len()), sql);
    let mut push = |part: &str| {
        let follows = words.ends_with(is_word) && part.starts_with(is_word);
        words.extend(follows.then_some(' '));
        words.push_str(part);
    };
    while let Some(first) = rest.chars().next() {
        let end_at = |end: Option<usize>| end.unwrap_or(rest.len());
        let length = match first {
            _ if first.is_ascii_whitespace() => 1,
            '-' if rest.starts_with("--") => end_at(rest.find('\n')),
            '\'' => {
                let length = end_at(rest[1..].find('\'').map(|at| at + 2));
                push(&rest[..length]);
                length
            }
            '"' => {
                let name = rest[1..].split('"').next().unwrap_or_default();
                if !name.chars().all(is_word) || rest.len() == name.len() + 1 {
                    return sql.to_owned();
                }
                push(name);
                name.len() + 2
            }
            '[' | '`' => return sql.to_owned(),
            '/' if rest.starts_with("/*") => return sql.to_owned(),
            _ if is_word(first) => {
                let length = end_at(rest.find(|c| !is_word(c)));
                push(&rest[..length]);
                length
            }
            _ => {
                push(&rest[..1]);
                1
            }
        };
        rest = &rest[length..];
    }
    words
}

/// The schema of a file of this format without foreign objects.
fn of_version(version: i64) -> rusqlite::Result<Vec<Object>> {
    let ours = Connection::open_in_memory()?;
    for step in STEPS.iter().take(steps_to(version)) {
        ours.execute_batch(step)?;
    }
    objects(&ours)
}

/// The fingerprint of the schema of the newest format: making it by the steps to compare word by
/// word takes longer than the rest of opening a file.
const OF_NEWEST: &str = "52d06c8d4197b8d07366b5289f7de0634ce8a40875b58f8604898c7e93459146";

/// SHA-256 of all their words.
fn fingerprint(objects: &[Object]) -> String {
    observations::sha256(objects.iter().flatten().flat_map(|word| [word.as_bytes(), b"\0"]))
}

/// Describes foreign objects in the schema of a file of this version: a view or trigger, which
/// could do anything when used, or another object under one of our names or on one of our tables.
/// Other tables are ignored: nothing reads them.
pub(crate) fn foreign(connection: &Connection, version: i64) -> rusqlite::Result<Option<String>> {
    let found = objects(connection)?;
    if version == NEWEST && fingerprint(&found) == OF_NEWEST {
        return Ok(None);
    }
    let ours = of_version(version)?;
    Ok(found
        .iter()
        .find(|object| {
            let [kind, name, table, _] = *object;
            let is_view = kind == "view" || kind == "trigger";
            let has_name_of_ours = ours.iter().any(|known| known[1] == *name || known[1] == *table);
            (is_view || has_name_of_ours) && !ours.contains(object)
        })
        .map(|[kind, name, ..]| format!("the {kind} {name}")))
}

/// Brings the file to the newest version, or does nothing. The version is read inside of the
/// transaction: two processes may open an old file at once.
pub(crate) fn migrate(transaction: &Transaction) -> rusqlite::Result<()> {
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for step in STEPS.iter().skip(steps_to(version)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", NEWEST)
}

#[cfg(test)]
mod tests {
    use super::{APPLICATION_ID, FIRST, NEWEST, OF_NEWEST, STEPS};
    use super::{fingerprint, inspect, plain, steps_to};
    use rusqlite::Connection;

    fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
        let transaction = connection.transaction()?;
        super::migrate(&transaction)?;
        transaction.commit()
    }

    fn objects(connection: &Connection) -> Vec<(String, String)> {
        let mut query = connection
            .prepare("SELECT name, ifnull(sql, '') FROM sqlite_schema ORDER BY name")
            .unwrap();
        query
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }

    #[test]
    fn every_format_leads_to_the_same_newest_one() {
        let mut fresh = Connection::open_in_memory().unwrap();
        assert_eq!(inspect(&fresh).unwrap(), (0, 0, 0));
        migrate(&mut fresh).unwrap();
        let (id, version, _) = inspect(&fresh).unwrap();
        assert_eq!((id, version), (APPLICATION_ID, NEWEST));

        for version in FIRST..=NEWEST {
            let mut old = Connection::open_in_memory().unwrap();
            STEPS[..steps_to(version)].iter().for_each(|step| old.execute_batch(step).unwrap());
            old.pragma_update(None, "user_version", version).unwrap();
            for times in 1..=2 {
                migrate(&mut old).unwrap();
                assert_eq!(objects(&old), objects(&fresh), "{times}, from format {version}");
            }
        }
    }

    /// Until format 19, the end of the first line of the cause named the kind of a failure.
    #[test]
    fn older_trials_have_the_kind_of_their_failure() {
        let mut old = Connection::open_in_memory().unwrap();
        STEPS[..steps_to(19)].iter().for_each(|step| old.execute_batch(step).unwrap());
        old.execute_batch(
            "PRAGMA foreign_keys = OFF; PRAGMA user_version = 19;
             INSERT INTO trials (run, configuration, block, setup, sequence, attempt, started_ms,
                                 status, cause, observed, timeout_s)
             VALUES (1, 1, 1, 1, 1, 1, 0, 'done', NULL, 1, NULL),
                    (1, 1, 2, 1, 2, 1, 0, 'failed', 'disk full', 0, NULL),
                    (1, 1, 3, 1, 3, 1, 0, 'failed', 'took longer than 1 s', 1, 1),
                    (1, 1, 4, 1, 4, 1, 0, 'failed', 'stopped after 1 s: cannot beat the leader
removing it failed too: busy', 1, 0.5),
                    (1, 1, 5, 1, 5, 1, 0, 'failed', 'cannot beat the leader', 0, NULL)",
        )
        .unwrap();
        migrate(&mut old).unwrap();
        let mut query = old.prepare("SELECT failure FROM trials ORDER BY block").unwrap();
        let kinds = query.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        let kinds: Vec<String> = kinds.map(|kind| kind.unwrap().unwrap_or_default()).collect();
        assert_eq!(kinds, ["", "error", "error", "futile", "error"]);
    }

    #[test]
    fn the_fingerprint_is_that_of_the_newest_format_and_of_no_other() {
        let of_version = |version| fingerprint(&super::of_version(version).unwrap());
        assert_eq!(of_version(NEWEST), OF_NEWEST);
        assert!((FIRST - 1..NEWEST).all(|version| of_version(version) != OF_NEWEST));
        let mut altered = super::of_version(NEWEST).unwrap();
        altered[0].swap(0, 1);
        assert_ne!(fingerprint(&altered), OF_NEWEST);
    }

    #[test]
    fn a_failed_step_changes_nothing() {
        let mut file = Connection::open_in_memory().unwrap();
        // A view of the last lines of the first step.
        file.execute_batch("CREATE VIEW trial_waits AS SELECT 1").unwrap();
        let before = objects(&file);
        migrate(&mut file).unwrap_err();
        assert_eq!(objects(&file), before);
    }

    #[test]
    fn comments_blanks_and_quotes_around_names_make_no_difference() {
        let ours =
            "CREATE TABLE t (\n    a TEXT NOT NULL, -- it's so\n    b REAL -- last\n) STRICT";
        let altered = "CREATE TABLE \"t\" (\n    a TEXT NOT NULL -- it's so\n, b REAL) STRICT";
        assert_eq!(plain(ours), "CREATE TABLE t(a TEXT NOT NULL,b REAL)STRICT");
        assert_eq!(plain(altered), plain(ours));
        assert_eq!(plain("a  IN ('x -- y','') - -1"), "a IN('x -- y','')--1");
    }

    /// SQLite runs what follows a comment's beginning within quotes.
    #[test]
    fn nothing_hides_behind_comments_or_quotes() {
        let ours = plain("CHECK (status IN ('done', 'failed'))");
        for theirs in [
            "CHECK (status IN ('done--', evil(), '\n', 'failed'))",
            "CHECK (status IN (\"--\" || evil(),\n'done', 'failed'))",
            "CHECK (status IN ([--] || evil(),\n'done', 'failed'))",
            "CHECK (status IN (`--` || evil(),\n'done', 'failed'))",
            "CHECK (status IN (/* -- */ evil(),\n'done', 'failed'))",
            "CHECK (status IN ('done', ' failed'))",
            "CHECK (status IN ('do''ne', 'failed'))",
            "CHECK (sta tus IN ('done', 'failed'))",
            "CHECK (status IN ('done', 'failed",
            "CHECK (status IN ('done', 'failed'))\"",
        ] {
            assert_ne!(plain(theirs), ours, "{theirs}");
        }
    }

    #[test]
    fn the_tables_document_themselves() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        let waits = objects(&connection).into_iter().find(|(name, _)| name == "waits").unwrap().1;
        assert!(waits.contains("-- runnable, waiting for a processor"), "{waits}");
    }
}

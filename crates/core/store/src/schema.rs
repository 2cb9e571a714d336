//! The format of the file: its application id, its version and the steps from each version to the
//! next.

use rusqlite::{Connection, Row, Transaction};
use sha2::{Digest, Sha256};

/// Written to the file header so that `file` and other programs can tell whose it is (the letters
/// `StLb`).
pub(crate) const APPLICATION_ID: i64 = 0x5374_4c62;

/// Step `i` leads from version `i` to version `i + 1`. Published steps never change.
pub(crate) const STEPS: [&str; 17] = [
    include_str!("schema/1_tables.sql"),
    include_str!("schema/2_views.sql"),
    include_str!("schema/3_devices.sql"),
    include_str!("schema/4_profiles.sql"),
    include_str!("schema/5_warnings_and_facts.sql"),
    include_str!("schema/6_files.sql"),
    include_str!("schema/7_setups_and_steps.sql"),
    include_str!("schema/8_open_loop.sql"),
    include_str!("schema/9_timeouts.sql"),
    include_str!("schema/10_samples.sql"),
    include_str!("schema/11_plans.sql"),
    include_str!("schema/12_statements_and_labels.sql"),
    include_str!("schema/13_server_activities.sql"),
    include_str!("schema/14_plans_once.sql"),
    include_str!("schema/15_query_intervals.sql"),
    include_str!("schema/16_resources.sql"),
    include_str!("schema/17_roles.sql"),
];

/// The newest version, which this program writes.
pub(crate) const NEWEST: i64 = STEPS.len() as i64;

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
    let row = |row: &Row| {
        // A table that was renamed bears quotes.
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?.replace('"', "")])
    };
    query.query_map([], row)?.collect()
}

/// What a file of this version has in its schema when nobody else has been there.
fn of_version(version: i64) -> rusqlite::Result<Vec<Object>> {
    let ours = Connection::open_in_memory()?;
    for step in STEPS.iter().take(usize::try_from(version).unwrap_or(0)) {
        ours.execute_batch(step)?;
    }
    objects(&ours)
}

/// The fingerprint of what a file of the newest version has in its schema: to make it by the steps,
/// so as to compare it word by word, takes longer than all else that is done to open a file.
const OF_NEWEST: &str = "1cf2119e7650fbe2032796e8427b832219fc406dd605f8bd817f72e1e0ce4951";

/// SHA-256 of all their words.
fn fingerprint(objects: &[Object]) -> String {
    let words = objects.iter().flatten().flat_map(|word| [word.as_bytes(), b"\0"]);
    let digest = words.fold(Sha256::new(), Sha256::chain_update).finalize();
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// What a file of this version has in its schema and should not have, in words: a view or a trigger
/// of others, which could do anything when they are used, or something else than ours under a name
/// of ours or on a table of ours. Further tables of others are left alone: nothing reads them.
pub(crate) fn foreign(connection: &Connection, version: i64) -> rusqlite::Result<Option<String>> {
    let found = objects(connection)?;
    if version == NEWEST && fingerprint(&found) == OF_NEWEST {
        return Ok(None);
    }
    let ours = of_version(version)?;
    let is_foreign = |object: &&Object| {
        let [kind, name, table, _] = *object;
        let is_view = kind == "view" || kind == "trigger";
        let has_name_of_ours = ours.iter().any(|known| known[1] == *name || known[1] == *table);
        (is_view || has_name_of_ours) && !ours.contains(object)
    };
    Ok(found.iter().find(is_foreign).map(|[kind, name, ..]| format!("the {kind} {name}")))
}

/// Brings the file to the newest version, or does nothing. The version is read inside of the
/// transaction: two processes may open an old file at once.
pub(crate) fn migrate(transaction: &Transaction) -> rusqlite::Result<()> {
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", NEWEST)
}

#[cfg(test)]
mod tests {
    use super::{APPLICATION_ID, NEWEST, OF_NEWEST, STEPS, fingerprint, inspect};
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
    fn every_version_leads_to_the_same_newest_one() {
        let mut fresh = Connection::open_in_memory().unwrap();
        assert_eq!(inspect(&fresh).unwrap(), (0, 0, 0));
        migrate(&mut fresh).unwrap();
        let (id, version, _) = inspect(&fresh).unwrap();
        assert_eq!((id, version), (APPLICATION_ID, NEWEST));

        for version in 1..STEPS.len() {
            let mut old = Connection::open_in_memory().unwrap();
            STEPS[..version].iter().for_each(|step| old.execute_batch(step).unwrap());
            old.pragma_update(None, "user_version", version as i64).unwrap();
            migrate(&mut old).unwrap();
            assert_eq!(objects(&old), objects(&fresh), "from version {version}");
            migrate(&mut old).unwrap();
            assert_eq!(objects(&old), objects(&fresh), "twice, from version {version}");
        }
    }

    #[test]
    fn the_fingerprint_is_that_of_the_newest_version_and_of_no_other() {
        let of_version = |version| fingerprint(&super::of_version(version).unwrap());
        assert_eq!(of_version(NEWEST), OF_NEWEST);
        assert!((0..NEWEST).all(|version| of_version(version) != OF_NEWEST));
        let mut altered = super::of_version(NEWEST).unwrap();
        altered[0].swap(0, 1);
        assert_ne!(fingerprint(&altered), OF_NEWEST);
    }

    #[test]
    fn a_failed_step_changes_nothing() {
        let mut old = Connection::open_in_memory().unwrap();
        old.execute_batch(STEPS[0]).unwrap();
        // The view of step 2 exists already, so that the step must fail.
        old.execute_batch("CREATE VIEW trial_waits AS SELECT 1; PRAGMA user_version = 1").unwrap();
        let before = objects(&old);
        migrate(&mut old).unwrap_err();
        assert_eq!(objects(&old), before);
    }

    #[test]
    fn the_tables_document_themselves() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        let waits = objects(&connection).into_iter().find(|(name, _)| name == "waits").unwrap().1;
        assert!(waits.contains("-- runnable, waiting for a processor"), "{waits}");
    }
}

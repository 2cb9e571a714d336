//! Integrity of a results file, by SQLite's check.

use std::path::Path;

/// Checks the whole file: pages, indexes and references between tables.
pub fn check_integrity(path: &Path) -> Result<(), String> {
    let connection = rusqlite::Connection::open(path).map_err(|error| error.to_string())?;
    let finding =
        connection.pragma_query_value(None, "integrity_check", |row| row.get::<_, String>(0));
    let sql = "SELECT count(*) FROM pragma_foreign_key_check";
    let orphans = connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    match (finding, orphans) {
        (Ok(finding), Ok(0)) if finding == "ok" => Ok(()),
        found => Err(format!("{found:?}")),
    }
}

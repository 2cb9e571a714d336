//! The statements of all engines for the same transactions.

use duckdb::DuckDbDialect;
use engine::Dialect;
use mariadb::MariaDialect;
use postgres::PostgresDialect;
use sqlite::SqliteDialect;
use sqlserver::MssqlDialect;
use std::fmt::Write as _;
use work::Work;

/// The reference: each statement, and how the engines write it; engines that agree share a line.
const REFERENCE: &str = include_str!("statements.txt");

#[test]
fn engines_write_the_statements_of_the_reference() {
    let mariadb = MariaDialect {
        data_files: 1,
        folders: Vec::new(),
        page_bytes: 16384,
        compression: None,
        has_sequences: true,
    };
    let dialects: [(&str, &dyn Dialect); 5] = [
        ("sqlite", &SqliteDialect { schema: "main".into(), page_bytes: 4096 }),
        ("duckdb", &DuckDbDialect),
        ("postgres", &PostgresDialect { data_files: 1, tablespaces: Vec::new(), page_bytes: 8192 }),
        ("mariadb", &mariadb),
        ("sqlserver", &MssqlDialect::default()),
    ];
    let mut written = String::new();
    let operations = order_entry::operations().into_iter().chain(order_entry::analyses());
    for (place, operation) in operations.enumerate() {
        writeln!(written, "{}", place + 1).unwrap();
        let mut lines: Vec<(String, String)> = Vec::new();
        for (engine, dialect) in dialects {
            let sql = dialect.statement(&operation, &Work::default()).unwrap();
            match lines.iter_mut().find(|(_, known)| *known == sql) {
                Some((engines, _)) => write!(engines, ", {engine}").unwrap(),
                None => lines.push((engine.to_owned(), sql)),
            }
        }
        for (engines, sql) in lines {
            writeln!(written, "  {engines}: {sql}").unwrap();
        }
    }
    for (written, reference) in written.lines().zip(REFERENCE.lines()) {
        assert_eq!(written, reference);
    }
    assert_eq!(written.lines().count(), REFERENCE.lines().count());
}

//! SQL Server as the target of trials, on a server by URL.
//!
//! - `server`: which one, and its version; `failures`: its errors
//! - `layout`: the files and options of our database; `database`: making, holding and dropping it;
//!   `marks`: notes in it
//! - `server_settings`: settings of the whole server, recorded and put back
//! - `instance`: what a trial works on; `bulk`: filling its tables; `load`: the connections of a
//!   load
//! - `backups`: backups of our database and their restore; `backup_statements`: their statements
//! - `cache`: its pages in memory; `plans`: how statements are run
//! - `waits`: what its sessions wait for; `preflight`: problems found before a first trial

mod backup_statements;
mod backups;
mod bulk;
mod cache;
mod database;
mod failures;
mod instance;
mod layout;
mod load;
mod marks;
mod plans;
mod preflight;
mod server;
mod server_settings;
mod waits;

pub use preflight::preflight;
pub use server::version;

use engine::{Host, Instance, Result};
use experiment::Configuration;
use instance::MssqlInstance;
use server::config;
use work::Cancel;

/// The server of consecutive trials: nothing is kept, the database of each is made again.
pub struct MssqlHost;

impl Host for MssqlHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>> {
        let config = config(configuration)?;
        Ok(Box::new(MssqlInstance::create(&config, configuration, connections, cancel)?))
    }
}

#[cfg(test)]
mod tests {
    use super::backup_statements::tests::questions;
    use super::layout::{Layout, options};
    use super::marks::note_in;
    use super::server_settings::configuring;
    use crate::dialect::MssqlDialect;
    use crate::limits::exceeded;
    use engine::Dialect as _;
    use experiment::{Configuration, Value};
    use testing::t_sql::parse_errors;
    use work::sql::statement::filled;
    use work::{Column, DataType, Operation, Storage, Table, Work};

    const TYPES: [DataType; 8] = [
        DataType::Uuid,
        DataType::Int,
        DataType::BigInt,
        DataType::Timestamp,
        DataType::Date,
        DataType::Decimal,
        DataType::Char(44),
        DataType::Varchar(199),
    ];

    fn table(key: DataType, rows: u16) -> Table {
        let filler = DataType::PageFiller { rows };
        let storage = Storage { fill_percent: Some(90), ..Storage::default() };
        let columns = vec![Column::new("id", key), Column::new("f", filler)];
        Table { name: "t", columns, key: &["id"], storage }
    }

    /// Returns the definitions of tables and procedures with all options.
    fn tables() -> Vec<String> {
        let mut all = Vec::new();
        for (compression, sequential_key) in
            [("none", None), ("row", Some(false)), ("page", Some(true)), ("columnstore", None)]
        {
            let dialect = MssqlDialect {
                compression: Some(compression.into()),
                sequential_key,
                ..MssqlDialect::default()
            };
            for rows in [1, 2, 30, 200] {
                let table = |key| table(key, rows);
                all.extend(dialect.create(&table(DataType::BigInt)).unwrap());
                all.extend(dialect.create(&Table { key: &[], ..table(DataType::BigInt) }).unwrap());
                // A row of all types, with what is left of the page.
                let mut wide = table(DataType::Uuid);
                let names = ["a", "b", "c", "d", "e", "g", "h", "i"];
                wide.columns.extend(
                    names
                        .into_iter()
                        .zip(TYPES)
                        .map(|(name, data_type)| Column::new(name, data_type).nullable()),
                );
                all.extend(dialect.create(&wide).into_iter().flatten());
            }
        }
        for key in [DataType::BigInt, DataType::Uuid] {
            let operations = vec![Operation::InsertLoop { table: 0 }];
            let work = Work { tables: vec![table(key, 1)], operations, ..Work::default() };
            all.extend(MssqlDialect::default().procedures(&work));
        }
        all
    }

    /// Returns the definitions of databases with files of many sizes and all options, and of what
    /// they hold and change.
    fn databases() -> Vec<String> {
        let text = |text: &str| Value::Text(text.into());
        let mut all = Vec::new();
        for (files, size, growth) in [
            (1, 8 << 20, 0),
            (3, 100 << 20, 1),
            (7, (1 << 40) + 1, 50_000_000),
            (1, 2 << 40, 64 << 20),
            (2, 16 << 40, (2 << 40) - 1),
        ] {
            let log = |bytes: i64| Value::Integer(bytes.clamp(1 << 20, 2 << 40));
            let settings = [
                ("target.data_files", Value::Integer(files)),
                ("target.data_size", Value::Integer(size)),
                ("target.data_growth", Value::Integer(growth)),
                ("target.filegroup", text(if files == 2 { "own" } else { "primary" })),
                ("target.log_size", log(size)),
                ("target.log_growth", log(growth)),
                ("target.recovery", text("bulk-logged")),
                ("target.page_verify", text("torn-page-detection")),
                ("target.delayed_durability", text("forced")),
                ("target.snapshot_isolation", Value::Bool(true)),
                ("target.read_committed_snapshot", Value::Bool(true)),
            ];
            let settings = settings.into_iter().map(|(path, value)| (path.to_owned(), value));
            let with_settings =
                Configuration { settings: settings.collect(), ..Configuration::default() };
            all.push(Layout::from_configuration(&with_settings).create(r"E:\data", "/log"));
            let clauses = options(&with_settings).into_iter().map(|option| option.clause);
            all.extend(clauses.map(|clause| format!("ALTER DATABASE [steelbench] SET {clause}")));
        }
        all.push(note_in("[steelbench]", &format!("steelbench found {}", "x".repeat(35)), "1"));
        all.push(configuring("max degree of parallelism", i64::from(i32::MAX)));
        all
    }

    /// Returns a query with each alternative that the optimizer can be made to use.
    fn hinted() -> Vec<String> {
        let all = optimizer::for_engine("sqlserver").unwrap().alternatives.iter();
        let hinted = all.map(|alternative| {
            let hint = filled(alternative.hint, &[("index", "[a_dials]")]);
            format!(
                "SELECT count(*), max(d.c) FROM dials AS d{hint} WHERE d.a <= 7{}",
                alternative.end
            )
        });
        hinted.collect()
    }

    fn definitions() -> Vec<String> {
        [tables(), databases(), hinted(), questions()].concat()
    }

    #[test]
    fn definitions_are_within_the_documented_limits() {
        for sql in definitions() {
            assert_eq!(exceeded(&sql), None, "{sql}");
        }
        // Each kind of size is among them.
        let all = databases().join("\n");
        for part in ["SIZE = 8192 KB", " MB, FILEGROWTH", "FILEGROWTH = 64 KB", "LOG ON"] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    /// The grammar of sqlfluff, which others wrote, knows what the stand-in cannot run.
    #[test]
    fn definitions_are_t_sql_to_an_independent_grammar() {
        let Some(errors) = parse_errors(&definitions()) else { return };
        assert_eq!(errors, "");
        let misspelt = definitions()
            .iter()
            .map(|sql| sql.replace("CLUSTERED", "CLUSTERD"))
            .collect::<Vec<_>>();
        assert_ne!(parse_errors(&misspelt), Some(String::new()));
    }
}

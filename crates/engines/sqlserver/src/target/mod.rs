//! SQL Server as the target of trials, on a server by URL.
//!
//! - `layout`: the files and options of our database; `database`: making, holding and dropping it
//! - `server_settings`: settings of the whole server, recorded and put back
//! - `instance`: what a trial works on; `bulk`: filling its tables; `load`: the connections of a
//!   load
//! - `cache`: its pages in memory; `plans`: how statements are run
//! - `waits`: what its sessions wait for; `preflight`: problems found before a first trial

mod bulk;
mod cache;
mod database;
mod instance;
mod layout;
mod load;
mod plans;
mod preflight;
mod server_settings;
mod waits;

pub use preflight::preflight;

use super::live::client::{Client, Error};
use super::live::reading::ask;
use super::live::{Config, Identity, views};
use super::settings::URL;
use engine::{EngineError, Host, Instance};
use experiment::Configuration;
use instance::MssqlInstance;
use std::time::Duration;
use work::{Cancel, Stop};

/// Deadlock victim, lock timeout, update conflicts of snapshots and of memory-optimized tables
/// (<https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors>).
const RETRY: [u32; 7] = [1205, 1222, 3960, 41_302, 41_305, 41_325, 41_301];

/// No room in a file, a filegroup or the log.
const FULL: [u32; 4] = [1101, 1105, 9002, 5149];

/// The server of consecutive trials: nothing is kept, the database of each is made again.
pub struct MssqlHost;

impl Host for MssqlHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        let config = config(configuration)?;
        Ok(Box::new(MssqlInstance::create(&config, configuration, connections, cancel)?))
    }
}

/// The server that a configuration names, or sqlcmd's variables.
pub fn config(configuration: &Configuration) -> Result<Config, EngineError> {
    let url = configuration.get(URL).unwrap_or_default();
    Config::parse(&url)
        .map_err(|error| EngineError::failed(format!("reading {}", URL.path()), error.to_string()))
}

/// The server's version, and what of it a trial cannot change: instant file initialization and
/// trace flags.
pub fn version(configuration: &Configuration, stop: &Stop) -> (String, String) {
    let ask = || -> Result<(String, String), Box<dyn std::error::Error>> {
        let mut client = Client::connect(&config(configuration)?, stop, Duration::ZERO)?;
        let version = Identity::read(&mut client)?.shown();
        Ok((version, fixed(&mut client)))
    };
    ask().unwrap_or_else(|error| (format!("unknown ({error})"), "by URL".into()))
}

fn fixed(client: &mut Client) -> String {
    let mut facts = vec!["by URL".to_owned()];
    if let Ok(Ok(rows)) = ask(client, &views::INSTANT_FILES)
        && let Some(row) = rows.first()
    {
        let is_on = if row.text("instant") == "Y" { "on" } else { "off" };
        facts.push(format!("instant file initialization {is_on}"));
    }
    if let Ok(rows) = client.query("DBCC TRACESTATUS(-1) WITH NO_INFOMSGS") {
        let flags: Vec<String> = rows.iter().map(|row| row.text("TraceFlag")).collect();
        let flags = if flags.is_empty() { "none".into() } else { flags.join(", ") };
        facts.push(format!("trace flags {flags}"));
    }
    facts.join("; ")
}

/// Says what was being done when the server or the connection failed.
fn failed_at(doing: &str) -> impl FnOnce(Error) -> EngineError + '_ {
    move |error| match error {
        Error::Stopped => EngineError::Cancelled,
        Error::Server { number, .. } if RETRY.contains(&number) => {
            EngineError::Retry { doing: doing.into(), message: error.to_string() }
        }
        Error::Server { number, message } if FULL.contains(&number) => {
            EngineError::DiskFull { doing: format!("{doing}: {message}") }
        }
        error => {
            let advice = error.advice().map(|advice| format!(". {advice}")).unwrap_or_default();
            EngineError::failed(doing, format!("{error}{advice}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::layout::{Layout, options};
    use super::{Error, failed_at};
    use crate::dialect::MssqlDialect;
    use engine::{Dialect as _, EngineError};
    use experiment::{Configuration, Value};
    use std::process::Command;
    use work::{Column, DataType, Operation, Storage, Table, Work};

    /// Returns the definitions of databases, tables and procedures with all options.
    fn definitions() -> Vec<String> {
        let table = |data_type| {
            let columns = vec![
                Column::new("id", data_type),
                Column::new("f", DataType::PageFiller { rows: 1 }),
            ];
            let storage = Storage { fill_percent: Some(90), ..Storage::default() };
            Table { name: "t", columns, key: &["id"], storage }
        };
        let mut all = Vec::new();
        for (compression, sequential_key) in
            [("none", None), ("row", Some(false)), ("page", Some(true)), ("columnstore", None)]
        {
            let own = MssqlDialect {
                compression: Some(compression.into()),
                sequential_key,
                ..MssqlDialect::default()
            };
            all.extend(own.create(&table(DataType::BigInt)).unwrap());
            all.extend(own.create(&Table { key: &[], ..table(DataType::BigInt) }).unwrap());
        }
        for data_type in [DataType::BigInt, DataType::Uuid] {
            let operations = vec![Operation::InsertLoop { table: 0 }];
            let work = Work { tables: vec![table(data_type)], operations, ..Work::default() };
            all.extend(MssqlDialect::default().procedures(&work));
        }
        let text = |text: &str| Value::Text(text.into());
        let settings = [
            ("target.data_files", Value::Integer(2)),
            ("target.filegroup", text("own")),
            ("target.log_size", Value::Integer(64 << 20)),
            ("target.recovery", text("bulk-logged")),
            ("target.page_verify", text("torn-page-detection")),
            ("target.delayed_durability", text("forced")),
            ("target.snapshot_isolation", Value::Bool(true)),
            ("target.read_committed_snapshot", Value::Bool(true)),
        ];
        let settings = settings.into_iter().map(|(path, value)| (path.to_owned(), value));
        let own = Configuration { settings: settings.collect(), ..Configuration::default() };
        all.push(Layout::from_configuration(&own).create(r"E:\data", "/log"));
        let options = options(&own).into_iter();
        all.extend(
            options.map(|option| format!("ALTER DATABASE [steelbench] SET {}", option.clause)),
        );
        all
    }

    /// The grammar of sqlfluff, which others wrote, knows what the stand-in cannot run.
    #[test]
    fn definitions_are_t_sql_to_an_independent_grammar() {
        let python = |arguments: &[&str]| Command::new("python3").args(arguments).output().unwrap();
        if !python(&["-c", "import sqlfluff"]).status.success() {
            println!("SKIPPED: python3 with sqlfluff is not installed");
            return;
        }
        let parsed = |statements: &[String]| {
            let file = tempfile::Builder::new().suffix(".sql").tempfile().unwrap();
            std::fs::write(file.path(), statements.join("\nGO\n") + "\n").unwrap();
            python(&["-m", "sqlfluff", "parse", "--dialect", "tsql", file.path().to_str().unwrap()])
        };
        let known = parsed(&definitions());
        assert!(known.status.success(), "{}", String::from_utf8_lossy(&known.stdout));
        let misspelt = definitions()
            .iter()
            .map(|sql| sql.replace("CLUSTERED", "CLUSTERD"))
            .collect::<Vec<_>>();
        assert!(!parsed(&misspelt).status.success());
    }

    #[test]
    fn deadlocks_and_update_conflicts_are_tried_again_and_a_full_log_is_a_full_disk() {
        let failed =
            |number| failed_at("inserting")(Error::Server { number, message: "refused".into() });
        for number in [1205, 3960, 1222] {
            assert!(matches!(failed(number), EngineError::Retry { .. }), "{number}");
        }
        assert!(matches!(failed(9002), EngineError::DiskFull { .. }));
        assert_eq!(failed(208).to_string(), "inserting: error 208: refused");
        assert!(failed(300).to_string().contains("GRANT VIEW SERVER STATE"));
        assert!(matches!(failed_at("x")(Error::Stopped), EngineError::Cancelled));
    }
}

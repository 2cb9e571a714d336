//! SQL Server as the target of trials, on a server by URL.
//!
//! - `layout`: the files and options of our database; `database`: making, holding and dropping it
//! - `server_settings`: settings of the whole server, recorded and put back
//! - `instance`: what a trial works on; `bulk`: filling its tables; `load`: the connections of a load
//! - `waits`: what its sessions wait for; `preflight`: what stands in the way of a first trial

mod bulk;
mod database;
mod instance;
mod layout;
mod load;
mod preflight;
mod server_settings;
mod waits;

pub use preflight::preflight;

use super::live::client::{Client, Error};
use super::live::reading::ask;
use super::live::{Config, Identity, views};
use super::settings::URL;
use crate::{Cancel, EngineError, Host, Instance, Stop};
use experiment::Configuration;
use instance::MssqlInstance;
use std::time::Duration;

/// Deadlock victim, lock timeout, update conflicts of snapshots and of memory-optimized tables
/// (<https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors>).
const RETRY: [u32; 7] = [1205, 1222, 3960, 41_302, 41_305, 41_325, 41_301];

/// No room in a file, a filegroup or the log.
const FULL: [u32; 4] = [1101, 1105, 9002, 5149];

/// The server of consecutive trials: nothing is kept, the database of each is made anew.
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

/// The server's version, and what of it a trial cannot change: instant file initialization and trace flags.
pub fn version(configuration: &Configuration, stop: &Stop) -> (String, String) {
    let asked = || -> Result<(String, String), String> {
        let config = config(configuration).map_err(|error| error.to_string())?;
        let connected = Client::connect(&config, stop, Duration::ZERO);
        let mut client = connected.map_err(|error| error.to_string())?;
        let version = Identity::of(&mut client).map_err(|error| error.to_string())?.shown();
        Ok((version, fixed(&mut client)))
    };
    asked().unwrap_or_else(|error| (format!("unknown ({error})"), "by URL".into()))
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
    use super::{Error, failed_at};
    use crate::EngineError;

    #[test]
    fn deadlocks_and_update_conflicts_are_tried_again_and_a_full_log_is_a_full_disk() {
        let failed = |number| failed_at("inserting")(Error::Server { number, message: "as told".into() });
        for number in [1205, 3960, 1222] {
            assert!(matches!(failed(number), EngineError::Retry { .. }), "{number}");
        }
        assert!(matches!(failed(9002), EngineError::DiskFull { .. }));
        assert_eq!(failed(208).to_string(), "inserting: error 208: as told");
        assert!(failed(300).to_string().contains("GRANT VIEW SERVER STATE"));
        assert!(matches!(failed_at("x")(Error::Stopped), EngineError::Cancelled));
    }
}

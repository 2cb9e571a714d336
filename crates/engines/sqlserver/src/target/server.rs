//! The server of trials: how it is reached, and what of it they cannot change.

use super::failures::failed_at;
use crate::live::client::Client;
use crate::live::identity::{AZURE_DATABASE, Identity, trace_flags};
use crate::live::{Config, views};
use crate::settings::URL;
use engine::{EngineError, Result};
use experiment::Configuration;
use std::error::Error;
use std::time::Duration;
use work::Stop;

/// The server that a configuration names, or sqlcmd's variables.
pub fn config(configuration: &Configuration) -> Result<Config> {
    let url = configuration.get(URL).unwrap_or_default();
    Config::parse(&url)
        .map_err(|error| EngineError::failed(format!("reading {}", URL.path()), error.to_string()))
}

/// Refuses Azure SQL Database, where a trial's database cannot have files of its own and sessions
/// cannot change their database.
pub fn refuse_azure(master: &mut Client) -> Result<()> {
    let edition = master.cell(&views::ENGINE_EDITION.sql()).map_err(failed_at("connecting"))?;
    if edition.and_then(|edition| edition.parse().ok()) == Some(AZURE_DATABASE) {
        let (engine, what) =
            ("Azure SQL Database", "the databases that trials create; use a SQL Server instance");
        return Err(EngineError::Unsupported { engine, what });
    }
    Ok(())
}

/// The server's version, and what of it a trial cannot change: instant file initialization and
/// trace flags.
pub fn version(configuration: &Configuration, stop: &Stop) -> (String, String) {
    read(configuration, stop)
        .unwrap_or_else(|error| (format!("unknown ({error})"), "by URL".into()))
}

fn read(configuration: &Configuration, stop: &Stop) -> Result<(String, String), Box<dyn Error>> {
    let mut client = Client::connect(&config(configuration)?, stop, Duration::ZERO)?;
    let version = Identity::read(&mut client)?.shown();
    Ok((version, fixed(&mut client)))
}

fn fixed(client: &mut Client) -> String {
    let mut facts = vec!["by URL".to_owned()];
    if let Ok(Ok(rows)) = client.view(&views::INSTANT_FILES)
        && let Some(row) = rows.first()
    {
        let is_on = if row.text("instant") == "Y" { "on" } else { "off" };
        facts.push(format!("instant file initialization {is_on}"));
    }
    let flags = trace_flags(client).unwrap_or_else(|error| format!("unknown ({error})"));
    facts.push(format!("trace flags {flags}"));
    facts.join("; ")
}

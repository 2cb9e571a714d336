//! Settings of servers by URL that stay changed until they are undone.
//!
//! The record of the former values is first that of a run: after a kill in the middle the next run
//! restores it. Once the change is complete it has another name, which runs leave alone.

use crate::altered::{
    Alter, Change, RECORD, Record, Scope, by_url, is_permitted, naming, place_of, put_back,
    records, servers, verify_folder,
};
use crate::hosted::{Config, ServerEngine};
use engine::{Altering, EngineError, Restored, Result};
use experiment::Configuration;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use work::Cancel;

/// The extension of records of changes that stay.
const APPLIED: &str = ".applied";

impl<E: Alter> Altering for ServerEngine<E> {
    /// A value that an earlier call has recorded stays the one to restore.
    fn apply(&self, configuration: &Configuration) -> Result<String> {
        let config = permitted::<E>(configuration)?;
        let place = place_of::<E>(&config).ok_or_else(|| failed("the server does not answer"))?;
        let restore = || {
            let records = records(E::RECORDS, RECORD);
            put_back::<E>(Path::new(""), &[configuration], records).into_result()
        };
        restore()?;
        let applied = renamed(&place, APPLIED);
        if applied.exists() {
            rename(&applied, &place)?;
        }
        let (settings, cancel) = (&E::server_settings(configuration), &Cancel::new());
        let (scope, run) = (Scope::Everyone, applied.as_path());
        let change = Change { configuration, settings, scope, run, cancel };
        if let Err(error) = E::alter(&config, &change) {
            restore()?;
            return Err(error);
        }
        if !place.exists() {
            return Err(failed("these settings change nothing on a server"));
        }
        let record = Record::<E::Notes>::read(&place)?;
        rename(&place, &applied)?;
        let names: Vec<&str> = record.before.keys().map(String::as_str).collect();
        Ok(format!("applied to {}: {}", record.server, names.join(", ")))
    }

    fn verify(&self, configuration: &Configuration) -> Result<()> {
        permitted::<E>(configuration)?;
        verify_folder()?;
        let all = [RECORD, APPLIED].map(|extension| records(E::RECORDS, extension));
        all.concat().iter().try_for_each(|path| Record::<E::Notes>::read(path).map(drop))
    }

    fn undo(&self, configurations: &[&Configuration]) -> Restored {
        if let Err(problem) = servers() {
            return Restored { problems: vec![problem], ..Restored::default() };
        }
        // A killed run may have changed what was applied before it.
        let restore = |records| put_back::<E>(Path::new(""), configurations, records);
        let mut restored = restore(records(E::RECORDS, RECORD));
        let mut moved = Vec::new();
        for applied in records(E::RECORDS, APPLIED) {
            let place = renamed(&applied, RECORD);
            match Record::<E::Notes>::read(&applied) {
                Err(problem) => restored.problems.push(problem),
                // That of a killed run could not be used: a problem of its own.
                Ok(_) if place.symlink_metadata().is_ok() => {}
                Ok(record) if naming::<E>(&record, &place, configurations).is_empty() => {}
                Ok(_) => match rename(&applied, &place) {
                    Ok(()) => moved.push(place),
                    Err(problem) => restored.problems.push(problem),
                },
            }
        }
        restored.add(restore(moved));
        let servers = configurations.iter().filter_map(|configuration| by_url::<E>(configuration));
        let servers: BTreeMap<String, _> =
            servers.map(|config| (config.to_string(), config)).collect();
        for (server, config) in servers {
            let dropped = E::drop_schema(&config);
            restored.note(dropped.map(|was_there| {
                was_there.then(|| format!("dropped the tables of a killed run on {server}"))
            }));
        }
        restored
    }
}

fn failed(message: &str) -> EngineError {
    EngineError::failed("applying settings", message)
}

/// The server of a configuration that permits changes to its settings.
fn permitted<E: Alter>(configuration: &Configuration) -> Result<Config<E>> {
    let config = by_url::<E>(configuration).ok_or_else(|| failed("there is no target.url"))?;
    if is_permitted(configuration) {
        Ok(config)
    } else {
        Err(failed("needs target.allow_server_settings = true"))
    }
}

fn renamed(path: &Path, extension: &str) -> PathBuf {
    path.with_extension(extension.trim_start_matches('.'))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(EngineError::at(from))
}

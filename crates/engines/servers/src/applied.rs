//! Settings of servers by URL that stay changed until they are undone.
//!
//! The record of the former values is first that of a run: after a kill in the middle the next run
//! restores it. Once the change is complete it has another name, which runs leave alone.

use crate::altered::{
    Alter, Change, RECORD, Record, Scope, by_url, naming, place_of, put_back, records,
};
use crate::hosted::ServerEngine;
use engine::{Altering, EngineError, Result};
use experiment::Configuration;
use std::path::{Path, PathBuf};
use work::Cancel;

/// The extension of records of changes that stay.
const APPLIED: &str = ".applied";

impl<E: Alter> Altering for ServerEngine<E> {
    /// A value that an earlier call has recorded stays the one to restore.
    fn apply(&self, configuration: &Configuration) -> Result<String> {
        let failed = |message: &str| EngineError::failed("applying settings", message);
        let config = by_url::<E>(configuration).ok_or_else(|| failed("there is no target.url"))?;
        if !crate::altered::is_permitted(configuration) {
            return Err(failed("needs target.allow_server_settings = true"));
        }
        let place = place_of::<E>(&config).ok_or_else(|| failed("the server does not answer"))?;
        put_back::<E>(Path::new(""), &[configuration])?;
        let applied = renamed(&place, APPLIED);
        if applied.exists() {
            rename(&applied, &place)?;
        }
        let (settings, cancel) = (&E::server_settings(configuration), &Cancel::new());
        let (scope, run) = (Scope::Everyone, applied.as_path());
        let change = Change { configuration, settings, scope, run, cancel };
        if let Err(error) = E::alter(&config, &change) {
            put_back::<E>(Path::new(""), &[configuration])?;
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

    fn undo(&self, configurations: &[&Configuration]) -> Result<Vec<String>> {
        // A killed run may have changed what was applied before it.
        let mut done = put_back::<E>(Path::new(""), configurations)?;
        for applied in records(E::RECORDS, APPLIED) {
            let place = renamed(&applied, RECORD);
            let record = Record::<E::Notes>::read(&applied)?;
            if !naming::<E>(&record, &place, configurations).is_empty() {
                rename(&applied, &place)?;
            }
        }
        done.extend(put_back::<E>(Path::new(""), configurations)?);
        Ok(done)
    }
}

fn renamed(path: &Path, extension: &str) -> PathBuf {
    path.with_extension(extension.trim_start_matches('.'))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(EngineError::at(from))
}

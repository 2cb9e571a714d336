//! Optional facets of engines: each is a trait with an accessor that returns it if present.

use crate::{
    EngineError, Folders, Instance, Need, NoPlan, PlanRequest, Planned, Preflight, Program,
    ProgramNames, Result,
};
use experiment::Configuration;
use std::path::{Path, PathBuf};
use work::{Cancel, Stop};

/// The check of what trials need before the first of them.
pub trait Prerequisites: Sync {
    /// Names what a configuration needs and this machine lacks, as a
    /// clause: `duckdb is not installed: ...`, `this server was built without ...`.
    fn missing(&self, configuration: &Configuration) -> Option<String>;
    /// Finds a client program for the private server of a configuration; `None`: there is no such
    /// server.
    fn program(&self, _configuration: &Configuration, _: ProgramNames) -> Option<Result<Program>> {
        None
    }
    /// Problems of trials, found before the first of them: whether servers admit us, the rights of
    /// their role, their settings, and the space that is needed. Changes nothing; each server is
    /// asked once. `folders`: where trials on each volume put theirs.
    fn preflight(&self, needs: &[Need<'_>], folders: &Folders, stop: &Stop) -> Preflight;
    /// Returns the other folder for files of these configurations' targets, when the user of their
    /// private servers cannot enter this one; `None`: they can be there.
    fn other_place(&self, _configurations: &[&Configuration], _folder: &Path) -> Option<PathBuf> {
        None
    }
    /// Plans statements on the server that a configuration names, in its database, without a
    /// change; `None`: its trials bring a target of their own.
    fn plan_by_url(
        &self,
        _configuration: &Configuration,
        _asked: &[PlanRequest],
        _stop: &Stop,
    ) -> Option<Result<Vec<Result<Planned, NoPlan>>>> {
        None
    }
}

/// Database files of the user, which are only read.
pub trait DatabaseFiles: Sync {
    /// Returns true when the engine reads this file. An engine that recognises no file by its
    /// beginning says so of all; its errors say the rest.
    fn is_database(&self, file: &Path) -> bool;
    /// Writes rows of a table to a new Parquet file: all of them, or of a table with more than
    /// `rows_max` some that are spread over it. Returns the number of rows of the table.
    ///
    /// # Errors
    /// When there is no such database or table, or no room.
    fn export(&self, database: &Path, table: &str, rows_max: u64, to: &Path) -> Result<u64>;
}

/// The recovery from runs that were killed, of engines that start or change servers.
pub trait Recovery: Sync {
    /// Restores what finished runs have changed on your servers that these configurations name, by
    /// the records that they left; also what this run has changed, whose hosts' directories are in
    /// `folder`. Returns what was restored, a sentence each.
    ///
    /// # Errors
    /// When a server is not as it was: with the place of the record, and what to do.
    fn put_back(&self, folder: &Path, configurations: &[&Configuration]) -> Result<Vec<String>>;
    /// Stops what a run that was killed has left running in a directory that is marked as ours.
    ///
    /// # Errors
    /// When it continues to run.
    fn reclaim(&self, directory: &Path) -> Result<()>;
}

/// Changes of your servers' settings that stay until they are undone.
pub trait Altering: Sync {
    /// Gives your server that this configuration names all its settings, after recording their
    /// former values. Returns a sentence for the user.
    ///
    /// # Errors
    /// When the configuration does not permit it, or the server refuses: then its former values are
    /// restored.
    fn apply(&self, configuration: &Configuration) -> Result<String>;
    /// Checks the permission, and that records can be kept and read: before a search whose result
    /// [`Altering::apply`] is to use.
    ///
    /// # Errors
    /// When one of these is missing.
    fn verify(&self, configuration: &Configuration) -> Result<()>;
    /// Restores the former values on your servers that these configurations name: those that
    /// [`Altering::apply`] and runs that were killed have recorded. Drops the tables that a killed
    /// run has left there.
    fn undo(&self, configurations: &[&Configuration]) -> Restored;
}

/// The result of restoring your servers.
#[derive(Debug, Default)]
pub struct Restored {
    /// A sentence for each change.
    pub changes: Vec<String>,
    /// Servers that could not be restored, each with the remedy; their records stay.
    pub problems: Vec<EngineError>,
}

impl Restored {
    /// Adds one more result.
    pub fn add(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.problems.extend(other.problems);
    }

    /// Notes the change or the problem, if there is any.
    pub fn note(&mut self, result: Result<Option<String>>) {
        match result {
            Ok(change) => self.changes.extend(change),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// The changes.
    ///
    /// # Errors
    /// The first problem.
    pub fn into_result(self) -> Result<Vec<String>> {
        self.problems.into_iter().next().map_or(Ok(self.changes), Err)
    }
}

/// Targets that load generators in other processes work on.
pub trait Sharing: Sync {
    /// Returns why other processes cannot work on targets of a configuration; `None`: they can.
    fn refusal(&self, configuration: &Configuration) -> Option<&'static str>;
    /// Attaches to a target that another process has prepared, as [`crate::Shared::attachment`]
    /// says. Creating tables on it only makes its operations known; dropping it removes nothing.
    ///
    /// # Errors
    /// When the attachment or a setting is not one of this engine's.
    fn attach(
        &self,
        configuration: &Configuration,
        attachment: &str,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>>;
}

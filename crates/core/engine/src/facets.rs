//! Optional facets of engines and instances: each is a trait with an accessor that returns it if
//! present. The meaning of absence is defined here.

use crate::{
    Engine, EngineError, Explained, FileSet, Folders, Instance, Need, NoPlan, PlanRequest, Planned,
    Preflight, QueryLimits, QueryReader, Role, ServerError,
};
use experiment::{Configuration, Invalid};
use statements::ScriptStatement;
use std::path::{Path, PathBuf};
use work::{Cancel, Stop, Table, Work};

/// The check of what trials need before the first of them.
pub trait Prerequisites {
    /// Names what a configuration needs and this machine lacks, as a
    /// clause: `duckdb is not installed: ...`, `this server was built without ...`.
    fn missing(&self, configuration: &Configuration) -> Option<String>;
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
    ) -> Option<Result<Vec<Result<Planned, NoPlan>>, EngineError>> {
        None
    }
}

/// Methods by which single columns are compressed.
pub trait ColumnMethods {
    /// Objections to a configuration whose trials make these tables: columns that they lack, rows
    /// that a setting does not concern.
    fn validate_tables(&self, configuration: &Configuration, tables: &[Table]) -> Vec<Invalid>;
}

/// Database files of the user, which are only read.
pub trait DatabaseFiles {
    /// Returns true when the engine reads this file. An engine that recognises no file by its
    /// beginning says so of all; its errors say the rest.
    fn is_database(&self, file: &Path) -> bool;
    /// Writes rows of a table to a new Parquet file: all of them, or of a table with more than
    /// `rows_max` some that are spread over it. Returns the number of rows of the table.
    ///
    /// # Errors
    /// When there is no such database or table, or no room.
    fn export(
        &self,
        database: &Path,
        table: &str,
        rows_max: u64,
        to: &Path,
    ) -> Result<u64, EngineError>;
}

/// The recovery from runs that were killed, of engines that start or change servers.
pub trait Recovery {
    /// Restores what finished runs have changed on your servers that these configurations name, by
    /// the records that they left; also what this run has changed, whose hosts' directories are in
    /// `folder`. Returns what was restored, a sentence each.
    ///
    /// # Errors
    /// When a server is not as it was: with the place of the record, and what to do.
    fn put_back(
        &self,
        folder: &Path,
        configurations: &[&Configuration],
    ) -> Result<Vec<String>, EngineError>;
    /// Stops what a run that was killed has left running in a directory that is marked as ours.
    ///
    /// # Errors
    /// When it continues to run.
    fn reclaim(&self, directory: &Path) -> Result<(), EngineError>;
}

/// Changes of your servers' settings that stay until they are undone.
pub trait Altering {
    /// Gives your server that this configuration names all its settings, after recording their
    /// former values. Returns a sentence for the user.
    ///
    /// # Errors
    /// When the configuration does not permit it, or the server refuses: then its former values are
    /// restored.
    fn apply(&self, configuration: &Configuration) -> Result<String, EngineError>;
    /// Restores the former values on your servers that these configurations name: those that
    /// [`Altering::apply`] and runs that were killed have recorded. Returns a sentence for each
    /// record.
    ///
    /// # Errors
    /// When a server is not as it was: with what to do. The record stays.
    fn undo(&self, configurations: &[&Configuration]) -> Result<Vec<String>, EngineError>;
}

/// The examination of statements on database files, without a server.
pub trait FileQueries {
    /// Opens a file to examine what these statements do on it. Those that only read are run once;
    /// the file is not changed.
    ///
    /// # Errors
    /// When it cannot be opened, or is not a database.
    fn open(
        &self,
        path: &Path,
        statements: Vec<ScriptStatement>,
        limits: QueryLimits,
        stop: &Stop,
    ) -> Result<Box<dyn QueryReader>, ServerError>;
}

impl dyn Engine + '_ {
    /// [`Prerequisites::missing`]; an engine without prerequisites lacks nothing.
    pub fn missing(&self, configuration: &Configuration) -> Option<String> {
        self.prerequisites()?.missing(configuration)
    }

    /// [`Prerequisites::preflight`]; an engine without prerequisites finds no problem.
    pub fn preflight(&self, needs: &[Need<'_>], folders: &Folders, stop: &Stop) -> Preflight {
        self.prerequisites()
            .map(|prerequisites| prerequisites.preflight(needs, folders, stop))
            .unwrap_or_default()
    }

    /// [`ColumnMethods::validate_tables`]; without methods there are no settings to object to.
    pub fn validate_tables(&self, configuration: &Configuration, tables: &[Table]) -> Vec<Invalid> {
        self.column_methods()
            .map(|methods| methods.validate_tables(configuration, tables))
            .unwrap_or_default()
    }
}

/// Tables of a target.
pub trait Tables {
    /// Creates and fills tables and compiles operations, once for each trial.
    ///
    /// # Errors
    /// When the engine refuses.
    fn create(&self, work: Work) -> Result<(), EngineError>;
    /// Data files that tables are spread over.
    fn data_files(&self) -> u32 {
        1
    }
    /// Bytes that the tables of the trial and their indexes take in the engine's files; `None` when
    /// it does not tell.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    fn stored_bytes(&self) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }
}

/// Plans of statements.
pub trait Explainer {
    /// How it will run an operation on a table, and how large that is. Called in preparation,
    /// before caches are settled; `analyze`: it is run once for that, and watched.
    ///
    /// # Errors
    /// When the engine refuses.
    fn explain(
        &self,
        operation: usize,
        table: &Table,
        analyze: bool,
    ) -> Result<Explained, EngineError>;
    /// Explains how it would run statements of the user's now: each has a plan, or the reason why
    /// it has none. Executes none. Called after the measurement.
    ///
    /// # Errors
    /// When the engine cannot be asked at all.
    fn plans(&self, asked: &[PlanRequest]) -> Result<Vec<Result<Planned, NoPlan>>, EngineError>;
}

/// Targets that load generators in other processes work on.
pub trait Sharing {
    /// Returns why other processes cannot work on targets of a configuration; `None`: they can.
    fn refusal(&self, configuration: &Configuration) -> Option<&'static str>;
    /// Attaches to a target that another process has prepared, as its [`Shared::attachment`] says.
    /// Creating tables on it only makes its operations known, and dropping it removes nothing.
    ///
    /// # Errors
    /// When the attachment or a setting is not one of this engine's.
    fn attach(
        &self,
        configuration: &Configuration,
        attachment: &str,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError>;
}

/// A target that several processes work on.
pub trait Shared: Send + Sync {
    /// Returns the text by which other processes attach, once the tables are there. It holds no
    /// password: each process has its own.
    ///
    /// # Errors
    /// When the target is not ready.
    fn attachment(&self) -> Result<String, EngineError>;
    /// Returns the server's numbers of the sessions of this process's load.
    fn sessions(&self) -> Vec<i64>;
    /// Counts these sessions of other processes among those of the load.
    fn adopt(&self, sessions: &[i64]);
    /// Does the work that the load left for later (a checkpoint). Part of the measured time.
    ///
    /// # Errors
    /// When the engine fails.
    fn flush(&self) -> Result<(), EngineError>;
}

/// Plain files and devices.
pub trait FileTarget {
    /// Creates and fills the files of these roles, unless they exist.
    ///
    /// # Errors
    /// When that fails.
    fn create_files(&self, roles: &[Role]) -> Result<(), EngineError>;
    /// The files, once they have been created.
    fn files(&self) -> Option<&FileSet>;
}

/// The server of a target.
pub trait ServerProcess {
    /// The first process of a server that was there before us; `None` when all that works for this
    /// target is our own process and what it has started.
    ///
    /// # Errors
    /// When such a server's processes cannot be seen.
    fn server_process(&self) -> Result<Option<i32>, EngineError>;
    /// Variables by which other programs find it, password included: `PGHOST`, `PGPORT`. `None`:
    /// one that must not be there.
    fn client_environment(&self) -> Vec<(String, Option<String>)>;
    /// The end of the server's log, where it can be read: its messages about a failure.
    fn log_tail(&self) -> Option<String> {
        None
    }
}

impl dyn Instance + '_ {
    /// [`Tables::create`].
    ///
    /// # Errors
    /// When the engine refuses, or the target has no tables.
    pub fn create(&self, work: Work) -> Result<(), EngineError> {
        let unsupported = EngineError::Unsupported { engine: "this target", what: "tables" };
        self.tables().ok_or(unsupported)?.create(work)
    }

    /// [`Tables::data_files`]; a target without tables counts as one file.
    pub fn data_files(&self) -> u32 {
        self.tables().map_or(1, Tables::data_files)
    }

    /// [`Tables::stored_bytes`].
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub fn stored_bytes(&self) -> Result<Option<u64>, EngineError> {
        self.tables().map_or(Ok(None), Tables::stored_bytes)
    }

    /// [`Explainer::explain`]; nothing of a target that has no plans.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn explain(
        &self,
        operation: usize,
        table: &Table,
        analyze: bool,
    ) -> Result<Explained, EngineError> {
        self.explainer().map_or_else(
            || Ok(Explained::default()),
            |explainer| explainer.explain(operation, table, analyze),
        )
    }

    /// [`Explainer::plans`]; empty of a target that has no plans.
    ///
    /// # Errors
    /// When the engine cannot be asked at all.
    pub fn plans(
        &self,
        asked: &[PlanRequest],
    ) -> Result<Vec<Result<Planned, NoPlan>>, EngineError> {
        self.explainer().map_or(Ok(Vec::new()), |explainer| explainer.plans(asked))
    }

    /// [`FileTarget::create_files`].
    ///
    /// # Errors
    /// When that fails, or the target is not one of files.
    pub fn create_files(&self, roles: &[Role]) -> Result<(), EngineError> {
        let unsupported = EngineError::Unsupported { engine: "this target", what: "plain files" };
        self.file_target().ok_or(unsupported)?.create_files(roles)
    }

    /// [`FileTarget::files`].
    pub fn files(&self) -> Option<&FileSet> {
        self.file_target()?.files()
    }

    /// [`ServerProcess::server_process`].
    ///
    /// # Errors
    /// When the server's processes cannot be seen.
    pub fn server_process(&self) -> Result<Option<i32>, EngineError> {
        self.server().map_or(Ok(None), ServerProcess::server_process)
    }

    /// [`ServerProcess::client_environment`]; empty without a server.
    pub fn client_environment(&self) -> Vec<(String, Option<String>)> {
        self.server().map(ServerProcess::client_environment).unwrap_or_default()
    }

    /// [`ServerProcess::log_tail`].
    pub fn log_tail(&self) -> Option<String> {
        self.server()?.log_tail()
    }
}

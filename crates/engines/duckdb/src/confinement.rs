//! Statements of untrusted experiments: they reach the files of their trial.

use super::dialect::literal;
use super::library::{Answered, Connection, Database, Library, failed};
use engine::{Folders, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Settings with which a database is opened, so that it loads no extensions and keeps no secrets
/// (<https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview>).
const CLOSED: [&str; 4] = [
    "autoinstall_known_extensions",
    "autoload_known_extensions",
    "allow_community_extensions",
    "allow_persistent_secrets",
];

/// The limits of such statements.
#[derive(Debug)]
pub struct Confinement {
    /// The folders of the trial, as a list of DuckDB's.
    folders: String,
    is_sealed: AtomicBool,
}

impl Confinement {
    /// Within the folders of a host.
    pub fn within(folders: &Folders) -> Self {
        let volumes = folders.volumes.iter().map(|(_, folder)| folder);
        let folders = volumes.chain([&folders.directory]);
        let list: Vec<String> = folders.map(|folder| literal(&folder.to_string_lossy())).collect();
        Self { folders: format!("[{}]", list.join(", ")), is_sealed: AtomicBool::new(false) }
    }

    /// Opens a database with these limits.
    pub fn open(
        &self,
        library: &'static Library,
        path: &Path,
        settings: &[(String, String)],
    ) -> Answered<Arc<Database>> {
        let closed = CLOSED.map(|name| (name.to_owned(), "false".to_owned()));
        let database = Database::open(library, Some(path), &[settings, &closed].concat())?;
        // It keeps access to its file, its log and its temporary files.
        let connection = database.connect()?;
        connection.run(&format!("SET allowed_directories = {}", self.folders))?;
        connection.run("SET enable_external_access = false")?;
        Ok(database)
    }

    /// Fixes the settings of the trial's database, also when it is opened again.
    pub fn seal(&self) {
        self.is_sealed.store(true, Ordering::Relaxed);
    }

    /// Returns whether the settings of the trial's database are fixed.
    pub fn is_sealed(&self) -> bool {
        self.is_sealed.load(Ordering::Relaxed)
    }
}

/// Fixes all settings of a database: some of them write files at any place.
pub fn fix_settings(connection: &Connection) -> Result<()> {
    connection.run("SET lock_configuration = true").map_err(failed("fixing the settings"))
}

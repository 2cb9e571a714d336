//! Data sets of a private server: each has a data directory of its own, which is cloned from a
//! template in the cache and stays beside that of the running server until the server goes.

use super::account::Account;
use super::files::{Layout, clone_folder, write_back};
use super::process::removed;
use super::template::Template;
use engine::{Dialect, EngineError, Result, cache};
use observations::fnv1a;
use std::path::{Path, PathBuf};
use work::Work;

/// The prefix of the names of the directories beside the server's own.
const PREFIX: &str = "data.";

/// The tables of a trial's data set.
#[derive(Debug)]
pub struct KeptTables {
    /// A name of the data set: a hash of its identity.
    pub name: String,
    /// All that it follows from.
    pub identity: String,
    /// True if the trial changes it.
    pub changed: bool,
    /// Their names.
    pub tables: Vec<&'static str>,
}

impl KeptTables {
    /// Returns those of this work, as the engine writes them: how they are spread and compressed is
    /// part of what they are.
    ///
    /// # Errors
    /// When the engine cannot have such a table.
    pub fn find(work: &Work, dialect: &dyn Dialect) -> Result<Option<Self>> {
        let Some(data) = &work.data else { return Ok(None) };
        let Some(tables) = work.tables.get(..data.tables) else { return Ok(None) };
        let mut identity = format!("{} {tables:?}", data.identity);
        for table in tables {
            identity += &dialect.create(table)?.concat();
        }
        Ok(Some(Self {
            name: fnv1a(&identity),
            identity,
            changed: data.changed,
            tables: tables.iter().map(|table| table.name).collect(),
        }))
    }

    /// Returns the number of tables.
    pub fn count(&self) -> usize {
        self.tables.len()
    }
}

/// The data set that the data directory of a server holds, as it was loaded.
#[derive(Debug, Default)]
pub struct DataSets {
    held: Option<String>,
}

impl DataSets {
    /// Returns whether it holds this data set.
    pub fn holds(&self, data_set: &str) -> bool {
        self.held.as_deref() == Some(data_set)
    }

    /// Returns whether it holds a data set and is worth keeping.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// A trial changes the data set.
    pub fn forget(&mut self) {
        self.held = None;
    }

    /// Puts the directory of a data set in the place of that of a server that does not run: the one
    /// that an earlier trial had, else a clone of a template, which must be given then.
    ///
    /// # Errors
    /// When a directory cannot be moved, removed or copied.
    pub fn change(
        &mut self,
        layout: &Layout,
        account: &Account,
        data_set: &str,
        bytes: u64,
        template: Option<&Template>,
    ) -> Result<()> {
        let data = &layout.data;
        let gone = match self.held.take() {
            Some(held) => std::fs::rename(data, folder(layout, &held)),
            None => std::fs::remove_dir_all(data),
        };
        gone.map_err(EngineError::at(data))?;
        if let Some(template) = template {
            if !cache::has_room(&layout.directory, bytes) {
                remove_unused(&layout.directory)?;
            }
            clone_folder(&template.data, data, account)?;
            write_back(data)?;
        } else {
            let next = folder(layout, data_set);
            std::fs::rename(&next, data).map_err(EngineError::at(&next))?;
        }
        self.held = Some(data_set.to_owned());
        Ok(())
    }
}

/// Returns whether an earlier trial left the directory of a data set.
pub fn is_stored(layout: &Layout, data_set: &str) -> bool {
    folder(layout, data_set).is_dir()
}

fn folder(layout: &Layout, data_set: &str) -> PathBuf {
    layout.directory.join(format!("{PREFIX}{data_set}"))
}

/// Removes the data directories that no server runs on.
pub(crate) fn remove_unused(directory: &Path) -> Result<()> {
    for (_, folder) in cache::entries(directory, PREFIX, None) {
        removed(&folder, std::fs::remove_dir_all(&folder))?;
    }
    Ok(())
}

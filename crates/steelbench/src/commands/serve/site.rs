//! Builds pages, one at a time.

use super::library::{File, Library};
use super::list::Lines;
use super::page::{Page, Refusal};
use super::query::Query;
use super::state;
use observations::Recording;
use std::sync::{Mutex, PoisonError};
use store::Store;

/// Builds a kind of page.
pub type Build = fn(&Site, &Query) -> Result<Page, Refusal>;

/// What pages are made of.
#[derive(Debug)]
pub struct Site {
    pub library: Library,
    /// What the list says of runs that have not changed since.
    pub lines: Mutex<Lines>,
    /// Held while files are read. One at a time, because closing a file releases all locks that this process has on it;
    /// and so that a run that is being measured shares the machine with one page at most.
    reading: Mutex<()>,
}

/// A run as it was read.
#[derive(Debug)]
pub struct Read {
    pub recording: Recording,
    /// How far it is.
    pub said: String,
}

impl Site {
    pub fn new(library: Library) -> Self {
        Self { library, lines: Mutex::default(), reading: Mutex::default() }
    }

    /// A page as HTML, or why there is none.
    pub fn build(&self, build: Build, query: &str) -> Result<String, Refusal> {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        build(self, &Query::of(query)).map(|page| page.html())
    }
}

/// Reads a run of a file, the latest one without a number.
pub fn read(file: &File, run: Option<i64>) -> Result<Read, Refusal> {
    let store = Store::open(&file.path)?;
    let Some(latest) = store.latest_run()?.map(|run| run.id) else {
        return Err(Refusal::nothing(format!("{}: no run was recorded yet.", file.name)));
    };
    let recording = store.read(run.unwrap_or(latest))?;
    let said = state::said(file, &recording, latest == recording.run.id);
    Ok(Read { recording, said })
}

//! Resources that all pages share, and how a page is built.

use super::library::Library;
use super::page::{Page, Query, Refusal};
use super::run_list::Lines;
use super::worker::Worker;
use command_line::Context;
use std::sync::Mutex;

/// Builds a kind of page.
pub type Build = fn(&Site, &Query) -> Result<Page, Refusal>;

/// Resources of the pages.
pub struct Site {
    pub library: Library,
    pub context: Context,
    /// List entries of runs that have not changed since.
    pub lines: Mutex<Lines>,
    /// Reads files and builds pages: a run that is being measured shares the machine with one page
    /// at most.
    pub pages: Worker,
    /// Checks whether files have changed.
    pub versions: Worker,
}

impl Site {
    /// Starts the threads.
    ///
    /// # Errors
    /// When they cannot be started.
    pub fn new(library: Library, context: &Context) -> std::io::Result<Self> {
        let (pages, versions) = (Worker::start("pages")?, Worker::start("versions")?);
        Ok(Self { library, context: *context, lines: Mutex::default(), pages, versions })
    }

    /// A page as HTML, or why there is none.
    pub fn build(&self, build: Build, query: &str) -> Result<String, Refusal> {
        build(self, &Query::parse(query)).map(|page| page.html())
    }
}

use crate::arguments::Between;
use crate::output::{Extent, Form};
use crate::{ExitCode, Failure};
use report::Document;
use serde_json::Value;
use store::Store;

/// Observations that a tool records in results files, beside the runs of experiments. A method
/// returns `None` where the file holds runs, or nothing of this kind.
pub trait Records: Sync {
    /// Lines for the list of a file's contents.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn list(&self, _store: &Store) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    /// Names of the sections of an observation.
    fn sections(&self) -> &'static [&'static str] {
        &[]
    }

    /// Prints an observation.
    ///
    /// # Errors
    /// When there is no such observation.
    fn show(&self, _at: Place, _form: Form, _: &Extent) -> Result<Option<ExitCode>, Failure> {
        Ok(None)
    }

    /// All of an observation, for a page.
    ///
    /// # Errors
    /// When there is no such observation.
    fn document(&self, _at: Place) -> Result<Option<Document>, Failure> {
        Ok(None)
    }

    /// Prints how two observations differ.
    ///
    /// # Errors
    /// When there are no two such observations.
    fn compare(&self, _from: Place, _to: Place, _: Form) -> Result<Option<ExitCode>, Failure> {
        Ok(None)
    }

    /// The changes over all observations of some files, or over the last `last` of them.
    ///
    /// # Errors
    /// When the files cannot be read, or no observation lies in the span.
    fn history(
        &self,
        stores: &[Store],
        between: &Between,
        last: Option<u32>,
    ) -> Result<Option<History>, Failure>;
}

/// An observation in a results file.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The file.
    pub store: &'a Store,
    /// The chosen one of its observations.
    pub which: Which,
}

/// A run or an observation in a results file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The latest one.
    Latest,
    /// The one before the latest.
    Previous,
    /// The one with this number.
    Number(i64),
}

impl Which {
    /// The one with a number; the latest one without.
    pub fn numbered(number: Option<i64>) -> Self {
        number.map_or(Self::Latest, Self::Number)
    }
}

/// A history of observations, for people and for programs.
pub struct History {
    /// For people.
    pub document: Document,
    /// For programs.
    pub json: Value,
}

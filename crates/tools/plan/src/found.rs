//! Plans in files and folders.

use crate::document::PlanOf;
use command_line::{Context, Failure, output};
use inspection::plan_files::{PlanFileError, read};
use inspection::plans::{FILE_BYTES_MAX, Statement};
use std::path::{Path, PathBuf};

/// Errors that are printed one by one.
const ERRORS_MAX: usize = 10;

/// Plans that were read, and files that were not.
pub(crate) struct PlanFiles<'a> {
    context: &'a Context,
    /// The statements of all files, in their order.
    pub plans: Vec<PlanOf>,
    /// An error for each file or part that could not be read.
    pub errors: Vec<String>,
    /// Files of folders that hold something else.
    others: usize,
}

impl<'a> PlanFiles<'a> {
    /// Nothing yet; the inspections of the registry read plans.
    pub fn new(context: &'a Context) -> Self {
        Self { context, plans: Vec::new(), errors: Vec::new(), others: 0 }
    }

    /// All files of a folder and of those in it, by name; links to folders are not followed.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let mut entries: Vec<PathBuf> = folder
            .read_dir()
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
            .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))?;
        entries.sort();
        for path in entries {
            match path.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => self.folder(&path)?,
                _ => self.file(&path, false),
            }
        }
        Ok(())
    }

    /// Adds the plans of a file.
    pub fn file(&mut self, path: &Path, is_named: bool) {
        let bytes = experiment::read_bytes(path, FILE_BYTES_MAX);
        self.add(&path.display().to_string(), bytes, is_named);
    }

    /// Adds the plans in these bytes; other contents are an error where the user named the file.
    pub fn add(&mut self, name: &str, bytes: std::io::Result<Vec<u8>>, is_named: bool) {
        let read = bytes.map(|bytes| read(self.context.registry.adapters(), &bytes));
        let error = match read {
            Ok(Ok(statements)) => {
                for statement in statements {
                    self.add_statement(name, statement);
                }
                return;
            }
            Ok(Err(PlanFileError::Unknown { .. } | PlanFileError::Encoding)) if !is_named => {
                self.others += 1;
                return;
            }
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.errors.push(format!("{name}: {error}"));
    }

    fn add_statement(&mut self, file: &str, statement: Statement) {
        self.errors.extend(statement.damage.iter().map(|damage| format!("{file}: {damage}")));
        let inspection = self.context.registry.adapter(&statement.engine);
        match inspection::rules(inspection, &statement.engine) {
            Ok(rules) => self.plans.push(PlanOf { file: file.to_owned(), statement, rules }),
            Err(error) => self.errors.push(format!("{file}: {error}")),
        }
    }

    /// Prints the errors, the first of many, and the number of other files.
    pub fn complain(&self) {
        for error in self.errors.iter().take(ERRORS_MAX) {
            output::complain(&format!("error: {error}"));
        }
        if let Some(more) = self.errors.len().checked_sub(ERRORS_MAX).filter(|more| *more > 0) {
            output::complain(&format!("error: {more} more plans could not be read"));
        }
        if self.others > 0 {
            output::complain(&format!("note: skipped {} without a plan", files(self.others)));
        }
    }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}

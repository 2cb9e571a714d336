//! Exit codes, and failures with the words for them.

use runner::RunError;
use std::path::Path;
use store::{Fault, StoreError};

/// Meaning of the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// All is well.
    Ok = 0,
    /// A trial failed, or the run could not go on.
    Failed = 1,
    /// The command line or the experiment file is wrong; nothing was run.
    Usage = 2,
    /// A manual step is due; `run` again with `--manual-done` resumes.
    ManualStep = 3,
    /// Interrupted; `run` again resumes.
    Interrupted = 130,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

/// Why a command did not do what it was asked, in words for the user.
#[derive(Debug)]
pub struct Failure {
    code: ExitCode,
    message: String,
}

impl From<StoreError> for Failure {
    /// A file that is not what its name was taken for is a wrong argument; the rest happened on the
    /// way.
    fn from(error: StoreError) -> Self {
        match error.fault {
            Fault::Missing
            | Fault::Empty
            | Fault::Foreign(_)
            | Fault::Altered(_)
            | Fault::ForeignJournal(_)
            | Fault::Older(_)
            | Fault::Newer(_)
            | Fault::NoRun(_)
            | Fault::NoActivity(_) => Self::usage(error),
            _ => Self::failed(error),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => error.into(),
            error if error.is_refusal() => Self::usage(error),
            error => Self::failed(error),
        }
    }
}

impl Failure {
    /// The command line or a file is wrong.
    #[expect(clippy::needless_pass_by_value, reason = "as the argument of `map_err`")]
    pub fn usage(message: impl ToString) -> Self {
        Self { code: ExitCode::Usage, message: message.to_string() }
    }

    /// Something went wrong on the way.
    #[expect(clippy::needless_pass_by_value, reason = "as the argument of `map_err`")]
    pub fn failed(message: impl ToString) -> Self {
        Self { code: ExitCode::Failed, message: message.to_string() }
    }

    /// The user interrupted it.
    #[expect(clippy::needless_pass_by_value, reason = "as the argument of `map_err`")]
    pub fn interrupted(message: impl ToString) -> Self {
        Self { code: ExitCode::Interrupted, message: message.to_string() }
    }

    /// Names the file that was searched.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        Self { message: format!("{}: {}", path.display(), self.message), ..self }
    }

    /// Why, in words for the user.
    pub fn message(&self) -> &str {
        self.message.trim_end()
    }

    /// The exit code of the program.
    pub fn code(&self) -> ExitCode {
        self.code
    }
}

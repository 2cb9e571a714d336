//! Why a command has no figures.

use observations::redacted_message;
use observe::child::Printed;
use probe::ProbeError;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::{fmt, io};

/// Lines of what was printed that explain a failure.
const LINES_MAX: usize = 15;
/// Characters of these.
const CHARACTERS_MAX: usize = 4000;

/// Why a command has no figures.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It could not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The input or output could not be opened.
    #[error("cannot open {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It ended in another way than it may.
    #[error("{what} `{line}` {end}{output}")]
    Failed {
        /// The command or one of its hooks.
        what: &'static str,
        /// As people write it.
        line: String,
        /// The end.
        end: CommandEnd,
        /// The end of its output.
        output: String,
    },
    /// A response of the user's was not found in its output.
    #[error("response {name}: {cause}{output}")]
    NoResponse {
        /// The name.
        name: String,
        /// The cause.
        #[source]
        cause: AnswerError,
        /// The end of its output.
        output: String,
    },
}

impl From<CommandError> for ProbeError {
    fn from(error: CommandError) -> Self {
        Self::study(error)
    }
}

/// The end of a command that may not end so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CommandEnd {
    /// It took longer than a hook may.
    Timeout(f64),
    /// An exit code or a signal.
    Status(ExitStatus),
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(limit_s) => {
                write!(f, "was killed after {limit_s} s (workload.hook_timeout)")
            }
            Self::Status(status) => match status.code() {
                Some(code) => write!(f, "ended with exit code {code}"),
                None => write!(f, "was killed by a {status}"),
            },
        }
    }
}

/// Why a response is not in what a run has printed.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The expression matches nowhere.
    #[error("no output matches {0}")]
    NoMatch(String),
    /// The text at its place is not a number.
    #[error("`{0}` is not a number")]
    NoNumber(String),
    /// Only a part of the output was kept.
    #[error(
        "standard output exceeds {} MiB, the limit for JSON",
        observe::child::KEPT_BYTES_MAX >> 20
    )]
    TooLarge,
    /// The output is not JSON.
    #[error("standard output is not a JSON document: {0}")]
    Json(#[from] serde_json::Error),
    /// A list, an object or a truth value.
    #[error("the value at {0} is neither a number nor a text")]
    Kind(String),
    /// The document has no such place.
    #[error("the JSON document has nothing at {0}")]
    Nothing(String),
}

impl AnswerError {
    /// Returns the error with the printed texts reduced by `hide`.
    pub(crate) fn hidden(self, hide: impl Fn(&str) -> String) -> Self {
        match self {
            Self::NoNumber(text) => Self::NoNumber(hide(&text)),
            other => other,
        }
    }
}

/// The end of what was printed, for an error: of standard error or, if that has nothing, of
/// standard output.
pub(crate) fn output_end(stdout: &Printed, stderr: &Printed) -> String {
    let (out, err) = (stdout.text(), stderr.text());
    let text = if err.trim().is_empty() { out } else { err };
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = lines[lines.len().saturating_sub(LINES_MAX)..].join("\n");
    // One line can be all that was printed.
    let end = redacted_message(&last);
    let cut = end.chars().count().saturating_sub(CHARACTERS_MAX);
    let end: String = end.chars().skip(cut).collect();
    if end.is_empty() { String::new() } else { format!("\nits output ends with:\n{end}") }
}

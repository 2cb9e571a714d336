//! Failures in an engine.

use observations::redacted_message;
use rustix::io::Errno;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Why an engine asks for a transaction to be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryCause {
    /// Transactions wait for each other.
    Deadlock,
    /// The snapshot is too old for what it wants to write, or the order is not serializable.
    Conflict,
    /// A lock was not free in time.
    LockTimeout,
}

/// Result of a call of an engine.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// A failure in an engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine's own words, and what was being done.
    #[error("{doing}: {message}")]
    Engine {
        /// The operation: `commit in data file 3`.
        doing: String,
        /// The engine's message.
        message: String,
    },
    /// The engine asks for the transaction to be repeated (deadlock, serialization failure).
    #[error("{doing}: {message}")]
    Retry {
        /// The operation.
        doing: String,
        /// The engine's message.
        message: String,
        /// The kind.
        cause: RetryCause,
    },
    /// A constraint refuses a statement: a duplicate key, a missing parent.
    #[error("{doing}: {message}")]
    Violation {
        /// The operation.
        doing: String,
        /// The engine's message.
        message: String,
    },
    /// A statement was cancelled because it exceeded its time limit.
    #[error("{doing}: {message}")]
    TimeLimit {
        /// The operation.
        doing: String,
        /// The engine's message.
        message: String,
    },
    /// The engine cannot do this.
    #[error("{engine} does not support {what}")]
    Unsupported {
        /// Name of the engine.
        engine: &'static str,
        /// The requested feature.
        what: &'static str,
    },
    /// A setting did not take.
    #[error("setting {setting} = {expected} had no effect: the engine reports {got}")]
    SettingIgnored {
        /// Dotted path.
        setting: String,
        /// Value in the file.
        expected: String,
        /// The engine's answer.
        got: String,
    },
    /// A file operation of Steelbench failed.
    #[error("{path}: {source}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The machine lacks open files, threads or memory.
    #[error("{doing}: {message}")]
    Scarce {
        /// The operation.
        doing: String,
        /// The cause and the remedy.
        message: String,
    },
    /// A disk is full.
    #[error("{doing}: the disk is full")]
    DiskFull {
        /// The operation.
        doing: String,
    },
    /// The server cannot be reached: no trial can.
    #[error("connecting: {message}")]
    Unreachable {
        /// The server, the cause and the remedy.
        message: String,
    },
    /// The target of a trial that was asked to stop could not be removed.
    #[error("{what} could not be removed: {why}; the next run there removes it")]
    Remains {
        /// The object, and where it is.
        what: String,
        /// The cause.
        why: String,
    },
    /// The trial was asked to stop.
    #[error("stopped on request")]
    Cancelled,
}

impl EngineError {
    /// An error with the failed action and a message.
    pub fn failed(doing: impl Into<String>, message: impl fmt::Display) -> Self {
        Self::Engine { doing: doing.into(), message: message.to_string() }
    }

    /// A statement that was cancelled at its time limit.
    pub fn time_limit(doing: &str, message: impl fmt::Display) -> Self {
        Self::TimeLimit { doing: doing.into(), message: message.to_string() }
    }

    /// An error for a thread that could not be started.
    pub fn no_thread(error: &std::io::Error) -> Self {
        let message = format!("{error}; free memory, or raise the process limit (ulimit -u)");
        Self::Scarce { doing: "starting a thread".into(), message }
    }

    /// Returns whether the machine lacks something that it may have later.
    pub fn is_of_machine(&self) -> bool {
        match self {
            Self::Scarce { .. } | Self::DiskFull { .. } => true,
            Self::File { source, .. } => matches!(
                Errno::from_io_error(source),
                Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN)
            ),
            _ => false,
        }
    }

    /// The error of an operation on a file.
    pub fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Self::DiskFull { doing: format!("writing {}", path.display()) }
            }
            _ => Self::File { path: path.into(), source },
        }
    }
}

/// Why a server cannot be named, observed or examined.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{doing}{}{}", if .doing.is_empty() { "" } else { ": " }, self.words())]
pub struct ServerError {
    /// The operation, where it is known.
    pub doing: String,
    /// The error, in the words of the engine.
    pub what: String,
    /// Advice on it, where there is any.
    pub advice: Option<&'static str>,
    /// The server's code of an error that it sent: an SQLSTATE, or a number.
    pub code: Option<String>,
    /// The state of the connection.
    pub fault: Fault,
}

/// The state of a connection after an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fault {
    /// The server or its client objects.
    #[default]
    Refusal,
    /// No answer came in time.
    Silence,
    /// The user asked to stop before an answer came.
    Stopped,
    /// The connection is gone.
    Loss,
}

impl ServerError {
    /// Without advice.
    pub fn new(what: impl fmt::Display) -> Self {
        Self { what: what.to_string(), ..Self::default() }
    }

    /// The error in the words of the engine, which may quote a password: with stars in its place.
    /// Where they are recorded, messages are not distinguished from names.
    pub fn words(&self) -> String {
        redacted_message(&self.what)
    }

    /// Returns true when no answer came, or the connection is gone: then further questions are
    /// useless.
    pub fn is_silence(&self) -> bool {
        self.fault != Fault::Refusal
    }
}

/// Says what was being done when the server or the connection failed.
pub fn while_doing<E: Into<ServerError>>(doing: &str) -> impl FnOnce(E) -> ServerError + '_ {
    move |error| ServerError { doing: doing.into(), ..error.into() }
}

/// Says what was being done when the server or the connection failed, or the user asked to stop.
pub fn failed_at(doing: &str) -> impl FnOnce(ServerError) -> EngineError + '_ {
    move |error| match error.fault {
        Fault::Stopped => EngineError::Cancelled,
        _ => EngineError::failed(doing, error),
    }
}

impl From<ServerError> for EngineError {
    fn from(error: ServerError) -> Self {
        failed_at("observing the server's waits")(error)
    }
}

#[cfg(test)]
mod tests {
    use super::{EngineError, Fault, ServerError, failed_at};

    #[test]
    fn a_stop_is_not_a_failure_of_the_server() {
        let stopped = ServerError { fault: Fault::Stopped, ..ServerError::new("stopped") };
        assert!(stopped.is_silence());
        assert!(matches!(failed_at("asking")(stopped), EngineError::Cancelled));
        assert_eq!(failed_at("asking")(ServerError::new("no")).to_string(), "asking: no");
    }
}

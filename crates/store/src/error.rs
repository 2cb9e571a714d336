use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why a results file could not be used. Every message names the file and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("results file {}: not found; run the experiment first, or check the name", path.display())]
    Missing {
        /// The results file.
        path: PathBuf,
    },
    /// The file has no content: a run was stopped before it had begun.
    #[error("results file {}: is empty, nothing was recorded in it; run the experiment", path.display())]
    Empty {
        /// The results file.
        path: PathBuf,
    },
    /// The file belongs to another program; it was not touched.
    #[error("results file {}: is {what}, not a Steelbench results file; name another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// The file was truncated or overwritten.
    #[error(
        "results file {}: is damaged ({detail}); restore a copy, or save what is left with `sqlite3 FILE .recover`",
        path.display()
    )]
    Damaged {
        /// The results file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file was written by a newer version.
    #[error(
        "results file {}: has format {found}, this version reads up to {known}; use a newer Steelbench",
        path.display()
    )]
    Newer {
        /// The results file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this version knows.
        known: i64,
    },
    /// No space is left; the transaction was rolled back.
    #[error(
        "results file {}: no space left; earlier trials are kept, free some space and run again to resume",
        path.display()
    )]
    Full {
        /// The results file.
        path: PathBuf,
    },
    /// The file cannot be written; the transaction was rolled back.
    #[error(
        "results file {}: is read-only (or its folder is, or it was opened for reading); earlier trials \
         are kept, make both writable or copy the file elsewhere",
        path.display()
    )]
    ReadOnly {
        /// The results file.
        path: PathBuf,
    },
    /// Another process kept the file locked for longer than we wait.
    #[error("results file {}: another program keeps it locked; close that program and try again", path.display())]
    Busy {
        /// The results file.
        path: PathBuf,
    },
    /// Another run is writing to this file.
    #[error(
        "results file {}: in use by another run{}; wait for it to end or name another file",
        path.display(),
        pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    InUse {
        /// The results file.
        path: PathBuf,
        /// Process that has it, where it could be read.
        pid: Option<u32>,
    },
    /// The file has no such run.
    #[error("results file {}: has no run {run}; `show` lists those it has", path.display())]
    NoRun {
        /// The results file.
        path: PathBuf,
        /// The number that was asked for.
        run: i64,
    },
    /// A record contradicts the plan or does not fit the format; nothing of it was written.
    #[error("results file {}: cannot hold this record: {detail}", path.display())]
    Unrecordable {
        /// The results file.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// The operating system refused something.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// SQLite refused something that none of the others describes.
    #[error("results file {}: {source}", path.display())]
    Sqlite {
        /// The results file.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Sorts an SQLite error by what the user can do about it.
    pub(crate) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match &source {
            rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
                ErrorCode::NotADatabase => Self::Foreign { path, what: "no SQLite database".into() },
                ErrorCode::DatabaseCorrupt => {
                    let detail = message.clone().unwrap_or_else(|| failure.to_string());
                    Self::Damaged { path, detail }
                }
                ErrorCode::DiskFull => Self::Full { path },
                ErrorCode::ReadOnly => Self::ReadOnly { path },
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { path },
                _ => Self::Sqlite { path, source },
            },
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Self::Damaged { path, detail: source.to_string() },
            rusqlite::Error::ToSqlConversionFailure(cause) => {
                Self::Unrecordable { path, detail: cause.to_string() }
            }
            _ => Self::Sqlite { path, source },
        }
    }

    /// An operating system error, sorted likewise.
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Io { path, action, source },
        }
    }
}

use rusqlite::ErrorCode;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Files that SQLite opens at the same time to write: the database, its journal or write-ahead log
/// with its index, and the folder to sync it.
const FILES_OF_DATABASE: usize = 4;

/// The reason why a results file could not be used. Every message names the file and says what to
/// do.
#[derive(Debug, thiserror::Error)]
#[error("results file {}: {fault}", path.display())]
pub struct StoreError {
    /// The results file.
    pub path: PathBuf,
    /// The fault.
    pub fault: Fault,
}

/// A fault of a results file. Uncommitted changes are rolled back.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is no such file.
    #[error("not found; run the experiment first, or check the name")]
    Missing,
    /// The file has no content: a run was stopped before it had begun.
    #[error("is empty; run the experiment")]
    Empty,
    /// It is this instead, a file of another program; it was not touched.
    #[error("is {0}, not a Steelbench results file; name another file")]
    Foreign(String),
    /// This in its schema is not ours, and could do anything when it is used.
    #[error(
        "{0} differs from Steelbench's schema; restore a copy, or drop your own views, indexes \
         and triggers with `sqlite3 FILE`"
    )]
    Altered(String),
    /// The path with this ending next to the file, where SQLite keeps its journal, is a pipe, a
    /// link or a folder.
    #[error(
        "the file ending in {0} beside it is not a regular file; remove it, or copy the results \
         file elsewhere"
    )]
    ForeignJournal(&'static str),
    /// Reading it took longer than any genuine file takes.
    #[error("reading took too long; restore a copy, or save its content with `sqlite3 FILE .dump`")]
    Slow,
    /// The file was truncated or overwritten, as this shows.
    #[error("is damaged ({0}); restore a copy, or recover data with `sqlite3 FILE .recover`")]
    Damaged(String),
    /// A development version before 0.1.0 wrote the file, in this format.
    #[error(
        "has format {0} from before version 0.1.0; this version reads formats {first} to \
         {newest}; use the Steelbench that recorded it, or move the file away and rerun the \
         experiment",
        first = crate::schema::FIRST,
        newest = crate::schema::NEWEST
    )]
    Older(i64),
    /// The file was written by a newer version, in this format.
    #[error("has format {0}; this version reads up to {newest}; use a newer Steelbench",
        newest = crate::schema::NEWEST)]
    Newer(i64),
    /// No space is left.
    #[error("no space left; earlier trials are kept; free some space and rerun to resume")]
    Full,
    /// The file cannot be written.
    #[error(
        "is read-only, or its folder is, or it was opened for reading; earlier trials are kept; \
         make both writable or copy the file elsewhere"
    )]
    ReadOnly,
    /// The file cannot be opened, or its journal: on a full disk, too.
    #[error(
        "cannot be opened, or its journal cannot be created; check the permissions of the file and \
         of its folder, and free space"
    )]
    Closed,
    /// The process, or the machine, has as many files open as it may.
    #[error("cannot be opened: too many open files; raise the limit (ulimit -n)")]
    TooManyFiles,
    /// Another process kept the file locked for longer than we wait.
    #[error("another program keeps it locked; close that program and retry")]
    Busy,
    /// Another run is writing to this file: this process, where it could be read.
    #[error(
        "in use by another run{}; wait for it to end or name another file",
        .0.map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    InUse(Option<u32>),
    /// The file has no run of this number.
    #[error("has no run {0}; `show` lists its runs")]
    NoRun(i64),
    /// The file has no observation of a server of this number.
    #[error("has no observation {0}; `show --runs` lists its observations")]
    NoActivity(i64),
    /// A record contradicts the plan or does not fit the format.
    #[error("cannot hold this record: {0}")]
    Unrecordable(String),
    /// The operating system refused to do this.
    #[error("cannot {0}: {1}")]
    Io(&'static str, io::Error),
    /// SQLite refused something that no other variant describes.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

impl Fault {
    /// With the file that it is about.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        StoreError { path: path.to_owned(), fault: self }
    }

    /// An operating system error, sorted by what the user can do about it.
    pub(crate) fn io(action: &'static str, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Io(action, source),
        }
    }
}

/// True where the limit of open files leaves too few for a database, its journal and their folder.
/// SQLite reports every file that it cannot open in the same way.
fn few_files_left() -> bool {
    let opened: io::Result<Vec<File>> =
        (0..FILES_OF_DATABASE).map(|_| File::open("/dev/null")).collect();
    let number = opened.err().and_then(|error| error.raw_os_error());
    matches!(number, Some(libc::EMFILE | libc::ENFILE))
}

impl From<rusqlite::Error> for Fault {
    /// Sorted likewise.
    fn from(error: rusqlite::Error) -> Self {
        match &error {
            rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
                ErrorCode::NotADatabase => Self::Foreign("not an SQLite database".into()),
                ErrorCode::DatabaseCorrupt => {
                    Self::Damaged(message.clone().unwrap_or_else(|| failure.to_string()))
                }
                ErrorCode::TooBig => Self::Damaged(
                    "a value exceeds every size that Steelbench \
                                                    writes"
                        .into(),
                ),
                ErrorCode::OperationInterrupted => Self::Slow,
                ErrorCode::DiskFull => Self::Full,
                ErrorCode::ReadOnly => Self::ReadOnly,
                ErrorCode::CannotOpen if few_files_left() => Self::TooManyFiles,
                ErrorCode::CannotOpen => Self::Closed,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
                _ => Self::Sqlite(error),
            },
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Self::Damaged(error.to_string()),
            rusqlite::Error::ToSqlConversionFailure(cause) => Self::Unrecordable(cause.to_string()),
            _ => Self::Sqlite(error),
        }
    }
}

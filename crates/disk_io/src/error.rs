use conductor::LoadError;
use std::path::PathBuf;

/// Why a run did not begin, or did not end as it should.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// A file cannot be used.
    #[error("{path}: {doing}: {source}")]
    File {
        /// The file or device.
        path: PathBuf,
        /// What was being done: `open for direct I/O`.
        doing: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// A setting does not fit a file.
    #[error("{path}: {message}")]
    Unfit {
        /// The file or device.
        path: PathBuf,
        /// What does not fit and what would.
        message: String,
    },
    /// The system has not enough of something, or does not permit it.
    #[error("{0}")]
    System(String),
    /// The threads did not come to their end.
    #[error(transparent)]
    Load(#[from] LoadError),
}

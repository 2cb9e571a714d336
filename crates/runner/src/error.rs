use crate::throttle::ThrottleError;
use experiment::FileErrors;
use std::path::PathBuf;
use store::StoreError;

/// Why a run could not begin or go on. Trials that fail are not errors but data.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The results file cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The experiment file has changed in a way that makes recorded trials incomparable.
    #[error(
        "the experiment file has changed since this run was begun:\n  {}\n\
         change it back to go on with the run, or start a new one with --fresh (the old one is kept)",
        changes.join("\n  ")
    )]
    Changed {
        /// One line for each difference.
        changes: Vec<String>,
    },
    /// Engines or probes object to a configuration.
    #[error("{0}")]
    Invalid(FileErrors),
    /// A volume is not there.
    #[error("volume {name}: {} does not exist; create it, or give the volume a prepare command that does", path.display())]
    NoVolume {
        /// Its name.
        name: String,
        /// Its path.
        path: PathBuf,
    },
    /// Volumes cannot be throttled here.
    #[error(transparent)]
    Throttle(#[from] ThrottleError),
    /// There is not enough space for what the run may use.
    #[error("{}: {free} bytes are free, limits.disk_space allows the run {wanted} bytes; free some space or lower the limit", path.display())]
    NoSpace {
        /// A directory on the file system.
        path: PathBuf,
        /// Bytes free.
        free: u64,
        /// Bytes that the file allows.
        wanted: u64,
    },
    /// A hook around the whole run failed.
    #[error("hook {hook} failed: {cause}")]
    Hook {
        /// Which.
        hook: String,
        /// Exit code or timeout, and the last line that it printed.
        cause: String,
    },
    /// A folder of ours could not be made or removed.
    #[error("{}: cannot {action}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The cause.
        source: std::io::Error,
    },
}

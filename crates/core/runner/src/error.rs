//! Why a run could not begin or continue, and what stops what happens around its trials.

use engine::EngineError;
use experiment::FileErrors;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use store::StoreError;

/// Why a run could not begin or continue. Trials that fail are not errors but data.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The results file cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The experiment cannot be run with these engines and probes.
    #[error(transparent)]
    Invalid(#[from] FileErrors),
    /// The experiment has to change, or how it is started.
    #[error("{0}")]
    Refused(String),
    /// Volumes cannot be throttled.
    #[error(transparent)]
    Throttle(#[from] ThrottleError),
    /// A part of the machine is missing or full.
    #[error("{0}")]
    Unready(String),
    /// A folder of the run cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A hook around the run failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// Settings of your server could not be restored.
    #[error(transparent)]
    Restore(EngineError),
}

impl RunError {
    /// True where the experiment has to change, or how it is started; false where a part of the
    /// machine failed.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Invalid(_) | Self::Refused(_) | Self::Throttle(_))
    }
}

/// A folder of the run that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot {action}: {source}", path.display())]
pub struct FolderError {
    /// The folder.
    pub path: PathBuf,
    /// The attempt: `create a folder in it`.
    pub action: &'static str,
    /// The cause.
    pub source: io::Error,
}

/// A hook that did not succeed.
#[derive(Debug, thiserror::Error)]
#[error(
    "hook {name} failed: {cause}{}",
    last_line.as_ref().map(|line| format!(": {line}")).unwrap_or_default()
)]
pub struct HookError {
    /// The purpose: `before_trial`, `volume fast: prepare`.
    pub name: String,
    /// The end.
    #[source]
    pub cause: HookEnd,
    /// The last line of its output, where the error is.
    pub last_line: Option<String>,
}

/// The end of a hook that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum HookEnd {
    /// No shell could be started, or the kernel does not report its end.
    #[error("cannot {0}: {1}")]
    System(&'static str, #[source] io::Error),
    /// It was killed, for this reason.
    #[error("{0}")]
    Killed(String),
    /// It reported a failure, or a signal ended it.
    #[error("{0}")]
    Status(ExitStatus),
}

/// A volume that a trial cannot use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VolumeError {
    /// A command of a volume failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// The folder is missing, or no folder can be made on it.
    #[error("volume {volume}: {cause}")]
    Folder {
        /// Name of the volume.
        volume: String,
        /// The cause.
        cause: String,
    },
    /// It cannot be throttled.
    #[error(transparent)]
    Throttle(#[from] ThrottleError),
}

/// Why volumes cannot be throttled, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ThrottleError(pub(crate) String);

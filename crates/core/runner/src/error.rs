//! Why a run could not begin or continue, and what stops what happens around its trials.

use engine::EngineError;
use experiment::FileErrors;
use observations::number;
use observe::devices::{Device, DeviceError};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use store::StoreError;

/// Why a run could not begin or continue. Trials that fail are not errors but data.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The experiment asks for agents, and there are none.
    #[error("{setting} needs agents: start them with `steelbench run --agents N`")]
    NoAgents {
        /// The setting that asks for them.
        setting: &'static str,
    },
    /// The results file cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The experiment cannot be run with these engines and probes.
    #[error(transparent)]
    Invalid(#[from] FileErrors),
    /// The folder of a volume that no command prepares is missing.
    #[error(
        "volume {volume}: {path} does not exist; create it, or create it in the volume's prepare \
         command"
    )]
    NoVolume {
        /// Name of the volume.
        volume: String,
        /// The path.
        path: String,
    },
    /// Volumes cannot be throttled.
    #[error(transparent)]
    Throttle(#[from] ThrottleError),
    /// The experiment no longer continues the recorded run.
    #[error(
        "the experiment has changed since this run began:\n  {}\nundo the changes to resume the \
         run, or start a new one with --fresh (the old one is kept)",
        changes.join("\n  ")
    )]
    Changed {
        /// The changes, one each.
        changes: Vec<String>,
    },
    /// Levels with `if_installed` are not those of the recorded run.
    #[error(
        "the installed engines differ from those at the start of this run, which changes levels \
         with if_installed; start a new run with --fresh (the old one is kept)"
    )]
    OtherEngines,
    /// Too little space is free.
    #[error(
        "{}: {} free, but a run needs {}",
        path.display(), number::bytes(*free), space_needed(*limit, *reserve)
    )]
    NoSpace {
        /// The folder.
        path: PathBuf,
        /// Free bytes.
        free: u64,
        /// `limits.disk_space`; 0: none.
        limit: u64,
        /// Bytes that stay free.
        reserve: u64,
    },
    /// A folder of the run cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A hook around the run failed.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// Preflight found problems.
    #[error("{}", problems.join("\n"))]
    Preflight {
        /// The problems, one each.
        problems: Vec<String>,
    },
    /// Settings of your server could not be restored.
    #[error(transparent)]
    Restore(EngineError),
}

impl RunError {
    /// True where the experiment has to change, or how it is started; false where a part of the
    /// machine failed.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Invalid(_)
            | Self::NoAgents { .. }
            | Self::NoVolume { .. }
            | Self::Throttle(_)
            | Self::Changed { .. }
            | Self::OtherEngines => true,
            Self::Store(_)
            | Self::NoSpace { .. }
            | Self::Folder(_)
            | Self::Hook(_)
            | Self::Preflight { .. }
            | Self::Restore(_) => false,
        }
    }
}

fn space_needed(limit: u64, reserve: u64) -> String {
    let reserve = number::bytes(reserve);
    match limit {
        0 => format!("{reserve}; free some space"),
        limit => format!(
            "{} (limits.disk_space) plus {reserve}; free some space or lower the limit",
            number::bytes(limit)
        ),
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
    /// No shell could be started.
    #[error("cannot start a shell: {0}")]
    Start(#[source] io::Error),
    /// The kernel does not report its end.
    #[error("cannot wait for it: {0}")]
    Wait(#[source] io::Error),
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// It took too long.
    #[error("killed after {timeout_s} s ({setting})")]
    Timeout {
        /// Seconds that it may take.
        timeout_s: f64,
        /// The setting that says so.
        setting: &'static str,
    },
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
    /// The folder is missing, also after its command.
    #[error("volume {volume}: {path} does not exist")]
    Missing {
        /// Name of the volume.
        volume: String,
        /// The path.
        path: String,
    },
    /// No folder can be made on it.
    #[error("volume {volume}: {source}")]
    Folder {
        /// Name of the volume.
        volume: String,
        /// The cause.
        source: FolderError,
    },
    /// It cannot be throttled.
    #[error(transparent)]
    Throttle(#[from] ThrottleError),
}

/// Why volumes cannot be throttled.
#[derive(Debug, thiserror::Error)]
pub enum ThrottleError {
    /// The machine has no control groups for I/O.
    #[error(
        "`throttle` needs a mounted control group file system with the I/O controller (`io` of \
         version 2, `blkio` of version 1); mount one, for example with `mount -t cgroup2 cgroup2 \
         /sys/fs/cgroup`, or remove `throttle`"
    )]
    NoController,
    /// Control groups cannot be changed by this process.
    #[error(
        "{}: cannot {action}: {source}; `throttle` needs root and writable control groups (in a \
         container: privileged); provide them or remove `throttle`",
        path.display()
    )]
    NotPermitted {
        /// The file or folder of the kernel.
        path: PathBuf,
        /// The attempt: `set a limit`.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The kernel keeps another limit than the one that was written.
    #[error("{}: the limit `{written}` was not applied: the kernel has {found}", path.display())]
    Ignored {
        /// The file of the kernel.
        path: PathBuf,
        /// The line that was written.
        written: String,
        /// The line that is there.
        found: String,
    },
    /// A volume is not on a block device.
    #[error(
        "volume {volume}: {path} cannot be throttled: {source}; put it on a block device or \
         remove `throttle`"
    )]
    NoDevice {
        /// Name of the volume.
        volume: String,
        /// The path.
        path: String,
        /// The cause.
        source: DeviceError,
    },
    /// Two volumes on one device have different limits.
    #[error(
        "volumes {volume} and {other} are both on device {device} with different `throttle` \
         limits; a trial that uses both needs separate devices"
    )]
    Shared {
        /// Name of a volume.
        volume: String,
        /// Name of another.
        other: String,
        /// Their device.
        device: Device,
    },
}

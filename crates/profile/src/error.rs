use std::io;

/// Why nothing can be sampled.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The kernel refuses.
    #[error("the kernel does not permit sampling: {0}")]
    NotPermitted(String),
    /// The kernel has no `perf_event_open`.
    #[error("this kernel cannot sample processes: it is built without CONFIG_PERF_EVENTS, or hides it")]
    NotSupported,
    /// There is no such process, or it has ended.
    #[error("pid {0}: there is no such process")]
    NoProcess(i32),
    /// More files than may be open.
    #[error(
        "sampling {threads} threads on {cpus} processors needs {needed} open files, more than the limit allows: \
         raise it (ulimit -n)"
    )]
    TooManyFiles {
        /// Threads of the processes.
        threads: usize,
        /// Processors on which they may run.
        cpus: usize,
        /// Files that this needs.
        needed: usize,
    },
    /// The rings are locked in memory, and that is limited.
    #[error("no memory may be locked for samples: raise kernel.perf_event_mlock_kb or `ulimit -l`")]
    NoMemory,
    /// The command cannot be started.
    #[error("cannot start {command}: {source}")]
    Command {
        /// Its name.
        command: String,
        /// Why not.
        source: io::Error,
    },
    /// The kernel's own words.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The thread that collects samples has died.
    #[error("the collector of samples has stopped unexpectedly")]
    Stopped,
}

impl ProfileError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}

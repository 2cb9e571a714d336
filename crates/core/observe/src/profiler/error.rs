//! Why nothing can be sampled, and what to do about it.

use crate::{kernel_setting, processes};
use std::fs;
use std::io;

/// The kernel's switch; see `Documentation/admin-guide/sysctl/kernel.rst`.
const PARANOID: &str = "kernel.perf_event_paranoid";

/// Why nothing can be sampled.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The kernel refuses; what to do about it.
    #[error("the kernel does not permit sampling: {0}")]
    NotPermitted(String),
    /// The kernel has no `perf_event_open`.
    #[error(
        "this kernel cannot sample processes: it is built without CONFIG_PERF_EVENTS, or hides it"
    )]
    NotSupported,
    /// There is no such process, or it has ended.
    #[error("pid {0}: no such process")]
    NoProcess(i32),
    /// The threads of the processes and the processors need more files than may be open.
    #[error(
        "sampling {0} threads on {1} CPUs needs {2} open files, above the limit: raise it \
         (ulimit -n)"
    )]
    TooManyFiles(usize, usize, usize),
    /// The rings are locked in memory, and that is limited.
    #[error("no memory can be locked for samples: raise kernel.perf_event_mlock_kb or `ulimit -l`")]
    NoMemory,
    /// This command cannot be started.
    #[error("cannot start {0}: {1}")]
    Command(String, #[source] io::Error),
    /// The kernel's own words about what was tried.
    #[error("cannot {0}: {1}")]
    System(&'static str, #[source] io::Error),
    /// The thread that collects samples has died.
    #[error("the sample collector stopped unexpectedly")]
    Stopped,
}

impl ProfileError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System(doing, source)
    }
}

/// The level that is set; `None` where it cannot be read.
fn paranoid() -> Option<i32> {
    kernel_setting(PARANOID)?.trim().parse().ok()
}

/// Returns the remedy where sampling is refused.
pub(crate) fn advice() -> String {
    let level = paranoid();
    // Debian's and Ubuntu's kernels know levels 3 and 4: nothing at all without the capability.
    let mut advice = match level {
        Some(level) if level > 2 => format!(
            "kernel.perf_event_paranoid is {level}: run as root, give the program CAP_PERFMON \
             (setcap cap_perfmon+ep), or set it to 2 to sample your own processes in user mode, \
             to 1 for the kernel too"
        ),
        Some(level) => format!(
            "a process of another user needs root, or CAP_PERFMON and CAP_SYS_PTRACE \
             (kernel.perf_event_paranoid is {level}, which allows your own processes)"
        ),
        None => "run as root or with CAP_PERFMON".to_owned(),
    };
    if in_container() {
        advice.push_str(
            ". This is a container: its seccomp profile may forbid perf_event_open; docker and \
             podman: --cap-add PERFMON, or --security-opt seccomp=unconfined",
        );
    }
    advice
}

/// Returns the note of a profile of user mode only.
pub(crate) fn kernel_unseen() -> String {
    let level = paranoid().map_or("not readable".to_owned(), |level| level.to_string());
    format!(
        "This profile lacks kernel time: kernel.perf_event_paranoid is {level}. Set it to 1, or \
         run as root or with CAP_PERFMON."
    )
}

/// By the files that container runtimes leave.
fn in_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].iter().any(|file| fs::exists(file).unwrap_or(false))
        || processes::text(1, "environ").is_some_and(|text| text.contains("container="))
}

//! Processes that own what Steelbench leaves outside of its folders.

use observe::{ProcessTimes, processes};
use serde::{Deserialize, Serialize};

/// A process and when it began, in clock ticks after boot: another one may have its number later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub pid: i32,
    started_ticks: u64,
}

impl Owner {
    /// This process.
    pub fn ours() -> Self {
        let pid = std::process::id() as i32;
        Self { pid, started_ticks: ProcessTimes::read(pid).map_or(0, |times| times.started_ticks) }
    }

    /// Returns whether it still exists.
    pub fn is_alive(self) -> bool {
        let times = ProcessTimes::read(self.pid).filter(|_| processes::is_alive(self.pid));
        times.is_some_and(|times| times.started_ticks == self.started_ticks)
    }
}

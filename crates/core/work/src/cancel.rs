use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// A request to stop ends a wait after this long at most.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Asks a running trial to stop. Cheap to look at: load loops do so before every transaction,
/// and engines wherever they wait.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicU8>);

/// Why a trial was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CancelReason {
    /// The user interrupted the run.
    Interrupt = 1,
    /// The trial took longer than `limits.trial_time`.
    TrialTime = 2,
    /// The run took longer than `limits.run_time`.
    RunTime = 3,
    /// The run used more space than `limits.disk_space`, or the disk is nearly full.
    DiskSpace = 4,
    /// The trial cannot be better than the best one of its search.
    Futile = 5,
}

impl CancelReason {
    const ALL: [Self; 5] =
        [Self::Interrupt, Self::TrialTime, Self::RunTime, Self::DiskSpace, Self::Futile];
}

impl Cancel {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to stop; the first reason stays.
    pub fn cancel(&self, reason: CancelReason) {
        let _ = self.0.compare_exchange(0, reason as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Waits until a time, or until it is cancelled.
    pub fn wait_until(&self, due: Instant) {
        while !self.is_cancelled() {
            let rest = due.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return;
            }
            std::thread::sleep(LOOK_EVERY.min(rest));
        }
    }

    /// Ends waiting for a server when this trial is asked to stop.
    pub fn stop(&self) -> Stop {
        let cancel = self.clone();
        Stop::when(move || cancel.is_cancelled())
    }

    /// The reason, if it is cancelled.
    pub fn reason(&self) -> Option<CancelReason> {
        let reason = self.0.load(Ordering::Relaxed);
        CancelReason::ALL.into_iter().find(|known| *known as u8 == reason)
    }
}

/// Says whether one who waits is asked to stop.
#[derive(Clone)]
pub struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl Stop {
    /// Asked to stop when this says so; it is called twenty times a second.
    pub fn when(is_asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_asked))
    }

    /// Asked to stop when one of the two is.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let both = [self.clone(), other.clone()];
        Self::when(move || both.iter().any(Self::is_asked))
    }

    /// Returns whether to stop.
    pub fn is_asked(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stop({})", self.is_asked())
    }
}

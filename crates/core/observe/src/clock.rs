use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 UTC.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}

/// The source of a load driver's time.
///
/// Real engines use the monotonic clock. The scripted engine advances a virtual clock, so that
/// order, latency and accounting can be tested exactly.
#[derive(Debug, Clone)]
pub enum Clock {
    /// Nanoseconds since the given instant on the monotonic clock.
    Monotonic(Instant),
    /// Nanoseconds that one scripted session has advanced.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// The monotonic clock, counted from now.
    pub fn monotonic() -> Self {
        Self::Monotonic(Instant::now())
    }

    /// A virtual clock at zero.
    pub fn scripted() -> Self {
        Self::Virtual(Arc::new(AtomicU64::new(0)))
    }

    /// Nanoseconds since the clock's origin.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Monotonic(origin) => origin.elapsed().as_nanos() as u64,
            Self::Virtual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Sleeps (or jumps) until the given time; returns at once when it has passed.
    pub fn wait_until_ns(&self, then_ns: u64) {
        let now_ns = self.now_ns();
        if then_ns <= now_ns {
            return;
        }
        match self {
            Self::Monotonic(_) => std::thread::sleep(Duration::from_nanos(then_ns - now_ns)),
            Self::Virtual(now) => now.store(then_ns, Ordering::Relaxed),
        }
    }

    /// Advances a virtual clock; does nothing to the monotonic one.
    pub fn advance_ns(&self, by_ns: u64) {
        if let Self::Virtual(now) = self {
            now.fetch_add(by_ns, Ordering::Relaxed);
        }
    }

    /// Returns whether time is scripted.
    pub fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual(_))
    }
}

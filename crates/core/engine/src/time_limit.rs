//! The time limit of an embedded engine's statements.

use crate::{EngineError, lock};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The limit of the statements of one session. Clones share its state.
#[derive(Debug, Clone)]
pub struct TimeLimit {
    limit: Duration,
    /// When the statement began; `None` while none runs.
    began: Arc<Mutex<Option<Instant>>>,
}

impl TimeLimit {
    /// A limit for statements one after the other.
    pub fn new(limit: Duration) -> Self {
        Self { limit, began: Arc::default() }
    }

    /// A statement begins.
    pub fn begin(&self) {
        *lock(&self.began) = Some(Instant::now());
    }

    /// Ends the statement; returns whether it exceeded the limit.
    pub fn end(&self) -> bool {
        lock(&self.began).take().is_some_and(|began| began.elapsed() >= self.limit)
    }

    /// Returns whether a statement runs that has exceeded the limit.
    pub fn is_over(&self) -> bool {
        lock(&self.began).is_some_and(|began| began.elapsed() >= self.limit)
    }

    /// Interrupts the statement that has exceeded the limit, if one has. It cannot end before the
    /// interrupt, which would otherwise hit the next one.
    pub fn interrupt(&self, interrupt: impl FnOnce()) {
        let began = lock(&self.began);
        if began.is_some_and(|began| began.elapsed() >= self.limit) {
            interrupt();
        }
    }

    /// The error of a statement that was cancelled.
    pub fn exceeded(&self) -> EngineError {
        let message = format!("cancelled after {} s", self.limit.as_secs_f64());
        EngineError::time_limit("statement", message)
    }
}

#[cfg(test)]
mod tests {
    use super::TimeLimit;
    use std::time::Duration;

    #[test]
    fn only_a_running_statement_exceeds_its_limit() {
        let (short, long) =
            (TimeLimit::new(Duration::ZERO), TimeLimit::new(Duration::from_secs(3600)));
        let interrupted = |limit: &TimeLimit| {
            let mut interrupted = false;
            limit.interrupt(|| interrupted = true);
            interrupted
        };
        assert!(!short.is_over() && !interrupted(&short) && !short.end());
        short.begin();
        long.begin();
        assert!(short.is_over() && interrupted(&short) && !long.is_over() && !interrupted(&long));
        assert!(short.end() && !long.end());
        assert!(!short.is_over() && !interrupted(&short));
    }
}

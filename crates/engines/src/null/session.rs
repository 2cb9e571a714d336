use super::Script;
use crate::session::Session;
use crate::{Done, EngineError, Key, Request};
use observe::Clock;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How often a real delay looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// One scripted connection, with a clock of its own.
pub struct NullSession {
    script: Arc<Script>,
    clock: Clock,
    busy_ns: u64,
    transactions: u64,
}

impl NullSession {
    pub fn new(script: Arc<Script>) -> Self {
        Self { script, clock: Clock::scripted(), busy_ns: 0, transactions: 0 }
    }

    /// The delay of a transaction: as random as its first key, and the same for the same key.
    fn delay_ns(&self, keys: &[Key]) -> u64 {
        let key = keys.first().map_or(0, |key| key.0 as u64);
        let step = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let between = (step >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0;
        (self.script.delay_ns * (1.0 + self.script.spread * between)).max(0.0) as u64
    }

    fn sleep(&self) -> Result<(), EngineError> {
        let end = Instant::now() + Duration::from_secs_f64(self.script.real_delay_s);
        while Instant::now() < end {
            if self.script.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            std::thread::sleep(LOOK_EVERY.min(end.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }
}

impl Session for NullSession {
    fn begin(&mut self) {
        (self.busy_ns, self.transactions) = (0, 0);
    }

    fn run(&mut self, request: &Request<'_>) -> Result<Done, EngineError> {
        if let Some(path) = self.script.fail_while_exists.as_ref().filter(|path| path.exists()) {
            return Err(EngineError::Engine {
                doing: "transaction".into(),
                message: format!("scripted failure while {} exists", path.display()),
            });
        }
        if self.script.real_delay_s > 0.0 {
            self.sleep()?;
        }
        let (Request::Batch { keys, .. } | Request::Bulk { keys, .. }) = *request else {
            return Err(EngineError::Unsupported { engine: "null", what: "statements of the user" });
        };
        let delay_ns = self.delay_ns(keys);
        self.clock.advance_ns(delay_ns);
        self.busy_ns += delay_ns;
        self.transactions += 1;
        Ok(Done::default())
    }

    fn flush(&mut self, _: u32, _: u32) -> Result<(), EngineError> {
        Ok(())
    }

    fn end(&mut self) {
        let mut total = self.script.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.0 += self.busy_ns;
        total.1 += self.transactions;
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }
}

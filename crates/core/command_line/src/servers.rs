//! Servers by URL, for commands that examine them.

use crate::{Context, Failure, output};
use engine::{Server, ServerError};
use observations::number::rounded_time;
pub use observe::now_ms;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use work::Stop;

impl Context {
    /// The server that a URL names, of the engine that has its scheme. Prints its warnings.
    ///
    /// # Errors
    /// When no engine has the scheme, or the URL is wrong.
    pub fn server(&self, url: &str) -> Result<Box<dyn Server>, Failure> {
        let server = engine::server::by_url(self.registry.engines, url).map_err(Failure::usage)?;
        for warning in server.warnings() {
            output::complain(&format!("warning: {warning}"));
        }
        Ok(server)
    }
}

/// A stop that a flag asks for.
pub fn stop_by(flag: &Arc<AtomicBool>) -> Stop {
    let flag = Arc::clone(flag);
    Stop::when(move || flag.load(Ordering::Relaxed))
}

/// The time at which a command gives up reading a server.
pub struct Deadline {
    at: Instant,
    limit: String,
    interrupt: Stop,
}

impl Deadline {
    /// Begins to read a server, which is observed for some seconds in addition, and states the
    /// limit: the option `--time-limit`, in seconds.
    pub fn begin(
        limit_s: u32,
        observed_s: f64,
        server: &dyn Display,
        interrupt: &Arc<AtomicBool>,
    ) -> Self {
        let all_s = f64::from(limit_s) + observed_s;
        let limit = rounded_time(all_s);
        output::complain(&format!("Reading {server} takes at most {limit} (--time-limit)."));
        let at = Instant::now() + Duration::from_secs_f64(all_s);
        Self { at, limit, interrupt: stop_by(interrupt) }
    }

    /// Asked for at the deadline, and by the user.
    pub fn stop(&self) -> Stop {
        let at = self.at;
        self.interrupt.or(&Stop::when(move || Instant::now() >= at))
    }

    /// The failure of a command whose wait was stopped; `None`: something else failed.
    pub fn reached(&self, error: &dyn Display) -> Option<Failure> {
        if self.interrupt.is_asked() {
            return Some(Failure::interrupted(error));
        }
        let limit = &self.limit;
        (Instant::now() >= self.at)
            .then(|| Failure::failed(format!("{error}\ngave up after {limit} (--time-limit)")))
    }

    /// As [`failure`], or that of the deadline.
    pub fn failure(&self, server: &dyn Server, error: &ServerError) -> Failure {
        self.reached(&format!("{server}: {error}"))
            .unwrap_or_else(|| failure(server, &self.interrupt, error))
    }
}

/// The failure of a server, with advice; an interruption when that was its cause.
pub fn failure(server: &dyn Server, stop: &Stop, error: &ServerError) -> Failure {
    if stop.is_asked() {
        return Failure::interrupted(format!("{server}: {error}"));
    }
    let advice = error.advice.map(|advice| format!("\n{advice}")).unwrap_or_default();
    Failure::failed(format!("{server}: {error}{advice}"))
}

//! Servers by URL, for commands that examine them.

use crate::{Context, Failure, output};
use engine::{Server, ServerError};
pub use observe::now_ms;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// The failure of a server, with advice; an interruption when that was its cause.
pub fn failure(server: &dyn Server, stop: &Stop, error: &ServerError) -> Failure {
    if stop.is_asked() {
        return Failure::interrupted(format!("{server}: {error}"));
    }
    let advice = error.advice.map(|advice| format!("\n{advice}")).unwrap_or_default();
    Failure::failed(format!("{server}: {error}{advice}"))
}

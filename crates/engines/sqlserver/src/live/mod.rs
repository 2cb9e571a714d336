//! Servers that run already: reached by Microsoft's driver, changed in nothing.
//!
//! - `config`: how to reach one; `client`: a connection; `session`: sessions that only look;
//!   `identity`: which server it is
//! - [`views`]: every statement that Steelbench runs on a server
//! - `reading`: counters and their differences, `delta` those of waits; `sampler`, `samples`: what
//!   sessions do; `tasks`: who waits for whom
//! - `observer`: all that together, for `steelbench waits`

pub(super) mod client;
pub(super) mod config;
pub(super) mod delta;
pub(super) mod identity;
mod observer;
pub(super) mod reading;
pub(super) mod sampler;
pub(super) mod samples;
mod session;
mod tasks;
pub mod views;

pub use config::Config;

use crate::SQL_SERVER;
use engine::{AdminOptions, AdminSession, LiveObserver, ObserveOptions, Server, ServerError};
use observer::SqlServerObserver;
use session::Session;
use work::Stop;

impl Server for Config {
    fn engine(&self) -> &'static str {
        SQL_SERVER.name
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn observe(
        &self,
        options: ObserveOptions,
        stop: &Stop,
    ) -> Result<Box<dyn LiveObserver>, ServerError> {
        Ok(Box::new(SqlServerObserver::start(self, options, stop)?))
    }

    fn session(
        &self,
        options: &AdminOptions<'_>,
        stop: &Stop,
    ) -> Result<Box<dyn AdminSession>, ServerError> {
        Ok(Box::new(Session::open(self, options, stop)?))
    }
}

//! Servers that run already: reached by Microsoft's driver, changed in nothing.
//!
//! - `config`: how to reach one; `client`: a connection; `rows`: what it answers; `answer`: or why
//!   it does not; `session`: one that only looks; `identity`: which server it is
//! - [`views`]: every statement that Steelbench runs on a server
//! - `reading`: counters and their differences, `delta` those of waits; `sampler`, `samples`: what
//!   sessions do; `tasks`: who waits for whom
//! - `queries`: statements, plans and indexes, for `steelbench queries`
//! - `observer`: all that together, for `steelbench waits`; `survey`: what a server is and how it
//!   is set

pub(super) mod answer;
pub(super) mod client;
pub(super) mod config;
pub(super) mod delta;
pub(super) mod identity;
mod observer;
mod queries;
pub(super) mod reading;
pub(super) mod rows;
pub(super) mod sampler;
pub(super) mod samples;
mod session;
mod survey;
mod tasks;
pub mod views;

pub use config::Config;
pub use queries::views as query_views;

use engine::{LiveObserver, ObserveOptions, QueryLimits, QueryReader, Server, ServerError};
use observations::{SurveyedServer, Unread};
use observer::SqlServerObserver;
use work::Stop;

impl Server for Config {
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

    fn survey(&self, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
        survey::survey(self, stop)
    }

    fn queries(
        &self,
        limits: QueryLimits,
        stop: &Stop,
    ) -> Result<Box<dyn QueryReader>, ServerError> {
        Ok(Box::new(queries::Reader::start(self, limits, stop)?))
    }
}

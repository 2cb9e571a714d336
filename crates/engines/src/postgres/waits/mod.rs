//! Waits of a PostgreSQL server: sampled where it does not count them, exact where it does, with
//! the kernel's figures of its processes' time where they run on this machine.
//!
//! Nothing here changes the server: its sessions are read-only and have the application name [`OBSERVER`].
//!
//! [`Sampler`] takes samples on a thread of its own, from what `sources` reads, and gives them in [`Window`]s;
//! `accounting` turns the samples of sessions into waits; `counters` reads what the server counts itself;
//! `tasks` asks who waits for whom now. [`PostgresCollector`] watches the sessions of a trial,
//! [`PostgresObserver`] a whole server. `types` is the table of wait events.

mod accounting;
mod collector;
mod counters;
mod observer;
mod sampler;
mod sources;
mod tasks;
mod types;
mod window;

pub use collector::PostgresCollector;
pub use counters::FLUSH_OWN_COUNTERS;
pub(super) use observer::PostgresObserver;
pub use sampler::Sampler;
pub use types::{WAIT_TYPES, class};
pub use window::{ACTIVITY, PROFILE, Process, Sample, Window};

use super::live::while_doing;
use crate::{ObserveOptions, ServerError};
use counters::Counters;
use observations::Operation;
use pgclient::{Client, Config};
use std::time::Duration;

/// What our connections call themselves; they are left out of what they report.
pub const OBSERVER: &str = "steelbench observer";

/// A server that needs longer to answer a question about its state has a problem that waits do not show.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens a connection that can change nothing and takes few resources.
fn connect(config: &Config) -> Result<Client, ServerError> {
    let config = config.clone().with_application_name(OBSERVER);
    let mut client = Client::connect(&config).map_err(while_doing("connecting"))?;
    client.set_read_timeout(Some(PATIENCE)).map_err(while_doing("connecting"))?;
    let major = client.server_version() / 10_000;
    if major < 14 {
        let what = format!("the server is PostgreSQL {major}; waits can be observed from version 14 on");
        return Err(ServerError::new(what));
    }
    // The settings of a database or a role may be made for other work than ours.
    let settings = "SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET lock_timeout = 0; \
                    SET idle_session_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
                    SET jit = off; SET max_parallel_workers_per_gather = 0; SET datestyle = 'ISO'; \
                    SET search_path = pg_catalog";
    client.batch(settings).map_err(while_doing("preparing the connection"))?;
    Ok(client)
}

/// What observes a server: samples, and the server's own counters.
#[derive(Debug)]
struct Watch {
    sampler: Sampler,
    /// For what is asked once in a window.
    client: Client,
    counters: Counters,
}

impl Watch {
    /// Begins the first window, on two connections for observing.
    fn start([mut client, sampled]: [Client; 2], options: ObserveOptions) -> Result<Self, ServerError> {
        let counters = Counters::read(&mut client)?;
        Ok(Self { sampler: Sampler::on(sampled, options)?, client, counters })
    }

    /// Ends the window and begins the next: what was sampled, and what the server has counted unless its counters
    /// were reset.
    fn window(&mut self) -> Result<(Window, Result<Vec<Operation>, ServerError>), ServerError> {
        let window = self.sampler.window()?;
        let now = Counters::read(&mut self.client)?;
        let operations = now.since(&self.counters);
        self.counters = now;
        Ok((window, operations))
    }
}

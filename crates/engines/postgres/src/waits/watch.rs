//! The windows of an observation, one after the other.

use super::counters::Counters;
use super::sources::sampler_on;
use crate::client::Client;
use engine::{ObserveOptions, ServerError};
use observations::Operation;
use servers::activity::{Sampler, Window};
use std::time::Duration;

/// Observation of a server: samples, and the server's own counters.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) sampler: Sampler,
    /// For queries that run once in a window.
    pub(super) client: Client,
    pub(super) counters: Counters,
    /// Counters at the beginning of the window before, where it was seen to its end.
    pub(super) earlier: Option<Counters>,
}

impl Watch {
    /// Begins the first window, on two connections for observing.
    pub(super) fn start(
        [mut client, sampled]: [Client; 2],
        options: ObserveOptions,
        roster_period: Duration,
    ) -> Result<Self, ServerError> {
        let counters = Counters::read(&mut client)?;
        let sampler = sampler_on(sampled, options, roster_period)?;
        Ok(Self { sampler, client, counters, earlier: None })
    }

    /// Ends the window and begins the next.
    pub(super) fn window(&mut self) -> Result<Watched, ServerError> {
        self.earlier = None;
        let window = match self.sampler.window() {
            Ok(window) => window,
            Err(error) => {
                let window = self.sampler.rest().ok_or_else(|| error.clone())?;
                return Ok(Watched { window, operations: Err(error.clone()), lost: Some(error) });
            }
        };
        let counted = Counters::read(&mut self.client);
        let lost = counted.as_ref().err().cloned();
        let operations = counted.and_then(|now| {
            let before = std::mem::replace(&mut self.counters, now);
            self.counters.since(self.earlier.insert(before))
        });
        Ok(Watched { window, operations, lost })
    }
}

/// Observations of a window.
pub(super) struct Watched {
    /// The samples.
    pub(super) window: Window,
    /// The server's counts, unless its counters were reset.
    pub(super) operations: Result<Vec<Operation>, ServerError>,
    /// Why it could not be asked any more.
    pub(super) lost: Option<ServerError>,
}

/// The number of processes whose work this role does not see.
pub(super) fn hidden_processes(window: &Window) -> Option<String> {
    let hidden = window.processes.values().filter(|process| process.hidden).count();
    (hidden > 0).then(|| {
        format!(
            "waits of {hidden} of {} processes are hidden, because other roles own them",
            window.processes.len()
        )
    })
}

/// Describes the hidden parts of processes.
pub(super) fn hidden(window: &Window) -> Vec<String> {
    let hidden = hidden_processes(window).map(|hidden| {
        format!(
            "Some processes: {hidden}. GRANT pg_monitor (or pg_read_all_stats) TO this role to \
             see them."
        )
    });
    let kernel = window.without_kernel().map(|why| {
        format!(
            "Exact CPU and run-queue time: {why}. Time without a wait event is shown as CPU time."
        )
    });
    hidden.into_iter().chain(kernel).collect()
}

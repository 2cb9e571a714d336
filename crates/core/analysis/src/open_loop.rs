//! How open loops kept their schedules: starts that were late because every connection was busy,
//! and starts that the load generator itself missed.

use crate::{Summary, health};
use observations::Observations;
use serde::Serialize;

/// The open loop of a configuration, over its trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpenLoop {
    /// Label of the configuration.
    pub label: String,
    /// Trials done.
    pub trials: usize,
    /// Starts a second that the schedules had.
    #[serde(rename = "asked")]
    pub scheduled: f64,
    /// Starts a second until all work was done.
    pub done: f64,
    /// Share (0 to 1) of the starts that were more than 1 ms late because every connection was
    /// busy.
    pub late: f64,
    /// Share of the starts for which a connection was free and that the load generator made more
    /// than 1 ms late.
    pub missed: f64,
    /// The longest such delay in seconds.
    pub missed_s_max: f64,
    /// Trials in which no connection was free for any start in the second half of the schedule.
    pub overloaded: usize,
}

impl Summary<'_> {
    /// The configurations whose transactions had intended starts that were recorded, in the order
    /// of the file.
    pub fn open_loop(&self) -> Vec<OpenLoop> {
        self.configurations
            .iter()
            .filter_map(|row| OpenLoop::from_trials(&row.label, &self.grid.trials(row.index)))
            .collect()
    }
}

impl OpenLoop {
    fn from_trials(label: &str, trials: &[&Observations]) -> Option<Self> {
        let sum =
            |part: fn(&Observations) -> f64| trials.iter().map(|trial| part(trial)).sum::<f64>();
        let starts = sum(|observations| observations.load.sends_intended as f64);
        let schedule_s = sum(|observations| observations.load.schedule_s.unwrap_or(0.0));
        let elapsed_s = sum(|observations| observations.elapsed_s);
        let missed_us = trials.iter().map(|trial| trial.load.send_delay_us_max).max().unwrap_or(0);
        (starts > 0.0 && schedule_s > 0.0 && elapsed_s > 0.0).then(|| Self {
            label: label.to_owned(),
            trials: trials.len(),
            scheduled: starts / schedule_s,
            done: sum(|observations| health::starts_done(observations) as f64) / elapsed_s,
            late: sum(|observations| observations.load.sends_late.unwrap_or(0) as f64) / starts,
            missed: sum(|observations| observations.load.sends_missed as f64) / starts,
            missed_s_max: missed_us as f64 / 1e6,
            overloaded: trials.iter().filter(|trial| health::is_overloaded(trial)).count(),
        })
    }
}

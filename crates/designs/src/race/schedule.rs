//! A race while it runs: after each block it looks which candidates leave. It decides by recorded
//! trials alone, so that a resumed race takes the same decisions.

use super::analysis::{race, sentence};
use super::racing::Rules;
use experiment::DesignSchedule;
use observations::{Recording, TrialRecord};
use std::collections::HashMap;

/// The candidates of a race.
#[derive(Debug)]
pub struct RaceSchedule {
    first: u32,
    /// The recorded trials, without what no decision needs.
    recorded: Recording,
    /// The block after which a candidate left.
    left: HashMap<usize, u32>,
    is_over: bool,
}

impl RaceSchedule {
    /// The race of which some trials are recorded.
    pub fn new(first: u32, recorded: &Recording) -> Self {
        let mut recorded = recorded.clone();
        for trial in &mut recorded.trials {
            *trial = trial.without_details();
        }
        Self { first, recorded, left: HashMap::new(), is_over: false }
    }
}

impl DesignSchedule for RaceSchedule {
    fn record(&mut self, trial: &TrialRecord) {
        self.recorded.trials.push(trial.without_details());
    }

    fn runs(&self, candidate: usize, block: u32) -> bool {
        let is_in = self.left.get(&candidate).is_none_or(|after| block <= *after);
        is_in && !(self.is_over && block > self.first)
    }

    fn look(&mut self, block: u32) -> Vec<String> {
        let mut recorded = self.recorded.clone();
        recorded.trials.retain(|trial| trial.block <= block);
        let summary = ::analysis::summarize(&recorded);
        let rules = Rules { first: self.first as usize, ..Rules::new(true) };
        let Some(race) = race(&summary, rules) else { return Vec::new() };
        let new = race
            .departures
            .iter()
            .filter(|departure| !self.left.contains_key(&departure.candidate));
        let sentences = new.map(|departure| sentence(departure, &summary)).collect();
        self.is_over = race.is_over() && block >= self.first;
        let departures = race.departures.iter();
        self.left =
            departures.map(|departure| (departure.candidate, departure.after as u32)).collect();
        sentences
    }
}

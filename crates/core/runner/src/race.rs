//! A race while it runs: after each block it looks which candidates leave. It decides by recorded
//! trials alone, so that a resumed race takes the same decisions.

use analysis::race::sentence;
use experiment::{Design, Experiment};
use observations::{Recording, TrialRecord};
use statistics::racing::Rules;
use std::collections::HashMap;

/// The candidates of a race.
#[derive(Debug)]
pub struct Race {
    first: u32,
    /// The recorded trials, without what no decision needs.
    recorded: Recording,
    /// The block after which a candidate left.
    left: HashMap<usize, u32>,
    is_over: bool,
}

impl Race {
    /// The race of an experiment of which some trials are recorded; `None` of another design.
    pub fn new(experiment: &Experiment, recorded: &Recording) -> Option<Self> {
        let Design::Race { first } = experiment.design else { return None };
        let mut recorded = recorded.clone();
        for trial in &mut recorded.trials {
            *trial = trial.without_details();
        }
        Some(Self { first, recorded, left: HashMap::new(), is_over: false })
    }

    /// Takes note of a trial that this session has recorded.
    pub fn record(&mut self, trial: &TrialRecord) {
        self.recorded.trials.push(trial.without_details());
    }

    /// Returns whether a candidate runs a block.
    pub fn runs(&self, candidate: usize, block: u32) -> bool {
        let is_in = self.left.get(&candidate).is_none_or(|after| block <= *after);
        is_in && !(self.is_over && block > self.first)
    }

    /// Decides by the blocks up to this one, which are complete. Returns a sentence on each
    /// candidate that leaves after it.
    pub fn look(&mut self, block: u32) -> Vec<String> {
        let mut recorded = self.recorded.clone();
        recorded.trials.retain(|trial| trial.block <= block);
        let summary = analysis::summarize(&recorded);
        let rules = Rules { first: self.first as usize, ..Rules::new(true) };
        let Some(race) = summary.race(rules) else { return Vec::new() };
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

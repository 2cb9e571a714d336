//! The configurations of a run as candidates of a race: which leave after the blocks so far, and
//! why.
//! The rules: [`statistics::racing`].

use crate::wording::{self, p_value, percent, ratio};
use crate::{Scale, Summary};
use observations::{Direction, number};
use serde::Serialize;
use statistics::racing::{self, Departure, Outcome, Reason, Rules, Survivor};

/// A race after the blocks that are complete for all configurations in it. Positions of candidates
/// are those of configurations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Race {
    /// Complete blocks.
    pub blocks: usize,
    /// Trials that they needed, without those of configurations that had left.
    pub trials: usize,
    /// Configurations that left, in order.
    pub departures: Vec<Departure>,
    /// Configurations that run the next block, the best mean first. Their intervals are corrected
    /// for all looks and configurations.
    pub survivors: Vec<Survivor>,
    /// The scale of [`Survivor::behind`] and of [`Reason::Worse`].
    pub scale: Scale,
}

impl Race {
    /// Returns whether no further block can change the winner.
    pub fn is_over(&self) -> bool {
        self.survivors.len() <= 1
    }

    /// When and why a configuration left, in a sentence.
    pub fn sentence(&self, departure: &Departure, summary: &Summary) -> String {
        let label = |at: usize| summary.recording.configurations[at].label.as_str();
        let own = label(departure.candidate);
        let why = match departure.reason {
            Reason::Failed => "a trial failed".to_owned(),
            Reason::TimedOut => "every trial timed out".to_owned(),
            Reason::Unstable { range } => {
                format!("unstable: its values differ by {} of their mean", percent(range))
            }
            Reason::Worse { leader, by, p_value: p, level } => {
                let by = match self.scale {
                    Scale::Ratio => format!("{}x better", ratio(by)),
                    Scale::Difference => {
                        format!("better by {}", number::quantity(by, summary.unit()))
                    }
                };
                format!("{} is {by} ({} at a level of {level:.2e})", label(leader), p_value(p))
            }
        };
        format!("{own} left after {}: {why}.", wording::count(departure.after, "block"))
    }
}

impl Summary<'_> {
    /// The race of all configurations over the blocks recorded so far; `None` without a response.
    /// The direction of the response replaces that of the rules.
    pub fn race(&self, rules: Rules) -> Option<Race> {
        let response = self.response.as_ref()?;
        let is_lower_better = response.direction == Direction::LowerIsBetter;
        let outcomes: Vec<Vec<Outcome>> =
            (0..self.recording.configurations.len()).map(|own| self.outcomes(own)).collect();
        let race = racing::race(&outcomes, Rules { is_lower_better, ..rules });
        Some(Race {
            blocks: race.blocks,
            trials: race.trials,
            departures: race.departures,
            survivors: race.survivors,
            scale: if race.by_ratio { Scale::Ratio } else { Scale::Difference },
        })
    }

    /// The outcome of each block up to the first without any. A withheld value says as little as a
    /// time-out without a bound.
    fn outcomes(&self, configuration: usize) -> Vec<Outcome> {
        let figure = |block: u32| {
            let figures = self.figures.as_ref()?;
            let own = figures.grid.cell(configuration, block)?;
            Some(match own.known {
                Some(bound) if own.timed_out => Outcome::TimedOut(Some(bound)),
                Some(value) => Outcome::Value(value),
                None => Outcome::TimedOut(None),
            })
        };
        let attempted = |block: u32| {
            let mut trials = self.recording.trials.iter();
            trials.any(|trial| trial.configuration == configuration && trial.block == block)
        };
        let failed = |block: u32| attempted(block).then_some(Outcome::Failed);
        (1..).map_while(|block| figure(block).or_else(|| failed(block))).collect()
    }
}

//! The configurations of a run as candidates of a race: which leave after the blocks so far, and
//! why. The rules: [`statistics::racing`].

use crate::Summary;
use crate::wording::{self, p_value, percent, ratio};
use observations::{Direction, number};
use statistics::racing::{self, Departure, Outcome, Reason, Rules, Standing};

/// Returns the time and the reason of a configuration's leaving, in a sentence.
pub fn sentence(race: &Standing, departure: &Departure, summary: &Summary) -> String {
    let label = |at: usize| summary.recording.configurations[at].label.as_str();
    let own = label(departure.candidate);
    let why = match departure.reason {
        Reason::Failed => "a trial failed".to_owned(),
        Reason::TimedOut => "every trial timed out".to_owned(),
        Reason::Unstable { range } => {
            format!("unstable: its values differ by {} of their mean", percent(range))
        }
        Reason::Worse { leader, by, p_value: p, level } => {
            let by = if race.by_ratio {
                format!("{}x better", ratio(by))
            } else {
                format!("better by {}", number::quantity(by, summary.unit()))
            };
            format!("{} is {by} ({} at a level of {level:.2e})", label(leader), p_value(p))
        }
    };
    format!("{own} left after {}: {why}.", wording::count(departure.after, "block"))
}

impl Summary<'_> {
    /// The race of all configurations over the blocks recorded so far; `None` without a response.
    /// Positions of candidates are those of configurations. The direction of the response replaces
    /// that of the rules.
    pub fn race(&self, rules: Rules) -> Option<Standing> {
        let response = self.response.as_ref()?;
        let is_lower_better = response.direction == Direction::LowerIsBetter;
        let outcomes: Vec<Vec<Outcome>> =
            (0..self.recording.configurations.len()).map(|own| self.outcomes(own)).collect();
        Some(racing::race(&outcomes, Rules { is_lower_better, ..rules }))
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

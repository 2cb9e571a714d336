//! The configurations of a run as candidates of a race: which leave after the blocks so far, and
//! why. The rules: [`super::racing`].

use super::racing::{self, Departure, Outcome, Reason, Rules, Standing};
use super::settings::{KIND, RACE_FIRST};
use ::analysis::wording::{self, Sentence, p_value, ratio};
use ::analysis::{Interval, Summary};
use experiment::value_in_source;
use observations::{Direction, number};
use serde::Serialize;
use statistics::mean;

/// A race with its candidates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RaceReport {
    /// Blocks that all candidates run.
    pub first: usize,
    /// Complete blocks.
    pub blocks: usize,
    /// Trials that the race needed.
    pub trials: usize,
    /// Share of races, at most, in which the true best leaves.
    pub level: f64,
    /// True if `behind` is a ratio, else a difference.
    pub by_ratio: bool,
    /// The unit of the response.
    pub unit: String,
    /// The candidates: those in the race, the best mean first, then those that left, the last
    /// first.
    pub candidates: Vec<Candidate>,
}

/// A candidate of a race.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Candidate {
    /// The position among the configurations.
    pub configuration: usize,
    /// The label.
    pub label: String,
    /// Blocks that it ran in the race.
    pub blocks: usize,
    /// Mean of its values and bounds in these blocks.
    pub mean: Option<f64>,
    /// 95 % interval of the mean that holds at all looks and for all candidates at once; `None` of
    /// one that left, which depends on its values.
    pub interval: Option<Interval>,
    /// How many times better the leader is, corrected likewise; `None` of the leader.
    pub behind: Option<Interval>,
    /// When and why it left.
    pub departure: Option<Departure>,
    /// A sentence on when and why; empty of one in the race.
    pub why: String,
}

/// When and why a configuration left, in a sentence.
pub fn sentence(departure: &Departure, summary: &Summary) -> String {
    let label = |at: usize| summary.recording.configurations[at].label.as_str();
    let departed = label(departure.candidate);
    let why = match departure.reason {
        Reason::Failed => "a trial failed".to_owned(),
        Reason::TimedOut => "every trial timed out".to_owned(),
        Reason::Worse { leader, by, by_ratio, p_value: p, level } => {
            let by = if by_ratio {
                format!("{}x better", ratio(by))
            } else {
                format!("better by {}", number::quantity(by, summary.unit()))
            };
            format!("{} is {by} ({} at a level of {level:.2e})", label(leader), p_value(p))
        }
    };
    format!("{departed} left after {}: {why}.", wording::count(departure.after, "block"))
}

impl RaceReport {
    /// Candidates in the race.
    pub fn survivors(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|candidate| candidate.departure.is_none())
    }

    /// A sentence on the winner, or on the candidates that remain.
    pub fn sentences(&self) -> Vec<Sentence> {
        let survivors: Vec<&Candidate> = self.survivors().collect();
        let blocks = wording::count(self.blocks, "block");
        let claims = survivors.len() == 1 && self.blocks >= self.first;
        let text = match &survivors[..] {
            [] => "No candidate is left: each failed or timed out.".to_owned(),
            _ if self.blocks < self.first => format!(
                "The race is open: no candidate loses before {} are complete.",
                wording::count(self.first, "block")
            ),
            [only] => format!("{} wins the race: all others left within {blocks}.", only.label),
            [leader, others @ ..] => {
                let behind = others.iter().filter_map(|candidate| candidate.behind);
                let most = behind.map(|interval| interval.high).fold(f64::NEG_INFINITY, f64::max);
                let most = match (most.is_finite(), self.by_ratio) {
                    (true, true) => format!("; it could be up to {}x better", ratio(most)),
                    (true, false) => {
                        format!("; it could be better by {}", number::quantity(most, &self.unit))
                    }
                    (false, _) => String::new(),
                };
                let others = others.iter().map(|candidate| candidate.label.clone());
                format!(
                    "{} leads after {blocks}, not significantly better than {}{most}.",
                    leader.label,
                    wording::list(&others.collect::<Vec<_>>())
                )
            }
        };
        let evidence = format!(
            "{} of {} left the race in {}; paired t against the leader after each block from block \
             {} on; the true best leaves in at most {} of races",
            self.candidates.len() - survivors.len(),
            wording::count(self.candidates.len(), "candidate"),
            wording::count(self.trials, "trial"),
            self.first,
            wording::plain_percent(self.level),
        );
        vec![Sentence { claims, text, evidence }]
    }
}

/// The race of a run with such a design; `None` of another design, and without a response.
pub fn report(summary: &Summary) -> Option<RaceReport> {
    if summary.design_kind != KIND {
        return None;
    }
    let first = value_in_source(&summary.recording.run.source, RACE_FIRST) as usize;
    let rules = Rules { first, ..Rules::new(true) };
    let Standing { departures, survivors, blocks, trials, by_ratio } = race(summary, rules)?;
    let label = |index: usize| summary.recording.configurations[index].label.clone();
    let inside = survivors.into_iter().map(|survivor| Candidate {
        configuration: survivor.candidate,
        label: label(survivor.candidate),
        blocks,
        mean: Some(survivor.mean).filter(|mean| mean.is_finite()),
        interval: survivor.interval,
        behind: survivor.behind,
        ..Candidate::default()
    });
    let left = departures.iter().rev().map(|departure| Candidate {
        configuration: departure.candidate,
        label: label(departure.candidate),
        blocks: departure.after,
        mean: mean_until(summary, departure),
        departure: Some(*departure),
        why: sentence(departure, summary),
        ..Candidate::default()
    });
    let candidates = inside.chain(left).collect();
    let (level, unit) = (rules.level, summary.unit().to_owned());
    Some(RaceReport { first, blocks, trials, level, by_ratio, unit, candidates })
}

fn mean_until(summary: &Summary, departure: &Departure) -> Option<f64> {
    let outcomes = outcomes(summary, departure.candidate);
    let known = outcomes.iter().take(departure.after).filter_map(|outcome| outcome.known());
    Some(mean(known)).filter(|mean| mean.is_finite())
}

/// The race of all configurations over the blocks recorded so far; `None` without a response.
/// Positions of candidates are those of configurations. The direction of the response replaces
/// that of the rules.
pub fn race(summary: &Summary, rules: Rules) -> Option<Standing> {
    let response = summary.response.as_ref()?;
    let is_lower_better = response.direction == Direction::LowerIsBetter;
    let outcomes: Vec<Vec<Outcome>> =
        (0..summary.recording.configurations.len()).map(|index| outcomes(summary, index)).collect();
    Some(racing::race(&outcomes, Rules { is_lower_better, ..rules }))
}

/// The outcome of each block up to the first without any. A withheld value says as little as a
/// time-out without a bound.
fn outcomes(summary: &Summary, configuration: usize) -> Vec<Outcome> {
    let outcomes = (1..).map_while(|block| {
        let figures = summary.figures.as_ref();
        let Some(cell) = figures.and_then(|figure| figure.grid.cell(configuration, block)) else {
            let mut trials = summary.recording.trials.iter();
            return trials
                .find(|trial| trial.configuration == configuration && trial.block == block)
                .map(|_| Outcome::Failed);
        };
        Some(match cell.known {
            Some(bound) if cell.timed_out => Outcome::TimedOut(Some(bound)),
            Some(value) => Outcome::Value(value),
            None => Outcome::TimedOut(None),
        })
    });
    outcomes.collect()
}

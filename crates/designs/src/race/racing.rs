//! A race: many candidates run block by block, and those that cannot be the best leave.
//!
//! [`race`] is a pure function of the outcomes so far, so that a resumed race takes the same
//! decisions. Its rules:
//!
//! - All candidates run the first blocks ([`Rules::first`]). One that failed leaves at once.
//! - After each block from then on every candidate is tested against the leader, which has the best
//!   mean: one-sided paired t over the blocks of both, of logarithms where all values have one.
//! - Looks and candidates are many. Look number `i` may spend `6 / (pi i)^2` of the level; these
//!   shares sum to 1 over any number of looks, so that a race may be prolonged. The share of a look
//!   is divided by the number of candidates less one: of all of them, the tests of the true best
//!   against the others alone can drop it. By Bonferroni's inequality that happens in at most
//!   [`Rules::level`] of races.
//! - A trial that timed out exceeds its bound. The bound takes its place, which makes a slow
//!   candidate look better than it is. One that timed out never leads.
//! - Intervals of survivors hold at all looks and for all candidates at once (repeated confidence
//!   intervals, C. Jennison and B. W. Turnbull, Statistical Science 5, 1990): neither stopping nor
//!   surviving biases them.

use observations::Interval;
use serde::Serialize;
use statistics::{t_quantile, t_two_sided_p};
use std::f64::consts::PI;

/// Rules of a race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Blocks that all candidates run; two at least.
    pub first: usize,
    /// Share of races, at most, in which the true best leaves.
    pub level: f64,
    /// True of times and costs.
    pub is_lower_better: bool,
}

impl Rules {
    /// Five blocks and 5 %.
    pub fn new(is_lower_better: bool) -> Self {
        Self { first: 5, level: 0.05, is_lower_better }
    }
}

/// Outcome of a candidate in a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The value.
    Value(f64),
    /// Stopped by a time limit; the value that it exceeds where lower is better, else `None`.
    TimedOut(Option<f64>),
    /// Failed.
    Failed,
}

impl Outcome {
    /// The value, or bound.
    pub fn known(self) -> Option<f64> {
        match self {
            Self::Value(value) | Self::TimedOut(Some(value)) => Some(value),
            Self::TimedOut(None) | Self::Failed => None,
        }
    }
}

/// Reason for which a candidate left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A trial failed.
    Failed,
    /// Every trial timed out, and nothing is known of its value.
    TimedOut,
    /// Worse than the leader.
    Worse {
        /// The leader then.
        leader: usize,
        /// How many times better the leader was; a difference unless `by_ratio`.
        by: f64,
        /// True if all values up to then had logarithms.
        by_ratio: bool,
        /// One-sided p-value of "not worse".
        p_value: f64,
        /// The level of this test.
        level: f64,
    },
}

/// A candidate that left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Departure {
    /// The position.
    pub candidate: usize,
    /// The number of blocks after which it left.
    pub after: usize,
    /// Reason.
    pub reason: Reason,
}

/// A candidate in the race.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Survivor {
    /// The position.
    pub candidate: usize,
    /// Mean of its values and bounds.
    pub mean: f64,
    /// Interval of the mean, corrected for looks and candidates; `None` before the first look.
    pub interval: Option<Interval>,
    /// The gain of the leader (a difference where values have no logarithm), corrected likewise;
    /// `None` of the leader itself.
    pub behind: Option<Interval>,
}

/// A race after all blocks that are complete for the candidates in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// Candidates that left, in order.
    pub departures: Vec<Departure>,
    /// Candidates that run the next block, the best mean first.
    pub survivors: Vec<Survivor>,
    /// Complete blocks.
    pub blocks: usize,
    /// Trials that the race needed.
    pub trials: usize,
    /// True if differences are factors, because all values have logarithms.
    pub by_ratio: bool,
}

impl Standing {
    /// The best candidate so far: the first survivor without time-outs, if any.
    pub fn leader(&self) -> Option<usize> {
        self.survivors.first().map(|survivor| survivor.candidate)
    }

    /// Returns whether one candidate at most is left.
    pub fn is_over(&self) -> bool {
        self.survivors.len() <= 1
    }
}

/// Runs a race over the outcomes of each candidate in the order of blocks. Outcomes of a candidate
/// after it left are ignored; a block that a candidate in the race lacks ends the race so far.
pub fn race(outcomes: &[Vec<Outcome>], rules: Rules) -> Standing {
    let inside = (0..outcomes.len()).collect();
    let mut race = Race { outcomes, rules, by_ratio: true, inside, blocks: 0 };
    let (mut departures, mut trials): (Vec<Departure>, usize) = (Vec::new(), 0);
    // A block of a race that is over decides nothing.
    while (race.inside.len() > 1 || race.blocks < race.rules.first) && race.has_next() {
        race.blocks += 1;
        // By what was seen up to now, so that later values leave decisions as they are.
        let all_positive = race.inside.iter().all(|candidate| {
            race.outcomes[*candidate][race.blocks - 1].known().is_none_or(|value| value > 0.0)
        });
        race.by_ratio &= all_positive;
        trials += race.inside.len();
        let left = race.departures();
        race.inside
            .retain(|candidate| left.iter().all(|departure| departure.candidate != *candidate));
        departures.extend(left);
    }
    let Race { blocks, by_ratio, .. } = race;
    Standing { departures, survivors: race.survivors(), blocks, trials, by_ratio }
}

struct Race<'o> {
    outcomes: &'o [Vec<Outcome>],
    rules: Rules,
    /// True if all values of candidates in the race had logarithms so far.
    by_ratio: bool,
    /// Candidates in the race.
    inside: Vec<usize>,
    blocks: usize,
}

/// Sums of differences, each larger for the better side.
struct Differences {
    mean: f64,
    error: f64,
    df: f64,
}

impl Differences {
    fn new(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = statistics::mean(values);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (n - 1.0) / n).sqrt();
        (values.len() >= 2).then_some(Self { mean, error, df: n - 1.0 })
    }

    /// One-sided p-value of "not above 0".
    fn p_value(&self) -> f64 {
        match self.mean {
            mean if self.error > 0.0 => {
                let both = t_two_sided_p(mean / self.error, self.df) / 2.0;
                if mean > 0.0 { both } else { 1.0 - both }
            }
            mean if mean > 0.0 => 0.0,
            _ => 1.0,
        }
    }

    /// Two-sided, missing the truth with probability `alpha`.
    fn interval(&self, alpha: f64) -> Interval {
        Interval::around(self.mean, t_quantile(alpha / 2.0, self.df) * self.error)
    }
}

impl Race<'_> {
    fn has_next(&self) -> bool {
        !self.inside.is_empty()
            && self.inside.iter().all(|candidate| self.outcomes[*candidate].len() > self.blocks)
    }

    fn outcomes(&self, candidate: usize) -> &[Outcome] {
        &self.outcomes[candidate][..self.blocks]
    }

    fn timed_out(&self, candidate: usize) -> bool {
        self.outcomes(candidate).iter().any(|outcome| matches!(outcome, Outcome::TimedOut(_)))
    }

    /// Values and bounds.
    fn known(&self, candidate: usize) -> impl Iterator<Item = f64> {
        self.outcomes(candidate).iter().filter_map(|outcome| outcome.known())
    }

    fn mean(&self, candidate: usize) -> f64 {
        statistics::mean(self.known(candidate))
    }

    /// The share of the level that each test of this look has.
    fn level(&self) -> f64 {
        let look = (self.blocks + 1 - self.rules.first.max(2)) as f64;
        let others = self.outcomes.len().saturating_sub(1).max(1) as f64;
        self.rules.level * 6.0 / (PI * look).powi(2) / others
    }

    /// Candidates in the race, those without time-outs first, then by their means.
    fn ranked(&self) -> Vec<usize> {
        let sign = if self.rules.is_lower_better { 1.0 } else { -1.0 };
        let mut ranked = self.inside.clone();
        let key = |candidate: &usize| sign * self.mean(*candidate);
        ranked.sort_by(|a, b| {
            self.timed_out(*a).cmp(&self.timed_out(*b)).then(key(a).total_cmp(&key(b)))
        });
        ranked
    }

    /// Differences by which the leader is better, in blocks in which both are known.
    fn behind(&self, leader: usize, candidate: usize) -> Option<Differences> {
        let scaled = |value: f64| {
            let value = if self.by_ratio { value.ln() } else { value };
            if self.rules.is_lower_better { value } else { -value }
        };
        let pairs = self.outcomes(leader).iter().zip(self.outcomes(candidate));
        let differences = pairs.filter_map(|pair| match pair {
            (Outcome::Value(leader), Outcome::Value(value) | Outcome::TimedOut(Some(value))) => {
                Some(scaled(*value) - scaled(*leader))
            }
            _ => None,
        });
        Differences::new(&differences.collect::<Vec<_>>())
    }

    fn departures(&self) -> Vec<Departure> {
        let mut left = self.unfit();
        let mut ranked = self.ranked();
        ranked.retain(|candidate| left.iter().all(|departure| departure.candidate != *candidate));
        let Some((leader, others)) = ranked.split_first() else { return left };
        if self.blocks < self.rules.first.max(2) || self.timed_out(*leader) {
            return left;
        }
        for candidate in others {
            let Some(behind) = self.behind(*leader, *candidate) else { continue };
            let (p_value, level) = (behind.p_value(), self.level());
            if p_value < level {
                let by_ratio = self.by_ratio;
                let by = if by_ratio { behind.mean.exp() } else { behind.mean };
                let reason = Reason::Worse { leader: *leader, by, by_ratio, p_value, level };
                left.push(Departure { candidate: *candidate, after: self.blocks, reason });
            }
        }
        left
    }

    /// Candidates that leave whatever the others do.
    fn unfit(&self) -> Vec<Departure> {
        let reason = |candidate: usize| {
            let outcomes = self.outcomes(candidate);
            if outcomes.contains(&Outcome::Failed) {
                return Some(Reason::Failed);
            }
            if self.blocks < self.rules.first {
                return None;
            }
            let is_unknown = |outcome| matches!(outcome, &Outcome::TimedOut(None));
            outcomes.iter().all(is_unknown).then_some(Reason::TimedOut)
        };
        let inside = self.inside.iter().copied();
        let left = inside.filter_map(|candidate| Some((candidate, reason(candidate)?)));
        left.map(|(candidate, reason)| Departure { candidate, after: self.blocks, reason })
            .collect()
    }

    fn survivors(&self) -> Vec<Survivor> {
        let ranked = self.ranked();
        let has_looked = self.blocks >= self.rules.first.max(2);
        let behind = |candidate: usize| {
            let leader = *ranked.first().filter(|first| **first != candidate && has_looked)?;
            let interval = self.behind(leader, candidate)?.interval(self.level());
            Some(if self.by_ratio { interval.map(f64::exp) } else { interval })
        };
        let survivors = ranked.iter().map(|candidate| {
            let values: Vec<f64> = self.known(*candidate).collect();
            let moments = Differences::new(&values).filter(|_| has_looked);
            Survivor {
                candidate: *candidate,
                mean: self.mean(*candidate),
                interval: moments.map(|interval_moments| interval_moments.interval(self.level())),
                behind: behind(*candidate),
            }
        });
        survivors.collect()
    }
}

#[cfg(test)]
mod tests;

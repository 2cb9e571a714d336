//! Two configurations of a run, or two levels over those of the other factors, head to head.

use crate::compare::corrected;
use crate::estimate::Repeats;
use crate::grid::Grid;
use crate::{
    Comparison, Decomposition, Estimate, Explanation, Finding, Interval, ResponseChoice, Scale,
    TooFew, WarningsCompared, response,
};
use observations::{Direction, Observations, Recording};
use serde::Serialize;

/// Configurations that differ in the same way: two levels, at the same levels of all other factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedCells {
    /// Positions of the configurations.
    pub pairs: Vec<(usize, usize)>,
    /// Configurations of either side that the other has no partner for.
    pub unmatched: usize,
}

impl MatchedCells {
    /// Two configurations alone.
    pub fn pair(from: usize, to: usize) -> Self {
        Self { pairs: vec![(from, to)], unmatched: 0 }
    }
}

/// The differences of the second side from the first, and their causes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeadToHead {
    /// Pairs of configurations, of which a block has the mean.
    pub pairs: usize,
    /// Configurations left out, because the other side has no partner for them.
    pub unmatched: usize,
    /// The response compared: that of the first side's run.
    pub response: ResponseChoice,
    /// Estimate of the first.
    pub from: Option<Estimate>,
    /// Estimate of the second.
    pub to: Option<Estimate>,
    /// The gain of the second; above 1 is better. `None` when one side has no trial done.
    pub comparison: Option<Comparison>,
    /// Every response that both sides recorded, in the order of the first.
    pub responses: Vec<ResponseChange>,
    /// Percentiles that are not compared, because a trial has too few values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub too_few: Vec<TooFew>,
    /// The difference in seconds for each unit of work, part by part; `None` when one side has
    /// done no work.
    pub decomposition: Option<Decomposition>,
    /// The explanation in words, where it is significant; the sides are called A and B.
    pub why: Vec<Finding>,
    /// Warnings that their trials carry.
    pub warnings: WarningsCompared,
}

/// How one response of the second side differs from the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResponseChange {
    /// The response.
    pub response: ResponseChoice,
    /// Estimate of the first.
    pub from: Estimate,
    /// Estimate of the second.
    pub to: Estimate,
    /// The gain of the second, corrected (Holm) over all responses but the one that the sides are
    /// compared on.
    pub comparison: Option<Comparison>,
    /// The change in percent; `None` where a value is zero or negative.
    pub percent: Option<Percent>,
}

/// A difference relative to the first side: 11.0 is 11 % better.
///
/// Where lower is better (latency, time, cost) the sign is turned, so that positive is better for
/// every response: a latency that falls from 10 to 4 ms is +60 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percent {
    /// The difference in percent.
    pub value: f64,
    /// The 95 % interval.
    pub interval: Option<Interval>,
}

impl Percent {
    /// From a factor above 1 that is better; `None` of a comparison that is not on the ratio scale.
    pub fn from_comparison(comparison: &Comparison, direction: Direction) -> Option<Self> {
        let percent = |factor: f64| match direction {
            Direction::HigherIsBetter => 100.0 * (factor - 1.0),
            // The factor is first / second here.
            Direction::LowerIsBetter => 100.0 * (1.0 - 1.0 / factor),
        };
        (comparison.scale == Scale::Ratio).then(|| Self {
            value: percent(comparison.value),
            interval: comparison.interval.map(|interval| interval.map(percent)),
        })
    }
}

/// Compares two configurations, or two levels over the levels of the other factors: the mean of the
/// pairs of configurations in a block is its value. `None` when no pair has a trial done, or a
/// position is out of range.
pub fn compare_over(recording: &Recording, cells: &MatchedCells) -> Option<HeadToHead> {
    let response = ResponseChoice::for_recording(recording)?;
    let sides = Sides { grid: Grid::new(recording), pairs: &cells.pairs };
    let measured = sides.all_exist() && sides.trials().iter().any(|side| !side.is_empty());
    measured.then(|| of_sides(&sides, cells.unmatched, response))
}

/// Each configuration of the first side with that of the second which has the same levels of all
/// factors but those that are `varied`. One partner at most: both sides have one level of each of
/// these.
pub fn matched_cells(
    recording: &Recording,
    [from, to]: [&[usize]; 2],
    varied: &[&str],
) -> MatchedCells {
    let others = |index: &usize| -> Vec<_> {
        let levels = recording.configurations[*index].levels.iter();
        levels.filter(|level| !varied.contains(&level.factor.as_str())).collect()
    };
    let pairs: Vec<(usize, usize)> = from
        .iter()
        .filter_map(|from| Some((*from, *to.iter().find(|other| others(other) == others(from))?)))
        .collect();
    MatchedCells { unmatched: from.len() + to.len() - 2 * pairs.len(), pairs }
}

/// The two sides of a comparison.
struct Sides<'a> {
    grid: Grid<&'a Observations>,
    /// Positions of the configurations.
    pairs: &'a [(usize, usize)],
}

impl<'a> Sides<'a> {
    fn all_exist(&self) -> bool {
        let all = self.grid.cells.len();
        self.pairs.iter().all(|(from, to)| *from < all && *to < all)
    }

    /// The trials of the first and of the second side.
    fn trials(&self) -> [Vec<&'a Observations>; 2] {
        let (from, to): (Vec<_>, Vec<_>) = self
            .pairs
            .iter()
            .map(|(from, to)| (self.grid.trials(*from), self.grid.trials(*to)))
            .unzip();
        [from.concat(), to.concat()]
    }

    /// Estimates of both sides on a response, and how much better the second one is.
    fn compare(&self, response: &ResponseChoice) -> ([Option<Estimate>; 2], Option<Comparison>) {
        let matched = self.grid.figures(response).grid.matched_over(self.pairs);
        let comparison = Comparison::from_trials(&matched, response);
        let [first_from, first_to] = matched.first;
        let sides = [(matched.from, first_from), (matched.to, first_to)];
        let estimates = sides.map(|(units, first)| response.estimate(&Repeats { units, first }));
        (estimates, comparison)
    }
}

fn of_sides(sides: &Sides, unmatched: usize, response: ResponseChoice) -> HeadToHead {
    let usable = sides.grid.filter(Decomposition::usable);
    let decomposition = Decomposition::from_trials(&usable.matched_over(sides.pairs));
    let explanation = decomposition.clone().map(|decomposition| {
        let (from, to, both) = ("A".to_owned(), "B".to_owned(), String::new());
        Explanation { from, to, both, is_claimed: false, decomposition }
    });
    let ([from, to], comparison) = sides.compare(&response);
    let comparison = comparison.map(Comparison::alone);
    let trials = sides.trials();
    HeadToHead {
        pairs: sides.pairs.len(),
        unmatched,
        from,
        to,
        responses: changes(sides, &trials, &response),
        too_few: TooFew::all(&trials.concat()),
        warnings: WarningsCompared::compare(&trials[0], &trials[1]),
        comparison,
        why: explanation.as_ref().map(Explanation::findings).unwrap_or_default(),
        decomposition,
        response,
    }
}

/// Responses by the same name, in the same unit and direction, on both sides. The one that the
/// sides are compared on was chosen in advance; the others are a family.
fn changes(
    sides: &Sides,
    [from, to]: &[Vec<&Observations>; 2],
    chosen: &ResponseChoice,
) -> Vec<ResponseChange> {
    let changes = response::names(from).into_iter().filter_map(|name| {
        let response = ResponseChoice::common(name, from, to)?;
        let ([from, to], comparison) = sides.compare(&response);
        Some(ResponseChange { response, from: from?, to: to?, comparison, percent: None })
    });
    let mut changes: Vec<ResponseChange> = changes.collect();
    let is_other = |response_change: &ResponseChange| response_change.response.name != chosen.name;
    let others =
        changes.iter().filter(|change| is_other(change)).map(|change| change.comparison.clone());
    let mut others = corrected(others.collect()).into_iter();
    for change in &mut changes {
        change.comparison = if is_other(change) {
            others.next().flatten()
        } else {
            change.comparison.take().map(Comparison::alone)
        };
        let comparison = change.comparison.as_ref();
        change.percent = comparison
            .and_then(|comparison| Percent::from_comparison(comparison, change.response.direction));
    }
    changes
}

//! Two configurations, of one run or of two, head to head.

use crate::grid::{Grid, Matched, Repeats};
use crate::{
    Comparison, Decomposition, Estimate, Explanation, Finding, Interval, ResponseChoice, Scale,
    WarningsCompared, findings, response,
};
use observations::{Direction, Observations, Recording};
use serde::Serialize;
use statistics::correct;

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The run.
    pub recording: &'a Recording,
    /// Position of the configuration in it.
    pub configuration: usize,
}

/// Configurations that differ in the same way: two levels, at the same levels of all other factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedCells {
    /// Positions of the configurations.
    pub pairs: Vec<(usize, usize)>,
    /// Configurations of either side that the other has no partner for.
    pub unmatched: usize,
}

/// How the second side differs from the first, and why.
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
    /// How much better the second is; above 1 is better. `None` when one side has no trial done.
    pub comparison: Option<Comparison>,
    /// Every response that both sides recorded, in the order of the first.
    pub responses: Vec<ResponseChange>,
    /// The difference in seconds for each unit of work, part by part; `None` when one side has done no work.
    pub decomposition: Option<Decomposition>,
    /// The same in words, where it is supported; the sides are called A and B.
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
    /// How much better the second is, corrected (Holm) over all responses.
    pub comparison: Option<Comparison>,
    /// The same in percent; `None` where a value is zero or negative.
    pub percent: Option<Percent>,
}

/// A difference relative to the first side: 11.0 is 11 % better.
///
/// Where lower is better (latency, time, cost) the sign is turned, so that positive is better for every
/// response: a latency that falls from 10 to 4 ms is +60 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percent {
    /// The difference in percent.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
}

impl Percent {
    /// From a factor above 1 that is better; `None` of a comparison that is not on the ratio scale.
    pub fn of(comparison: &Comparison, direction: Direction) -> Option<Self> {
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

/// Compares two configurations: by paired blocks within a run; blocks of different runs have
/// nothing in common and are compared apart (Welch).
///
/// `None` when neither side has a trial done or a position is out of range.
pub fn compare(from: Side, to: Side) -> Option<HeadToHead> {
    let response = ResponseChoice::of(from.recording).or_else(|| ResponseChoice::of(to.recording))?;
    let same_run = std::ptr::eq(from.recording, to.recording);
    let (grid_from, grid_to) = (Grid::new(from.recording), Grid::new(to.recording));
    grid_from.cells.get(from.configuration).and(grid_to.cells.get(to.configuration))?;
    let sides = [(&grid_from, from.configuration), (&grid_to, to.configuration)];
    let matched = |usable: Usable| {
        if same_run {
            return grid_from.matched(from.configuration, to.configuration, usable);
        }
        let [from, to] = sides.map(|(grid, own)| grid.repeats(own, grid.has_setups(), usable));
        Matched::apart(from, to)
    };
    Some(of_sides(Sides {
        cells: [1, 0],
        trials: sides.map(|(grid, own)| grid.trials(own)),
        estimate: &|response| sides.map(|(grid, own)| grid.estimate(own, response)),
        matched: &matched,
        response,
    }))
}

/// Compares two levels over the levels of the other factors: the mean of the pairs of configurations in a block is its
/// value. `None` when no pair has a trial done.
pub fn compare_over(recording: &Recording, cells: &MatchedCells) -> Option<HeadToHead> {
    let pairs = cells.pairs.as_slice();
    let response = ResponseChoice::of(recording)?;
    let grid = Grid::new(recording);
    if pairs.iter().any(|(from, to)| (*from).max(*to) >= grid.cells.len()) {
        return None;
    }
    let matched = |usable: Usable| grid.matched_over(pairs, usable);
    let side = |of: fn(&(usize, usize)) -> usize| pairs.iter().flat_map(|it| grid.trials(of(it))).collect();
    let trials: [Vec<&Observations>; 2] = [side(|it| it.0), side(|it| it.1)];
    let estimate = |response: &ResponseChoice| {
        let Matched { from, to, first, .. } = matched(&|own| response.counts(own));
        let of = |(units, first)| response.estimate(&Repeats { units, first });
        [(from, first[0]), (to, first[1])].map(of)
    };
    let measured = trials.iter().any(|side| !side.is_empty());
    let cells = [pairs.len(), cells.unmatched];
    measured.then(|| of_sides(Sides { cells, trials, estimate: &estimate, matched: &matched, response }))
}

/// Each configuration of the first side with that of the second which has the same levels of all factors but those that
/// are `varied`. One partner at most: both sides have one level of each of these.
pub fn matched_cells(recording: &Recording, [from, to]: [&[usize]; 2], varied: &[&str]) -> MatchedCells {
    let others = |own: &usize| -> Vec<_> {
        let levels = recording.configurations[*own].levels.iter();
        levels.filter(|level| !varied.contains(&level.factor.as_str())).collect()
    };
    let pair = |own: &usize| Some((*own, *to.iter().find(|other| others(other) == others(own))?));
    let pairs: Vec<(usize, usize)> = from.iter().filter_map(pair).collect();
    MatchedCells { unmatched: from.len() + to.len() - 2 * pairs.len(), pairs }
}

/// Which trials count.
type Usable<'u> = &'u dyn Fn(&Observations) -> bool;

/// What is compared, and how.
struct Sides<'a, 'b> {
    /// Pairs, and configurations left out.
    cells: [usize; 2],
    response: ResponseChoice,
    trials: [Vec<&'a Observations>; 2],
    estimate: &'b dyn Fn(&ResponseChoice) -> [Option<Estimate>; 2],
    matched: &'b dyn Fn(Usable) -> Matched<'a>,
}

fn of_sides(sides: Sides) -> HeadToHead {
    let decomposition = Decomposition::of(&(sides.matched)(&Decomposition::usable));
    let explanation = decomposition.clone().map(|decomposition| {
        let (from, to, both) = ("A".to_owned(), "B".to_owned(), String::new());
        Explanation { from, to, both, decomposition }
    });
    let [from, to] = (sides.estimate)(&sides.response);
    let [pairs, unmatched] = sides.cells;
    HeadToHead {
        pairs,
        unmatched,
        from,
        to,
        responses: changes(&sides),
        warnings: WarningsCompared::of(&sides.trials[0], &sides.trials[1]),
        comparison: sides.compare(&sides.response),
        why: explanation.as_ref().map(findings::why::find).unwrap_or_default(),
        decomposition,
        response: sides.response,
    }
}

impl Sides<'_, '_> {
    fn compare(&self, response: &ResponseChoice) -> Option<Comparison> {
        Comparison::of(&(self.matched)(&|own| response.counts(own)), response)
    }
}

/// Responses by the same name, in the same unit and direction, on both sides.
fn changes(sides: &Sides) -> Vec<ResponseChange> {
    let [from, to] = &sides.trials;
    let find = |side: &[&Observations], name: &str| side.iter().find_map(|o| ResponseChoice::named(name, o));
    let change = |name: &str| {
        let response = find(from, name).filter(|response| find(to, name).as_ref() == Some(response))?;
        let [from, to] = (sides.estimate)(&response);
        let (from, to) = (from?, to?);
        let comparison = sides.compare(&response);
        let percent = comparison.as_ref().and_then(|comparison| Percent::of(comparison, response.direction));
        Some(ResponseChange { response, from, to, comparison, percent })
    };
    let mut changes: Vec<ResponseChange> = response::names(from).into_iter().filter_map(change).collect();
    let family = changes.iter_mut().filter_map(|change| change.comparison.as_mut());
    correct(family.map(|comparison| (comparison.p_value, &mut comparison.adjusted_p)).collect());
    changes
}

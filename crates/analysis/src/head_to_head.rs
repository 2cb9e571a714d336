//! Two configurations, of one run or of two, head to head.

use crate::grid::{Grid, Matched};
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

/// How the second side differs from the first, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeadToHead {
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
    let matched = |usable: &dyn Fn(&Observations) -> bool| {
        if same_run {
            return grid_from.matched(from.configuration, to.configuration, usable);
        }
        let [from, to] = [(&grid_from, from.configuration), (&grid_to, to.configuration)]
            .map(|(grid, own)| grid.repeats(own, grid.has_setups(), usable));
        Matched::apart(from, to)
    };
    let sides = [(&grid_from, from.configuration), (&grid_to, to.configuration)];
    let decomposition = Decomposition::of(&matched(&Decomposition::usable));
    let explanation = decomposition.clone().map(|decomposition| {
        let (from, to, both) = ("A".to_owned(), "B".to_owned(), String::new());
        Explanation { from, to, both, decomposition }
    });
    let compare = |response: &ResponseChoice| Comparison::of(&matched(&|own| response.counts(own)), response);
    Some(HeadToHead {
        from: grid_from.estimate(from.configuration, &response),
        to: grid_to.estimate(to.configuration, &response),
        responses: changes(&sides, &compare),
        warnings: WarningsCompared::of(
            &grid_from.trials(from.configuration),
            &grid_to.trials(to.configuration),
        ),
        comparison: compare(&response),
        why: explanation.as_ref().map(findings::why::find).unwrap_or_default(),
        decomposition,
        response,
    })
}

/// Responses by the same name, in the same unit and direction, on both sides.
fn changes(
    sides: &[(&Grid, usize); 2],
    compare: &dyn Fn(&ResponseChoice) -> Option<Comparison>,
) -> Vec<ResponseChange> {
    let [from, to] = sides.map(|(grid, own)| grid.trials(own));
    let find = |side: &[&Observations], name: &str| side.iter().find_map(|o| ResponseChoice::named(name, o));
    let change = |name: &str| {
        let response = find(&from, name).filter(|response| find(&to, name).as_ref() == Some(response))?;
        let [from, to] = sides.map(|(grid, own)| grid.estimate(own, &response));
        let (from, to) = (from?, to?);
        let comparison = compare(&response);
        let percent = comparison.as_ref().and_then(|comparison| Percent::of(comparison, response.direction));
        Some(ResponseChange { response, from, to, comparison, percent })
    };
    let mut changes: Vec<ResponseChange> = response::names(&from).into_iter().filter_map(change).collect();
    let family = changes.iter_mut().filter_map(|change| change.comparison.as_mut());
    correct(family.map(|comparison| (comparison.p_value, &mut comparison.adjusted_p)).collect());
    changes
}

//! The figures of reports: the geometric mean, and the queries that were cancelled at their time
//! limit.

use crate::probe::{CANCELLED, DecisionSupport};
use crate::query_times::{QueryTimes, query_times};
use crate::settings::STREAMS;
use ::probe::Probe as _;
use analysis::{Estimate, Finding, FindingKind, PartNames, Study, Summary, wording};
use observations::{Direction, Observations};
use serde::Serialize;

/// The study's part in the analysis of its runs.
pub const STUDY: Study = Study {
    findings: Some(findings),
    parts: PartNames {
        heading: "Decision support queries",
        part: "query",
        work: "runs",
        rate: "runs/s",
    },
    ..Study::new("decision-support")
};

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionSupportFigures {
    /// The label.
    pub configuration: String,
    /// Queries and refresh functions of all trials.
    pub queries: u64,
    /// Geometric mean of the mean times in seconds; `None` where one of them has no time.
    pub geometric_mean: Option<Estimate>,
    /// Queries that were cancelled.
    pub cancelled: Vec<Cancellation>,
    /// The queries by CPU and wait, of power runs.
    pub waits: Option<QueryTimes>,
    /// Why there are no waits of single queries.
    pub no_waits: Option<&'static str>,
}

/// A query that was cancelled at its time limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cancellation {
    /// The name: `Q17`.
    pub query: String,
    /// How often, in all trials.
    pub times: f64,
}

/// Figures of the configurations that ran decision support.
pub fn figures(summary: &Summary) -> Vec<DecisionSupportFigures> {
    (0..summary.configurations.len()).filter_map(|index| configuration(summary, index)).collect()
}

fn configuration(summary: &Summary, position: usize) -> Option<DecisionSupportFigures> {
    summary
        .study(position)
        .filter(|study| study.probe == Some(DecisionSupport.declarations().name))?;
    let trials = summary.grid.trials(position);
    let mut cancelled = Vec::<Cancellation>::new();
    for (query, times) in trials.iter().flat_map(|trial| CANCELLED.members(trial)) {
        match cancelled.iter_mut().find(|entry| entry.query == query) {
            Some(entry) => entry.times += times,
            None => cancelled.push(Cancellation { query: query.to_owned(), times }),
        }
    }
    let waits = query_times(&trials);
    Some(DecisionSupportFigures {
        no_waits: waits.is_none().then(|| no_waits(summary, position, &trials)).flatten(),
        waits,
        configuration: summary.recording.configurations[position].label.clone(),
        queries: trials.iter().map(|trial| trial.work.amount).sum(),
        geometric_mean: Estimate::over_trials(&trials, "s", Direction::LowerIsBetter, |trial| {
            trial.response("geometric_mean")
        }),
        cancelled,
    })
}

/// Why a configuration has no waits of single queries; `None` without waits at all.
fn no_waits(summary: &Summary, position: usize, trials: &[&Observations]) -> Option<&'static str> {
    let streams: Option<u32> = summary.recording.configurations[position].get(STREAMS.path());
    if trials.iter().all(|trial| trial.waits.is_empty()) {
        None
    } else if streams.is_some_and(|stream| stream > 1) {
        Some("several streams ran at the same time, so that a wait belongs to no single query")
    } else {
        Some("the waits of this engine cannot be divided; those of the whole run are known")
    }
}

/// A finding for each configuration with cancelled queries: its figures are lower bounds.
fn findings(summary: &Summary) -> Vec<Finding> {
    let all = figures(summary);
    let bounded = all.iter().filter(|figures| !figures.cancelled.is_empty());
    bounded
        .map(|figures| {
            let with = wording::in_brackets(&figures.configuration);
            let times: f64 = figures.cancelled.iter().map(|entry| entry.times).sum();
            let were =
                if times > 1.0 { format!("{times} queries were") } else { "1 query was".into() };
            let names: Vec<String> =
                figures.cancelled.iter().map(|entry| entry.query.clone()).collect();
            Finding::new(
                FindingKind::Responses,
                format!(
                    "Times{with} are lower bounds: {were} cancelled at workload.query_limit ({}).",
                    wording::list(&names)
                ),
                "cancelled queries count with the time until then".to_owned(),
            )
        })
        .collect()
}

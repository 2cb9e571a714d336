//! The mutual slowdown of order entry and analytics: configurations that run both, against those
//! that run one of them and agree in everything else.

use crate::analytics::ANALYSES;
use crate::probe::{ANALYTICS, ANALYTICS_TIME, NEW_ORDERS, OrderEntry, TAIL, TERMINALS};
use ::probe::Probe as _;
use analysis::compare::{Values, corrected};
use analysis::{
    Accounting, Comparison, Estimate, Finding, FindingKind, Scale, Summary, WaitRow, settings,
    wording,
};
use observations::{Direction, Observations};
use serde::Serialize;

/// Wait types that are shown of a configuration.
const WAITS_MAX: usize = 3;

/// A configuration with both loads, against each alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slowdown {
    /// The label.
    pub configuration: String,
    /// Streams of analytical queries.
    pub streams: u32,
    /// New orders a minute; `None` without a configuration of order entry alone.
    pub order_entry: Option<Side>,
    /// Geometric mean of the mean times of the queries in seconds; `None` without a configuration
    /// of analytics alone.
    pub analytics: Option<Side>,
    /// Each query.
    pub queries: Vec<QuerySlowdown>,
    /// The time of the sessions: each alone, then together.
    pub sessions: Vec<Sessions>,
    /// Longest time in a trial, in seconds, in which queries were finished after the terminals had
    /// ended.
    pub tail_s: Option<f64>,
}

/// A figure alone and together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Label of the configuration that runs this alone.
    pub alone_configuration: String,
    /// The figure there.
    pub alone: Estimate,
    /// The figure together.
    pub together: Estimate,
    /// The figure together as a multiple of the one alone, paired by block.
    pub ratio: Comparison,
}

/// The mean time of a query in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuerySlowdown {
    /// The name: `A1`.
    pub query: &'static str,
    /// The question.
    pub title: &'static str,
    /// The times.
    pub times: Side,
}

/// How sessions spent their time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sessions {
    /// Label of the configuration.
    pub configuration: String,
    /// The use of their time.
    pub accounting: Accounting,
    /// Their longest waits, most first.
    pub waits: Vec<WaitRow>,
}

/// Slowdowns of all configurations that run both loads. The ratios of order entry and analytics
/// are one family (Holm), those of the queries another.
pub(crate) fn slowdowns(summary: &Summary) -> Vec<Slowdown> {
    let loads = [TERMINALS.path(), ANALYTICS.path()];
    let groups = settings::groups(summary.recording, OrderEntry.declarations().name, |path| {
        loads.contains(&path)
    });
    let mut all: Vec<Slowdown> = Vec::new();
    for group in groups {
        let loads: Vec<Load> = group
            .configurations
            .iter()
            .map(|configuration| Load::read(summary, *configuration))
            .collect();
        for both in loads.iter().filter(|load| load.has_terminals() && load.streams > 0) {
            let orders = loads.iter().find(|load| {
                load.has_terminals() && load.terminals == both.terminals && load.streams == 0
            });
            let queries =
                loads.iter().find(|load| !load.has_terminals() && load.streams == both.streams);
            all.extend(slowdown(summary, both, orders, queries));
        }
    }
    adjust(
        all.iter_mut()
            .flat_map(|figures| [&mut figures.order_entry, &mut figures.analytics])
            .flatten(),
    );
    adjust(all.iter_mut().flat_map(|figures| &mut figures.queries).map(|query| &mut query.times));
    all
}

/// The load of a configuration.
struct Load {
    configuration: usize,
    /// `None`: as many as the warehouses need.
    terminals: Option<u32>,
    streams: u32,
}

impl Load {
    fn read(summary: &Summary, configuration: usize) -> Self {
        let record = &summary.recording.configurations[configuration];
        Self {
            configuration,
            terminals: record.get(TERMINALS.path()),
            streams: record.get(ANALYTICS.path()).unwrap_or(0),
        }
    }

    fn has_terminals(&self) -> bool {
        self.terminals != Some(0)
    }
}

fn slowdown(
    summary: &Summary,
    both: &Load,
    orders: Option<&Load>,
    queries: Option<&Load>,
) -> Option<Slowdown> {
    let together = both.configuration;
    let side = |alone: Option<&Load>, name: &str, unit| {
        side(summary, [alone?.configuration, together], unit, |summary| summary.response(name))
    };
    let order_entry = side(orders, NEW_ORDERS, "new orders/min");
    let analytics = side(queries, ANALYTICS_TIME, "s");
    let of_queries = ANALYSES.iter().filter_map(|analyse| {
        let configurations = [queries?.configuration, together];
        let times = self::side(summary, configurations, "ms", |summary| {
            Some(analyse.mean_s(summary)? * 1e3)
        })?;
        Some(QuerySlowdown { query: analyse.label, title: analyse.title, times })
    });
    let trials = summary.grid.trials(together);
    let shown = orders.into_iter().chain(queries).chain([both]);
    (orders.is_some() || queries.is_some()).then(|| Slowdown {
        configuration: summary.recording.configurations[together].label.clone(),
        streams: both.streams,
        order_entry,
        analytics,
        queries: of_queries.collect(),
        sessions: shown.filter_map(|load| sessions(summary, load.configuration)).collect(),
        tail_s: trials.iter().filter_map(|trial| TAIL.read(trial)).reduce(f64::max),
    })
}

/// A figure of two configurations; `None` when one of them has none.
fn side(
    summary: &Summary,
    [alone, together]: [usize; 2],
    unit: &str,
    value: impl Fn(&Observations) -> Option<f64>,
) -> Option<Side> {
    // Larger is what a ratio above 1 means, whether that is good or bad.
    let direction = Direction::HigherIsBetter;
    let usable = summary.grid.filter(|grid| !grid.timed_out());
    let matched = usable.map(value).matched(alone, together);
    let estimate = |blocks: &[Vec<f64>]| Estimate::from_amounts(&blocks.concat(), unit, direction);
    let values =
        |blocks: &[Vec<f64>], first| Values { blocks: blocks.to_vec(), first, resolution: 0.0 };
    let from = values(&matched.from, matched.first[0]);
    let to = values(&matched.to, matched.first[1]);
    Some(Side {
        alone_configuration: summary.recording.configurations[alone].label.clone(),
        alone: estimate(&matched.from)?,
        together: estimate(&matched.to)?,
        // A trial that did nothing has no ratio.
        ratio: Comparison::of_values(matched.paired, &from, &to, direction)
            .filter(|value| value.scale == Scale::Ratio)?,
    })
}

fn sessions(summary: &Summary, configuration: usize) -> Option<Sessions> {
    let row = summary.configurations.get(configuration)?;
    Some(Sessions {
        configuration: row.label.clone(),
        accounting: row.accounting.clone()?,
        waits: row.waits.rows.iter().take(WAITS_MAX).cloned().collect(),
    })
}

/// Adjusts the ratios of a family.
fn adjust<'a>(family: impl Iterator<Item = &'a mut Side>) {
    let sides: Vec<&mut Side> = family.collect();
    let adjusted = corrected(sides.iter().map(|side| Some(side.ratio.clone())).collect());
    for (side, ratio) in sides.into_iter().zip(adjusted) {
        side.ratio = ratio.unwrap_or_else(|| side.ratio.clone());
    }
}

/// Returns the significant slowdowns of both loads.
pub fn findings(summary: &Summary) -> Vec<Finding> {
    slowdowns(summary).iter().flat_map(slowdown_findings).collect()
}

fn slowdown_findings(slowdown: &Slowdown) -> Vec<Finding> {
    let configuration = &slowdown.configuration;
    let streams = observations::number::plural(slowdown.streams as usize, "stream");
    let orders = format!("Order entry beside {streams} of analytics ({configuration}) has");
    let queries = format!("Analytical queries beside order entry ({configuration}) take");
    let sides = [
        (&slowdown.order_entry, orders, "of its throughput alone"),
        (&slowdown.analytics, queries, "their time alone"),
    ];
    let supported = sides.into_iter().filter_map(|(side, subject, alone)| {
        let side = side.as_ref().filter(|side| side.ratio.supported())?;
        let text = format!("{subject} {} {alone}.", wording::comparison(&side.ratio, ""));
        let evidence = format!("paired by {}", wording::count(side.ratio.blocks, "block"));
        Some(Finding::new(FindingKind::Responses, text, evidence))
    });
    supported.collect()
}

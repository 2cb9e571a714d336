//! The change of throughput with threads.
//!
//! - `Curve`: configurations that differ in the number of threads only, and where it leaves a core,
//!   a socket, a memory node
//! - `SharedLine`: what one cache line that several threads write to makes at most

use crate::outcome::{CORES, NODES, PROCESSORS, SHARED_LINES, SOCKETS};
use crate::probe::{PRIMITIVE, READS, SyncProbe, THREADS};
use analysis::grid::{Figures, Grid};
use analysis::settings::{groups, with_probe};
use analysis::{
    Comparison, ConfigurationGroup, Estimate, Interval, Scale, ScalingClass, Summary, compare,
    response,
};
use observations::{Environment, FactName, Observations, Recording, order};
use probe::Probe;
use serde::Serialize;

/// Summary of the configurations with the sync probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScalingSummary {
    /// In the order of the file.
    pub curves: Vec<Curve>,
    /// `None` when no such configuration has a trial done.
    pub shared_line: Option<SharedLine>,
}

/// The most that threads on several cores did together on one cache line without losing updates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharedLine {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// The short label.
    pub label: String,
    /// The primitive that guards the line.
    pub primitive: String,
    /// Threads.
    pub threads: u64,
    /// Operations a millisecond.
    pub throughput: Estimate,
    /// The curve with the highest mean of all, and how many times as much that is; `None` where
    /// none is shown to be higher.
    pub most: Option<(usize, Comparison)>,
}

/// Configurations with the sync probe that differ in the number of threads only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Levels of the other factors: `primitive=atomic`; empty when there is none.
    pub group: String,
    /// By threads, the fewest first.
    pub points: Vec<ScalingPoint>,
    /// Position in `points` of the highest mean.
    pub peak: usize,
    /// Where it leaves something.
    pub edges: Vec<Edge>,
    /// How it scales up to the most threads that each have a processor; `None` with fewer than two
    /// such points.
    pub scaled: Option<Scaling>,
}

/// A number of threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScalingPoint {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Threads.
    pub threads: u64,
    /// Operations a millisecond.
    pub throughput: Estimate,
    /// Against the point before it; `None` of the first.
    pub against_before: Option<Comparison>,
    /// Where the threads are.
    pub place: Option<Placement>,
}

/// The placement of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// True if they were pinned there. Otherwise this is the smallest place that fits them, with a
    /// thread on each CPU.
    pub pinned: bool,
    /// Processors.
    pub processors: u64,
    /// Cores.
    pub cores: u64,
    /// Sockets.
    pub sockets: u64,
    /// Memory (NUMA) nodes.
    pub nodes: u64,
}

/// The outgoing edge of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The kind.
    pub kind: EdgeKind,
    /// Position in `points` of the first one beyond.
    pub at: usize,
    /// True if the place is known; otherwise it is the latest possible one.
    pub pinned: bool,
}

/// Boundary that a curve crosses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// A core.
    Core,
    /// A memory node.
    Node,
    /// A socket.
    Socket,
    /// A processor for each thread.
    Processors,
}

/// How a curve scales.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scaling {
    /// Position in `points` of the end; the beginning is the first point.
    pub to: usize,
    /// Throughput at the end relative to the beginning.
    pub speedup: Comparison,
    /// Speed-up relative to the number of threads.
    pub efficiency: f64,
    /// The 95 % interval; `None` with a single block.
    pub efficiency_interval: Option<Interval>,
    /// By the speed-up.
    pub class: ScalingClass,
    /// By both ends of its 95 % interval; `None` with a single block.
    pub between: Option<(ScalingClass, ScalingClass)>,
}

/// How throughput goes with threads; `None` when no configuration with the sync probe has a trial
/// done.
pub fn scaling(summary: &Summary) -> Option<ScalingSummary> {
    let (recording, grid) = (summary.recording, &summary.grid);
    let groups = groups(recording, SyncProbe.declarations().name, |path| path == THREADS.path());
    groups.first()?;
    let figures = grid.figures(&response::find("throughput", &grid.observations())?);
    let curves: Vec<Curve> = groups
        .into_iter()
        .filter_map(|group| Curve::from_group(group, recording, grid, &figures))
        .collect();
    let shared_line = shared_line(recording, grid, &figures, &curves);
    (!curves.is_empty()).then_some(ScalingSummary { curves, shared_line })
}

fn shared_line(
    recording: &Recording,
    grid: &Grid<&Observations>,
    figures: &Figures,
    curves: &[Curve],
) -> Option<SharedLine> {
    let candidates = with_probe(recording, SyncProbe.declarations().name).filter_map(|position| {
        let configuration = &recording.configurations[position];
        let trials = grid.trials(position);
        let all = |test: &dyn Fn(&Observations) -> bool| trials.iter().all(|trial| test(trial));
        let shares = all(&|trial| SHARED_LINES.read(trial) == Some(1.0));
        let several = all(&|trial| CORES.read(trial).is_none_or(|cores| cores > 1.0));
        let loses = !all(&|trial| trial.response("lost_updates").is_none());
        let threads: u64 = configuration.get(THREADS.path())?;
        let reads: f64 = configuration.get(READS.path()).unwrap_or(0.0);
        if !shares || !several || loses || threads < 2 || reads > 0.0 {
            return None;
        }
        Some(SharedLine {
            configuration: position,
            label: configuration.label.clone(),
            primitive: configuration.get(PRIMITIVE.path())?,
            threads,
            throughput: response::estimate("throughput", &trials)?,
            most: None,
        })
    });
    let mut line = candidates.max_by(|a, b| a.throughput.mean.total_cmp(&b.throughput.mean))?;
    let tops = curves.iter().map(|curve| &curve.points[curve.peak]).enumerate();
    line.most = tops
        .max_by(|(_, a), (_, b)| a.throughput.mean.total_cmp(&b.throughput.mean))
        .and_then(|(curve, top)| {
            Some((curve, figures.compare(line.configuration, top.configuration)?))
        })
        .filter(|(_, comparison)| comparison.is_better() && comparison.supported());
    Some(line)
}

impl Curve {
    /// The curve of the configurations that have a trial done.
    fn from_group(
        group: ConfigurationGroup,
        recording: &Recording,
        grid: &Grid<&Observations>,
        figures: &Figures,
    ) -> Option<Self> {
        let environment = recording.environments.first();
        let point = |position: &usize| {
            let trials = grid.trials(*position);
            let threads = recording.configurations[*position].get(THREADS.path())?;
            Some(ScalingPoint {
                configuration: *position,
                threads,
                throughput: response::estimate("throughput", &trials)?,
                against_before: None,
                place: pinned(trials.first()?).or_else(|| fewest(threads, environment?)),
            })
        };
        let mut points: Vec<ScalingPoint> = group.configurations.iter().filter_map(point).collect();
        order::by_key(&mut points, &|point| point.threads);
        let steps: Vec<_> = points
            .windows(2)
            .map(|pair| figures.compare(pair[0].configuration, pair[1].configuration))
            .collect();
        for (point, step) in points.iter_mut().skip(1).zip(compare::corrected(steps)) {
            point.against_before = step;
        }
        // Reversed, so that of equal peaks the one with the fewest threads wins.
        let peak = (0..points.len()).rev().max_by(|a: &usize, b: &usize| {
            points[*a].throughput.mean.total_cmp(&points[*b].throughput.mean)
        })?;
        let (edges, scaled) = (edges(&points), scaled(&points, figures));
        Some(Self { group: group.label, points, peak, edges, scaled })
    }
}

fn pinned(trial: &Observations) -> Option<Placement> {
    let count = |fact: FactName| fact.read(trial).map(|count| count as u64);
    Some(Placement {
        pinned: true,
        processors: count(PROCESSORS)?,
        cores: count(CORES)?,
        sockets: count(SOCKETS)?,
        nodes: count(NODES)?,
    })
}

/// The fewest cores, sockets and nodes for this many threads, if all of them are alike.
fn fewest(threads: u64, environment: &Environment) -> Option<Placement> {
    let cpus = u64::from(environment.cpus).max(1);
    let used = threads.min(cpus);
    let filled = |parts: Option<u32>| {
        let parts = u64::from(parts?).clamp(1, cpus);
        Some(used.div_ceil(cpus / parts).min(parts))
    };
    Some(Placement {
        pinned: false,
        processors: used,
        cores: filled(environment.cores)?,
        sockets: filled(environment.sockets)?,
        nodes: filled(environment.numa_nodes).unwrap_or(1),
    })
}

impl EdgeKind {
    const ALL: [Self; 4] = [Self::Core, Self::Node, Self::Socket, Self::Processors];

    /// Returns whether a point is still inside.
    fn holds(self, point: &ScalingPoint, place: &Placement) -> bool {
        match self {
            Self::Core => place.cores <= 1,
            Self::Node => place.nodes <= 1,
            Self::Socket => place.sockets <= 1,
            Self::Processors => point.threads <= place.processors,
        }
    }
}

fn edges(points: &[ScalingPoint]) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (at, pair) in points.windows(2).enumerate() {
        let (Some(before), Some(after)) = (&pair[0].place, &pair[1].place) else { continue };
        // How many processors there are is known without pinning.
        edges.extend(
            EdgeKind::ALL
                .into_iter()
                .filter(|kind| kind.holds(&pair[0], before) && !kind.holds(&pair[1], after))
                .map(|kind| Edge {
                    kind,
                    at: at + 1,
                    pinned: after.pinned || kind == EdgeKind::Processors,
                }),
        );
    }
    edges
}

fn scaled(points: &[ScalingPoint], figures: &Figures) -> Option<Scaling> {
    let to = points
        .iter()
        .rposition(|point| point.place.is_none_or(|place| point.threads <= place.processors))
        .filter(|to| *to > 0)?;
    let (first, last) = (&points[0], &points[to]);
    let threads = last.threads as f64 / first.threads.max(1) as f64;
    let speedup = figures
        .compare(first.configuration, last.configuration)
        .filter(|speedup| threads > 1.0 && speedup.scale == Scale::Ratio)?;
    let class = |ratio| ScalingClass::classify(ratio, threads);
    Some(Scaling {
        to,
        efficiency: speedup.value / threads,
        efficiency_interval: speedup
            .interval
            .map(|interval| interval.map(|speedup| speedup / threads)),
        class: class(speedup.value),
        between: speedup.interval.map(|interval| (class(interval.low), class(interval.high))),
        speedup,
    })
}

//! Throughput by number of threads.

use super::ScalingClass;
use crate::grid::{Grid, Matched};
use crate::settings::groups;
use crate::{Comparison, Estimate, ResponseChoice, Scale, compare};
use observations::{Environment, Observations, Recording};
use serde::Serialize;

/// What is varied along a curve.
const THREADS: &str = "workload.threads";

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
    /// How it scales up to the most threads that each have a processor; `None` with fewer than two such points.
    pub scaled: Option<Scaled>,
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

/// Where threads are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// Whether they were pinned there. If not, this is the fewest that they fit on, a thread on each processor.
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

/// Where a curve leaves something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// What.
    pub kind: EdgeKind,
    /// Position in `points` of the first one beyond.
    pub at: usize,
    /// Whether this is known; if not, it is there at the latest.
    pub pinned: bool,
}

/// What a curve leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// One core.
    Core,
    /// One memory node.
    Node,
    /// One socket.
    Socket,
    /// A processor for each thread.
    Processors,
}

/// How a curve scales.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scaled {
    /// Position in `points` of the end; the beginning is the first point.
    pub to: usize,
    /// Throughput at the end relative to the beginning.
    pub speedup: Comparison,
    /// Speed-up relative to the number of threads.
    pub efficiency: f64,
    /// By the speed-up.
    pub class: ScalingClass,
    /// By both ends of its 95 % interval; `None` with a single block.
    pub between: Option<(ScalingClass, ScalingClass)>,
}

/// The curves of a recording, of those configurations that have a trial done.
pub fn curves(recording: &Recording, grid: &Grid) -> Vec<Curve> {
    let groups = groups(recording, "sync", &[THREADS]).into_iter();
    groups.filter_map(|group| Curve::of(group.label, &group.configurations, recording, grid)).collect()
}

impl Curve {
    fn of(group: String, positions: &[usize], recording: &Recording, grid: &Grid) -> Option<Self> {
        let environment = recording.environments.first();
        let point = |position: &usize| {
            let trials: Vec<&Observations> = grid.cells[*position].values().copied().collect();
            let threads = recording.configurations[*position].get(THREADS)?;
            Some(ScalingPoint {
                configuration: *position,
                threads,
                throughput: crate::response::estimate("throughput", &trials)?,
                against_before: None,
                place: pinned(trials.first()?).or_else(|| fewest(threads, environment?)),
            })
        };
        let mut points: Vec<ScalingPoint> = positions.iter().filter_map(point).collect();
        points.sort_by_key(|point| point.threads);
        let mut steps: Vec<Option<Comparison>> = std::iter::once(None)
            .chain(points.windows(2).map(|pair| compared(&pair[0], &pair[1], grid)))
            .collect();
        compare::correct(&mut steps);
        for (point, step) in points.iter_mut().zip(steps) {
            point.against_before = step;
        }
        let by_mean =
            |a: &usize, b: &usize| points[*a].throughput.mean.total_cmp(&points[*b].throughput.mean);
        // Of equals the one with the fewest threads, which is the last one here.
        let peak = (0..points.len()).rev().max_by(by_mean)?;
        let (edges, scaled) = (edges(&points), scaled(&points, grid));
        Some(Self { group, points, peak, edges, scaled })
    }
}

fn compared(from: &ScalingPoint, to: &ScalingPoint, grid: &Grid) -> Option<Comparison> {
    let (from, to) = (&grid.cells[from.configuration], &grid.cells[to.configuration]);
    let choice = from.values().find_map(|trial| ResponseChoice::named("throughput", trial))?;
    Comparison::of(&Matched::configurations(from, to, |trial| choice.value(trial).is_some()), &choice)
}

fn pinned(trial: &Observations) -> Option<Placement> {
    let count = |name| trial.fact(name).map(|count| count as u64);
    Some(Placement {
        pinned: true,
        processors: count("processors")?,
        cores: count("cores")?,
        sockets: count("sockets")?,
        nodes: count("nodes")?,
    })
}

/// The fewest that so many threads fit on, when cores, sockets and nodes are all alike.
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

    /// Whether a point is still inside.
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
        let left = |kind: &EdgeKind| kind.holds(&pair[0], before) && !kind.holds(&pair[1], after);
        // How many processors there are is known without pinning.
        let edge = |kind| Edge { kind, at: at + 1, pinned: after.pinned || kind == EdgeKind::Processors };
        edges.extend(EdgeKind::ALL.into_iter().filter(left).map(edge));
    }
    edges
}

fn scaled(points: &[ScalingPoint], grid: &Grid) -> Option<Scaled> {
    let served = |point: &ScalingPoint| point.place.is_none_or(|place| point.threads <= place.processors);
    let to = points.iter().rposition(served).filter(|to| *to > 0)?;
    let (first, last) = (&points[0], &points[to]);
    let threads = last.threads as f64 / first.threads.max(1) as f64;
    let speedup =
        compared(first, last, grid).filter(|speedup| threads > 1.0 && speedup.scale == Scale::Ratio)?;
    let class = |ratio| ScalingClass::of(ratio, threads);
    Some(Scaled {
        to,
        efficiency: speedup.value / threads,
        class: class(speedup.value),
        between: speedup.interval.map(|interval| (class(interval.low), class(interval.high))),
        speedup,
    })
}

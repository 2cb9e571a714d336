//! Why two configurations differ: seconds of CPU and of each class of wait for each unit of work.

mod code;
mod shape;

pub use code::CodeChange;
pub use shape::WaitShape;

use crate::compare::{paired, welch};
use crate::estimate::Moments;
use crate::grid::Matched;
use crate::{Accounting, Interval};
use observations::{Observations, Wait, WaitClass};
use serde::Serialize;
use std::collections::BTreeMap;

/// The difference between two configurations (or levels), part by part; the parts add up to the total.
///
/// All seconds are for each unit of work; multiply by 1,000 or 1,000,000 to print.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decomposition {
    /// Unit of work in the singular: `row`.
    pub unit: String,
    /// Units of work in a trial (mean of both).
    pub work: f64,
    /// Blocks that have both.
    pub blocks: usize,
    /// Session seconds: CPU, each class of resource wait, signal, client, unaccounted.
    pub session: Vec<Part>,
    /// The sum of `session`: session seconds for each unit of work.
    pub session_total: Part,
    /// The same parts of elapsed time: each divided by the connections of its configuration.
    pub elapsed: Vec<Part>,
    /// The sum of `elapsed`: elapsed seconds for each unit of work.
    pub elapsed_total: Part,
    /// Wait seconds (resource and signal) by wait type, largest change first, of elapsed time (divided by the
    /// connections of its configuration). They stand for the classes, signal and client of `elapsed`: see [`Self::by_type`].
    pub wait_types: Vec<Part>,
    /// Number and length of the waits of each type that is counted on both sides, by name.
    pub shapes: Vec<WaitShape>,
    /// Processor time by function; `None` where not all trials were profiled.
    pub code: Option<CodeChange>,
}

/// What a [`Part`] is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// On a processor.
    Cpu,
    /// Resource wait of a class.
    Resource(WaitClass),
    /// Runnable, waiting for a processor.
    Signal,
    /// Waiting for the client.
    Client,
    /// Not accounted for.
    Unaccounted,
    /// Resource and signal wait of one wait type.
    WaitType(String),
    /// Processor time in a function itself.
    Function {
        /// Its name.
        function: String,
        /// The program, library or part of the kernel that it is in.
        module: String,
    },
    /// Processor time in all other functions.
    OtherCode,
    /// The sum.
    Total,
}

/// One part: from `from_s` to `to_s`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// What it is of.
    pub kind: PartKind,
    /// Seconds for each unit of work in the first (the baseline).
    pub from_s: f64,
    /// Seconds for each unit of work in the second.
    pub to_s: f64,
    /// `to_s - from_s`: negative is a gain.
    pub change_s: f64,
    /// 95 % t interval of the change over blocks.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "no change" (paired t over blocks), not corrected.
    pub p_value: Option<f64>,
    /// Share of the total change that this part is; `None` when the total change is 0.
    pub share: Option<f64>,
}

/// Resource waits have these classes; the others are signal, client or left out.
const RESOURCE: [WaitClass; 7] = [
    WaitClass::DataRead,
    WaitClass::DataWrite,
    WaitClass::Log,
    WaitClass::Lock,
    WaitClass::Latch,
    WaitClass::Checkpoint,
    WaitClass::Other,
];
/// CPU, the classes, signal, client, unaccounted.
const PARTS: usize = RESOURCE.len() + 4;
/// Seconds for each unit of work below this are rounding.
const RESOLUTION_S: f64 = 1e-15;

impl Decomposition {
    /// Why `to` differs from `from`; `None` when one of them has no trial. All trials must be [`Self::usable`].
    pub(crate) fn of(matched: &Matched) -> Option<Self> {
        let first = matched.from.first()?.first()?;
        matched.to.first()?;
        let mut session = parts(matched, |o| (o.time.session_s, 1.0));
        let mut elapsed = parts(matched, |o| (o.elapsed_s, f64::from(o.connections)));
        let session_total = total(matched, &session, |o| o.time.session_s);
        let elapsed_total = total(matched, &elapsed, |o| o.elapsed_s);
        let mut wait_types = wait_types(matched);
        share(&mut session, &session_total);
        share(&mut elapsed, &elapsed_total);
        share(&mut wait_types, &elapsed_total);
        let trials = || matched.from.iter().chain(&matched.to).flatten();
        let work = trials().map(|o| o.work.amount as f64).sum::<f64>() / trials().count() as f64;
        Some(Self {
            unit: first.work.unit.clone(),
            work,
            blocks: matched.from.len().min(matched.to.len()),
            session,
            session_total,
            elapsed,
            elapsed_total,
            wait_types,
            shapes: shape::shapes(matched, work),
            code: CodeChange::of(matched),
        })
    }

    /// Elapsed time by wait type instead of by class: CPU, each wait type (largest change first), unaccounted.
    /// These too add up to `elapsed_total`.
    pub fn by_type(&self) -> impl Iterator<Item = &Part> {
        let of = |kind: PartKind| self.elapsed.iter().filter(move |part| part.kind == kind);
        of(PartKind::Cpu).chain(&self.wait_types).chain(of(PartKind::Unaccounted))
    }

    /// Number and length of the waits of a type, where they are counted.
    pub fn shape(&self, wait_type: &str) -> Option<&WaitShape> {
        self.shapes.iter().find(|shape| shape.wait_type == wait_type)
    }

    /// Whether a trial can take part: it did some work.
    pub(crate) fn usable(observations: &Observations) -> bool {
        observations.work.amount > 0 && observations.connections > 0
    }
}

/// All parts; classes of resource wait without time are left out.
///
/// `whole` gives what a trial's parts must add up to and by what they are divided.
fn parts(matched: &Matched, whole: impl Fn(&Observations) -> (f64, f64)) -> Vec<Part> {
    let rows = |side: &[Vec<&Observations>]| -> Vec<[f64; PARTS]> {
        side.iter().map(|block| mean(block, |o| trial_parts(o, whole(o)))).collect()
    };
    let (from, to) = (rows(&matched.from), rows(&matched.to));
    let column = |side: &[[f64; PARTS]], i: usize| side.iter().map(|row| row[i]).collect::<Vec<_>>();
    let present =
        |part: &Part| !matches!(part.kind, PartKind::Resource(_)) || part.from_s != 0.0 || part.to_s != 0.0;
    kinds()
        .enumerate()
        .map(|(i, kind)| part(matched, kind, &column(&from, i), &column(&to, i)))
        .filter(present)
        .collect()
}

fn kinds() -> impl Iterator<Item = PartKind> {
    let classes = RESOURCE.into_iter().map(PartKind::Resource);
    let rest = [PartKind::Signal, PartKind::Client, PartKind::Unaccounted];
    std::iter::once(PartKind::Cpu).chain(classes).chain(rest)
}

/// The parts of one trial for each unit of work, in the order of [`kinds`]. The last one closes the
/// sum, so that the parts add up to the whole.
fn trial_parts(observations: &Observations, (whole, divisor): (f64, f64)) -> [f64; PARTS] {
    let accounting = Accounting::of(observations);
    let mut parts = [0.0; PARTS];
    parts[0] = accounting.cpu_s;
    for (part, class) in parts[1..].iter_mut().zip(RESOURCE) {
        *part = accounting.resource(class);
    }
    parts[PARTS - 3] = accounting.signal_s;
    parts[PARTS - 2] = accounting.client_s;
    let work = observations.work.amount as f64;
    for part in &mut parts {
        *part /= divisor * work;
    }
    parts[PARTS - 1] = whole / work - parts.iter().sum::<f64>();
    parts
}

/// The sum of the parts, with the interval of the whole.
fn total(matched: &Matched, parts: &[Part], whole: impl Fn(&Observations) -> f64) -> Part {
    let blocks = |side: &[Vec<&Observations>]| -> Vec<f64> {
        side.iter().map(|block| mean(block, |o| [whole(o) / o.work.amount as f64])[0]).collect()
    };
    let from_s = parts.iter().map(|part| part.from_s).sum();
    let to_s = parts.iter().map(|part| part.to_s).sum();
    let own = part(matched, PartKind::Total, &blocks(&matched.from), &blocks(&matched.to));
    Part { from_s, to_s, change_s: parts.iter().map(|part| part.change_s).sum(), ..own }
}

/// Waits by type, largest change first; a block in which a type does not occur has 0 of it.
fn wait_types(matched: &Matched) -> Vec<Part> {
    let mut types: BTreeMap<&str, [Vec<f64>; 2]> = BTreeMap::new();
    for (side, blocks) in [&matched.from, &matched.to].into_iter().enumerate() {
        for (i, block) in blocks.iter().enumerate() {
            for observations in block {
                let sessions = f64::from(observations.connections) * block.len() as f64;
                let units = observations.work.amount as f64 * sessions;
                for wait in observations.waits.iter().filter(|wait| is_sessions(wait)) {
                    let sides = types
                        .entry(&wait.wait_type)
                        .or_insert_with(|| [vec![0.0; matched.from.len()], vec![0.0; matched.to.len()]]);
                    sides[side][i] += wait.wait_s() / units;
                }
            }
        }
    }
    let of = |(name, [from, to]): (&str, [Vec<f64>; 2])| {
        part(matched, PartKind::WaitType(name.to_owned()), &from, &to)
    };
    let mut parts: Vec<Part> = types.into_iter().map(of).collect();
    parts.sort_by(|left, right| right.change_s.abs().total_cmp(&left.change_s.abs()));
    parts
}

fn is_sessions(wait: &Wait) -> bool {
    wait.wait_s().is_finite() && wait.class != WaitClass::Idle
}

/// One part, from a value for each block of each side.
fn part(matched: &Matched, kind: PartKind, from: &[f64], to: &[f64]) -> Part {
    let test = if matched.paired { paired(from, to, RESOLUTION_S) } else { welch(from, to, RESOLUTION_S) };
    let (from_s, to_s) = (Moments::of(from).mean, Moments::of(to).mean);
    Part {
        kind,
        from_s,
        to_s,
        change_s: to_s - from_s,
        interval: test.interval,
        p_value: test.p_value,
        share: None,
    }
}

fn share(parts: &mut [Part], total: &Part) {
    let known = total.change_s.abs() > RESOLUTION_S;
    for part in parts {
        part.share = known.then(|| part.change_s / total.change_s);
    }
}

/// Mean over the trials of a block.
fn mean<const N: usize>(block: &[&Observations], of: impl Fn(&Observations) -> [f64; N]) -> [f64; N] {
    let mut sum = [0.0; N];
    for observations in block {
        for (sum, value) in sum.iter_mut().zip(of(observations)) {
            *sum += value / block.len() as f64;
        }
    }
    sum
}

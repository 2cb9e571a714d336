//! Why two configurations differ: seconds of CPU and of each class of wait for each unit of work.

mod code;
mod shape;

pub use code::CodeChange;
pub use shape::WaitShape;

use crate::compare::{Sample, Test};
use crate::estimate::mean;
use crate::grid::Matched;
use crate::{Accounting, Interval};
use observations::{Observations, Wait, WaitClass};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeSet;

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

/// Seconds for each unit of work below this are rounding.
const RESOLUTION_S: f64 = 1e-15;

impl Decomposition {
    /// Why `to` differs from `from`; `None` when one of them has no trial. All trials must be [`Self::usable`].
    pub(crate) fn of(matched: &Matched) -> Option<Self> {
        let unit = matched.from.first()?.first()?.work.unit.clone();
        matched.to.first()?;
        let (session, session_total) = parts(matched, &|o| (o.time.session_s, 1.0));
        let (elapsed, elapsed_total) = parts(matched, &|o| {
            let connections = f64::from(o.connections);
            (o.elapsed_s * connections, connections)
        });
        let amounts = matched.from.iter().chain(&matched.to).flatten().map(|o| o.work.amount as f64);
        let work = mean(&amounts.collect::<Vec<f64>>());
        Some(Self {
            unit,
            work,
            blocks: matched.from.len().min(matched.to.len()),
            session,
            session_total,
            elapsed,
            wait_types: wait_types(matched, &elapsed_total),
            elapsed_total,
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

/// All parts and their sum; classes of resource wait without time are left out.
///
/// `whole` gives the seconds that a trial's parts must add up to and by what they are divided.
fn parts(matched: &Matched, whole: &dyn Fn(&Observations) -> (f64, f64)) -> (Vec<Part>, Part) {
    let of = |kind: PartKind| {
        let seconds = |observations: &Observations| {
            let (whole_s, divisor) = whole(observations);
            let accounting = Accounting::of(observations);
            let seconds = match kind {
                PartKind::Cpu => accounting.cpu_s,
                PartKind::Resource(class) => accounting.resource(class),
                PartKind::Signal => accounting.signal_s,
                PartKind::Client => accounting.client_s,
                PartKind::Total => whole_s,
                _ => whole_s - accounting.accounted_s(),
            };
            seconds / divisor / observations.work.amount as f64
        };
        mean_part(matched, kind.clone(), &seconds)
    };
    let resource = WaitClass::ALL.into_iter().map(|class| of(PartKind::Resource(class)));
    let mut parts = vec![of(PartKind::Cpu)];
    parts.extend(resource.filter(|part| part.from_s != 0.0 || part.to_s != 0.0));
    parts.extend([PartKind::Signal, PartKind::Client, PartKind::Unaccounted].map(of));
    let total = of(PartKind::Total);
    share(&mut parts, &total);
    (parts, total)
}

/// Waits by type, largest change first; a block in which a type does not occur has 0 of it.
fn wait_types(matched: &Matched, total: &Part) -> Vec<Part> {
    let sessions = |wait: &&Wait| wait.wait_s().is_finite() && wait.class != WaitClass::Idle;
    let waits = matched.from.iter().chain(&matched.to).flatten().flat_map(|trial| &trial.waits);
    let names: BTreeSet<&str> = waits.filter(sessions).map(|wait| wait.wait_type.as_str()).collect();
    let of = |name: &str| {
        let seconds = |trial: &Observations| {
            let own = trial.waits.iter().filter(sessions).filter(|wait| wait.wait_type == name);
            let units = trial.work.amount as f64 * f64::from(trial.connections);
            own.map(Wait::wait_s).sum::<f64>() / units
        };
        mean_part(matched, PartKind::WaitType(name.to_owned()), &seconds)
    };
    let mut parts: Vec<Part> = names.into_iter().map(of).collect();
    parts.sort_by(largest_first);
    share(&mut parts, total);
    parts
}

fn largest_first(left: &Part, right: &Part) -> Ordering {
    right.change_s.abs().total_cmp(&left.change_s.abs())
}

/// One part, from the mean over the trials of each block.
fn mean_part(matched: &Matched, kind: PartKind, seconds: &dyn Fn(&Observations) -> f64) -> Part {
    let blocks = |side: &[Vec<&Observations>]| -> Vec<f64> {
        side.iter().map(|block| mean(&block.iter().map(|trial| seconds(trial)).collect::<Vec<_>>())).collect()
    };
    part(matched, kind, &blocks(&matched.from), &blocks(&matched.to))
}

/// One part, from a value for each block of each side.
fn part(matched: &Matched, kind: PartKind, from: &[f64], to: &[f64]) -> Part {
    let Test { interval, p_value, .. } = {
        let [from, to] = [(from, matched.first[0]), (to, matched.first[1])]
            .map(|(values, first)| Sample::new(values.to_vec(), first));
        Test::of(matched.paired, &from, &to, RESOLUTION_S)
    };
    let (from_s, to_s) = (mean(from), mean(to));
    Part { kind, from_s, to_s, change_s: to_s - from_s, interval, p_value, share: None }
}

fn share(parts: &mut [Part], total: &Part) {
    let known = total.change_s.abs() > RESOLUTION_S;
    for part in parts {
        part.share = known.then(|| part.change_s / total.change_s);
    }
}

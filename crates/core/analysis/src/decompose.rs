//! Why two configurations differ: sessions, and seconds of CPU and of each wait for each unit of
//! work.
//!
//! Little's law ties both to throughput: sessions = throughput x session time of a unit of work,
//! where session time is sessions x elapsed. Two sides with as many sessions differ by their unit
//! of work alone; with more sessions a dearer unit of work can still be a gain. Source: J. D. C.
//! Little, Operations Research 9 (1961).

mod code;
mod judge;
mod part;
mod shape;

pub use code::{CodeChange, short_module};
pub use part::{Part, PartKind};
pub use shape::WaitShape;

use crate::Accounting;
use crate::estimate::mean;
use crate::grid::Matched;
pub(crate) use judge::SHARE_MIN;
use judge::{Seconds, judged};
use observations::{Observations, Wait, WaitClass, order};
use serde::Serialize;
use std::collections::BTreeSet;

/// The difference between two configurations (or levels), part by part; the parts add up to the
/// total.
///
/// All seconds are session time for each unit of work; multiply by 1,000 or 1,000,000 to print.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decomposition {
    /// Unit of work in the singular: `row`.
    pub unit: String,
    /// Units of work in a trial (mean of both).
    pub work: f64,
    /// Blocks that have both.
    pub blocks: usize,
    /// Sessions of each side (mean of a trial). Throughput is this divided by [`Self::total`].
    pub sessions: [f64; 2],
    /// CPU, each wait type (resource and signal wait; largest change first), each wait type for
    /// the client, unaccounted.
    pub by_type: Vec<Part>,
    /// CPU, each class of resource wait, signal, client, unaccounted.
    pub by_class: Vec<Part>,
    /// The sum of `by_type` and of `by_class`: sessions x elapsed for each unit of work.
    pub total: Part,
    /// Number and length of the waits of each type that is counted on both sides, by name.
    pub shapes: Vec<WaitShape>,
    /// Processor time by function; `None` where not all trials were profiled.
    pub code: Option<CodeChange>,
}

impl Decomposition {
    /// Why `to` differs from `from`; `None` when one of them has no trial. All trials must be
    /// [`Self::usable`].
    pub fn from_trials(matched: &Matched<&Observations>) -> Option<Self> {
        let unit = matched.from.first()?.first()?.work.unit.clone();
        matched.to.first()?;
        let all = |of: fn(&Observations) -> f64, sides: &[&[Vec<&Observations>]]| -> f64 {
            mean(sides.iter().copied().flatten().flatten().map(|side| of(side)).collect::<Vec<_>>())
        };
        let work =
            all(|observations| observations.work.amount as f64, &[&matched.from, &matched.to]);
        let sessions = |side: &Vec<_>| all(|side| f64::from(side.connections), &[side]);
        let total = Seconds::from_trials(matched, PartKind::Total, |observations| {
            observations.time.session_s
        });
        let classes = by_class(matched);
        Some(Self {
            unit,
            work,
            blocks: matched.from.len().min(matched.to.len()),
            sessions: [sessions(&matched.from), sessions(&matched.to)],
            by_type: judged(by_type(matched, &classes), &total),
            by_class: judged(classes, &total),
            total: total.part(),
            shapes: shape::shapes(matched, work),
            code: CodeChange::from_trials(matched),
        })
    }

    /// Returns the throughput of the second side as a multiple of that of the first: by Little's
    /// law.
    pub fn throughput_ratio(&self) -> f64 {
        let [from, to] = self.sessions;
        (to / from) / (self.total.to_s / self.total.from_s)
    }

    /// Number and length of the waits of a type, where they are counted.
    pub fn shape(&self, wait_type: &str) -> Option<&WaitShape> {
        self.shapes.iter().find(|shape| shape.wait_type == wait_type)
    }

    /// Returns whether a trial did any work in a known time, and can take part.
    pub fn usable(observations: &Observations) -> bool {
        let is_timed = observations.time.session_s > 0.0;
        observations.work.amount > 0 && observations.connections > 0 && is_timed
    }
}

/// Session time by class of wait; classes of resource wait without time are left out.
fn by_class(matched: &Matched<&Observations>) -> Vec<Seconds> {
    let accounts = |side: &[Vec<&Observations>]| -> Vec<Vec<(f64, Accounting)>> {
        side.iter()
            .map(|block| {
                block
                    .iter()
                    .map(|block| (block.work.amount as f64, Accounting::for_trial(block)))
                    .collect()
            })
            .collect()
    };
    let sides = [accounts(&matched.from), accounts(&matched.to)];
    let of = |kind: PartKind, seconds: &dyn Fn(&Accounting) -> f64| {
        let [from, to] = [0, 1].map(|side: usize| {
            sides[side]
                .iter()
                .map(|block| mean(block.iter().map(|(work, value)| seconds(value) / work)))
                .collect()
        });
        Seconds::new(matched, kind, from, to)
    };
    let resource = WaitClass::ALL
        .into_iter()
        .map(|class| of(PartKind::Resource(class), &|accounting| accounting.resource(class)));
    let mut parts = vec![of(PartKind::Cpu, &|accounting| accounting.cpu_s)];
    parts.extend(resource.filter(|part| !part.is_nothing()));
    parts.extend([
        of(PartKind::Signal, &|accounting| accounting.signal_s),
        of(PartKind::Client, &|accounting| accounting.client_s),
        of(PartKind::Unaccounted, &|accounting| accounting.unaccounted_s),
    ]);
    parts
}

/// Parts by wait type, largest change first, client waits last; a block without a type counts 0.
fn by_type(matched: &Matched<&Observations>, classes: &[Seconds]) -> Vec<Seconds> {
    let is_part = |wait: &&Wait| wait.wait_s().is_finite() && wait.class != WaitClass::Idle;
    let waits = matched.from.iter().chain(&matched.to).flatten().flat_map(|trial| &trial.waits);
    let types: BTreeSet<(bool, &str)> = waits
        .filter(is_part)
        .map(|wait| (wait.class == WaitClass::Client, wait.wait_type.as_str()))
        .collect();
    let mut waits: Vec<Seconds> = types
        .into_iter()
        .map(|(is_client, name)| {
            let kind = if is_client { PartKind::ClientWait } else { PartKind::WaitType };
            Seconds::from_trials(matched, kind(name.to_owned()), |observations| {
                observations
                    .waits
                    .iter()
                    .filter(is_part)
                    .filter(|wait| {
                        wait.wait_type == name && (wait.class == WaitClass::Client) == is_client
                    })
                    .map(Wait::wait_s)
                    .sum()
            })
        })
        .collect();
    order::sort(&mut waits, &|a, b| {
        a.kind.is_client().cmp(&b.kind.is_client()).then_with(|| a.largest_first(b))
    });
    let class = |kind: PartKind| classes.iter().filter(move |part| part.kind == kind).cloned();
    class(PartKind::Cpu).chain(waits).chain(class(PartKind::Unaccounted)).collect()
}

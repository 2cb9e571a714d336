//! The code that took more or less processor time, from the profiles of trials.

use super::judge::{Seconds, judged};
use super::{Part, PartKind};
use crate::estimate::mean;
use crate::grid::Matched;
use observations::{Observations, Profile, range};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Functions with less than this share of the samples on both sides are added up: their differences
/// are rarely significant, and each additional test weakens the others.
const SMALL: f64 = 0.01;

/// Processor seconds for each unit of work by function, of trials that were profiled; parts add up
/// to the total.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CodeChange {
    /// Functions, largest change first; then all others as one.
    pub parts: Vec<Part>,
    /// All code.
    pub total: Part,
    /// Samples on each side.
    pub samples: [u64; 2],
}

/// Function and module.
type Key = (String, String);

/// Seconds by function.
type ByFunction = HashMap<Key, f64>;

impl CodeChange {
    /// `None` where a side has trials without a profile.
    pub(super) fn from_trials(matched: &Matched<&Observations>) -> Option<Self> {
        let [from, to] = [blocks(&matched.from)?, blocks(&matched.to)?];
        let samples = [samples(&matched.from), samples(&matched.to)];
        let of_sample = |side: &[ByFunction], samples: u64| {
            let all: Vec<f64> = side.iter().map(|block| block.values().sum()).collect();
            mean(&all) / samples.max(1) as f64
        };
        let each_s = [of_sample(&from, samples[0]), of_sample(&to, samples[1])];
        let measured = |kind: PartKind, seconds: &dyn Fn(&ByFunction) -> f64| {
            let of_side = |side: &[ByFunction]| side.iter().map(seconds).collect();
            Seconds::new(matched, kind, of_side(&from), of_side(&to)).sampled(each_s)
        };
        let large: BTreeSet<&Key> = [&from, &to].into_iter().flat_map(|side| large(side)).collect();
        let function = |key: &Key| {
            let (function, module) = key.clone();
            let kind = PartKind::Function { function, module };
            measured(kind, &|block| block.get(key).copied().unwrap_or(0.0))
        };
        let mut parts: Vec<Seconds> = large.iter().map(|key| function(key)).collect();
        parts.sort_by(Seconds::largest_first);
        parts.push(measured(PartKind::OtherCode, &|block| {
            block.iter().filter(|(key, _)| !large.contains(key)).map(|(_, seconds)| seconds).sum()
        }));
        let total = measured(PartKind::Total, &|block| block.values().sum());
        let (parts, total) = (judged(parts, &total), total.part());
        Some(Self { parts, total, samples })
    }
}

/// Functions that are more than a small share of a side.
fn large(side: &[ByFunction]) -> Vec<&Key> {
    let all: f64 = side.iter().flat_map(HashMap::values).sum();
    let mut each: HashMap<&Key, f64> = HashMap::new();
    for (key, seconds) in side.iter().flatten() {
        *each.entry(key).or_insert(0.0) += seconds;
    }
    each.into_iter().filter(|(_, seconds)| *seconds >= SMALL * all).map(|(key, _)| key).collect()
}

/// Seconds for each unit of work by function, of each block the mean over its trials.
fn blocks(side: &[Vec<&Observations>]) -> Option<Vec<ByFunction>> {
    side.iter()
        .map(|block| {
            let mut sums = ByFunction::new();
            for observations in block {
                let profile = observations.profile.as_ref()?;
                let units = profile.hz * observations.work.amount as f64 * block.len() as f64;
                for (key, samples) in self_samples(profile) {
                    *sums.entry(key).or_insert(0.0) += samples as f64 / units;
                }
            }
            Some(sums)
        })
        .collect()
}

/// Samples in functions themselves. A module goes by the last part of its path: versions lie in
/// different folders.
fn self_samples(profile: &Profile) -> impl Iterator<Item = (Key, u64)> {
    let found = profile
        .frames
        .iter()
        .zip(profile.self_and_total())
        .filter(|(_, (self_count, _))| *self_count > 0);
    found.map(|(frame, (self_count, _))| {
        ((frame.function.clone(), short_module(profile.module_of(frame)).to_owned()), self_count)
    })
}

/// The last part of a module's path: versions of a program may lie in different folders.
pub fn short_module(module: &str) -> &str {
    module.rsplit('/').next().unwrap_or_default()
}

fn samples(side: &[Vec<&Observations>]) -> u64 {
    let profiles = side.iter().flatten().filter_map(|observations| observations.profile.as_ref());
    range::total(profiles.map(Profile::samples))
}

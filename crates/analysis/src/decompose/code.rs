//! Which code took more or less processor time, from the profiles of trials.

use super::{Part, PartKind, part, share};
use crate::grid::Matched;
use crate::profile;
use observations::{Observations, Profile};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Functions with less than this share of the samples on both sides are added up: hardly ever would a difference of
/// theirs be supported, and each would weaken what can be said of the others.
const SMALL: f64 = 0.01;

/// Processor seconds for each unit of work by function, of trials that were profiled; parts add up to the total.
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

impl CodeChange {
    /// `None` where a side has trials without a profile.
    pub(super) fn of(matched: &Matched) -> Option<Self> {
        let sides = [blocks(&matched.from)?, blocks(&matched.to)?];
        let samples = [samples(&matched.from), samples(&matched.to)];
        let mut large: BTreeMap<&Key, f64> = BTreeMap::new();
        for side in &sides {
            let all: f64 = side.iter().flat_map(HashMap::values).sum();
            let mut each: HashMap<&Key, f64> = HashMap::new();
            for (key, seconds) in side.iter().flatten() {
                *each.entry(key).or_insert(0.0) += seconds;
            }
            large.extend(each.into_iter().filter(|(_, seconds)| *seconds >= SMALL * all));
        }
        let of_key =
            |key: &Key| sides.each_ref().map(|side| side.iter().map(|block| at(block, key)).collect());
        let rest = sides.each_ref().map(|side| {
            let of_block = |block: &HashMap<Key, f64>| {
                block.iter().filter(|(key, _)| !large.contains_key(key)).map(|(_, seconds)| seconds).sum()
            };
            side.iter().map(of_block).collect::<Vec<f64>>()
        });
        let all =
            sides.each_ref().map(|side| side.iter().map(|block| block.values().sum()).collect::<Vec<f64>>());
        let function = |key: &Key| {
            let [from, to]: [Vec<f64>; 2] = of_key(key);
            let (function, module) = key.clone();
            part(matched, PartKind::Function { function, module }, &from, &to)
        };
        let mut parts: Vec<Part> = large.keys().map(|key| function(key)).collect();
        parts.sort_by(|left, right| right.change_s.abs().total_cmp(&left.change_s.abs()));
        parts.push(part(matched, PartKind::OtherCode, &rest[0], &rest[1]));
        let total = part(matched, PartKind::Total, &all[0], &all[1]);
        share(&mut parts, &total);
        Some(Self { parts, total, samples })
    }
}

fn at(block: &HashMap<Key, f64>, key: &Key) -> f64 {
    block.get(key).copied().unwrap_or(0.0)
}

/// Seconds for each unit of work by function, of each block the mean over its trials.
fn blocks(side: &[Vec<&Observations>]) -> Option<Vec<HashMap<Key, f64>>> {
    let of_block = |block: &Vec<&Observations>| {
        let mut sums = HashMap::new();
        for observations in block {
            let profile = observations.profile.as_ref()?;
            let units = profile.hz * observations.work.amount as f64 * block.len() as f64;
            for (key, samples) in own(profile) {
                *sums.entry(key).or_insert(0.0) += samples as f64 / units;
            }
        }
        Some(sums)
    };
    side.iter().map(of_block).collect()
}

/// Samples in functions themselves. A module goes by the last part of its path: versions lie in different folders.
fn own(profile: &Profile) -> impl Iterator<Item = (Key, u64)> {
    let found = profile.frames.iter().zip(profile.self_and_total()).filter(|(_, (own, _))| *own > 0);
    found.map(|(frame, (own, _))| {
        ((frame.function.clone(), profile::short_module(profile.module_of(frame)).to_owned()), own)
    })
}

fn samples(side: &[Vec<&Observations>]) -> u64 {
    let profiles = side.iter().flatten().filter_map(|observations| observations.profile.as_ref());
    profiles.map(Profile::samples).sum()
}

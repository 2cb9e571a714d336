//! What an inventory says: what each setting is for, what should be looked at, and what differs between
//! machines.

mod known;
mod merge;
mod rules;

pub use known::{Known, known};
pub use merge::{
    Difference, Held, MachineRow, Merged, OddOne, Parallelism, ParallelismGroup, ServerRow, anonymous, merge,
};

use crate::volume_advice::volume_advice;
use observations::{Advice, Survey};

/// Everything that should be looked at, problems first: of the machine, of its servers as their engines advise, of
/// its volumes. A rule of the machine gives way to an engine's rule of the same name.
pub fn advice(survey: &Survey, of_servers: Vec<Advice>) -> Vec<Advice> {
    let rules = rules::RULES.iter().filter(|rule| of_servers.iter().all(|advice| advice.rule != rule.name));
    let mut all: Vec<Advice> = rules.filter_map(|rule| Some(rule.advice((rule.find)(survey)?))).collect();
    all.extend(of_servers);
    for volume in &survey.volumes {
        for found in volume_advice(volume) {
            // Volumes share disks: what is said of one is said once.
            if !all.contains(&found) {
                all.push(found);
            }
        }
    }
    all.sort_by_key(|advice| advice.weight);
    all
}

#[cfg(test)]
mod tests;

//! What an inventory says: what each setting is for, what should be looked at, and what differs between
//! machines.

mod anonymous;
mod known;
mod merge;
mod parallelism;
mod rules;
mod server_rules;

pub use anonymous::anonymous;
pub use known::{Known, known};
pub use merge::{Difference, Held, MachineRow, Merged, OddOne, ServerRow, merge};
pub use parallelism::{Parallelism, ParallelismGroup};

use crate::volume_advice::{Advice, Weight, volume_advice};
use observations::{Survey, SurveyedServer};

/// What a rule has found.
struct Finding {
    subject: String,
    fact: String,
    action: String,
}

/// One rule: `F` finds what it looks for.
struct Rule<F> {
    name: &'static str,
    weight: Weight,
    find: F,
    reason: &'static str,
}

impl<F> Rule<F> {
    fn advice(&self, Finding { subject, fact, action }: Finding) -> Advice {
        Advice { rule: self.name, weight: self.weight, subject, fact, reason: self.reason, action }
    }
}

/// A server, and the machine if it runs on it.
struct OnMachine<'a> {
    server: &'a SurveyedServer,
    survey: &'a Survey,
}

impl OnMachine<'_> {
    /// Memory of the machine, if the server runs on it.
    fn memory_bytes(&self) -> Option<u64> {
        self.survey.machine.memory.total_bytes.filter(|bytes| self.server.is_local && *bytes > 0)
    }
}

/// Everything that the rules find, problems first: of the machine, of its servers, of its volumes.
pub fn advice(survey: &Survey) -> Vec<Advice> {
    let mut all = Vec::new();
    all.extend(rules::RULES.iter().filter_map(|rule| Some(rule.advice((rule.find)(survey)?))));
    for server in &survey.servers {
        let place = OnMachine { server, survey };
        all.extend(server_rules::RULES.iter().filter_map(|rule| Some(rule.advice((rule.find)(&place)?))));
    }
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

//! Shared parts of the rules for running servers; each engine has its own list.

use observations::number::{bytes, short_percent};
use observations::{Advice, Survey, SurveyedServer, Weight};

/// From this memory on the share of it that a server takes is worth a word.
const MEMORY_BYTES_MIN: u64 = 1 << 30;

/// A rule: weight, name, what to do, why (with the source), and what finds the fact, if it is one.
pub type Rule =
    (Weight, &'static str, &'static str, &'static str, fn(&OnMachine<'_>) -> Option<String>);

/// Returns the rules' advice on a server.
pub fn advice(rules: &[Rule], server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
    let place = OnMachine { server, survey };
    rules
        .iter()
        .filter_map(|&(weight, rule, action, reason, find)| {
            let subject = format!("{} at {}", server.version, server.address);
            Some(Advice {
                rule,
                weight,
                subject,
                fact: find(&place)?,
                reason,
                action: action.into(),
            })
        })
        .collect()
}

/// A server, and the machine that asks it.
pub struct OnMachine<'a> {
    /// The server.
    pub server: &'a SurveyedServer,
    /// The survey, with the machine.
    pub survey: &'a Survey,
}

impl OnMachine<'_> {
    /// Memory of the machine, if the server runs on it.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.survey.machine.memory.total_bytes.filter(|bytes| self.server.is_local && *bytes > 0)
    }

    /// The setting with its value, if that is one of these.
    pub fn has(&self, name: &str, values: &[&str]) -> Option<String> {
        let value = self.server.setting(name)?.value.as_deref()?;
        values.contains(&value).then(|| format!("has {name} = {value}"))
    }

    /// Returns whether the server runs on this machine and the machine has non-rotating drives.
    pub fn has_ssd(&self) -> bool {
        let mut devices = self.survey.volumes.iter().flat_map(|volume| &volume.devices);
        self.server.is_local && devices.any(|device| device.rotational == Some(false))
    }

    /// The size that a setting gives and its share of the machine's memory, if that is so.
    pub fn share_of_memory(
        &self,
        name: &str,
        is_worth_a_look: impl Fn(f64) -> bool,
    ) -> Option<String> {
        let memory = self.memory_bytes().filter(|bytes| *bytes >= MEMORY_BYTES_MIN)?;
        let size = self.server.bytes(name)?;
        let share = size as f64 / memory as f64;
        is_worth_a_look(share).then(|| {
            format!("has {name} = {}, {} of the memory", bytes(size), short_percent(share))
        })
    }
}

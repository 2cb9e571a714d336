//! Machines that share the blocks of a plan: whether they differ, and whether the effect of a
//! factor depends on the machine.
//!
//! A recording is laid out again with the machine as its last factor. The n-th block of each
//! machine is block n there: machines work in parallel, so that these blocks ran at about the same
//! time. What is known of factors, intervals and interactions then holds for machines too.

use analysis::{Factors, Summary, summarize, wording};
use observations::{
    ConfigurationRecord, Event, FactorRecord, LevelRecord, Recording, TrialRecord, TrialStatus,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Name of the factor.
const MACHINE: &str = "machine";

/// The machines of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineEffects {
    /// Their names, in order.
    pub machines: Vec<String>,
    /// The check between them: one configuration on all of them. The machine is the only factor.
    pub check: Option<Factors>,
    /// The plan: the machine is the last factor, and only its effect and its interactions are
    /// tested.
    pub plan: Option<Factors>,
}

/// A sentence on the check between machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// True if a machine differs significantly from the first one.
    pub differs: bool,
    /// The sentence, with the interval.
    pub text: String,
}

impl From<Verdict> for Event {
    fn from(Verdict { differs, text }: Verdict) -> Self {
        if differs { Self::Warning { text } } else { Self::Step { text } }
    }
}

/// The machines of a run; `None` where fewer than two shared it.
pub fn machine_effects(recording: &Recording) -> Option<MachineEffects> {
    let (check, plan) = (checked(recording), by_machine(recording));
    let machines = &check.as_ref().or(plan.as_ref())?.factors.last()?.levels;
    Some(MachineEffects {
        machines: machines.clone(),
        check: check.as_ref().map(|check| tests_of_machine(&summarize(check))),
        plan: plan.as_ref().map(|plan| tests_of_machine(&summarize(plan))),
    })
}

fn tests_of_machine(summary: &Summary<'_>) -> Factors {
    summary.tests_of_factor(summary.layouts.len() - 1)
}

/// Returns a sentence for each machine but the first one, by the check between machines.
pub fn verdict(recording: &Recording) -> Vec<Verdict> {
    let Some(check) = checked(recording) else { return Vec::new() };
    let summary = summarize(&check);
    let factors = tests_of_machine(&summary);
    let Some(effect) = factors.effects.last() else { return Vec::new() };
    let reference = &effect.levels[effect.reference].level;
    let response = summary.response.as_ref();
    let name = response.map_or("", |response| response.name.as_str());
    let compared =
        effect.levels.iter().filter_map(|level| Some((level, level.comparison.as_ref()?)));
    let sentences = compared.map(|(level, comparison)| {
        let change = wording::change(comparison, response);
        let (differs, machine) = (comparison.supported(), &level.level);
        let end = if differs { "" } else { ": no significant difference" };
        let preposition = match wording::preposition(&change) {
            "than" => "than on",
            other => other,
        };
        Verdict {
            differs,
            text: format!(
                "check of machines: {name} on {machine} is {change} {preposition} \
                 {reference}{end}"
            ),
        }
    });
    sentences.collect()
}

/// Returns the check between machines as a recording of which the machine is the only factor;
/// `None` where fewer than two were checked.
pub fn checked(recording: &Recording) -> Option<Recording> {
    let done = recording.checks.iter().filter(|trial| trial.status == TrialStatus::Done);
    let done: Vec<&TrialRecord> = done.collect();
    let machines = machine_names(done.iter().copied())?;
    let checked = recording.configurations.get(done.first()?.configuration)?;
    let plain = ConfigurationRecord { levels: Vec::new(), label: String::new(), ..checked.clone() };
    let trials = done.iter().filter_map(|trial| {
        let machine = position(&machines, trial)?;
        Some(TrialRecord {
            configuration: machine,
            block: trial.sequence,
            // A level here.
            machine: None,
            ..trial.without_details()
        })
    });
    let mut recording = Recording {
        trials: trials.collect(),
        configurations: machines.iter().map(|machine| with_machine(&plain, machine)).collect(),
        factors: vec![factor(&machines)],
        ..frame(recording)
    };
    recording.run.baseline = Some(0);
    Some(recording)
}

/// Returns a recording with the machine as its last factor; `None` where fewer than two machines
/// ran it.
pub fn by_machine(recording: &Recording) -> Option<Recording> {
    let machines = machine_names(recording.valid())?;
    let mut ordinals: BTreeMap<u32, u32> = BTreeMap::new();
    let mut blocks: BTreeMap<&String, BTreeSet<u32>> = BTreeMap::new();
    for trial in recording.valid() {
        blocks.entry(trial.machine.as_ref()?).or_default().insert(trial.block);
    }
    for block in blocks.values() {
        ordinals.extend((1..).zip(block).map(|(ordinal, block)| (*block, ordinal)));
    }
    let count = recording.configurations.len();
    let trials = recording.valid().filter_map(|trial| {
        let machine = position(&machines, trial)?;
        Some(TrialRecord {
            configuration: machine * count + trial.configuration,
            block: *ordinals.get(&trial.block)?,
            setup: 1,
            // A level here.
            machine: None,
            ..trial.without_details()
        })
    });
    let all = machines.iter().flat_map(|machine| {
        recording
            .configurations
            .iter()
            .map(move |configuration| with_machine(configuration, machine))
    });
    // Each block of a machine sets up each level of a hard-to-change factor for itself.
    let factors = recording.factors.iter();
    let factors = factors.map(|factor| FactorRecord { hard_to_change: false, ..factor.clone() });
    Some(Recording {
        trials: trials.collect(),
        configurations: all.collect(),
        factors: factors.chain([factor(&machines)]).collect(),
        ..frame(recording)
    })
}

/// The names of the machines of these trials, in order; `None` of fewer than two.
fn machine_names<'t>(trials: impl Iterator<Item = &'t TrialRecord>) -> Option<Vec<String>> {
    let names: BTreeSet<&String> = trials.filter_map(|trial| trial.machine.as_ref()).collect();
    (names.len() > 1).then(|| names.into_iter().cloned().collect())
}

fn position(machines: &[String], trial: &TrialRecord) -> Option<usize> {
    machines.iter().position(|machine| trial.machine.as_ref() == Some(machine))
}

fn factor(machines: &[String]) -> FactorRecord {
    FactorRecord {
        name: MACHINE.into(),
        levels: machines.to_vec(),
        numeric: None,
        hard_to_change: false,
    }
}

/// A configuration on a machine.
fn with_machine(configuration_record: &ConfigurationRecord, machine: &str) -> ConfigurationRecord {
    let mut configuration_record = configuration_record.clone();
    let label = format!("{} {MACHINE}={machine}", configuration_record.label);
    label.trim_start().clone_into(&mut configuration_record.label);
    configuration_record.key = format!("{} {machine}", configuration_record.key);
    configuration_record
        .levels
        .push(LevelRecord { factor: MACHINE.into(), level: machine.to_owned() });
    configuration_record
}

/// A recording without factors and trials. Its order is that of a grid.
fn frame(recording: &Recording) -> Recording {
    let mut run = recording.run.clone();
    run.adaptive = None;
    run.source.clear();
    Recording { run, roles: recording.roles.clone(), ..Recording::default() }
}

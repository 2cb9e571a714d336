//! The use of the processor time: by module, by function, by stack.

use analysis::estimate::wilson;
use analysis::{Interval, Summary};
use observations::{Frame, Profile, Stack, order};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Stacks that are listed.
const STACKS: usize = 10;

/// A profile, summed up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileSummary {
    /// The sampled target.
    pub target: String,
    /// Seconds between start and stop, of several trials their sum.
    pub elapsed_s: f64,
    /// Samples for each second on a processor.
    pub hz: f64,
    /// Threads with at least one sample.
    pub threads: u64,
    /// All samples.
    pub all: SampleShare,
    /// The samples in the kernel.
    pub kernel: SampleShare,
    /// Records that the kernel had no room for.
    pub lost: u64,
    /// Processor seconds that collecting the samples took.
    pub profiler_cpu_s: f64,
    /// By module, most first, each with its functions, most first.
    pub modules: Vec<ModuleUse>,
    /// The most frequent stacks.
    pub stacks: Vec<StackUse>,
    /// Limits of the profile, one sentence each.
    pub missing: Vec<String>,
}

/// A number of samples and what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SampleShare {
    /// Samples.
    pub samples: u64,
    /// Share of all samples.
    pub share: f64,
    /// The 95 % interval of the share: Wilson's interval, which takes samples as independent.
    pub interval: Interval,
    /// Processor seconds.
    pub seconds: f64,
}

/// A program, a library, or a part of the kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModuleUse {
    /// The path, or a name in brackets.
    pub module: String,
    /// True for kernel code.
    pub kernel: bool,
    /// Samples in its functions.
    #[serde(rename = "own")]
    pub hits: SampleShare,
    /// The functions that were found running, most first.
    pub functions: Vec<FunctionUse>,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionUse {
    /// The name.
    pub function: String,
    /// Samples in it.
    #[serde(rename = "own")]
    pub hits: SampleShare,
    /// Samples in it or in what it called, as far as stacks are known.
    pub total: SampleShare,
}

/// A stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackUse {
    /// Functions from the outermost caller to the one that ran.
    pub functions: Vec<String>,
    /// Samples that found it.
    #[serde(rename = "own")]
    pub hits: SampleShare,
}

impl SampleShare {
    /// The use that a number of all samples stands for, at a sampling rate per second.
    pub fn new(samples: u64, all: u64, hz: f64) -> Self {
        let share = if all > 0 { samples as f64 / all as f64 } else { 0.0 };
        let interval =
            if all > 0 { wilson(samples, all) } else { Interval { low: 0.0, high: 1.0 } };
        Self { samples, share, interval, seconds: if hz > 0.0 { samples as f64 / hz } else { 0.0 } }
    }
}

/// Sums up a profile.
pub fn profile(profile: &Profile) -> ProfileSummary {
    let all = profile.samples();
    let sampled = |samples| SampleShare::new(samples, all, profile.hz);
    let kernel: u64 = profile
        .stacks
        .iter()
        .filter(|stack| profile.frames_of(stack).last().is_some_and(|leaf| leaf.kernel))
        .map(|stack| stack.samples)
        .sum();
    let mut stacks: Vec<&Stack> = profile.stacks.iter().collect();
    order::by_key(&mut stacks, &|stack| Reverse(stack.samples));
    ProfileSummary {
        target: profile.target.clone(),
        elapsed_s: profile.elapsed_s,
        hz: profile.hz,
        threads: profile.threads,
        all: sampled(all),
        kernel: sampled(kernel),
        lost: profile.lost,
        profiler_cpu_s: profile.profiler_cpu_s,
        modules: modules(profile, sampled),
        stacks: stacks
            .into_iter()
            .take(STACKS)
            .map(|stack| StackUse {
                functions: profile.frames_of(stack).map(|frame| frame.function.clone()).collect(),
                hits: sampled(stack.samples),
            })
            .collect(),
        missing: profile.missing.clone(),
    }
}

fn modules(profile: &Profile, sampled: impl Fn(u64) -> SampleShare) -> Vec<ModuleUse> {
    let mut modules: BTreeMap<(&str, bool), (u64, Vec<FunctionUse>)> = BTreeMap::new();
    for (frame, (self_count, total)) in profile.frames.iter().zip(profile.self_and_total()) {
        if self_count > 0 {
            let module = modules.entry((profile.module_of(frame), frame.kernel)).or_default();
            module.0 += self_count;
            let function = frame.function.clone();
            module.1.push(FunctionUse {
                function,
                hits: sampled(self_count),
                total: sampled(total),
            });
        }
    }
    let module = |((module, kernel), (self_count, mut functions)): (
        (&str, bool),
        (u64, Vec<FunctionUse>),
    )| {
        order::by_key(&mut functions, &|function| Reverse(function.hits.samples));
        ModuleUse { module: module.to_owned(), kernel, hits: sampled(self_count), functions }
    };
    let mut modules: Vec<ModuleUse> = modules.into_iter().map(module).collect();
    order::by_key(&mut modules, &|module| Reverse(module.hits.samples));
    modules
}

/// The profile of a configuration's trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationProfile {
    /// Position of the configuration in the recording.
    pub index: usize,
    /// The short label.
    pub label: String,
    /// All its trials that were profiled, as one.
    pub profile: ProfileSummary,
}

/// The code that each configuration's processor time went to, where trials were profiled.
pub fn profiles(summary: &Summary) -> Vec<ConfigurationProfile> {
    let rows = summary.configurations.iter();
    let profiles = rows.filter_map(|row| {
        let profile = profile(&of_configuration(summary, row.index)?);
        Some(ConfigurationProfile { index: row.index, label: row.label.clone(), profile })
    });
    profiles.collect()
}

/// All trials of a configuration that were profiled to their end, as one. `None` where none was.
pub fn of_configuration(summary: &Summary, configuration: usize) -> Option<Profile> {
    let trials = summary.grid.trials(configuration).into_iter();
    merged(trials.filter_map(|trial| trial.profile.as_ref()))
}

/// The profiles of several trials as one: times, samples and what was lost are added. `None`
/// without any, and where they were sampled at different rates, which no share survives.
pub fn merged<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> Option<Profile> {
    let mut profiles = profiles.into_iter();
    let mut merged = profiles.next()?.clone();
    let mut modules: HashMap<String, usize> =
        merged.modules.iter().cloned().enumerate().map(|(index, name)| (name, index)).collect();
    let mut frames: HashMap<Frame, usize> =
        merged.frames.iter().cloned().enumerate().map(|(index, frame)| (frame, index)).collect();
    let mut stacks: HashMap<Vec<usize>, u64> =
        merged.stacks.drain(..).map(|stack| (stack.frames, stack.samples)).collect();
    for other in profiles {
        if other.hz.to_bits() != merged.hz.to_bits() {
            return None;
        }
        merged.elapsed_s += other.elapsed_s;
        merged.threads = merged.threads.max(other.threads);
        merged.lost = merged.lost.saturating_add(other.lost);
        merged.profiler_cpu_s += other.profiler_cpu_s;
        merged.missing.extend(
            other
                .missing
                .iter()
                .filter(|module| !merged.missing.contains(module))
                .cloned()
                .collect::<Vec<_>>(),
        );
        for stack in &other.stacks {
            let frames: Vec<usize> = other
                .frames_of(stack)
                .map(&mut |frame: &Frame| {
                    let name = other.module_of(frame);
                    let module = *modules.entry(name.to_owned()).or_insert_with(|| {
                        merged.modules.push(name.to_owned());
                        merged.modules.len() - 1
                    });
                    let frame = Frame { module, ..frame.clone() };
                    *frames.entry(frame.clone()).or_insert_with(|| {
                        merged.frames.push(frame);
                        merged.frames.len() - 1
                    })
                })
                .collect();
            let samples = stacks.entry(frames).or_insert(0_u64);
            *samples = samples.saturating_add(stack.samples);
        }
    }
    merged.stacks = stacks.into_iter().map(|(frames, samples)| Stack { frames, samples }).collect();
    order::sort(&mut merged.stacks, &|a, b| {
        b.samples.cmp(&a.samples).then_with(|| a.frames.cmp(&b.frames))
    });
    Some(merged)
}

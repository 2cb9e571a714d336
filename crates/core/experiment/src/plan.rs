//! The order of the trials: randomised complete blocks, and a split plot where factors are hard to
//! change.
//!
//! In each block every configuration runs once, in random order, so that drift of the machine
//! hits all alike. Configurations that share their levels of the hard-to-change factors form a
//! group; the groups come one after the other in random order, each with all its blocks, so that
//! such a factor changes as seldom as it can.
//!
//! Extensions of a design have blocks and set-ups of their own after those of the design, so
//! that the order of what was run stays.
//!
//! Designs with incomplete blocks run a part of the configurations in each block, one part after
//! the other.
//!
//! If a level is set up only once, its effect cannot be separated from that of the set-up. With
//! `repeats.setups = N` the blocks are divided into N repetitions: in each of them every level of
//! the hard-to-change factors is set up again, in a random order of its own.

use crate::configuration::names_volume;
use crate::{Blocks, Configuration, DesignRuns, Experiment, Level, Repeats};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statistics::shuffle;
use std::ops::RangeInclusive;

/// A trial of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedTrial {
    /// Position in [`Experiment::configurations`].
    pub configuration: usize,
    /// Block, from 1.
    pub block: u32,
    /// The set-up of the levels of its hard-to-change factors that it belongs to, from 1.
    pub setup: u32,
    /// Position in the whole plan with its largest number of blocks, from 1.
    pub sequence: u32,
}

/// The order of the trials. The same experiment and seed give the same plan on every machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    groups: Vec<Group>,
    seed: u64,
    /// Positions of the factors of which a change is more than another value of a setting.
    noticed: Vec<usize>,
    incomplete: Option<Incomplete>,
}

/// Configurations that share their hard-to-change levels, in one of the set-ups of these.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    configurations: Vec<usize>,
    setup: u32,
    blocks: RangeInclusive<u32>,
    /// Trials of the groups before it.
    before: usize,
}

/// Blocks that have a part of the configurations each.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Incomplete {
    /// The part of each configuration, from 0.
    parts: Vec<usize>,
    /// Number of parts: as many consecutive blocks have all configurations.
    number: usize,
}

impl Incomplete {
    fn new(design: &DesignRuns) -> Option<Self> {
        let number = design.incomplete_blocks();
        let parts = design.blocks.clone().filter(|_| number > 1)?;
        Some(Self { parts, number })
    }

    fn runs(&self, configuration: usize, block: u32) -> bool {
        (block as usize - 1) % self.number == self.parts[configuration]
    }
}

/// Configurations with blocks of their own: those of the design, then those of each extension.
struct Part {
    configurations: Vec<usize>,
    blocks_before: u32,
    repeats: Repeats,
}

impl Part {
    fn all(experiment: &Experiment) -> Vec<Self> {
        let repeats = experiment.repeats;
        let configurations = (0..experiment.own_configurations()).collect();
        let stages = experiment.stages.iter().map(|stage| Self {
            configurations: stage.configurations.clone().collect(),
            blocks_before: stage.blocks.start() - 1,
            repeats: Repeats {
                blocks: Blocks::Fixed(stage.blocks.clone().count() as u32),
                setups: stage.setups,
                ..repeats
            },
        });
        let plan = Self { configurations, blocks_before: 0, repeats };
        std::iter::once(plan).chain(stages).collect()
    }
}

impl Plan {
    /// The plan of an experiment.
    pub fn new(experiment: &Experiment) -> Self {
        let repeats = &experiment.repeats;
        let mut groups: Vec<Group> = Vec::new();
        let incomplete = experiment.design.as_ref().and_then(Incomplete::new);
        let parts = incomplete.as_ref().map_or(1, |incomplete| incomplete.number as u32);
        let (mut before, mut setup) = (0, 0);
        for part in Part::all(experiment) {
            for index in 1..=part.repeats.setups {
                let mut random = generator(repeats.seed, 0, u64::from(setup));
                setup += 1;
                let blocks = part.repeats.blocks_of(index);
                // Incomplete blocks have one set-up, of which each part takes a block.
                let blocks =
                    blocks.start() + part.blocks_before..=blocks.end() * parts + part.blocks_before;
                let hard = &experiment.hard_to_change;
                for configurations in grouped(experiment, &part.configurations, hard, &mut random) {
                    let trials = configurations.len() * blocks.clone().count() / parts as usize;
                    groups.push(Group { configurations, setup, blocks: blocks.clone(), before });
                    before += trials;
                }
            }
        }
        Self {
            groups,
            seed: repeats.seed,
            incomplete,
            noticed: experiment
                .factors
                .iter()
                .enumerate()
                .filter_map(|(position, factor)| {
                    let volume = factor
                        .levels
                        .iter()
                        .flat_map(|level| &level.set)
                        .any(|(path, _)| names_volume(path));
                    (factor.hard_to_change || volume).then_some(position)
                })
                .collect(),
        }
    }

    /// Number of groups of configurations that share one set-up of their hard-to-change levels; one
    /// when no factor is hard to change.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The configurations of a group.
    pub fn group(&self, group: usize) -> &[usize] {
        &self.groups[group].configurations
    }

    /// The blocks of a group.
    pub fn blocks(&self, group: usize) -> RangeInclusive<u32> {
        self.groups[group].blocks.clone()
    }

    /// The trials of one block (from 1) of a group, in order. Each block has an order of its own,
    /// independent of which blocks were asked for before.
    pub fn block(&self, group: usize, block: u32) -> Vec<PlannedTrial> {
        let Group { configurations, setup, blocks, before } = &self.groups[group];
        let mut order = self.configurations_of(configurations, block);
        shuffle(&mut order, &mut generator(self.seed, group as u64 + 1, u64::from(block)));
        let earlier = *blocks.start()..block;
        let earlier = match self.incomplete {
            None => order.len() * earlier.len(),
            Some(_) => {
                earlier.map(|stage| self.configurations_of(configurations, stage).len()).sum()
            }
        };
        let first = before + earlier + 1;
        order
            .iter()
            .enumerate()
            .map(|(i, configuration)| PlannedTrial {
                configuration: *configuration,
                block,
                setup: *setup,
                sequence: (first + i) as u32,
            })
            .collect()
    }

    fn configurations_of(&self, group: &[usize], block: u32) -> Vec<usize> {
        let runs = |configuration: &usize| {
            self.incomplete.as_ref().is_none_or(|incomplete| incomplete.runs(*configuration, block))
        };
        group.iter().copied().filter(runs).collect()
    }

    /// Each block of each group, in order.
    pub fn rounds(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        (0..self.groups.len()).flat_map(|group| self.blocks(group).map(move |block| (group, block)))
    }

    /// All trials, with the largest number of blocks.
    pub fn trials(&self) -> impl Iterator<Item = PlannedTrial> + '_ {
        self.rounds().flat_map(|(group, block)| self.block(group, block))
    }

    /// Number of trials, with the largest number of blocks.
    pub fn len(&self) -> usize {
        let parts = self.incomplete.as_ref().map_or(1, |incomplete| incomplete.number);
        let groups = self.groups.iter();
        groups.map(|group| group.configurations.len() * group.blocks.clone().count() / parts).sum()
    }

    /// Returns whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The levels that are new in the next trial, of factors that are hard to change, need a person
    /// or set a volume, in the order of the file. Before the first trial all of them are new.
    pub fn changes(&self, previous: Option<&Configuration>, next: &Configuration) -> Vec<Level> {
        self.noticed
            .iter()
            .filter(|position| {
                previous
                    .is_none_or(|previous| previous.levels[**position] != next.levels[**position])
            })
            .map(|position| next.levels[*position].clone())
            .collect()
    }

    /// The seed of the data of a block's trials: the same for all configurations of the block, so
    /// that they get the same keys.
    pub fn data_seed(&self, block: u32) -> u64 {
        generator(self.seed, u64::MAX, u64::from(block)).next_u64()
    }
}

/// Groups by the levels of the hard-to-change factors, of which the first one changes most seldom;
/// within each of its levels those of the next one come in a random order of their own.
fn grouped(
    experiment: &Experiment,
    configurations: &[usize],
    hard: &[usize],
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Vec<usize>> {
    let Some((factor, rest)) = hard.split_first() else { return vec![configurations.to_vec()] };
    let label =
        |configuration: usize| &experiment.configurations[configuration].levels[*factor].label;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for configuration in configurations {
        match groups.iter_mut().find(|group| label(group[0]) == label(*configuration)) {
            Some(group) => group.push(*configuration),
            None => groups.push(vec![*configuration]),
        }
    }
    shuffle(&mut groups, random);
    groups.iter().flat_map(|group| grouped(experiment, group, rest, random)).collect()
}

/// A generator of its own for each purpose, so that asking for one order does not change another.
///
/// `rand_xoshiro` promises the stream of its generators and its seeding (both are published
/// algorithms: Blackman and Vigna's xoshiro256++, seeded by `SplitMix64`).
fn generator(seed: u64, group: u64, block: u64) -> Xoshiro256PlusPlus {
    let mixed = seed
        ^ group.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ block.wrapping_mul(0xd1b5_4a32_d192_ed03);
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

//! The order of the trials: randomised complete blocks, and a split plot where factors are hard to
//! change.
//!
//! In each block every configuration runs once, in random order, so that drift of the machine
//! hits all alike. Configurations that share their levels of the hard-to-change factors form a
//! group; the groups come one after the other in random order, each with all its blocks, so that
//! such a factor changes as seldom as it can.

use crate::{Blocks, Experiment};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One trial of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedTrial {
    /// Position in [`Experiment::configurations`].
    pub configuration: usize,
    /// Block, from 1.
    pub block: u32,
    /// Position in the whole plan with its largest number of blocks, from 1.
    pub sequence: u32,
}

/// The order of the trials. The same experiment and seed give the same plan on every machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    groups: Vec<Vec<usize>>,
    blocks_max: u32,
    seed: u64,
}

impl Plan {
    /// The plan of an experiment.
    pub fn new(experiment: &Experiment) -> Self {
        let seed = experiment.repeats.seed;
        let hard = experiment.factors.iter().map(|factor| factor.hard_to_change);
        let hard: Vec<usize> =
            hard.enumerate().filter_map(|(position, hard)| hard.then_some(position)).collect();
        let mut random = generator(seed, 0, 0);
        let mut all: Vec<usize> = (0..experiment.configurations.len()).collect();
        shuffle(&mut all, &mut random);
        Self { groups: grouped(experiment, &all, &hard), blocks_max: experiment.repeats.blocks.max(), seed }
    }

    /// Number of groups of configurations that share their hard-to-change levels; one when no
    /// factor is hard to change.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The configurations of a group.
    pub fn group(&self, group: usize) -> &[usize] {
        &self.groups[group]
    }

    /// The trials of one block (from 1) of a group, in order. Each block has an order of its own,
    /// independent of which blocks were asked for before.
    pub fn block(&self, group: usize, block: u32) -> Vec<PlannedTrial> {
        let mut order = self.groups[group].clone();
        order.sort_unstable();
        shuffle(&mut order, &mut generator(self.seed, group as u64 + 1, u64::from(block)));
        let before: usize =
            self.groups[..group].iter().map(Vec::len).sum::<usize>() * self.blocks_max as usize;
        let first = before + order.len() * (block as usize - 1) + 1;
        order
            .iter()
            .enumerate()
            .map(|(i, configuration)| PlannedTrial {
                configuration: *configuration,
                block,
                sequence: (first + i) as u32,
            })
            .collect()
    }

    /// All trials, with the largest number of blocks.
    pub fn trials(&self) -> impl Iterator<Item = PlannedTrial> + '_ {
        let blocks =
            (0..self.groups.len()).flat_map(|group| (1..=self.blocks_max).map(move |block| (group, block)));
        blocks.flat_map(|(group, block)| self.block(group, block))
    }

    /// Number of trials, with the largest number of blocks.
    pub fn len(&self) -> usize {
        self.groups.iter().map(Vec::len).sum::<usize>() * self.blocks_max as usize
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The seed of the data of a block's trials: the same for all configurations of the block, so
    /// that they get the same keys.
    pub fn data_seed(&self, block: u32) -> u64 {
        generator(self.seed, u64::MAX, u64::from(block)).next_u64()
    }
}

impl Experiment {
    /// Whether the number of blocks depends on what is measured.
    pub fn is_adaptive(&self) -> bool {
        matches!(self.repeats.blocks, Blocks::Adaptive { .. })
    }
}

/// Groups by the levels of the hard-to-change factors; of several such factors the first one in the
/// file changes most seldom. `order` is random and decides the order of the groups.
fn grouped(experiment: &Experiment, order: &[usize], hard: &[usize]) -> Vec<Vec<usize>> {
    let Some((factor, rest)) = hard.split_first() else { return vec![order.to_vec()] };
    let label = |configuration: usize| &experiment.configurations[configuration].levels[*factor].label;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for configuration in order {
        match groups.iter_mut().find(|group| label(group[0]) == label(*configuration)) {
            Some(group) => group.push(*configuration),
            None => groups.push(vec![*configuration]),
        }
    }
    groups.iter().flat_map(|group| grouped(experiment, group, rest)).collect()
}

/// A generator of its own for each purpose, so that asking for one order does not change another.
fn generator(seed: u64, group: u64, block: u64) -> Xoshiro256PlusPlus {
    let mixed = seed ^ group.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ block.wrapping_mul(0xd1b5_4a32_d192_ed03);
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

/// Fisher and Yates' shuffle. Written out because the order is part of the plan: a library may
/// change how it draws, and a resumed run must see the order that it began with.
fn shuffle(items: &mut [usize], random: &mut Xoshiro256PlusPlus) {
    for last in (1..items.len()).rev() {
        // Lemire's multiplication; the bias for some thousand items is below 2^-50.
        let chosen = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        items.swap(last, chosen);
    }
}

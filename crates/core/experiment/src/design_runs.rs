//! The runs of a design and those that extend it: plain data of an experiment.

use crate::Value;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// Name of the level that says which extension a configuration belongs to.
pub const STAGE: &str = "stage";

/// The runs of a design.
#[derive(Debug, Clone)]
pub struct DesignRuns {
    /// The kind of the design.
    pub kind: &'static str,
    /// The positions of each run's levels; `None`: all combinations that are not excluded.
    pub levels: Option<Vec<Vec<usize>>>,
    /// The incomplete block of each run, from 0; `None` where blocks are complete.
    pub blocks: Option<Vec<usize>>,
    /// Fewest configurations, and the error of fewer.
    pub configurations_min: Option<(usize, &'static str)>,
    /// Returns whether further runs of the same levels in a block have a number: centre points.
    pub is_numbered: fn(&[usize]) -> bool,
}

impl PartialEq for DesignRuns {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.levels, &self.blocks) == (other.kind, &other.levels, &other.blocks)
    }
}

impl DesignRuns {
    /// A design that runs all combinations.
    pub fn all(kind: &'static str) -> Self {
        let is_numbered = |_: &[usize]| false;
        Self { kind, levels: None, blocks: None, configurations_min: None, is_numbered }
    }

    /// Returns why it cannot run this number of configurations.
    pub(crate) fn objection(&self, configurations: usize) -> Option<&'static str> {
        let (least, message) = self.configurations_min?;
        (1..least).contains(&configurations).then_some(message)
    }

    /// Number of incomplete blocks that hold all runs together; 1: each block has all runs.
    pub fn incomplete_blocks(&self) -> usize {
        let last = self.blocks.as_ref().and_then(|blocks| blocks.iter().max());
        last.map_or(1, |last| last + 1)
    }
}

/// Further runs, which an `[[extension]]` adds.
pub struct Added {
    /// The kind in the file.
    pub kind: String,
    /// The values of its table.
    pub values: BTreeMap<String, Value>,
    /// The positions of each run's levels.
    pub runs: Vec<Vec<usize>>,
    /// The number of times that each of them is run; `None`: as often as those of the design.
    pub blocks: Option<u32>,
    /// True if each block sets up the levels of hard-to-change factors again.
    pub is_set_up_each: bool,
}

/// An extension with its place in the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// The kind in the file.
    pub kind: String,
    /// The values of its table.
    pub values: BTreeMap<String, Value>,
    /// Positions of its configurations.
    pub configurations: Range<usize>,
    /// The blocks.
    pub blocks: RangeInclusive<u32>,
    /// The number of times that each level of the hard-to-change factors is set up.
    pub setups: u32,
}

impl Stage {
    /// The place of each extension in the plan, after `first` configurations with this number of
    /// blocks, and of set-ups where levels are hard to change.
    pub(crate) fn in_plan(
        extensions: Vec<Added>,
        mut first: usize,
        [own_blocks, own_setups]: [u32; 2],
        has_setups: bool,
    ) -> Vec<Self> {
        let mut block = own_blocks + 1;
        let stage = |added: Added| {
            let blocks = added.blocks.unwrap_or(own_blocks);
            // A comparison of set-ups needs as many of them as can be.
            let setups =
                if added.is_set_up_each && has_setups { blocks } else { own_setups.min(blocks) };
            let stage = Self {
                kind: added.kind,
                values: added.values,
                configurations: first..first + added.runs.len(),
                blocks: block..=block + blocks - 1,
                setups,
            };
            (first, block) = (stage.configurations.end, block + blocks);
            stage
        };
        extensions.into_iter().map(stage).collect()
    }
}

/// The levels that are combined.
pub enum Runs {
    /// The product of the levels.
    Product,
    /// The combinations that a design chooses.
    Design(DesignRuns),
    /// The design has errors.
    Unknown,
}

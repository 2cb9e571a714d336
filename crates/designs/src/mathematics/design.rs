//! The runs of a two-level design, coded -1 and +1.

use crate::mathematics::subsets::subsets;

/// Runs with a coded level of each factor: -1, +1, and 0 at a centre point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    runs: Vec<Vec<i8>>,
    blocks: Vec<usize>,
}

impl Design {
    /// A design in one block.
    pub fn new(runs: Vec<Vec<i8>>) -> Self {
        Self { blocks: vec![0; runs.len()], runs }
    }

    /// A design in blocks: the block of each run.
    pub fn in_blocks(runs: Vec<Vec<i8>>, blocks: Vec<usize>) -> Self {
        Self { runs, blocks }
    }

    /// The levels of each run.
    pub fn runs(&self) -> &[Vec<i8>] {
        &self.runs
    }

    /// The block of each run, from 0.
    pub fn blocks(&self) -> &[usize] {
        &self.blocks
    }

    /// Number of factors.
    pub fn factors(&self) -> usize {
        self.runs.first().map_or(0, Vec::len)
    }

    /// The product of the levels of some factors in each run.
    pub fn column(&self, factors: &[usize]) -> Vec<i8> {
        self.runs.iter().map(|run| factors.iter().map(|factor| run[*factor]).product()).collect()
    }

    /// The effects that the runs keep apart: 3 if a main effect is correlated with an interaction
    /// of two factors, 4 if such interactions are with each other, 5 if neither is.
    pub fn separation(&self) -> usize {
        let of = |size| -> Vec<Vec<i8>> {
            subsets(self.factors(), size).map(|term| self.column(&term)).collect()
        };
        let (mains, pairs) = (of(1), of(2));
        let is_correlated = |first: &Vec<i8>, other: &Vec<i8>| {
            first.iter().zip(other).map(|(level, other)| i32::from(level * other)).sum::<i32>() != 0
        };
        if mains.iter().any(|main| pairs.iter().any(|pair| is_correlated(main, pair))) {
            return 3;
        }
        let mut others = pairs.iter().enumerate();
        if others.any(|(at, pair)| pairs[at + 1..].iter().any(|other| is_correlated(pair, other))) {
            return 4;
        }
        5
    }

    /// The runs with the levels of some factors reversed, as further blocks: of all factors, which
    /// separates main effects from interactions of two, or of one factor, which separates it and
    /// its interactions from all others.
    #[must_use]
    pub fn folded(&self, factor: Option<usize>) -> Self {
        let blocks = self.blocks.iter().max().map_or(0, |last| last + 1);
        let mut folded = self.clone();
        for run in &mut folded.runs {
            for (index, level) in run.iter_mut().enumerate() {
                if factor.is_none_or(|factor| factor == index) {
                    *level = -*level;
                }
            }
        }
        folded.runs.splice(0..0, self.runs.iter().cloned());
        folded.blocks.extend(self.blocks.iter().map(|block| block + blocks));
        folded
    }

    /// The runs that a fold-over adds; `None` if it repeats those of the design.
    pub fn added_by_fold(&self, factor: Option<usize>) -> Option<Vec<Vec<i8>>> {
        let added = self.folded(factor).runs.split_off(self.runs.len());
        added.iter().any(|run| !self.runs.contains(run)).then_some(added)
    }

    /// Returns whether it has two blocks, as a folded design has.
    pub fn is_folded(&self) -> bool {
        self.blocks.iter().max() == Some(&1)
    }

    /// The groups of runs that share the levels of these factors within a block: the whole plots of
    /// a split plot, within which the other factors are randomised.
    pub fn whole_plots(&self, hard_to_change: &[usize]) -> Vec<Vec<usize>> {
        let key = |run: usize| -> (usize, Vec<i8>) {
            let levels = hard_to_change.iter().map(|factor| self.runs[run][*factor]);
            (self.blocks[run], levels.collect())
        };
        let mut plots: Vec<Vec<usize>> = Vec::new();
        for run in 0..self.runs.len() {
            match plots.iter_mut().find(|plot| key(plot[0]) == key(run)) {
                Some(plot) => plot.push(run),
                None => plots.push(vec![run]),
            }
        }
        plots
    }
}

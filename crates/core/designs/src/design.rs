//! The runs of a two-level design, coded -1 and +1.

/// Runs with a coded level of each factor: -1, +1, and 0 at a centre point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    runs: Vec<Vec<i8>>,
    blocks: Vec<usize>,
}

/// Groups of runs that share the levels of the hard-to-change factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholePlots {
    /// Positions of the runs of each group.
    pub groups: Vec<Vec<usize>>,
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

    /// The first `factors` columns.
    #[must_use]
    pub fn first_factors(&self, factors: usize) -> Self {
        let runs = self.runs.iter().map(|run| run[..factors].to_vec()).collect();
        Self { runs, blocks: self.blocks.clone() }
    }

    /// The runs with the levels of some factors reversed, as further blocks: of all factors, which
    /// separates main effects from interactions of two, or of one factor, which separates it and
    /// its interactions from all others.
    #[must_use]
    pub fn folded(&self, factor: Option<usize>) -> Self {
        let blocks = self.blocks.iter().max().map_or(0, |last| last + 1);
        let mut folded = self.clone();
        for run in &mut folded.runs {
            for (own, level) in run.iter_mut().enumerate() {
                if factor.is_none_or(|factor| factor == own) {
                    *level = -*level;
                }
            }
        }
        folded.runs.splice(0..0, self.runs.iter().cloned());
        folded.blocks.extend(self.blocks.iter().map(|block| block + blocks));
        folded
    }

    /// The design with this number of centre points in each block.
    #[must_use]
    pub fn with_centre_points(&self, number: usize) -> Self {
        let mut with = self.clone();
        let last = self.blocks.iter().max().map_or(0, |last| last + 1);
        for block in 0..last {
            for _ in 0..number {
                with.runs.push(vec![0; self.factors()]);
                with.blocks.push(block);
            }
        }
        with
    }

    /// The groups of runs that share the levels of these factors within a block: the whole plots of
    /// a split plot, within which the other factors are randomised.
    pub fn whole_plots(&self, hard_to_change: &[usize]) -> WholePlots {
        let key = |run: usize| -> (usize, Vec<i8>) {
            let levels = hard_to_change.iter().map(|factor| self.runs[run][*factor]);
            (self.blocks[run], levels.collect())
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for run in 0..self.runs.len() {
            match groups.iter_mut().find(|group| key(group[0]) == key(run)) {
                Some(group) => group.push(run),
                None => groups.push(vec![run]),
            }
        }
        WholePlots { groups }
    }
}

impl WholePlots {
    /// Returns whether a contrast compares whole plots only: its coefficients are constant in each.
    pub fn has(&self, coefficients: &[i8]) -> bool {
        self.groups
            .iter()
            .all(|group| group.iter().all(|run| coefficients[*run] == coefficients[group[0]]))
    }
}

//! A recording laid out as configurations x blocks, and pairs taken from it.

use crate::{Comparison, ResponseChoice};
use observations::{FactorRecord, Observations, Recording};
use std::collections::{BTreeMap, HashMap};

/// What the trials of a configuration saw, by block.
pub type Cells<'a> = BTreeMap<u32, &'a Observations>;

/// The trials done, and those that timed out, by configuration and block.
pub struct Grid<'a> {
    /// For each configuration: block to what its last successful attempt saw, or the one that timed out.
    pub cells: Vec<Cells<'a>>,
}

/// What is compared with what. Each element is a block: all trials of one side in it.
///
/// When `paired`, `from[i]` and `to[i]` are the same block and their trials match one by one.
pub struct Matched<'a> {
    pub paired: bool,
    pub from: Vec<Vec<&'a Observations>>,
    pub to: Vec<Vec<&'a Observations>>,
}

impl<'a> Grid<'a> {
    pub fn new(recording: &'a Recording) -> Self {
        let mut cells = vec![BTreeMap::new(); recording.configurations.len()];
        let timed_out = recording.trials.iter().filter(|trial| trial.timed_out());
        let timed_out = timed_out.filter_map(|trial| Some((trial, trial.observations.as_ref()?)));
        for (trial, observations) in recording.done().chain(timed_out) {
            if let Some(blocks) = cells.get_mut(trial.configuration) {
                blocks.insert(trial.block, observations);
            }
        }
        Self { cells }
    }

    /// What all trials done saw.
    pub fn observations(&self) -> Vec<&'a Observations> {
        (0..self.cells.len()).flat_map(|configuration| self.trials(configuration)).collect()
    }

    /// What the trials done of a configuration saw.
    pub fn trials(&self, configuration: usize) -> Vec<&'a Observations> {
        self.cells[configuration].values().copied().filter(|seen| !seen.timed_out()).collect()
    }

    /// The same with those that timed out.
    pub fn with_timeouts(&self, configuration: usize) -> Vec<&'a Observations> {
        self.cells[configuration].values().copied().collect()
    }

    /// How much better the configuration `to` is than `from`.
    pub fn compare(&self, from: usize, to: usize, response: &ResponseChoice) -> Option<Comparison> {
        Comparison::of(&self.matched(from, to, response), response)
    }

    /// Two configurations by the trials that have this response.
    pub fn matched(&self, from: usize, to: usize, response: &ResponseChoice) -> Matched<'a> {
        Matched::configurations(&self.cells[from], &self.cells[to], &|o| response.counts(o))
    }
}

impl<'a> Matched<'a> {
    /// Two configurations of one run.
    ///
    /// By pairs when at least two blocks have both; else all blocks of each apart, if both have two;
    /// else by what there is.
    pub fn configurations(from: &Cells<'a>, to: &Cells<'a>, usable: &dyn Fn(&Observations) -> bool) -> Self {
        let pairs = from.iter().filter_map(|(block, a)| Some((*a, *to.get(block)?)));
        let common: Vec<_> = pairs.filter(|(a, b)| usable(a) && usable(b)).collect();
        if common.len() < 2 {
            let apart = Self::apart(from, to, usable);
            if common.is_empty() || (apart.from.len() >= 2 && apart.to.len() >= 2) {
                return apart;
            }
        }
        let (from, to) = common.into_iter().map(|(a, b)| (vec![a], vec![b])).unzip();
        Self { paired: true, from, to }
    }

    /// Whether any trial timed out.
    pub fn timed_out(&self) -> bool {
        self.from.iter().chain(&self.to).flatten().any(|seen| seen.timed_out())
    }

    /// Two configurations whose blocks have nothing in common, such as those of two runs.
    pub fn apart(from: &Cells<'a>, to: &Cells<'a>, usable: &dyn Fn(&Observations) -> bool) -> Self {
        let blocks = |side: &Cells<'a>| side.values().filter(|o| usable(o)).map(|o| vec![*o]).collect();
        Self { paired: false, from: blocks(from), to: blocks(to) }
    }
}

/// Which configurations have which level of a factor, and which differ in nothing else.
pub struct FactorLayout {
    /// Position of the factor.
    pub factor: usize,
    /// Number of levels.
    pub levels: usize,
    /// The level that the others are compared with: the baseline's, else the first.
    pub reference: usize,
    /// Position of each configuration's level; `None` where it has none.
    pub positions: Vec<Option<usize>>,
    /// For each combination of the other factors' levels: the configuration of each level.
    groups: Vec<Vec<Option<usize>>>,
}

impl FactorLayout {
    pub fn new(recording: &Recording, factor: usize) -> Self {
        let record = &recording.factors[factor];
        let positions: Vec<Option<usize>> =
            (0..recording.configurations.len()).map(|own| position(recording, own, record)).collect();
        let mut index: HashMap<Vec<(&str, &str)>, usize> = HashMap::new();
        let mut groups: Vec<Vec<Option<usize>>> = Vec::new();
        for (configuration, own) in recording.configurations.iter().enumerate() {
            let Some(level) = positions[configuration] else { continue };
            let others = own.levels.iter().filter(|l| l.factor != record.name);
            let key = others.map(|l| (l.factor.as_str(), l.level.as_str())).collect();
            let group = *index.entry(key).or_insert_with(|| {
                groups.push(vec![None; record.levels.len()]);
                groups.len() - 1
            });
            groups[group][level] = Some(configuration);
        }
        let baseline = recording.run.baseline.filter(|index| *index < positions.len());
        let reference = baseline.and_then(|index| positions[index]).unwrap_or(0);
        Self { factor, levels: record.levels.len(), reference, positions, groups }
    }

    /// Whether the factor is the only one.
    pub fn single(&self) -> bool {
        self.groups.len() == 1
    }

    /// For each combination of the other factors' levels: the configuration of each level.
    pub fn groups(&self) -> &[Vec<Option<usize>>] {
        &self.groups
    }

    /// Levels other than the reference.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        (0..self.levels).filter(|level| *level != self.reference)
    }

    /// Configurations of a level, all of them.
    pub fn configurations(&self, level: usize) -> impl Iterator<Item = usize> {
        self.groups.iter().filter_map(move |group| group[level])
    }

    /// Configurations of a level in the groups that have every level; when exclusions leave no
    /// such group, all of them. Means over these are not confounded with the other factors.
    pub fn balanced(&self, level: usize) -> impl Iterator<Item = usize> {
        let complete = |group: &Vec<Option<usize>>| group.iter().all(Option::is_some);
        let any = self.groups.iter().any(complete);
        self.groups.iter().filter(move |group| !any || complete(group)).filter_map(move |group| group[level])
    }

    /// How much better the level `to` is than `from`, over the levels of all other factors.
    pub fn compare(
        &self,
        grid: &Grid,
        from: usize,
        to: usize,
        response: &ResponseChoice,
    ) -> Option<Comparison> {
        Comparison::of(&self.matched(grid, from, to, &|o| response.counts(o)), response)
    }

    /// The same where another factor has one of its levels.
    pub fn compare_at(
        &self,
        (by, level): (&Self, usize),
        grid: &Grid,
        to: usize,
        response: &ResponseChoice,
    ) -> Option<Comparison> {
        let keep = |own: &Option<usize>| own.filter(|own| by.positions[*own] == Some(level));
        let kept = self.groups.iter().map(|group| group.iter().map(keep).collect());
        let groups = kept.filter(|group: &Vec<Option<usize>>| group.iter().any(Option::is_some)).collect();
        let here = Self { positions: Vec::new(), groups, ..*self };
        here.compare(grid, self.reference, to, response)
    }

    /// Two levels, paired by block and by the levels of all other factors.
    pub fn matched<'a>(
        &self,
        grid: &Grid<'a>,
        from: usize,
        to: usize,
        usable: &dyn Fn(&Observations) -> bool,
    ) -> Matched<'a> {
        let pairs = self.groups.iter().filter_map(|group| Some((group[from]?, group[to]?)));
        let pairs = pairs.map(|(a, b)| (&grid.cells[a], &grid.cells[b]));
        if self.single() {
            let empty = (&BTreeMap::new(), &BTreeMap::new());
            let (from, to) = pairs.into_iter().next().unwrap_or(empty);
            return Matched::configurations(from, to, usable);
        }
        let mut blocks: BTreeMap<u32, (Vec<_>, Vec<_>)> = BTreeMap::new();
        for (a, b) in pairs {
            for (block, from) in a {
                let Some(to) = b.get(block).filter(|to| usable(from) && usable(to)) else { continue };
                let sides = blocks.entry(*block).or_default();
                sides.0.push(*from);
                sides.1.push(*to);
            }
        }
        let (from, to) = blocks.into_values().unzip();
        Matched { paired: true, from, to }
    }
}

/// Position of a configuration's level of a factor.
fn position(recording: &Recording, configuration: usize, factor: &FactorRecord) -> Option<usize> {
    let own = recording.configurations[configuration].level(&factor.name)?;
    factor.levels.iter().position(|level| level == own)
}

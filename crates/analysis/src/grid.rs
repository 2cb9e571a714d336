//! A recording laid out as configurations x blocks, and pairs taken from it.

use observations::{FactorRecord, LevelRecord, Observations, Recording};
use std::collections::{BTreeMap, HashMap};

/// The trials done, by configuration and block.
pub struct Grid<'a> {
    /// For each configuration: block to what its last successful attempt saw.
    pub cells: Vec<BTreeMap<u32, &'a Observations>>,
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
        for (trial, observations) in recording.done() {
            if let Some(blocks) = cells.get_mut(trial.configuration) {
                blocks.insert(trial.block, observations);
            }
        }
        Self { cells }
    }

    /// What all trials saw.
    pub fn observations(&self) -> impl Iterator<Item = &'a Observations> {
        self.cells.iter().flat_map(|blocks| blocks.values().copied())
    }
}

impl<'a> Matched<'a> {
    /// Two configurations of one run.
    ///
    /// By pairs when at least two blocks have both; else all blocks of each apart, if both have two;
    /// else by what there is.
    pub fn configurations(
        from: &BTreeMap<u32, &'a Observations>,
        to: &BTreeMap<u32, &'a Observations>,
        usable: impl Fn(&Observations) -> bool,
    ) -> Self {
        let common: Vec<_> = from
            .iter()
            .filter_map(|(block, a)| to.get(block).map(|b| (*a, *b)))
            .filter(|(a, b)| usable(a) && usable(b))
            .collect();
        if common.len() < 2 {
            let apart = Self::apart(from, to, &usable);
            if common.is_empty() || (apart.from.len() >= 2 && apart.to.len() >= 2) {
                return apart;
            }
        }
        let (from, to) = common.into_iter().map(|(a, b)| (vec![a], vec![b])).unzip();
        Self { paired: true, from, to }
    }

    /// Two configurations whose blocks have nothing in common, such as those of two runs.
    pub fn apart(
        from: &BTreeMap<u32, &'a Observations>,
        to: &BTreeMap<u32, &'a Observations>,
        usable: impl Fn(&Observations) -> bool,
    ) -> Self {
        let blocks = |side: &BTreeMap<u32, &'a Observations>| {
            side.values().filter(|o| usable(o)).map(|o| vec![*o]).collect()
        };
        Self { paired: false, from: blocks(from), to: blocks(to) }
    }
}

/// Position of each configuration's level of a factor; `None` where it has none.
pub fn positions(recording: &Recording, factor: &FactorRecord) -> Vec<Option<usize>> {
    let position: HashMap<&str, usize> =
        factor.levels.iter().enumerate().map(|(i, level)| (level.as_str(), i)).collect();
    let own = |levels: &[LevelRecord]| {
        let own = levels.iter().find(|level| level.factor == factor.name)?;
        position.get(own.level.as_str()).copied()
    };
    recording.configurations.iter().map(|record| own(&record.levels)).collect()
}

/// Which configurations have which level of a factor, and which differ in nothing else.
pub struct FactorLayout {
    /// For each combination of the other factors' levels: the configuration of each level.
    groups: Vec<Vec<Option<usize>>>,
}

impl FactorLayout {
    pub fn new(recording: &Recording, factor: &FactorRecord) -> Self {
        let positions = positions(recording, factor);
        let mut index: HashMap<Vec<(&str, &str)>, usize> = HashMap::new();
        let mut groups: Vec<Vec<Option<usize>>> = Vec::new();
        for (configuration, record) in recording.configurations.iter().enumerate() {
            let Some(level) = positions[configuration] else { continue };
            let others = record.levels.iter().filter(|l| l.factor != factor.name);
            let key = others.map(|l| (l.factor.as_str(), l.level.as_str())).collect();
            let group = *index.entry(key).or_insert_with(|| {
                groups.push(vec![None; factor.levels.len()]);
                groups.len() - 1
            });
            groups[group][level] = Some(configuration);
        }
        Self { groups }
    }

    /// The same layout without the configurations for which `keep` is false.
    pub fn restricted(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept = self.groups.iter().map(|group| group.iter().map(|own| own.filter(|c| keep(*c))).collect());
        Self { groups: kept.filter(|group: &Vec<Option<usize>>| group.iter().any(Option::is_some)).collect() }
    }

    /// Whether the factor is the only one.
    pub fn single(&self) -> bool {
        self.groups.len() == 1
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

    /// Two levels, paired by block and by the levels of all other factors.
    pub fn matched<'a>(
        &self,
        grid: &Grid<'a>,
        from: usize,
        to: usize,
        usable: impl Fn(&Observations) -> bool,
    ) -> Matched<'a> {
        let pairs = self.groups.iter().filter_map(|group| Some((group[from]?, group[to]?)));
        if self.single() {
            let empty = BTreeMap::new();
            let cells = pairs.map(|(a, b)| (&grid.cells[a], &grid.cells[b])).next();
            let (from, to) = cells.unwrap_or((&empty, &empty));
            return Matched::configurations(from, to, usable);
        }
        let mut blocks: BTreeMap<u32, (Vec<_>, Vec<_>)> = BTreeMap::new();
        for (a, b) in pairs {
            for (block, from) in &grid.cells[a] {
                let Some(to) = grid.cells[b].get(block) else { continue };
                if usable(from) && usable(to) {
                    let sides = blocks.entry(*block).or_default();
                    sides.0.push(*from);
                    sides.1.push(*to);
                }
            }
        }
        let (from, to) = blocks.into_values().unzip();
        Matched { paired: true, from, to }
    }
}

//! A recording laid out as configurations x blocks, and pairs taken from it.

use crate::response::distinct;
use crate::{Comparison, Estimate, ResponseChoice};
use observations::{ConfigurationRecord, FactorRecord, Observations, Recording};
use std::collections::{BTreeMap, HashMap};

/// What the trials of a configuration saw, by block.
pub type Cells<'a> = BTreeMap<u32, &'a Observations>;

/// The trials done, and those that timed out, by configuration and block.
pub struct Grid<'a> {
    /// For each configuration: block to what its last successful attempt saw, or the one that timed out.
    pub cells: Vec<Cells<'a>>,
    /// For each configuration: its levels of the hard-to-change factors, as a number.
    plots: Vec<usize>,
    /// The set-up that each block belongs to.
    setups: BTreeMap<u32, u32>,
    /// Blocks of the first stage of adaptive repeats.
    first_stage: Option<u32>,
}

/// Repeats of one configuration: all its trials in each block, or in each set-up.
pub struct Repeats<'a> {
    pub units: Vec<Vec<&'a Observations>>,
    /// How many of them the spread is estimated from: [`Known::first`](crate::estimate::Known).
    pub first: usize,
}

/// What is compared with what. Each element is a block, or a set-up: all trials of one side in it.
///
/// When `paired`, `from[i]` and `to[i]` are the same block and their trials match one by one.
pub struct Matched<'a> {
    pub paired: bool,
    pub from: Vec<Vec<&'a Observations>>,
    pub to: Vec<Vec<&'a Observations>>,
    /// How many elements of each side its spread is estimated from.
    pub first: [usize; 2],
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
        let hard = || recording.factors.iter().filter(|factor| factor.hard_to_change);
        let levels = |own: &'a ConfigurationRecord| hard().map(|it| own.level(&it.name)).collect::<Vec<_>>();
        let mut numbers = HashMap::new();
        let mut number = |own| {
            let next = numbers.len();
            *numbers.entry(levels(own)).or_insert(next)
        };
        Self {
            cells,
            plots: recording.configurations.iter().map(&mut number).collect(),
            setups: recording.trials.iter().map(|trial| (trial.block, trial.setup)).collect(),
            first_stage: recording.run.adaptive.map(|adaptive| adaptive.min),
        }
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

    /// Whether configurations differ in what is hard to change, so that figures of one of them vary from set-up to
    /// set-up, and their blocks within a set-up are no repeats of it.
    pub fn has_setups(&self) -> bool {
        self.plots.iter().any(|plot| *plot > 0)
    }

    /// Whether that was set up once: a level cannot be told apart from its set-up.
    pub fn set_up_once(&self) -> bool {
        self.has_setups() && distinct(self.setups.values()).len() < 2
    }

    /// Number of the block, or of the set-up that it belongs to.
    pub fn unit(&self, by_setup: bool, block: u32) -> u32 {
        if by_setup { self.setups.get(&block).copied().unwrap_or(1) } else { block }
    }

    /// The mean of a configuration over the trials that have this response; its interval is over what repeats it.
    pub fn estimate(&self, configuration: usize, response: &ResponseChoice) -> Option<Estimate> {
        response.estimate(&self.repeats(configuration, self.has_setups(), &|o| response.counts(o)))
    }

    /// The usable trials of a configuration.
    pub fn repeats(
        &self,
        configuration: usize,
        by_setup: bool,
        usable: &dyn Fn(&Observations) -> bool,
    ) -> Repeats<'a> {
        let units = self.units(configuration, by_setup, usable);
        Repeats { first: self.first(units.keys()), units: units.into_values().collect() }
    }

    /// The same by the number of the block or set-up.
    pub fn units(
        &self,
        configuration: usize,
        by_setup: bool,
        usable: &dyn Fn(&Observations) -> bool,
    ) -> BTreeMap<u32, Vec<&'a Observations>> {
        let mut units: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for (block, trial) in self.cells[configuration].iter().filter(|(_, trial)| usable(trial)) {
            units.entry(self.unit(by_setup, *block)).or_default().push(*trial);
        }
        units
    }

    /// How many of these blocks the first stage of adaptive repeats had.
    pub fn first<'b>(&self, blocks: impl Iterator<Item = &'b u32>) -> usize {
        self.first_stage.map_or(usize::MAX, |last| blocks.filter(|block| **block <= last).count())
    }

    /// How much better the configuration `to` is than `from`.
    pub fn compare(&self, from: usize, to: usize, response: &ResponseChoice) -> Option<Comparison> {
        Comparison::of(&self.matched(from, to, &|o| response.counts(o)), response)
    }

    /// What repeats a comparison of two configurations.
    pub fn unit_between(&self, from: usize, to: usize) -> &'static str {
        if self.plots[from] == self.plots[to] { "block" } else { "set-up" }
    }

    /// Two configurations by their usable trials: by set-up where they differ in what is hard to change, else by block.
    ///
    /// By pairs when at least two blocks have both; else all blocks of each apart, if both have two;
    /// else by what there is.
    pub fn matched(&self, from: usize, to: usize, usable: &dyn Fn(&Observations) -> bool) -> Matched<'a> {
        let by_setup = self.plots[from] != self.plots[to];
        let paired = self.paired([(from, to)].into_iter(), by_setup, usable);
        if paired.from.len() < 2 {
            let repeats = |side| self.repeats(side, by_setup, usable);
            let apart = Matched::apart(repeats(from), repeats(to));
            if paired.from.is_empty() || (apart.from.len() >= 2 && apart.to.len() >= 2) {
                return apart;
            }
        }
        paired
    }

    /// Pairs of configurations, one or several that differ in the same way.
    pub fn matched_over(
        &self,
        pairs: &[(usize, usize)],
        usable: &dyn Fn(&Observations) -> bool,
    ) -> Matched<'a> {
        match pairs {
            [(from, to)] => self.matched(*from, *to, usable),
            pairs => {
                let by_setup = pairs.iter().any(|(from, to)| self.plots[*from] != self.plots[*to]);
                self.paired(pairs.iter().copied(), by_setup, usable)
            }
        }
    }

    /// Pairs of configurations by the blocks, or the set-ups, in which both have usable trials.
    fn paired(
        &self,
        pairs: impl Iterator<Item = (usize, usize)>,
        by_setup: bool,
        usable: &dyn Fn(&Observations) -> bool,
    ) -> Matched<'a> {
        let mut units: BTreeMap<u32, (Vec<_>, Vec<_>)> = BTreeMap::new();
        for (from, to) in pairs.map(|(from, to)| (&self.cells[from], &self.cells[to])) {
            for (block, from) in from {
                let Some(to) = to.get(block).filter(|to| usable(from) && usable(to)) else { continue };
                let sides = units.entry(self.unit(by_setup, *block)).or_default();
                sides.0.push(*from);
                sides.1.push(*to);
            }
        }
        let first = self.first(units.keys());
        let (from, to) = units.into_values().unzip();
        Matched { paired: true, from, to, first: [first; 2] }
    }
}

impl<'a> Matched<'a> {
    /// Whether any trial timed out.
    pub fn timed_out(&self) -> bool {
        self.from.iter().chain(&self.to).flatten().any(|seen| seen.timed_out())
    }

    /// Two sides whose blocks have nothing in common, such as those of two runs.
    pub fn apart(from: Repeats<'a>, to: Repeats<'a>) -> Self {
        Self { paired: false, first: [from.first, to.first], from: from.units, to: to.units }
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
    /// Whether its levels are set up and not chosen anew in each block.
    pub hard_to_change: bool,
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
        Self {
            factor,
            levels: record.levels.len(),
            reference,
            hard_to_change: record.hard_to_change,
            positions,
            groups,
        }
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
        self.at(by, level).compare(grid, self.reference, to, response)
    }

    /// The part of it where another factor has one of its levels.
    pub fn at(&self, by: &Self, level: usize) -> Self {
        let keep = |own: &Option<usize>| own.filter(|own| by.positions[*own] == Some(level));
        let kept = self.groups.iter().map(|group| group.iter().map(keep).collect());
        let groups = kept.filter(|group: &Vec<Option<usize>>| group.iter().any(Option::is_some)).collect();
        Self { positions: Vec::new(), groups, ..*self }
    }

    /// The configuration that differs from this one in the level of the factor alone.
    pub fn sibling(&self, configuration: usize, level: usize) -> Option<usize> {
        self.groups.iter().find(|group| group.contains(&Some(configuration)))?[level]
    }

    /// Two levels, paired by block (by set-up if they are hard to change) and by the levels of all other factors.
    pub fn matched<'a>(
        &self,
        grid: &Grid<'a>,
        from: usize,
        to: usize,
        usable: &dyn Fn(&Observations) -> bool,
    ) -> Matched<'a> {
        let mut pairs = self.groups.iter().filter_map(|group| Some((group[from]?, group[to]?)));
        match pairs.next() {
            Some((from, to)) if self.single() => grid.matched(from, to, usable),
            first => grid.paired(first.into_iter().chain(pairs), self.hard_to_change, usable),
        }
    }
}

/// Position of a configuration's level of a factor.
fn position(recording: &Recording, configuration: usize, factor: &FactorRecord) -> Option<usize> {
    let own = recording.configurations[configuration].level(&factor.name)?;
    factor.levels.iter().position(|level| level == own)
}

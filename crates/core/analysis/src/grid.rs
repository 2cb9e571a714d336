//! A recording laid out as configurations x blocks, and pairs taken from it.

use crate::estimate::{Estimate, Repeats};
use crate::response::{Figure, ResponseChoice};
use crate::response_names::distinct;
use crate::settings::WorkKind;
use observations::{Observations, Recording};
use serde::Serialize;
use statistics::step;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Values of a configuration's trials, by block in ascending order.
pub type Cells<T> = Vec<(u32, T)>;

/// The trials done, and those that timed out, by configuration and block. `T` is what is looked at:
/// all that a trial saw, or its [figure](Figure) of a response.
#[derive(Clone)]
pub struct Grid<T> {
    /// For each configuration: of each block the last successful attempt, or the one that timed
    /// out.
    pub cells: Vec<Cells<T>>,
    design: Rc<Design>,
}

/// Design of the grid of trials.
struct Design {
    /// For each configuration: its levels of the hard-to-change factors, as a number.
    plots: Vec<usize>,
    has_setups: bool,
    /// The set-up that each block belongs to.
    setups: BTreeMap<u32, u32>,
    /// Blocks of the first stage of adaptive repeats.
    first_stage: Option<u32>,
}

/// The figures of a response: of all trials that have to be in estimates and comparisons on it.
pub struct Figures {
    /// The response.
    pub response: ResponseChoice,
    /// The figure in each trial.
    pub grid: Grid<Figure>,
}

/// Unit that repeats a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A block.
    Block,
    /// A round in which each level of the hard-to-change factors is set up once.
    Round,
    /// A set-up: of one level of these factors in one round. What is compared within set-ups may
    /// still differ from one to the other: their interaction is the error.
    SetUp,
}

impl Unit {
    /// The noun in reports.
    pub fn noun(self) -> &'static str {
        if self == Self::Block { "block" } else { "set-up" }
    }
}

/// Matched trials of two sides. Each element is a block or a set-up: all trials of one side in it.
///
/// When `paired`, `from[i]` and `to[i]` are the same block and their trials match one by one.
pub struct Matched<T> {
    /// True if the trials of both sides match one by one.
    pub paired: bool,
    /// The trials of the first side.
    pub from: Vec<Vec<T>>,
    /// The trials of the second side.
    pub to: Vec<Vec<T>>,
    /// The number of elements of each side that its spread is estimated from.
    pub first: [usize; 2],
}

impl<'a> Grid<&'a Observations> {
    /// Lays out the trials of a recording.
    pub fn new(recording: &'a Recording) -> Self {
        let mut cells = vec![BTreeMap::new(); recording.configurations.len()];
        let timed_out = recording.valid().filter(|trial| trial.timed_out());
        let timed_out = timed_out.filter_map(|trial| Some((trial, trial.observations.as_ref()?)));
        for (trial, observations) in recording.done().chain(timed_out) {
            if let Some(blocks) = cells.get_mut(trial.configuration) {
                blocks.insert(trial.block, observations);
            }
        }
        let mut numbers = HashMap::new();
        let plots: Vec<usize> = recording
            .configurations
            .iter()
            .map(|configuration| {
                let next = numbers.len();
                let hard = recording.factors.iter().filter(|factor| factor.hard_to_change);
                let levels: Vec<_> = hard.map(|factor| configuration.level(&factor.name)).collect();
                *numbers.entry(levels).or_insert(next)
            })
            .collect();
        let design = Design {
            has_setups: plots.iter().any(|plot| *plot > 0),
            plots,
            setups: recording.trials.iter().map(|trial| (trial.block, trial.setup)).collect(),
            first_stage: recording.run.adaptive.map(|adaptive| adaptive.min),
        };
        let cells = cells.into_iter().map(|blocks| blocks.into_iter().collect());
        Self { cells: cells.collect(), design: Rc::new(design) }
    }

    /// Returns the observations of all completed trials.
    pub fn observations(&self) -> Vec<&'a Observations> {
        (0..self.cells.len()).flat_map(|configuration| self.trials(configuration)).collect()
    }

    /// Returns the observations of a configuration's completed trials.
    pub fn trials(&self, configuration: usize) -> Vec<&'a Observations> {
        self.cells[configuration]
            .iter()
            .map(|(_, observations)| *observations)
            .filter(|observations| !observations.timed_out())
            .collect()
    }

    /// Returns its observations, including those of timed-out trials.
    pub fn with_timeouts(&self, configuration: usize) -> Vec<&'a Observations> {
        self.cells[configuration].iter().map(|(_, observations)| *observations).collect()
    }

    /// Returns the figures of a response.
    pub fn figures(&self, response: &ResponseChoice) -> Figures {
        let grid = self.map(|grid| response.figure(grid)).rounded();
        Figures { grid, response: response.clone() }
    }
}

impl Grid<Figure> {
    /// Values that are all multiples of the finest recorded step have one step, and a coarser one
    /// where the repeats of configurations show it: what a program prints in hundredths may move
    /// in ticks.
    fn rounded(mut self) -> Self {
        let groups: Vec<Vec<f64>> = self
            .cells
            .iter()
            .map(|cells| cells.iter().filter_map(|(_, cell)| cell.value()).collect())
            .collect();
        let figures = self.cells.iter().flatten().filter(|(_, cell)| cell.value().is_some());
        let steps: Vec<f64> = figures.filter_map(|(_, cell)| cell.step).collect();
        let finest = steps.iter().copied().fold(f64::INFINITY, f64::min);
        // Zeros at the end of a number may be missing. Steps of other ratios are no digits: the
        // buckets of latencies, or one of the events that a rate counts.
        let are_digits = steps.iter().all(|step| {
            let places = (step / finest).log10();
            (places - places.round()).abs() < 1e-9
        });
        let digit = are_digits.then_some(finest);
        if let Some(step) = digit.and_then(|digit| step(&groups, digit)) {
            let figures = self.cells.iter_mut().flatten();
            figures.for_each(|(_, cell)| cell.step = cell.step.map(|_| step));
        }
        self
    }
}

impl Figures {
    /// The mean of a configuration; its interval is over what repeats it.
    pub fn estimate(&self, configuration: usize) -> Option<Estimate> {
        self.response.estimate(&self.grid.repeats(configuration, self.grid.unit_of_levels()))
    }

    /// The values of a configuration's trials by block, where they have one.
    pub fn values(&self, configuration: usize) -> impl Iterator<Item = (u32, f64)> {
        self.grid.cells[configuration]
            .iter()
            .filter_map(|(block, cell)| Some((*block, cell.value()?)))
    }

    /// The values of all trials, in the order of configurations and blocks.
    pub fn all(&self) -> impl Iterator<Item = f64> {
        (0..self.grid.cells.len()).flat_map(|index| self.values(index)).map(|(_, value)| value)
    }
}

impl<T: Copy> Grid<T> {
    /// Maps each trial's value; trials without a result are left out.
    pub fn map<U>(&self, of: impl Fn(T) -> Option<U>) -> Grid<U> {
        let cells = self.cells.iter().map(|cells| {
            cells.iter().filter_map(|(block, cell)| Some((*block, of(*cell)?))).collect()
        });
        Grid { cells: cells.collect(), design: Rc::clone(&self.design) }
    }

    /// The usable trials.
    #[must_use]
    pub fn filter(&self, usable: impl Fn(T) -> bool) -> Self {
        self.map(|grid| usable(grid).then_some(grid))
    }

    /// The trial of a configuration in a block.
    pub fn cell(&self, configuration: usize, block: u32) -> Option<T> {
        let cells = &self.cells[configuration];
        cells.binary_search_by_key(&block, |(block, _)| *block).ok().map(|at| cells[at].1)
    }

    /// Returns whether configurations differ in hard-to-change factors: figures then vary by
    /// set-up, and blocks within a set-up do not repeat it.
    pub fn has_setups(&self) -> bool {
        self.design.has_setups
    }

    /// Returns whether these factors were set up only once, which confounds level and set-up.
    pub fn set_up_once(&self) -> bool {
        self.has_setups() && distinct(self.design.setups.values()).len() < 2
    }

    /// Returns the number of these blocks, or set-ups, that the first stage of adaptive repeats
    /// had.
    fn first<U>(&self, units: &[(u32, U)]) -> usize {
        self.design
            .first_stage
            .map_or(usize::MAX, |last| units.iter().filter(|(unit, _)| *unit <= last).count())
    }

    /// The trials of a configuration.
    pub fn repeats(&self, configuration: usize, unit: Unit) -> Repeats<T> {
        self.repeated(self.cells[configuration].iter().copied(), unit)
    }

    /// Groups values by block, or by round.
    pub fn repeated<U>(&self, cells: impl Iterator<Item = (u32, U)>, unit: Unit) -> Repeats<U> {
        let (units, first) = self.units(cells.map(|(block, cell)| (block, 0, cell)), unit);
        Repeats { units: units.into_iter().map(|(_, cells)| cells).collect(), first }
    }

    /// Groups values of a block and a configuration by unit, in order; with the number that the
    /// spread is estimated from.
    pub fn units<U>(
        &self,
        cells: impl Iterator<Item = (u32, usize, U)>,
        unit: Unit,
    ) -> (Vec<(u32, Vec<U>)>, usize) {
        let round = |block: u32| match unit {
            Unit::Block => block,
            Unit::Round | Unit::SetUp => self.design.setups.get(&block).copied().unwrap_or(1),
        };
        let mut units: BTreeMap<(u32, usize), Vec<U>> = BTreeMap::new();
        for (block, configuration, cell) in cells {
            let plot = if unit == Unit::SetUp { self.design.plots[configuration] } else { 0 };
            units.entry((round(block), plot)).or_default().push(cell);
        }
        let units: Vec<_> = units.into_iter().map(|((round, _), cells)| (round, cells)).collect();
        let first = self.first(&units);
        (units, first)
    }

    /// Returns the unit that repeats a level of the hard-to-change factors.
    pub fn unit_of_levels(&self) -> Unit {
        if self.has_setups() { Unit::Round } else { Unit::Block }
    }

    /// Returns the unit that repeats what is compared within set-ups: with one round it is the
    /// block, and what is found holds for these set-ups.
    pub fn unit_within(&self) -> Unit {
        if self.has_setups() && !self.set_up_once() { Unit::SetUp } else { Unit::Block }
    }

    /// Returns the unit that repeats a comparison of two configurations.
    pub fn unit_between(&self, from: usize, to: usize) -> Unit {
        if self.design.plots[from] == self.design.plots[to] {
            self.unit_within()
        } else {
            Unit::Round
        }
    }

    /// Two configurations by their trials, by [`Self::unit_between`] them.
    ///
    /// By pairs when at least two units have both; else all units of each apart, if both have
    /// two; else by what there is.
    pub fn matched(&self, from: usize, to: usize) -> Matched<T> {
        let unit = self.unit_between(from, to);
        let paired = self.paired([(from, to)].into_iter(), unit);
        if paired.from.len() < 2 {
            let apart = Matched::unpaired(self.repeats(from, unit), self.repeats(to, unit));
            if paired.from.is_empty() || (apart.from.len() >= 2 && apart.to.len() >= 2) {
                return apart;
            }
        }
        paired
    }

    /// Pairs of configurations, one or several that differ in the same way.
    pub fn matched_over(&self, pairs: &[(usize, usize)]) -> Matched<T> {
        match pairs {
            [(from, to)] => self.matched(*from, *to),
            pairs => {
                let mut units = pairs.iter().map(|(from, to)| self.unit_between(*from, *to));
                let all = units.find(|unit| *unit == Unit::Round);
                self.paired(pairs.iter().copied(), all.unwrap_or_else(|| self.unit_within()))
            }
        }
    }

    /// Pairs of configurations by the units in which both have trials.
    fn paired(&self, pairs: impl Iterator<Item = (usize, usize)>, unit: Unit) -> Matched<T> {
        let both = pairs.flat_map(|(from, to)| {
            let cells = self.cells[from].iter();
            cells.filter_map(move |(block, cell)| {
                Some((*block, from, (*cell, self.cell(to, *block)?)))
            })
        });
        let (units, first) = self.units(both, unit);
        let (from, to) = units.into_iter().map(|(_, pairs)| pairs.into_iter().unzip()).unzip();
        Matched { paired: true, from, to, first: [first; 2] }
    }
}

impl<T> Matched<T> {
    /// Two sides whose blocks have nothing in common, such as those of two runs.
    pub fn unpaired(from: Repeats<T>, to: Repeats<T>) -> Self {
        Self { paired: false, first: [from.first, to.first], from: from.units, to: to.units }
    }
}

impl Matched<Figure> {
    /// Returns whether any trial timed out.
    pub fn timed_out(&self) -> bool {
        self.from.iter().chain(&self.to).flatten().any(|cell| cell.timed_out)
    }
}

/// The level of a factor in each configuration, and the configurations that differ in nothing else.
/// Another kind of work is a difference: responses are not comparable.
pub struct FactorLayout {
    /// Position of the factor.
    pub factor: usize,
    /// Number of levels.
    pub levels: usize,
    /// The level that the others are compared with: the baseline's, else the first.
    pub reference: usize,
    /// True if its levels are set up, not drawn in each block.
    pub hard_to_change: bool,
    /// True if its levels do different work and are not compared.
    pub other_work: bool,
    /// Position of each configuration's level; `None` where it has none.
    pub positions: Vec<Option<usize>>,
    /// For each combination of the other factors' levels: the configuration of each level.
    groups: Vec<Vec<Option<usize>>>,
}

/// The kind of work of a configuration, as text, and its levels of the other factors.
type Others<'a> = (String, Vec<(&'a str, &'a str)>);

impl FactorLayout {
    /// Lays out the levels of a factor.
    pub fn new(recording: &Recording, factor: usize) -> Self {
        let record = &recording.factors[factor];
        // Reversed, so that the first of levels with one label wins.
        let labels = record.levels.iter().enumerate().rev();
        let labels: HashMap<&str, usize> = labels.map(|(at, label)| (label.as_str(), at)).collect();
        let positions: Vec<Option<usize>> = recording
            .configurations
            .iter()
            .map(|configuration| {
                configuration.level(&record.name).and_then(|label| labels.get(label).copied())
            })
            .collect();
        let mut index: HashMap<Others, usize> = HashMap::new();
        let mut groups: Vec<Vec<Option<usize>>> = Vec::new();
        for (configuration, configuration_record) in recording.configurations.iter().enumerate() {
            let Some(level) = positions[configuration] else { continue };
            let others = configuration_record.levels.iter().filter(|l| l.factor != record.name);
            let others = others.map(|l| (l.factor.as_str(), l.level.as_str())).collect();
            let kind = WorkKind::of_configuration(recording, configuration);
            let key = (format!("{kind:?}"), others);
            let group = *index.entry(key).or_insert_with(|| {
                groups.push(vec![None; record.levels.len()]);
                groups.len() - 1
            });
            groups[group][level] = Some(configuration);
        }
        let baseline = recording.run.baseline.filter(|index| *index < positions.len());
        let reference = baseline.and_then(|index| positions[index]).unwrap_or(0);
        let mut kinds: Vec<Vec<WorkKind>> = record.levels.iter().map(|_| Vec::new()).collect();
        for (configuration, level) in positions.iter().enumerate() {
            let Some(level) = *level else { continue };
            let kind = WorkKind::of_configuration(recording, configuration);
            if !kinds[level].contains(&kind) {
                kinds[level].push(kind);
            }
        }
        kinds.retain(|kind| !kind.is_empty());
        let does_more = |work_kinds: &[WorkKind], other: &[WorkKind]| {
            work_kinds.iter().any(|work_kind| !other.contains(work_kind))
        };
        let differ =
            kinds.iter().any(|kind| does_more(kind, &kinds[0]) || does_more(&kinds[0], kind));
        Self {
            factor,
            levels: record.levels.len(),
            other_work: differ,
            reference,
            hard_to_change: record.hard_to_change,
            positions,
            groups,
        }
    }

    /// Returns whether the factor is the only one.
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

    /// The part of it where another factor has one of its levels.
    #[must_use]
    pub fn at(&self, by: &Self, level: usize) -> Self {
        let kept = self.groups.iter().map(|group| {
            group
                .iter()
                .map(|group| group.filter(|group| by.positions[*group] == Some(level)))
                .collect()
        });
        let groups =
            kept.filter(|group: &Vec<Option<usize>>| group.iter().any(Option::is_some)).collect();
        Self { positions: Vec::new(), groups, ..*self }
    }

    /// The configuration that differs from this one in the level of the factor alone.
    pub fn sibling(&self, configuration: usize, level: usize) -> Option<usize> {
        self.groups.iter().find(|group| group.contains(&Some(configuration)))?[level]
    }

    /// Returns the unit that repeats a comparison of its levels.
    pub fn unit<T: Copy>(&self, grid: &Grid<T>) -> Unit {
        if self.hard_to_change { grid.unit_of_levels() } else { grid.unit_within() }
    }

    /// Two levels, paired by their [unit](Self::unit) and by the levels of all other factors.
    pub fn matched<T: Copy>(&self, grid: &Grid<T>, from: usize, to: usize) -> Matched<T> {
        let mut pairs = self.groups.iter().filter_map(|group| Some((group[from]?, group[to]?)));
        match pairs.next() {
            Some((from, to)) if self.single() => grid.matched(from, to),
            first => grid.paired(first.into_iter().chain(pairs), self.unit(grid)),
        }
    }
}

//! Designs: which combinations of levels run, and when. The grid, all of them, is core's; the
//! others are guests, which the catalog lists.

use crate::design_runs::{Added, DesignRuns};
use crate::error::Fault;
use crate::experiment::{Experiment, Factor, FactorLevel, Repeats};
use crate::{Declaration, FromValue, Setting, Value};
use observations::{Recording, TrialRecord};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Path of the setting that selects the design.
pub const DESIGN_KIND: &str = "design.kind";
/// The kind of the design that runs all combinations.
pub const GRID: &str = "grid";
/// The section of further runs.
pub(crate) const EXTENSION: &str = "extension";

/// A design other than the grid.
pub trait Design: Debug + Sync {
    /// The kind in the file.
    fn kind(&self) -> &'static str;

    /// Paths of the settings of `[design]` that it has.
    fn settings(&self) -> &'static [&'static str];

    /// Returns whether machines can share its blocks.
    fn shares_blocks(&self) -> bool;

    /// Reads the part of the file that is about it, and adds the further runs of `[[extension]]`
    /// or refuses them; `None` after an error.
    fn read(&self, file: &mut DesignFile<'_>) -> Option<DesignRuns>;

    /// The design before it is run: the lines that `check` prints, and the object of its JSON.
    fn plan(&self, experiment: &Experiment) -> (Vec<String>, serde_json::Value);

    /// Decides by recorded trials which configurations run on. By default all do.
    fn schedule(&self, _: &Experiment, _: &Recording) -> Option<Box<dyn DesignSchedule>> {
        None
    }
}

/// Decides, while an experiment runs, which configurations run further blocks. It decides by
/// recorded trials alone, so that a resumed run takes the same decisions.
pub trait DesignSchedule: Debug {
    /// Takes note of a trial that this session has recorded.
    fn record(&mut self, trial: &TrialRecord);

    /// Returns whether a configuration runs a block.
    fn runs(&self, configuration: usize, block: u32) -> bool;

    /// Decides by the blocks up to this one, which are complete. Returns a sentence on each
    /// configuration that leaves after it.
    fn look(&mut self, block: u32) -> Vec<String>;
}

/// The designs of a binary.
#[derive(Debug, Clone, Copy, Default)]
pub struct Designs {
    /// The settings of `[design]`, [`DESIGN_KIND`] among them.
    pub settings: &'static [Declaration],
    /// The keys of an `[[extension]]`.
    pub extension: &'static [Declaration],
    /// The designs.
    pub all: &'static [&'static dyn Design],
}

impl Designs {
    /// The grid alone.
    pub const GRID_ONLY: Self = Self { settings: &[], extension: &[], all: &[] };

    /// The design of this kind; `None`: the grid.
    pub fn find(&self, kind: &str) -> Option<&'static dyn Design> {
        self.all.iter().copied().find(|design| design.kind() == kind)
    }

    /// The design of an experiment; `None`: the grid.
    pub fn for_experiment(&self, experiment: &Experiment) -> Option<&'static dyn Design> {
        self.find(experiment.design.as_ref()?.kind)
    }
}

/// The place of an error in the part of a file that is about its design.
#[derive(Debug, Clone, Copy)]
pub enum DesignPlace<'p> {
    /// The whole design.
    Design,
    /// A setting, by its path.
    Setting(&'p str),
    /// The number of blocks.
    Blocks,
    /// The levels of a factor, by its name.
    Factor(&'p str),
    /// The mark of a level of this factor that may be omitted.
    Omission(&'p str),
    /// The first exclusion; without one there is no error.
    Exclusions,
    /// A table of further runs, or a key of it.
    Extension(usize, Option<&'p str>),
}

/// The reader of a file, for the part that is about its design.
pub trait DesignReader {
    /// Returns whether the file gives a setting.
    fn has(&self, path: &str) -> bool;

    /// Returns whether a factor is one of `[factors]`, and not of linked levels.
    fn is_plain(&self, factor: &str) -> bool;

    /// A level of a factor that the file does not give; `None` after an error.
    fn level(&mut self, factor: &str, label: String) -> Option<FactorLevel>;

    /// The values of each table of further runs.
    fn extensions(&mut self, declared: &[Declaration]) -> Vec<BTreeMap<String, Value>>;

    /// Adds an error.
    fn add_error(&mut self, place: DesignPlace<'_>, fault: Fault);
}

/// A file as its design reads it, with what was read before.
pub struct DesignFile<'f> {
    pub(crate) reader: &'f mut dyn DesignReader,
    pub(crate) values: &'f BTreeMap<String, Value>,
    /// The factors, to whose levels a design can add others.
    pub factors: &'f mut Vec<Factor>,
    /// Positions of the hard-to-change factors.
    pub hard: &'f [usize],
    /// The repeats.
    pub repeats: &'f Repeats,
    /// Further runs, which the design adds.
    pub added: Vec<Added>,
}

impl DesignFile<'_> {
    /// The value of a setting of `[design]`.
    pub fn get<T: FromValue>(&self, setting: Setting<T>) -> T {
        setting.value_in(self.values)
    }

    /// Returns whether the file gives a setting.
    pub fn has(&self, path: &str) -> bool {
        self.reader.has(path)
    }

    /// Adds an error.
    pub fn error(&mut self, place: DesignPlace<'_>, fault: impl Into<Fault>) {
        self.reader.add_error(place, fault.into());
    }

    /// Adds an error of a factor, by its position.
    pub fn error_of_factor(&mut self, factor: usize, fault: impl Into<Fault>) {
        let name = &self.factors[factor].name;
        self.reader.add_error(DesignPlace::Factor(name), fault.into());
    }

    /// Makes exclusions of combinations an error.
    pub fn refuse_exclusions(&mut self, design: &str) {
        let message = format!(
            "{design} runs a fixed set of configurations; remove [[exclude]], or use a grid"
        );
        self.error(DesignPlace::Exclusions, message);
    }

    /// Makes further runs an error.
    pub fn refuse_extensions(&mut self) {
        let message = "only a screening design has extensions; remove this table";
        self.error(DesignPlace::Extension(0, None), message);
    }

    /// The values of each table of further runs.
    pub fn extensions(&mut self, declared: &[Declaration]) -> Vec<BTreeMap<String, Value>> {
        self.reader.extensions(declared)
    }

    /// Returns whether a factor is one of `[factors]`, and not of linked levels.
    pub fn is_plain(&self, factor: usize) -> bool {
        self.reader.is_plain(&self.factors[factor].name)
    }

    /// A level of a factor that the file does not give; `None` after an error.
    pub fn level(&mut self, factor: usize, label: String) -> Option<FactorLevel> {
        self.reader.level(&self.factors[factor].name, label)
    }
}

//! Designs: which combinations of levels run, and when. The grid, all of them, is core's; the
//! others are guests, which the catalog lists.

use crate::Declaration;
use crate::design_file::DesignFile;
use crate::design_runs::DesignRuns;
use crate::experiment::Experiment;
use observations::{Recording, TrialRecord};
use std::fmt::Debug;

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

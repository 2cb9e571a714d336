use crate::design_runs::{DesignRuns, Stage};
use crate::error::{Errors, FileErrors};
use crate::{Configuration, FromValue, Invalid, NamedFile, Setting, Value};
use observations::{Throttle, UnmeasuredTable};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;

/// A validated experiment file.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Name of the experiment and of its results file.
    pub name: String,
    /// Factors in the order of the file.
    pub factors: Vec<Factor>,
    /// All configurations: of a grid in the order of the levels, the last factor fastest; of
    /// another design in its order of runs.
    pub configurations: Vec<Configuration>,
    /// How they follow from the factors; `None`: a grid.
    pub design: Option<DesignRuns>,
    /// The extensions of a design, which follow its own configurations and blocks.
    pub stages: Vec<Stage>,
    /// Position of the baseline in `configurations`.
    pub baseline: Option<usize>,
    /// Levels that are not among those of the factors, because their engine is not installed.
    pub left_out: Vec<LeftOut>,
    /// Tables for which the cost model of scans predicts what a scan takes.
    pub predict: Vec<UnmeasuredTable>,
    /// Declared volumes.
    pub volumes: Vec<Volume>,
    /// The number of times that each configuration is run.
    pub repeats: Repeats,
    /// The search by a guest, of a file that has one.
    pub search: Option<GuestSearch>,
    /// Positions of the hard-to-change factors in `factors`, the one that changes most seldom
    /// first: manual steps that `order.hard_to_change` does not list, then that list.
    pub hard_to_change: Vec<usize>,
    /// The file as it is.
    pub source: String,
    /// The form in the results file, where that is another: without command lines.
    pub(crate) recorded: Option<Box<Experiment>>,
    /// The folder of the file; empty where there is none: that in which Steelbench runs.
    pub folder: PathBuf,
    /// Other files that it names, as they were read, each once.
    pub files: Vec<Arc<NamedFile>>,
    /// Values of settings that neither an engine nor a probe owns.
    pub(crate) settings: BTreeMap<String, Value>,
    /// Where each setting stands that the file gives or varies.
    pub(crate) spans: BTreeMap<String, Range<usize>>,
}

/// A search by a guest, which chooses the settings of its trials itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuestSearch {
    /// How much may be run.
    pub budget: Budget,
    /// How to run it and to validate its file, which is `{file}` here: the end of a sentence.
    pub usage: &'static str,
}

/// How much may be run, the confirmation included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// A number of trials.
    Trials(u32),
    /// Seconds.
    Time(f64),
}

/// Anything that is varied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Factor {
    /// Dotted path of a setting, or the name of a group of linked levels.
    pub name: String,
    /// The levels in the order of the file.
    pub levels: Vec<FactorLevel>,
    /// True if it is changed as seldom as possible.
    pub hard_to_change: bool,
    /// Manual step at a change of its level.
    pub manual: Option<String>,
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorLevel {
    /// Label as printed.
    pub label: String,
    /// The settings that it stands for.
    pub set: Vec<(String, Value)>,
    /// It is left out where its engine is not installed.
    pub if_installed: bool,
}

/// A level that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the factor.
    pub factor: String,
    /// Label of the level.
    pub level: String,
    /// The engine that it needs.
    pub engine: String,
    /// The missing installation: `duckdb is not installed: ...`.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { factor, level, why, .. } = self;
        write!(f, "level {level} of {factor} omitted: {why}")
    }
}

impl Factor {
    /// The levels as numbers, when each is one number.
    pub fn numeric(&self) -> Option<Vec<f64>> {
        self.levels
            .iter()
            .map(|level| match level.set.as_slice() {
                [(_, value)] => value.as_f64(),
                _ => None,
            })
            .collect()
    }
}

/// A named place to put data or log.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// The name.
    pub name: String,
    /// A directory.
    pub path: String,
    /// Command that runs before the volume is used.
    pub prepare: Option<String>,
    /// Command that runs when it is used no longer.
    pub cleanup: Option<String>,
    /// Seconds after which one of its commands is killed.
    pub hook_timeout_s: f64,
    /// Limits that make it slower than it is.
    pub throttle: Option<Throttle>,
}

/// The number of times that each configuration is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repeats {
    /// Blocks.
    pub blocks: Blocks,
    /// The number of times that each level of the hard-to-change factors is set up.
    pub setups: u32,
    /// Seed of the order and of the data.
    pub seed: u64,
    /// The number of times that a failed trial is tried again.
    pub retries: u32,
}

/// Number of blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Blocks {
    /// This number.
    Fixed(u32),
    /// From `min` to `max`: as many as make every configuration's 95 % interval narrow enough, by
    /// the spread within `min`.
    Adaptive {
        /// Blocks that are run in any case.
        min: u32,
        /// Blocks after which to stop.
        max: u32,
        /// Half width of the interval as a share of the mean.
        until: f64,
    },
}

impl Blocks {
    /// The number of blocks that are run in any case.
    pub fn min(self) -> u32 {
        match self {
            Self::Fixed(blocks) => blocks,
            Self::Adaptive { min, .. } => min,
        }
    }

    /// The largest number of blocks that can be run.
    pub fn max(self) -> u32 {
        match self {
            Self::Fixed(blocks) => blocks,
            Self::Adaptive { max, .. } => max,
        }
    }
}

impl Repeats {
    /// The set-up (from 1) that a block belongs to: the blocks are divided among the set-ups as
    /// evenly as they can be, in their order.
    pub fn setup(&self, block: u32) -> u32 {
        (u64::from(block - 1) * u64::from(self.setups) / u64::from(self.blocks.max())) as u32 + 1
    }

    /// The blocks of a set-up.
    pub fn blocks_of(&self, setup: u32) -> RangeInclusive<u32> {
        let before = |setup: u32| {
            (u64::from(setup) * u64::from(self.blocks.max())).div_ceil(u64::from(self.setups))
                as u32
        };
        before(setup - 1) + 1..=before(setup)
    }
}

impl Experiment {
    /// Leaves out the levels with `if_installed` of which this says what is missing of a
    /// configuration's engine: its name and why.
    pub fn leave_out(&mut self, missing: impl Fn(&Configuration) -> Option<(String, String)>) {
        let baseline = self.baseline.map(|position| self.configurations[position].label());
        for factor in &mut self.factors {
            let configurations = &mut self.configurations;
            let has = |configuration: &Configuration, label: &str| {
                configuration
                    .levels
                    .iter()
                    .any(|level| level.factor == factor.name && level.label == label)
            };
            let why = |level: &FactorLevel| {
                let mut configurations =
                    configurations.iter().filter(|configuration| has(configuration, &level.label));
                configurations.find_map(&missing).filter(|_| level.if_installed)
            };
            let found: Vec<LeftOut> = factor
                .levels
                .iter()
                .filter_map(|level| {
                    let (engine, why) = why(level)?;
                    Some(LeftOut {
                        factor: factor.name.clone(),
                        level: level.label.clone(),
                        engine,
                        why,
                    })
                })
                .collect();
            configurations
                .retain(|configuration| !found.iter().any(|left| has(configuration, &left.level)));
            factor.levels.retain(|level| !found.iter().any(|left| left.level == level.label));
            self.left_out.extend(found);
        }
        self.baseline = baseline
            .and_then(|label| {
                self.configurations.iter().position(|configuration| configuration.label() == label)
            })
            .or_else(|| (self.configurations.len() > 1).then_some(0));
    }

    /// Number of configurations before those of extensions.
    pub fn own_configurations(&self) -> usize {
        self.stages.first().map_or(self.configurations.len(), |stage| stage.configurations.start)
    }

    /// A setting that no engine or probe owns: one of [`crate::file`].
    pub fn get<T: FromValue>(&self, setting: Setting<T>) -> T {
        setting.value_in(&self.settings)
    }

    /// Objections of engines and probes as errors of the file, each where its setting stands, or
    /// of the innermost table that would hold it when the file does not give it.
    pub fn objections(&self, invalid: &[Invalid]) -> FileErrors {
        let mut errors = Errors::default();
        for objection in invalid {
            let mut tables = std::iter::successors(Some(objection.path.as_str()), |path| {
                path.rsplit_once('.').map(|(table, _)| table)
            });
            let span = tables.find_map(|path| self.spans.get(path));
            errors.add(span.unwrap_or(&(0..0)), &objection.path, objection.message.as_str());
        }
        errors.into_file_errors(&self.source)
    }
}

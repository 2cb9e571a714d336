//! The entry point: a recording laid out and compared once, from which each section of a report is
//! computed.

use crate::effects::corrected;
use crate::grid::{FactorLayout, Figures, Grid};
use crate::response_names::distinct;
use crate::settings::probe;
use crate::wording::Sentence;
use crate::{
    ConfigurationRow, Detectable, DurabilityRules, FactorEffect, Factors, Finding, Interaction,
    PartNames, ResponseChoice, StorageUse, TableUse, TooFew, configurations,
};
use experiment::{GRID, design_kind};
use observations::{
    ConfigurationRecord, Environment, Observations, Recording, Role, Roles, RunRecord, TrialStatus,
    UnmeasuredTable,
};
use serde::Serialize;
use std::any::Any;
use std::sync::OnceLock;

/// The data that all sections share. A section adds a method for its own data (`findings`, `waits`,
/// `devices`, ...) in its own file.
pub struct Summary<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// The response on which configurations are compared; `None` when no trial was done.
    pub response: Option<ResponseChoice>,
    /// Configurations in the order of the file.
    pub configurations: Vec<ConfigurationRow>,
    /// Effects of the factors, alone and in pairs.
    pub factors: Factors,
    /// Position of the factor by which waits are shown: the first ordered one, else the first.
    pub main_factor: Option<usize>,
    /// Tables that are not measured, of which cost models say what a scan takes.
    pub predict: Vec<UnmeasuredTable>,
    /// Roles of all settings that an experiment can vary, for questions about those that this run
    /// did not give.
    pub declared: Roles,
    /// The settings by which each engine weakens durability.
    pub durability: DurabilityRules,
    /// The studies whose probes the run may have.
    pub studies: &'static [&'static Study],
    /// Runs that may have measured what the storage can do.
    pub storage_runs: Vec<Recording>,
    /// The trials by configuration and block.
    pub grid: Grid<&'a Observations>,
    /// Figures of the response.
    pub figures: Option<Figures>,
    /// A layout for each factor.
    pub layouts: Vec<FactorLayout>,
    /// Kind of its design. Factors are compared level by level in a grid alone.
    pub design_kind: String,
    /// The designs that the binary has.
    pub(crate) designs: &'static [&'static Design],
    /// The data of its design, once they were asked for.
    design_data: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// A design's part in the analysis of its runs. The binary passes the designs; the analysis names
/// none.
#[derive(Clone, Copy)]
pub struct Design {
    /// The kind in recorded files.
    pub kind: &'static str,
    /// The legend of the table of configurations, where the design compares them by itself; `None`:
    /// they are compared as in a grid.
    pub legend: Option<&'static str>,
    /// Sentences on a response, by its name; `None` of a run without runs of this design.
    pub sentences: fn(&Summary, &str) -> Option<Vec<Sentence>>,
    /// The runs that continue as those of another design, where it has such.
    pub continued: Option<fn(&Summary) -> Option<Continued>>,
}

/// Runs that continue as those of another design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continued {
    /// Kind of the other design.
    pub kind: &'static str,
    /// Positions of its factors.
    pub factors: Vec<usize>,
    /// Positions of its configurations.
    pub runs: Vec<usize>,
}

/// A study's part in the analysis of its runs. The binary passes the studies; the analysis names
/// none.
#[derive(Clone, Copy)]
pub struct Study {
    /// Name of its probe in recordings; `None` of a tool, which looks at the runs of every probe.
    pub probe: Option<&'static str>,
    /// Findings of its own. Those on other responses come last, the rest precede those on factors;
    /// those of a tool follow them.
    pub findings: Option<fn(&Summary) -> Vec<Finding>>,
    /// How its trials use storage, where they do so themselves and no engine does.
    pub storage: Option<StorageUse>,
    /// How a unit of its work uses a table, where its trials work on one.
    pub table: Option<TableUse>,
    /// Names of the parts of its load, where these are recorded one by one.
    pub parts: PartNames,
    /// True if its sections draw the response in place of the default chart.
    pub draws_response: bool,
    /// True if the plans of its trials are statement plans.
    pub explains_statements: bool,
}

impl Study {
    /// A study whose runs have what every run has.
    pub const fn new(probe: &'static str) -> Self {
        Self { probe: Some(probe), ..Self::of_every_probe() }
    }

    /// The part of a tool.
    pub const fn of_every_probe() -> Self {
        Self {
            probe: None,
            findings: None,
            storage: None,
            table: None,
            parts: PartNames::SCRIPTS,
            draws_response: false,
            explains_statements: true,
        }
    }
}

/// Roles of settings that state how large the load or the data is.
const LOAD: [Role; 5] =
    [Role::Concurrency, Role::QueueDepth, Role::ArrivalRate, Role::DataIdentity, Role::Measurement];

/// The start of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// The run.
    pub run: RunRecord,
    /// The response on which configurations are compared; `None` when no trial was done.
    pub response: Option<ResponseChoice>,
    /// Position of the factor by which waits are shown.
    pub main_factor: Option<usize>,
    /// Trials done.
    pub done: usize,
    /// Attempts that failed.
    pub failed: usize,
    /// True if any figure comes from a scripted engine.
    pub synthetic: bool,
}

/// The environments of the trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Environments {
    /// The environment at the start.
    pub first: Environment,
    /// The number of further environments that resumed sessions of the run found.
    pub others: usize,
}

/// Lays out a recording and compares its configurations, with what every run has.
pub fn summarize(recording: &Recording) -> Summary<'_> {
    summarize_with(recording, &[], Vec::new())
}

/// Lays out a recording with what these studies know of their runs, and with runs that may have
/// measured what its storage can do.
pub fn summarize_with<'r>(
    recording: &'r Recording,
    studies: &'static [&'static Study],
    storage_runs: Vec<Recording>,
) -> Summary<'r> {
    let grid = Grid::new(recording);
    let response = ResponseChoice::for_recording(recording);
    let layouts: Vec<FactorLayout> =
        (0..recording.factors.len()).map(|factor| FactorLayout::new(recording, factor)).collect();
    let ordered = layouts.iter().position(|layout| {
        recording.factors[layout.factor].numeric.is_some() && !layout.other_work
    });
    let compared = layouts.iter().position(|layout| !layout.other_work);
    let main_factor = ordered.or(compared).or((!layouts.is_empty()).then_some(0));
    let figures = response.as_ref().map(|response| grid.figures(response));
    let design_kind = design_kind(&recording.run.source);
    let factors = figures
        .as_ref()
        .map(|figures| Factors::estimate(recording, &grid, &layouts, main_factor, figures))
        .map(|estimate| if design_kind == GRID { estimate } else { estimate.without_claims() });
    Summary {
        recording,
        configurations: configurations::rows(recording, &grid, figures.as_ref()),
        factors: factors.unwrap_or_default(),
        response,
        main_factor,
        predict: Vec::new(),
        declared: Roles::default(),
        durability: Vec::new(),
        studies,
        storage_runs,
        grid,
        figures,
        layouts,
        design_kind,
        designs: &[],
        design_data: OnceLock::new(),
    }
}

impl Summary<'_> {
    /// Returns the overview at the start of a report.
    pub fn overview(&self) -> Overview {
        Overview {
            run: self.recording.run.clone(),
            response: self.response.clone(),
            main_factor: self.main_factor,
            done: self.done(),
            failed: self.failed(),
            synthetic: self.recording.done().any(|(_, observations)| observations.synthetic),
        }
    }

    /// The summary of a run that may have one of these designs.
    #[must_use]
    pub fn with_designs(mut self, designs: &'static [&'static Design]) -> Self {
        self.designs = designs;
        if !self.compares_configurations() {
            self.configurations.iter_mut().for_each(ConfigurationRow::without_comparisons);
        }
        self
    }

    /// Returns whether it is the run of a grid.
    pub fn is_grid(&self) -> bool {
        self.design_kind == GRID
    }

    /// The design; `None` of a grid, and of a design that the binary does not have.
    pub fn design(&self) -> Option<&'static Design> {
        self.designs.iter().copied().find(|design| design.kind == self.design_kind)
    }

    /// The runs that continue as those of a design of another kind.
    pub fn continued_as(&self, kind: &str) -> Option<Continued> {
        let continued = (self.design()?.continued?)(self);
        continued.filter(|continued| continued.kind == kind)
    }

    /// Returns whether configurations are compared as in a grid, and not by their design.
    pub fn compares_configurations(&self) -> bool {
        self.design().is_none_or(|design| design.legend.is_none())
    }

    /// The data of the run's design, computed once.
    pub fn design_data<T: Send + Sync + 'static>(&self, compute: impl FnOnce() -> T) -> Option<&T> {
        self.design_data.get_or_init(|| Box::new(compute())).downcast_ref()
    }

    /// The values of a configuration by block.
    pub fn values(&self, configuration: usize) -> Vec<(u32, f64)> {
        self.figures.iter().flat_map(|figures| figures.values(configuration)).collect()
    }

    /// The study whose probe a configuration has; `None` of one that the binary does not have.
    pub fn study(&self, configuration: usize) -> Option<&'static Study> {
        study_of(self.studies, &self.recording.configurations[configuration])
    }

    /// How the trials of a configuration use storage, where they do so themselves.
    pub fn storage_use(&self, configuration: usize) -> Option<&'static StorageUse> {
        self.study(configuration)?.storage.as_ref()
    }

    /// Names of the parts of the load of a configuration.
    pub fn part_names(&self, configuration: usize) -> PartNames {
        self.study(configuration).map_or(PartNames::SCRIPTS, |study| study.parts)
    }

    /// Returns whether a study's sections draw the response of completed trials.
    pub fn study_draws_response(&self) -> bool {
        let mut drawn = (0..self.configurations.len())
            .filter(|index: &usize| self.study(*index).is_some_and(|study| study.draws_response));
        drawn.any(|configuration| !self.grid.trials(configuration).is_empty())
    }

    /// Position of the factor that the experiment asks about: the first of the file whose levels
    /// are compared. One that only states how large the load or the data is comes after the others.
    pub fn asked_factor(&self) -> Option<usize> {
        let compared = || self.layouts.iter().filter(|layout| !layout.other_work);
        let explained = compared().find(|change| {
            let path = &self.recording.factors[change.factor].name;
            !self.recording.roles.has(path, &LOAD)
        });
        let explained = explained.or_else(|| compared().next()).or(self.layouts.first());
        explained.map(|change| change.factor)
    }

    /// Returns the tests of one factor, alone and with each other one, as a family of their own.
    pub fn tests_of_factor(&self, factor: usize) -> Factors {
        let mut factors = self.factors.clone().without_claims();
        let Some(figures) = &self.figures else { return factors };
        let layout = &self.layouts[factor];
        let record = &self.recording.factors[factor];
        factors.effects[factor] = FactorEffect::estimate(record, layout, &self.grid, figures);
        let others = self.layouts.iter().filter(|other| other.factor != factor);
        factors.interactions =
            others.filter_map(|other| Interaction::estimate(other, layout, figures)).collect();
        factors.family = corrected(&mut factors.effects, &mut factors.interactions);
        factors
    }

    /// Returns the smallest difference between two configurations that could have been detected,
    /// from the spread of all against the one with the most trials; `None` without a spread.
    pub fn detectable(&self) -> Option<Detectable> {
        let figures = self.figures.as_ref().filter(|_| self.compares_configurations());
        let measured = figures?.grid.filter(|grid| grid.value().is_some());
        let rows = &self.configurations;
        let reference = rows.iter().rev().max_by_key(|row| row.done)?.index;
        let others = (0..rows.len()).filter(|other| *other != reference);
        Detectable::of_comparisons(
            others.map(|other| measured.matched(reference, other)),
            rows.len() - 1,
        )
    }

    /// Percentiles without estimates, because some trials of a configuration have too few values.
    pub fn too_few(&self) -> Vec<TooFew> {
        let all =
            (0..self.grid.cells.len()).flat_map(|index| TooFew::all(&self.grid.trials(index)));
        let names = distinct(all.map(|figure| figure.name));
        let trials = self.grid.observations();
        names.iter().filter_map(|name| TooFew::find(name, &trials)).collect()
    }

    /// Trials done.
    pub fn done(&self) -> usize {
        self.recording.done().count()
    }

    /// Attempts that failed.
    pub fn failed(&self) -> usize {
        self.recording.trials.iter().filter(|trial| trial.status != TrialStatus::Done).count()
    }

    /// Unit of the response on which configurations are compared.
    pub fn unit(&self) -> &str {
        self.response.as_ref().map_or("", |response| response.unit.as_str())
    }

    /// A relative difference below this does not matter; 0: not stated.
    pub fn margin(&self) -> f64 {
        self.response.as_ref().map_or(0.0, |response| response.equivalence_margin)
    }

    /// Returns the environment of the trials, if recorded.
    pub fn environment(&self) -> Option<Environments> {
        let (first, others) = self.recording.environments.split_first()?;
        Some(Environments { first: first.clone(), others: others.len() })
    }
}

/// The study whose probe a configuration has.
pub fn study_of(
    studies: &'static [&'static Study],
    configuration: &ConfigurationRecord,
) -> Option<&'static Study> {
    let name = probe(configuration)?;
    studies.iter().copied().find(|study| study.probe == Some(name))
}

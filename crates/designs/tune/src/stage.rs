//! An experiment whose configurations are points of the search, run and read back.

use crate::optimiser::Point;
use crate::space::Knobs;
use command_line::session::Session;
use command_line::{Context, Failure, results};
use experiment::file::{NAME, QUESTION};
use experiment::{Draft, Experiment, Invalid, LinkedSettings};
use observations::{Recording, RunEnd, TrialRecord, redacted};
use runner::RunChoices;
use std::path::{Path, PathBuf};
use store::{Fault, Store, StoreError};

/// The factor whose levels are points.
pub const FACTOR: &str = "candidate";
/// The name of the present settings.
pub const PRESENT: &str = "present";
/// The name of the server's defaults.
pub const DEFAULTS: &str = "defaults";

/// A point with its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contender {
    /// The name in tables.
    pub name: String,
    /// The values.
    pub point: Point,
}

impl Contender {
    /// A point under this name.
    pub fn new(name: impl Into<String>, point: Point) -> Self {
        Self { name: name.into(), point }
    }
}

/// The experiment that a search starts from, and where it is run.
pub struct Stage<'e> {
    /// Registry of the program.
    pub context: &'e Context,
    /// The experiment file.
    pub file: &'e Path,
    /// The content.
    pub base: &'e Experiment,
    /// The knobs.
    pub knobs: &'e Knobs<'e>,
    /// Print events as JSON.
    pub json: bool,
    /// Run failed trials again.
    pub retry_failed: bool,
}

/// The purpose of an experiment of a search.
pub(crate) struct Purpose<'p> {
    /// Appended to the name of the experiment.
    pub suffix: &'p str,
    /// The question that it answers.
    pub question: &'p str,
    /// Blocks; `None`: those of the file.
    pub blocks: Option<u32>,
}

impl Stage<'_> {
    /// The experiment that runs these contenders.
    pub fn experiment(
        &self,
        purpose: &Purpose<'_>,
        contenders: &[Contender],
    ) -> Result<Experiment, Failure> {
        // Linked levels give the values of the knobs.
        let mut draft = Draft::from_experiment(self.base);
        let knobs = self.knobs.search.knobs.iter().map(|knob| knob.setting.as_str());
        ["knob", "tune"].into_iter().chain(knobs).for_each(|path| draft.remove(path));
        draft.set(NAME, format!("{}{}", self.base.name, purpose.suffix));
        draft.set(QUESTION, purpose.question.to_owned());
        if let Some(blocks) = purpose.blocks {
            draft.repeats(blocks, self.base.repeats.seed);
        }
        for contender in contenders {
            let settings = self.knobs.settings(&contender.point).into_iter();
            let linked = settings.fold(LinkedSettings::default(), |linked, (path, value)| {
                linked.with_value(&path, value)
            });
            draft.level(FACTOR, &contender.name, linked);
        }
        self.context.build_in(&draft, &self.base.folder).map_err(|errors| {
            // The user's file has other lines than the one that is made of it.
            let invalid = errors.errors.into_iter().map(|error| {
                let help = error.help.map_or_else(String::new, |help| format!("; {help}"));
                Invalid::new(error.path, error.message + &help)
            });
            let errors = self.base.objections(&invalid.collect::<Vec<_>>());
            Failure::usage(errors.render(&self.file.display().to_string(), &self.base.source))
        })
    }

    /// Runs or resumes an experiment, unless all of it is recorded. Failed trials run again where
    /// the user wants that, or the machine was their cause; not if later trials follow from them.
    pub fn conduct(
        &self,
        experiment: &Experiment,
        mut session: Session,
        is_last: bool,
    ) -> Result<RunEnd, Failure> {
        if !session.choices.fresh && self.runs(&session.choices.results)?.last().is_some() {
            let recording = self.recording(&session.choices.results, None)?;
            let outlook = runner::outlook(experiment, &recording, self.context.registry.designs);
            let tally = outlook.tally;
            let failed_by_machine = recording.trials.iter().any(TrialRecord::failed_by_machine);
            session.choices.retry_failed = is_last
                && tally.failed > tally.timeouts + tally.futile
                && (self.retry_failed || failed_by_machine);
            if outlook.complete
                && !session.choices.retry_failed
                && recording.run.source == redacted(&experiment.source)
            {
                return Ok(RunEnd::Completed(tally));
            }
        }
        session.conduct(self.context, experiment)
    }

    /// A session on a results file.
    pub fn session(&self, results: &Path, fresh: bool) -> Session {
        let choices = RunChoices { results: results.to_path_buf(), fresh, ..RunChoices::default() };
        // A page of a search does not name its files.
        Session { choices, json: self.json, full: true }
    }

    /// Reads a run of a results file, the latest one without a number.
    pub fn recording(&self, path: &Path, run: Option<i64>) -> Result<Recording, Failure> {
        results::read_run(&results::open_file(self.context, path)?, run, Store::read_figures)
    }

    /// The numbers of the runs in a results file, in order; none where it is missing or empty.
    pub fn runs(&self, path: &Path) -> Result<Vec<i64>, Failure> {
        let store = match results::open_file(self.context, path) {
            // A run that was killed before it had begun leaves an empty file, which `run` fills.
            Err(StoreError { fault: Fault::Missing | Fault::Empty, .. }) => return Ok(Vec::new()),
            store => store?,
        };
        let mut runs: Vec<i64> = store.runs()?.iter().map(|run| run.id).collect();
        runs.sort_unstable();
        Ok(runs)
    }

    /// The results file of a stage beside the one of the confirmation.
    pub fn results_file(confirmation: &Path, suffix: &str) -> PathBuf {
        let stem = confirmation.file_stem().unwrap_or_default().to_string_lossy();
        let ending = confirmation.extension().unwrap_or_default().to_string_lossy();
        confirmation.with_file_name(format!("{stem}{suffix}.{ending}"))
    }
}

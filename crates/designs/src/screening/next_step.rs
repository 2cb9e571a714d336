//! The next steps of a screening: further runs in its recording, by options of `run`.

use super::analysis::{Screening, screening, term_name};
use super::settings::KIND;
use crate::extension::{Extension, Step};
use clap::{ArgMatches, Args, FromArgMatches};
use command_line::{Failure, RunAction, RunOptions, RunPlace, results};
use experiment::{Experiment, Stage, design_kind, unknown_name};
use observations::{Recording, RunRecord};
use store::Store;

/// The options that `run` has for screenings.
pub const RUN_OPTIONS: RunOptions =
    RunOptions { augment, action: RunAction::Continue(continue_run) };

fn augment(command: clap::Command) -> clap::Command {
    NextStep::augment_args(command.mut_arg("fresh", |fresh| fresh.conflicts_with("NextStep")))
}

fn continue_run(
    matches: &ArgMatches,
    place: &RunPlace<'_>,
    experiment: Experiment,
) -> Result<Experiment, Failure> {
    let step = NextStep::from_arg_matches(matches).map_err(Failure::usage)?;
    step.apply(&Recorded(place), experiment)
}

/// Options that continue a screening.
#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
struct NextStep {
    /// Fold a screening: its runs with reversed levels of all factors, or of FACTOR
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = "")]
    fold: Option<String>,
    /// Repeat the best run that a screening predicts, the baseline and the worst
    #[arg(long)]
    confirm: bool,
    /// Continue a screening as a surface over its active numeric factors
    #[arg(long)]
    surface: bool,
}

/// A recording that a step could continue.
struct Recorded<'a>(&'a RunPlace<'a>);

impl NextStep {
    /// Returns the option that is given; `None` without any.
    fn option(&self) -> Option<&'static str> {
        match self {
            Self { fold: Some(_), .. } => Some("--fold"),
            Self { confirm: true, .. } => Some("--confirm"),
            Self { surface: true, .. } => Some("--surface"),
            _ => None,
        }
    }

    /// The experiment of a file with the extensions that its recording has, and the one that this
    /// step adds. A step that was begun and not completed continues.
    fn apply(
        &self,
        recorded: &Recorded<'_>,
        experiment: Experiment,
    ) -> Result<Experiment, Failure> {
        let option = self.option();
        let found = recorded.screening(&experiment, option.unwrap_or_default())?;
        let (store, run) = match (found, option) {
            (Ok(found), _) => found,
            (Err(_), None) => return Ok(experiment),
            (Err(reason), Some(_)) => return Err(Failure::usage(reason)),
        };
        let experiment = recorded.with_extensions(experiment, &run)?;
        if option.is_none() {
            return Ok(experiment);
        }
        self.extended(recorded, &store.read(run.id)?, experiment)
    }

    fn extended(
        &self,
        recorded: &Recorded<'_>,
        recording: &Recording,
        experiment: Experiment,
    ) -> Result<Experiment, Failure> {
        let outlook = runner::outlook(&experiment, recording, recorded.0.context.registry.designs);
        let last = experiment.stages.last();
        let begun = last.filter(|last| self.is_begun(last, &experiment));
        let cause = match begun {
            Some(_) if !outlook.complete => return Ok(experiment),
            Some(last) if !self.confirm => {
                Some(format!("the recording has this {} already", last.kind))
            }
            _ if !outlook.complete => Some(format!(
                "{} of {} trials are done; complete them with `steelbench run {}`",
                outlook.tally.done,
                outlook.tally.planned,
                recorded.0.file.display()
            )),
            _ => None,
        };
        if let Some(cause) = cause {
            return Err(recorded.refusal(self, &cause));
        }
        let summary = results::summary_alone(recorded.0.context, recording);
        let screening = screening(&summary).filter(|screening| !screening.effects.is_empty());
        let Some(screening) = screening else {
            let cause = "no block of the recorded screening has a value of every run; fix the \
                         cause and run again with --retry-failed";
            return Err(recorded.refusal(self, cause));
        };
        let extension = self.extension(recorded, recording, &experiment, screening)?;
        let source = extension.append_to(&experiment.source);
        recorded.read(&source).map_err(|cause| recorded.refusal(self, &cause))
    }

    /// Returns whether the last extension of a recording is this step.
    fn is_begun(&self, last: &Stage, experiment: &Experiment) -> bool {
        let step = Extension::read(&last.values).map(|extension| extension.step);
        match (step, &self.fold) {
            (Ok(Step::Fold(folded)), Some(name)) => {
                let factor = factor(experiment, name).ok().flatten();
                folded == factor
            }
            (Ok(Step::Confirm { .. }), None) => self.confirm,
            (Ok(Step::Surface { .. }), None) => self.surface,
            _ => false,
        }
    }

    fn extension(
        &self,
        recorded: &Recorded<'_>,
        recording: &Recording,
        experiment: &Experiment,
        screening: &Screening,
    ) -> Result<Extension, Failure> {
        let blocks = experiment.repeats.blocks.max();
        let extension = match &self.fold {
            Some(name) => {
                let factor =
                    factor(experiment, name).map_err(|cause| recorded.refusal(self, &cause))?;
                return Ok(Extension { step: Step::Fold(factor), blocks: Some(blocks) });
            }
            None if self.confirm => {
                screening.confirmation(experiment.baseline.unwrap_or(0), blocks)
            }
            None => screening.surface_around(recording, blocks),
        };
        extension.map_err(|error| recorded.refusal(self, &error.to_string()))
    }
}

/// The factor that a name, its last part or its letter means; `None` of an empty name: all.
fn factor(experiment: &Experiment, text: &str) -> Result<Option<String>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = experiment.factors.iter().map(|factor| factor.name.as_str()).collect();
    let position = |is_named: &dyn Fn(usize) -> bool| (0..names.len()).find(|at| is_named(*at));
    let found = position(&|at| names[at] == text)
        .or_else(|| position(&|at| names[at].rsplit('.').next() == Some(text)))
        .or_else(|| position(&|at| term_name(&[at]) == text));
    let found = found.ok_or_else(|| unknown_name("factor", text, &names))?;
    Ok(Some(names[found].to_owned()))
}

impl Recorded<'_> {
    /// The recorded screening, or the reason for which an option has nothing to continue.
    fn screening(
        &self,
        experiment: &Experiment,
        option: &str,
    ) -> Result<Result<(Store, RunRecord), String>, Failure> {
        let RunPlace { context, file, results } = *self.0;
        let (file, recorded) = (file.display(), results.display());
        if experiment.design.as_ref().is_none_or(|runs| runs.kind != KIND) {
            return Ok(Err(format!(
                "{file}: {option} continues a screening, and this experiment has another design; \
                 set design.kind = \"screening\", or run it without {option}"
            )));
        }
        let store = results.exists().then(|| results::open_file(context, results)).transpose()?;
        let latest = store.as_ref().map(Store::latest_run).transpose()?.flatten();
        Ok(match store.zip(latest) {
            None => Err(format!(
                "{recorded}: no recorded run, which {option} would continue; run `steelbench run \
                 {file}` first"
            )),
            Some((_, run)) if design_kind(&run.source) != KIND => Err(format!(
                "{recorded}: the recorded run is not a screening, which {option} would continue; \
                 run the screening with --fresh or -o first"
            )),
            Some(found) => Ok(found),
        })
    }

    /// The experiment with the extensions of the recording that its file lacks.
    fn with_extensions(
        &self,
        experiment: Experiment,
        run: &RunRecord,
    ) -> Result<Experiment, Failure> {
        let known = Extension::from_source(&run.source);
        let extensions: Vec<Extension> = experiment
            .stages
            .iter()
            .filter_map(|stage| Extension::read(&stage.values).ok())
            .collect();
        let is_longer = known.len() > extensions.len() && known.starts_with(&extensions);
        if !is_longer {
            return Ok(experiment);
        }
        let missing = known[extensions.len()..].iter();
        let source =
            missing.fold(experiment.source.clone(), |text, extension| extension.append_to(&text));
        self.read(&source).map_err(|cause| {
            Failure::usage(format!(
                "{}: the file does not fit the extensions of {}: {cause}",
                self.0.file.display(),
                self.0.results.display()
            ))
        })
    }

    fn read(&self, source: &str) -> Result<Experiment, String> {
        self.0.context.experiment_of(self.0.file, source).map_err(|errors| {
            let messages = errors.errors.iter().map(|error| {
                let help = error.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
                format!("{}{help}", error.message)
            });
            messages.collect::<Vec<_>>().join("; ")
        })
    }

    fn refusal(&self, step: &NextStep, cause: &str) -> Failure {
        let option = step.option().unwrap_or_default();
        Failure::usage(format!(
            "{}: cannot continue with {option}: {cause}",
            self.0.results.display()
        ))
    }
}

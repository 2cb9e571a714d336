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
    /// Continue a screening as a response surface over its active numeric factors
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
        let RunPlace { context, file, results } = *recorded.0;
        if experiment.design.as_ref().is_none_or(|runs| runs.kind != KIND) {
            return self.nothing_to_continue(experiment, |option| {
                format!(
                    "{}: {option} continues a screening, and this experiment has another design; \
                     set design.kind = \"screening\", or run it without {option}",
                    file.display()
                )
            });
        }
        let store = results.exists().then(|| results::open_file(context, results)).transpose()?;
        let latest = store.as_ref().map(Store::latest_run).transpose()?.flatten();
        let Some((store, run)) = store.zip(latest) else {
            return self.nothing_to_continue(experiment, |option| {
                format!(
                    "{}: no recorded run, which {option} would continue; run `steelbench run {}` \
                     first",
                    results.display(),
                    file.display()
                )
            });
        };
        if design_kind(&run.source) != KIND {
            return self.nothing_to_continue(experiment, |option| {
                format!(
                    "{}: the recorded run is not a screening, which {option} would continue; run \
                     the screening with --fresh or -o first",
                    results.display()
                )
            });
        }
        let experiment = recorded.with_extensions(experiment, &run)?;
        if self.option().is_none() {
            return Ok(experiment);
        }
        self.extended(recorded, &store.read(run.id)?, experiment)
    }

    /// The experiment as it is, unless an option asks for a step: that is refused for a reason.
    fn nothing_to_continue(
        &self,
        experiment: Experiment,
        reason: impl FnOnce(&str) -> String,
    ) -> Result<Experiment, Failure> {
        match self.option() {
            None => Ok(experiment),
            Some(option) => Err(Failure::usage(reason(option))),
        }
    }

    fn extended(
        &self,
        recorded: &Recorded<'_>,
        recording: &Recording,
        experiment: Experiment,
    ) -> Result<Experiment, Failure> {
        let outlook = runner::outlook(&experiment, recording, recorded.0.context.registry.designs);
        let last = experiment.stages.last();
        if let Some(last) = last.filter(|last| self.is_begun(last, &experiment)) {
            if !outlook.complete {
                return Ok(experiment);
            }
            if !self.confirm {
                let kind = &last.kind;
                return Err(
                    recorded.refusal(self, &format!("the recording has this {kind} already"))
                );
            }
        }
        if !outlook.complete {
            let file = recorded.0.file.display();
            return Err(recorded.refusal(
                self,
                &format!(
                    "{} of {} trials are done; complete them with `steelbench run {file}`",
                    outlook.tally.done, outlook.tally.planned
                ),
            ));
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
    let exact = names.iter().find(|name| **name == text);
    let exact_or_short =
        exact.or_else(|| names.iter().find(|name| name.rsplit('.').next() == Some(text)));
    let found = exact_or_short.or_else(|| {
        let mut lettered = names.iter().enumerate();
        Some(lettered.find(|(at, _)| term_name(&[*at]) == text)?.1)
    });
    match found {
        Some(name) => Ok(Some((*name).to_owned())),
        None => Err(unknown_name("factor", text, &names)),
    }
}

impl Recorded<'_> {
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

//! Experiments that a command runs: progress, results, report, and the words for their end.

use crate::arguments::Quick;
use crate::files::Replace;
use crate::progress::Progress;
use crate::{Context, ExitCode, Failure, output, results, signals};
use analysis::Summary;
use analysis::gate::Gate;
use engine::Permits;
use experiment::{Draft, Experiment};
use observations::{Event, Recording, RunEnd, Tally};
use report::{Document, Screen};
use runner::{Manual, Options, RunChoices};
use serde_json::json;
use std::io::IsTerminal;
use store::Store;

/// A session of a run: what every command that runs an experiment needs to know.
pub struct Session {
    /// The user's choices.
    pub choices: RunChoices,
    /// Print events and the summary as JSON.
    pub json: bool,
    /// Print every section at the end.
    pub full: bool,
}

impl Session {
    /// A quick command's: each use of it is a run of its own in the results file.
    pub fn quick(quick: &Quick, name: &str, permits: Permits) -> Self {
        let choices = RunChoices {
            results: results::path(quick.results.as_ref(), name),
            fresh: true,
            label: quick.label.clone(),
            permits,
            ..RunChoices::default()
        };
        Self { choices, json: quick.json, full: quick.full }
    }

    /// Runs the experiment of a quick command and shows what the store holds, or only prints its
    /// file, which errors call `name`.
    pub fn run(
        &self,
        context: &Context,
        draft: &Draft,
        name: &str,
        only_print: bool,
    ) -> Result<ExitCode, Failure> {
        let experiment = context.build(draft, name)?;
        if only_print {
            // Of an experiment that records its commands nothing is hidden: it was refused.
            return output::print_source(&draft.source());
        }
        let end = self.conduct(context, &experiment)?;
        Ok(exit_code(&end, self.show(context, &self.recording(context)?)?, None))
    }

    /// Runs an experiment and says how it goes.
    pub fn conduct(&self, context: &Context, experiment: &Experiment) -> Result<RunEnd, Failure> {
        let options = Options {
            registry: context.registry,
            choices: self.choices.clone(),
            interrupt: signals::stop_flag_of_run()?.into(),
            manual: manual(self.json),
            part: None,
        };
        let mut progress = Progress::new(self.json);
        let end = runner::run(experiment, options, &mut |event: Event| progress.hear(&event));
        for text in engine::cache::announcements() {
            output::complain(&text);
        }
        Ok(end?)
    }

    /// Returns the stored recording of the run.
    pub fn recording(&self, context: &Context) -> Result<Recording, Failure> {
        results::read_run(&results::open_file(context, &self.choices.results)?, None, Store::read)
    }

    /// Shows what the store holds of the run on one screen. Whether a configuration has lost a
    /// block for good.
    pub fn show(&self, context: &Context, recording: &Recording) -> Result<bool, Failure> {
        self.show_as(context, recording, None, &|summary, screen| {
            Ok(if self.full {
                report::run(summary, context.sections, report::Medium::Text)
            } else {
                screen.document(summary, context.sections)
            })
        })
    }

    /// As [`Self::show`], with a text of one's own, and in the JSON whether limits are kept.
    pub fn show_as(
        &self,
        context: &Context,
        recording: &Recording,
        gate: Option<&Gate>,
        document: &dyn Fn(&Summary, &Screen) -> Result<Document, Failure>,
    ) -> Result<bool, Failure> {
        let summary = results::summary(context, recording, &self.choices.results);
        let page = self.choices.results.with_extension("html");
        if summary.done() + summary.failed() > 0 {
            // The figures are in the results file: a report can be written again.
            if let Err(failure) = results::write_report(context, &summary, &page, Replace::Ours) {
                output::report(&failure);
            }
        }
        if self.json {
            let summary =
                report::json::summary(&summary, context.sections).map_err(Failure::failed)?;
            let mut event = json!({ "event": "summary", "summary": summary });
            if let Some(gate) = gate {
                event["gate"] = json!(gate);
            }
            output::print_json(event)?;
        } else if summary.done() + summary.failed() > 0 {
            let screen = Screen {
                name: &results::name(&self.choices.results),
                page: Some(page.display().to_string()),
                width: output::width(),
            };
            output::print_document(&document(&summary, &screen)?)?;
            if self.full {
                output::print(&format!(
                    "\nResults: {}\nReport:  {}\n",
                    self.choices.results.display(),
                    page.display()
                ))?;
            }
        }
        Ok(summary.configurations.iter().any(|row| row.lost_blocks + row.timeouts > 0))
    }
}

fn manual(json: bool) -> Manual {
    if json || !std::io::stdin().is_terminal() {
        return Manual::Stop;
    }
    Manual::Ask(Box::new(|_| {
        output::complain("Press Enter when done, or Ctrl-D to stop here.");
        std::io::stdin().read_line(&mut String::new()).is_ok_and(|length| length > 0)
    }))
}

/// The end of a sentence about trials that failed or were left out. `file` is what `run` can go on
/// with.
fn what_runs_again(tally: Tally, file: Option<&str>) -> String {
    let again = tally.failed.saturating_sub(tally.timeouts + tally.futile);
    let Some(file) = file.filter(|_| again + tally.not_run() > 0) else { return ".".into() };
    let retry = if again > 0 { " --retry-failed" } else { "" };
    let except =
        if again > 0 && tally.timeouts > 0 { ", except those at limits.trial_time" } else { "" };
    format!(": `steelbench run{retry} {file}` reruns them{except}.")
}

/// Says how a run ended and what can be done then. `file` is what `run` can go on with.
pub fn exit_code(end: &RunEnd, failed: bool, file: Option<&str>) -> ExitCode {
    let resume = match file {
        Some(file) => format!("Resume with `steelbench run {file}`."),
        None => "Completed trials are kept.".to_owned(),
    };
    let (code, message) = match end {
        RunEnd::Completed(tally) if tally.failed + tally.not_run() == 0 && !failed => {
            return ExitCode::Ok;
        }
        RunEnd::Completed(tally) => {
            (ExitCode::Failed, format!("{tally}{}", what_runs_again(*tally, file)))
        }
        RunEnd::Failing { cause, tally } => {
            let again = file.map_or_else(String::new, |file| {
                format!(
                    "\nAfter fixing the cause, `steelbench run --retry-failed {file}` runs the \
                     failed and remaining trials."
                )
            });
            (
                ExitCode::Failed,
                format!("Stopped: every configuration fails. {tally}. Last cause: {cause}{again}"),
            )
        }
        RunEnd::Interrupted => (ExitCode::Interrupted, format!("Interrupted. {resume}")),
        RunEnd::Limit { text } => (ExitCode::Failed, format!("Stopped: {text}. {resume}")),
        RunEnd::ManualStep { .. } => {
            let file = file.unwrap_or("FILE");
            let resume =
                format!("After the step, resume with `steelbench run --manual-done {file}`.");
            (ExitCode::ManualStep, format!("Stopped for a manual step. {resume}"))
        }
    };
    output::complain(&message);
    code
}

//! `steelbench run`

use crate::args::Run;
use crate::commands::read_experiment;
use crate::commands::report::write as write_report;
use crate::exit_code::{ExitCode, Failure};
use crate::progress::Progress;
use crate::{output, results};
use experiment::Experiment;
use observations::{Event, Recording, RunEnd};
use runner::{Interrupt, Manual, Options};
use signal_hook::consts::{SIGHUP, TERM_SIGNALS};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::Store;

/// Runs or resumes an experiment, then shows what the store holds.
pub fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let experiment = read_experiment(&arguments.file)?;
    let results = arguments.results.clone().unwrap_or_else(|| results::default_path(&experiment.name));
    let sitting = Sitting {
        results,
        fresh: arguments.fresh,
        manual_done: arguments.manual_done,
        overwrite: arguments.overwrite.clone(),
        destroy: arguments.destroy.clone(),
        json: arguments.json,
    };
    let end = sitting.conduct(&experiment)?;
    let failed = sitting.show()?;
    Ok(exit_code(&end, failed, Some(&arguments.file.display().to_string())))
}

/// One go at an experiment: what every command that runs one needs to know.
pub struct Sitting {
    /// The results file.
    pub results: PathBuf,
    /// Begin a new run even if there is one to go on with.
    pub fresh: bool,
    /// The manual step at which the run stopped has been done.
    pub manual_done: bool,
    /// Existing files that may be written to.
    pub overwrite: Vec<PathBuf>,
    /// Block devices that may be written to.
    pub destroy: Vec<PathBuf>,
    /// Print events and the summary as JSON.
    pub json: bool,
}

impl Sitting {
    /// Runs an experiment and says how it goes.
    pub fn conduct(&self, experiment: &Experiment) -> Result<RunEnd, Failure> {
        let options = Options {
            results: self.results.clone(),
            fresh: self.fresh,
            manual_done: self.manual_done,
            overwrite: self.overwrite.clone(),
            destroy: self.destroy.clone(),
            interrupt: interrupt_on_signals()?,
            manual: manual(self.json),
        };
        let mut progress = Progress::new(self.json);
        let result = runner::run(experiment, options, &mut |event: Event| progress.hear(&event));
        progress.finish();
        Ok(result?)
    }

    /// What the store holds of the run.
    pub fn recording(&self) -> Result<Recording, Failure> {
        results::read_run(&Store::open(&self.results)?, None)
    }

    /// Shows what the store holds of the run. Whether a configuration has lost a block for good.
    pub fn show(&self) -> Result<bool, Failure> {
        let recording = self.recording()?;
        let summary = results::summary(&recording, &self.results);
        let page = self.results.with_extension("html");
        if summary.done() + summary.failed() > 0 {
            // The figures are in the results file: a report can be written again.
            if let Err(failure) = write_report(&summary, &page) {
                failure.report();
            }
        }
        if self.json {
            let summary = report::json::summary(&summary).map_err(Failure::failed)?;
            output::print_json(&serde_json::json!({ "event": "summary", "summary": summary }))?;
        } else if summary.done() + summary.failed() > 0 {
            output::print_document(&report::run(&summary))?;
            output::print(&format!("\nResults: {}\nReport:  {}\n", self.results.display(), page.display()))?;
        }
        Ok(summary.configurations.iter().any(|row| row.lost_blocks > 0))
    }
}

/// The first signal asks to stop, resumably; the second ends the process at once.
fn interrupt_on_signals() -> Result<Interrupt, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    // Closing the terminal is no reason to leave a drive mounted.
    for signal in TERM_SIGNALS.iter().chain(&[SIGHUP]) {
        let code = ExitCode::Interrupted as i32;
        signal_hook::flag::register_conditional_shutdown(*signal, code, flag.clone())
            .and_then(|_| signal_hook::flag::register(*signal, flag.clone()))
            .map_err(|error| Failure::failed(format!("cannot handle signals: {error}")))?;
    }
    Ok(flag.into())
}

fn manual(json: bool) -> Manual {
    if json || !std::io::stdin().is_terminal() {
        return Manual::Nobody;
    }
    Manual::Ask(Box::new(|_| {
        output::complain("Press Enter when this is done, or Ctrl-D to stop here.");
        std::io::stdin().read_line(&mut String::new()).is_ok_and(|length| length > 0)
    }))
}

/// How the program ends after a run, and what can be done then; `file`: what `run` goes on with.
pub fn exit_code(end: &RunEnd, failed: bool, file: Option<&str>) -> ExitCode {
    let goes_on = match file {
        Some(file) => format!("`steelbench run {file}` goes on where it stopped."),
        None => "What was measured until then is kept.".to_owned(),
    };
    match end {
        RunEnd::Completed if failed => {
            output::complain(&match file {
                Some(file) => {
                    format!(
                        "Trials failed. With a larger repeats.retries `steelbench run {file}` tries them again."
                    )
                }
                None => "Trials failed.".to_owned(),
            });
            ExitCode::Failed
        }
        RunEnd::Completed => ExitCode::Ok,
        RunEnd::Interrupted => {
            output::complain(&format!("Interrupted. {goes_on}"));
            ExitCode::Interrupted
        }
        RunEnd::Limit { text } => {
            output::complain(&format!("Stopped: {text}. {goes_on}"));
            ExitCode::Failed
        }
        RunEnd::ManualStep { .. } => {
            let file = file.unwrap_or("FILE");
            output::complain(&format!(
                "Stopped for a manual step. When it is done, `steelbench run --manual-done {file}` goes on."
            ));
            ExitCode::ManualStep
        }
    }
}

//! `steelbench run`

use crate::args::Run;
use crate::commands::read_experiment;
use crate::exit_code::{ExitCode, Failure};
use crate::progress::Progress;
use crate::{output, results};
use analysis::summarize;
use observations::{Event, RunEnd};
use runner::{Interrupt, Manual, Options};
use signal_hook::consts::{SIGHUP, TERM_SIGNALS};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::Store;

/// Runs or resumes an experiment, then shows what the store holds.
pub fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let experiment = read_experiment(&arguments.file)?;
    let results = arguments.results.clone().unwrap_or_else(|| results::default_path(&experiment.name));
    let options = Options {
        results: results.clone(),
        fresh: arguments.fresh,
        manual_done: arguments.manual_done,
        interrupt: interrupt_on_signals()?,
        manual: manual(arguments.json),
    };
    let mut progress = Progress::new(arguments.json);
    let result = runner::run(&experiment, options, &mut |event: Event| progress.hear(&event));
    progress.finish();
    let end = result?;
    let store = Store::open(&results)?;
    let summary = summarize(&results::read_run(&store, None)?);
    if arguments.json {
        let summary = report::json::summary(&summary).map_err(Failure::failed)?;
        output::print_json(&serde_json::json!({ "event": "summary", "summary": summary }))?;
    } else if summary.done + summary.failed > 0 {
        output::print_document(&report::run(&summary))?;
        output::print(&format!("\nResults: {}\n", results.display()))?;
    }
    let failed = summary.configurations.iter().any(|row| row.lost_blocks > 0);
    Ok(exit_code(&end, failed, arguments))
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

fn exit_code(end: &RunEnd, failed: bool, arguments: &Run) -> ExitCode {
    let file = arguments.file.display();
    match end {
        RunEnd::Completed if failed => {
            output::complain(&format!(
                "Trials failed. With a larger repeats.retries `steelbench run {file}` tries them again."
            ));
            ExitCode::Failed
        }
        RunEnd::Completed => ExitCode::Ok,
        RunEnd::Interrupted => {
            output::complain(&format!("Interrupted. `steelbench run {file}` goes on where it stopped."));
            ExitCode::Interrupted
        }
        RunEnd::Limit { text } => {
            output::complain(&format!("Stopped: {text}. `steelbench run {file}` goes on where it stopped."));
            ExitCode::Failed
        }
        RunEnd::ManualStep { .. } => {
            output::complain(&format!(
                "Stopped for a manual step. When it is done, `steelbench run --manual-done {file}` goes on."
            ));
            ExitCode::ManualStep
        }
    }
}

//! A command of the user beside a load.

use crate::outcome::Outcome;
use engine::EngineError;
use experiment::common::OBSERVE_COMMANDS;
use observations::redacted_message;
use observe::child::{self, Capture};
use observe::run_marked;
use probe::{ProbeError, TrialContext};
use std::path::Path;
use std::process::Command;

/// Characters of its output that an error quotes.
const QUOTED_CHARS_MAX: usize = 400;

/// Why a command has no figures.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("the background command cannot be started: {0}")]
    Start(#[source] std::io::Error),
    #[error("the background command failed ({status}){output}")]
    Failed { status: std::process::ExitStatus, output: String },
}

/// Runs a command to its end.
pub fn run(line: &str, folder: &Path, context: &TrialContext<'_>) -> Result<Outcome, ProbeError> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).env("FOLDER", folder);
    let variables = context.instance.client_environment();
    child::set_variables(&mut command, &variables);
    let received = Capture { stdout: true, stderr: true };
    let ended =
        run_marked(&mut command, [None, None, None], received, &|| context.cancel.is_cancelled());
    let ended = ended.map_err(|error| ProbeError::study(CommandError::Start(error)))?;
    if ended.stopped {
        return Err(EngineError::Cancelled.into());
    }
    if !ended.status.success() {
        let text = redacted_message(&ended.stderr.text());
        let end = text.trim().chars().rev().take(QUOTED_CHARS_MAX).collect::<Vec<_>>();
        let end: String = end.into_iter().rev().collect();
        let is_hidden = context.configuration.get(OBSERVE_COMMANDS) == Some(false);
        let text = if end.is_empty() || is_hidden { String::new() } else { format!(": {end}") };
        return Err(ProbeError::study(CommandError::Failed { status: ended.status, output: text }));
    }
    let cpu_s = Some(ended.used.user_s + ended.used.system_s);
    Ok(Outcome { cpu_s, ..Outcome::default() })
}

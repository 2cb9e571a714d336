//! How far a run is, in words.

use super::library::File;
use observations::{Recording, TrialStatus};
use runner::{Outlook, outlook};

/// `running: 12 of 30 trials`. `latest`: whether it is the latest run of its file, the only one that can be under way.
pub fn said(file: &File, recording: &Recording, latest: bool) -> String {
    let running = latest && store::claimed_by(&file.path).is_some();
    let failed =
        recording.trials.iter().filter(|trial| matches!(trial.status, TrialStatus::Failed { .. })).count();
    let failed = match failed {
        0 => String::new(),
        1 => ", 1 attempt failed".to_owned(),
        n => format!(", {n} attempts failed"),
    };
    // The file of a run that another version made may be one that this version does not understand.
    let experiment = experiment::parse(&recording.run.source, &runner::catalog()).ok();
    let said = match experiment.map(|experiment| outlook(&experiment, recording)) {
        Some(outlook) => words(&outlook, running, latest),
        None if running => format!("running: {}", trials(recording.trials.len())),
        None => trials(recording.trials.len()),
    };
    said + &failed
}

fn words(outlook: &Outlook, running: bool, latest: bool) -> String {
    let Outlook { settled, planned, complete } = *outlook;
    match (running, complete) {
        // After the last trial a run may still remove what it has made.
        (true, _) => format!("running: {settled} of {}", trials(planned)),
        (false, true) => format!("complete: {}", trials(settled.min(planned))),
        (false, false) if latest => {
            format!("stopped: {settled} of {}, `steelbench run` goes on", trials(planned))
        }
        (false, false) => format!("stopped: {settled} of {}", trials(planned)),
    }
}

fn trials(n: usize) -> String {
    if n == 1 { "1 trial".to_owned() } else { format!("{n} trials") }
}

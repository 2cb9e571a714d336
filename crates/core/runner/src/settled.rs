//! Consequences of a recorded trial: its announcement, and whether the run continues.

use crate::schedule::Schedule;
use experiment::Experiment;
use experiment::file::IDENTICAL_FAILURES;
use observations::{Event, RunEnd, TrialRecord, TrialRef, TrialStatus, order};

/// Hears of events.
pub(crate) type Announce<'a> = &'a mut (dyn FnMut(Event) + Send);

/// Returns the consequence of a repeated failure for the remaining trials.
pub fn give_up(
    experiment: &Experiment,
    schedule: &Schedule<'_>,
    configuration: usize,
    cause: String,
    announce: Announce,
) -> Option<RunEnd> {
    if schedule.is_hopeless(configuration) {
        return Some(RunEnd::Failing { cause, tally: schedule.tally() });
    }
    if schedule.leaves_out(configuration) {
        let label = experiment.configurations[configuration].label();
        let failures = experiment.get(IDENTICAL_FAILURES);
        let setting = IDENTICAL_FAILURES.path();
        let text = format!(
            "{label}: {failures} consecutive trials failed for the same cause ({setting}); \
             its remaining trials are skipped"
        );
        announce(Event::Warning { text });
    }
    None
}

/// Announces a trial that has been committed.
pub fn finished(
    schedule: &mut Schedule<'_>,
    trial: TrialRef,
    record: TrialRecord,
    announce: Announce,
) {
    let (wall_s, retry) = (record.wall_s, schedule.will_retry(&record));
    match (record.status, record.observations) {
        (TrialStatus::Failed { cause, kind }, _) => {
            announce(Event::TrialFailed { trial, wall_s, cause, kind, retry });
        }
        (TrialStatus::Done, observations) => {
            let mut observations = observations.unwrap_or_default();
            // The one that is compared is shown first.
            order::by_key(&mut observations.responses, &|response| {
                !schedule.compares(&response.name)
            });
            if let Some(text) = schedule.unknown_response() {
                announce(Event::Warning { text });
            }
            let warnings = observations
                .warnings
                .iter()
                .map(|warning| warning.kind.name().to_owned())
                .collect();
            announce(Event::TrialFinished {
                trial,
                wall_s,
                responses: observations.responses,
                warnings,
            });
        }
    }
}

/// The end of a session whose time is over.
pub(crate) fn run_time_limit() -> RunEnd {
    RunEnd::Limit { text: "limits.run_time reached".into() }
}

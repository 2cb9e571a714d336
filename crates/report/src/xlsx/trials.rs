//! One row a trial.

use super::book::{Book, Size};
use super::cell::Value;
use super::columns::{Columns, Row, all, of_trials};
use observations::{Observations, Recording, Response, TrialStatus};
use rust_xlsxwriter::XlsxError;

pub fn sheet(book: &mut Book, recording: &Recording) -> Result<(), XlsxError> {
    let mut columns = of_trials::<()>(recording);
    columns.add("attempt", |row| Value::Count(row.trial.attempt.into()));
    columns.add("sequence", |row| Value::Count(row.trial.sequence.into()));
    columns.add("started (UTC)", |row| Value::Time(row.trial.started_ms));
    columns.add("whole trial (s)", |row| Value::Number(row.trial.wall_s));
    for response in recording.responses() {
        columns.add(format!("{} ({})", response.name, response.unit), move |row| {
            let same = |other: &&Response| other.name == response.name && other.unit == response.unit;
            Value::number(row.trial.observations.as_ref().and_then(|seen| {
                let own = seen.responses.iter().find(same);
                own.map(|response| response.value)
            }))
        });
    }
    columns.add("warnings", |row| match &row.trial.observations {
        Some(seen) => {
            seen.warnings.iter().map(|warning| warning.kind.name()).collect::<Vec<_>>().join(" ").into()
        }
        None => Value::Empty,
    });
    columns.add("reasons of the warnings", |row| match &row.trial.observations {
        Some(seen) => {
            seen.warnings.iter().map(|warning| warning.detail.as_str()).collect::<Vec<_>>().join("; ").into()
        }
        None => Value::Empty,
    });
    columns.add("cause of failure", |row| match &row.trial.status {
        TrialStatus::Done => Value::Empty,
        TrialStatus::Failed { cause } => Value::text(cause),
    });
    observed(&mut columns);
    book.table("Trials", Size::Large, &columns, all(recording))
}

fn observed<'a>(columns: &mut Columns<'a, Row<'a, ()>>) {
    let mut seen = |heading: &str, value: fn(&'a Observations) -> Value<'a>| {
        columns.add(heading, move |row| row.trial.observations.as_ref().map_or(Value::Empty, value));
    };
    seen("synthetic", |seen| Value::Bool(seen.synthetic));
    seen("measured part (s)", |seen| Value::Number(seen.elapsed_s));
    seen("connections", |seen| Value::Count(seen.connections.into()));
    seen("work", |seen| Value::Count(seen.work.amount));
    seen("unit of work", |seen| Value::text(&seen.work.unit));
    seen("transactions", |seen| Value::Count(seen.work.transactions));
    seen("errors", |seen| Value::Count(seen.work.errors));
    seen("retries", |seen| Value::Count(seen.work.retries));
    seen("sessions (s)", |seen| Value::Number(seen.time.session_s));
    seen("CPU (s)", |seen| Value::Number(seen.time.cpu_s));
    seen("CPU in user mode (s)", |seen| Value::number(seen.time.cpu_user_s));
    seen("generator's share", |seen| Value::Share(seen.load.client_share));
    seen("run queue's share", |seen| Value::Share(seen.load.run_delay_share));
    seen("starts intended", |seen| Value::Count(seen.load.sends_intended));
    seen("starts missed", |seen| Value::Count(seen.load.sends_missed));
    seen("worst start (us late)", |seen| Value::Count(seen.load.send_delay_us_max));
    seen("machine: processors", |seen| Value::Count(seen.machine.cpus.into()));
    seen("machine: busy (s)", |seen| Value::Number(seen.machine.busy_s));
    seen("machine: own (s)", |seen| Value::Number(seen.machine.own_s));
    seen("machine: stolen (s)", |seen| Value::Number(seen.machine.steal_s));
    seen("machine: I/O wait (s)", |seen| Value::Number(seen.machine.iowait_s));
}

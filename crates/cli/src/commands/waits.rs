//! `steelbench waits`: a server that is observed now, or was.

use crate::args::Waits;
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Form};
use crate::registry::REGISTRY;
use crate::{results, signals};
use engine::{LiveObserver, ObserveOptions, Server, ServerError};
use observations::{ActivityRecord, ServerActivity};
use report::{ActivityView, Document, json};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use store::Store;
use work::Stop;

/// Shows what the sessions of a server wait for, or waited for. Changes nothing on it.
pub fn waits(arguments: &Waits) -> Result<ExitCode, Failure> {
    let view = ActivityView {
        tasks: arguments.tasks,
        statements: arguments.statements,
        whole: is_whole(arguments.form),
    };
    let is_file = arguments.psql.is_empty() && arguments.mariadb.is_empty();
    let named = arguments.server.as_deref().filter(|_| is_file);
    if let Some((file, number)) = named.and_then(results::observation) {
        let record = results::activity(&results::open(Some(file))?, number)?;
        return show(record, view, arguments.form);
    }
    if let Some(record) = named.and_then(super::capture::read) {
        return show(record?.observation, view, arguments.form);
    }
    let given = arguments.server.as_deref();
    let url = arguments.mariadb.url(&arguments.psql, given).map_err(Failure::usage)?;
    let server = server(&url)?;
    let options = ObserveOptions {
        hz: arguments.rate,
        statements: true,
        literals: arguments.literals,
        ..ObserveOptions::default()
    };
    let stop = signals::stop_flag()?;
    let heard = heard(&stop);
    let failure = |error: ServerError| failure(&*server, &heard, &error);
    if arguments.watch {
        return super::watch::run(|| server.observe(options, &heard), &stop, failure);
    }
    let mut observer = server.observe(options, &heard).map_err(failure)?;
    let mut store = arguments.output.as_ref().map(Store::create_or_open).transpose()?;
    let end = Instant::now() + Duration::from_secs_f64(arguments.seconds);
    loop {
        let began_ms = now_ms();
        let left_s = end.saturating_duration_since(Instant::now()).as_secs_f64();
        let seconds = arguments.interval.map_or(left_s, |interval| interval.min(left_s));
        let activity = observe(&mut *observer, seconds, &stop).map_err(failure)?;
        let ended = activity.ended.clone();
        let record = record(store.as_mut(), &*server, began_ms, activity)?;
        show(record, view, arguments.form)?;
        if let Some(why) = ended {
            return Err(failure(ServerError::new(why)));
        }
        if Instant::now() >= end || stop.load(Ordering::Relaxed) {
            return Ok(ExitCode::Ok);
        }
    }
}

/// Whoever asks servers stops when this says so.
pub fn heard(stop: &Arc<AtomicBool>) -> Stop {
    let asked = Arc::clone(stop);
    Stop::when(move || asked.load(Ordering::Relaxed))
}

/// Why a server could not be asked, with what to do.
pub fn failure(server: &dyn Server, heard: &Stop, error: &ServerError) -> Failure {
    if heard.is_asked() {
        return Failure::interrupted(format!("{server}: {error}"));
    }
    let advice = error.advice.map(|advice| format!("\n{advice}")).unwrap_or_default();
    Failure::failed(format!("{server}: {error}{advice}"))
}

/// The server that a URL names, of the engine that has its scheme.
pub fn server(url: &str) -> Result<Box<dyn Server>, Failure> {
    let server = engine::server::by_url(REGISTRY.engines, url).map_err(Failure::usage)?;
    for warning in server.warnings() {
        output::complain(&format!("warning: {warning}"));
    }
    Ok(server)
}

/// An interval: it ends early when somebody asks to stop, and when the server is lost.
pub fn observe(
    observer: &mut dyn LiveObserver,
    seconds: f64,
    stop: &AtomicBool,
) -> Result<ServerActivity, ServerError> {
    signals::pause(seconds, stop, || observer.is_lost());
    let mut activity = observer.window()?;
    if activity.ended.is_none() {
        match observer.tasks() {
            Ok(tasks) => activity.tasks = tasks,
            Err(error) => activity.ended = Some(error.to_string()),
        }
    }
    Ok(activity)
}

/// What was observed; it is in the results file before it is shown.
pub fn record(
    store: Option<&mut Store>,
    server: &dyn Server,
    started_ms: i64,
    activity: ServerActivity,
) -> Result<ActivityRecord, Failure> {
    let steelbench = env!("CARGO_PKG_VERSION").to_owned();
    let mut record =
        ActivityRecord { id: 0, started_ms, steelbench, address: server.to_string(), activity };
    if let Some(store) = store {
        record.id = store.record_activity(&record)?;
    }
    Ok(record)
}

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

/// Whether nothing is cut: what reads us is no person at a terminal.
fn is_whole(form: Form) -> bool {
    form.md || !std::io::stdout().is_terminal()
}

/// Shows one that was recorded.
pub fn show_recorded(record: ActivityRecord, form: Form) -> Result<ExitCode, Failure> {
    show(record, ActivityView { whole: is_whole(form), ..ActivityView::default() }, form)
}

/// Shows an observation, live and recorded alike.
fn show(record: ActivityRecord, view: ActivityView, form: Form) -> Result<ExitCode, Failure> {
    let (record, summary) = summarized(record);
    output::show(
        form,
        || json::activity(&record, &summary),
        || report::activity(&record, &summary, view),
    )
}

/// All that is known of an observation.
pub fn document(record: ActivityRecord) -> Document {
    let (record, summary) = summarized(record);
    report::activity(&record, &summary, ActivityView { tasks: true, statements: true, whole: true })
}

fn summarized(mut record: ActivityRecord) -> (ActivityRecord, analysis::ActivitySummary) {
    let seen = std::mem::take(&mut record.activity);
    (record, analysis::activity(seen))
}

/// Shows how an observation differs from another.
pub fn compare(
    from: &ActivityRecord,
    to: &ActivityRecord,
    form: Form,
) -> Result<ExitCode, Failure> {
    if (from.id, from.started_ms) == (to.id, to.started_ms) {
        return Err(Failure::usage(format!("both are observation {}; compare two", from.id)));
    }
    let compared = analysis::compare_activities(from, to);
    output::show(
        form,
        || json::compared_activities(&compared),
        || report::compared_activities(&compared),
    )
}

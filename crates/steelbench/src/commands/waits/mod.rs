//! `steelbench waits`

mod watch;

use crate::args::Waits;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use engines::{LiveObserver, ObserveOptions, Server, ServerError};
use observations::ServerActivity;
use signal_hook::consts::TERM_SIGNALS;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How soon a signal ends the interval.
const NAP: Duration = Duration::from_millis(50);

/// Shows what the sessions of a live server wait for. Changes nothing on it.
pub fn waits(arguments: &Waits) -> Result<ExitCode, Failure> {
    let server = server(arguments.url.as_deref().unwrap_or_default())?;
    let options = ObserveOptions { hz: arguments.rate, statements: true, ..ObserveOptions::default() };
    let stop = stop_on_signals()?;
    let failure = |error: ServerError| {
        let advice = error.advice.map(|advice| format!("\n{advice}")).unwrap_or_default();
        Failure::failed(format!("{server}: {error}{advice}"))
    };
    if arguments.watch {
        watch::run(|| server.observe(options), &stop, failure)?;
        return Ok(ExitCode::Ok);
    }
    let activity = server.observe(options).and_then(|mut observer| observe(&mut *observer, arguments, &stop));
    let summary = analysis::activity(activity.map_err(failure)?);
    let form = output::Form::json_if(arguments.json);
    output::show(form, || report::json::activity(&summary), || report::activity(&summary))?;
    Ok(ExitCode::Ok)
}

/// The server that a URL names, of the engine that has its scheme.
pub fn server(url: &str) -> Result<Box<dyn Server>, Failure> {
    let server = engines::server::by_url(url).map_err(Failure::usage)?;
    for warning in server.warnings() {
        output::complain(&format!("warning: {warning}"));
    }
    Ok(server)
}

fn observe(
    observer: &mut dyn LiveObserver,
    arguments: &Waits,
    stop: &AtomicBool,
) -> Result<ServerActivity, ServerError> {
    let end = Instant::now() + Duration::from_secs_f64(arguments.seconds);
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(NAP));
    }
    let mut activity = observer.window()?;
    if arguments.tasks {
        activity.tasks = Some(observer.tasks()?);
    }
    Ok(activity)
}

/// The first signal ends the interval, and what was seen is printed; the second ends the process.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in TERM_SIGNALS {
        let code = ExitCode::Interrupted as i32;
        signal_hook::flag::register_conditional_shutdown(*signal, code, flag.clone())
            .and_then(|_| signal_hook::flag::register(*signal, flag.clone()))
            .map_err(|error| Failure::failed(format!("cannot handle signals: {error}")))?;
    }
    Ok(flag)
}

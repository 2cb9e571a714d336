//! `steelbench waits`

pub mod advice;
mod watch;

use crate::args::Waits;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use engines::postgres::waits::{LiveObserver, ObserveOptions, WaitsError};
use observations::ServerActivity;
use pgclient::Config;
use signal_hook::consts::TERM_SIGNALS;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How soon a signal ends the interval.
const NAP: Duration = Duration::from_millis(50);

/// Shows what the sessions of a live server wait for. Changes nothing on it.
pub fn waits(arguments: &Waits) -> Result<ExitCode, Failure> {
    let config = Config::parse(arguments.url.as_deref().unwrap_or_default()).map_err(Failure::usage)?;
    for warning in config.warnings() {
        output::complain(&format!("warning: {warning}"));
    }
    let options = ObserveOptions { hz: arguments.rate, statements: true, ..ObserveOptions::default() };
    let stop = stop_on_signals()?;
    let connect = || LiveObserver::start(&config, options).map_err(|error| failure(&error, &config));
    if arguments.watch {
        watch::run(connect, &stop, |error| failure(error, &config))?;
        return Ok(ExitCode::Ok);
    }
    let mut observer = connect()?;
    let activity = observe(&mut observer, arguments, &stop).map_err(|error| failure(&error, &config))?;
    let summary = analysis::activity(activity);
    if arguments.json {
        output::print_json(&report::json::activity(&summary).map_err(Failure::failed)?)?;
    } else {
        output::print_document(&report::activity(&summary))?;
    }
    Ok(ExitCode::Ok)
}

fn observe(
    observer: &mut LiveObserver,
    arguments: &Waits,
    stop: &AtomicBool,
) -> Result<ServerActivity, WaitsError> {
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

fn failure(error: &WaitsError, config: &Config) -> Failure {
    let advice = match error {
        WaitsError::Server { source, .. } => advice::advice(source),
        _ => None,
    };
    let advice = advice.map(|advice| format!("\n{advice}")).unwrap_or_default();
    Failure::failed(format!("{config}: {error}{advice}"))
}

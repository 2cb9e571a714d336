//! `steelbench waits`

use crate::args::Waits;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, signals};
use engines::{LiveObserver, ObserveOptions, Server, ServerError, Stop};
use observations::ServerActivity;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shows what the sessions of a live server wait for. Changes nothing on it.
pub fn waits(arguments: &Waits) -> Result<ExitCode, Failure> {
    let server = server(arguments.url.as_deref().unwrap_or_default())?;
    let options = ObserveOptions { hz: arguments.rate, statements: true, ..ObserveOptions::default() };
    let stop = signals::stop_flag()?;
    let asked = stop.clone();
    let heard = Stop::when(move || asked.load(Ordering::Relaxed));
    let failure = |error: ServerError| {
        if heard.is_asked() {
            return Failure::interrupted(format!("{server}: {error}"));
        }
        let advice = error.advice.map(|advice| format!("\n{advice}")).unwrap_or_default();
        Failure::failed(format!("{server}: {error}{advice}"))
    };
    if arguments.watch {
        #[cfg(feature = "watch")]
        return super::watch::run(|| server.observe(options, &heard), &stop, failure);
        #[cfg(not(feature = "watch"))]
        return Err(Failure::not_built("`waits --watch`"));
    }
    let observed = server.observe(options, &heard);
    let activity = observed.and_then(|mut observer| observe(&mut *observer, arguments, &stop));
    let summary = analysis::activity(activity.map_err(failure)?);
    output::show(arguments.form, || report::json::activity(&summary), || report::activity(&summary))
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
    signals::pause(arguments.seconds, stop, || false);
    let mut activity = observer.window()?;
    if arguments.tasks {
        activity.tasks = Some(observer.tasks()?);
    }
    Ok(activity)
}

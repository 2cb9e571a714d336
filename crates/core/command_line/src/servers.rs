//! Servers by URL, for commands that observe and survey them.

use crate::blocked::{BlockedTimes, LOOK_S};
use crate::surveys::{self, ServerSurvey};
use crate::{Context, Failure, output, signals};
use engine::{LiveObserver, Server, ServerError};
use observations::{ActivityRecord, Advice, ServerActivity, Survey, SurveyedServer, Unread};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};
use work::Stop;

impl Context {
    /// The server that a URL names, of the engine that has its scheme. Prints its warnings.
    ///
    /// # Errors
    /// When no engine has the scheme, or the URL is wrong.
    pub fn server(&self, url: &str) -> Result<Box<dyn Server>, Failure> {
        let server = engine::server::by_url(self.registry.engines, url).map_err(Failure::usage)?;
        for warning in server.warnings() {
            output::complain(&format!("warning: {warning}"));
        }
        Ok(server)
    }

    /// Reads what a server is and how it is set, and which items could not be read.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses, or does not answer in time or before the user
    /// asks to stop; when servers of its engine are not surveyed.
    pub fn survey(
        &self,
        server: &dyn Server,
        stop: &Stop,
    ) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
        let engine = server.engine();
        let survey = self.registry.adapter::<ServerSurvey>(engine);
        let unknown = || ServerError::new(format!("servers of {engine} are not surveyed"));
        (survey.ok_or_else(unknown)?.read)(server, stop)
    }

    /// The advice on the surveyed servers.
    pub fn advice(&self, survey: &Survey) -> Vec<Advice> {
        surveys::advice(|engine| self.registry.adapter(engine), survey)
    }
}

/// A stop that a flag asks for.
pub fn stop_by(flag: &Arc<AtomicBool>) -> Stop {
    let flag = Arc::clone(flag);
    Stop::when(move || flag.load(Ordering::Relaxed))
}

/// The failure of a server, with advice; an interruption when that was its cause.
pub fn failure(server: &dyn Server, stop: &Stop, error: &ServerError) -> Failure {
    if stop.is_asked() {
        return Failure::interrupted(format!("{server}: {error}"));
    }
    let advice = error.advice.map(|advice| format!("\n{advice}")).unwrap_or_default();
    Failure::failed(format!("{server}: {error}{advice}"))
}

/// Observes an interval. It ends early when `stop` is set, and when the server is lost.
///
/// # Errors
/// When the server was lost before anything was seen.
pub fn observe(
    observer: &mut dyn LiveObserver,
    seconds: f64,
    stop: &AtomicBool,
) -> Result<ServerActivity, ServerError> {
    let (begun, mut blocked) = (Instant::now(), BlockedTimes::default());
    loop {
        let left_s = seconds - begun.elapsed().as_secs_f64();
        if left_s <= 0.0 || stop.load(Ordering::Relaxed) || observer.is_lost() {
            break;
        }
        let started = Instant::now();
        signals::pause(left_s.min(LOOK_S), stop, || observer.is_lost());
        // A look that fails is the failure of the interval, which tells more.
        match observer.tasks() {
            Ok(Some(tasks)) => blocked.add(&tasks, started.elapsed().as_secs_f64()),
            Ok(None) => {}
            Err(_) => break,
        }
    }
    let mut activity = observer.window()?;
    activity.blocked = blocked.longest();
    if activity.ended.is_none() {
        match observer.tasks() {
            Ok(tasks) => activity.tasks = tasks,
            Err(error) => activity.ended = Some(error.to_string()),
        }
    }
    Ok(activity)
}

/// The record of an observation, which is not in a results file yet.
pub fn record(server: &dyn Server, started_ms: i64, activity: ServerActivity) -> ActivityRecord {
    let steelbench = env!("CARGO_PKG_VERSION").to_owned();
    ActivityRecord { id: 0, started_ms, steelbench, address: server.to_string(), activity }
}

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

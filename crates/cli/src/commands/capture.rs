//! `steelbench capture`: what a server is and what it was seen to do, as a file to send.

use super::queries::examined;
use super::waits::{heard, now_ms, observe, record, server};
use crate::args::Capture;
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Replace};
use crate::registry::REGISTRY;
use crate::signals;
use engine::{ObserveOptions, QueryReader, ServerError};
use observations::{Survey, Unread};
use queries::{Captured, Snapshot};
use std::io::Write;
use std::path::Path;

/// No capture comes near to this size.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Observes a server and takes its inventory. Changes nothing on it.
pub fn capture(arguments: &Capture) -> Result<ExitCode, Failure> {
    let server = server(&arguments.server)?;
    let interrupt = signals::stop_flag()?;
    let stop = heard(&interrupt);
    let failure = |error: ServerError| super::waits::failure(&*server, &stop, &error);
    let options = ObserveOptions {
        statements: arguments.statements,
        literals: arguments.literals,
        ..ObserveOptions::default()
    };
    let began_ms = now_ms();
    // Servers first: who may not be asked what it is needs no watching.
    let (surveyed, mut unread) = server.survey(&stop).map_err(failure)?;
    let counters = server.queries((&arguments.limits).into(), &stop).and_then(|mut reader| {
        reader.look()?;
        Ok((reader.snapshot()?, reader))
    });
    let mut observer = server.observe(options, &stop).map_err(failure)?;
    let mut activity = observe(&mut *observer, arguments.seconds, &interrupt).map_err(failure)?;
    let readings = observer.readings();
    let queries = counters.and_then(|(first, reader)| counted(first, reader, arguments));
    if let Err(error) = &queries {
        let what = format!("statements, plans and indexes of {server}");
        output::complain(&format!("warning: {what} are not in the capture: {error}"));
        unread.push(Unread { what, why: error.to_string() });
    }
    if !arguments.statements {
        let tasks = activity.tasks.iter_mut().flatten();
        tasks.for_each(|task| {
            let sessions = task.blocked_by.iter_mut().chain([&mut task.session]);
            sessions.for_each(|session| session.statement.clear());
        });
    }
    let ended = activity.ended.clone();
    let observed = record(None, &*server, began_ms, activity)?;
    let survey = Survey {
        taken_ms: began_ms,
        steelbench: observed.steelbench.clone(),
        servers: vec![surveyed],
        unread,
        ..Survey::default()
    };
    let advice = engine::server::advice(REGISTRY.engines, &survey);
    let captured = report::json::Capture { observation: observed, queries: queries.ok(), readings };
    let json = report::json::capture(&survey, &advice, &captured).map_err(Failure::failed)?;
    output::replace_file(&arguments.output, Replace::Named, |writer| writeln!(writer, "{json}"))?;
    ended.map_or(Ok(ExitCode::Ok), |why| Err(failure(ServerError::new(why))))
}

/// What the server counted until now, and the plans that it makes.
fn counted(
    first: Snapshot,
    mut reader: Box<dyn QueryReader>,
    arguments: &Capture,
) -> Result<Captured, ServerError> {
    let last = reader.snapshot()?;
    let found = examined(&mut *reader, last, Vec::new(), usize::MAX);
    Ok(Captured::new(first, found, arguments.statements, arguments.literals))
}

/// What is in a file that [`capture`] wrote; `None` of what is not called like one.
pub fn read(name: &str) -> Option<Result<report::json::Capture, Failure>> {
    let path = Path::new(name);
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if !is_json {
        return None;
    }
    let text = experiment::read_text(path, FILE_BYTES_MAX).map_err(|error| error.to_string());
    let read =
        text.and_then(|text| report::json::read_capture(&text).map_err(|error| error.to_string()));
    Some(read.map_err(|error| Failure::usage(format!("{name}: {error}"))))
}

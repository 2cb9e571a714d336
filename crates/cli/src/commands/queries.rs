//! `steelbench queries`: a server's statements, plans and indexes.

mod watch;

pub use watch::recorded;

use super::try_change::try_change;
use super::waits::{failure, heard, server};
use crate::args::{Queries as Arguments, QueriesCommand};
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Replace};
use crate::{results, signals};
use engine::{QueryLimits, QueryReader, ServerError};
use plans::FILE_BYTES_MAX;
use queries::{AdviceKind, Queries, Snapshot};
use report::json::Capture;
use sqlite::queries::FileReader;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks at what sessions run, s.
const LOOKS_S: f64 = 0.5;

/// Scripts of statements are not longer.
const SCRIPT_BYTES_MAX: u64 = 16 << 20;

/// Shows which statements cost what, which plans they run, and which indexes earn their keep.
/// Changes nothing on the server.
pub fn queries(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(QueriesCommand::Try(own)) = &arguments.command {
        return try_change(own);
    }
    let logged = read_logs(&arguments.auto_explain)?;
    let given = arguments.server.as_deref();
    let is_file = arguments.psql.is_empty() && arguments.mariadb.is_empty();
    if let Some((file, None)) = given.filter(|_| is_file).and_then(results::observation) {
        let mut snapshot = watch::joined(file, &arguments.between)?;
        queries::keep(&mut snapshot, arguments.statements);
        return write(&queries::examine(snapshot), arguments);
    }
    if arguments.between.is_given() {
        return Err(Failure::usage(
            "--from and --to are for a results file that --every wrote; name one",
        ));
    }
    if arguments.output.is_some() {
        return ask(arguments, |address, mut reader, stop, failure| {
            watch::watch(arguments, address, &mut *reader, stop, failure)
        });
    }
    let captured = given.filter(|_| is_file).and_then(super::capture::read);
    let database = given.map(Path::new).filter(|path| is_file && sqlite::is_database(path));
    let (mut reader, snapshot) = match (captured, database) {
        (Some(captured), _) => of_captures(captured?, arguments)?,
        (None, Some(path)) => of_file(path, arguments)?,
        _ => of_server(arguments)?,
    };
    let mut found = examined(&mut *reader, snapshot, logged, arguments.statements);
    found.snapshot.clean(arguments.literals);
    write(&found, arguments)
}

/// What a server counts, or counted in the seconds that are asked for.
fn of_server(arguments: &Arguments) -> Result<(Box<dyn QueryReader>, Snapshot), Failure> {
    if arguments.later.is_some() || arguments.interval {
        let message = "--interval and a second capture are for files that `capture` wrote; of a \
                       server --seconds N counts what runs";
        return Err(Failure::usage(message));
    }
    ask(arguments, |_, mut reader, stop, failure| {
        reader.look().map_err(failure)?;
        let mut snapshot = reader.snapshot().map_err(failure)?;
        if let Some(seconds) = arguments.seconds {
            let end = Instant::now() + Duration::from_secs_f64(seconds);
            looking(&mut *reader, end, LOOKS_S, stop).map_err(failure)?;
            let last = reader.snapshot().map_err(failure)?;
            snapshot = queries::between(&snapshot, last);
        }
        Ok((reader, snapshot))
    })
}

/// Connects to the server that is meant; `work` gets its address, its reader, the flag that asks to
/// stop, and how to say an error of the server.
fn ask<T>(
    arguments: &Arguments,
    work: impl FnOnce(
        &str,
        Box<dyn QueryReader>,
        &Arc<AtomicBool>,
        &dyn Fn(ServerError) -> Failure,
    ) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let given = arguments.server.as_deref();
    let url = arguments.mariadb.url(&arguments.psql, given).map_err(Failure::usage)?;
    let server = server(&url)?;
    let stop = signals::stop_flag()?;
    let heard = heard(&stop);
    let failure = |error: ServerError| failure(&*server, &heard, &error);
    let limits = QueryLimits { tables: arguments.output.is_none(), ..(&arguments.limits).into() };
    let reader = server.queries(limits, &heard).map_err(failure)?;
    work(&server.to_string(), reader, &stop, &failure)
}

/// What the statements of scripts do on a database file.
fn of_file(
    path: &Path,
    arguments: &Arguments,
) -> Result<(Box<dyn QueryReader>, Snapshot), Failure> {
    let shown = path.display();
    if arguments.sql.is_empty() {
        let message = format!("{shown} counts no statements: give them with --sql FILE");
        return Err(Failure::usage(message));
    }
    let mut given = Vec::new();
    for file in &arguments.sql {
        let name = file.display().to_string();
        let text = experiment::read_text(file, SCRIPT_BYTES_MAX);
        given.extend(sqlite::queries::given(
            &name,
            &text.map_err(|error| Failure::usage(format!("{name}: {error}")))?,
        ));
    }
    let stop = heard(&signals::stop_flag()?);
    let said = |error: ServerError| Failure::failed(format!("{shown}: {error}"));
    let mut reader =
        FileReader::open(path, given, (&arguments.limits).into(), &stop).map_err(said)?;
    let snapshot = reader.snapshot().map_err(said)?;
    Ok((Box::new(reader), snapshot))
}

/// What a server had counted when it was captured; while it was; or between two captures.
fn of_captures(
    captured: Capture,
    arguments: &Arguments,
) -> Result<(Box<dyn QueryReader>, Snapshot), Failure> {
    if arguments.seconds.is_some() {
        let message =
            "--seconds is for servers; of a capture --interval shows what ran while it was taken";
        return Err(Failure::usage(message));
    }
    let counted = |captured: Capture, name: &str| {
        let said = "it holds no statements: an older version wrote it, or they could not be read";
        captured.queries.ok_or_else(|| Failure::usage(format!("{name}: {said}")))
    };
    let name = arguments.server.as_deref().unwrap_or_default();
    let address = captured.observation.address.clone();
    let first = counted(captured, name)?;
    let Some(later) = &arguments.later else {
        let snapshot = first.last.clone();
        let snapshot =
            if arguments.interval { queries::between(&first.first, snapshot) } else { snapshot };
        return Ok((Box::new(first), snapshot));
    };
    let said = |why: &str| Failure::usage(format!("{later}: {why}"));
    let second = super::capture::read(later)
        .unwrap_or_else(|| Err(said("a capture is a file NAME.json")))?;
    if second.observation.address != address {
        return Err(said(&format!(
            "it is of {}, and {name} is of {address}",
            second.observation.address
        )));
    }
    let second = counted(second, later)?;
    if second.last.span.to_ms <= first.last.span.to_ms {
        return Err(said(&format!(
            "it was not taken after {name}; name the earlier capture first"
        )));
    }
    let snapshot = queries::between(&first.last, second.last.clone());
    Ok((Box::new(second), snapshot))
}

/// Looks every now and then what sessions run, until the time has come or somebody asks to stop.
fn looking(
    reader: &mut dyn QueryReader,
    end: Instant,
    pause_s: f64,
    stop: &AtomicBool,
) -> Result<(), ServerError> {
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        let left_s = end.saturating_duration_since(Instant::now()).as_secs_f64();
        signals::pause(left_s.min(pause_s), stop, || false);
        reader.look()?;
    }
    Ok(())
}

/// The plans of logs of `auto_explain`.
pub fn read_logs(files: &[PathBuf]) -> Result<Vec<plans::Statement>, Failure> {
    let mut logged = Vec::new();
    for file in files {
        let said = |error: String| Failure::usage(format!("{}: {error}", file.display()));
        let bytes = experiment::read_bytes(file, FILE_BYTES_MAX)
            .map_err(|error| said(error.to_string()))?;
        let mut read = plans::read(&bytes).map_err(|error| said(error.to_string()))?;
        for damage in read.iter_mut().filter_map(|one| one.damage.as_mut()) {
            *damage = format!("{}, {damage}", file.display());
        }
        logged.extend(read);
    }
    Ok(logged)
}

/// Has plans made for the statements that took most time, so many of which are kept, and finds what
/// there is to say.
pub fn examined(
    reader: &mut dyn QueryReader,
    mut snapshot: Snapshot,
    logged: Vec<plans::Statement>,
    statements: usize,
) -> Queries {
    queries::keep(&mut snapshot, statements);
    // The values that were logged are those to explain with.
    queries::attach_logged(&mut snapshot, logged);
    reader.explain(&mut snapshot);
    let mut found = queries::examine(snapshot);
    for one in found.advice.iter_mut().filter(|one| one.kind == AdviceKind::MissingIndex) {
        one.hypothetical = reader.hypothetical(&found.snapshot, one);
    }
    found
}

fn write(found: &Queries, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(file) = &arguments.html {
        let page = report::web::page(&report::queries(found));
        output::replace_file(file, Replace::Ours, |writer| writer.write_all(page.as_bytes()))?;
    }
    if let Some(file) = &arguments.workbook {
        output::replace_file(file, Replace::Ours, |writer| report::queries_xlsx(found, writer))?;
    }
    output::show(arguments.form, || report::json::queries(found), || report::queries(found))
}

//! `steelbench queries`: a server's statements, plans and indexes.

mod watch;

pub use watch::recorded;

use super::plan::clean;
use super::try_change::try_change;
use super::waits::{failure, heard, server};
use crate::args::{Queries as Arguments, QueriesCommand};
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Replace};
use crate::{results, signals};
use engines::{QueryLimits, QueryReader, ServerError};
use observations::statement::shown;
use plans::FILE_BYTES_MAX;
use queries::{AdviceKind, Queries, Snapshot};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks at what sessions run, s.
const LOOKS_S: f64 = 0.5;

/// Shows which statements cost what, which plans they run, and which indexes earn their keep. Changes nothing on the server.
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
        return Err(Failure::usage("--from and --to are for a results file that --every wrote; name one"));
    }
    let url = arguments.mariadb.url(&arguments.psql, given).map_err(Failure::usage)?;
    let url = url.map_or_else(|| arguments.psql.url(given), Ok).map_err(Failure::usage)?;
    let server = server(&url)?;
    let stop = signals::stop_flag()?;
    let heard = heard(&stop);
    let failure = |error: ServerError| failure(&*server, &heard, &error);
    let limits = QueryLimits {
        plans: arguments.plans,
        databases: arguments.databases,
        tables: arguments.every.is_none(),
    };
    let mut reader = server.queries(limits, &heard).map_err(failure)?;
    if let Some(every_s) = arguments.every {
        return watch::watch(arguments, every_s, &server.to_string(), &mut *reader, &stop, failure);
    }
    reader.look().map_err(failure)?;
    let mut snapshot = reader.snapshot().map_err(failure)?;
    if let Some(seconds) = arguments.seconds {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        looking(&mut *reader, end, LOOKS_S, &stop).map_err(failure)?;
        let last = reader.snapshot().map_err(failure)?;
        snapshot = queries::between(&snapshot, last);
    }
    let found = examined(&mut *reader, snapshot, logged, arguments);
    write(&found, arguments)
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
fn read_logs(files: &[PathBuf]) -> Result<Vec<plans::Statement>, Failure> {
    let mut logged = Vec::new();
    for file in files {
        let said = |error: String| Failure::usage(format!("{}: {error}", file.display()));
        let bytes = experiment::read_bytes(file, FILE_BYTES_MAX).map_err(|error| said(error.to_string()))?;
        logged.extend(plans::read(&bytes).map_err(|error| said(error.to_string()))?);
    }
    Ok(logged)
}

fn examined(
    reader: &mut dyn QueryReader,
    mut snapshot: Snapshot,
    logged: Vec<plans::Statement>,
    arguments: &Arguments,
) -> Queries {
    queries::keep(&mut snapshot, arguments.statements);
    reader.explain(&mut snapshot);
    let unknown = queries::attach_logged(&mut snapshot, logged);
    if unknown > 0 {
        snapshot.notes.push(format!("{unknown} plans of the log are of none of these statements."));
    }
    let mut found = queries::examine(snapshot);
    let Queries { snapshot, advice, .. } = &mut found;
    for one in advice.iter_mut().filter(|one| one.kind == AdviceKind::MissingIndex) {
        one.hypothetical = reader.hypothetical(snapshot, one);
    }
    for_show(snapshot, arguments.literals);
    found
}

/// Texts in one line, without their constants unless they are wanted, and never with what may be a password.
fn for_show(snapshot: &mut Snapshot, literals: bool) {
    let quotes = super::plan::quotes(snapshot.engine);
    for statement in &mut snapshot.statements {
        statement.text = shown(&statement.text, quotes, literals);
        // An error may quote the text.
        statement.not_explained = statement.not_explained.take().map(|why| observations::redacted(&why));
        statement.plans.iter_mut().for_each(|found| clean(&mut found.plan, quotes, literals));
    }
}

fn write(found: &Queries, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(file) = &arguments.html {
        let page = report::web::page(&report::queries(found));
        output::replace_file(file, Replace::Ours, |writer| writer.write_all(page.as_bytes()))?;
    }
    if let Some(file) = &arguments.workbook {
        #[cfg(feature = "xlsx")]
        output::replace_file(file, Replace::Ours, |writer| report::queries_xlsx(found, writer))?;
        #[cfg(not(feature = "xlsx"))]
        return Err(Failure::not_built(&format!("`queries --workbook {}`", file.display())));
    }
    output::show(arguments.form, || report::json::queries(found), || report::queries(found))
}

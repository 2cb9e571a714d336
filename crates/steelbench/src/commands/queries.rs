//! `steelbench queries`: a server's statements, plans and indexes.

use super::plan::clean;
use super::try_change::try_change;
use super::waits::{failure, heard, server};
use crate::args::{Queries as Arguments, QueriesCommand};
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Replace};
use crate::signals;
use engines::{QueryLimits, QueryReader, ServerError};
use observations::statement::shown;
use plans::FILE_BYTES_MAX;
use queries::{AdviceKind, Queries, Snapshot};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Between two looks at what sessions run, s.
const LOOKS_S: f64 = 0.5;

/// Shows which statements cost what, which plans they run, and which indexes earn their keep. Changes nothing on the server.
pub fn queries(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(QueriesCommand::Try(own)) = &arguments.command {
        return try_change(own);
    }
    let logged = read_logs(&arguments.auto_explain)?;
    let given = arguments.server.as_deref();
    let url = arguments.mariadb.url(&arguments.psql, given).map_err(Failure::usage)?;
    let url = url.map_or_else(|| arguments.psql.url(given), Ok).map_err(Failure::usage)?;
    let server = server(&url)?;
    let stop = signals::stop_flag()?;
    let heard = heard(&stop);
    let failure = |error: ServerError| failure(&*server, &heard, &error);
    let limits = QueryLimits { plans: arguments.plans, databases: arguments.databases };
    let mut reader = server.queries(limits, &heard).map_err(failure)?;
    reader.look().map_err(failure)?;
    let mut snapshot = reader.snapshot().map_err(failure)?;
    if let Some(seconds) = arguments.seconds {
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < seconds && !heard.is_asked() {
            let left_s = seconds - begun.elapsed().as_secs_f64();
            signals::pause(left_s.clamp(0.0, LOOKS_S), &stop, || false);
            reader.look().map_err(failure)?;
        }
        let last = reader.snapshot().map_err(failure)?;
        snapshot = queries::between(&snapshot, last);
    }
    let found = examined(&mut *reader, snapshot, logged, arguments);
    write(&found, arguments)
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
    for statement in &mut snapshot.statements {
        let quotes = super::plan::quotes(snapshot.engine);
        statement.text = shown(&statement.text, quotes, arguments.literals);
        // An error may quote the text.
        statement.not_explained = statement.not_explained.take().map(|why| observations::redacted(&why));
        statement.plans.iter_mut().for_each(|found| clean(&mut found.plan, quotes, arguments.literals));
    }
    found
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

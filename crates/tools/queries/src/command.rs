//! `steelbench queries`: a server's statements, plans and indexes.

use crate::arguments::{QueriesCommand, QueriesTool};
use crate::examine::{explained, open, statement_rules};
use crate::logged::read_logs;
use crate::looking::{LOOKS_S, looking};
use crate::server_facts::{ServerFacts, ServerWaits, surveyed};
use crate::statement_log::{self, is_file_name};
use crate::try_change::try_change;
use crate::watch::{self, Source};
use crate::{Queries, between, document, examine, keep, machine, plan_files, server_sheets};
use command_line::files::{Replace, replace_file, write_html};
use command_line::{Context, ExitCode, Failure, Tool, output, results, servers, signals};
use engine::{Engine, ObserveOptions, Server, ServerError};
use inspection::statements::{Rules, Snapshot, script_statements};
use inspection::survey::{Capture, read_capture};
use inspection::{Inspection, OpenFile, QueryReader};
use report::json::object;
use serde_json::Value;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Scripts of statements are not longer.
const SCRIPT_BYTES_MAX: u64 = 16 << 20;

impl Tool for QueriesTool {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench queries postgres://user@host/db --seconds 60",
        "steelbench queries shop.db --sql report.sql",
    ];
    const SECTIONS: &'static [&'static str] = &document::SECTIONS;

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(QueriesCommand::Try(attempt)) = &self.command {
            return try_change(attempt, context);
        }
        let logged = read_logs(context, &self.auto_explain)?;
        let server = self.server.as_deref();
        let is_file = self.psql.is_empty() && self.mariadb.is_empty();
        if let Some((file, None)) = server.filter(|_| is_file).and_then(results::observation) {
            let mut snapshot = watch::joined(context, file, &self.between)?;
            keep(&mut snapshot, self.statements);
            let rules = statement_rules(context, &snapshot.engine)?;
            return write(&examine(snapshot, rules), self, &ServerFacts::not_in("results files"));
        }
        if let Some(read) =
            server.filter(|_| is_file).and_then(|path| statement_log::read(context, path))
        {
            let mut snapshot = read?;
            keep(&mut snapshot, self.statements);
            let rules = statement_rules(context, &snapshot.engine)?;
            snapshot.clean(rules, self.literals);
            return write(&examine(snapshot, rules), self, &ServerFacts::not_in("logs"));
        }
        if self.between.is_given() {
            return Err(Failure::usage(
                "--from and --to need a results file written with --every; name one",
            ));
        }
        if self.output.is_some() {
            return ask(self, context, |server, mut reader, stop, failure| {
                let server = Source { address: &server.to_string(), failure };
                watch::watch(self, context, &server, &mut *reader, stop)
            });
        }
        let captured = server.filter(|_| is_file).and_then(read_capture);
        let database = server.filter(|_| is_file).and_then(|path| database(context, path));
        let is_server = captured.is_none() && database.is_none();
        let Read { mut reader, snapshot, mut facts } = match (captured, database) {
            (Some(captured), _) => of_captures(captured?, self)?,
            (None, Some(database)) => of_file(&database, self)?,
            _ => {
                if let Some(name) = server.filter(|name| is_file && is_file_name(name)) {
                    let why = if Path::new(name).exists() {
                        "not a results file, a capture, a database or a log of statements"
                    } else {
                        "no such file"
                    };
                    return Err(Failure::usage(format!("{name}: {why}")));
                }
                of_server(self, context)?
            }
        };
        let rules = statement_rules(context, &snapshot.engine)?;
        let mut found = explained(&mut *reader, snapshot, logged, self.statements, rules);
        if is_server {
            let url = self.mariadb.url(&self.psql, server).map_err(Failure::usage)?;
            let survey = machine::survey(context, &url);
            let advice = survey.as_ref().ok().and_then(|survey| machine::settings(context, survey));
            found.advice.extend(advice);
            facts.configuration = surveyed(survey);
        }
        found.snapshot.clean(rules, self.literals);
        write(&found, self, &facts)
    }
}

/// Statements that were read, what can say more about them, and facts of their server.
struct Read {
    reader: Box<dyn QueryReader>,
    snapshot: Snapshot,
    facts: ServerFacts,
}

/// Reads the counters of a server, or their differences in the seconds that are asked for.
fn of_server(arguments: &QueriesTool, context: &Context) -> Result<Read, Failure> {
    if arguments.later.is_some() || arguments.interval {
        let message = "--interval and a second capture need files written by `capture`; for a \
                       server, --seconds N counts what runs";
        return Err(Failure::usage(message));
    }
    ask(arguments, context, |server, mut reader, stop, failure| {
        reader.look().map_err(failure)?;
        let mut snapshot = reader.snapshot().map_err(failure)?;
        let is_wanted = arguments.workbook.is_some();
        let mut facts = ServerFacts::not_in("this report");
        if let Some(seconds) = arguments.seconds {
            let signal = servers::stop_by(stop);
            let observer = is_wanted.then(|| server.observe(ObserveOptions::default(), &signal));
            let end = Instant::now() + Duration::from_secs_f64(seconds);
            looking(&mut *reader, end, LOOKS_S, stop).map_err(failure)?;
            if let Some(observer) = observer {
                facts.waits = ServerWaits::until_now(observer);
            }
            let last = reader.snapshot().map_err(failure)?;
            snapshot = between(&snapshot, last);
        } else if is_wanted {
            facts.waits = ServerWaits::since_start(&mut *reader, &snapshot.engine);
        }
        Ok(Read { reader, snapshot, facts })
    })
}

/// Connects to the server that is meant; `work` gets it, its reader, the flag that asks to stop,
/// and how to say an error of the server.
fn ask<T>(
    arguments: &QueriesTool,
    context: &Context,
    work: impl FnOnce(
        &dyn Server,
        Box<dyn QueryReader>,
        &Arc<AtomicBool>,
        &dyn Fn(ServerError) -> Failure,
    ) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let server = arguments.server.as_deref();
    let url = arguments.mariadb.url(&arguments.psql, server).map_err(Failure::usage)?;
    let server: Rc<dyn Server> = context.server(&url)?.into();
    let stop = signals::stop_flag()?;
    let signal = servers::stop_by(&stop);
    let failure = |error: ServerError| servers::failure(&*server, &signal, &error);
    let reader = open(context, &server, arguments.limits(), &signal).map_err(failure)?;
    work(&*server, reader, &stop, &failure)
}

/// A database file, and what its engine does with such files.
struct Database<'a> {
    path: &'a Path,
    open: OpenFile,
    rules: &'static Rules,
}

/// The database in a file of one of the engines.
fn database<'a>(context: &Context, path: &'a str) -> Option<Database<'a>> {
    let path = Path::new(path);
    context.registry.engines.iter().copied().find_map(|engine: &'static Engine| {
        engine.database_files.filter(|files| files.is_database(path))?;
        let inspection = context.registry.adapter::<Inspection>(engine.name)?;
        Some(Database { path, open: inspection.file_queries?, rules: &inspection.rules })
    })
}

/// Examines the statements of scripts on a database file.
fn of_file(database: &Database<'_>, arguments: &QueriesTool) -> Result<Read, Failure> {
    let Database { path, open, rules } = *database;
    let shown = path.display();
    if arguments.sql.is_empty() {
        let message = format!(
            "{shown} has no statement counters; give the statements with --sql \
                               FILE"
        );
        return Err(Failure::usage(message));
    }
    let mut targets = Vec::new();
    for file in &arguments.sql {
        let name = file.display().to_string();
        let text = experiment::read_text(file, SCRIPT_BYTES_MAX);
        let text = text.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        targets.extend(script_statements(&name, &text, rules.syntax));
    }
    let stop = servers::stop_by(&signals::stop_flag()?);
    let text = |error: ServerError| Failure::failed(format!("{shown}: {error}"));
    let mut reader = open(path, targets, arguments.limits(), &stop).map_err(text)?;
    let snapshot = reader.snapshot().map_err(text)?;
    let facts = ServerFacts::not_recorded_by(&snapshot.engine);
    Ok(Read { reader, snapshot, facts })
}

/// Reads what a server had counted when it was captured, during the capture, or between two
/// captures.
fn of_captures(captured: Capture, arguments: &QueriesTool) -> Result<Read, Failure> {
    if arguments.seconds.is_some() {
        let message =
            "--seconds needs a server; for a capture, --interval shows what ran during the capture";
        return Err(Failure::usage(message));
    }
    let counted = |captured: Capture, name: &str| {
        let text = "no statements in this capture: an older version wrote it, or reading them \
                    failed";
        captured.queries.ok_or_else(|| Failure::usage(format!("{name}: {text}")))
    };
    let name = arguments.server.as_deref().unwrap_or_default();
    let address = captured.observation.address.clone();
    let facts = ServerFacts::of_capture(Path::new(name), &captured.observation.activity);
    let first = counted(captured, name)?;
    let Some(later) = &arguments.later else {
        let snapshot = first.last.clone();
        let snapshot = if arguments.interval { between(&first.first, snapshot) } else { snapshot };
        return Ok(Read { reader: Box::new(first), snapshot, facts });
    };
    let text = |why: &str| Failure::usage(format!("{later}: {why}"));
    let second =
        read_capture(later).unwrap_or_else(|| Err(text("a capture is a file NAME.json")))?;
    if second.observation.address != address {
        return Err(text(&format!(
            "captured from {}, but {name} from {address}",
            second.observation.address
        )));
    }
    let facts = ServerFacts::of_capture(Path::new(later), &second.observation.activity);
    let second = counted(second, later)?;
    if second.last.span.to_ms <= first.last.span.to_ms {
        return Err(text(&format!("not captured after {name}; name the earlier capture first")));
    }
    let snapshot = between(&first.last, second.last.clone());
    Ok(Read { reader: Box::new(second), snapshot, facts })
}

fn write(
    found: &Queries,
    arguments: &QueriesTool,
    facts: &ServerFacts,
) -> Result<ExitCode, Failure> {
    if let Some(file) = &arguments.html {
        let page = report::web::page(&document::queries(found));
        write_html(&page, file, Replace::Ours)?;
    }
    let folder = arguments.workbook.as_deref().map(plan_files::folder_beside);
    let folder = arguments.plan_files.clone().or(folder);
    let files = folder.map(|folder| {
        plan_files::write(&folder, &found.snapshot, found.rules.syntax, arguments.literals)
    });
    let files = files.transpose()?.unwrap_or_default();
    if let Some(file) = &arguments.workbook {
        replace_file(file, Replace::Ours, |writer| {
            let sheets = server_sheets::workbook(found, facts, &files);
            report::tables_xlsx(sheets, found.snapshot.span.to_ms, writer)
        })?;
    }
    output::show_part(
        arguments.form,
        &arguments.extent,
        || object("queries", found, Value::Null),
        || document::queries(found),
    )
}

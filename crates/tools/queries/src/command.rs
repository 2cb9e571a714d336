//! `steelbench queries`: a server's statements, plans and indexes.

use crate::arguments::{QueriesCommand, QueriesTool};
use crate::connection::{Connection, LOOKS_S};
use crate::examine::{explained, statement_rules};
use crate::logged::read_logs;
use crate::server_facts::{ServerFacts, ServerWaits, Unknown, surveyed};
use crate::statement_log::{self, is_file_name};
use crate::try_change::try_change;
use crate::{Queries, between, document, machine, plan_files, server_sheets, watch};
use command_line::files::{Replace, replace_file, write_html};
use command_line::{Context, ExitCode, Failure, Tool, output, results, servers, signals};
use engine::{ObserveOptions, ServerError};
use inspection::statements::{Advice, Captured, Rules, Snapshot, script_statements};
use inspection::survey::{Capture, read_capture};
use inspection::{Inspection, OpenFile, QueryReader};
use report::json::object;
use serde_json::Value;
use std::path::Path;
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
        let named = self.server.as_deref();
        let file = named.filter(|_| self.psql.is_empty() && self.mariadb.is_empty());
        let read = match file.and_then(|name| self.of_records(context, name)) {
            Some(read) => read?,
            None if self.between.is_given() => {
                return Err(Failure::usage(
                    "--from and --to need a results file written with --every; name one",
                ));
            }
            None if self.output.is_some() => {
                return watch::watch(self, context, Connection::open(self, context)?);
            }
            None => match file.and_then(|name| self.of_file(context, name)) {
                Some(read) => read?,
                None => of_server(self, context)?,
            },
        };
        let Read { mut reader, snapshot, facts, settings, literals } = read;
        let rules = statement_rules(context, &snapshot.engine)?;
        let mut found = explained(&mut *reader, snapshot, logged, self.statements, rules);
        found.advice.extend(settings);
        found.snapshot.clean(rules, literals);
        write(&found, self, &facts)
    }
}

/// Statements that were read, what can say more about them, and facts of their server.
struct Read {
    reader: Box<dyn QueryReader>,
    snapshot: Snapshot,
    facts: ServerFacts,
    /// Settings that do not fit the server.
    settings: Option<Advice>,
    /// Constants in texts are shown.
    literals: bool,
}

impl QueriesTool {
    /// Reads recorded statements: those of a results file or a log. `None` of another file.
    fn of_records(&self, context: &Context, name: &str) -> Option<Result<Read, Failure>> {
        // What was recorded has the constants that were wanted then; a log beside it has all.
        let of_recording = self.literals || self.auto_explain.is_empty();
        let (snapshot, what, literals) = match results::observation(name) {
            Some((file, None)) => {
                (watch::joined(context, file, &self.between), "results files", of_recording)
            }
            _ => (statement_log::read(context, name, self.literals)?, "logs", self.literals),
        };
        Some(snapshot.map(|snapshot| {
            let facts = ServerFacts::unknown(Unknown::NotThere(what));
            let reader = Box::new(snapshot.clone());
            Read { reader, snapshot, facts, settings: None, literals }
        }))
    }

    /// Reads a capture or a database; `None` of what does not name a file.
    fn of_file(&self, context: &Context, name: &str) -> Option<Result<Read, Failure>> {
        if let Some(captured) = read_capture(name) {
            return Some(captured.and_then(|captured| of_captures(captured, name, self)));
        }
        let path = Path::new(name);
        if let Some(reader) = file_reader(context, path) {
            return Some(of_database(path, reader, self));
        }
        let why = if path.exists() {
            "not a results file, a capture, a database or a log of statements"
        } else {
            "no such file"
        };
        is_file_name(name).then(|| Err(Failure::usage(format!("{name}: {why}"))))
    }
}

/// Reads the counters of a server, or their differences in the seconds that are asked for.
fn of_server(arguments: &QueriesTool, context: &Context) -> Result<Read, Failure> {
    if arguments.later.is_some() || arguments.interval {
        let message = "--interval and a second capture need files written by `capture`; for a \
                       server, --seconds N counts what runs";
        return Err(Failure::usage(message));
    }
    let mut connection = Connection::open(arguments, context)?;
    connection.look()?;
    let mut snapshot = connection.snapshot()?;
    let is_wanted = arguments.workbook.is_some();
    let mut facts = ServerFacts::unknown(Unknown::NotThere("this report"));
    if let Some(seconds) = arguments.seconds {
        let signal = servers::stop_by(&connection.stop);
        let options = ObserveOptions::default();
        let observer = is_wanted.then(|| connection.server.observe(options, &signal));
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        connection.look_until(end, LOOKS_S)?;
        if let Some(observer) = observer {
            facts.waits = ServerWaits::until_now(observer);
        }
        snapshot = between(&snapshot, connection.snapshot()?);
    } else if is_wanted {
        facts.waits = ServerWaits::since_start(&mut *connection.reader, &snapshot.engine);
    }
    let survey = machine::survey(context, &*connection.server);
    let settings = survey.as_ref().ok().and_then(|survey| machine::settings(context, survey));
    facts.configuration = surveyed(survey);
    let (reader, literals) = (connection.reader, arguments.literals);
    Ok(Read { reader, snapshot, facts, settings, literals })
}

/// Opens the files of an engine's databases, whose statements are read by these rules.
type FileReader = (OpenFile, &'static Rules);

/// The reader of a database file, by the engine that has such files.
fn file_reader(context: &Context, path: &Path) -> Option<FileReader> {
    context.registry.engines.iter().find_map(|engine| {
        engine.database_files.filter(|files| files.is_database(path))?;
        let inspection = context.registry.adapter::<Inspection>(engine.name)?;
        Some((inspection.file_queries?, &inspection.rules))
    })
}

/// Examines the statements of scripts on a database file.
fn of_database(
    path: &Path,
    (open, rules): FileReader,
    arguments: &QueriesTool,
) -> Result<Read, Failure> {
    let shown = path.display();
    if arguments.sql.is_empty() {
        let message =
            format!("{shown} has no statement counters; give the statements with --sql FILE");
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
    let facts = ServerFacts::unknown(Unknown::NotRecorded(snapshot.engine.clone()));
    Ok(Read { reader, snapshot, facts, settings: None, literals: arguments.literals })
}

/// Reads what a server had counted when it was captured, during the capture, or between two
/// captures.
fn of_captures(first: Capture, name: &str, arguments: &QueriesTool) -> Result<Read, Failure> {
    if arguments.seconds.is_some() {
        let message =
            "--seconds needs a server; for a capture, --interval shows what ran during the capture";
        return Err(Failure::usage(message));
    }
    let literals = arguments.literals;
    let Some(later) = &arguments.later else {
        let facts = ServerFacts::of_capture(&first);
        let captured = counted(first, name)?;
        let mut snapshot = captured.last.clone();
        if arguments.interval {
            snapshot = between(&captured.first, snapshot);
        }
        return Ok(Read { reader: Box::new(captured), snapshot, facts, settings: None, literals });
    };
    let text = |why: &str| Failure::usage(format!("{later}: {why}"));
    let second =
        read_capture(later).unwrap_or_else(|| Err(text("a capture is a file NAME.json")))?;
    let addresses = [&first, &second].map(|capture| capture.observation.address.as_str());
    if addresses[0] != addresses[1] {
        let [first, second] = addresses;
        return Err(text(&format!("captured from {second}, but {name} from {first}")));
    }
    let facts = ServerFacts::of_capture(&second);
    let (first, second) = (counted(first, name)?, counted(second, later)?);
    if second.last.span.to_ms <= first.last.span.to_ms {
        return Err(text(&format!("not captured after {name}; name the earlier capture first")));
    }
    let snapshot = between(&first.last, second.last.clone());
    Ok(Read { reader: Box::new(second), snapshot, facts, settings: None, literals })
}

/// The statements in a capture.
fn counted(capture: Capture, name: &str) -> Result<Captured, Failure> {
    let text = "no statements in this capture: an older version wrote it, or reading them failed";
    capture.queries.ok_or_else(|| Failure::usage(format!("{name}: {text}")))
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

//! Logs with `log_min_duration_statement`, as text, CSV and JSON
//! (<https://www.postgresql.org/docs/current/runtime-config-logging.html>).

use crate::statements::{LoggedRun, StatementLogs};
use csv::{ReaderBuilder, StringRecord};
use serde_json::Value;

/// Fields of a line of CSV: user, database, message.
const FIELDS: [usize; 3] = [1, 2, 13];
/// Fields that a line of CSV has at least.
const FIELDS_MIN: usize = 20;

/// Reads these logs.
pub const LOGS: StatementLogs = StatementLogs { recognise, read };

fn recognise(beginning: &str) -> bool {
    beginning.lines().any(|line| line.contains("duration: ") && line.contains(" ms  "))
        && !beginning.contains("# Query_time: ")
}

fn read(text: &str) -> Vec<LoggedRun> {
    let first = text.trim_start();
    if first.starts_with('{') {
        return text.lines().filter_map(of_json).collect();
    }
    let mut csv =
        ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut records = csv.records().map_while(Result::ok).peekable();
    let is_csv = records.peek().is_some_and(|fields| fields.len() >= FIELDS_MIN);
    if is_csv { records.filter_map(|fields| of_csv(&fields)).collect() } else { plain(text) }
}

/// The run of a message: `duration: 1.5 ms  statement: SELECT 1`.
fn message(text: &str) -> Option<LoggedRun> {
    let (ms, rest) = text.strip_prefix("duration: ")?.split_once(" ms  ")?;
    let statement = match rest.strip_prefix("statement: ") {
        Some(statement) => statement,
        None => rest.strip_prefix("execute ")?.split_once(": ")?.1,
    };
    let ms = ms.parse().ok()?;
    Some(LoggedRun { text: statement.trim().to_owned(), ms, ..LoggedRun::default() })
}

fn of_json(line: &str) -> Option<LoggedRun> {
    let line: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let (database, user) = (text("dbname"), text("user"));
    Some(LoggedRun { database, user, ..message(&text("message"))? })
}

fn of_csv(fields: &StringRecord) -> Option<LoggedRun> {
    let [user, database, text] = FIELDS.map(|at| fields.get(at).unwrap_or_default());
    let (user, database) = (user.to_owned(), database.to_owned());
    Some(LoggedRun { database, user, ..message(text)? })
}

/// Lines of a log of texts; those that belong to a message begin with a tab.
fn plain(text: &str) -> Vec<LoggedRun> {
    let mut found: Vec<LoggedRun> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((prefix, first)) = line.split_once("LOG:  duration: ") else { continue };
        let mut whole = format!("duration: {first}");
        while let Some(more) = lines.next_if(|line| line.starts_with('\t')) {
            whole.push('\n');
            whole.push_str(&more[1..]);
        }
        // As `log_line_prefix` of most installations has it: `user@database`.
        let session = prefix.split_whitespace().find_map(|word| word.split_once('@'));
        let (user, database) = session.unwrap_or_default();
        found.extend(message(&whole).map(|run| LoggedRun {
            database: database.to_owned(),
            user: user.to_owned(),
            ..run
        }));
    }
    found
}

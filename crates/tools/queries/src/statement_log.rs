//! Statements of a log that a server has written, with the percentiles of their times.

use command_line::{Context, Failure, servers};
use inspection::Inspection;
use inspection::plans::FILE_BYTES_MAX;
use inspection::statements::{
    Counter, LoggedRun, Percentiles, Rules, Snapshot, Span, Spread, Statement, fingerprint,
};
use observations::number::{count, plural};
use std::collections::HashMap;
use std::path::Path;

/// Bytes by which a log is recognised.
const BEGINNING: usize = 1 << 20;

/// Name endings of files, which no database is meant by.
const FILES: [&str; 10] =
    ["log", "csv", "json", "sql", "txt", "gz", "db", "sqlite", "steelbench", "html"];

/// Returns true for an argument that names a file, whether it is there or not.
pub(crate) fn is_file_name(text: &str) -> bool {
    let path = Path::new(text);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_address = text.contains("://") || text.contains('=');
    !is_address && (path.is_file() || text.contains('/') || FILES.contains(&ending))
}

/// The statements of a log, with their constants where these are wanted; `None` of another file.
pub fn read(context: &Context, path: &str, literals: bool) -> Option<Result<Snapshot, Failure>> {
    let file = Path::new(path);
    if !file.is_file() || path.ends_with(".steelbench") {
        return None;
    }
    let bytes = match experiment::read_bytes(file, FILE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) => return Some(Err(Failure::usage(format!("{path}: {error}")))),
    };
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(BEGINNING)]);
    let mut inspections = context.registry.adapters::<Inspection>();
    let (engine, rules, logs) = inspections.find_map(|(engine, inspection)| {
        let logs = inspection.logs.filter(|logs| (logs.recognise)(&beginning))?;
        Some((engine, &inspection.rules, logs))
    })?;
    let runs = (logs.read)(&String::from_utf8_lossy(&bytes));
    if runs.is_empty() {
        let message = format!("{path}: a log without runs of statements and their times");
        return Some(Err(Failure::usage(message)));
    }
    let mut snapshot = snapshot(engine, path, runs, rules);
    snapshot.clean(rules, literals);
    Some(Ok(snapshot))
}

fn snapshot(engine: &str, path: &str, runs: Vec<LoggedRun>, rules: &Rules) -> Snapshot {
    let span = Span { to_ms: servers::now_ms(), ..Span::default() };
    let mut snapshot = Snapshot { is_log: true, ..Snapshot::new(engine, path.to_owned(), span, 1) };
    let number = runs.len();
    let mut at: HashMap<(String, String, String), usize> = HashMap::new();
    let mut times: Vec<Vec<f64>> = Vec::new();
    for run in runs {
        let key = (fingerprint(&run.text, rules), run.database.clone(), run.user.clone());
        let place = *at.entry(key).or_insert_with_key(|(text, ..)| {
            snapshot.statements.push(Statement {
                digest: format!("{:016x}", work::sql::statement::number(text)),
                database: run.database.clone(),
                user: run.user.clone(),
                is_top: true,
                text: run.text.clone(),
                ..Statement::default()
            });
            times.push(Vec::new());
            times.len() - 1
        });
        times[place].push(run.ms);
        let counters = &mut snapshot.statements[place].counters;
        let ns = |ms: f64| (ms * 1e6) as u64;
        let counted = [
            (Counter::Calls, Some(1)),
            (Counter::TimeNs, Some(ns(run.ms))),
            (Counter::LockNs, run.lock_ms.map(ns)),
            (Counter::Rows, run.rows),
            (Counter::RowsRead, run.rows_read),
        ];
        for (counter, value) in counted {
            if let Some(value) = value {
                *counters.entry(counter).or_default() += value;
            }
        }
    }
    for (statement, times) in snapshot.statements.iter_mut().zip(times) {
        describe(statement, times);
    }
    snapshot.notes.push(format!(
        "{} of {} in {path}: runs that the server did not log are missing.",
        plural(number, "run"),
        count(snapshot.statements.len() as u64)
    ));
    snapshot
}

/// Adds the spread of times.
fn describe(statement: &mut Statement, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let n = times.len() as f64;
    let mean = times.iter().sum::<f64>() / n;
    let squares: f64 = times.iter().map(|ms| (ms - mean).powi(2)).sum();
    // The smallest time that this share of the runs does not exceed.
    let rank = |share: f64| times[((share * n).ceil() as usize).clamp(1, times.len()) - 1];
    statement.percentiles =
        Some(Percentiles { p50_ms: rank(0.5), p95_ms: rank(0.95), p99_ms: rank(0.99) });
    statement.spread = Some(Spread {
        min_ms: times.first().copied(),
        max_ms: times.last().copied(),
        stddev_ms: Some((squares / n).sqrt()),
    });
}

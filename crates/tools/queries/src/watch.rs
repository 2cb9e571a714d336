//! `steelbench queries --every`: interval after interval into a results file; and what was recorded
//! so.

use crate::arguments::QueriesTool;
use crate::connection::{Connection, LOOKS_S};
use crate::examine::statement_rules;
use crate::history_document::plan_regressions;
use crate::plan_watch::PlanWatch;
use crate::{between, keep};
use command_line::arguments::Between;
use command_line::{Context, ExitCode, Failure, output, results};
use engine::ServerError;
use inspection::QueryReader;
use inspection::statements::Snapshot;
use observations::number::{count, plural, seconds};
use observations::{QueryInterval, order};
use report::json::object;
use report::utc_second;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use store::Store;

/// Shorter intervals would mostly see ourselves.
const EVERY_S_MIN: f64 = 0.2;
/// Looks at what sessions run, in an interval at most.
const LOOKS: f64 = 12.0;

/// Records intervals in a results file.
struct Recorder<'a> {
    arguments: &'a QueriesTool,
    context: &'a Context,
    /// The server as it was named.
    address: String,
    store: Store,
    plans: PlanWatch,
}

impl Recorder<'_> {
    /// Has plans made, and records an interval in one transaction.
    fn record(
        &mut self,
        reader: &mut dyn QueryReader,
        mut interval: Snapshot,
    ) -> Result<(), Failure> {
        keep(&mut interval, self.arguments.statements);
        reader.explain(&mut interval);
        let rules = statement_rules(self.context, &interval.engine)?;
        interval.clean(rules, self.arguments.literals);
        let mut recorded =
            crate::record(&interval, env!("CARGO_PKG_VERSION"), self.address.clone());
        for sample in reader.samples() {
            for statement in &mut recorded.statements {
                if statement.digest == sample.digest {
                    statement.add_samples(&sample.wait, sample.samples);
                }
            }
        }
        recorded.id = self.store.record_queries(&recorded)?;
        show(&recorded, self.arguments.form.json)?;
        if let Some(found) = self.plans.add(recorded) {
            output::show(
                self.arguments.form,
                || object("plan_regressions", &found, Value::Null),
                || plan_regressions(&found),
            )?;
        }
        Ok(())
    }
}

/// Records intervals until there are enough, the user stops it, or the server is lost. The recorded
/// intervals are kept in any case.
pub fn watch(
    arguments: &QueriesTool,
    context: &Context,
    mut connection: Connection,
) -> Result<ExitCode, Failure> {
    let file =
        arguments.output.as_ref().ok_or_else(|| Failure::usage("--every needs --output FILE"))?;
    let every_s = arguments.every.unwrap_or(EVERY_S_MIN);
    if every_s < EVERY_S_MIN {
        return Err(Failure::usage("--every: at least 200 ms"));
    }
    let address = connection.server.to_string();
    let recorder =
        |store| Recorder { arguments, context, address, store, plans: PlanWatch::default() };
    if arguments.query_store {
        return record_stored(connection, file, recorder);
    }
    let every = Duration::from_secs_f64(every_s);
    connection.look()?;
    let mut first = snapshot(&mut connection)?;
    // Those of the look before belong to no interval.
    drop(connection.reader.samples());
    // Not before there is something to record.
    let mut recorder = recorder(Store::create_or_open(file)?);
    let mut due = Instant::now();
    for _ in 0..arguments.count.unwrap_or(u32::MAX) {
        // The edges keep their rhythm; one that is late for longer than an interval begins a new
        // one.
        due = (due + every).max(Instant::now());
        connection.look_until(due, (every_s / LOOKS).max(LOOKS_S))?;
        let last = snapshot(&mut connection)?;
        let interval = between(&first, last.clone());
        first = last;
        recorder.record(&mut *connection.reader, interval)?;
        if connection.is_stopped() {
            break;
        }
    }
    Ok(ExitCode::Ok)
}

/// Records the intervals that the server has kept since the last one of it that the file has. A
/// file is made when there is one.
fn record_stored<'a>(
    mut connection: Connection,
    file: &Path,
    recorder: impl FnOnce(Store) -> Recorder<'a>,
) -> Result<ExitCode, Failure> {
    let store = file.exists().then(|| Store::create_or_open(file)).transpose()?;
    let mut known = store.as_ref().map(Store::query_intervals).transpose()?.unwrap_or_default();
    let address = connection.server.to_string();
    known.retain(|interval| interval.address == address);
    let mut after_ms = known.iter().map(|interval| interval.to_ms).max().unwrap_or(0);
    let mut next = connection.stored_interval(after_ms)?;
    if next.is_none() && known.is_empty() {
        let why = "the server has no completed interval; on SQL Server, the Query Store must be \
                   on for the database";
        return Err(connection.failure(&ServerError::new(why)));
    }
    let mut recorder = recorder(store.map_or_else(|| Store::create_or_open(file), Ok)?);
    while let Some(interval) = next.filter(|_| !connection.is_stopped()) {
        after_ms = interval.span.to_ms.max(after_ms + 1);
        recorder.record(&mut *connection.reader, interval)?;
        next = connection.stored_interval(after_ms)?;
    }
    Ok(ExitCode::Ok)
}

/// Without the statements there is nothing to record, and what was counted before would count
/// twice.
fn snapshot(connection: &mut Connection) -> Result<Snapshot, Failure> {
    let snapshot = connection.snapshot()?;
    match snapshot.unread.iter().find(|gap| gap.what.starts_with("statements")) {
        Some(unread) => {
            let why = format!("the statements cannot be read: {}", unread.why);
            Err(connection.failure(&ServerError::new(why)))
        }
        None => Ok(snapshot),
    }
}

fn show(interval: &QueryInterval, json: bool) -> Result<ExitCode, Failure> {
    if json {
        return output::print_json(
            object("query_interval", interval, Value::Null).map_err(Failure::failed)?,
        );
    }
    let sum = |counter: &str| {
        interval.statements.iter().filter_map(|statement| statement.get(counter)).sum::<u64>()
    };
    let length = seconds((interval.to_ms - interval.from_ms) as f64 / 1e3);
    let notes: String = interval.notes.iter().flat_map(|note| ["  ", note, "\n"]).collect();
    output::print_wrapped(&format!(
        "interval {}: {length} up to {}, {}, {} runs, {}\n{notes}",
        interval.id,
        utc_second(interval.to_ms),
        plural(interval.statements.len(), "statement"),
        count(sum("calls")),
        seconds(sum("time_ns") as f64 / 1e9),
    ))
}

/// The whole intervals of these files that lie between two times, oldest first, of the server that
/// was watched last; each with the number of its file. `None` where a file has runs, or none has an
/// interval.
pub fn recorded(
    stores: &[Store],
    span: &Between,
) -> Result<Option<Vec<(usize, QueryInterval)>>, Failure> {
    let mut all = Vec::new();
    for (at, store) in stores.iter().enumerate() {
        all.extend(store.query_intervals()?.into_iter().map(|interval| (at, interval)));
    }
    order::by_key(&mut all, &|(_, interval)| interval.from_ms);
    let Some(address) = all.last().map(|(_, interval)| interval.address.clone()) else {
        return Ok(None);
    };
    let others = all.len();
    all.retain(|(_, interval)| interval.address == address);
    if all.len() < others {
        let others = plural(others - all.len(), "interval");
        output::complain(&format!("note: skipped {others} of servers other than {address}"));
    }
    all.retain(|(_, interval)| span.covers(interval.from_ms, interval.to_ms));
    if all.is_empty() {
        return Err(Failure::usage("no complete interval between --from and --to"));
    }
    Ok(Some(all))
}

/// The sum of the recorded intervals of a file.
pub fn joined(context: &Context, file: &str, span: &Between) -> Result<Snapshot, Failure> {
    let stores = [results::open(context, Some(file))?];
    let none = || {
        let file = stores[0].path().display();
        Failure::usage(format!(
            "{file}: no recorded statements; record them with `steelbench queries URL --every \
             60s -o FILE`"
        ))
    };
    let intervals = recorded(&stores, span)?.ok_or_else(none)?;
    let intervals: Vec<QueryInterval> = intervals
        .into_iter()
        .map(|(at, interval)| stores[at].with_statements(interval))
        .collect::<Result<_, _>>()?;
    crate::joined(intervals).ok_or_else(none)
}

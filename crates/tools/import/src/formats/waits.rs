//! Two snapshots of a server's waits as CSV: `sys.dm_os_wait_stats` of SQL Server, or
//! `pg_wait_sampling_profile` of PostgreSQL.

use super::trial::{self, FormatError, Options, Trial, check_rows, observed};
use engine::{Engine, WaitType};
use observations::{Response, Wait, WaitSource, range};
use std::collections::BTreeMap;

/// Seconds between two samples of `pg_wait_sampling` by default
/// (`pg_wait_sampling.profile_period`).
const PERIOD_S: f64 = 0.01;

/// The counters of a wait type.
#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    count: f64,
    wait_s: f64,
    signal_s: f64,
}

/// The waits between two snapshots as a trial.
pub fn read(before: &str, after: &str, options: &Options<'_>) -> Result<Trial, FormatError> {
    let (is_sampled, earlier) = snapshot(before)?;
    let (_, later) = snapshot(after)?;
    let source = if is_sampled {
        WaitSource::Sampled { hz: 1.0 / PERIOD_S, samples: None, error_s: None }
    } else {
        WaitSource::Counted
    };
    let table = table(&later, options.engines);
    let mut waits = Vec::new();
    let mut total = 0.0;
    for (name, now) in later {
        let then = earlier.get(&name).copied().unwrap_or_default();
        let count = now.count - then.count;
        if count < 0.0 {
            return Err(FormatError::Damaged(format!(
                "{name} counts less in the second snapshot: the counters were reset, or the files \
                 are in the wrong order"
            )));
        }
        let seconds = now.wait_s - then.wait_s;
        if WaitType::is_benign(table, &name, &[]) || (count == 0.0 && seconds <= 0.0) {
            continue;
        }
        let signal_s = (now.signal_s - then.signal_s).max(0.0);
        total += seconds;
        waits.push(Wait {
            class: WaitType::class_of(table, &name),
            count: (!is_sampled).then(|| trial::count("waits", count)).transpose()?,
            resource_s: (seconds - signal_s).max(0.0),
            signal_s,
            source: source.clone(),
            wait_type: name,
        });
    }
    let mut responses = vec![Response::lower("wait_time", "s", total)];
    responses.extend(
        options.seconds.map(|seconds| Response::lower("waiting_sessions", "", total / seconds)),
    );
    let mut observations = observed(options.seconds.unwrap_or(0.0), 0.0, responses)?;
    observations.waits = waits;
    Ok(Trial { observations, ..Trial::default() })
}

/// The wait types of the engine that knows most of these names.
fn table(names: &BTreeMap<String, Counters>, engines: &[&'static Engine]) -> &'static [WaitType] {
    let tables = engines.iter().map(|engine| engine.wait_types);
    let best = tables.max_by_key(|table| {
        let known = names
            .keys()
            .filter(|name| table.iter().any(|table| !table.is_pattern() && table.fits(name)));
        known.count()
    });
    best.unwrap_or_default()
}

/// The counters of a snapshot by wait type, and whether they count samples.
fn snapshot(text: &str) -> Result<(bool, BTreeMap<String, Counters>), FormatError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let column = |name: &str| header.iter().position(|header| header.eq_ignore_ascii_case(name));
    let counted = column("wait_type").zip(column("wait_time_ms"));
    let sampled = column("event_type").zip(column("event")).zip(column("count"));
    let mut all: BTreeMap<String, Counters> = BTreeMap::new();
    for record in reader.records() {
        let record = record?;
        check_rows(all.len(), "wait types")?;
        let number = |at: Option<usize>| {
            at.and_then(|at| record[at].parse().ok()).filter(|value| range::has(*value))
        };
        let need = |at: Option<usize>| {
            number(at).ok_or_else(|| {
                let line = record.position().map_or(0, csv::Position::line);
                FormatError::Damaged(format!("line {line}: expected a number"))
            })
        };
        match (counted, sampled) {
            (Some((name, ms)), _) => {
                let entry = all.entry(record[name].to_owned()).or_default();
                entry.count += number(column("waiting_tasks_count")).unwrap_or(0.0);
                entry.wait_s += need(Some(ms))? / 1e3;
                entry.signal_s += number(column("signal_wait_time_ms")).unwrap_or(0.0) / 1e3;
            }
            (None, Some(((kind, event), count))) => {
                // A backend that ran had no event.
                if record[event].is_empty() {
                    continue;
                }
                let entry = all.entry(format!("{}:{}", &record[kind], &record[event])).or_default();
                entry.count += need(Some(count))?;
                entry.wait_s += need(Some(count))? * PERIOD_S;
            }
            _ => {
                return Err(FormatError::Damaged(
                    "expected the columns wait_type and wait_time_ms (sys.dm_os_wait_stats), or \
                     event_type, event and count (pg_wait_sampling_profile)"
                        .into(),
                ));
            }
        }
    }
    Ok((counted.is_none(), all))
}

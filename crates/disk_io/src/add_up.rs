//! From what the threads saw to the outcome of a run.

use crate::outcome::Direction;
use crate::recorder::{Intervals, Record, Recorded};
use crate::shared::SharedStream;
use crate::thread::Report;
use crate::{Backend, Outcome, StreamOutcome};
use observations::add_by_interval;

/// Adds the reports of all threads up.
pub fn add_up(
    backend: Backend,
    note: Option<String>,
    groups: &[Vec<SharedStream<'_>>],
    reports: Vec<Report>,
) -> Outcome {
    let elapsed_s = reports.iter().map(|report| report.outcome.elapsed_s).fold(0.0, f64::max);
    let threads = reports.iter().map(|report| report.outcome).collect();
    let mut notes: Vec<String> = note.into_iter().collect();
    let mut streams: Vec<Vec<StreamOutcome>> =
        groups.iter().map(|group| group.iter().map(named).collect()).collect();
    for report in reports {
        notes.extend(report.note.filter(|note| !notes.contains(note)));
        for (outcome, (record, warmup)) in streams[report.group].iter_mut().zip(report.streams) {
            add(outcome, record, &warmup, elapsed_s);
        }
    }
    Outcome { elapsed_s, backend, notes, streams: streams.into_iter().flatten().collect(), threads }
}

fn named(shared: &SharedStream<'_>) -> StreamOutcome {
    StreamOutcome {
        name: shared.stream.name.clone(),
        failures: shared.take_failures(),
        ..StreamOutcome::default()
    }
}

fn add(outcome: &mut StreamOutcome, record: Record, warmup: &Intervals, elapsed_s: f64) {
    let own_s = (record.last_ns - record.from_ns) as f64 / 1e9;
    outcome.elapsed_s = outcome.elapsed_s.max(own_s);
    add_direction(&mut outcome.reads, record.reads);
    add_direction(&mut outcome.writes, record.writes);
    add_direction(&mut outcome.syncs, record.syncs);
    if elapsed_s > 0.0 {
        outcome.depth_mean += record.depth_ns as f64 / 1e9 / elapsed_s;
    }
    add_by_interval(&mut outcome.ios_by_interval, &record.intervals.ios);
    add_by_interval(&mut outcome.bytes_by_interval, &record.intervals.bytes);
    add_by_interval(&mut outcome.warmup_ios_by_interval, &warmup.ios);
    add_by_interval(&mut outcome.warmup_bytes_by_interval, &warmup.bytes);
    outcome.sends_intended += record.sends_intended;
    outcome.sends_missed += record.sends_missed;
    outcome.send_delay_ns_max = outcome.send_delay_ns_max.max(record.send_delay_ns_max);
}

fn add_direction(sum: &mut Direction, one: Option<Recorded>) {
    let Some(one) = one else { return };
    sum.bytes += one.bytes;
    sum.latency.merge(&one.latency.histogram());
    if let Some(service) = &one.service {
        sum.service.get_or_insert_default().merge(&service.histogram());
    }
}

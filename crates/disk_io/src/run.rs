//! A run from its beginning to its end.

use crate::outcome::Direction;
use crate::queue::{Blocking, Queue};
use crate::recorder::{Intervals, Record, Recorded};
use crate::ring::{self, Ring};
use crate::shared::SharedStream;
use crate::thread::{Report, Thread};
use crate::{Backend, DiskError, Group, Load, Outcome, StreamOutcome};
use conductor::{Director, Lanes, conduct};
use observations::add_by_interval;

/// Runs a load to its end.
///
/// An I/O that fails ends its stream on that file, which the outcome tells; the other files and
/// streams go on.
///
/// # Errors
/// When a file cannot be opened, a setting does not fit it (direct I/O on tmpfs, a block that is not
/// a multiple of the sector or larger than the region), the system permits neither backend, or the
/// run is stopped.
pub fn run(load: &Load, director: &mut dyn Director) -> Result<Outcome, DiskError> {
    check(load)?;
    let groups = load.groups.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let (mode, note) = match load.backend {
        Some(Backend::Blocking) => (None, None),
        Some(Backend::IoUring) => (Some(ring::Mode::best().map_err(DiskError::System)?), None),
        None => match ring::Mode::best() {
            Ok(mode) => (Some(mode), None),
            Err(why) => (None, Some(format!("{why}: I/O goes by pread and pwrite, a thread for each"))),
        },
    };
    let (backend, reports) = match mode {
        Some(mode) => (Backend::IoUring, run_on::<Ring>(load, &groups, mode, director)?),
        None => (Backend::Blocking, run_on::<Blocking>(load, &groups, (), director)?),
    };
    Ok(add_up(backend, note, &groups, reports))
}

/// What makes no sense whatever the files are.
fn check(load: &Load) -> Result<(), DiskError> {
    let wrong = |message: String| Err(DiskError::System(message));
    for group in &load.groups {
        if group.threads == 0 || group.queue_depth == 0 || group.streams.is_empty() {
            return wrong("threads, queue depth and streams are at least 1".into());
        }
        if group.queue_depth > ring::DEPTH_MAX && load.backend != Some(Backend::Blocking) {
            return wrong(format!(
                "queue depth {}: io_uring takes at most {} I/Os a thread: use more threads",
                group.queue_depth,
                ring::DEPTH_MAX
            ));
        }
        if let Some(never) = group.streams.iter().find(|one| one.weight == 0) {
            return wrong(format!("stream {}: its share is 0", never.stream.name));
        }
        let endless = group.streams.iter().find(|one| one.stream.bytes.is_none() && load.duration.is_none());
        if let Some(endless) = endless {
            return wrong(format!(
                "stream {} has neither a time nor bytes to end after",
                endless.stream.name
            ));
        }
    }
    if load.interval.is_zero() {
        return wrong("the interval of the series is 0".into());
    }
    Ok(())
}

fn open(group: &Group) -> Result<Vec<SharedStream<'_>>, DiskError> {
    group.streams.iter().map(|weighted| SharedStream::open(&weighted.stream)).collect()
}

/// The threads of a load, group by group: number of the group, and its part of the group.
fn threads<Q: Queue>(load: &Load) -> Vec<Thread> {
    let of_group = |(number, group): (usize, &Group)| {
        // A queue of one makes up for its depth with threads.
        let (threads, depth) = match Q::DEPTH_MAX {
            1 => (u64::from(group.threads) * u64::from(group.queue_depth), 1),
            _ => (u64::from(group.threads), group.queue_depth),
        };
        (0..threads).map(move |index| Thread { group: number, index, of: threads, depth })
    };
    load.groups.iter().enumerate().flat_map(of_group).collect()
}

/// Runs the load on threads with this kind of queue.
fn run_on<Q: Queue>(
    load: &Load,
    groups: &[Vec<SharedStream<'_>>],
    mode: Q::Mode,
    director: &mut dyn Director,
) -> Result<Vec<Report>, DiskError> {
    let threads = threads::<Q>(load);
    let lanes = Lanes { number: threads.len(), name: "disk", warmup: load.warmup };
    conduct(lanes, director, |stage| {
        let thread = threads[stage.lane];
        thread.run::<Q>(load, &groups[thread.group], mode, stage)
    })
}

/// Adds the reports of all threads up.
fn add_up(
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

//! What the load threads waited for.

use super::streams::StreamPlan;
use crate::measure::{connection_done, seconds};
use disk_io::{Direction, Outcome};
use engines::Role;
use observations::{Operation, Wait, WaitClass};
use observe::ThreadTimes;

/// The waits of all threads: for I/O, for the next intended start, and for each other.
///
/// A thread that is neither on a processor, nor in the run queue, nor idle, waits for the I/Os that it has in flight.
/// With several in flight nobody can say for which: the time is divided among reads, writes and syncs in proportion to
/// their latencies, summed, each divided by the queue depth of its stream.
pub fn waits(streams: &[StreamPlan], outcome: &Outcome) -> Vec<Wait> {
    let threads = &outcome.threads;
    let idle_s: f64 = threads.iter().map(|thread| thread.idle_s).sum();
    let io_s = threads.iter().map(|thread| {
        let ThreadTimes { cpu_ns, run_delay_ns } = thread.used.times;
        (thread.elapsed_s - seconds(cpu_ns + run_delay_ns) - thread.idle_s).max(0.0)
    });
    let io_waits: u64 = threads.iter().map(|thread| thread.io_waits).sum();
    let mut waits = io_rows(streams, outcome, io_s.sum(), io_waits);
    waits.extend(Wait::counted("ARRIVAL", WaitClass::Client, 1, idle_s, 0.0));
    waits.extend(connection_done(outcome.elapsed_s, threads.iter().map(|thread| thread.elapsed_s)));
    waits
}

/// The names of the waits for reads, writes and syncs on files of a role.
fn types(role: Role) -> [(&'static str, WaitClass); 3] {
    match role {
        Role::Data => [
            ("DATA_READ", WaitClass::DataRead),
            ("DATA_WRITE", WaitClass::DataWrite),
            ("DATA_SYNC", WaitClass::DataWrite),
        ],
        Role::Log => {
            [("LOG_READ", WaitClass::Log), ("LOG_WRITE", WaitClass::Log), ("LOG_SYNC", WaitClass::Log)]
        }
        Role::Backup => [
            ("BACKUP_READ", WaitClass::DataRead),
            ("BACKUP_WRITE", WaitClass::DataWrite),
            ("BACKUP_SYNC", WaitClass::DataWrite),
        ],
    }
}

fn io_rows(streams: &[StreamPlan], outcome: &Outcome, io_s: f64, io_waits: u64) -> Vec<Wait> {
    let mut parts: Vec<((&str, WaitClass), f64)> = Vec::new();
    for (plan, stream) in streams.iter().zip(in_order(streams, outcome)) {
        let depth = f64::from(plan.queue_depth());
        let directions = [&stream.reads, &stream.writes, &stream.syncs];
        for (kind, direction) in types(plan.role()).into_iter().zip(directions) {
            let in_flight_s = latency_s(direction) / depth;
            match parts.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, sum)) => *sum += in_flight_s,
                None => parts.push((kind, in_flight_s)),
            }
        }
    }
    let all_s: f64 = parts.iter().map(|(_, s)| s).sum();
    let share = |part_s: f64| if all_s > 0.0 { part_s / all_s } else { 0.0 };
    let rows = parts.into_iter().filter_map(|((name, class), part_s)| {
        let count = (io_waits as f64 * share(part_s)).round() as u64;
        Wait::counted(name, class, count, io_s * share(part_s), 0.0)
    });
    rows.collect()
}

/// Reads, writes and syncs of each kind of file, with the time that they were in flight.
pub fn operations(streams: &[StreamPlan], outcome: &Outcome) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    for (plan, stream) in streams.iter().zip(in_order(streams, outcome)) {
        let directions = [&stream.reads, &stream.writes, &stream.syncs];
        for ((name, _), direction) in types(plan.role()).into_iter().zip(directions) {
            let (count, bytes, wall_s) = (direction.latency.len(), direction.bytes, latency_s(direction));
            match operations.iter_mut().find(|operation| operation.name == name) {
                Some(operation) => {
                    operation.count += count;
                    operation.bytes += bytes;
                    operation.wall_s += wall_s;
                }
                None if count > 0 => operations.push(Operation { name: name.into(), count, bytes, wall_s }),
                None => {}
            }
        }
    }
    operations
}

fn latency_s(direction: &Direction) -> f64 {
    direction.latency.min_mean_max_ns().1 / 1e9 * direction.latency.len() as f64
}

/// The outcomes in the order of the plans: those with a share come last in the load.
pub fn in_order<'a>(streams: &[StreamPlan], outcome: &'a Outcome) -> Vec<&'a disk_io::StreamOutcome> {
    let find = |plan: &StreamPlan| outcome.streams.iter().find(|stream| stream.name == plan.name);
    streams.iter().filter_map(find).collect()
}

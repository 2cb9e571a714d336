//! The parts of a load that was divided: the time of its sessions in each of them.

use super::outcome::ClientReport;
use crate::measure::seconds;
use crate::record::{ClientWait, ThreadMark};
use engine::SessionPart;
use observations::{Observations, Wait, WaitClass, wait_type};
use std::collections::HashMap;

/// The parts of a load, which sum to its observations: `parts` as the engine saw them.
pub fn fitted(
    mut parts: Vec<SessionPart>,
    reports: &[&ClientReport],
    whole: &Observations,
    embedded: bool,
) -> Vec<SessionPart> {
    if embedded {
        add_threads(&mut parts, reports, whole);
    }
    fit(&mut parts, whole);
    parts
}

/// Adds the time of the load's threads, which are the sessions of an embedded engine.
fn add_threads(parts: &mut [SessionPart], reports: &[&ClientReport], whole: &Observations) {
    let end_ns = reports.iter().map(|report| report.end_ns).max().unwrap_or(0);
    let last = parts.len().saturating_sub(1);
    for (number, part) in parts.iter_mut().enumerate() {
        let mut delay_ns = 0;
        let [mut arrival, mut pauses] = [ClientWait::default(); 2];
        for report in reports {
            let end = report.mark_at(end_ns);
            // A thread that was done before a part ended saw no end of it.
            let mark = |at: usize| report.marks.get(at).copied().unwrap_or(end);
            let from = number.checked_sub(1).map_or_else(ThreadMark::default, mark);
            let until = if number == last { end } else { mark(number) };
            part.session_s += seconds(until.at_ns.saturating_sub(from.at_ns));
            let used = until.times.since(from.times);
            part.cpu_s += seconds(used.cpu_ns);
            delay_ns += used.run_delay_ns;
            arrival = arrival.and(until.arrival.since(from.arrival));
            pauses = pauses.and(until.pauses.since(from.pauses));
        }
        part.waits.extend(arrival.named(wait_type::ARRIVAL, WaitClass::Client));
        part.waits.extend(pauses.named(wait_type::RETRY_PAUSE, WaitClass::Lock));
        let done = whole.waits.iter().find(|wait| wait.wait_type == wait_type::CONNECTION_DONE);
        part.waits.extend(done.filter(|_| number == last).cloned());
        let elsewhere_s: f64 = part.waits.iter().map(|wait| wait.signal_s).sum();
        let queue_s = (seconds(delay_ns) - elsewhere_s).max(0.0);
        part.waits.extend(Wait::counted(
            wait_type::CPU_QUEUE,
            WaitClass::CpuQueue,
            0,
            0.0,
            queue_s,
        ));
    }
}

/// Scales the waits of parts by type, so that they sum to those of the whole. Sessions were
/// connected before and after the load: that time is taken off the parts as it is off the whole, in
/// proportion to their waits for clients.
fn fit(parts: &mut [SessionPart], whole: &Observations) {
    let of_client = |part: &SessionPart| -> f64 {
        let waits = part.waits.iter().filter(|wait| wait.class == WaitClass::Client);
        waits.map(Wait::wait_s).sum()
    };
    let all_s: f64 = parts.iter().map(|part| part.session_s).sum();
    let client_s: f64 = parts.iter().map(of_client).sum();
    let beside_s = all_s - whole.time.session_s;
    let kind = by_type(whole.waits.iter());
    let found = by_type(parts.iter().flat_map(|part| &part.waits));
    for part in parts {
        let share =
            if client_s > 0.0 { of_client(part) / client_s } else { part.session_s / all_s };
        part.session_s -= beside_s * if share.is_finite() { share } else { 0.0 };
        for wait in &mut part.waits {
            let sum_s = found.get(&wait.wait_type).copied().unwrap_or(0.0);
            let wanted_s = kind.get(&wait.wait_type).copied().unwrap_or(0.0);
            let factor = if sum_s > 0.0 { wanted_s / sum_s } else { 0.0 };
            wait.resource_s *= factor;
            wait.signal_s *= factor;
        }
    }
}

/// Seconds by type of wait.
fn by_type<'a>(waits: impl Iterator<Item = &'a Wait>) -> HashMap<String, f64> {
    let mut sums = HashMap::new();
    for wait in waits {
        *sums.entry(wait.wait_type.clone()).or_insert(0.0) += wait.wait_s();
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::{add_threads, fit};
    use crate::load::outcome::ClientReport;
    use crate::record::{ClientWait, ThreadMark};
    use engine::SessionPart;
    use observations::{Observations, TimeUse, Wait, WaitClass, wait_type};
    use observe::{ThreadTimes, ThreadUse};

    const S: u64 = 1_000_000_000;

    fn wait(name: &str, class: WaitClass, seconds: f64) -> Wait {
        Wait::counted(name, class, 1, seconds, 0.0).unwrap()
    }

    fn part(session_s: f64, waits: Vec<Wait>) -> SessionPart {
        SessionPart { session_s, cpu_s: 0.0, waits }
    }

    fn all_s(parts: &[SessionPart], name: &str) -> f64 {
        let waits = parts.iter().flat_map(|part| &part.waits).filter(|wait| wait.wait_type == name);
        waits.map(Wait::wait_s).sum()
    }

    #[test]
    fn waits_of_parts_sum_to_the_whole_and_time_beside_the_load_is_taken_off() {
        let (log, idle) = ("WAL_SYNC", "idle");
        let of_part = |log_s, idle_s| {
            vec![wait(log, WaitClass::Log, log_s), wait(idle, WaitClass::Client, idle_s)]
        };
        let mut parts = [part(6.0, of_part(1.0, 4.0)), part(14.0, of_part(3.0, 8.0))];
        // The server counts 6 s of log waits; 3 s of idle time were before and after the load.
        let whole = Observations {
            waits: vec![wait(log, WaitClass::Log, 6.0), wait(idle, WaitClass::Client, 9.0)],
            time: TimeUse { session_s: 17.0, ..TimeUse::default() },
            ..Observations::default()
        };
        fit(&mut parts, &whole);
        assert!(
            (all_s(&parts, log) - 6.0).abs() < 1e-9 && (all_s(&parts, idle) - 9.0).abs() < 1e-9
        );
        // One and two thirds of the 3 s.
        assert!((parts[0].session_s - 5.0).abs() < 1e-9, "{parts:?}");
        assert!((parts[1].session_s - 12.0).abs() < 1e-9, "{parts:?}");
    }

    #[test]
    fn threads_divide_their_time_at_their_marks() {
        let wait = |resource_ns| ClientWait { count: 1, resource_ns, signal_ns: 0 };
        let times = |cpu_ns| ThreadTimes { cpu_ns, run_delay_ns: cpu_ns / 2 };
        let mark = |at_ns, cpu_ns, arrival_ns| ThreadMark {
            at_ns,
            times: times(cpu_ns),
            arrival: wait(arrival_ns),
            pauses: ClientWait::default(),
        };
        let mut report = ClientReport::default();
        (report.end_ns, report.arrival) = (10 * S, wait(3 * S));
        report.used = ThreadUse { times: times(4 * S), ..ThreadUse::default() };
        report.marks = vec![mark(2 * S, S, S), mark(6 * S, 2 * S, 2 * S)];
        let mut parts = vec![SessionPart::default(); 3];
        add_threads(&mut parts, &[&report], &Observations::default());
        let times: Vec<[f64; 2]> = parts.iter().map(|part| [part.session_s, part.cpu_s]).collect();
        assert_eq!(times, [[2.0, 1.0], [4.0, 1.0], [4.0, 2.0]]);
        assert!((all_s(&parts, wait_type::ARRIVAL) - 3.0).abs() < 1e-9);
        assert!((all_s(&parts[2..], wait_type::CPU_QUEUE) - 1.0).abs() < 1e-9, "{parts:?}");
    }
}

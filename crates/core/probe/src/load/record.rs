//! The record of a load: the sum of what its threads recorded, in one process or in several.

use super::outcome::{ClientReport, ClientWait, StatementTimes};
use conductor::{Reader, Recorder};
use observations::{Histogram, add_by_interval};
use observe::ThreadUse;
use serde::{Deserialize, Serialize};

/// The sum of what the threads of a load recorded. Sums of records are exact: histograms add up
/// bucket by bucket. Times are in nanoseconds on one timeline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// CPU use of each thread.
    pub threads: Vec<ThreadUse>,
    /// The first start of a thread.
    pub start_ns: u64,
    /// When the last transaction ended, and when the last thread ended, after the flush.
    pub done_ns: u64,
    /// See `done_ns`.
    pub end_ns: u64,
    /// The longest time to connect.
    pub connect_ns_max: u64,
    /// Waiting for the next intended start.
    pub arrival: ClientWait,
    /// Waiting before failed transactions are tried again.
    pub pauses: ClientWait,
    /// Waiting for the other connections to finish.
    pub others: ClientWait,
    /// Units done in each interval of the warm-up.
    pub warmup_units_by_interval: Vec<u64>,
    /// Units done in each interval since "go".
    pub units_by_interval: Vec<u64>,
    /// From the intended start to the end; empty when latencies are not recorded.
    pub latency: Histogram,
    /// From the actual start to the end, where transactions have an intended start.
    pub service: Histogram,
    /// The latencies by kind, if there are several kinds of transactions.
    pub latency_by_kind: Vec<Histogram>,
    /// Each statement of the plan.
    pub statements: Vec<StatementTimes>,
    /// Units of work done.
    pub units: u64,
    /// Transactions committed.
    pub transactions: u64,
    /// Transactions that failed and were given up.
    pub errors: u64,
    /// Tries after the first.
    pub retries: u64,
    /// Transactions that took longer than the limit.
    pub over_limit: u64,
    /// Transactions that an open loop did not begin because of the limit.
    pub skipped: u64,
    /// Time in the generator's own code.
    pub generator_ns: u64,
    /// Transactions intended by an open loop.
    pub sends_intended: u64,
    /// Those started late because all connections were busy.
    pub sends_late: u64,
    /// Those started late by an idle connection.
    pub sends_missed: u64,
    /// The worst delay of these.
    pub send_delay_ns_max: u64,
    /// The last intended start, after "go".
    pub intended_ns_max: u64,
    /// The last intended start that a free connection waited for, after "go".
    pub free_until_ns: u64,
}

impl LoadRecord {
    /// Sums the reports of the threads of this process.
    pub(super) fn from_reports(reports: &[&ClientReport]) -> Self {
        let total = |part: fn(&ClientReport) -> u64| reports.iter().map(|own| part(own)).sum();
        let largest =
            |part: fn(&ClientReport) -> u64| reports.iter().map(|own| part(own)).max().unwrap_or(0);
        let waits = |part: fn(&ClientReport) -> ClientWait| {
            reports.iter().map(|own| part(own)).fold(ClientWait::default(), ClientWait::and)
        };
        let end_ns = largest(|own| own.end_ns);
        let mut others = waits(|own| own.others);
        others.resource_ns += reports.iter().map(|own| end_ns - own.end_ns).sum::<u64>();
        let kinds = reports.first().map_or(0, |own| own.latency_by_kind.len());
        let statements = reports.first().map_or(0, |own| own.statements.len());
        Self {
            threads: reports.iter().map(|own| own.used).collect(),
            start_ns: reports.iter().map(|own| own.start_ns).min().unwrap_or(0),
            done_ns: largest(|own| own.done_ns),
            end_ns,
            connect_ns_max: largest(|own| own.connect_ns),
            arrival: waits(|own| own.arrival),
            pauses: waits(|own| own.pauses),
            others,
            warmup_units_by_interval: super::add_intervals(
                reports.iter().map(|own| own.warmup_units_by_interval.as_slice()),
            ),
            units_by_interval: super::add_intervals(
                reports.iter().map(|own| own.units_by_interval.as_slice()),
            ),
            latency: merge(reports.iter().filter_map(|own| own.latency.as_ref())),
            service: merge(reports.iter().filter_map(|own| own.service.as_ref())),
            latency_by_kind: (0..kinds)
                .map(|kind| merge(reports.iter().filter_map(|own| own.latency_by_kind.get(kind))))
                .collect(),
            statements: (0..statements)
                .map(|at| {
                    let all = reports.iter().filter_map(|own| own.statements.get(at));
                    all.copied().fold(StatementTimes::default(), StatementTimes::and)
                })
                .collect(),
            units: total(|own| own.units),
            transactions: total(|own| own.transactions),
            errors: total(|own| own.errors),
            retries: total(|own| own.retries),
            over_limit: total(|own| own.over_limit),
            skipped: total(|own| own.skipped),
            generator_ns: total(|own| own.generator_ns),
            sends_intended: total(|own| own.sends_intended),
            sends_late: total(|own| own.sends_late),
            sends_missed: total(|own| own.sends_missed),
            send_delay_ns_max: largest(|own| own.send_delay_ns_max),
            intended_ns_max: largest(|own| own.intended_ns_max),
            free_until_ns: largest(|own| own.free_until_ns),
        }
    }

    /// Moves the record to a timeline on which its origin was at `origin_ns`.
    #[must_use]
    pub fn since(mut self, origin_ns: u64) -> Self {
        for time in [&mut self.start_ns, &mut self.done_ns, &mut self.end_ns] {
            *time = time.saturating_sub(origin_ns);
        }
        self
    }

    /// Moves the record to a timeline on which it begins this much later.
    #[must_use]
    pub fn later_by(mut self, delay_ns: u64) -> Self {
        for time in [&mut self.start_ns, &mut self.done_ns, &mut self.end_ns] {
            *time = time.saturating_add(delay_ns);
        }
        self
    }

    /// Adds the record of another process on the same timeline.
    pub fn add(&mut self, other: &Self) {
        let end_ns = self.end_ns.max(other.end_ns);
        self.others = self.waited_until(end_ns).and(other.waited_until(end_ns));
        self.threads.extend_from_slice(&other.threads);
        self.start_ns = self.start_ns.min(other.start_ns);
        self.done_ns = self.done_ns.max(other.done_ns);
        self.end_ns = end_ns;
        self.connect_ns_max = self.connect_ns_max.max(other.connect_ns_max);
        self.arrival = self.arrival.and(other.arrival);
        self.pauses = self.pauses.and(other.pauses);
        add_by_interval(&mut self.warmup_units_by_interval, &other.warmup_units_by_interval);
        add_by_interval(&mut self.units_by_interval, &other.units_by_interval);
        self.latency = Histogram::sum(&[&self.latency, &other.latency]);
        self.service = Histogram::sum(&[&self.service, &other.service]);
        for (own, other) in self.latency_by_kind.iter_mut().zip(&other.latency_by_kind) {
            *own = Histogram::sum(&[own, other]);
        }
        for (own, other) in self.statements.iter_mut().zip(&other.statements) {
            *own = own.and(*other);
        }
        for (own, other) in [
            (&mut self.units, other.units),
            (&mut self.transactions, other.transactions),
            (&mut self.errors, other.errors),
            (&mut self.retries, other.retries),
            (&mut self.over_limit, other.over_limit),
            (&mut self.skipped, other.skipped),
            (&mut self.generator_ns, other.generator_ns),
            (&mut self.sends_intended, other.sends_intended),
            (&mut self.sends_late, other.sends_late),
            (&mut self.sends_missed, other.sends_missed),
        ] {
            *own = own.saturating_add(other);
        }
        for (own, other) in [
            (&mut self.send_delay_ns_max, other.send_delay_ns_max),
            (&mut self.intended_ns_max, other.intended_ns_max),
            (&mut self.free_until_ns, other.free_until_ns),
        ] {
            *own = other.max(*own);
        }
    }

    /// The wait for other connections when all of them end at this time.
    fn waited_until(&self, end_ns: u64) -> ClientWait {
        let apart_ns = end_ns.saturating_sub(self.end_ns).saturating_mul(self.threads.len() as u64);
        ClientWait { resource_ns: self.others.resource_ns.saturating_add(apart_ns), ..self.others }
    }
}

fn merge<'a>(recorders: impl Iterator<Item = &'a Recorder>) -> Histogram {
    let readers: Vec<Reader> = recorders.map(Recorder::reader).collect();
    Reader::sum(&readers)
}

#[cfg(test)]
mod tests {
    use super::{ClientReport, LoadRecord};
    use crate::load::plan::{LoadPlan, Started, TRANSACTION};
    use observations::ScriptStatement;
    use observe::{ThreadTimes, ThreadUse};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// A plan that has everything recorded.
    fn plan() -> LoadPlan {
        LoadPlan {
            connections: 4,
            threads: 4,
            rate: Some(1.0),
            intends: true,
            limit_ns: Some(400_000_000),
            units: None,
            shares: Vec::new(),
            units_each: 1,
            duration_s: None,
            warmup_s: 1.0,
            interval_s: 0.5,
            latencies: true,
            unit: TRANSACTION,
            rate_unit: "transactions/s",
            timed: TRANSACTION,
            kinds: vec!["a".into(), "b".into()],
            statements: vec![ScriptStatement::default(); 2],
            tries_max: 1,
            seed: 1,
            session: Vec::new(),
        }
    }

    /// A thread that has recorded random transactions.
    fn report(seed: u64) -> ClientReport {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut report = ClientReport::with_room(0, &plan());
        for _ in 0..random.random_range(1..2_000) {
            let intended_ns = random.random_range(0..3_000_000_000_u64);
            let start_ns = intended_ns + random.random_range(0..200_000_000);
            let end_ns = start_ns + random.random_range(0..400_000_000);
            let done = Started { kind: random.random_range(0..2), units: 3, transactions: 1 };
            report.transaction(done, [intended_ns, start_ns, end_ns]);
            report.intend(intended_ns, start_ns);
            report.statements[done.kind].succeeded(end_ns - start_ns, 1);
            report.statements[1 - done.kind].failed(random.random());
        }
        report.start_ns = random.random_range(0..1_000);
        report.done_ns = random.random_range(5_000_000_000..6_000_000_000);
        report.end_ns = report.done_ns + random.random_range(0..1_000);
        report.connect_ns = random.random_range(0..1_000_000);
        report.warmup_units_by_interval = vec![random.random_range(0..9); seed as usize % 3];
        let times = ThreadTimes { cpu_ns: random.random_range(1..9), run_delay_ns: 1 };
        report.used = ThreadUse { times, ..ThreadUse::default() };
        report.arrival.add(random.random_range(10..1_000), times);
        report.pauses.add(random.random_range(10..1_000), times);
        report.others.add(random.random_range(10..1_000), times);
        (report.retries, report.errors, report.skipped) = (seed, 1, 2);
        report.send(random.random_range(0..3_000_000));
        report
    }

    #[test]
    fn the_sum_of_records_is_the_record_of_all_threads_however_they_are_divided() {
        let reports: Vec<ClientReport> = (0..7).map(report).collect();
        let all: Vec<&ClientReport> = reports.iter().collect();
        let expected = LoadRecord::from_reports(&all);
        assert!(expected.units > 0 && expected.over_limit > 0 && !expected.latency.is_empty());
        for parts in [1, 2, 3, 7] {
            let records = all.chunks(parts).map(LoadRecord::from_reports);
            let sum = records
                .reduce(|mut sum, other| {
                    sum.add(&other);
                    sum
                })
                .unwrap();
            assert!(sum == expected, "in parts of {parts}");
        }
    }

    #[test]
    fn a_record_moves_to_another_timeline_as_a_whole() {
        let record = LoadRecord::from_reports(&[&report(1)]);
        let (start_ns, end_ns) = (record.start_ns, record.end_ns);
        let moved = record.clone().later_by(50).since(20);
        assert_eq!((moved.start_ns, moved.end_ns), (start_ns + 30, end_ns + 30));
        assert_eq!(moved.since(30 + start_ns).start_ns, 0);
    }
}

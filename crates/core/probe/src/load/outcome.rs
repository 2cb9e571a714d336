//! Records of a load's threads, and their sum.

use super::plan::{LoadPlan, Start, TRANSACTION};
use crate::load_clock::Timed;
use crate::measure::{Surroundings, seconds};
use crate::record::{ClientWait, Counts, LoadRecord, StatementTimes, StudyCounts, ThreadMark};
use engine::ConnectionSet;
use observations::{
    Amounts, Fact, FactName, Histogram, INITIAL_CONNECTION_TIME, Latency, LoadHealth, Observations,
    Response, ScriptStatement, Series, Wait, WaitClass, Work, add_by_interval, wait_type,
};
use observe::ThreadUse;
use work::conductor::{Reader, Recorder};

/// Transactions that an open loop did not begin because of the latency limit.
pub const SKIPPED: FactName = FactName::new("skipped", "transactions");

/// A finished thread's report and its open connections.
pub(crate) type Finished = (ClientReport, Box<dyn ConnectionSet>);

/// Records of one thread during the measurement. Other threads see only readers of its recorders.
#[derive(Debug, Default)]
pub(crate) struct ClientReport {
    /// Time to connect.
    pub connect_ns: u64,
    /// The measurement of this thread, on the load's common clock.
    pub start_ns: u64,
    pub end_ns: u64,
    /// When its last transaction ended, before the flush.
    pub done_ns: u64,
    /// CPU use of the thread during its measurement.
    pub used: ThreadUse,
    /// Waiting for the next intended start.
    pub arrival: ClientWait,
    /// Waiting before failed transactions are tried again.
    pub pauses: ClientWait,
    /// Waiting for the other connections to finish.
    pub others: ClientWait,
    /// Units done in each interval of the warm-up.
    pub warmup_units_by_interval: Vec<u64>,
    /// From the intended start to the end; `None` when latencies are not recorded.
    pub latency: Option<Recorder>,
    /// From the actual start to the end, where transactions have an intended start: in a closed
    /// loop it is the latency.
    pub service: Option<Recorder>,
    /// Units done in each interval since "go", and the length of one.
    pub units_by_interval: Vec<u64>,
    interval_ns: u64,
    /// The latencies by kind, if there are several kinds of transactions: latency of each.
    pub latency_by_kind: Vec<Recorder>,
    /// Each statement of the plan.
    pub statements: Vec<StatementTimes>,
    /// Each transaction of the measurement, where the plan wants that.
    pub each: Option<Vec<Timed>>,
    /// Ends of parts of the measurement, where it is divided.
    pub marks: Vec<ThreadMark>,
    /// Transactions, and the schedule of an open loop.
    pub counts: Counts,
    limit_ns: u64,
}

/// Transactions of a thread that there is room for, so that measuring does not allocate: at most,
/// and where no rate or amount tells how many there will be.
const EACH_MAX: f64 = 4e6;
const EACH_UNKNOWN: f64 = 1e5;
/// Divisions of a measurement that there is room for: an action begins and ends.
const MARKS: usize = 2;

/// A start later than this was late; on a connection that was free, it was missed by the generator.
const MISSED_NS: u64 = 1_000_000;

impl ClientReport {
    /// A record with room for this many intervals, so that measuring does not allocate, and for
    /// what the plan wants recorded.
    pub fn with_room(intervals: usize, plan: &LoadPlan) -> Self {
        let kinds = if plan.latencies && plan.kinds.len() > 1 { plan.kinds.len() } else { 0 };
        let statements = if plan.latencies { plan.statements.len() } else { 0 };
        Self {
            units_by_interval: Vec::with_capacity(intervals),
            interval_ns: (plan.interval_s * 1e9).max(1.0) as u64,
            latency: plan.latencies.then(Recorder::default),
            service: (plan.latencies && plan.intends).then(Recorder::default),
            latency_by_kind: (0..kinds).map(|_| Recorder::default()).collect(),
            statements: vec![StatementTimes::default(); statements],
            limit_ns: plan.limit_ns.unwrap_or(u64::MAX),
            ..Self::default()
        }
    }

    /// Records what one connection committed as one: when it was meant to start, started and ended,
    /// in nanoseconds after "go".
    #[inline]
    pub fn transaction(&mut self, done: Start, [intended_ns, start_ns, end_ns]: [u64; 3]) {
        let latency_ns = end_ns - intended_ns.min(end_ns);
        self.counts.over_limit += u64::from(latency_ns > self.limit_ns);
        if let Some(latency) = &mut self.latency {
            latency.record(latency_ns);
        }
        if let Some(latency) = self.latency_by_kind.get_mut(done.kind) {
            latency.record(latency_ns);
        }
        if let Some(service) = &mut self.service {
            service.record(end_ns - start_ns);
        }
        self.record_each(intended_ns, Some(end_ns), Some(done.kind));
        self.counts.units += done.units;
        self.counts.transactions += done.transactions;
        let interval = (end_ns / self.interval_ns) as usize;
        if self.units_by_interval.len() <= interval {
            self.units_by_interval.resize(interval + 1, 0);
        }
        self.units_by_interval[interval] += done.units;
    }

    /// Makes room for each transaction, where the plan wants that.
    pub fn with_each(self, plan: &LoadPlan) -> Self {
        let by_time = plan.rate.zip(plan.duration_s).map(|(rate, time_s)| rate * time_s);
        let expected = by_time.or(plan.units.map(|units| units as f64)).unwrap_or(EACH_UNKNOWN);
        // Arrivals are random: six standard deviations more.
        let room = (expected + 6.0 * expected.sqrt()).min(EACH_MAX) as usize;
        let each = plan.records_each.then(|| Vec::with_capacity(room));
        let marks = if plan.divides { room } else { MARKS };
        Self { each, marks: Vec::with_capacity(marks), ..self }
    }

    /// Records one transaction, where the plan wants that.
    #[inline]
    pub fn record_each(&mut self, due_ns: u64, end_ns: Option<u64>, kind: Option<usize>) {
        if let Some(each) = &mut self.each {
            each.push(Timed { due_ns, end_ns, kind: kind.map(|kind| kind as u32) });
        }
    }

    /// The use of the thread's time until the end of the load, when all threads have ended.
    pub fn mark_at(&self, end_ns: u64) -> ThreadMark {
        let at_ns = end_ns.saturating_sub(self.start_ns);
        let (times, arrival, pauses) = (self.used.times, self.arrival, self.pauses);
        ThreadMark { at_ns, times, arrival, pauses }
    }

    /// Records an intended start that a connection took at `now_ns`.
    pub fn intend(&mut self, due_ns: u64, now_ns: u64) {
        self.counts.sends_intended += 1;
        self.counts.sends_late += u64::from(now_ns.saturating_sub(due_ns) > MISSED_NS);
        self.counts.intended_ns_max = self.counts.intended_ns_max.max(due_ns);
        if due_ns > now_ns {
            self.counts.free_until_ns = self.counts.free_until_ns.max(due_ns);
        }
    }

    /// Records how punctual a free connection was.
    pub fn send(&mut self, delay_ns: u64) {
        self.counts.sends_missed += u64::from(delay_ns > MISSED_NS);
        self.counts.send_delay_ns_max = self.counts.send_delay_ns_max.max(delay_ns);
    }
}

impl ClientReport {
    /// Sums the reports of the threads of this process.
    pub fn sum(reports: &[&Self]) -> LoadRecord {
        let largest =
            |part: fn(&Self) -> u64| reports.iter().map(|report| part(report)).max().unwrap_or(0);
        let waits = |part: fn(&Self) -> ClientWait| {
            reports.iter().map(|report| part(report)).fold(ClientWait::default(), ClientWait::and)
        };
        let end_ns = largest(|report| report.end_ns);
        let mut others = waits(|report| report.others);
        others.resource_ns += reports.iter().map(|report| end_ns - report.end_ns).sum::<u64>();
        let kinds = reports.first().map_or(0, |report| report.latency_by_kind.len());
        let statements = reports.first().map_or(0, |report| report.statements.len());
        LoadRecord {
            threads: reports.iter().map(|report| report.used).collect(),
            start_ns: reports.iter().map(|report| report.start_ns).min().unwrap_or(0),
            done_ns: largest(|report| report.done_ns),
            end_ns,
            connect_ns_max: largest(|report| report.connect_ns),
            arrival: waits(|report| report.arrival),
            pauses: waits(|report| report.pauses),
            others,
            warmup_units_by_interval: add_intervals(
                reports.iter().map(|report| report.warmup_units_by_interval.as_slice()),
            ),
            units_by_interval: add_intervals(
                reports.iter().map(|report| report.units_by_interval.as_slice()),
            ),
            latency: merge(reports.iter().filter_map(|report| report.latency.as_ref())),
            service: merge(reports.iter().filter_map(|report| report.service.as_ref())),
            latency_by_kind: (0..kinds)
                .map(|kind| {
                    merge(reports.iter().filter_map(|report| report.latency_by_kind.get(kind)))
                })
                .collect(),
            statements: (0..statements)
                .map(|at| {
                    let all = reports.iter().filter_map(|report| report.statements.get(at));
                    all.copied().fold(StatementTimes::default(), StatementTimes::and)
                })
                .collect(),
            counts: reports.iter().map(|report| report.counts).fold(Counts::default(), Counts::and),
            study: StudyCounts::default(),
        }
    }
}

/// Each recorded transaction of all threads, on their common clock.
pub fn each(finished: &[Finished]) -> Vec<Timed> {
    let all = finished.iter().flat_map(|(report, _)| {
        report.each.iter().flatten().map(|transaction| Timed {
            due_ns: transaction.due_ns + report.start_ns,
            end_ns: transaction.end_ns.map(|end_ns| end_ns + report.start_ns),
            kind: transaction.kind,
        })
    });
    all.collect()
}

fn merge<'a>(recorders: impl Iterator<Item = &'a Recorder>) -> Histogram {
    let readers: Vec<Reader> = recorders.map(Recorder::reader).collect();
    Reader::sum(&readers)
}

/// The observations of a load.
pub fn add_up(
    plan: &LoadPlan,
    record: &LoadRecord,
    surroundings: Surroundings,
    embedded: bool,
) -> Observations {
    let elapsed_s = seconds(record.end_ns.saturating_sub(record.start_ns));
    let waits = if embedded { client_waits(record) } else { Vec::new() };
    let lanes = record.threads.iter().copied();
    let around = surroundings.observations(elapsed_s, plan.connections, lanes, waits);
    let work = Work {
        unit: plan.unit.into(),
        amount: record.counts.units,
        transactions: record.counts.transactions,
        errors: record.counts.errors,
        retries: record.counts.retries,
    };
    let latency = &record.latency;
    let service = if plan.intends { &record.service } else { latency };
    let flush_s = seconds(record.end_ns - record.done_ns.min(record.end_ns));
    let mut responses = responses(plan, elapsed_s, flush_s, &work, [latency, service]);
    if !embedded {
        let cpu_ns: u64 = record.threads.iter().map(|thread| thread.times.cpu_ns).sum();
        let transactions =
            Some(work.transactions as f64).filter(|transactions| *transactions > 0.0);
        responses.extend(
            transactions
                .map(|n| Response::lower("client_cpu", "us/transaction", cpu_ns as f64 / 1e3 / n)),
        );
    }
    let (over, skipped) = (record.counts.over_limit, record.counts.skipped);
    let mut facts = limited(plan, &mut responses, &work, [over, skipped]);
    if !plan.statements.is_empty() {
        facts.push(INITIAL_CONNECTION_TIME.record(record.connect_ns_max as f64 / 1e6));
    }
    let generator_s = seconds(record.counts.generator_ns);
    let session_s = around.time.session_s;
    let load = LoadHealth {
        client_share: if session_s > 0.0 { generator_s / session_s } else { 0.0 },
        sends_intended: record.counts.sends_intended + skipped,
        sends_missed: record.counts.sends_missed,
        send_delay_us_max: record.counts.send_delay_ns_max / 1000,
        sends_late: plan.rate.map(|_| record.counts.sends_late + skipped),
        schedule_s: plan.rate.map(|_| seconds(record.counts.intended_ns_max)),
        free_until_s: plan.rate.map(|_| seconds(record.counts.free_until_ns)),
        ..around.load
    };
    Observations {
        responses,
        facts,
        work,
        statements: statements(plan, record),
        latencies: if plan.latencies { latencies(plan, record, service) } else { Vec::new() },
        series: vec![throughput(plan, record, elapsed_s)],
        load,
        ..around
    }
}

/// First comes what configurations are compared on. The time where the amount of work is fixed, and
/// throughput where the time is. In an open loop both follow the schedule: what tells
/// configurations apart is latency from the intended start, and of it what the slowest see. The
/// 99th percentile is the deepest that a trial of some seconds holds: it needs 1,000 transactions
/// for ten slower ones.
fn responses(
    plan: &LoadPlan,
    elapsed_s: f64,
    flush_s: f64,
    work: &Work,
    [latency, service]: [&Histogram; 2],
) -> Vec<Response> {
    let rate = |amount: u64| if elapsed_s > 0.0 { amount as f64 / elapsed_s } else { 0.0 };
    let elapsed = Response::lower("elapsed", "s", elapsed_s);
    // In a given time whole units are done; a given number of them takes a time that no step
    // limits.
    let step = if plan.duration_s.is_some() { rate(1) } else { 0.0 };
    let throughput =
        Response::higher("throughput", plan.rate_unit, rate(work.amount)).in_steps_of(step);
    let mut responses = if plan.duration_s.is_none() {
        vec![elapsed, throughput]
    } else {
        vec![throughput, elapsed]
    };
    if plan.unit != TRANSACTION {
        let transactions =
            Response::higher("transactions", "transactions/s", rate(work.transactions));
        responses.push(transactions.in_steps_of(step));
    }
    let mean = |name, histogram: &Histogram| {
        Response::lower(name, "ms", histogram.min_mean_max_ns().1 / 1e6)
    };
    if plan.latencies {
        responses.push(mean("latency_mean", latency));
        for (name, percentile) in
            [("latency_p50", 50.0), ("latency_p95", 95.0), ("latency_p99", 99.0)]
        {
            responses.push(Response::percentile(name, "ms", 1e6, latency, percentile));
        }
    }
    if plan.latencies && plan.rate.is_some() {
        responses.rotate_right(1);
        responses.push(mean("service_mean", service));
    }
    responses.push(Response::lower("flush", "s", flush_s));
    responses
}

/// The share of transactions that a latency limit was broken by. In an open loop those that were
/// skipped are among them, and it is what configurations are compared on: the latencies recorded
/// are those of the others.
fn limited(
    plan: &LoadPlan,
    responses: &mut Vec<Response>,
    work: &Work,
    [over, skipped]: [u64; 2],
) -> Vec<Fact> {
    let intended = (work.transactions + skipped) as f64;
    if plan.limit_ns.is_none() || intended == 0.0 {
        return Vec::new();
    }
    let percent = |count: u64| count as f64 / intended * 100.0;
    responses
        .push(Response::lower("over_limit", "%", percent(over + skipped)).in_steps_of(percent(1)));
    if plan.rate.is_none() {
        return Vec::new();
    }
    responses.rotate_right(1);
    vec![SKIPPED.record(skipped as f64)]
}

/// The statements of the plan, with what all threads recorded of them.
fn statements(plan: &LoadPlan, record: &LoadRecord) -> Vec<ScriptStatement> {
    let recorded = plan.statements.iter().zip(&record.statements).filter(|_| plan.latencies);
    recorded
        .map(|(statement, times)| ScriptStatement {
            count: times.count,
            wall_s: seconds(times.sum_ns),
            wall_s_max: seconds(times.ns_max),
            failures: times.failures,
            retries: times.retries,
            ..statement.clone()
        })
        .collect()
}

/// Latency of all transactions, their service time, and the latency of each kind of them.
fn latencies(plan: &LoadPlan, record: &LoadRecord, service: &Histogram) -> Vec<Latency> {
    let mut latencies = vec![
        Latency { name: plan.timed.into(), histogram: record.latency.clone() },
        Latency { name: "service".into(), histogram: service.clone() },
    ];
    let kinds = plan.kinds.iter().zip(&record.latency_by_kind);
    latencies.extend(kinds.map(|(name, histogram)| Latency {
        name: format!("{}: {name}", plan.timed),
        histogram: histogram.clone(),
    }));
    latencies
}

/// Waits on the client's side: for the next arrival, before another try of a failed transaction,
/// and for connections that are not done yet.
fn client_waits(record: &LoadRecord) -> Vec<Wait> {
    [
        (wait_type::ARRIVAL, WaitClass::Client, record.arrival),
        (wait_type::RETRY_PAUSE, WaitClass::Lock, record.pauses),
        (wait_type::CONNECTION_DONE, WaitClass::Client, record.others),
    ]
    .into_iter()
    .filter_map(|(name, class, wait)| wait.named(name, class))
    .collect()
}

/// Units a second in each interval: warm-up before second 0, then the measurement.
fn throughput(plan: &LoadPlan, record: &LoadRecord, elapsed_s: f64) -> Series {
    Series::of_amounts(
        "throughput",
        plan.rate_unit,
        1.0,
        plan.interval_s,
        Amounts { by_interval: &record.warmup_units_by_interval, covered_s: plan.warmup_s },
        Amounts { by_interval: &record.units_by_interval, covered_s: elapsed_s },
    )
}

/// Adds the CPU time of the engine for a transaction; that of a server on another machine that
/// counts none is unknown.
pub fn add_cpu_per_transaction(observations: &mut Observations) {
    let (transactions, cpu_s) = (observations.work.amount as f64, observations.time.cpu_s);
    if transactions > 0.0 && cpu_s > 0.0 {
        let each_us = cpu_s / transactions * 1e6;
        let response = Response::lower("cpu_per_transaction", "us/transaction", each_us);
        observations.responses.push(response);
    }
}

/// Amounts by interval of all these together.
pub fn add_intervals<'a>(parts: impl Iterator<Item = &'a [u64]>) -> Vec<u64> {
    parts.fold(Vec::new(), |mut sum, part| {
        add_by_interval(&mut sum, part);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::ClientReport;
    use crate::load::plan::{LoadPlan, Start, TRANSACTION};
    use observations::ScriptStatement;
    use observe::{ThreadTimes, ThreadUse};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// A plan that has everything recorded.
    fn plan() -> LoadPlan {
        LoadPlan {
            connections: 4,
            threads: 4,
            records_each: false,
            divides: false,
            divisions: None,
            counted: None,
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
            counting: None,
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
            let done = Start { kind: random.random_range(0..2), units: 3, transactions: 1 };
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
        (report.counts.retries, report.counts.errors, report.counts.skipped) = (seed, 1, 2);
        report.send(random.random_range(0..3_000_000));
        report
    }

    #[test]
    fn the_sum_of_records_is_the_record_of_all_threads_however_they_are_divided() {
        let reports: Vec<ClientReport> = (0..7).map(report).collect();
        let all: Vec<&ClientReport> = reports.iter().collect();
        let expected = ClientReport::sum(&all);
        assert!(
            expected.counts.units > 0
                && expected.counts.over_limit > 0
                && !expected.latency.is_empty()
        );
        for parts in [1, 2, 3, 7] {
            let records = all.chunks(parts).map(ClientReport::sum);
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
        let record = ClientReport::sum(&[&report(1)]);
        let (start_ns, end_ns) = (record.start_ns, record.end_ns);
        let moved = record.clone().later_by(50).since(20);
        assert_eq!((moved.start_ns, moved.end_ns), (start_ns + 30, end_ns + 30));
        assert_eq!(moved.since(30 + start_ns).start_ns, 0);
    }
}

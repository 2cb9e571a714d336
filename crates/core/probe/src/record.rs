//! The record of a load: the sum of what its threads recorded, in one process or in several.

use observations::{Histogram, Wait, WaitClass, add_by_interval};
use observe::{ThreadTimes, ThreadUse};
use serde::{Deserialize, Serialize};
use std::fmt;

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
    /// Transactions, and the schedule of an open loop.
    pub counts: Counts,
    /// Counts of the study.
    #[serde(default)]
    pub study: StudyCounts,
}

impl LoadRecord {
    /// Moves the record to a timeline on which its origin was at `origin_ns`.
    #[must_use]
    pub fn since(mut self, origin_ns: u64) -> Self {
        for time in self.times() {
            *time = time.saturating_sub(origin_ns);
        }
        self
    }

    /// Moves the record to a timeline on which it begins this much later.
    #[must_use]
    pub fn later_by(mut self, delay_ns: u64) -> Self {
        for time in self.times() {
            *time = time.saturating_add(delay_ns);
        }
        self
    }

    /// All times on its timeline.
    fn times(&mut self) -> impl Iterator<Item = &mut u64> {
        let times = [&mut self.start_ns, &mut self.done_ns, &mut self.end_ns];
        times.into_iter().chain(self.study.spans_ns.iter_mut().flatten().flatten())
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
        for (latency_by_kind, other) in self.latency_by_kind.iter_mut().zip(&other.latency_by_kind)
        {
            *latency_by_kind = Histogram::sum(&[latency_by_kind, other]);
        }
        for (statement, other) in self.statements.iter_mut().zip(&other.statements) {
            *statement = statement.and(*other);
        }
        self.counts = self.counts.and(other.counts);
        self.study.add(&other.study);
    }

    /// The wait for other connections when all of them end at this time.
    fn waited_until(&self, end_ns: u64) -> ClientWait {
        let apart_ns = end_ns.saturating_sub(self.end_ns).saturating_mul(self.threads.len() as u64);
        ClientWait { resource_ns: self.others.resource_ns.saturating_add(apart_ns), ..self.others }
    }
}

/// Counts that a study makes beside those of every load. Only the study knows their meanings, which
/// follow from their positions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyCounts {
    /// Counts that add up.
    pub counts: Vec<u64>,
    /// The first start and the last end of groups of connections, in nanoseconds on the record's
    /// timeline; `None`: a group did nothing.
    pub spans_ns: Vec<Option<[u64; 2]>>,
}

impl StudyCounts {
    /// Adds the counts of other connections on the same timeline.
    pub fn add(&mut self, other: &Self) {
        add_by_interval(&mut self.counts, &other.counts);
        self.spans_ns.resize(self.spans_ns.len().max(other.spans_ns.len()), None);
        for (spans_ns, other) in self.spans_ns.iter_mut().zip(&other.spans_ns) {
            let Some([start_ns, end_ns]) = *other else { continue };
            let [first_ns, last_ns] = spans_ns.unwrap_or([start_ns, end_ns]);
            *spans_ns = Some([first_ns.min(start_ns), last_ns.max(end_ns)]);
        }
    }
}

/// A study's own counts in a load, summed over the connections of this process that have ended.
pub trait Counting: fmt::Debug + Send + Sync {
    /// Returns the sum. Times are those of the load's clock.
    fn report(&self) -> StudyCounts;
    /// Adds the sum of another process.
    fn include(&self, others: &StudyCounts);
}

/// Transactions, and the schedule of an open loop, as one thread or several count them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
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
    /// Sends started late because all connections were busy.
    pub sends_late: u64,
    /// Sends started late by an idle connection.
    pub sends_missed: u64,
    /// The worst delay of these.
    pub send_delay_ns_max: u64,
    /// The last intended start, after "go".
    pub intended_ns_max: u64,
    /// The last intended start that a free connection waited for, after "go".
    pub free_until_ns: u64,
}

impl Counts {
    /// The sum with another thread's; of times that end in `max` or `until` the larger one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            units: self.units.saturating_add(other.units),
            transactions: self.transactions.saturating_add(other.transactions),
            errors: self.errors.saturating_add(other.errors),
            retries: self.retries.saturating_add(other.retries),
            over_limit: self.over_limit.saturating_add(other.over_limit),
            skipped: self.skipped.saturating_add(other.skipped),
            generator_ns: self.generator_ns.saturating_add(other.generator_ns),
            sends_intended: self.sends_intended.saturating_add(other.sends_intended),
            sends_late: self.sends_late.saturating_add(other.sends_late),
            sends_missed: self.sends_missed.saturating_add(other.sends_missed),
            send_delay_ns_max: self.send_delay_ns_max.max(other.send_delay_ns_max),
            intended_ns_max: self.intended_ns_max.max(other.intended_ns_max),
            free_until_ns: self.free_until_ns.max(other.free_until_ns),
        }
    }
}

/// How a statement fared on the connections of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementTimes {
    /// Successes.
    pub count: u64,
    /// Their time.
    pub sum_ns: u64,
    /// The longest of them.
    pub ns_max: u64,
    /// Failures that ended a transaction for good.
    pub failures: u64,
    /// Failures after which it was tried again, and repetitions by the engine.
    pub retries: u64,
}

impl StatementTimes {
    /// Records a success, after this many retries by the engine.
    #[inline]
    pub fn succeeded(&mut self, took_ns: u64, retries: u32) {
        self.count += 1;
        self.sum_ns += took_ns;
        self.ns_max = self.ns_max.max(took_ns);
        self.retries += u64::from(retries);
    }

    /// It ended its transaction, which is tried again or given up.
    pub fn failed(&mut self, again: bool) {
        *(if again { &mut self.retries } else { &mut self.failures }) += 1;
    }

    /// The sum with another thread's.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            sum_ns: self.sum_ns.saturating_add(other.sum_ns),
            ns_max: self.ns_max.max(other.ns_max),
            failures: self.failures.saturating_add(other.failures),
            retries: self.retries.saturating_add(other.retries),
        }
    }
}

/// Time that a thread waited on the client's side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientWait {
    /// Number of waits.
    pub count: u64,
    /// Nanoseconds suspended.
    pub resource_ns: u64,
    /// Nanoseconds ready to run, waiting for a processor.
    pub signal_ns: u64,
}

impl ClientWait {
    /// Adds one wait; `used` is what the thread did of it other than wait.
    pub fn add(&mut self, wall_ns: u64, used: ThreadTimes) {
        self.count += 1;
        self.resource_ns += wall_ns.saturating_sub(used.cpu_ns + used.run_delay_ns);
        self.signal_ns += used.run_delay_ns.min(wall_ns);
    }

    /// The waits since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            count: self.count.saturating_sub(earlier.count),
            resource_ns: self.resource_ns.saturating_sub(earlier.resource_ns),
            signal_ns: self.signal_ns.saturating_sub(earlier.signal_ns),
        }
    }

    /// The waits under their name; `None` where they took no time.
    pub fn named(self, name: &str, class: WaitClass) -> Option<Wait> {
        let [resource_s, signal_s] = [self.resource_ns, self.signal_ns].map(|ns| ns as f64 / 1e9);
        Wait::counted(name, class, self.count.max(1), resource_s, signal_s)
    }

    /// The sum with another thread's.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            resource_ns: self.resource_ns.saturating_add(other.resource_ns),
            signal_ns: self.signal_ns.saturating_add(other.signal_ns),
        }
    }
}

/// The use of a thread's time until the end of a part.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ThreadMark {
    /// Nanoseconds after "go".
    pub at_ns: u64,
    /// On a processor and in the run queue.
    pub times: ThreadTimes,
    /// Waiting for the next intended start.
    pub arrival: ClientWait,
    /// Waiting before failed transactions are tried again.
    pub pauses: ClientWait,
}

#[cfg(test)]
mod tests {
    use super::{LoadRecord, StudyCounts};

    #[test]
    fn counts_of_a_study_move_and_add_up_with_their_record() {
        let record = |counts: &[u64], spans_ns: &[Option<[u64; 2]>]| {
            let study = StudyCounts { counts: counts.into(), spans_ns: spans_ns.into() };
            LoadRecord { study, ..LoadRecord::default() }
        };
        let mut sum = record(&[1, 2], &[Some([700, 900]), None]).since(500).later_by(10);
        assert_eq!(sum.study.spans_ns, [Some([210, 410]), None]);
        sum.add(&record(&[10, 20], &[Some([300, 600]), Some([5, 6])]));
        sum.add(&record(&[], &[]));
        assert_eq!(sum.study.counts, [11, 22]);
        assert_eq!(sum.study.spans_ns, [Some([210, 600]), Some([5, 6])]);
    }
}

//! Counts of the transactions of a load: by each connection, and added up when it ends.

use crate::kind::Kind;
use crate::span::Span;
use engine::{RetryCause, lock};
use observations::{Fact, FactFamily, FactName};
use probe::{Counting, StudyCounts};
use std::sync::{Arc, Mutex};

/// Transactions done of a kind, also new orders that were rolled back.
pub const DONE: FactFamily = FactFamily::new("transactions.", "transactions");
/// Times that transactions of a kind were repeated for a cause: `repeated.payment.deadlock`.
pub const REPEATED: FactFamily = FactFamily::new("repeated.", "");
/// New orders with an unknown item, which were rolled back.
pub const ROLLED_BACK: FactName = FactName::new("rolled_back", "transactions");
/// Lines of new orders.
pub const LINES: FactName = FactName::new("order_lines", "");
/// Lines that another warehouse supplies.
pub const REMOTE_LINES: FactName = FactName::new("remote_lines", "");
/// Payments of customers of another warehouse.
pub const REMOTE_PAYMENTS: FactName = FactName::new("remote_payments", "transactions");
/// Payments and order statuses that look a customer up by last name.
pub const BY_NAME: FactName = FactName::new("by_last_name", "transactions");
/// Districts without an order to deliver.
pub const SKIPPED: FactName = FactName::new("deliveries_skipped", "");

/// Why transactions are repeated, with their names in facts.
const CAUSES: [(RetryCause, &str); 3] = [
    (RetryCause::Deadlock, "deadlock"),
    (RetryCause::Conflict, "conflict"),
    (RetryCause::LockTimeout, "lock-timeout"),
];

/// Counts of one connection, or of all.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Transactions done, by kind.
    pub done: [u64; 5],
    /// Times that they were repeated, by kind and cause.
    pub repeated: [[u64; 3]; 5],
    /// New orders that were rolled back.
    pub rolled_back: u64,
    /// See [`LINES`].
    pub lines: u64,
    /// See [`REMOTE_LINES`].
    pub remote_lines: u64,
    /// See [`REMOTE_PAYMENTS`].
    pub remote_payments: u64,
    /// See [`BY_NAME`].
    pub by_name: u64,
    /// See [`SKIPPED`].
    pub skipped: u64,
    /// New orders that were committed, also before the measurement.
    pub committed_ever: u64,
    /// Analytical queries that were answered.
    pub queries: u64,
    /// The time of connections with terminals.
    pub terminals: Span,
    /// The time of streams of queries.
    pub streams: Span,
}

impl Counts {
    /// The measurement begins: only new orders that the tables hold stay counted.
    pub fn begin(&mut self) {
        *self = Self { committed_ever: self.committed_ever, ..Self::default() };
    }

    /// Counts a transaction that is repeated.
    pub fn repeat(&mut self, kind: Kind, cause: RetryCause) {
        let causes = &mut self.repeated[kind as usize];
        let counted = causes.iter_mut().zip(CAUSES).find(|(_, (name, _))| *name == cause);
        if let Some((count, _)) = counted {
            *count += 1;
        }
    }

    /// New orders that were committed in the measurement.
    pub fn committed(&self) -> u64 {
        self.done[Kind::NewOrder as usize] - self.rolled_back
    }

    fn add(&mut self, other: &StudyCounts) {
        self.each_mut().zip(&other.counts).for_each(|(all, more)| *all = all.saturating_add(*more));
        let spans = [&mut self.terminals, &mut self.streams];
        for (span, other) in spans.into_iter().zip(&other.spans_ns) {
            span.add(Span(*other));
        }
    }

    /// The counts without their meanings.
    fn plain(&self) -> StudyCounts {
        let mut counts = self.clone();
        let spans_ns = [self.terminals, self.streams].map(|terminal| terminal.0).into();
        StudyCounts { counts: counts.each_mut().map(|count| *count).collect(), spans_ns }
    }

    /// Each count, in an order that stays.
    fn each_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        let Self {
            done,
            repeated,
            rolled_back,
            lines,
            remote_lines,
            remote_payments,
            by_name,
            skipped,
            committed_ever,
            queries,
            terminals: _,
            streams: _,
        } = self;
        let others = [
            rolled_back,
            lines,
            remote_lines,
            remote_payments,
            by_name,
            skipped,
            committed_ever,
            queries,
        ];
        done.iter_mut().chain(repeated.iter_mut().flatten()).chain(others)
    }

    /// The facts of a trial. Causes that did not occur are left out, and skipped deliveries where
    /// the client does not see them.
    pub fn facts(&self, skips_are_known: bool) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (kind, done) in Kind::ALL.iter().zip(self.done) {
            facts.push(DONE.record(kind.profile().name, done as f64));
        }
        for (kind, causes) in Kind::ALL.iter().zip(self.repeated) {
            let causes = causes.iter().zip(CAUSES).filter(|(count, _)| **count > 0);
            facts.extend(causes.map(|(count, (_, cause))| {
                REPEATED.record(&format!("{}.{cause}", kind.profile().name), *count as f64)
            }));
        }
        let others = [
            (ROLLED_BACK, self.rolled_back),
            (LINES, self.lines),
            (REMOTE_LINES, self.remote_lines),
            (REMOTE_PAYMENTS, self.remote_payments),
            (BY_NAME, self.by_name),
        ];
        facts.extend(others.map(|(name, count)| name.record(count as f64)));
        facts.extend(skips_are_known.then(|| SKIPPED.record(self.skipped as f64)));
        facts
    }
}

/// The sum of what connections have counted; each adds its own when it is dropped.
#[derive(Debug, Clone, Default)]
pub struct Total(Arc<Mutex<Counts>>);

impl Total {
    /// Adds the counts of a connection.
    pub fn add(&self, counts: &Counts) {
        lock(&self.0).add(&counts.plain());
    }

    /// The sum of the counts so far.
    pub fn counts(&self) -> Counts {
        lock(&self.0).clone()
    }
}

impl Counting for Total {
    fn report(&self) -> StudyCounts {
        self.counts().plain()
    }

    fn include(&self, others: &StudyCounts) {
        lock(&self.0).add(others);
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Total};
    use crate::kind::Kind;
    use engine::RetryCause;
    use probe::Counting as _;

    /// Counts of one connection, which all differ.
    fn of_connection(first: u64) -> Counts {
        let mut counts = Counts::default();
        counts.each_mut().zip(first..).for_each(|(count, value)| *count = value);
        counts.repeat(Kind::Payment, RetryCause::Deadlock);
        counts.terminals.note(100 * first);
        counts.terminals.note(200 * first);
        counts
    }

    /// Connections in two processes add up to what they add up to in one.
    #[test]
    fn counts_of_two_processes_are_those_of_one() {
        let (total, conducting) = (Total::default(), Total::default());
        for connections in [&[10, 50][..], &[900]] {
            let part = Total::default();
            for first in connections {
                part.add(&of_connection(*first));
                total.add(&of_connection(*first));
            }
            conducting.include(&part.report());
        }
        assert_eq!(conducting.report(), total.report());
        let counts = conducting.counts();
        assert_eq!(counts.done, [960, 963, 966, 969, 972]);
        assert_eq!(counts.repeated[1][0], 960 + 3 * 8 + 3);
        assert_eq!(counts.queries, 960 + 3 * 27);
        assert_eq!(counts.terminals.0, Some([1_000, 180_000]));
        assert_eq!(counts.streams.0, None);
    }
}

//! Analytical queries on the tables of order entry, as a department of the supplier may ask them
//! while orders come in, and the streams that run them.

use crate::counts::{Counts, Total};
use crate::random::{generator, shuffle};
use observations::{Observations, ScriptStatement};
use probe::ProbeError;
use probe::load::{Start, Step, Workload};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::LazyLock;
use work::sql::{NamedStatement, named_statements};
use work::{Operation, Request, SqlPart, Statement};

/// The purpose of the first stream's generator; those of connections with terminals are below.
const STREAMS: u64 = 1 << 61;

/// An analytical query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// The name in recordings: `A1`.
    pub label: &'static str,
    /// The question in a few words.
    pub title: &'static str,
    /// The SQL, which all engines read.
    sql: String,
    /// Rows of the answer that are read: the first ones, or all.
    first: Option<u32>,
}

impl Analysis {
    /// Reads `A1 title`; `{first N}` at the end of the SQL limits the rows.
    fn from_statement(statement: NamedStatement) -> Self {
        let (label, title) = statement.name.split_once(' ').unwrap_or_default();
        let (sql, first) = match statement.text.split_once("{first ") {
            Some((sql, rows)) => (sql.to_owned(), rows.trim_end_matches('}').parse().ok()),
            None => (statement.text, None),
        };
        Self { label, title, sql, first }
    }

    /// The operation that engines compile.
    pub fn operation(&self) -> Operation {
        let text = SqlPart::Text(self.sql.clone());
        Operation::Sql([text].into_iter().chain(self.first.map(SqlPart::Limit)).collect())
    }

    /// The empty record of its statement.
    pub fn recorded(&self) -> ScriptStatement {
        ScriptStatement::new(self.label, &format!("{} {}", self.label, self.title))
    }

    /// The mean time in a trial, in seconds; `None` when it did not run.
    pub fn mean_s(&self, observations: &Observations) -> Option<f64> {
        observations.mean_latency_s(&format!("transaction: {}", self.label))
    }
}

/// All of them. They read every table, none a value that a terminal's transaction needs locked.
pub static ANALYSES: LazyLock<Vec<Analysis>> = LazyLock::new(|| {
    named_statements(include_str!("analytics.sql")).map(Analysis::from_statement).collect()
});

/// The operations of the queries, as engines compile them.
pub fn analyses() -> Vec<Operation> {
    ANALYSES.iter().map(Analysis::operation).collect()
}

/// Positions of the queries among what a trial records and runs.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// Of the first one among the kinds of transactions.
    pub kind: usize,
    /// Of the first one among the recorded statements.
    pub statement: usize,
    /// Of the first one among the operations.
    pub operation: usize,
}

/// A connection that runs the queries one after the other: all of them in a random order, then all
/// of them in another one.
pub struct Stream {
    places: Places,
    seed: u64,
    number: u32,
    random: Xoshiro256PlusPlus,
    order: Vec<usize>,
    next: usize,
    is_sent: bool,
    counts: Counts,
    total: Total,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.total.add(&self.counts);
    }
}

impl Stream {
    /// A stream with a number, whose orders the seed of the block determines.
    pub fn new(places: Places, seed: u64, number: u32, total: Total) -> Self {
        Self {
            places,
            seed,
            number,
            random: generator(seed, STREAMS + u64::from(number)),
            order: (0..ANALYSES.len()).collect(),
            next: ANALYSES.len(),
            is_sent: false,
            counts: Counts::default(),
            total,
        }
    }

    /// The query at hand.
    fn query(&self) -> usize {
        self.order[self.next.saturating_sub(1) % ANALYSES.len()]
    }
}

impl Workload for Stream {
    fn begin(&mut self) {
        // The measurement has the same orders, however far a warm-up came.
        self.random = generator(self.seed, STREAMS + u64::from(self.number));
        self.order = (0..ANALYSES.len()).collect();
        self.next = ANALYSES.len();
        self.counts.begin();
    }

    fn due_ns(&mut self, now_ns: u64) -> Option<u64> {
        self.counts.streams.note(now_ns);
        None
    }

    fn start(&mut self, _: u64) -> Start {
        if self.next == ANALYSES.len() {
            shuffle(&mut self.order, &mut self.random);
            self.next = 0;
        }
        self.next += 1;
        self.is_sent = false;
        Start { kind: self.places.kind + self.query(), units: 1, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if std::mem::replace(&mut self.is_sent, true) {
            self.counts.queries += 1;
            return Ok(Step::End);
        }
        let statement = Statement::Operation(self.places.operation + self.query());
        Ok(Step::Request(Request::Execute { statement, parameters: &[], results: false }))
    }

    fn restart(&mut self) {
        self.is_sent = false;
    }

    fn statement(&self) -> usize {
        self.places.statement + self.query()
    }
}

#[cfg(test)]
mod tests {
    use super::{ANALYSES, Places, Stream};
    use crate::counts::Total;
    use probe::load::Workload as _;

    #[test]
    fn streams_run_each_query_once_a_round_in_orders_that_their_seed_determines() {
        let places = Places { kind: 5, statement: 0, operation: 0 };
        let rounds = |seed, number, warmup: usize| -> Vec<usize> {
            let mut stream = Stream::new(places, seed, number, Total::default());
            for _ in 0..warmup {
                stream.start(1);
            }
            stream.begin();
            (0..3 * ANALYSES.len()).map(|_| stream.start(1).kind).collect()
        };
        let sequence = rounds(7, 0, 0);
        for round in sequence.chunks(ANALYSES.len()) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (5..5 + ANALYSES.len()).collect::<Vec<_>>());
        }
        assert_eq!(sequence, rounds(7, 0, 3), "a warm-up does not change the order");
        assert_ne!(sequence, rounds(7, 1, 0));
        assert_ne!(sequence, rounds(8, 0, 0));
    }
}

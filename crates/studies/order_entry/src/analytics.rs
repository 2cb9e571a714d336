//! Analytical queries on the tables of order entry, as a department of the supplier may ask them
//! while orders come in, and the streams that run them.

use crate::counts::{Counts, Total};
use crate::random::{generator, shuffle};
use observations::{Observations, ScriptStatement};
use probe::ProbeError;
use probe::load::{Start, Step, Workload};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Operation, Request, SqlPart, Statement};

/// The purpose of the first stream's generator; those of connections with terminals are below.
const STREAMS: u64 = 1 << 61;

/// An analytical query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Analysis {
    /// The name in recordings: `A1`.
    pub label: &'static str,
    /// The question in a few words.
    pub title: &'static str,
    /// The SQL, which all engines read.
    sql: &'static str,
    /// Rows of the answer that are read: the first ones, or all.
    first: Option<u32>,
}

impl Analysis {
    /// The operation that engines compile.
    pub fn operation(&self) -> Operation {
        let text = SqlPart::Text(self.sql.to_owned());
        Operation::Sql([text].into_iter().chain(self.first.map(SqlPart::Limit)).collect())
    }

    /// The empty record of its statement.
    pub fn recorded(&self) -> ScriptStatement {
        let text = format!("{} {}", self.label, self.title);
        ScriptStatement { script: self.label.to_owned(), text, ..ScriptStatement::default() }
    }

    /// The mean time in a trial, in seconds; `None` when it did not run.
    pub fn mean_s(&self, observations: &Observations) -> Option<f64> {
        observations.mean_latency_s(&format!("transaction: {}", self.label))
    }
}

const fn analysis(
    label: &'static str,
    title: &'static str,
    sql: &'static str,
    first: Option<u32>,
) -> Analysis {
    Analysis { label, title, sql, first }
}

/// All of them. They read every table, none a value that a terminal's transaction needs locked.
pub const ANALYSES: [Analysis; 8] = [
    analysis(
        "A1",
        "delivered lines by their number",
        "SELECT ol_number, count(*) AS line_count, sum(ol_quantity) AS quantity, sum(ol_amount) AS \
         amount, avg(ol_amount) AS average FROM order_line WHERE ol_delivery_d IS NOT NULL GROUP \
         BY ol_number ORDER BY ol_number",
        None,
    ),
    analysis(
        "A2",
        "largest outstanding orders",
        "SELECT no_w_id, no_d_id, no_o_id, sum(ol_amount) AS amount FROM new_order JOIN order_line \
         ON ol_w_id = no_w_id AND ol_d_id = no_d_id AND ol_o_id = no_o_id GROUP BY no_w_id, \
         no_d_id, no_o_id ORDER BY amount DESC, no_w_id, no_d_id, no_o_id",
        Some(20),
    ),
    analysis(
        "A3",
        "outstanding orders by size",
        "SELECT o_ol_cnt, count(*) AS order_count FROM orders WHERE EXISTS (SELECT 1 FROM \
         order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND \
         ol_delivery_d IS NULL) GROUP BY o_ol_cnt ORDER BY o_ol_cnt",
        None,
    ),
    analysis(
        "A4",
        "customers without outstanding orders by state",
        "SELECT c_state, count(*) AS customers, sum(c_balance) AS balance FROM customer WHERE \
         c_discount < (SELECT avg(c_discount) FROM customer) AND NOT EXISTS (SELECT 1 FROM orders \
         WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id AND o_carrier_id IS NULL) \
         GROUP BY c_state ORDER BY c_state",
        None,
    ),
    analysis(
        "A5",
        "sales by class of price",
        "SELECT price_class, count(*) AS line_count, sum(ol_quantity) AS quantity, sum(ol_amount) \
         AS amount FROM order_line JOIN (SELECT i_id, CASE WHEN i_price < 25 THEN 'low' WHEN \
         i_price < 75 THEN 'middle' ELSE 'high' END AS price_class FROM item) classes ON i_id = \
         ol_i_id GROUP BY price_class ORDER BY price_class",
        None,
    ),
    analysis(
        "A6",
        "items in demand that are low in stock",
        "SELECT s_w_id, s_i_id, s_quantity, sold FROM stock JOIN (SELECT ol_supply_w_id, ol_i_id, \
         sum(ol_quantity) AS sold FROM order_line GROUP BY ol_supply_w_id, ol_i_id) demand ON \
         ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity < 20 ORDER BY sold DESC, \
         s_w_id, s_i_id",
        Some(20),
    ),
    analysis(
        "A7",
        "best customers of good credit",
        "SELECT c_w_id, c_d_id, c_id, c_last, sum(ol_amount) AS amount FROM customer JOIN orders \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id JOIN order_line ON ol_w_id = \
         o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE c_credit = 'GC' GROUP BY c_w_id, \
         c_d_id, c_id, c_last ORDER BY amount DESC, c_w_id, c_d_id, c_id",
        Some(20),
    ),
    analysis(
        "A8",
        "payments by warehouse and district",
        "SELECT w_name, d_w_id, d_id, payments, paid, d_ytd FROM warehouse JOIN district ON d_w_id \
         = w_id JOIN (SELECT h_w_id, h_d_id, count(*) AS payments, sum(h_amount) AS paid FROM \
         history GROUP BY h_w_id, h_d_id) made ON h_w_id = d_w_id AND h_d_id = d_id ORDER BY \
         d_w_id, d_id",
        None,
    ),
];

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

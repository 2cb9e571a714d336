//! The order of a stream's queries, and its requests.

use crate::answers::verify;
use crate::queries::Query;
use engine::Results;
use probe::ProbeError;
use probe::load::{Started, Step, Workload};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use statistics::shuffle;
use work::{Request, Statement};

/// The order of the power test (appendix A of the specification, stream 00).
const POWER: [u32; 22] =
    [14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12];

/// Positions in `queries` in the order of a stream, from 0: the first has the order of the power
/// test, each other one a random order of its own, which a seed determines.
pub fn order(queries: &[&Query], stream: u32, seed: u64) -> Vec<usize> {
    let position = |number: &u32| queries.iter().position(|query| query.number == *number);
    let mut order: Vec<usize> = POWER.iter().filter_map(position).collect();
    if stream > 0 {
        // The generator's jumps keep the streams of one seed apart.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..stream).for_each(|_| random.jump());
        shuffle(&mut order, &mut random);
    }
    order
}

/// A stream of queries of one connection.
pub struct Stream<'a> {
    queries: &'a [&'static Query],
    order: Vec<usize>,
    /// Queries that have begun.
    begun: usize,
    /// Position of the first operation of the queries.
    first_operation: usize,
    /// True if answers are compared with the published ones.
    verified: bool,
    asked: bool,
}

impl<'a> Stream<'a> {
    /// A stream of these queries in this order, whose operations begin at a position.
    pub fn new(
        queries: &'a [&'static Query],
        order: Vec<usize>,
        first_operation: usize,
        verified: bool,
    ) -> Self {
        Self { queries, order, begun: 0, first_operation, verified, asked: false }
    }

    /// The position of the query at hand.
    fn current(&self) -> usize {
        self.order[self.begun.saturating_sub(1) % self.order.len()]
    }
}

impl Workload for Stream<'_> {
    fn begin(&mut self) {
        self.begun = 0;
    }

    fn start(&mut self, _: u64) -> Started {
        self.begun += 1;
        self.asked = false;
        Started { kind: self.current(), units: 1, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if std::mem::replace(&mut self.asked, true) {
            return Ok(Step::End);
        }
        let statement = Statement::Operation(self.first_operation + self.current());
        Ok(Step::Request(Request::Execute { statement, parameters: &[], results: self.verified }))
    }

    fn results(&mut self, results: &[Results]) -> Result<(), ProbeError> {
        let query = self.queries[self.current()];
        results.last().map_or(Ok(()), |results| verify(query, results)).map_err(ProbeError::study)
    }

    fn restart(&mut self) {
        self.asked = false;
    }

    fn statement(&self) -> usize {
        self.current()
    }
}

#[cfg(test)]
mod tests {
    use super::{POWER, order};
    use crate::queries::{QUERIES, Query};

    #[test]
    fn a_stream_has_each_query_once_in_an_order_that_its_seed_determines() {
        let queries: Vec<&Query> = QUERIES.iter().collect();
        let numbers = |stream, seed| -> Vec<u32> {
            order(&queries, stream, seed).into_iter().map(|at| queries[at].number).collect()
        };
        assert_eq!(numbers(0, 7), POWER);
        for stream in 0..5 {
            let mut sorted = numbers(stream, 7);
            sorted.sort_unstable();
            assert_eq!(sorted, (1..=22).collect::<Vec<_>>());
            assert_eq!(numbers(stream, 7), numbers(stream, 7));
        }
        assert_ne!(numbers(1, 7), numbers(2, 7));
        assert_ne!(numbers(1, 7), numbers(1, 8));
        let some: Vec<&Query> = vec![&QUERIES[0], &QUERIES[5]];
        assert_eq!(order(&some, 0, 1), [1, 0], "Q6 is before Q1 in the power test");
    }
}

//! The order of a stream's queries and refresh functions, and its requests.

use crate::answers::verify;
use crate::refresh::{Function, Refresh};
use crate::trial_queries::TrialQuery;
use engine::{EngineError, Results};
use observations::order;
use probe::ProbeError;
use probe::load::{Start, Step, Workload};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use statistics::shuffle;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use work::{Request, Statement};

/// The order of the power test (appendix A of the specification, stream 00).
const POWER: [u32; 22] =
    [14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12];

/// Positions in `queries` in the order of a stream, from 0: the first has the order of the power
/// test, or that of the user's files; each other one a random order of its own, which a seed
/// determines.
pub fn order(queries: &[TrialQuery], stream: u32, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order::by_key(&mut order, &|at| match &queries[*at] {
        TrialQuery::Specified(query) => POWER.iter().position(|number| *number == query.number),
        TrialQuery::File { .. } => None,
    });
    if stream > 0 {
        // The generator's jumps keep the streams of one seed apart.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..stream).for_each(|_| random.jump());
        shuffle(&mut order, &mut random);
    }
    order
}

/// A part of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// The query at a position.
    Query(usize),
    /// A refresh function with one of its sets.
    Refresh(Function, usize),
}

impl Task {
    /// The position among the kinds of tasks: queries, then the two functions.
    pub fn kind(self, queries: usize) -> usize {
        match self {
            Self::Query(position) => position,
            Self::Refresh(function, _) => queries + function as usize,
        }
    }
}

/// The parts of a trial that its streams share.
#[derive(Clone)]
pub struct Shared<'a> {
    /// The queries.
    pub queries: &'a [TrialQuery],
    /// The rows of its refresh functions, if it has these.
    pub refresh: Option<Arc<Refresh>>,
    /// True if answers are compared with the published ones.
    pub verified: bool,
    /// True if queries have a time limit.
    pub limited: bool,
    /// The number of queries and refresh functions that exceeded it, by kind.
    pub cancelled: Arc<[AtomicU64]>,
}

/// The tasks of one connection, one after the other and from the beginning again.
pub struct Stream<'a> {
    shared: Shared<'a>,
    tasks: Vec<Task>,
    /// Position of the first of the operations of its queries.
    first_operation: usize,
    /// Tasks that have begun.
    begun: usize,
    /// Requests of the task at hand that were made.
    place: usize,
    /// The task at hand was cancelled at its time limit.
    is_cancelled: bool,
    is_measured: bool,
}

impl<'a> Stream<'a> {
    /// A stream of these tasks, whose queries are operations from a position on.
    pub fn new(shared: Shared<'a>, tasks: Vec<Task>, first_operation: usize) -> Self {
        Self {
            shared,
            tasks,
            first_operation,
            begun: 0,
            place: 0,
            is_cancelled: false,
            is_measured: false,
        }
    }

    /// The task at hand.
    fn task(&self) -> Task {
        self.tasks[self.begun.saturating_sub(1) % self.tasks.len()]
    }

    /// The position of the kind of the task at hand.
    fn kind(&self) -> usize {
        self.task().kind(self.shared.queries.len())
    }
}

impl Workload for Stream<'_> {
    fn begin(&mut self) {
        (self.begun, self.is_measured) = (0, true);
    }

    fn due_ns(&mut self, _: u64) -> Option<u64> {
        // A warm-up has no refresh functions: each set can be used once.
        let has_queries = self.tasks.iter().any(|task| matches!(task, Task::Query(_)));
        (!self.is_measured && !has_queries).then_some(u64::MAX)
    }

    fn start(&mut self, _: u64) -> Start {
        self.begun += 1;
        while !self.is_measured && matches!(self.task(), Task::Refresh(..)) {
            self.begun += 1;
        }
        (self.place, self.is_cancelled) = (0, false);
        Start { kind: self.kind(), units: 1, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if self.is_cancelled {
            return Ok(Step::End);
        }
        let place = self.place;
        self.place += 1;
        let request = match self.task() {
            Task::Query(position) => (place == 0).then_some(Request::Execute {
                statement: Statement::Operation(self.first_operation + position),
                parameters: &[],
                results: self.shared.verified,
            }),
            Task::Refresh(function, set) => {
                let refresh = self.shared.refresh.as_ref();
                refresh.and_then(|refresh| refresh.request(function, set, place))
            }
        };
        Ok(request.map_or(Step::End, Step::Request))
    }

    fn results(&mut self, results: &[Results]) -> Result<(), ProbeError> {
        match (self.task(), results.last()) {
            (Task::Query(position), Some(results)) => match &self.shared.queries[position] {
                TrialQuery::Specified(query) => verify(query, results).map_err(ProbeError::study),
                TrialQuery::File { .. } => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn is_result(&mut self, error: &EngineError) -> bool {
        self.is_cancelled = self.shared.limited && matches!(error, EngineError::TimeLimit { .. });
        if self.is_cancelled && self.is_measured {
            self.shared.cancelled[self.kind()].fetch_add(1, Ordering::Relaxed);
        }
        self.is_cancelled
    }

    fn restart(&mut self) {
        self.place = 0;
    }

    fn statement(&self) -> usize {
        self.kind()
    }
}

#[cfg(test)]
mod tests {
    use super::{POWER, order};
    use crate::queries::QUERIES;
    use crate::trial_queries::TrialQuery;

    #[test]
    fn a_stream_has_each_query_once_in_an_order_that_its_seed_determines() {
        let queries: Vec<TrialQuery> = QUERIES.iter().map(TrialQuery::Specified).collect();
        let numbers = |stream, seed| -> Vec<u32> {
            order(&queries, stream, seed).into_iter().map(|at| QUERIES[at].number).collect()
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
        let some = [TrialQuery::Specified(&QUERIES[0]), TrialQuery::Specified(&QUERIES[5])];
        assert_eq!(order(&some, 0, 1), [1, 0], "Q6 is before Q1 in the power test");
        let file = |name: &str| TrialQuery::File { name: name.into(), text: "SELECT 1".into() };
        assert_eq!(order(&["c", "a", "b"].map(file), 0, 1), [0, 1, 2], "as the user gave them");
    }
}

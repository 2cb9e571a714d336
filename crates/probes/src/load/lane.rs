use super::Arrivals;

/// Where one connection of a thread stands. Times are in nanoseconds after "go".
pub struct Lane<W> {
    pub workload: W,
    pub arrivals: Arrivals,
    /// When the transaction was meant to start, and when it did.
    pub intended_ns: u64,
    pub start_ns: u64,
    /// When the connection had nothing to do any more.
    pub free_ns: u64,
    pub kind: usize,
    pub state: State,
    /// How often the engine asked for a part of the transaction to be repeated.
    pub retries: u32,
    /// The transaction has failed with this: it is rolled back, then tried again or given up.
    pub rolling_back: bool,
}

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Waiting for the next intended start.
    Due,
    /// Thinking within a transaction.
    Thinking,
    /// Waiting for an answer.
    Asking,
    /// All work is done.
    Done,
}

impl<W> Lane<W> {
    /// A connection that has done nothing yet.
    pub fn new(workload: W) -> Self {
        Self {
            workload,
            arrivals: Arrivals::Closed,
            intended_ns: 0,
            start_ns: 0,
            free_ns: 0,
            kind: 0,
            state: State::Due,
            retries: 0,
            rolling_back: false,
        }
    }

    /// The same connection at the beginning of a part of the load.
    pub fn reset(&mut self, arrivals: Arrivals) {
        self.arrivals = arrivals;
        self.state = State::Due;
        self.free_ns = 0;
        self.clear();
    }

    /// Forgets what the transaction before has done.
    pub fn clear(&mut self) {
        (self.retries, self.rolling_back) = (0, false);
    }
}

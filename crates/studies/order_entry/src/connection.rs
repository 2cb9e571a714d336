//! A connection of a trial: it serves terminals, or runs analytical queries.

use crate::analytics::Stream;
use crate::terminals::Terminals;
use engine::{EngineError, Results, RetryCause};
use probe::ProbeError;
use probe::load::{Started, Step, Workload};

/// The transactions of a connection.
pub enum Connection {
    /// Those of its terminals.
    Terminals(Box<Terminals>),
    /// Analytical queries.
    Stream(Box<Stream>),
}

impl Connection {
    fn own(&self) -> &dyn Workload {
        match self {
            Self::Terminals(own) => own.as_ref(),
            Self::Stream(own) => own.as_ref(),
        }
    }

    fn own_mut(&mut self) -> &mut dyn Workload {
        match self {
            Self::Terminals(own) => own.as_mut(),
            Self::Stream(own) => own.as_mut(),
        }
    }
}

impl Workload for Connection {
    fn begin(&mut self) {
        self.own_mut().begin();
    }

    fn due_ns(&mut self, now_ns: u64) -> Option<u64> {
        self.own_mut().due_ns(now_ns)
    }

    fn start(&mut self, most: u64) -> Started {
        self.own_mut().start(most)
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        self.own_mut().step()
    }

    fn results(&mut self, results: &[Results]) -> Result<(), ProbeError> {
        self.own_mut().results(results)
    }

    fn failed(&mut self, cause: RetryCause) {
        self.own_mut().failed(cause);
    }

    fn is_result(&mut self, error: &EngineError) -> bool {
        self.own_mut().is_result(error)
    }

    fn restart(&mut self) {
        self.own_mut().restart();
    }

    fn statement(&self) -> usize {
        self.own().statement()
    }
}

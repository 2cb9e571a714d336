//! Connections of a load; of an embedded engine, sessions that work in the calling thread.

use crate::{Result, Results};
use observe::Clock;
use work::Request;

/// The connections of one load thread.
///
/// After a request is sent, the other connections work until its answer arrives.
pub trait ConnectionSet: Send {
    /// The measurement begins now: what these connections did before does not count.
    fn begin(&mut self) {}
    /// Sends a request on a connection (from 0) that has none outstanding.
    ///
    /// # Errors
    /// When the connection is lost. The engine's objections come as answers.
    fn send(&mut self, connection: usize, request: &Request<'_>) -> Result<()>;
    /// Adds the answers that have arrived. Waits for one, but no longer than this many nanoseconds,
    /// and never so long that a request to stop goes unnoticed.
    ///
    /// # Errors
    /// When waiting itself fails.
    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<()>;
    /// Has the engine count what these connections have done until now, where it would do so later.
    /// Not part of the measured time.
    ///
    /// # Errors
    /// When the engine fails.
    fn publish(&mut self) -> Result<()> {
        Ok(())
    }
    /// Does a share of the work that the load left for later (a checkpoint), once no connection
    /// is in a transaction; this is set number `index` of `of`. Part of the measured time.
    ///
    /// # Errors
    /// When the engine fails.
    fn flush(&mut self, _index: u32, _of: u32) -> Result<()> {
        Ok(())
    }
    /// The measurement is over for these connections.
    fn end(&mut self) {}
    /// The clock that times them.
    fn clock(&self) -> Clock {
        Clock::monotonic()
    }
}

/// An answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The connection, from 0.
    pub connection: usize,
    /// Result of the request; [`EngineError::Cancelled`] after a stop.
    pub result: Result<Done>,
}

/// Effect of a request.
#[derive(Debug, Default)]
pub struct Done {
    /// The number of times that the engine asked for the request to be repeated.
    pub retries: u32,
    /// The results of a request that asked for them, one for each of its statements that had any.
    pub results: Vec<Results>,
}

/// A connection that works in the thread that calls it: the form of embedded engines.
pub trait Session: Send {
    /// The measurement begins now: what this connection did before does not count.
    fn begin(&mut self) {}
    /// Executes a request and returns when it is done.
    ///
    /// # Errors
    /// When the engine fails; [`EngineError::Cancelled`] when it was asked to stop.
    fn run(&mut self, request: &Request<'_>) -> Result<Done>;
    /// As [`ConnectionSet::flush`].
    ///
    /// # Errors
    /// When the engine fails.
    fn flush(&mut self, _index: u32, _of: u32) -> Result<()> {
        Ok(())
    }
    /// The measurement is over for this connection.
    fn end(&mut self) {}
    /// The clock that times this connection.
    fn clock(&self) -> Clock {
        Clock::monotonic()
    }
}

/// A set of one connection, which blocks while it works.
pub struct SetOfOne<S> {
    session: S,
    clock: Clock,
    answer: Option<Result<Done>>,
}

impl<S: Session> SetOfOne<S> {
    /// Makes a connection a set of one.
    pub fn new(session: S) -> Self {
        let clock = session.clock();
        Self { session, clock, answer: None }
    }
}

impl<S: Session> ConnectionSet for SetOfOne<S> {
    fn begin(&mut self) {
        self.session.begin();
    }

    fn send(&mut self, _: usize, request: &Request<'_>) -> Result<()> {
        self.answer = Some(self.session.run(request));
        Ok(())
    }

    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<()> {
        match (self.answer.take(), most_ns) {
            (Some(result), _) => answers.push(Answer { connection: 0, result }),
            (None, Some(most_ns)) => self.clock.wait_until_ns(self.clock.now_ns() + most_ns),
            (None, None) => {}
        }
        Ok(())
    }

    fn flush(&mut self, index: u32, of: u32) -> Result<()> {
        self.session.flush(index, of)
    }

    fn end(&mut self) {
        self.session.end();
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }
}

use crate::{Answer, ConnectionSet, Done, EngineError};
use observe::Clock;
use work::Request;

/// A connection that works in the thread that calls it: the form of embedded engines.
pub trait Session: Send {
    /// The measurement begins now: what this connection did before does not count.
    fn begin(&mut self) {}
    /// Executes a request and returns when it is done.
    ///
    /// # Errors
    /// When the engine fails; [`EngineError::Cancelled`] when it was asked to stop.
    fn run(&mut self, request: &Request<'_>) -> Result<Done, EngineError>;
    /// As [`ConnectionSet::flush`].
    ///
    /// # Errors
    /// When the engine fails.
    fn flush(&mut self, _index: u32, _of: u32) -> Result<(), EngineError> {
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
    answer: Option<Result<Done, EngineError>>,
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

    fn send(&mut self, _: usize, request: &Request<'_>) -> Result<(), EngineError> {
        self.answer = Some(self.session.run(request));
        Ok(())
    }

    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<(), EngineError> {
        match (self.answer.take(), most_ns) {
            (Some(result), _) => answers.push(Answer { connection: 0, result }),
            (None, Some(most_ns)) => self.clock.wait_until_ns(self.clock.now_ns() + most_ns),
            (None, None) => {}
        }
        Ok(())
    }

    fn flush(&mut self, index: u32, of: u32) -> Result<(), EngineError> {
        self.session.flush(index, of)
    }

    fn end(&mut self) {
        self.session.end();
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }
}

//! The connection to a server that is asked.

use crate::arguments::QueriesTool;
use crate::examine::open;
use command_line::{Context, Failure, servers, signals};
use engine::{Server, ServerError};
use inspection::QueryReader;
use inspection::statements::Snapshot;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Seconds between two looks at what sessions run.
pub(crate) const LOOKS_S: f64 = 0.5;

/// A server, the reader that asks it, and the flag by which the user stops both.
pub(crate) struct Connection {
    /// The server.
    pub server: Rc<dyn Server>,
    /// The reader.
    pub reader: Box<dyn QueryReader>,
    /// The flag.
    pub stop: Arc<AtomicBool>,
}

impl Connection {
    /// Connects to the server that the arguments name.
    ///
    /// # Errors
    /// As those below, and when it is not known.
    pub fn open(arguments: &QueriesTool, context: &Context) -> Result<Self, Failure> {
        let named = arguments.server.as_deref();
        let url = arguments.mariadb.url(&arguments.psql, named).map_err(Failure::usage)?;
        let server: Rc<dyn Server> = context.server(&url)?.into();
        let stop = signals::stop_flag()?;
        let signal = servers::stop_by(&stop);
        let reader = open(context, &server, arguments.limits(), &signal)
            .map_err(|error| servers::failure(&*server, &signal, &error))?;
        Ok(Self { server, reader, stop })
    }

    /// Turns an error of the server into one of the command.
    pub fn failure(&self, error: &ServerError) -> Failure {
        servers::failure(&*self.server, &servers::stop_by(&self.stop), error)
    }

    /// Reads the counters of the server.
    ///
    /// # Errors
    /// When the server is lost, or refuses.
    pub fn snapshot(&mut self) -> Result<Snapshot, Failure> {
        self.reader.snapshot().map_err(|error| self.failure(&error))
    }

    /// Reads an interval that the server keeps: see [`QueryReader::stored_interval`].
    ///
    /// # Errors
    /// When the server is lost, or refuses.
    pub fn stored_interval(&mut self, after_ms: i64) -> Result<Option<Snapshot>, Failure> {
        self.reader.stored_interval(after_ms).map_err(|error| self.failure(&error))
    }

    /// Looks at what sessions run.
    ///
    /// # Errors
    /// When the server is lost.
    pub fn look(&mut self) -> Result<(), Failure> {
        self.reader.look().map_err(|error| self.failure(&error))
    }

    /// Looks again after each pause, until the end or a request to stop.
    ///
    /// # Errors
    /// When the server is lost.
    pub fn look_until(&mut self, end: Instant, pause_s: f64) -> Result<(), Failure> {
        while Instant::now() < end && !self.is_stopped() {
            let left_s = end.saturating_duration_since(Instant::now()).as_secs_f64();
            signals::pause(left_s.min(pause_s), &self.stop, || false);
            self.look()?;
        }
        Ok(())
    }

    /// Returns whether the user asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

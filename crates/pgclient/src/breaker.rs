//! Ending a connection that somebody waits on.

use crate::Error;
use socket2::Socket;
use std::net::Shutdown;
use transport::Stream;

/// Ends a connection from any thread, whatever its other end does: who waits for an answer gets
/// [`Error::Lost`], as does who asks after that.
#[derive(Debug)]
pub struct Breaker(Socket);

impl Breaker {
    pub(crate) fn of(stream: &Stream) -> Result<Self, Error> {
        stream.socket().try_clone().map(Self).map_err(Error::Lost)
    }

    /// Ends the connection.
    pub fn cut(&self) {
        // What is not connected any more needs no ending.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

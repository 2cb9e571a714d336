//! Asking the server to stop what a connection is doing.

use crate::connect::{Address, Deadline};
use crate::tls::Encryption;
use crate::{Error, connect};
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use std::io;
use std::time::Duration;
use transport::Stream;

/// A server that does not react within this time does not react to a cancellation either.
const PATIENCE: Duration = Duration::from_secs(10);

/// Cancels the request that a connection has running, from any thread.
#[derive(Clone)]
pub struct Canceller {
    pub(crate) address: Address,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) process: i32,
    pub(crate) secret: i32,
}

impl Canceller {
    /// Asks the server over a connection of its own, encrypted as the first one is, and returns when
    /// the server has passed it on. The request then fails with SQLSTATE 57014, if it is still running.
    ///
    /// # Errors
    /// When the server cannot be reached within ten seconds.
    pub fn cancel(&self) -> Result<(), Error> {
        let deadline = Deadline::after(Some(PATIENCE));
        let mut stream = connect::open(&self.address, deadline)?;
        if let Some(encryption) = &self.encryption {
            stream = encryption.ask(stream, &self.address, deadline)?;
        }
        let mut request = BytesMut::new();
        frontend::cancel_request(self.process, self.secret, &mut request);
        exchange(&mut stream, &request).map_err(|source| connect::failed(&self.address, source))
    }
}

fn exchange(stream: &mut Stream, request: &[u8]) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request)?;
    // The server closes the connection once it has sent the signal; how it does it is the same.
    match stream.read_blocking(&mut [0; 1]) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(io::ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The secret lets anyone cancel.
        f.debug_struct("Canceller")
            .field("address", &self.address)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

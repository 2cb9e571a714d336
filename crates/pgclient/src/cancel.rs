//! Cancelling a request and ending a connection from another thread.

use crate::connect::{Address, Deadline};
use crate::login::Secret;
use crate::tls::Encryption;
use crate::{Error, connect};
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use socket2::Socket;
use std::io;
use std::net::Shutdown;
use std::time::Duration;

/// A server that does not react within this time does not react to a cancellation either.
const PATIENCE: Duration = Duration::from_secs(10);

/// Cancels the request that a connection has running, from any thread.
#[derive(Debug, Clone)]
pub struct Canceller {
    pub(crate) address: Address,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) process: i32,
    pub(crate) secret: Secret,
}

impl Canceller {
    /// Asks the server over a connection of its own, encrypted as the first one is, and returns when
    /// the server has passed it on. The request then fails with SQLSTATE 57014, if it is still running.
    /// Fails when the server cannot be reached within ten seconds.
    pub fn cancel(&self) -> Result<(), Error> {
        let deadline = Deadline::after(Some(PATIENCE));
        let mut stream = connect::open(&self.address, deadline)?;
        if let Some(encryption) = &self.encryption {
            if !encryption.is_offered(&mut stream, &self.address, deadline)? {
                return Err(Encryption::declined(&self.address));
            }
            encryption.start(&mut stream, &self.address, deadline)?;
        }
        let mut request = BytesMut::new();
        frontend::cancel_request(self.process, self.secret.0, &mut request);
        let mut ask = || {
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.write_all(&request)?;
            // The server closes the connection once it has sent the signal; how it does it is the same.
            match stream.read_blocking(&mut [0; 1]) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(error),
                _ => Ok(()),
            }
        };
        ask().map_err(|source| connect::failed(&self.address, source))
    }
}

/// Ends a connection from any thread, whatever its other end does: who waits for an answer gets
/// [`Error::Lost`], as does who asks after that.
#[derive(Debug)]
pub struct Disconnector(pub(crate) Socket);

impl Disconnector {
    /// Ends the connection.
    pub fn disconnect(&self) {
        // What is not connected any more needs no ending.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

//! Errors of the client and of the server.

use crate::client::Reader;
use std::io;
use transport::Stopped;

/// Most bytes of the text of a server's error: those of MariaDB are at most 512 long.
const TEXT_BYTES_MAX: usize = 4096;

/// Why a connection or a request failed. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing answers at this socket, or address and port.
    #[error("cannot connect to {0}: {1}")]
    Connect(String, #[source] io::Error),
    /// The server is there and wants a way to log in that this client does not have, or that is not
    /// safe there.
    #[error("{0}: {1}")]
    Login(String, String),
    /// The server refused a request or the login.
    #[error("{0}")]
    Server(ServerError),
    /// The connection is gone, and the server did not say why.
    #[error("lost the connection to the server: {0}")]
    Lost(#[source] io::Error),
    /// No answer in time. The connection cannot be used on.
    #[error("{0}")]
    Timeout(#[source] io::Error),
    /// Stopped on request before the server had answered. The connection is no longer usable.
    #[error("{0}")]
    Stopped(#[source] io::Error),
    /// Bytes outside the protocol of MariaDB and MySQL.
    #[error("{0}")]
    Protocol(String),
}

impl Error {
    /// Returns the server's error, if it sent one.
    pub fn server_error(&self) -> Option<&ServerError> {
        if let Self::Server(error) = self { Some(error) } else { None }
    }

    /// The server's number of the error.
    pub fn code(&self) -> Option<u16> {
        self.server_error().map(|error| error.code)
    }

    /// Returns whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Stopped(_) => true,
            Self::Connect(_, error) => Stopped::is_cause_of(error),
            _ => false,
        }
    }

    /// Returns true when no answer came in time, or the connection is gone: then further questions
    /// are useless.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Timeout(_) | Self::Stopped(_) | Self::Lost(_))
    }

    /// Of a failed read or write.
    pub(crate) fn of_socket(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::Timeout(error),
            _ if Stopped::is_cause_of(&error) => Self::Stopped(error),
            _ => Self::Lost(error),
        }
    }

    /// Of a packet that ends too early.
    pub(crate) fn malformed() -> Self {
        Self::Protocol("malformed packet; is this a MariaDB or MySQL server?".into())
    }
}

/// An error in the server's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{message} (error {code}, SQLSTATE {state})")]
pub struct ServerError {
    /// Its number: 1213 for a deadlock.
    pub code: u16,
    /// SQLSTATE.
    pub state: String,
    /// The message.
    pub message: String,
}

impl ServerError {
    /// From an ERR packet, after its first byte.
    pub fn parse(body: &[u8]) -> Self {
        let mut reader = Reader(body);
        let code = reader.u16().unwrap_or_default();
        let state = reader.0.strip_prefix(b"#").and_then(|rest| rest.split_at_checked(5));
        let (state, text) = state.unwrap_or((b"HY000", reader.0));
        let text = &text[..text.len().min(TEXT_BYTES_MAX)];
        let of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code, state: of(state), message: of(text) }
    }
}

//! What can go wrong, and what the server says about it.

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorFields;
use std::fmt;
use std::io;

/// Why a connection or a request failed. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing answers there.
    #[error("cannot connect to {place}: {source}")]
    Connect {
        /// Socket or address and port.
        place: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// The server is there, and does not let us in.
    #[error("{place}: {cause}")]
    Login {
        /// Socket or address and port.
        place: String,
        /// Why.
        cause: LoginError,
    },
    /// The encryption that was asked for cannot be had.
    #[error("{place}: TLS: {reason}")]
    Tls {
        /// Socket or address and port.
        place: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// No host of several let us in; one error for each attempt.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Attempts(Vec<Error>),
    /// The server refused a request. The connection is in step and can be used on, unless the
    /// severity is FATAL or PANIC.
    #[error("{0}")]
    Server(Box<ServerError>),
    /// The connection is gone, and the server did not say why.
    #[error("lost the connection to the server: {0}")]
    Lost(#[source] io::Error),
    /// No answer within the read timeout. The request goes on in the server; the next request
    /// first waits for its answer.
    #[error("the server did not answer within the read timeout")]
    Timeout,
    /// What arrived is not PostgreSQL's protocol, or was asked for in a way that it does not have.
    #[error("{0}")]
    Protocol(String),
}

impl Error {
    /// The SQLSTATE, when the server gave one: for example `42P01` for an unknown table.
    pub fn code(&self) -> Option<&str> {
        self.server_error().map(|error| error.code.as_str())
    }

    /// What the server said, when it said something.
    pub fn server_error(&self) -> Option<&ServerError> {
        match self {
            Self::Server(error) | Self::Login { cause: LoginError::Server(error), .. } => Some(error),
            Self::Attempts(errors) => errors.iter().rev().find_map(Self::server_error),
            _ => None,
        }
    }

    /// Of a failed read or write: a socket's timeout, or a lost connection.
    pub(crate) fn of_socket(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Timeout,
            io::ErrorKind::InvalidData => Self::Protocol(format!("cannot decrypt: {error}")),
            _ => Self::Lost(error),
        }
    }

    /// Of a message that cannot be written or read.
    pub(crate) fn malformed(error: &io::Error) -> Self {
        Self::Protocol(format!("malformed message: {error}"))
    }
}

/// Why the server did not let us in.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// It said so.
    #[error("{0}")]
    Server(Box<ServerError>),
    /// It wants a password and none is known.
    #[error(
        "the server asks for a password and none is known for it: give one in the connection string, \
         in PGPASSWORD or in the password file"
    )]
    NoPassword,
    /// It wants a way to log in that this client does not have, or that was ruled out.
    #[error("{0}")]
    Method(String),
    /// SCRAM: the server could not prove that it knows the password.
    #[error("the server failed to prove that it knows the password: {0}")]
    Scram(#[source] io::Error),
}

/// An error or a notice in the server's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerError {
    /// ERROR, FATAL, PANIC; WARNING, NOTICE, DEBUG, INFO, LOG. Never translated.
    pub severity: String,
    /// SQLSTATE.
    pub code: String,
    /// What happened.
    pub message: String,
    /// More of it.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// Character of the statement, from 1, where it was noticed.
    pub position: Option<u32>,
    /// Call stack of procedures.
    pub context: Option<String>,
    /// Table that it is about.
    pub table: Option<String>,
    /// Constraint that it is about.
    pub constraint: Option<String>,
}

impl ServerError {
    pub(crate) fn read(mut fields: ErrorFields<'_>) -> io::Result<Self> {
        let mut error = Self::default();
        while let Some(field) = fields.next()? {
            let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
            // Letters: <https://www.postgresql.org/docs/current/protocol-error-fields.html>.
            match field.type_() {
                // `S` may be translated, `V` (from 9.6 on) never is; it comes after `S`.
                b'S' | b'V' => error.severity = text,
                b'C' => error.code = text,
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                b'H' => error.hint = Some(text),
                b'P' => error.position = text.parse().ok(),
                b'W' => error.context = Some(text),
                b't' => error.table = Some(text),
                b'n' => error.constraint = Some(text),
                _ => {}
            }
        }
        Ok(error)
    }

    /// Whether the server closes the connection after it.
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (SQLSTATE {})", self.severity, self.message, self.code)?;
        if let Some(detail) = &self.detail {
            write!(f, "; {detail}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ServerError {}

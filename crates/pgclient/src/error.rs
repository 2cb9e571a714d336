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
    #[expect(clippy::needless_pass_by_value, reason = "passed to map_err")]
    pub(crate) fn malformed(error: io::Error) -> Self {
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
    pub(crate) fn read(mut fields: ErrorFields<'_>) -> Result<Box<Self>, Error> {
        let mut error = Box::<Self>::default();
        while let Some(field) = fields.next().map_err(Error::malformed)? {
            error.set(field.type_(), field.value_bytes());
        }
        Ok(error)
    }

    /// From the body of an `ErrorResponse`, for a load that reads messages itself.
    pub fn parse(body: &[u8]) -> Self {
        let mut error = Self::default();
        for (kind, text) in body.split(|byte| *byte == 0).filter_map(<[u8]>::split_first) {
            error.set(*kind, text);
        }
        error
    }

    /// Letters: <https://www.postgresql.org/docs/current/protocol-error-fields.html>.
    fn set(&mut self, kind: u8, text: &[u8]) {
        let text = String::from_utf8_lossy(text).into_owned();
        match kind {
            // `S` may be translated, `V` (from 9.6 on) never is; it comes after `S`.
            b'S' | b'V' => self.severity = text,
            b'C' => self.code = text,
            b'M' => self.message = text,
            b'D' => self.detail = Some(text),
            b'H' => self.hint = Some(text),
            b'P' => self.position = text.parse().ok(),
            b'W' => self.context = Some(text),
            b't' => self.table = Some(text),
            b'n' => self.constraint = Some(text),
            _ => {}
        }
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

/// Why a connection string, or what completes it, is not usable. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The text is neither a URL nor `keyword=value` pairs.
    #[error("malformed connection string: {0}")]
    Syntax(String),
    /// A keyword that PostgreSQL does not have.
    #[error("unknown connection parameter `{keyword}`{}", did_you_mean(*.nearest))]
    Unknown {
        /// As given.
        keyword: String,
        /// The known one that looks most like it.
        nearest: Option<&'static str>,
    },
    /// A value that the keyword does not have.
    #[error("connection parameter `{keyword}`: {reason}")]
    Value {
        /// The keyword.
        keyword: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A demand that this client cannot fulfil, and that must not be ignored.
    #[error("connection parameter `{keyword}={value}` is not supported; supported: {supported}")]
    Unsupported {
        /// The keyword.
        keyword: &'static str,
        /// The value.
        value: String,
        /// What could be given instead.
        supported: String,
    },
}

impl ConfigError {
    pub(crate) fn value(keyword: &'static str, reason: String) -> Self {
        Self::Value { keyword, reason }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

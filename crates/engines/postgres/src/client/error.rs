//! Errors of the client and of the server.

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorFields;
use std::io;
use transport::Stopped;

/// Most bytes of a text in a server's error: those of PostgreSQL are much shorter.
const TEXT_BYTES_MAX: usize = 4096;

/// Why a connection or a request failed. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing answers at this socket, or address and port.
    #[error("cannot connect to {0}: {1}")]
    Connect(String, #[source] io::Error),
    /// The server is there, and does not let us in.
    #[error("{0}: {1}")]
    Login(String, LoginError),
    /// The encryption that was asked for cannot be had there; what is wrong and what to do.
    #[error("{0}: TLS: {1}")]
    Tls(String, String),
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
    /// No answer within the answer timeout, which the message names. The request continues in the
    /// server; the next request first waits for its answer.
    #[error("{0}")]
    Timeout(#[source] io::Error),
    /// Stopped on request before the server had answered; otherwise as after [`Error::Timeout`].
    #[error("{0}")]
    Stopped(#[source] io::Error),
    /// Bytes outside PostgreSQL's protocol, or a request that it does not have.
    #[error("{0}")]
    Protocol(String),
}

impl Error {
    /// The SQLSTATE, when the server gave one: for example `42P01` for an unknown table.
    pub fn code(&self) -> Option<&str> {
        self.server_error().map(|error| error.code.as_str())
    }

    /// Returns the server's error, if it sent one.
    pub fn server_error(&self) -> Option<&ServerError> {
        match self {
            Self::Server(error) | Self::Login(_, LoginError::Server(error)) => Some(error),
            Self::Attempts(errors) => errors.iter().rev().find_map(Self::server_error),
            _ => None,
        }
    }

    /// Returns whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Stopped(_) => true,
            Self::Connect(_, error) => Stopped::is_cause_of(error),
            Self::Attempts(errors) => errors.iter().any(Self::is_stopped),
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
            io::ErrorKind::InvalidData => Self::Protocol(format!("cannot decrypt: {error}")),
            _ if Stopped::is_cause_of(&error) => Self::Stopped(error),
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
        "the server requires a password; set it in the connection string, in PGPASSWORD or in \
         the password file"
    )]
    NoPassword,
    /// It wants a way to log in that this client does not have, or that was ruled out.
    #[error("{0}")]
    Method(String),
    /// SCRAM: the server could not prove that it knows the password.
    #[error("the server could not prove that it knows the password: {0}")]
    Scram(#[source] io::Error),
}

/// An error in the server's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{severity}: {message} (SQLSTATE {code}){}{}", further("; ", detail.as_deref()),
    further("; hint: ", hint.as_deref()))]
pub struct ServerError {
    /// ERROR, FATAL or PANIC. Never translated.
    pub severity: String,
    /// SQLSTATE.
    pub code: String,
    /// The message.
    pub message: String,
    /// More of it.
    pub detail: Option<String>,
    /// The hint.
    pub hint: Option<String>,
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

    /// Limits texts to a page: a server's messages are shown and recorded.
    ///
    /// Letters: <https://www.postgresql.org/docs/current/protocol-error-fields.html>.
    fn set(&mut self, kind: u8, text: &[u8]) {
        let kept = String::from_utf8_lossy(&text[..text.len().min(TEXT_BYTES_MAX)]);
        let text = match text.len() {
            bytes if bytes > TEXT_BYTES_MAX => format!("{kept}... ({bytes} bytes in total)"),
            _ => kept.into_owned(),
        };
        match kind {
            // `S` may be translated, `V` (from 9.6 on) never is; it comes after `S`.
            b'S' | b'V' => self.severity = text,
            b'C' => self.code = text,
            b'M' => self.message = text,
            b'D' => self.detail = Some(text),
            b'H' => self.hint = Some(text),
            _ => {}
        }
    }

    /// Returns whether the server closes the connection after it.
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }
}

fn further(before: &str, text: Option<&str>) -> String {
    text.map(|text| format!("{before}{text}")).unwrap_or_default()
}

/// Why a connection string, or what completes it, is not usable. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The text is neither a URL nor `keyword=value` pairs.
    #[error("malformed connection string: {0}")]
    Syntax(String),
    /// A keyword that PostgreSQL does not have, and the known one that looks most like it.
    #[error(
        "unknown connection parameter `{0}`{meant}",
        meant = .1.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
    )]
    Unknown(String, Option<&'static str>),
    /// A value that the keyword does not have, and why not.
    #[error("connection parameter `{0}`: {1}")]
    Value(&'static str, String),
    /// A demand (keyword and value) that this client cannot fulfil, and that must not be ignored;
    /// what could be given instead.
    #[error("connection parameter `{0}={1}` is not supported; supported: {2}")]
    Unsupported(&'static str, String, String),
}

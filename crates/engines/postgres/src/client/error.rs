//! Errors of the client and of the server.

use crate::client::config::RequiredAuth;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorFields;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use transport::Stopped;
use transport::tls::TlsError;

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
    /// The host name leads nowhere.
    #[error("the host name has no address")]
    NoAddress,
    /// The encryption that was asked for cannot be had there.
    #[error("{0}: TLS: {1}")]
    Tls(String, #[source] EncryptionError),
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
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
}

/// Bytes outside PostgreSQL's protocol, or a request that it does not have.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The answer to a COPY says that there is none.
    #[error("the statement is not a COPY ... FROM STDIN")]
    NotCopy,
    /// A request has no form in the protocol.
    #[error("cannot be sent: {0}")]
    Unsendable(#[source] io::Error),
    /// A message cannot be written or read.
    #[error("malformed message: {0}")]
    Malformed(#[source] io::Error),
    /// An encrypted message cannot be read.
    #[error("cannot decrypt: {0}")]
    Encrypted(#[source] io::Error),
    /// The first message is not of this protocol.
    #[error("not a PostgreSQL server")]
    NotPostgres,
    /// A row has another number of columns than the one that was announced.
    #[error("a row has {0} columns, but the server announced {1}")]
    Columns(usize, usize),
    /// More KiB than this client takes in one place.
    #[error("the server sent more than {0} KiB {1}; connection closed")]
    TooMuch(usize, &'static str),
}

/// Why a connection cannot be encrypted as the connection string demands.
#[derive(Debug, thiserror::Error)]
pub enum EncryptionError {
    /// The client's certificate has no key.
    #[error("{}: no private key for this certificate; set sslkey", .0.display())]
    NoKey(PathBuf),
    /// There is nothing to verify the server's certificate with.
    #[error(
        "root certificate file {} does not exist. Create it, use the system's certificates with \
         sslrootcert=system, or disable verification with sslmode=require",
        .0.display()
    )]
    NoRoots(PathBuf),
    /// The files or names cannot be used.
    #[error(transparent)]
    Options(#[from] TlsError),
    /// The server's answer is not of PostgreSQL's protocol.
    #[error("unexpected response to the TLS request; is this a PostgreSQL server?")]
    NotPostgres,
    /// The server does not encrypt.
    #[error("the server does not support TLS, but sslmode requires it")]
    Declined,
    /// The server and this client did not agree.
    #[error("{}", transport::tls::explained(.0))]
    Handshake(io::Error),
    /// Once encrypted, the server did not follow the protocol.
    #[error(transparent)]
    Protocol(ProtocolError),
}

impl EncryptionError {
    /// The error of a connection to this address.
    pub(crate) fn at(self, address: &impl Display) -> Error {
        Error::Tls(address.to_string(), self)
    }
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

    /// Of a failed read or write.
    pub(crate) fn of_socket(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::Timeout(error),
            io::ErrorKind::InvalidData => ProtocolError::Encrypted(error).into(),
            _ if Stopped::is_cause_of(&error) => Self::Stopped(error),
            _ => Self::Lost(error),
        }
    }

    /// Of a message that cannot be written or read.
    pub(crate) fn malformed(error: io::Error) -> Self {
        ProtocolError::Malformed(error).into()
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
    /// It wants a way to log in that this client does not have.
    #[error(
        "the server requires an authentication method that this client does not support; \
         supported: trust, peer, cert, password, md5 and scram-sha-256"
    )]
    UnknownMethod,
    /// It wants a way to log in that the connection string rules out.
    #[error("{0}, but the server requires another authentication method")]
    RuledOut(RequiredAuth),
    /// Others could read the password.
    #[error(
        "the server requires the password in cleartext and the connection is not encrypted, so \
         the password was not sent. Encrypt the connection with sslmode=require, or allow \
         cleartext with require_auth=password"
    )]
    Cleartext,
    /// The server does not bind to the TLS channel.
    #[error("channel_binding=require, but the server does not use channel binding")]
    NoBinding,
    /// This connection cannot be bound to.
    #[error("channel_binding=require, but channel binding is not available on this connection")]
    CannotBind,
    /// SCRAM: no common mechanism.
    #[error("the server offers no SCRAM mechanism that this client supports")]
    NoMechanism,
    /// SCRAM: the server asks for more iterations than the limit, which would take minutes.
    #[error("the server requires {0} SCRAM iterations; the limit is {1}")]
    Iterations(u64, u64),
    /// A message that has no place there.
    #[error("unexpected message {0}")]
    Unexpected(&'static str),
    /// The server did not follow the protocol.
    #[error(transparent)]
    Protocol(ProtocolError),
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

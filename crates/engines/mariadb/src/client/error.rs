//! Errors of the client and of the server.

use crate::client::Reader;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use transport::Stopped;
use transport::tls::TlsError;

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
    Login(String, LoginError),
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

/// Why this client does not log in. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The server lacks capabilities that this client needs.
    #[error("server {0} is too old; MariaDB 10.2 or MySQL 5.7 or later is required")]
    TooOld(String),
    /// The account's plugin is not among those of this client, which follow.
    #[error(
        "the account uses authentication plugin {0}, which this client does not support; \
         supported: {1}"
    )]
    UnknownPlugin(String, String),
    /// The plugin's password could only be encrypted with a key that is not known.
    #[error(
        "{0} requires the password and the connection is not encrypted. Encrypt the \
         connection (ssl-mode=REQUIRED), connect over the unix socket, or let the client encrypt \
         the password with the server's key: {1}"
    )]
    NotEncrypted(&'static str, #[source] KeyError),
    /// The plugin's password would travel in cleartext.
    #[error(
        "{0} requires the password in cleartext, which is not sent because the connection is \
         not encrypted; encrypt it (ssl-mode=REQUIRED), or connect over the unix socket"
    )]
    Cleartext(&'static str),
    /// Any server could ask for the plugin's password.
    #[error(
        "{0} requires the password in cleartext, which is not sent to a server with an \
         unverified certificate; use ssl-mode=VERIFY_CA or VERIFY_IDENTITY and ssl-ca"
    )]
    Unverified(&'static str),
    /// The server's key encrypts shorter messages only.
    #[error("{0}: the password is too long for the server's key")]
    LongPassword(&'static str),
    /// The server answered the request for its key with something else.
    #[error("the server did not send an RSA key")]
    NoKey,
    /// The server asked for more than any login needs.
    #[error("the server did not complete the login")]
    Endless,
    /// The server cannot encrypt.
    #[error("the server does not support TLS, but ssl-mode requires it")]
    NoTls,
    /// Encryption cannot be prepared as the options say.
    #[error(transparent)]
    TlsOptions(Arc<TlsError>),
    /// Encryption failed.
    #[error("{}", transport::tls::explained(.0))]
    Tls(io::Error),
}

/// Why the server's key is not known.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The URL does not allow it.
    #[error("set server-public-key-path, or get-server-public-key=1 on a trusted network")]
    Unused,
    /// The file cannot be read.
    #[error("server-public-key-path: {path}: {1}", path = .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The file has no such key.
    #[error(
        "server-public-key-path: {} does not contain an RSA key in PEM format (BEGIN PUBLIC KEY)",
        .0.display()
    )]
    NoKey(PathBuf),
}

/// Why a URL is not usable. No message contains a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// It is not a URL of these servers.
    #[error("malformed URL; expected mariadb://user@host:port/database or mysql://...")]
    Malformed,
    /// A sign in the password ends the login too early.
    #[error("in a user name or password, write / as %2F, ? as %3F and @ as %40")]
    Unescaped,
    /// A part may be another URL with a password, which is not repeated.
    #[error("the user, host or database name looks like a URL, a login or a connection string")]
    UrlInPart,
    /// A `%` is not followed by a code.
    #[error("`%` in a URL must be followed by two hexadecimal digits; write a literal `%` as %25")]
    Escape,
    /// The codes are other bytes.
    #[error("the URL is not valid UTF-8")]
    NotUtf8,
    /// A name or value that does not exist.
    #[error("{}", experiment::unknown_name(what, name, known))]
    Unknown {
        /// The kind of the name.
        what: &'static str,
        /// The name.
        name: String,
        /// The known names.
        known: &'static [&'static str],
    },
    /// A parameter has a value other than the allowed ones, which follow.
    #[error("{0} must be {1}")]
    Value(&'static str, &'static str),
    /// A certificate without its key, or the reverse.
    #[error("ssl-cert and ssl-key must be given together")]
    HalfCertificate,
}

/// An error in the server's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{message} (error {code}, SQLSTATE {state})")]
pub struct ServerError {
    /// The number: 1213 for a deadlock.
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

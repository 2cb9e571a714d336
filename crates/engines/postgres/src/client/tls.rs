//! Encryption as libpq's `sslmode` defines it
//! (<https://www.postgresql.org/docs/current/libpq-ssl.html>).

use crate::client::config::{Config, Environment, Host, Settings};
use crate::client::connect::{self, Address};
use crate::client::{ConfigError, Error};
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use std::io;
use std::path::{Path, PathBuf};
use transport::tls::{Tls, TlsOptions, explained};
use transport::{Stopped, Stream, tls};

/// `sslmode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
    #[default]
    Disable,
    /// Only when the server insists.
    Allow,
    /// When the server can.
    Prefer,
    Require,
    /// And the certificate leads to a trusted root.
    VerifyCa,
    /// And it is this host's.
    VerifyFull,
}

/// Names in connection strings.
const MODES: [(&str, TlsMode); 6] = [
    ("disable", TlsMode::Disable),
    ("allow", TlsMode::Allow),
    ("prefer", TlsMode::Prefer),
    ("require", TlsMode::Require),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-full", TlsMode::VerifyFull),
];

/// Which roots are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Roots {
    File(Option<PathBuf>),
    /// The platform's.
    #[default]
    System,
}

/// Encryption settings of a configuration.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    pub mode: TlsMode,
    pub roots: Roots,
    /// The one that was given, or the one at home when it exists.
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    /// True if the server name is not sent.
    pub hides_host: bool,
    /// True if TLS starts without a request (`sslnegotiation=direct`, servers from 17 on).
    pub is_direct: bool,
}

impl TlsSettings {
    /// Variables that say the same to libpq's programs.
    pub fn client_environment(&self) -> Vec<(&'static str, String)> {
        let mode =
            MODES.iter().find(|(_, mode)| *mode == self.mode).map(|(name, _)| (*name).to_owned());
        let text = |path: &PathBuf| path.display().to_string();
        let roots = match &self.roots {
            // libpq refuses it with less.
            Roots::System => (self.mode == TlsMode::VerifyFull).then(|| "system".to_owned()),
            Roots::File(path) => path.as_ref().map(text),
        };
        let files = [("PGSSLCERT", &self.certificate), ("PGSSLKEY", &self.key)];
        let files = files.into_iter().filter_map(|(name, path)| Some((name, text(path.as_ref()?))));
        let known = [("PGSSLMODE", mode), ("PGSSLROOTCERT", roots)];
        known.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(files).collect()
    }

    /// From the values of the keywords.
    pub fn take(settings: &mut Settings, environment: &Environment) -> Result<Self, ConfigError> {
        let mut given = |keyword| settings.take(keyword).map(PathBuf::from);
        let at_home = |name: &str| environment.in_home(&format!(".postgresql/{name}"));
        let certificate =
            given("sslcert").or_else(|| at_home("postgresql.crt").filter(|path| path.exists()));
        let key = given("sslkey").or_else(|| at_home("postgresql.key"));
        let roots = match given("sslrootcert") {
            Some(path) if path.as_os_str() == "system" => Roots::System,
            path => Roots::File(path.or_else(|| at_home("root.crt"))),
        };
        let default = if roots == Roots::System { TlsMode::VerifyFull } else { TlsMode::Prefer };
        let mode = settings.choice("sslmode", &MODES, default)?;
        let is_direct =
            settings.choice("sslnegotiation", &[("postgres", false), ("direct", true)], false)?;
        let hides_host = settings.choice("sslsni", &[("1", false), ("0", true)], false)?;
        let too_weak = |reason: &str| Err(ConfigError::Value("sslmode", reason.to_owned()));
        if roots == Roots::System && mode != TlsMode::VerifyFull {
            return too_weak("sslrootcert=system requires sslmode=verify-full");
        }
        if is_direct && mode < TlsMode::Require {
            return too_weak("sslnegotiation=direct requires sslmode=require or stronger");
        }
        Ok(Self { mode, roots, certificate, key, hides_host, is_direct })
    }
}

/// How connections to one host are encrypted.
#[derive(Debug, Clone)]
pub struct Encryption {
    tls: Tls,
    is_direct: bool,
}

impl Encryption {
    pub fn new(config: &Config, host: &Host, address: &Address) -> Result<Self, Error> {
        let tls = options(&config.tls, host.name());
        let tls = tls.and_then(|own| Tls::new(&own).map_err(|error| error.to_string()));
        Ok(Self {
            tls: tls.map_err(|reason| failed(address, reason))?,
            is_direct: config.tls.is_direct,
        })
    }

    /// Encrypts the connection from here on; `false` when the server declines to.
    pub fn start(&self, stream: &mut Stream, address: &Address) -> Result<bool, Error> {
        if !self.is_offered(stream, address)? {
            return Ok(false);
        }
        self.tls.start(stream).map(|()| true).map_err(|cause| match cause.kind() {
            io::ErrorKind::TimedOut => connect::failed(address, cause),
            _ if Stopped::is_cause_of(&cause) => connect::failed(address, cause),
            _ => failed(address, explained(&cause)),
        })
    }

    fn is_offered(&self, stream: &mut Stream, address: &Address) -> Result<bool, Error> {
        if self.is_direct {
            return Ok(true);
        }
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        // One byte and no more: what follows it is for TLS alone (CVE-2021-23222).
        let mut answer = [0];
        let read = stream.write_all(&request).and_then(|()| stream.read_blocking(&mut answer));
        let count = read.map_err(|source| connect::failed(address, source))?;
        match (count, answer[0]) {
            (0, _) => Err(connect::failed(address, io::ErrorKind::UnexpectedEof.into())),
            (_, b'S') => Ok(true),
            (_, b'N') => Ok(false),
            _ => Err(failed(
                address,
                "unexpected response to the TLS request; is this a \
                                     PostgreSQL server?",
            )),
        }
    }

    /// Of a server that does not encrypt.
    pub fn declined(address: &Address) -> Error {
        failed(address, "the server does not support TLS, but sslmode requires it")
    }
}

fn failed(address: &Address, reason: impl Into<String>) -> Error {
    Error::Tls(address.to_string(), reason.into())
}

fn options(settings: &TlsSettings, host: String) -> Result<TlsOptions, String> {
    let certificate = match (&settings.certificate, &settings.key) {
        (None, _) => None,
        (Some(path), Some(key)) => Some((path.clone(), key.clone())),
        (Some(path), None) => {
            return Err(format!(
                "{}: no private key for this certificate; set sslkey",
                path.display()
            ));
        }
    };
    Ok(TlsOptions {
        roots: trusted_roots(settings)?,
        verifies_host: settings.mode == TlsMode::VerifyFull,
        host,
        hides_host: settings.hides_host,
        certificate,
        protocol: Some("postgresql"),
    })
}

/// A root file that exists is used in every mode, as in libpq.
fn trusted_roots(settings: &TlsSettings) -> Result<tls::Roots, String> {
    match &settings.roots {
        Roots::System => Ok(tls::Roots::System),
        Roots::File(Some(path)) if path.exists() => Ok(tls::Roots::File(path.clone())),
        Roots::File(_) if settings.mode < TlsMode::VerifyCa => Ok(tls::Roots::Unverified),
        Roots::File(path) => Err(format!(
            "root certificate file {} does not exist. Create it, use the system's certificates \
             with sslrootcert=system, or disable verification with sslmode=require",
            path.as_deref().unwrap_or(Path::new("~/.postgresql/root.crt")).display()
        )),
    }
}

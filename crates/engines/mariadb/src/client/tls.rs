//! Encryption, by the names of MariaDB's and MySQL's programs
//! (<https://mariadb.com/kb/en/securing-connections-for-client-and-server/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#option_general_ssl-mode>).

use crate::client::error::{ConfigError, LoginError};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use transport::tls::{Roots, Tls, TlsError, TlsOptions};

/// `ssl-mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
    Disabled,
    /// When the server can, and not over a unix socket.
    #[default]
    Preferred,
    Required,
    /// And the certificate leads to a trusted root.
    VerifyCa,
    /// And it is this host's.
    VerifyIdentity,
}

static MODE_NAMES: [&str; 5] =
    ["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"];

/// In the order of their names.
const MODES: [TlsMode; 5] = [
    TlsMode::Disabled,
    TlsMode::Preferred,
    TlsMode::Required,
    TlsMode::VerifyCa,
    TlsMode::VerifyIdentity,
];

/// Encryption settings of a configuration.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    pub mode: TlsMode,
    ca: Option<PathBuf>,
    certificate: Option<(PathBuf, PathBuf)>,
    /// Files are read once for all connections.
    ready: Arc<OnceLock<Result<Tls, Arc<TlsError>>>>,
}

impl TlsSettings {
    /// From options by their names. MariaDB's `ssl`, `skip-ssl` and `ssl-verify-server-cert` stand
    /// for modes; a root certificate or a client's without a mode asks for what it is good for.
    pub fn take(option: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let ca = option("ssl-ca").map(PathBuf::from);
        let certificate = match (option("ssl-cert"), option("ssl-key")) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            _ => {
                return Err(ConfigError::HalfCertificate);
            }
        };
        let is_on = |name: &str| option(name).map(|value| !is_off(&value));
        let implied = match (is_on("ssl-verify-server-cert"), &ca, is_on("ssl"), is_on("skip-ssl"))
        {
            (Some(true), ..) => TlsMode::VerifyIdentity,
            (_, _, Some(false), _) | (.., Some(true)) => TlsMode::Disabled,
            (_, Some(_), ..) => TlsMode::VerifyCa,
            (_, _, Some(true), _) => TlsMode::Required,
            _ if certificate.is_some() => TlsMode::Required,
            _ => TlsMode::Preferred,
        };
        let mode = option("ssl-mode").map_or(Ok(implied), |name| mode(&name))?;
        Ok(Self { mode, ca, certificate, ready: Arc::default() })
    }

    /// Returns whether the server's identity is verified: a given root certificate is used in every
    /// mode.
    pub fn verifies(&self) -> bool {
        self.mode >= TlsMode::VerifyCa || self.ca.is_some()
    }

    /// Prepares TLS for connections to this host.
    pub fn ready(&self, host: &str) -> Result<Tls, LoginError> {
        let ready = self.ready.get_or_init(|| {
            Tls::new(&TlsOptions {
                roots: match &self.ca {
                    Some(path) => Roots::File(path.clone()),
                    None if self.verifies() => Roots::System,
                    None => Roots::Unverified,
                },
                verifies_host: self.mode == TlsMode::VerifyIdentity,
                host: host.to_owned(),
                certificate: self.certificate.clone(),
                ..TlsOptions::default()
            })
            .map_err(Arc::new)
        });
        ready.clone().map_err(LoginError::TlsOptions)
    }
}

fn mode(name: &str) -> Result<TlsMode, ConfigError> {
    let found = MODE_NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
    found.map(|at| MODES[at]).ok_or_else(|| ConfigError::Unknown {
        what: "ssl-mode",
        name: name.into(),
        known: &MODE_NAMES,
    })
}

fn is_off(value: &str) -> bool {
    ["0", "off", "false"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

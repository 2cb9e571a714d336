//! Encryption, by the names of MariaDB's and MySQL's programs
//! (<https://mariadb.com/kb/en/securing-connections-for-client-and-server/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#option_general_ssl-mode>).

use crate::client::ConfigError;
use crate::client::url::nearest;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use transport::tls::{Roots, Tls, TlsOptions};

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

const MODES: [(&str, TlsMode); 5] = [
    ("DISABLED", TlsMode::Disabled),
    ("PREFERRED", TlsMode::Preferred),
    ("REQUIRED", TlsMode::Required),
    ("VERIFY_CA", TlsMode::VerifyCa),
    ("VERIFY_IDENTITY", TlsMode::VerifyIdentity),
];

/// Encryption settings of a configuration.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    pub mode: TlsMode,
    ca: Option<PathBuf>,
    certificate: Option<(PathBuf, PathBuf)>,
    /// Files are read once for all connections.
    ready: Arc<OnceLock<Result<Tls, String>>>,
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
                return Err(ConfigError("ssl-cert and ssl-key must be given together".into()));
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
    pub fn ready(&self, host: &str) -> Result<Tls, String> {
        self.ready
            .get_or_init(|| {
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
                .map_err(|error| error.to_string())
            })
            .clone()
    }
}

fn mode(name: &str) -> Result<TlsMode, ConfigError> {
    let found = MODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let known = MODES.map(|(known, _)| known);
    found.map(|(_, mode)| *mode).ok_or_else(|| {
        let near = nearest(&name.to_uppercase(), &known);
        ConfigError(format!(
            "unknown ssl-mode `{name}`{near}; expected one of {}",
            known.join(", ")
        ))
    })
}

fn is_off(value: &str) -> bool {
    ["0", "off", "false"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

//! What a configuration says about encryption.

use crate::config::{ConfigError, Environment, Settings};
use std::path::PathBuf;

/// `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
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

/// A file that was given, or the one that is used when it exists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MaybeFile {
    pub path: Option<PathBuf>,
    pub is_given: bool,
}

/// Which roots are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    File(MaybeFile),
    /// The platform's.
    System,
}

/// What a configuration says about encryption.
#[derive(Debug, Clone)]
pub struct TlsSettings {
    pub mode: TlsMode,
    pub roots: Roots,
    pub certificate: MaybeFile,
    pub key: MaybeFile,
    /// Whether the server is told which host is meant.
    pub names_host: bool,
    /// Whether TLS begins at once, without asking (`sslnegotiation=direct`, servers from 17 on).
    pub is_direct: bool,
}

impl TlsSettings {
    /// None.
    pub fn disabled() -> Self {
        let file = MaybeFile::default;
        Self {
            mode: TlsMode::Disable,
            roots: Roots::File(file()),
            certificate: file(),
            key: file(),
            names_host: true,
            is_direct: false,
        }
    }

    /// From the values of the keywords.
    pub fn take(settings: &mut Settings, environment: &Environment) -> Result<Self, ConfigError> {
        let mut file = |keyword, name: &str| {
            let given: Option<PathBuf> = settings.take(keyword).map(Into::into);
            let is_given = given.is_some();
            MaybeFile {
                path: given.or_else(|| environment.in_home(&format!(".postgresql/{name}"))),
                is_given,
            }
        };
        let (certificate, key) = (file("sslcert", "postgresql.crt"), file("sslkey", "postgresql.key"));
        let roots = match file("sslrootcert", "root.crt") {
            file if file.is_given && file.path.as_deref().is_some_and(|path| path == "system") => {
                Roots::System
            }
            file => Roots::File(file),
        };
        let default = if roots == Roots::System { TlsMode::VerifyFull } else { TlsMode::Prefer };
        let mode = settings.choice("sslmode", &MODES, default)?;
        let is_direct = settings.choice("sslnegotiation", &[("postgres", false), ("direct", true)], false)?;
        let names_host = settings.choice("sslsni", &[("1", true), ("0", false)], true)?;
        let too_weak = |needed, what: &str| ConfigError::Value {
            keyword: "sslmode",
            reason: format!("{what} needs sslmode={needed}"),
        };
        if roots == Roots::System && mode != TlsMode::VerifyFull {
            return Err(too_weak("verify-full", "sslrootcert=system"));
        }
        if is_direct && mode < TlsMode::Require {
            return Err(too_weak("require or stronger", "sslnegotiation=direct"));
        }
        Ok(Self { mode, roots, certificate, key, names_host, is_direct })
    }
}

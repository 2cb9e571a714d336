//! Encryption as libpq's `sslmode` defines it
//! (<https://www.postgresql.org/docs/current/libpq-ssl.html>).

use super::{Environment, Settings};
use crate::client::ConfigError;
use std::path::PathBuf;

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

/// The roots that are trusted.
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
        let mut path_of = |keyword| settings.take(keyword).map(PathBuf::from);
        let at_home = |name: &str| environment.in_home(&format!(".postgresql/{name}"));
        let certificate =
            path_of("sslcert").or_else(|| at_home("postgresql.crt").filter(|path| path.exists()));
        let key = path_of("sslkey").or_else(|| at_home("postgresql.key"));
        let roots = match path_of("sslrootcert") {
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

//! `require_auth`: which ways to log in a server may ask for
//! (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-REQUIRE-AUTH>).

use super::Settings;
use crate::client::ConfigError;

/// A way to log in that this client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod {
    /// No authentication.
    None,
    /// The password as it is.
    Password,
    Md5,
    Scram,
}

/// Names in connection strings; those without a method can be named, but this client does not have
/// them.
const NAMES: [(&str, Option<AuthMethod>); 7] = [
    ("none", Some(AuthMethod::None)),
    ("password", Some(AuthMethod::Password)),
    ("md5", Some(AuthMethod::Md5)),
    ("scram-sha-256", Some(AuthMethod::Scram)),
    ("gss", None),
    ("sspi", None),
    ("oauth", None),
];

/// Authentication methods that a connection string demands; none by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequiredAuth {
    /// The list as it was given; empty when nothing is demanded.
    text: String,
    listed: Vec<AuthMethod>,
    /// The list names what is forbidden: `!password,!md5`.
    is_negated: bool,
}

impl RequiredAuth {
    /// From the value of the keyword.
    pub fn take(settings: &mut Settings) -> Result<Self, ConfigError> {
        let Some(text) = settings.take("require_auth") else { return Ok(Self::default()) };
        let error = |reason: String| ConfigError::Value("require_auth", reason);
        let is_negated = text.starts_with('!');
        let mut listed = Vec::new();
        for part in text.split(',') {
            let name = part.strip_prefix('!').unwrap_or(part);
            if part.starts_with('!') != is_negated {
                return Err(error(format!("`{text}` mixes methods with and without `!`")));
            }
            let known = NAMES.iter().find(|(known, _)| *known == name);
            let (_, method) = known.ok_or_else(|| {
                error(format!(
                    "unknown method `{name}`; expected one of {}",
                    NAMES.map(|(name, _)| name).join(", ")
                ))
            })?;
            listed.extend(*method);
        }
        Ok(Self { text, listed, is_negated })
    }

    /// Returns whether the server may use this method.
    pub fn permits(&self, method: AuthMethod) -> bool {
        self.text.is_empty() || self.listed.contains(&method) != self.is_negated
    }

    /// Returns whether the method was requested by name.
    pub fn names(&self, method: AuthMethod) -> bool {
        !self.is_negated && self.listed.contains(&method)
    }
}

impl std::fmt::Display for RequiredAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "require_auth={}", self.text)
    }
}

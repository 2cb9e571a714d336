//! URLs: `mariadb://user@host:port/database?socket=/path`.

use crate::client::error::ConfigError;
use observations::Secret;
use servers::url::{self, EscapeError};

/// Parameters of a URL after `?`.
static PARAMETERS: [&str; 10] = [
    "socket",
    "connect-timeout",
    "ssl-mode",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl",
    "ssl-verify-server-cert",
    "server-public-key-path",
    "get-server-public-key",
];

/// The parts of a URL.
#[derive(Debug, Default)]
pub struct Url {
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub host: Option<String>,
    pub port: Option<String>,
    pub database: Option<String>,
    parameters: Vec<(String, String)>,
}

impl Url {
    pub fn parse(url: &str) -> Result<Self, ConfigError> {
        let rest = ["mariadb://", "mysql://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        let rest = rest.ok_or(ConfigError::Malformed)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        // A sign in a password that ends the login too early: what follows may be the rest of it,
        // so the message does not show it.
        if database.contains('@') || query.contains('@') {
            return Err(ConfigError::Unescaped);
        }
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (login, None),
        };
        // An address of IPv6 is in brackets.
        let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => {
                (host, Some(port.strip_prefix(':').ok_or(ConfigError::Malformed)?))
            }
            None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
        };
        let some = |text: &str| match decoded(text)? {
            // What was meant as a URL: a password may be in it, which is not repeated.
            text if text.contains('=') || (text.contains(':') && text.contains(['/', '@'])) => {
                Err(ConfigError::UrlInPart)
            }
            text => Ok(Some(text).filter(|text| !text.is_empty())),
        };
        let mut parameters = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if !PARAMETERS.contains(&name) {
                return Err(unknown(name));
            }
            parameters.push((name.to_owned(), decoded(value)?));
        }
        Ok(Self {
            user: some(user)?,
            password: password.map(decoded).transpose()?.map(Secret::from),
            host: some(host)?,
            port: port.map(str::to_owned),
            database: some(database)?,
            parameters,
        })
    }

    /// Returns the parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

fn unknown(name: &str) -> ConfigError {
    ConfigError::Unknown { what: "connection parameter", name: name.into(), known: &PARAMETERS }
}

/// A text with its `%20`s as what they stand for.
fn decoded(text: &str) -> Result<String, ConfigError> {
    url::decoded(text).map_err(|error| match error {
        EscapeError::Code => ConfigError::Escape,
        EscapeError::NotUtf8 => ConfigError::NotUtf8,
    })
}

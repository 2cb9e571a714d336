//! The keywords of a connection string, and their values from text, service and variables. A text
//! is `host=db1 dbname='my db'` or
//! `postgres://user:password@host:port,host:port/database?keyword=value&...`

use super::environment::{Environment, Pairs};
use crate::client::ConfigError;
use experiment::nearest;
use servers::url::{self, EscapeError};
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Support of a keyword.
enum Support {
    Used,
    /// It cannot matter: it is about a feature that this client does not have or need.
    NoEffect,
    /// It demands something of the connection; only these values demand nothing that is missing
    /// here.
    Only(&'static [&'static str]),
}

use Support::{NoEffect, Only, Used};

/// libpq's keywords and variables (<https://www.postgresql.org/docs/current/libpq-envars.html>).
/// Each has the keyword, its environment variable or nothing, and its effect here.
static KEYWORDS: &[(&str, &str, Support)] = &[
    ("application_name", "PGAPPNAME", Used),
    ("channel_binding", "PGCHANNELBINDING", Used),
    ("client_encoding", "PGCLIENTENCODING", NoEffect),
    ("connect_timeout", "PGCONNECT_TIMEOUT", Used),
    ("dbname", "PGDATABASE", Used),
    ("fallback_application_name", "", Used),
    ("gssdelegation", "PGGSSDELEGATION", NoEffect),
    ("gssencmode", "PGGSSENCMODE", Only(&["disable", "prefer"])),
    ("gsslib", "PGGSSLIB", NoEffect),
    ("host", "PGHOST", Used),
    ("hostaddr", "PGHOSTADDR", Used),
    ("keepalives", "", Used),
    ("keepalives_count", "", Used),
    ("keepalives_idle", "", Used),
    ("keepalives_interval", "", Used),
    ("krbsrvname", "PGKRBSRVNAME", NoEffect),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS", Only(&["disable"])),
    ("max_protocol_version", "PGMAXPROTOCOLVERSION", NoEffect),
    ("min_protocol_version", "PGMINPROTOCOLVERSION", Only(&["3.0"])),
    ("options", "PGOPTIONS", Used),
    ("passfile", "PGPASSFILE", Used),
    ("password", "PGPASSWORD", Used),
    ("port", "PGPORT", Used),
    ("replication", "", Only(&["false", "off", "no", "0"])),
    ("require_auth", "PGREQUIREAUTH", Used),
    ("requirepeer", "PGREQUIREPEER", Only(&[])),
    ("service", "PGSERVICE", Used),
    ("servicefile", "PGSERVICEFILE", Used),
    ("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", Only(&["TLSv1.3"])),
    ("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", Only(&["TLSv1", "TLSv1.1", "TLSv1.2"])),
    ("sslcert", "PGSSLCERT", Used),
    ("sslcertmode", "PGSSLCERTMODE", Only(&["allow"])),
    ("sslcompression", "PGSSLCOMPRESSION", NoEffect),
    ("sslcrl", "PGSSLCRL", Only(&[])),
    ("sslcrldir", "PGSSLCRLDIR", Only(&[])),
    ("sslkey", "PGSSLKEY", Used),
    ("sslmode", "PGSSLMODE", Used),
    ("sslnegotiation", "PGSSLNEGOTIATION", Used),
    ("sslpassword", "", Only(&[])),
    ("sslrootcert", "PGSSLROOTCERT", Used),
    ("sslsni", "PGSSLSNI", Used),
    ("target_session_attrs", "PGTARGETSESSIONATTRS", Only(&["any"])),
    ("tcp_user_timeout", "", Used),
    ("user", "PGUSER", Used),
];

/// The keyword with this name.
fn find(name: &str) -> Result<&'static str, ConfigError> {
    let names: Vec<&'static str> = KEYWORDS.iter().map(|keyword| keyword.0).collect();
    let found = names.iter().find(|known| **known == name).copied();
    found.ok_or_else(|| ConfigError::Unknown(name.to_owned(), nearest(name, &names)))
}

/// Refuses a demand that would be broken by ignoring it.
fn check(keyword: &'static str, support: &Support, value: &str) -> Result<(), ConfigError> {
    let Only(supported) = support else { return Ok(()) };
    if value.is_empty() || supported.contains(&value) {
        return Ok(());
    }
    let supported =
        if supported.is_empty() { "none (remove it)".to_owned() } else { supported.join(", ") };
    // A key's pass phrase is the one secret among these.
    let value = if keyword == "sslpassword" { "..." } else { value };
    Err(ConfigError::Unsupported(keyword, value.to_owned(), supported))
}

/// Values by keyword. An empty value keeps the environment's out, and then counts as none.
#[derive(Default)]
pub struct Settings(BTreeMap<&'static str, String>);

/// Message for a text that resembles a URL. The text is not repeated: it may contain a password.
const NOT_A_URL: &str = "it looks like a URL or a login but is malformed; expected \
                         postgres://user@host:port/database. In a user name or password, write \
                         `:`, `/`, `?`, `@` and `%` as %3A, %2F, %3F, %40 and %25";

/// Returns whether a text resembles a URL, or the part of one that contains a password.
fn looks_like_url(text: &str) -> bool {
    text.contains("://") || text.split_once(':').is_some_and(|(_, rest)| rest.contains('@'))
}

impl Settings {
    /// From a URL, from pairs, or from the name of a database.
    pub fn from_text(text: &str) -> Result<Self, ConfigError> {
        let pairs = if let Some(rest) = after_scheme(text) {
            url_pairs(rest)?
        } else if text.contains('=') {
            pairs(text)?
        } else if text.trim().is_empty() {
            Vec::new()
        } else {
            vec![("dbname".to_owned(), text.trim().to_owned())]
        };
        let mut settings = Self::default();
        for (name, value) in pairs {
            let keyword = find(&name).map_err(|error| settings.without_secret(error))?;
            settings.0.insert(keyword, value);
        }
        Ok(settings)
    }

    /// After a password, an unknown keyword may be the rest of it.
    fn without_secret(&self, error: ConfigError) -> ConfigError {
        if self.0.keys().any(|keyword| keyword.ends_with("password")) {
            let message = "unknown keyword after the password (not shown: it may be part of the \
                           password). In a URL, write `?` and `&` in a password as %3F and %26; \
                           elsewhere, put a password with blanks in single quotes";
            return ConfigError::Syntax(message.to_owned());
        }
        error
    }

    /// Adds what is not given yet: first the service's values, then the variables'.
    pub fn complete(&mut self, environment: &Environment) -> Result<(), ConfigError> {
        let value_of = |keyword: &str, variable: &str| {
            let value =
                self.0.get(keyword).map(String::as_str).or_else(|| environment.variable(variable));
            value.filter(|value| !value.is_empty()).map(str::to_owned)
        };
        if let Some(name) = value_of("service", "PGSERVICE").filter(|name| !looks_like_url(name)) {
            let file = value_of("servicefile", "PGSERVICEFILE");
            for (keyword, value) in environment.service(&name, file.map(Into::into))? {
                self.0.entry(find(&keyword)?).or_insert(value);
            }
        }
        for (keyword, variable, support) in KEYWORDS {
            if let Some(value) = environment.variable(variable) {
                self.0.entry(keyword).or_insert_with(|| value.to_owned());
            }
            if let Some(value) = self.0.get(keyword) {
                check(keyword, support, value)?;
                // Errors and reports show where the server is and who we are.
                let is_told =
                    ["dbname", "host", "hostaddr", "passfile", "service", "user"].contains(keyword);
                if is_told && looks_like_url(value) {
                    return Err(ConfigError::Value(keyword, NOT_A_URL.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// The value, when there is one that is not empty.
    pub fn take(&mut self, keyword: &'static str) -> Option<String> {
        self.0.remove(keyword).filter(|value| !value.is_empty())
    }

    pub fn number(&mut self, keyword: &'static str) -> Result<Option<i32>, ConfigError> {
        let Some(value) = self.take(keyword) else { return Ok(None) };
        value.trim().parse().map(Some).map_err(|error| {
            ConfigError::Value(keyword, format!("`{value}` is not a valid number: {error}"))
        })
    }

    /// A number for which what is not positive means the system's default.
    pub fn positive(&mut self, keyword: &'static str) -> Result<Option<u64>, ConfigError> {
        Ok(self.number(keyword)?.filter(|number| *number > 0).map(|number| number as u64))
    }

    pub fn choice<T: Copy>(
        &mut self,
        keyword: &'static str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, ConfigError> {
        let Some(value) = self.take(keyword) else { return Ok(default) };
        choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(
            || {
                let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
                ConfigError::Value(
                    keyword,
                    format!("unknown value `{value}`; expected one of {}", names.join(", ")),
                )
            },
        )
    }
}

/// The pairs in order. Values are bare words or in single quotes; a backslash takes the next
/// character literally in both.
fn pairs(text: &str) -> Result<Pairs, ConfigError> {
    let mut pairs = Vec::new();
    let mut rest = text.chars().peekable();
    loop {
        skip_space(&mut rest);
        if rest.peek().is_none() {
            return Ok(pairs);
        }
        let mut name = String::new();
        while let Some(c) = rest.next_if(|c| *c != '=' && !c.is_ascii_whitespace()) {
            name.push(c);
        }
        skip_space(&mut rest);
        if name.contains([':', '@']) {
            return Err(ConfigError::Syntax(NOT_A_URL.to_owned()));
        }
        if rest.next() != Some('=') {
            let is_secret = pairs
                .iter()
                .any(|(known, _): &(String, String)| known.to_ascii_lowercase().contains("pass"));
            let name = if is_secret {
                "the word that follows the password".into()
            } else {
                format!("`{name}`")
            };
            return Err(ConfigError::Syntax(format!("expected `=` after {name}")));
        }
        skip_space(&mut rest);
        let value = value(&mut rest).ok_or_else(|| {
            ConfigError::Syntax(format!("missing closing quote in the value of `{name}`"))
        })?;
        pairs.push((name, value));
    }
}

fn skip_space(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(char::is_ascii_whitespace).is_some() {}
}

fn value(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let quoted = rest.next_if_eq(&'\'').is_some();
    let mut value = String::new();
    while let Some(c) = rest.next_if(|c| quoted || !c.is_ascii_whitespace()) {
        match c {
            '\'' if quoted => return Some(value),
            '\\' => value.extend(rest.next()),
            c => value.push(c),
        }
    }
    (!quoted).then_some(value)
}

/// A value as [`pairs`] reads it.
pub fn quoted(value: &str) -> String {
    if value.is_empty()
        || value.contains(|c: char| c.is_ascii_whitespace() || c == '\'' || c == '\\')
    {
        format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'"))
    } else {
        value.to_owned()
    }
}

/// Returns the part after our scheme.
fn after_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"))
}

/// The parts of a URL as keywords and values, percent-decoded. What is absent or empty is left out.
fn url_pairs(rest: &str) -> Result<Pairs, ConfigError> {
    let mut pairs = Pairs::new();
    let (before_query, query) = rest.split_once('?').unwrap_or((rest, ""));
    // A slash ends the hosts, but a unix socket's directory has its slashes encoded.
    let (authority, database) = before_query.split_once('/').unwrap_or((before_query, ""));
    let (login, hosts) = match authority.split_once('@') {
        Some((login, hosts)) => (login, hosts),
        None => ("", authority),
    };
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    // A sign in a password that ends the login too early: what follows is not the host, and may be
    // the rest of it.
    if rest.contains('@') && hosts.split(',').any(is_of_login) {
        return Err(ConfigError::Syntax(NOT_A_URL.to_owned()));
    }
    push(&mut pairs, "user", user)?;
    push(&mut pairs, "password", password)?;
    let (hosts, ports): (Vec<_>, Vec<_>) =
        hosts.split(',').map(host_and_port).collect::<Result<_, _>>()?;
    push(&mut pairs, "host", &list(&hosts))?;
    push(&mut pairs, "port", &list(&ports))?;
    push(&mut pairs, "dbname", database)?;
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        push_parameter(&mut pairs, parameter)?;
    }
    Ok(pairs)
}

fn push(pairs: &mut Pairs, keyword: &str, value: &str) -> Result<(), ConfigError> {
    if !value.is_empty() {
        pairs.push((keyword.to_owned(), decoded(value)?));
    }
    Ok(())
}

/// Returns true when the host with its port can only be a part of a login.
fn is_of_login(host: &str) -> bool {
    let after_address = host.rsplit(']').next().unwrap_or_default();
    let (_, port) = after_address.split_once(':').unwrap_or_default();
    host.contains('@') || !port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Nothing where all are empty, so that the environment can say it.
fn list(parts: &[&str]) -> String {
    if parts.iter().all(|part| part.is_empty()) { String::new() } else { parts.join(",") }
}

fn host_and_port(part: &str) -> Result<(&str, &str), ConfigError> {
    let Some(rest) = part.strip_prefix('[') else {
        return Ok(part.split_once(':').unwrap_or((part, "")));
    };
    let syntax = |reason| ConfigError::Syntax(format!("{reason} `{part}`"));
    let (host, after) = rest
        .split_once(']')
        .ok_or_else(|| syntax("missing closing bracket in the IPv6 address"))?;
    if host.is_empty() {
        return Err(syntax("the IPv6 address is empty:"));
    }
    match after.strip_prefix(':') {
        Some(port) => Ok((host, port)),
        None if after.is_empty() => Ok((host, "")),
        None => Err(syntax("only a port can follow the IPv6 address:")),
    }
}

fn push_parameter(pairs: &mut Pairs, parameter: &str) -> Result<(), ConfigError> {
    let (keyword, value) = parameter
        .split_once('=')
        .ok_or_else(|| ConfigError::Syntax("a parameter after `?` has no `=`".to_owned()))?;
    // A sign in a login that ends it too early: the rest may be its password.
    if keyword.contains([':', '@', '/']) {
        return Err(ConfigError::Syntax(NOT_A_URL.to_owned()));
    }
    if value.contains('=') {
        let reason = format!("the value of `{keyword}` contains `=`; write it as %3D");
        return Err(ConfigError::Syntax(reason));
    }
    let (keyword, value) = (decoded(keyword)?, decoded(value)?);
    // Options of JDBC.
    match (keyword.as_str(), value.as_str()) {
        ("ssl", "true") => pairs.push(("sslmode".to_owned(), "require".to_owned())),
        _ => pairs.push((keyword, value)),
    }
    Ok(())
}

/// The text itself may be a password: errors do not repeat it.
fn decoded(text: &str) -> Result<String, ConfigError> {
    let why = match url::decoded(text) {
        Ok(text) if text.contains('\0') => "%00 is not allowed",
        Ok(text) => return Ok(text),
        Err(EscapeError::Code) => {
            "`%` must be followed by two hexadecimal digits; write a literal `%` as %25"
        }
        Err(EscapeError::NotUtf8) => "percent-encoded text is not valid UTF-8",
    };
    Err(ConfigError::Syntax(why.to_owned()))
}

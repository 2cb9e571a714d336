//! The keywords of a connection string, and their values from text, service and variables.

use super::{Environment, files, text};
use crate::ConfigError;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// One keyword.
struct Keyword {
    name: &'static str,
    /// The environment variable that stands in for it, or nothing.
    variable: &'static str,
    support: Support,
}

/// What a keyword does here.
enum Support {
    Used,
    /// It cannot matter: it is about a feature that this client does not have or need.
    NoEffect,
    /// It demands something of the connection; only these values demand nothing that is missing here.
    Only(&'static [&'static str]),
}

use Support::{NoEffect, Only, Used};

const fn keyword(name: &'static str, variable: &'static str, support: Support) -> Keyword {
    Keyword { name, variable, support }
}

/// libpq's keywords and variables (<https://www.postgresql.org/docs/current/libpq-envars.html>).
static KEYWORDS: &[Keyword] = &[
    keyword("application_name", "PGAPPNAME", Used),
    keyword("channel_binding", "PGCHANNELBINDING", Used),
    keyword("client_encoding", "PGCLIENTENCODING", NoEffect),
    keyword("connect_timeout", "PGCONNECT_TIMEOUT", Used),
    keyword("dbname", "PGDATABASE", Used),
    keyword("fallback_application_name", "", Used),
    keyword("gssdelegation", "PGGSSDELEGATION", NoEffect),
    keyword("gssencmode", "PGGSSENCMODE", Only(&["disable", "prefer"])),
    keyword("gsslib", "PGGSSLIB", NoEffect),
    keyword("host", "PGHOST", Used),
    keyword("hostaddr", "PGHOSTADDR", Used),
    keyword("keepalives", "", Used),
    keyword("keepalives_count", "", Used),
    keyword("keepalives_idle", "", Used),
    keyword("keepalives_interval", "", Used),
    keyword("krbsrvname", "PGKRBSRVNAME", NoEffect),
    keyword("load_balance_hosts", "PGLOADBALANCEHOSTS", Only(&["disable"])),
    keyword("max_protocol_version", "PGMAXPROTOCOLVERSION", NoEffect),
    keyword("min_protocol_version", "PGMINPROTOCOLVERSION", Only(&["3.0"])),
    keyword("options", "PGOPTIONS", Used),
    keyword("passfile", "PGPASSFILE", Used),
    keyword("password", "PGPASSWORD", Used),
    keyword("port", "PGPORT", Used),
    keyword("replication", "", Only(&["false", "off", "no", "0"])),
    keyword("require_auth", "PGREQUIREAUTH", Only(&[])),
    keyword("requirepeer", "PGREQUIREPEER", Only(&[])),
    keyword("service", "PGSERVICE", Used),
    keyword("servicefile", "PGSERVICEFILE", Used),
    keyword("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", Only(&["TLSv1.3"])),
    keyword("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", Only(&["TLSv1", "TLSv1.1", "TLSv1.2"])),
    keyword("sslcert", "PGSSLCERT", Used),
    keyword("sslcertmode", "PGSSLCERTMODE", Only(&["allow"])),
    keyword("sslcompression", "PGSSLCOMPRESSION", NoEffect),
    keyword("sslcrl", "PGSSLCRL", Only(&[])),
    keyword("sslcrldir", "PGSSLCRLDIR", Only(&[])),
    keyword("sslkey", "PGSSLKEY", Used),
    keyword("sslmode", "PGSSLMODE", Used),
    keyword("sslnegotiation", "PGSSLNEGOTIATION", Used),
    keyword("sslpassword", "", Only(&[])),
    keyword("sslrootcert", "PGSSLROOTCERT", Used),
    keyword("sslsni", "PGSSLSNI", Used),
    keyword("target_session_attrs", "PGTARGETSESSIONATTRS", Only(&["any"])),
    keyword("tcp_user_timeout", "", Used),
    keyword("user", "PGUSER", Used),
];

/// The keyword with this name.
fn find(name: &str) -> Result<&'static Keyword, ConfigError> {
    KEYWORDS.iter().find(|keyword| keyword.name == name).ok_or_else(|| {
        let names = KEYWORDS.iter().map(|keyword| keyword.name);
        let distance = |known: &&str| strsim::damerau_levenshtein(known, &name.to_lowercase());
        let nearest = names.min_by_key(distance).filter(|known| distance(known) <= name.len().div_ceil(3));
        ConfigError::Unknown(name.to_owned(), nearest)
    })
}

impl Keyword {
    /// Refuses a demand that would be broken by ignoring it.
    fn check(&self, value: &str) -> Result<(), ConfigError> {
        let Only(supported) = self.support else { return Ok(()) };
        if value.is_empty() || supported.contains(&value) {
            return Ok(());
        }
        let supported = if supported.is_empty() { "leaving it out".to_owned() } else { supported.join(", ") };
        // A key's pass phrase is the one secret among these.
        let value = if self.name == "sslpassword" { "..." } else { value };
        Err(ConfigError::Unsupported(self.name, value.to_owned(), supported))
    }
}

/// Values by keyword. An empty value keeps the environment's out, and then counts as none.
#[derive(Debug, Default)]
pub struct Settings(BTreeMap<&'static str, String>);

impl Settings {
    /// From a URL, from pairs, or from the name of a database.
    pub fn from_text(text: &str) -> Result<Self, ConfigError> {
        let pairs = if let Some(rest) = text::after_scheme(text) {
            text::url_pairs(rest)?
        } else if text.contains('=') {
            text::pairs(text)?
        } else if text.trim().is_empty() {
            Vec::new()
        } else {
            vec![("dbname".to_owned(), text.trim().to_owned())]
        };
        let mut settings = Self::default();
        for (name, value) in pairs {
            settings.0.insert(find(&name)?.name, value);
        }
        Ok(settings)
    }

    /// Adds what is not given yet: first the service's values, then the variables'.
    pub fn complete(&mut self, environment: &Environment) -> Result<(), ConfigError> {
        let given = |keyword: &str, variable: &str| {
            let value = self.0.get(keyword).map(String::as_str).or_else(|| environment.variable(variable));
            value.filter(|value| !value.is_empty()).map(str::to_owned)
        };
        if let Some(name) = given("service", "PGSERVICE") {
            let file = given("servicefile", "PGSERVICEFILE");
            for (keyword, value) in files::service(&name, file.map(Into::into), environment)? {
                self.0.entry(find(&keyword)?.name).or_insert(value);
            }
        }
        for keyword in KEYWORDS {
            if let Some(value) = environment.variable(keyword.variable) {
                self.0.entry(keyword.name).or_insert_with(|| value.to_owned());
            }
            if let Some(value) = self.0.get(keyword.name) {
                keyword.check(value)?;
            }
        }
        Ok(())
    }

    /// The value, when there is one that is not empty.
    pub fn take(&mut self, keyword: &'static str) -> Option<String> {
        self.0.remove(keyword).filter(|value| !value.is_empty())
    }

    pub fn number<T: FromStr<Err: Display>>(
        &mut self,
        keyword: &'static str,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.take(keyword) else { return Ok(None) };
        let reason = |error| format!("`{value}` is not a number that it can have: {error}");
        value.trim().parse().map(Some).map_err(|error| ConfigError::Value(keyword, reason(error)))
    }

    /// A number for which what is not positive means the system's default.
    pub fn positive(&mut self, keyword: &'static str) -> Result<Option<u64>, ConfigError> {
        Ok(self.number::<i32>(keyword)?.filter(|number| *number > 0).map(|number| number as u64))
    }

    pub fn choice<T: Copy>(
        &mut self,
        keyword: &'static str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, ConfigError> {
        let Some(value) = self.take(keyword) else { return Ok(default) };
        choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            ConfigError::Value(keyword, format!("`{value}` is none of {}", names.join(", ")))
        })
    }
}

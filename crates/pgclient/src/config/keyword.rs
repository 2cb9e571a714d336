//! The keywords of a connection string, and what this client makes of them.

use super::ConfigError;

/// One keyword.
pub struct Keyword {
    pub name: &'static str,
    /// The environment variable that stands in for it.
    pub variable: Option<&'static str>,
    pub support: Support,
}

/// What a keyword does here.
pub enum Support {
    Used,
    /// It cannot matter: it is about a feature that this client does not have or need.
    NoEffect,
    /// It demands something of the connection; only these values demand nothing that is missing here.
    Only(&'static [&'static str]),
}

use Support::{NoEffect, Only, Used};

const fn keyword(name: &'static str, variable: &'static str, support: Support) -> Keyword {
    Keyword { name, variable: if variable.is_empty() { None } else { Some(variable) }, support }
}

/// libpq's keywords and variables (<https://www.postgresql.org/docs/current/libpq-envars.html>).
pub static KEYWORDS: &[Keyword] = &[
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
pub fn find(name: &str) -> Result<&'static Keyword, ConfigError> {
    KEYWORDS.iter().find(|keyword| keyword.name == name).ok_or_else(|| {
        let names = KEYWORDS.iter().map(|keyword| keyword.name);
        let distance = |known: &&str| strsim::damerau_levenshtein(known, &name.to_lowercase());
        let nearest = names.min_by_key(distance).filter(|known| distance(known) <= name.len().div_ceil(3));
        ConfigError::Unknown { keyword: name.to_owned(), nearest }
    })
}

impl Keyword {
    /// Refuses a demand that would be broken by ignoring it.
    pub fn check(&self, value: &str) -> Result<(), ConfigError> {
        let Only(supported) = self.support else { return Ok(()) };
        if value.is_empty() || supported.contains(&value) {
            return Ok(());
        }
        let supported = if supported.is_empty() { "leaving it out".to_owned() } else { supported.join(", ") };
        // A key's pass phrase is the one secret among these.
        let value = if self.name == "sslpassword" { "..." } else { value };
        Err(ConfigError::Unsupported { keyword: self.name, value: value.to_owned(), supported })
    }
}

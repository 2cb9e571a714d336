use crate::benchbase::element::{BenchBaseError, text_of};
use roxmltree::Node;
use std::fmt;

/// The target of the experiment.
pub struct Target {
    engine: &'static str,
    /// Without a password.
    url: Option<String>,
    /// A setting and its value.
    isolation: Option<(&'static str, String)>,
}

/// Isolation levels, each after `TRANSACTION_`.
const LEVELS: [&str; 4] = ["SERIALIZABLE", "REPEATABLE_READ", "READ_COMMITTED", "READ_UNCOMMITTED"];

impl Target {
    /// Reads the database, where it is and the isolation of transactions.
    pub fn read(root: Node<'_, '_>, lacking: &mut Vec<String>) -> Result<Self, BenchBaseError> {
        let kind = text_of(root, "type").unwrap_or_default().to_ascii_uppercase();
        let (engine, isolation) = match kind.as_str() {
            "POSTGRES" => ("postgres", Some("default_transaction_isolation")),
            "MYSQL" => ("mariadb", Some("transaction_isolation")),
            "MARIADB" => ("mariadb", Some("tx_isolation")),
            "SQLSERVER" => ("sqlserver", None),
            "SQLITE" => ("sqlite", None),
            _ => return Err(BenchBaseError::OtherDatabase),
        };
        let url = if engine == "sqlite" {
            lacking.push("the database file: each trial makes its own".to_owned());
            None
        } else {
            Some(url(root)?)
        };
        // BenchBase's default.
        let isolation_name = text_of(root, "isolation").unwrap_or("TRANSACTION_SERIALIZABLE");
        let level =
            isolation_name.strip_prefix("TRANSACTION_").filter(|name| LEVELS.contains(name));
        let space = if engine == "postgres" { " " } else { "-" };
        let level = level.map(|name| name.to_ascii_lowercase().replace('_', space));
        if level.is_none() || engine == "sqlserver" {
            lacking.push("<isolation>: transactions have the server's default".to_owned());
        }
        Ok(Self { engine, url, isolation: isolation.zip(level) })
    }
}

/// The URL of the server, with the user but no password and no options of the driver.
fn url(root: Node<'_, '_>) -> Result<String, BenchBaseError> {
    let wrong = |message| BenchBaseError::Element { element: "url", message };
    let url = text_of(root, "url").ok_or_else(|| wrong("missing"))?;
    let rest = url.strip_prefix("jdbc:").ok_or_else(|| wrong("expected jdbc:..."))?;
    let (scheme, rest) = rest.split_once("://").ok_or_else(|| wrong("expected a host"))?;
    let end = rest.find(['?', ';']).unwrap_or(rest.len());
    let (place, options) = rest.split_at(end);
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    // Whatever is before the @ may be a password.
    let host = host.rsplit('@').next().unwrap_or(host);
    let mut named = options.split(['?', ';', '&']).filter_map(|option| option.split_once('='));
    let database = named.find(|(key, _)| {
        key.eq_ignore_ascii_case("databaseName") || key.eq_ignore_ascii_case("database")
    });
    let database = database.map_or(path, |(_, name)| name);
    let is_plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:[]%,".contains(&byte))
    };
    if !is_plain(scheme) || !is_plain(host) || !is_plain(database) {
        return Err(wrong("host and database may have letters, digits and -_.:[]%"));
    }
    let user = text_of(root, "username").map(encoded);
    let user = user.map_or_else(String::new, |user| format!("{user}@"));
    Ok(format!("{scheme}://{user}{host}/{database}"))
}

/// A user's name as part of a URL.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[target]\nengine = \"{}\"", self.engine)?;
        if let Some(url) = &self.url {
            writeln!(f, "# The password comes from the environment or a password file.")?;
            writeln!(f, "url = \"{url}\"")?;
        }
        if self.engine == "sqlite" {
            writeln!(f, "settings = {{ journal_mode = \"wal\" }}")?;
        }
        if let Some((setting, level)) = &self.isolation {
            writeln!(f, "settings.{setting} = \"{level}\"")?;
        }
        Ok(())
    }
}

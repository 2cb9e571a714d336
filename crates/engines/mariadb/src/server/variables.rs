//! Variables of a server, also those of `target.settings.*`: how they are written and read back.

use crate::client::{Client, quote_literal};
use crate::errors::failed_at;
use engine::{EngineError, Result, Row, wait_for};
use experiment::Configuration;
use servers::private::Settings;
use servers::settings::{self, path};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use work::Cancel;

#[rustfmt::skip]
/// Variables that experiments may not set: they locate and protect the private server.
const OURS: &[&str] = &[
    "basedir", "bind_address", "datadir", "innodb_data_home_dir", "innodb_log_group_home_dir",
    "local_infile", "log_error",
    "performance_schema", "pid_file", "plugin_dir", "port", "skip_networking", "socket", "tmpdir",
];

/// Name of the binary log.
const BINARY_LOG: &str = "binlog";

/// Returns the settings of a configuration, with their names as `SHOW VARIABLES` writes them.
pub fn from_configuration(configuration: &Configuration) -> Settings {
    let settings = settings::from_configuration(configuration, ["OFF", "ON"]).into_iter();
    settings.map(|(name, value)| (name.to_lowercase().replace('-', "_"), value)).collect()
}

/// An objection that needs no server.
pub fn objection(name: &str, value: &str) -> Option<String> {
    if OURS.contains(&name) {
        return Some(
            "Steelbench sets this itself, to be able to reach the server; remove it".into(),
        );
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Some("variable names contain only letters, digits and underscores".into());
    }
    value.contains(['\n', '\r', '\0']).then(|| "a value cannot have several lines".into())
}

/// A line of an option file: the value in quotes, in which backslashes escape
/// (<https://mariadb.com/kb/en/configuring-mariadb-with-option-files/>).
pub fn line(name: &str, value: &str) -> String {
    format!("{name} = \"{}\"\n", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The binary log, whose option takes a path where the variable says only whether it is on.
pub fn log_bin(value: &str, folder: &Path) -> String {
    match boolean(value) {
        Some(false) => "skip_log_bin\n".into(),
        _ => line("log_bin", &folder.join(BINARY_LOG).to_string_lossy()),
    }
}

/// Returns the line of an option file, for a server with its own binary-log location.
pub(crate) fn option_line(name: &str, value: &str) -> String {
    match boolean(value).filter(|_| name == "log_bin") {
        Some(true) => "log_bin\n".into(),
        Some(false) => "skip_log_bin\n".into(),
        None => line(name, value),
    }
}

/// The table of the server's status variables: MySQL keeps it in the Performance Schema, which
/// MariaDB fills only while that is on.
pub fn global_status(client: &Client) -> &'static str {
    if client.is_mariadb() {
        "information_schema.global_status"
    } else {
        "performance_schema.global_status"
    }
}

/// The time that the server may take to bring its buffer pool to another size.
const RESIZING: Duration = Duration::from_secs(300);

/// Waits until the buffer pool has the size that was set, which older servers do in the background
/// (<https://mariadb.com/kb/en/setting-innodb-buffer-pool-size-dynamically/>).
///
/// # Errors
/// When it takes too long.
pub(crate) fn await_resized(client: &mut Client) -> Result<()> {
    let doing = "resizing the buffer pool";
    let (table, name) = (global_status(client), "INNODB_BUFFER_POOL_RESIZE_STATUS");
    let sql = format!("SELECT variable_value FROM {table} WHERE variable_name = '{name}'");
    let mut status = String::new();
    let done = wait_for(RESIZING, &Cancel::new(), || {
        status = client.cell(&sql).map_err(failed_at(doing))?.unwrap_or_default();
        Ok((status.is_empty() || status.contains("ompleted") || status.contains("did not"))
            .then_some(()))
    })?;
    done.ok_or_else(|| {
        EngineError::failed(doing, format!("after {} s: {status}", RESIZING.as_secs()))
    })
}

/// Returns whether a variable has the wanted value.
pub(crate) fn is_in_force(name: &str, text: &str, got: &Variable) -> bool {
    // The variable of the binary log shows only whether there is one.
    let is_log = name == "log_bin" && boolean(text).is_none() && boolean(&got.value) == Some(true);
    got.is(text) || is_log
}

/// Makes sure that these values are in force.
///
/// # Errors
/// When one is another, or the server has no such variable.
pub fn read_back(
    settings: &BTreeMap<String, String>,
    known: &BTreeMap<String, Variable>,
) -> Result<()> {
    for (name, value) in settings {
        let Some(got) = known.get(name) else {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(EngineError::failed(
                path(name),
                experiment::unknown_name("variable", name, &names),
            ));
        };
        if !is_in_force(name, value, got) {
            let (setting, got) = (path(name), got.value.clone());
            return Err(EngineError::SettingIgnored { setting, expected: value.clone(), got });
        }
    }
    Ok(())
}

/// A variable as described by MariaDB in `information_schema.system_variables`, by MySQL in
/// `performance_schema.variables_metadata`.
#[derive(Debug, Clone, Default)]
pub struct Variable {
    value: String,
    /// `BOOLEAN`, `INT UNSIGNED`, `ENUM`, `SET`, `FLAGSET`, `VARCHAR`, ...
    kind: String,
    /// Values of an ENUM, in order.
    choices: String,
    /// True if SET GLOBAL accepts it. MySQL does not report this and refuses at run time; there it
    /// is true for all.
    is_dynamic: bool,
    /// True if sessions have their own values.
    is_of_sessions: bool,
    /// True if its value comes from SET GLOBAL.
    is_set_by_sql: bool,
}

/// Variables of sessions that no session can set: it takes them from the server when it begins
/// (`ER_VARIABLE_IS_READONLY`).
const TAKEN_OVER: [&str; 3] = ["max_allowed_packet", "max_user_connections", "net_buffer_length"];

/// <https://mariadb.com/kb/en/information-schema-system_variables-table/>
const OF_MARIADB: &str = "SELECT lower(variable_name), global_value, variable_type, \
                          enum_value_list, read_only = 'NO' AND variable_scope <> 'SESSION ONLY', \
                          variable_scope <> 'GLOBAL', global_value_origin = 'SQL' FROM \
                          information_schema.system_variables WHERE global_value IS NOT NULL";

/// With MariaDB's names of the types. A set of switches has their values in it
/// (`optimizer_switch`).
/// <https://dev.mysql.com/doc/refman/9.4/en/performance-schema-variables-metadata-table.html>
const OF_MYSQL: &str = "SELECT lower(variable_name), variable_value, if(data_type = 'Set' AND \
                        variable_value LIKE '%=%', 'FLAGSET', elt(field(data_type, 'Integer', \
                        'Numeric', 'Boolean', 'Enumeration', 'Set', 'String'), 'INT', 'DOUBLE', \
                        'BOOLEAN', 'ENUM', 'SET', 'VARCHAR')), '', 1, variable_scope <> 'GLOBAL', \
                        variable_source = 'DYNAMIC' FROM performance_schema.variables_metadata \
                        JOIN performance_schema.global_variables USING (variable_name) JOIN \
                        performance_schema.variables_info USING (variable_name)";

/// `ER_NO_SUCH_TABLE`.
const NO_SUCH_TABLE: u16 = 1146;

impl Variable {
    /// All variables, by name in lower case; empty for a MySQL that does not list them (before
    /// 9.0).
    pub fn read(client: &mut Client) -> Result<BTreeMap<String, Self>> {
        let sql = if client.is_mariadb() { OF_MARIADB } else { OF_MYSQL };
        let rows = match client.query(sql) {
            Err(error) if error.code() == Some(NO_SUCH_TABLE) => return Ok(BTreeMap::new()),
            rows => rows.map_err(failed_at("reading the server's variables"))?,
        };
        let variable = |row: Row<'_>| {
            let ([name, value, kind, choices], is) =
                (row.texts(), |column: usize| row.get(column) == Some("1"));
            let is_of_sessions = is(5) && !TAKEN_OVER.contains(&name.as_str());
            let (is_dynamic, is_set_by_sql) = (is(4), is(6));
            (name, Self { value, kind, choices, is_dynamic, is_of_sessions, is_set_by_sql })
        };
        Ok(rows.iter().map(variable).collect())
    }

    /// The value in force.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns whether it can be set while the server runs.
    pub fn is_dynamic(&self) -> bool {
        self.is_dynamic
    }

    /// Returns whether it was set while the server runs.
    pub fn is_set_by_sql(&self) -> bool {
        self.is_set_by_sql
    }

    /// Returns whether sessions cannot set it.
    pub fn is_global(&self) -> bool {
        !self.is_of_sessions
    }

    /// Returns the variable with a session's value.
    #[must_use]
    pub fn with_value(&self, value: String) -> Self {
        Self { value, ..self.clone() }
    }

    fn is_number(&self) -> bool {
        self.kind.contains("INT") || self.kind == "DOUBLE"
    }

    /// A value as SET takes it, without units. If the type of the variable is unknown, numbers are
    /// written as numbers.
    pub fn literal(&self, value: &str) -> String {
        match number(value)
            .filter(|_| self.is_number() || (self.kind.is_empty() && value.parse::<f64>().is_ok()))
        {
            Some(number) => number.to_string(),
            None => quote_literal(value),
        }
    }

    /// Returns whether the value in force is the wanted one.
    pub fn is(&self, text: &str) -> bool {
        let parts = |text: &str| -> Vec<String> {
            text.to_lowercase()
                .split(',')
                .map(|part| part.trim().to_owned())
                .filter(|part| !part.is_empty())
                .collect()
        };
        match self.kind.as_str() {
            _ if text.eq_ignore_ascii_case(&self.value) => true,
            "BOOLEAN" | "" => boolean(text).is_some() && boolean(text) == boolean(&self.value),
            "ENUM" => {
                let choice =
                    text.parse().ok().and_then(|number: usize| self.choices.split(',').nth(number));
                let switch = boolean(text).is_some() && boolean(text) == boolean(&self.value);
                choice.is_some_and(|choice| choice.eq_ignore_ascii_case(&self.value)) || switch
            }
            // Switches that are not named stay as they are.
            "FLAGSET" => parts(text).iter().all(|part| parts(&self.value).contains(part)),
            "SET" => {
                let (mut parts, mut got) = (parts(text), parts(&self.value));
                parts.sort();
                got.sort();
                parts == got
            }
            _ if self.is_number() => {
                let numbers = number(text).zip(number(&self.value));
                // Fractions are shown with six digits behind the point.
                numbers.is_some_and(|(expected, got)| (expected - got).abs() <= 1e-6)
            }
            _ => false,
        }
    }
}

/// `on`, `TRUE`, `0`, ...
fn boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "on" | "true" | "1" | "yes" => Some(true),
        "off" | "false" | "0" | "no" => Some(false),
        _ => None,
    }
}

/// A number with a unit, as in an option file: `128M`.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let power = text.chars().last().and_then(|last| "kmgtpe".find(last.to_ascii_lowercase()));
    let number = if power.is_some() { &text[..text.len() - 1] } else { text };
    let scale = 1024_f64.powi(power.map_or(0, |power| power as i32 + 1));
    number.parse::<f64>().ok().map(|number| number * scale)
}

#[cfg(test)]
mod tests {
    use super::{Variable, line, objection};

    #[test]
    fn a_value_is_what_was_wanted_whatever_its_spelling() {
        for (kind, value, text, expected) in [
            ("BIGINT UNSIGNED", "134217728", "128M", true),
            ("BIGINT UNSIGNED", "134217728", "129M", false),
            ("DOUBLE", "90.500000", "90.5", true),
            ("BOOLEAN", "ON", "1", true),
            ("BOOLEAN", "ON", "OFF", false),
            ("ENUM", "O_DIRECT", "o_direct", true),
            ("ENUM", "O_DIRECT", "1", true),
            ("ENUM", "O_DIRECT", "0", false),
            ("SET", "ANSI_QUOTES,STRICT_TRANS_TABLES", "strict_trans_tables, ansi_quotes", true),
            ("SET", "ANSI_QUOTES,STRICT_TRANS_TABLES", "ansi_quotes", false),
            ("FLAGSET", "a=on,b=off", "b=off", true),
            ("FLAGSET", "a=on,b=off", "a=off", false),
            ("VARCHAR", "utf8mb4", "latin1", false),
        ] {
            let choices = "fsync,O_DIRECT".into();
            let (value, kind) = (value.into(), kind.into());
            let variable = Variable { value, kind, choices, ..Variable::default() };
            assert_eq!(variable.is(text), expected, "{variable:?}: {text}");
        }
    }

    #[test]
    fn what_would_hide_the_server_is_refused_and_a_value_keeps_its_quotes() {
        assert!(objection("datadir", "/x").is_some() && objection("a b", "1").is_some());
        assert!(
            objection("init_connect", "a\nb").is_some() && objection("sync_binlog", "1").is_none()
        );
        assert_eq!(line("init_connect", r#"a "b" \"#), "init_connect = \"a \\\"b\\\" \\\\\"\n");
    }
}

//! `target.settings.*` of a server of ours: written to a file, loaded, read back.

mod known;
mod value;

use super::cluster::Cluster;
use super::layout::SETTINGS_FILE;
use super::{failed, wait_for};
use crate::postgres::failure::of_client;
use crate::{Cancel, EngineError};
use known::Known;
use pgclient::Client;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the server may take to load its files.
const RELOAD: Duration = Duration::from_secs(30);

/// What only we may decide: else we would not find the server, or not only we.
const OURS: &[&str] = &[
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "port",
    "unix_socket_directories",
    "unix_socket_group",
    "unix_socket_permissions",
];

/// What applying settings took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// Whether the server was restarted, as it says that some settings need.
    pub restarted: bool,
}

impl Cluster {
    /// Brings the settings of the server to exactly these; others go back to their defaults. It is
    /// started if it does not run, and restarted if some setting needs it. Each is read back. After an
    /// error no settings are in the file, and the next call begins anew.
    pub fn apply(
        &mut self,
        settings: &BTreeMap<String, String>,
        cancel: &Cancel,
    ) -> Result<Applied, EngineError> {
        self.start(cancel)?;
        // Names of settings have no case; some are shown with capitals.
        let wanted: BTreeMap<String, String> =
            settings.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
        let result = self.change_to(&wanted, cancel);
        match &result {
            Ok(_) => self.applied = Some(wanted),
            Err(_) => self.forget_settings(),
        }
        result
    }

    fn change_to(
        &mut self,
        wanted: &BTreeMap<String, String>,
        cancel: &Cancel,
    ) -> Result<Applied, EngineError> {
        let mut client = self.connect()?;
        let mut restarted = false;
        if self.applied.as_ref() != Some(wanted) {
            check(wanted, &Known::read(&mut client)?, self.installation().version.major)?;
            client = self.load(wanted, client, cancel)?;
            if Known::read(&mut client)?.values().any(|known| known.pending_restart) {
                drop(client);
                self.restart(cancel)?;
                client = self.connect()?;
                restarted = true;
            }
        }
        read_back(wanted, &Known::read(&mut client)?)?;
        Ok(Applied { restarted })
    }

    /// Writes the file and waits until the server has loaded it; returns a connection that knows.
    fn load(
        &self,
        wanted: &BTreeMap<String, String>,
        mut client: Client,
        cancel: &Cancel,
    ) -> Result<Client, EngineError> {
        let before = load_time(&mut client)?;
        let log_before = self.log_bytes();
        let lines: Vec<String> = wanted.iter().map(|(name, value)| line(name, value) + "\n").collect();
        self.account().write(&self.layout.data.join(SETTINGS_FILE), &lines.concat())?;
        self.signal_reload();
        // A connection made after the first process has loaded the file has what it has.
        let loaded = wait_for(RELOAD, cancel, || {
            let mut client = self.connect()?;
            Ok((load_time(&mut client)? != before).then_some(client))
        })?;
        let Some(mut client) = loaded else {
            let log = self.log_since(log_before);
            return Err(failed("loading target.settings", format!("the server does not load them: {log}")));
        };
        refused(wanted, &mut client, || self.log_since(log_before))?;
        Ok(client)
    }

    /// No settings, as far as files go; a server that runs loads that too.
    fn forget_settings(&mut self) {
        self.applied = None;
        // If it cannot be removed, the next call overwrites it or says why not.
        let _ = std::fs::remove_file(self.layout.data.join(SETTINGS_FILE));
        self.signal_reload();
    }
}

/// A line of a settings file: values in quotes, where quotes and backslashes are doubled.
pub(super) fn line(name: &str, value: &str) -> String {
    format!("{name} = '{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

fn path(name: &str) -> String {
    format!("target.settings.{name}")
}

/// When a session's files were loaded, in microseconds.
fn load_time(client: &mut Client) -> Result<String, EngineError> {
    let rows = client.query("SELECT extract(epoch FROM pg_conf_load_time())::text", &[]);
    let rows = rows.map_err(|error| of_client("reading when settings were loaded", &error))?;
    Ok(rows.iter().next().and_then(|row| row.get(0).map(str::to_owned)).unwrap_or_default())
}

/// Objections that need no attempt.
fn check(
    wanted: &BTreeMap<String, String>,
    known: &BTreeMap<String, Known>,
    major: u32,
) -> Result<(), EngineError> {
    for (name, value) in wanted {
        if OURS.contains(&name.as_str()) {
            let message = "Steelbench decides this for the servers that it starts; leave it out";
            return Err(failed(path(name), message));
        }
        if value.contains(['\n', '\r', '\0']) {
            return Err(failed(path(name), "a value cannot have several lines"));
        }
        match known.get(name) {
            Some(known) if known.context == "internal" => {
                let message = "is fixed when PostgreSQL is built or its data directory is initialised";
                return Err(failed(path(name), message));
            }
            // A setting of a module is known once it is loaded.
            None if !is_of_module(name) => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                let what = format!("setting of PostgreSQL {major}");
                return Err(failed(path(name), experiment::unknown_name(&what, name, &names)));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_of_module(name: &str) -> bool {
    name.split('.').count() == 2
        && name.split('.').all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
        })
}

/// The server's objections to a file that it has loaded. It objects to what needs a restart too,
/// but says elsewhere that it awaits one; of settings that are gone from the file without a name.
fn refused(
    wanted: &BTreeMap<String, String>,
    client: &mut Client,
    log: impl Fn() -> String,
) -> Result<(), EngineError> {
    let sql = "SELECT f.name, f.error FROM pg_file_settings f LEFT JOIN pg_settings s \
               ON lower(s.name) = lower(f.name) \
               WHERE f.error IS NOT NULL AND f.name IS NOT NULL AND s.pending_restart IS NOT TRUE";
    let rows = client.query(sql, &[]).map_err(|error| of_client("reading pg_file_settings", &error))?;
    let Some(row) = rows.iter().next() else { return Ok(()) };
    let (name, error) = (row.get(0).unwrap_or_default(), row.get(1).unwrap_or_default());
    let said = objection(&log(), name).unwrap_or_else(|| error.to_owned());
    let value = wanted.get(&name.to_lowercase()).map_or("", String::as_str);
    Err(failed(format!("{} = {value}", path(name)), said))
}

/// What the log says about a setting, with the hints after it.
fn objection(log: &str, name: &str) -> Option<String> {
    let quoted = format!("\"{}\"", name.to_lowercase());
    let mut lines = log.lines().skip_while(|line| !line.to_lowercase().contains(&quoted));
    let first = lines.next()?;
    let hints = lines.take_while(|line| line.contains("HINT:  ") || line.contains("DETAIL:  "));
    let without_prefix = |line: &str| line.split_once(":  ").map_or(line, |(_, text)| text).to_owned();
    Some(std::iter::once(first).chain(hints).map(without_prefix).collect::<Vec<_>>().join("; "))
}

fn read_back(wanted: &BTreeMap<String, String>, known: &BTreeMap<String, Known>) -> Result<(), EngineError> {
    for (name, value) in wanted {
        let Some(got) = known.get(name) else {
            let message = "no module that is loaded has this setting; name its module in \
                           target.settings.shared_preload_libraries";
            return Err(failed(path(name), message));
        };
        if !got.took(value) {
            let got = got.shown();
            return Err(EngineError::SettingIgnored { setting: path(name), wanted: value.clone(), got });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{is_of_module, line, objection};

    #[test]
    fn quotes_values() {
        assert_eq!(line("a", "it's C:\\x"), "a = 'it''s C:\\\\x'");
    }

    #[test]
    fn settings_of_modules_have_two_names() {
        for (name, expected) in [
            ("auto_explain.log_analyze", true),
            ("work_mem", false),
            ("a.b.c", false),
            ("a.", false),
            (".b", false),
            ("a.b = 1\nc", false),
        ] {
            assert_eq!(is_of_module(name), expected, "{name}");
        }
    }

    #[test]
    fn finds_what_the_log_says_about_a_setting() {
        let log = "2026-01-01 00:00:00 UTC [1] LOG:  received SIGHUP, reloading configuration files\n\
                   2026-01-01 00:00:00 UTC [1] LOG:  invalid value for parameter \"wal_level\": \"x\"\n\
                   2026-01-01 00:00:00 UTC [1] HINT:  Available values: minimal, replica, logical.\n\
                   2026-01-01 00:00:00 UTC [1] LOG:  configuration file contains errors\n";
        let expected =
            "invalid value for parameter \"wal_level\": \"x\"; Available values: minimal, replica, logical.";
        assert_eq!(objection(log, "wal_level").as_deref(), Some(expected));
        assert_eq!(objection(log, "work_mem"), None);
    }
}

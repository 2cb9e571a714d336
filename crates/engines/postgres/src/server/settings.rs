//! `target.settings.*` of a private server: written to a file, loaded, read back.

use super::files::SETTINGS_FILE;
use super::product::PrivateServer;
use crate::client::Client;
use crate::errors::failed_at;
use engine::{EngineError, Result, Row, wait_for};
use rustix::process::Signal;
use servers::private::{Settings, Stop};
use servers::settings::path;
use std::collections::BTreeMap;
use std::time::Duration;
use work::Cancel;

/// The time that the server may take to load its files.
const RELOAD: Duration = Duration::from_secs(30);
/// The signal that lets it.
const RELOADS: Signal = Signal::HUP;

#[rustfmt::skip]
/// Settings that experiments may not change: they locate and protect the private server.
const OURS: &[&str] = &[
    "config_file", "data_directory", "external_pid_file", "hba_file", "ident_file",
    "listen_addresses", "port",
    "unix_socket_directories", "unix_socket_group", "unix_socket_permissions",
];

/// Brings the settings of a server to exactly these; others go back to their defaults. It is
/// started if it does not run, and restarted if some setting needs it. Each is read back. After an
/// error no settings are in the file, and the next call loads all of them. Returns whether it was
/// restarted, as the server says that some settings need.
pub(super) fn apply(
    server: &mut PrivateServer,
    settings: &Settings,
    cancel: &Cancel,
) -> Result<bool> {
    server.start(cancel)?;
    let settings = in_lower_case(settings);
    let result = change_to(server, &settings, cancel);
    match &result {
        Ok(_) => server.in_force = Some(settings),
        Err(_) => forget_settings(server),
    }
    result
}

/// Names of settings have no case; some are shown with capitals.
pub(crate) fn in_lower_case(settings: &Settings) -> Settings {
    settings.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect()
}

fn change_to(server: &mut PrivateServer, settings: &Settings, cancel: &Cancel) -> Result<bool> {
    let mut client = server.connect_until(cancel)?;
    let mut restarted = false;
    if server.in_force.as_ref() != Some(settings) {
        let major = server.options.product.installation.version.major;
        check(settings, &SettingRow::read(&mut client, SETTINGS_FILE)?, major)?;
        client = load(server, settings, client, cancel)?;
        if SettingRow::read(&mut client, SETTINGS_FILE)?.values().any(|known| known.pending_restart)
        {
            drop(client);
            server.stop(Stop::Clean, cancel)?;
            server.start_with(settings.clone(), cancel)?;
            client = server.connect_until(cancel)?;
            restarted = true;
        }
    }
    read_back(settings, &SettingRow::read(&mut client, SETTINGS_FILE)?)?;
    Ok(restarted)
}

/// Writes the file and waits until the server has loaded it; returns a connection that knows.
fn load(
    server: &PrivateServer,
    settings: &Settings,
    mut client: Client,
    cancel: &Cancel,
) -> Result<Client> {
    let before = load_time(&mut client)?;
    let log_before = server.log_bytes();
    server.options.account.write(&server.layout.data.join(SETTINGS_FILE), &lines(settings))?;
    let mut client = reload(server, &before, cancel)?;
    refused(settings, &mut client, || server.log_since(log_before))?;
    Ok(client)
}

/// Has the server load its files, which it last did at `before`; returns a connection that knows.
fn reload(server: &PrivateServer, before: &str, cancel: &Cancel) -> Result<Client> {
    let log_before = server.log_bytes();
    server.signal(RELOADS);
    // A connection made after the first process has loaded the files has what it has.
    let loaded = wait_for(RELOAD, cancel, || {
        let mut client = server.connect_until(cancel)?;
        Ok((load_time(&mut client)? != before).then_some(client))
    })?;
    loaded.ok_or_else(|| {
        let message = format!("the server did not load them: {}", server.log_since(log_before));
        EngineError::failed("loading target.settings", message)
    })
}

/// Leaves no settings in the file; a server that runs loads that too.
fn forget_settings(server: &mut PrivateServer) {
    server.in_force = None;
    // If it cannot be removed, the next call overwrites it or reports why not.
    let _ = std::fs::remove_file(server.layout.data.join(SETTINGS_FILE));
    server.signal(RELOADS);
}

/// The text of a settings file.
pub(super) fn lines(settings: &Settings) -> String {
    settings.iter().map(|(name, value)| line(name, value) + "\n").collect()
}

/// A line of a settings file: values in quotes, where quotes and backslashes are doubled.
pub(crate) fn line(name: &str, value: &str) -> String {
    format!("{name} = '{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

/// When a session's files were loaded, in microseconds.
pub(crate) fn load_time(client: &mut Client) -> Result<String> {
    let time = client.cell("SELECT extract(epoch FROM pg_conf_load_time())::text");
    Ok(time.map_err(failed_at("reading the configuration load time"))?.unwrap_or_default())
}

/// Objections that need no attempt.
pub(crate) fn check(
    settings: &BTreeMap<String, String>,
    known: &BTreeMap<String, SettingRow>,
    major: u32,
) -> Result<()> {
    for (name, value) in settings {
        if OURS.contains(&name.as_str()) {
            let message = "Steelbench sets this itself, to be able to reach the server; remove it";
            return Err(EngineError::failed(path(name), message));
        }
        if value.contains(['\n', '\r', '\0']) {
            return Err(EngineError::failed(path(name), "a value cannot have several lines"));
        }
        match known.get(name) {
            Some(known) if known.context == "internal" => {
                let message =
                    "is fixed when PostgreSQL is built or its data directory is initialised";
                return Err(EngineError::failed(path(name), message));
            }
            // A setting of a module is known once it is loaded.
            None if !is_of_module(name) => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                let what = format!("setting of PostgreSQL {major}");
                return Err(EngineError::failed(
                    path(name),
                    experiment::unknown_name(&what, name, &names),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether the name has the form of a module's setting.
pub(crate) fn is_of_module(name: &str) -> bool {
    name.split('.').count() == 2
        && name.split('.').all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
        })
}

/// The server's objections to a file that it has loaded. It objects to what needs a restart too,
/// but says elsewhere that it awaits one; of settings that are gone from the file without a name.
fn refused(
    settings: &BTreeMap<String, String>,
    client: &mut Client,
    log: impl Fn() -> String,
) -> Result<()> {
    let sql = "SELECT f.name, f.error FROM pg_file_settings f LEFT JOIN pg_settings s ON \
               lower(s.name) = lower(f.name) WHERE f.error IS NOT NULL AND f.name IS NOT NULL AND \
               s.pending_restart IS NOT TRUE";
    let rows = client.query(sql, &[]).map_err(failed_at("reading pg_file_settings"))?;
    let Some(row) = rows.first() else { return Ok(()) };
    let (name, error) = (row.get(0).unwrap_or_default(), row.get(1).unwrap_or_default());
    let objection = objection(&log(), name).unwrap_or_else(|| error.to_owned());
    let value = settings.get(&name.to_lowercase()).map_or("", String::as_str);
    Err(EngineError::failed(format!("{} = {value}", path(name)), objection))
}

/// Returns the log's objection to a setting, with its hints.
pub(super) fn objection(log: &str, name: &str) -> Option<String> {
    let quoted = format!("\"{}\"", name.to_lowercase());
    let mut lines = log.lines().skip_while(|line| !line.to_lowercase().contains(&quoted));
    let first = lines.next()?;
    let hints = lines.take_while(|line| line.contains("HINT:  ") || line.contains("DETAIL:  "));
    Some(
        std::iter::once(first)
            .chain(hints)
            .map(|line| line.split_once(":  ").map_or(line, |(_, text)| text).to_owned())
            .collect::<Vec<_>>()
            .join("; "),
    )
}

/// Makes sure that these values are in force.
pub(crate) fn read_back(
    settings: &BTreeMap<String, String>,
    known: &BTreeMap<String, SettingRow>,
) -> Result<()> {
    for (name, value) in settings {
        let Some(got) = known.get(name) else {
            let message = "no loaded module has this setting; add its module to \
                           target.settings.shared_preload_libraries";
            return Err(EngineError::failed(path(name), message));
        };
        if !got.took(value) {
            let got = got.shown();
            return Err(EngineError::SettingIgnored {
                setting: path(name),
                expected: value.clone(),
                got,
            });
        }
    }
    Ok(())
}

/// A row of `pg_settings`.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingRow {
    /// The value in force, in units of `unit`.
    setting: String,
    unit: Option<String>,
    /// `bool`, `enum`, `integer`, `real` or `string`.
    vartype: String,
    /// The built-in default.
    boot_val: Option<String>,
    /// The source of the value: `default`, `configuration file`, `override`, ...
    source: String,
    /// True if it comes from the file that we write.
    from_our_file: bool,
    /// Context in which it can change.
    pub(crate) context: String,
    /// Changed in a file, but not in force before a restart.
    pub(crate) pending_restart: bool,
}

impl SettingRow {
    /// Returns whether no session can set it.
    pub fn is_of_server(&self) -> bool {
        ["postmaster", "sighup"].contains(&self.context.as_str())
    }

    /// All settings, by name in lower case; `file`: the name of the one that we write.
    pub(crate) fn read(client: &mut Client, file: &str) -> Result<BTreeMap<String, Self>> {
        let sql = "SELECT lower(name), setting, unit, vartype, boot_val, source, sourcefile, \
                   context, pending_restart FROM pg_settings";
        let rows = client.query(sql, &[]).map_err(failed_at("reading pg_settings"))?;
        let known = |row: Row<'_>| Self {
            setting: row.text(1),
            unit: row.parse(2),
            vartype: row.text(3),
            boot_val: row.parse(4),
            source: row.text(5),
            from_our_file: row.get(6).is_some_and(|from| from.ends_with(file)),
            context: row.text(7),
            pending_restart: row.get(8) == Some("t"),
        };
        Ok(rows.iter().map(|row| (row.text(0), known(row))).collect())
    }

    /// The value in force with its unit: `64kB`, `4096 x 8kB`.
    fn shown(&self) -> String {
        match &self.unit {
            Some(unit) if unit.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{} x {unit}", self.setting)
            }
            Some(unit) => format!("{}{unit}", self.setting),
            None => self.setting.clone(),
        }
    }

    /// Returns whether the value in force is the wanted one.
    fn took(&self, text: &str) -> bool {
        let is_text = matches!(self.vartype.as_str(), "string" | "enum");
        self.is(text, &self.setting)
            // The server spells some values in its own way (`utc`), and has other names for some.
            || (is_text && self.from_our_file)
            // Some defaults mean that the server chooses (`wal_buffers = -1`).
            || (!self.from_our_file
                && matches!(self.source.as_str(), "default" | "override")
                && self.boot_val.as_ref().is_some_and(|default| self.is(text, default)))
    }

    fn is(&self, text: &str, value: &str) -> bool {
        let unit = self.unit.as_deref();
        match self.vartype.as_str() {
            "bool" => boolean(text).is_some() && boolean(text) == boolean(value),
            "enum" => text.eq_ignore_ascii_case(value),
            "integer" | "real" => {
                let numbers = number(text, unit).zip(number(value, unit));
                numbers.is_some_and(|((expected, rounding), (value, _))| {
                    may_become(expected, rounding, value)
                })
            }
            _ => text == value,
        }
    }
}

// Values as people write them in a settings file
// (<https://www.postgresql.org/docs/current/config-setting.html>).

/// Units of memory in bytes, large ones first.
const MEMORY: &[(&str, f64)] = &[
    ("TB", 1_099_511_627_776.0),
    ("GB", 1_073_741_824.0),
    ("MB", 1_048_576.0),
    ("kB", 1024.0),
    ("B", 1.0),
];

/// Units of time in microseconds, large ones first.
const TIME: &[(&str, f64)] =
    &[("d", 86_400e6), ("h", 3_600e6), ("min", 60e6), ("s", 1e6), ("ms", 1e3), ("us", 1.0)];

/// Words for on; each may be shortened while it is clear.
const ON: &[&str] = &["true", "yes", "on", "1"];
/// Words for off.
const OFF: &[&str] = &["false", "no", "off", "0"];

/// The truth of a text: `on`, `TRUE`, `ye`, `0`, ...
fn boolean(text: &str) -> Option<bool> {
    let text = text.trim().to_lowercase();
    let is_one = |of: &[&str]| !text.is_empty() && of.iter().any(|word| word.starts_with(&text));
    match (is_one(ON), is_one(OFF)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        // `o` may be either.
        _ => None,
    }
}

/// Reads `1GB`, `0x10`, `0600` (octal), `1.5 h`, `-1`: the number in this unit of a setting (`8kB`,
/// `ms`), and by how much the server may round it.
fn number(text: &str, unit: Option<&str>) -> Option<(f64, f64)> {
    let text = text.trim();
    if let Some(value) = other_base(text) {
        return Some((value, 0.0));
    }
    let at = text.char_indices().find(|(at, c)| c.is_ascii_alphabetic() && !is_exponent(text, *at));
    let (number, written) = text.split_at(at.map_or(text.len(), |(at, _)| at));
    let value: f64 = number.trim().parse().ok()?;
    if written.is_empty() {
        return Some((value, 0.0));
    }
    let (units, base) = base(unit?)?;
    let index = units.iter().position(|(name, _)| *name == written)?;
    // Fractions are rounded to the next smaller unit.
    let smaller = units.get(index + 1).map_or(0.0, |(_, factor)| factor / 2.0);
    Some((value * units[index].1 / base, if value.fract() == 0.0 { 0.0 } else { smaller / base }))
}

/// Returns whether a server may have rounded the wanted value to this one.
fn may_become(expected: f64, rounding: f64, got: f64) -> bool {
    let to_whole = if expected.fract() != 0.0 && got.fract() == 0.0 { 0.5 } else { 0.0 };
    (expected - got).abs() <= rounding + to_whole + (1e-6 * expected.abs()).min(1e-6)
}

fn is_exponent(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let number_before = at > 0 && (bytes[at - 1].is_ascii_digit() || bytes[at - 1] == b'.');
    let number_after =
        bytes.get(at + 1).is_some_and(|c| c.is_ascii_digit() || matches!(c, b'+' | b'-'));
    matches!(bytes[at], b'e' | b'E') && number_before && number_after
}

/// A whole number in base 16 or 8, as C writes them.
fn other_base(text: &str) -> Option<f64> {
    let (radix, digits) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None => (8, text.strip_prefix('0').filter(|digits| !digits.is_empty())?),
    };
    i64::from_str_radix(digits, radix).ok().map(|value| value as f64)
}

/// The units that go with the unit of a setting, and its size in the smallest of them.
fn base(unit: &str) -> Option<(&'static [(&'static str, f64)], f64)> {
    let (count, name) = unit.split_at(unit.find(|c: char| !c.is_ascii_digit())?);
    let count: f64 = if count.is_empty() { 1.0 } else { count.parse().ok()? };
    [MEMORY, TIME].into_iter().find_map(|units| {
        let (_, factor) = units.iter().find(|(known, _)| *known == name)?;
        Some((units, count * factor))
    })
}

#[cfg(test)]
mod tests {
    use super::{SettingRow, boolean, is_of_module, line, may_become, number, objection};

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
        let log = "2026-01-01 00:00:00 UTC [1] LOG:  received SIGHUP, reloading configuration \
                   files\n2026-01-01 00:00:00 UTC [1] LOG:  invalid value for parameter \
                   \"wal_level\": \"x\"\n2026-01-01 00:00:00 UTC [1] HINT:  Available values: \
                   minimal, replica, logical.\n2026-01-01 00:00:00 UTC [1] LOG:  configuration \
                   file contains errors\n";
        let expected = "invalid value for parameter \"wal_level\": \"x\"; Available values: \
                        minimal, replica, logical.";
        assert_eq!(objection(log, "wal_level").as_deref(), Some(expected));
        assert_eq!(objection(log, "work_mem"), None);
    }

    fn known(vartype: &str, setting: &str, unit: Option<&str>) -> SettingRow {
        SettingRow {
            setting: setting.into(),
            unit: unit.map(str::to_owned),
            vartype: vartype.into(),
            source: "configuration file".into(),
            from_our_file: true,
            ..SettingRow::default()
        }
    }

    #[test]
    fn the_same_value_in_other_words_took() {
        for (vartype, setting, unit, text) in [
            ("integer", "131072", Some("8kB"), "1GB"),
            ("integer", "131072", Some("8kB"), "131072"),
            ("integer", "300", Some("s"), "5min"),
            ("real", "0.9", None, "0.90"),
            ("real", "2", Some("ms"), "2000us"),
            ("bool", "on", None, "true"),
            ("bool", "off", None, "0"),
            ("enum", "off", None, "OFF"),
            ("enum", "replica", None, "hot_standby"),
            ("string", "UTC", None, "utc"),
        ] {
            assert!(known(vartype, setting, unit).took(text), "{text} is {setting}");
        }
    }

    #[test]
    fn another_value_did_not_take() {
        for (vartype, setting, unit, text) in [
            ("integer", "131072", Some("8kB"), "2GB"),
            ("integer", "131073", Some("8kB"), "1GB"),
            ("integer", "0", None, "none"),
            ("real", "0.8", None, "0.9"),
            ("bool", "off", None, "on"),
            ("bool", "off", None, "offf"),
        ] {
            assert!(!known(vartype, setting, unit).took(text), "{text} is not {setting}");
        }
        let from_a_role =
            |vartype| SettingRow { from_our_file: false, ..known(vartype, "a", None) };
        assert!(!from_a_role("string").took("b") && !from_a_role("enum").took("b"));
    }

    #[test]
    fn a_default_that_the_server_replaces_by_its_choice_took() {
        let chosen = SettingRow {
            boot_val: Some("-1".into()),
            source: "override".into(),
            from_our_file: false,
            ..known("integer", "512", Some("8kB"))
        };
        assert!(chosen.took("-1"));
        assert!(!chosen.took("64"));
    }

    fn value(text: &str, unit: Option<&str>) -> Option<f64> {
        number(text, unit).map(|(value, _)| value)
    }

    #[test]
    fn reads_numbers_with_units() {
        for (text, unit, expected) in [
            ("1GB", Some("8kB"), 131_072.0),
            (" 64 MB ", Some("kB"), 65_536.0),
            ("1TB", Some("MB"), 1_048_576.0),
            ("5min", Some("s"), 300.0),
            ("1.5h", Some("min"), 90.0),
            ("250us", Some("ms"), 0.25),
            ("-1", Some("8kB"), -1.0),
            ("0x10", None, 16.0),
            ("0600", None, 384.0),
            ("1e3", None, 1000.0),
            ("0", None, 0.0),
            ("0.5", None, 0.5),
        ] {
            assert_eq!(value(text, unit), Some(expected), "{text}");
        }
        for (text, unit) in [
            ("1gb", Some("8kB")),
            ("1GB", None),
            ("1min", Some("kB")),
            ("x", None),
            ("", None),
            ("1 2", None),
        ] {
            assert_eq!(value(text, unit), None, "{text}");
        }
    }

    #[test]
    fn knows_what_a_server_may_round() {
        let takes = |value, unit, got| {
            let (expected, rounding) = number(value, unit).unwrap();
            may_become(expected, rounding, number(got, unit).unwrap().0)
        };
        // To the next smaller unit: 30.1 GB are 30822.4 MB.
        assert!(takes("30.1GB", Some("8kB"), "3945216"));
        assert!(!takes("30.1GB", Some("8kB"), "3945600"));
        assert!(takes("1500us", Some("ms"), "2"));
        assert!(takes("0.1", None, "0.1"));
        assert!(!takes("0.1", None, "0.2"));
        assert!(!takes("100", None, "101"));
    }

    #[test]
    fn reads_truth_as_the_server_does() {
        for text in ["on", "TRUE", "t", "y", "yes", "1", "tru"] {
            assert_eq!(boolean(text), Some(true), "{text}");
        }
        for text in ["off", "of", "False", "n", "0"] {
            assert_eq!(boolean(text), Some(false), "{text}");
        }
        for text in ["o", "", "2", "enable", "onn"] {
            assert_eq!(boolean(text), None, "{text}");
        }
    }
}

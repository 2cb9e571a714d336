//! What the server says about its settings.

use super::value::{Number, boolean};
use crate::EngineError;
use crate::postgres::failure::of_client;
use crate::postgres::server::layout::SETTINGS_FILE;
use pgclient::{Client, Row};
use std::collections::BTreeMap;

/// One row of `pg_settings`.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The value in force, in units of `unit`.
    setting: String,
    unit: Option<String>,
    /// `bool`, `enum`, `integer`, `real` or `string`.
    vartype: String,
    /// The built-in default.
    boot_val: Option<String>,
    /// Where the value comes from: `default`, `configuration file`, `override`, ...
    source: String,
    /// Whether it comes from the file with the experiment's settings.
    from_our_file: bool,
    /// What it takes to change it.
    pub(super) context: String,
    /// Changed in a file, but not in force before a restart.
    pub(super) pending_restart: bool,
}

impl Known {
    /// All settings, by name in lower case.
    pub(super) fn read(client: &mut Client) -> Result<BTreeMap<String, Self>, EngineError> {
        let sql = "SELECT lower(name), setting, unit, vartype, boot_val, source, sourcefile, context, \
                   pending_restart FROM pg_settings";
        let rows = client.query(sql, &[]).map_err(|error| of_client("reading pg_settings", &error))?;
        Ok(rows.iter().map(|row| (text(&row, 0), Self::of(&row))).collect())
    }

    fn of(row: &Row<'_>) -> Self {
        Self {
            setting: text(row, 1),
            unit: row.get(2).map(str::to_owned),
            vartype: text(row, 3),
            boot_val: row.get(4).map(str::to_owned),
            source: text(row, 5),
            from_our_file: row.get(6).is_some_and(|file| file.ends_with(SETTINGS_FILE)),
            context: text(row, 7),
            pending_restart: row.get(8) == Some("t"),
        }
    }

    /// The value in force with its unit: `64kB`, `4096 x 8kB`.
    pub(super) fn shown(&self) -> String {
        match &self.unit {
            Some(unit) if unit.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{} x {unit}", self.setting)
            }
            Some(unit) => format!("{}{unit}", self.setting),
            None => self.setting.clone(),
        }
    }

    /// Whether the value in force is the one that was asked for.
    pub(super) fn took(&self, wanted: &str) -> bool {
        let is_text = matches!(self.vartype.as_str(), "string" | "enum");
        self.is(wanted, &self.setting)
            // The server spells some values in its own way (`utc`), and has other names for some.
            || (is_text && self.from_our_file)
            // Some defaults mean that the server chooses (`wal_buffers = -1`).
            || (!self.from_our_file
                && matches!(self.source.as_str(), "default" | "override")
                && self.boot_val.as_ref().is_some_and(|default| self.is(wanted, default)))
    }

    fn is(&self, wanted: &str, value: &str) -> bool {
        let unit = self.unit.as_deref();
        match self.vartype.as_str() {
            "bool" => boolean(wanted).is_some() && boolean(wanted) == boolean(value),
            "enum" => wanted.eq_ignore_ascii_case(value),
            "integer" | "real" => {
                let numbers = (Number::parse(wanted, unit), Number::parse(value, unit));
                matches!(numbers, (Some(wanted), Some(value)) if wanted.takes_as(value))
            }
            _ => wanted == value,
        }
    }
}

fn text(row: &Row<'_>, index: usize) -> String {
    row.get(index).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Known;

    fn known(vartype: &str, setting: &str, unit: Option<&str>) -> Known {
        Known {
            setting: setting.into(),
            unit: unit.map(str::to_owned),
            vartype: vartype.into(),
            source: "configuration file".into(),
            from_our_file: true,
            ..Known::default()
        }
    }

    #[test]
    fn the_same_value_in_other_words_took() {
        for (vartype, setting, unit, wanted) in [
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
            assert!(known(vartype, setting, unit).took(wanted), "{wanted} is {setting}");
        }
    }

    #[test]
    fn another_value_did_not_take() {
        for (vartype, setting, unit, wanted) in [
            ("integer", "131072", Some("8kB"), "2GB"),
            ("integer", "131073", Some("8kB"), "1GB"),
            ("integer", "0", None, "none"),
            ("real", "0.8", None, "0.9"),
            ("bool", "off", None, "on"),
            ("bool", "off", None, "offf"),
        ] {
            assert!(!known(vartype, setting, unit).took(wanted), "{wanted} is not {setting}");
        }
        let from_a_role = |vartype| Known { from_our_file: false, ..known(vartype, "a", None) };
        assert!(!from_a_role("string").took("b") && !from_a_role("enum").took("b"));
    }

    #[test]
    fn a_default_that_the_server_replaces_by_its_choice_took() {
        let chosen = Known {
            boot_val: Some("-1".into()),
            source: "override".into(),
            from_our_file: false,
            ..known("integer", "512", Some("8kB"))
        };
        assert!(chosen.took("-1"));
        assert!(!chosen.took("64"));
    }
}

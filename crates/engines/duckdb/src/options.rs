//! `target.settings`: what can be said against it without a library, how it is given to DuckDB, and
//! reading it back.

use super::compression;
use super::library::{Answered, Connection, Database, Library, failed};
use super::settings::COMPRESSION;
use engine::{EngineError, Result};
use experiment::{Configuration, Invalid, Value};
use std::collections::BTreeMap;

/// Where the settings stand in an experiment file.
const PREFIX: &str = "target.settings.";

/// Settings that are whole numbers from 1.
const COUNTS: [&str; 2] = ["threads", "worker_threads"];

/// Settings that would take the database away from under a trial, and why.
const REFUSED: [(&str, &str); 1] = [("access_mode", "trials create and write the database")];

/// Objections that need no library.
pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
    let compression = configuration.value(&format!("{PREFIX}{}", compression::SETTING));
    let twice = compression.is_some() && configuration.get(COMPRESSION).is_some();
    let twice = twice.then(|| {
        let message =
            format!("conflicts with {PREFIX}{}; remove one of them", compression::SETTING);
        Invalid::new(COMPRESSION.path(), message)
    });
    configuration
        .below(PREFIX)
        .filter_map(|(name, value)| objection(name, value))
        .chain(twice)
        .collect()
}

/// The objection to a setting, by its name.
fn objection(name: &str, value: &Value) -> Option<Invalid> {
    let refused = REFUSED.iter().find(|(refused, _)| refused.eq_ignore_ascii_case(name));
    let message = if let Some((_, why)) = refused {
        format!("cannot be set: {why}")
    } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        "names of DuckDB settings contain only letters, digits and underscores".into()
    } else if COUNTS.iter().any(|known| known.eq_ignore_ascii_case(name))
        && !matches!(value, Value::Integer(1..))
    {
        format!("`{value}` is not a whole number of at least 1")
    } else {
        return None;
    };
    Some(Invalid::new(format!("{PREFIX}{name}"), message))
}

/// A setting of the library: its default, and whether each connection has its own value.
#[derive(Clone)]
struct Setting {
    value: String,
    is_local: bool,
}

/// Settings that say how DuckDB works and leave no trace in a file; of all others a data set that
/// is kept depends on.
const PASSING: [&str; 10] = [
    "threads",
    "worker_threads",
    "external_threads",
    "memory_limit",
    "max_memory",
    "temp_directory",
    "max_temp_directory_size",
    "checkpoint_threshold",
    "wal_autocheckpoint",
    "enable_object_cache",
];

/// The settings of a configuration, ready to be given to a database and its connections.
pub struct Settings {
    /// In the order of their names: name and value.
    global: Vec<(String, String)>,
    local: Vec<(String, String)>,
    available: BTreeMap<String, Setting>,
}

impl Settings {
    /// Sorts the settings of a configuration by what the library knows of them.
    ///
    /// # Errors
    /// When it does not know one: names the nearest.
    pub fn from_configuration(
        configuration: &Configuration,
        library: &'static Library,
    ) -> Result<Self> {
        let settings: Vec<(String, String)> = configuration
            .below(PREFIX)
            .map(|(name, value)| (name.to_lowercase(), value.to_string()))
            .chain(
                compression::of_table(configuration)
                    .map(|table| (compression::SETTING.into(), table.into())),
            )
            .collect();
        if settings.is_empty() {
            return Ok(Self { global: settings, local: Vec::new(), available: BTreeMap::new() });
        }
        let known = settings_of(library).map_err(failed("reading DuckDB's settings"))?;
        let mut unknown = settings.iter().filter_map(|(name, _)| unknown(name, &known, library));
        if let Some(Invalid { path, message }) = unknown.next() {
            return Err(EngineError::failed(format!("setting {path}"), message));
        }
        let (local, global) = settings.into_iter().partition(|(name, _)| known[name].is_local);
        Ok(Self { global, local, available: known })
    }

    /// Returns whether an in-memory database accepts them.
    fn tried(&self, library: &'static Library) -> Result<()> {
        let connection =
            Database::open(library, None, &self.global).and_then(|database| database.connect());
        self.apply(&connection.map_err(failed("opening a database in memory"))?)
    }

    /// Settings that a database is opened with.
    pub fn global(&self) -> &[(String, String)] {
        &self.global
    }

    /// Returns whether the configuration sets this option for the whole database.
    pub fn has(&self, name: &str) -> bool {
        self.global.iter().any(|(known, _)| known == name)
    }

    /// Settings that can change what a file holds, as text.
    pub fn shaping(&self) -> String {
        let all = self.global.iter().chain(&self.local);
        let shaping = all.filter(|(name, _)| !PASSING.contains(&name.as_str()));
        format!("{:?}\n", shaping.collect::<Vec<_>>())
    }

    /// Gives a connection its own settings, and reads all of them back.
    ///
    /// # Errors
    /// When one does not take.
    pub fn apply(&self, connection: &Connection) -> Result<()> {
        for (name, value) in &self.local {
            let sql = format!("SET SESSION {name} = '{}'", value.replace('\'', "''"));
            connection.run(&sql).map_err(failed(format!("setting {PREFIX}{name} = {value}")))?;
        }
        // Read back last: one setting can change the effect of another.
        for (name, expected) in self.global.iter().chain(&self.local) {
            let got =
                value_of(connection, name).map_err(failed(format!("reading {PREFIX}{name}")))?;
            if !is_answer(expected, &got, &self.available[name].value) {
                let setting = format!("{PREFIX}{name}");
                let expected = expected.clone();
                return Err(EngineError::SettingIgnored { setting, expected, got });
            }
        }
        Ok(())
    }
}

/// Returns the settings that the library rejects, tested with an in-memory database.
pub fn refused(configuration: &Configuration, library: &'static Library) -> Vec<Invalid> {
    let mut names = configuration.below(PREFIX).map(|(name, _)| name.to_lowercase()).peekable();
    if names.peek().is_none() {
        return Vec::new();
    }
    // Where no database can be opened the first trial reports it.
    let Ok(known) = settings_of(library) else { return Vec::new() };
    let unknown: Vec<Invalid> = names.filter_map(|name| unknown(&name, &known, library)).collect();
    if !unknown.is_empty() {
        return unknown;
    }
    let Ok(all) = Settings::from_configuration(configuration, library) else { return unknown };
    let (global, local) = (
        all.global.iter().map(|setting| (setting, false)),
        all.local.iter().map(|setting| (setting, true)),
    );
    // One can depend on another.
    if all.tried(library).is_ok() {
        unknown
    } else {
        global
            .chain(local)
            .filter_map(|(setting, is_local)| {
                let (local, global) = [setting.clone()].into_iter().partition(|_| is_local);
                let alone = Settings { global, local, available: all.available.clone() };
                let error = alone.tried(library).err()?;
                Some(Invalid::new(format!("{PREFIX}{}", setting.0), error.to_string()))
            })
            .collect()
    }
}

fn unknown(name: &str, known: &BTreeMap<String, Setting>, library: &Library) -> Option<Invalid> {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let message =
        (!known.contains_key(name)).then(|| experiment::unknown_name("setting", name, &names))?;
    Some(Invalid::new(format!("{PREFIX}{name}"), format!("{message} (DuckDB {})", library.version)))
}

/// All settings of a library.
fn settings_of(library: &'static Library) -> Answered<BTreeMap<String, Setting>> {
    let connection = Database::open(library, None, &[])?.connect()?;
    let mut statement = connection.prepare("SELECT name, value, scope FROM duckdb_settings()")?;
    let mut answer = statement.execute()?;
    let mut settings = BTreeMap::new();
    for row in 0..answer.rows() {
        let mut cell = |column| answer.cell(column, row).unwrap_or_default();
        settings.insert(
            cell(0),
            Setting { value: cell(1), is_local: cell(2).eq_ignore_ascii_case("local") },
        );
    }
    Ok(settings)
}

fn value_of(connection: &Connection, name: &str) -> Answered<String> {
    let sql = format!("SELECT value FROM duckdb_settings() WHERE name = '{name}'");
    let mut answer = connection.prepare(&sql)?.execute()?;
    Ok(answer.cell(0, 0).unwrap_or_default())
}

/// Returns whether DuckDB's value is the wanted one: the same text, the same amount at DuckDB's
/// printed precision, or a text that DuckDB derived from it in place of the previous one.
fn is_answer(text: &str, got: &str, before: &str) -> bool {
    if got.eq_ignore_ascii_case(text) {
        return true;
    }
    match (amount(text), amount(got)) {
        // DuckDB prints one digit after the point and drops the others.
        (Some((expected, _)), Some((got, unit))) => (expected - got).abs() < 0.101 * unit,
        _ => !got.eq_ignore_ascii_case(before),
    }
}

/// An amount, and its unit: `1GB`, `953.6 MiB`, `4`.
fn amount(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (text[..end].parse::<f64>().ok()?, text[end..].trim().to_lowercase());
    let power = |letter: &str| "kmgt".find(letter).map(|place| place as i32 + 1);
    let scale = match unit.as_str() {
        "" | "b" | "byte" | "bytes" => 1.0,
        unit => match unit.strip_suffix("ib") {
            Some(prefix) => 1024_f64.powi(power(prefix)?),
            None => 1000_f64.powi(power(unit.strip_suffix('b').unwrap_or(unit))?),
        },
    };
    Some((number * scale, scale))
}

#[cfg(test)]
mod tests {
    use super::is_answer;

    #[test]
    fn an_answer_is_the_same_text_the_same_amount_or_a_new_text_of_duckdbs() {
        for (text, got, before, expected) in [
            ("4", "4", "2", true),
            ("4", "2", "2", false),
            ("1GB", "953.6 MiB", "18.7 GiB", true),
            ("1GiB", "1.0 GiB", "18.7 GiB", true),
            ("1GB", "18.7 GiB", "18.7 GiB", false),
            ("512 MB", "488.2 MiB", "18.7 GiB", true),
            ("zstd", "ZSTD", "Auto", true),
            ("DESC", "DESCENDING", "ASCENDING", true),
            ("zstd", "Auto", "Auto", false),
            ("true", "false", "false", false),
        ] {
            assert_eq!(is_answer(text, got, before), expected, "{text}: {got} after {before}");
        }
    }
}

//! PRAGMAs as settings: checked before anything runs, applied, and read back.

use crate::EngineError;
use experiment::{Configuration, Invalid, Value};
use rusqlite::Connection;

/// How a PRAGMA's value is written and read back.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// One of these words; SQLite answers with the word.
    Word(&'static [&'static str]),
    /// One of these words; SQLite answers with the position.
    Position(&'static [&'static str]),
    /// A whole number.
    Number,
    /// `true` or `false`; SQLite answers 1 or 0.
    Switch,
}

/// When a PRAGMA is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Once, while the file is empty: it is kept in the file.
    File,
    /// On every connection.
    Connection,
}

struct Pragma {
    name: &'static str,
    form: Form,
    scope: Scope,
}

const fn pragma(name: &'static str, form: Form, scope: Scope) -> Pragma {
    Pragma { name, form, scope }
}

/// The PRAGMAs that change how SQLite stores, caches, locks or syncs
/// (<https://www.sqlite.org/pragma.html>), in the order in which they must be given:
/// the page size is fixed by the first write, which a change of journal mode makes.
const PRAGMAS: &[Pragma] = &[
    pragma("page_size", Form::Number, Scope::File),
    pragma("auto_vacuum", Form::Position(&["none", "full", "incremental"]), Scope::File),
    pragma("locking_mode", Form::Word(&["normal", "exclusive"]), Scope::Connection),
    pragma(
        "journal_mode",
        Form::Word(&["delete", "truncate", "persist", "memory", "wal", "off"]),
        Scope::Connection,
    ),
    pragma("synchronous", Form::Position(&["off", "normal", "full", "extra"]), Scope::Connection),
    pragma("cache_size", Form::Number, Scope::Connection),
    pragma("cache_spill", Form::Number, Scope::Connection),
    pragma("mmap_size", Form::Number, Scope::Connection),
    pragma("wal_autocheckpoint", Form::Number, Scope::Connection),
    pragma("journal_size_limit", Form::Number, Scope::Connection),
    pragma("temp_store", Form::Position(&["default", "file", "memory"]), Scope::Connection),
    pragma("secure_delete", Form::Switch, Scope::Connection),
    pragma("cell_size_check", Form::Switch, Scope::Connection),
    pragma("automatic_index", Form::Switch, Scope::Connection),
    pragma("read_uncommitted", Form::Switch, Scope::Connection),
    pragma("threads", Form::Number, Scope::Connection),
];

/// Where the settings stand in an experiment file.
const PREFIX: &str = "target.settings.";

/// Objections to the settings of a configuration.
pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
    let mut invalid = Vec::new();
    for (name, value) in configuration.below(PREFIX) {
        let path = format!("{PREFIX}{name}");
        match PRAGMAS.iter().find(|pragma| pragma.name == name) {
            None => {
                let known: Vec<&str> = PRAGMAS.iter().map(|pragma| pragma.name).collect();
                invalid.push(Invalid::new(path, experiment::unknown_name("SQLite setting", name, &known)));
            }
            Some(pragma) => {
                if let Err(message) = pragma.form.wanted(value) {
                    invalid.push(Invalid::new(path, message));
                }
            }
        }
    }
    invalid
}

/// Whether one connection keeps all others out.
pub fn is_exclusive(configuration: &Configuration) -> bool {
    let mode = configuration.value("target.settings.locking_mode");
    matches!(mode, Some(Value::Text(mode)) if mode.eq_ignore_ascii_case("exclusive"))
}

impl Form {
    /// The value as given to SQLite and as SQLite answers it.
    fn wanted(self, value: &Value) -> Result<(String, String), String> {
        match (self, value) {
            (Self::Word(words) | Self::Position(words), Value::Text(text)) => {
                let word = text.to_lowercase();
                let position = words.iter().position(|known| *known == word);
                let position = position.ok_or_else(|| experiment::unknown_name("value", text, words))?;
                let answer = if matches!(self, Self::Word(_)) { word.clone() } else { position.to_string() };
                Ok((word, answer))
            }
            (Self::Word(words) | Self::Position(words), other) => {
                Err(format!("{other} is not allowed; allowed are {}", words.join(", ")))
            }
            (Self::Number, Value::Integer(number)) => Ok((number.to_string(), number.to_string())),
            (Self::Number, other) => Err(format!("`{other}` is not a whole number")),
            (Self::Switch, Value::Bool(on)) => {
                let number = i64::from(*on).to_string();
                Ok((number.clone(), number))
            }
            (Self::Switch, other) => Err(format!("`{other}` is neither true nor false")),
        }
    }
}

/// The settings of one trial, ready to be applied to its connections.
#[derive(Debug, Clone)]
pub struct Pragmas(Vec<Wanted>);

#[derive(Debug, Clone)]
struct Wanted {
    name: &'static str,
    scope: Scope,
    given: String,
    answer: String,
}

impl Pragmas {
    /// The settings of a configuration that [`validate`] has accepted.
    pub fn of(configuration: &Configuration) -> Self {
        let settings: Vec<(&str, &Value)> = configuration.below(PREFIX).collect();
        let wanted = PRAGMAS.iter().filter_map(|pragma| {
            let (_, value) = settings.iter().find(|(name, _)| *name == pragma.name)?;
            let (given, answer) = pragma.form.wanted(value).ok()?;
            Some(Wanted { name: pragma.name, scope: pragma.scope, given, answer })
        });
        Self(wanted.collect())
    }

    /// Applies the settings that are kept in a file to a new, empty one (`schema`: `main` or the
    /// name of an attached file), then those of the connection.
    pub fn create(&self, connection: &Connection, schema: &str) -> Result<(), EngineError> {
        self.apply(connection, schema, true)
    }

    /// Applies the settings of a connection and reads all of them back.
    pub fn connect(&self, connection: &Connection, schema: &str) -> Result<(), EngineError> {
        self.apply(connection, schema, false)
    }

    fn apply(&self, connection: &Connection, schema: &str, create: bool) -> Result<(), EngineError> {
        for wanted in &self.0 {
            if wanted.scope == Scope::Connection || create {
                set(connection, schema, wanted)?;
            }
        }
        // Read back last: one setting can change what became of another.
        for wanted in &self.0 {
            let got = get(connection, schema, wanted.name)?;
            if !got.eq_ignore_ascii_case(&wanted.answer) {
                return Err(EngineError::SettingIgnored {
                    setting: format!("{PREFIX}{}", wanted.name),
                    wanted: wanted.given.clone(),
                    got,
                });
            }
        }
        Ok(())
    }
}

fn set(connection: &Connection, schema: &str, wanted: &Wanted) -> Result<(), EngineError> {
    // Names and words come from our table, numbers were parsed: nothing here needs quoting.
    let sql = format!("PRAGMA {schema}.{} = {}", wanted.name, wanted.given);
    let doing = || format!("setting {PREFIX}{} = {}", wanted.name, wanted.given);
    let mut statement = connection.prepare(&sql).map_err(|error| super::failed(doing(), &error))?;
    let mut rows = statement.query([]).map_err(|error| super::failed(doing(), &error))?;
    while rows.next().map_err(|error| super::failed(doing(), &error))?.is_some() {}
    Ok(())
}

fn get(connection: &Connection, schema: &str, name: &str) -> Result<String, EngineError> {
    let answer = connection.query_row(&format!("PRAGMA {schema}.{name}"), [], |row| {
        Ok(match row.get::<_, rusqlite::types::Value>(0)? {
            rusqlite::types::Value::Integer(number) => number.to_string(),
            rusqlite::types::Value::Text(text) => text,
            _ => String::new(),
        })
    });
    match answer {
        Ok(answer) => Ok(answer),
        // A PRAGMA that SQLite does not know, or was built without, returns no row.
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok("no such setting".into()),
        Err(error) => Err(super::failed(format!("reading {PREFIX}{name}"), &error)),
    }
}

//! PRAGMAs as settings: checked before anything runs, applied, and read back.

use super::cell::text_of;
use super::failures::failed;
use Form::{Number, Position, Switch, Word};
use engine::{EngineError, Result, SettingsForm};
use experiment::{Configuration, DurabilityRule, Invalid, Risk, Value};
use rusqlite::Connection;

/// How a PRAGMA's value is written and read back.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// A choice of words; SQLite answers with the word.
    Word(&'static [&'static str]),
    /// A choice of words; SQLite answers with the position.
    Position(&'static [&'static str]),
    /// A whole number.
    Number,
    /// `true` or `false`; SQLite answers 1 or 0.
    Switch,
}

/// The PRAGMAs that change how SQLite stores, caches, locks or syncs
/// (<https://www.sqlite.org/pragma.html>), in the order in which they must be given:
/// the page size is fixed by the first write, which a change of journal mode makes.
const PRAGMAS: &[(&str, Form)] = &[
    ("page_size", Number),
    ("auto_vacuum", Position(&["none", "full", "incremental"])),
    ("locking_mode", Word(&["normal", "exclusive"])),
    ("journal_mode", Word(&["delete", "truncate", "persist", "memory", "wal", "off"])),
    ("synchronous", Position(&["off", "normal", "full", "extra"])),
    ("cache_size", Number),
    ("cache_spill", Number),
    ("mmap_size", Number),
    ("wal_autocheckpoint", Number),
    ("journal_size_limit", Number),
    ("temp_store", Position(&["default", "file", "memory"])),
    ("secure_delete", Switch),
    ("cell_size_check", Switch),
    ("automatic_index", Switch),
    ("read_uncommitted", Switch),
    ("threads", Number),
];

/// Pragmas that are kept in the file: given once, while it is empty. The others are given on every
/// connection.
const OF_THE_FILE: [&str; 2] = ["page_size", "auto_vacuum"];

/// With `normal`, SQLite's log is not synced at each commit.
pub const DURABILITY_RULES: &[DurabilityRule] = &[
    DurabilityRule {
        path: "target.settings.synchronous",
        risk: Risk::Commits,
        keeps: &["full", "extra", "2", "3"],
        applied: [Some("full"), Some("normal")],
    },
    DurabilityRule {
        path: "target.settings.journal_mode",
        risk: Risk::Pages,
        keeps: &["delete", "truncate", "persist", "wal"],
        applied: [None; 2],
    },
];

/// Statements for each connection; those of the file count while it is empty.
pub const FORMS: &[SettingsForm] = &[SettingsForm {
    name: "PRAGMA",
    write: |settings| {
        let lines = settings.iter().map(|(name, value)| format!("PRAGMA {name} = {value};\n"));
        lines.collect::<Vec<_>>().concat()
    },
}];

/// Where the settings stand in an experiment file.
const PREFIX: &str = "target.settings.";

/// Objections to the settings of a configuration.
pub fn validate(configuration: &Configuration) -> Vec<Invalid> {
    configuration
        .below(PREFIX)
        .filter_map(|(name, value)| {
            let known = PRAGMAS.iter().find(|(known, _)| *known == name);
            let message = if let Some((_, form)) = known {
                form.texts(value).err()?.to_string()
            } else {
                let known: Vec<&str> = PRAGMAS.iter().map(|(name, _)| *name).collect();
                experiment::unknown_name("SQLite setting", name, &known)
            };
            Some(Invalid::new(format!("{PREFIX}{name}"), message))
        })
        .collect()
}

/// Returns whether one connection locks out all others.
pub(crate) fn is_exclusive(configuration: &Configuration) -> bool {
    let mode = configuration.value("target.settings.locking_mode");
    matches!(mode, Some(Value::Text(mode)) if mode.eq_ignore_ascii_case("exclusive"))
}

/// A value that a setting of SQLite does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum ValueError {
    /// Another word.
    #[error("{}", experiment::unknown_name("value", word, known))]
    UnknownWord { word: String, known: &'static [&'static str] },
    /// Not a word.
    #[error("{value} is not allowed; expected {}", known.join(", "))]
    NotWord { value: String, known: &'static [&'static str] },
    /// Not a whole number.
    #[error("`{value}` is not a whole number")]
    NotNumber { value: String },
    /// Not a truth value.
    #[error("`{value}` is neither true nor false")]
    NotSwitch { value: String },
}

impl Form {
    /// The value as given to SQLite and as SQLite answers it.
    fn texts(self, value: &Value) -> Result<(String, String), ValueError> {
        match (self, value) {
            (Word(words) | Position(words), Value::Text(text)) => {
                let word = text.to_lowercase();
                let position = words.iter().position(|known| *known == word);
                let position = position
                    .ok_or_else(|| ValueError::UnknownWord { word: text.clone(), known: words })?;
                let answer =
                    if matches!(self, Word(_)) { word.clone() } else { position.to_string() };
                Ok((word, answer))
            }
            (Word(words) | Position(words), other) => {
                Err(ValueError::NotWord { value: other.to_string(), known: words })
            }
            (Number, Value::Integer(number)) => Ok((number.to_string(), number.to_string())),
            (Number, other) => Err(ValueError::NotNumber { value: other.to_string() }),
            (Switch, Value::Bool(on)) => Ok((u8::from(*on).to_string(), u8::from(*on).to_string())),
            (Switch, other) => Err(ValueError::NotSwitch { value: other.to_string() }),
        }
    }
}

/// A setting of a trial, ready to be applied to its connections.
#[derive(Debug, Clone)]
pub(crate) struct Pragma {
    name: &'static str,
    value: String,
    answer: String,
}

/// The settings of a configuration that [`validate`] has accepted.
pub fn from_settings(configuration: &Configuration) -> Vec<Pragma> {
    let pragma = PRAGMAS.iter().filter_map(|(name, form)| {
        let (value, answer) = form.texts(configuration.value(&format!("{PREFIX}{name}"))?).ok()?;
        Some(Pragma { name, value, answer })
    });
    pragma.collect()
}

/// Applies the settings of a connection to a data file (`schema`: `main` or the name of an attached
/// file), for a new, empty one those of the file too, and reads all of them back.
pub fn apply(
    pragmas: &[Pragma],
    connection: &Connection,
    schema: &str,
    is_new: bool,
) -> Result<()> {
    for Pragma { name, value, .. } in
        pragmas.iter().filter(|pragma| is_new || !OF_THE_FILE.contains(&pragma.name))
    {
        connection
            .pragma_update(Some(schema), name, value)
            .map_err(|error| failed(format!("setting {PREFIX}{name} = {value}"), &error))?;
    }
    if is_new && pragmas.iter().any(|pragma| OF_THE_FILE.contains(&pragma.name)) {
        // The first page fixes them, and in most journal modes nothing has written it yet.
        connection
            .execute_batch("BEGIN IMMEDIATE; COMMIT")
            .map_err(|error| failed("writing the first page".into(), &error))?;
    }
    // Read back last: one setting can change the effect of another.
    for Pragma { name, value, answer } in pragmas {
        let got = get(connection, schema, name)?;
        if !got.eq_ignore_ascii_case(answer) {
            let setting = format!("{PREFIX}{name}");
            return Err(EngineError::SettingIgnored { setting, expected: value.clone(), got });
        }
    }
    Ok(())
}

/// Pragmas that last in a file, as text.
pub(crate) fn file_text(pragmas: &[Pragma]) -> String {
    let text = pragmas
        .iter()
        .filter(|pragma| OF_THE_FILE.contains(&pragma.name) || pragma.name == "journal_mode")
        .map(|pragma| [pragma.name, " = ", &pragma.value, "\n"].concat());
    text.collect()
}

/// Applies settings that are stored in the file to a file that has data, where they differ: this
/// rewrites the file, which is not possible with a log.
pub fn rebuild(pragmas: &[Pragma], connection: &Connection) -> rusqlite::Result<()> {
    let mut differs = false;
    for Pragma { name, value, answer } in
        pragmas.iter().filter(|pragma| OF_THE_FILE.contains(&pragma.name))
    {
        let has: Option<String> =
            connection.pragma_query_value(None, name, |row| Ok(text_of(row.get_ref(0)?)))?;
        if has.as_ref() != Some(answer) {
            differs = true;
            connection.pragma_update(None, "journal_mode", "delete")?;
            connection.pragma_update(None, name, value)?;
        }
    }
    if differs { connection.execute_batch("VACUUM") } else { Ok(()) }
}

fn get(connection: &Connection, schema: &str, name: &str) -> Result<String> {
    let answer = connection.pragma_query_value(Some(schema), name, |row| {
        Ok(text_of(row.get_ref(0)?).unwrap_or_default())
    });
    match answer {
        // A PRAGMA that SQLite does not know, or was built without, returns no row.
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok("no such setting".into()),
        answer => answer.map_err(|error| failed(format!("reading {PREFIX}{name}"), &error)),
    }
}

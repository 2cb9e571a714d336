//! The server's settings of a configuration: `target.settings.*`.

use crate::private::Settings;
use experiment::{Configuration, Value};

/// The beginning of their paths in the experiment file.
const PREFIX: &str = "target.settings.";

/// Returns the path of a setting in the experiment file.
pub fn path(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Returns the settings of a configuration, with these words for false and true.
pub fn from_configuration(configuration: &Configuration, [off, on]: [&str; 2]) -> Settings {
    let text = |value: &Value| match value {
        Value::Bool(is_on) => (if *is_on { on } else { off }).to_owned(),
        other => other.to_string(),
    };
    configuration.below(PREFIX).map(|(name, value)| (name.to_owned(), text(value))).collect()
}

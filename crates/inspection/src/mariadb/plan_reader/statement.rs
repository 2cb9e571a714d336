//! The parts of a statement that both formats share.

use serde_json::Value;

/// The engine's name in statements.
pub const ENGINE: &str = "mariadb";

/// A member as a number. MySQL writes costs as texts.
pub fn number(value: &Value, key: &str) -> Option<f64> {
    let value = &value[key];
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number| number.is_finite())
}

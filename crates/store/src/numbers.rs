//! Floating-point figures, exactly.

use rusqlite::Row;
use std::fmt::Write;

/// A REAL column; SQLite keeps what is not a number as NULL.
pub(crate) fn real(row: &Row, column: usize) -> rusqlite::Result<f64> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

/// A JSON array with the shortest digits that read back to the same bits; `null` for what is not
/// a number and, as SQLite itself does, `9e999` for infinity.
pub(crate) fn to_json(values: &[f64]) -> String {
    let mut json = String::with_capacity(2 + values.len() * 8);
    json.push('[');
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            json.push(',');
        }
        // Writing to memory cannot fail.
        let _ = match *value {
            value if value.is_nan() => write!(json, "null"),
            value if value.is_infinite() => write!(json, "{}9e999", if value < 0.0 { "-" } else { "" }),
            value => write!(json, "{value:?}"),
        };
    }
    json.push(']');
    json
}

/// Reads what [`to_json`] writes.
pub(crate) fn from_json(json: &str) -> Result<Vec<f64>, String> {
    let inner = json.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inner = inner.ok_or_else(|| "not an array of numbers".to_owned())?.trim();
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    let number = |text: &str| match text.trim() {
        "null" => Ok(f64::NAN),
        text => text.parse().map_err(|_| format!("{text:?} is not a number")),
    };
    inner.split(',').map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::{from_json, to_json};

    #[test]
    fn json_keeps_every_bit() {
        let values = [
            0.1 + 0.2,
            -0.0,
            1.0,
            1e300,
            5e-324,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let json = to_json(&values);
        let back = from_json(&json).unwrap();
        assert_eq!(back.len(), values.len());
        for (back, value) in back.iter().zip(values) {
            assert!(
                back.to_bits() == value.to_bits() || back.is_nan() && value.is_nan(),
                "{value} in {json}"
            );
        }
        assert_eq!(from_json(&to_json(&[])).unwrap(), Vec::<f64>::new());
    }

    #[test]
    fn sqlite_reads_it_as_json() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let json = to_json(&[1.5, f64::NAN, 1e300, f64::INFINITY]);
        let sum: f64 = connection
            .query_row("SELECT sum(value) FROM json_each(?1) WHERE value < 9e999", [json], |row| row.get(0))
            .unwrap();
        assert_eq!(sum.to_bits(), (1.5_f64 + 1e300).to_bits());
    }

    #[test]
    fn junk_is_refused() {
        for junk in ["", "[", "1,2", "[1;2]", "[1,]", "[a]"] {
            from_json(junk).unwrap_err();
        }
    }
}

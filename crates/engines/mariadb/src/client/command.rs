//! Client commands: each restarts with packet number 0
//! (<https://mariadb.com/kb/en/2-text-protocol/>,
//! <https://mariadb.com/kb/en/3-binary-protocol-prepared-statements/>).

use crate::client::packet::{put_packet, put_text};

/// `COM_QUIT`, as a whole packet.
pub(crate) const QUIT: &[u8] = &[1, 0, 0, 0, 0x01];
const QUERY: u8 = 0x03;
const STMT_PREPARE: u8 = 0x16;
const STMT_EXECUTE: u8 = 0x17;
const STMT_BULK_EXECUTE: u8 = 0xFA;

/// The types of parameters follow (`STMT_BULK_FLAG_CLIENT_SEND_TYPES`).
const SENDS_TYPES: u16 = 128;

/// A text of one or more statements.
pub fn query(out: &mut Vec<u8>, sql: &str) {
    put_packet(out, 0, |out| {
        out.push(QUERY);
        out.extend_from_slice(sql.as_bytes());
    });
}

/// Prepares a statement.
pub fn prepare(out: &mut Vec<u8>, sql: &str) {
    put_packet(out, 0, |out| {
        out.push(STMT_PREPARE);
        out.extend_from_slice(sql.as_bytes());
    });
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating point number.
    Double(f64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// The type (<https://mariadb.com/kb/en/result-set-packets/#field-types>), and no flag.
    fn type_bytes(self) -> [u8; 2] {
        match self {
            Self::Null => [6, 0],
            Self::Bool(_) => [1, 0],
            Self::Integer(_) => [8, 0],
            Self::Double(_) => [5, 0],
            Self::Text(_) => [254, 0],
            Self::Bytes(_) => [252, 0],
        }
    }

    fn put(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => {}
            Self::Bool(value) => out.push(value.into()),
            Self::Integer(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Double(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Text(text) => put_text(out, text.as_bytes()),
            Self::Bytes(bytes) => put_text(out, bytes),
        }
    }
}

/// Runs a prepared statement.
pub fn execute<'a>(
    out: &mut Vec<u8>,
    statement: u32,
    values: impl Iterator<Item = Value<'a>> + Clone,
) {
    put_packet(out, 0, |out| {
        out.push(STMT_EXECUTE);
        out.extend_from_slice(&statement.to_le_bytes());
        // No cursor; once.
        out.push(0);
        out.extend_from_slice(&1_u32.to_le_bytes());
        let nulls_at = out.len();
        for (number, value) in values.clone().enumerate() {
            if number.is_multiple_of(8) {
                out.push(0);
            }
            if value == Value::Null {
                out[nulls_at + number / 8] |= 1 << (number % 8);
            }
        }
        if out.len() == nulls_at {
            return;
        }
        // Types follow: those of one execution may differ from those of the one before.
        out.push(1);
        values.clone().for_each(|value| out.extend_from_slice(&value.type_bytes()));
        values.for_each(|value| value.put(out));
    });
}

/// Runs a prepared statement with one parameter once for each value: MariaDB has this since 10.2.
/// The values are not NULL and have the same type.
pub(crate) fn execute_bulk<'a>(
    out: &mut Vec<u8>,
    statement: u32,
    mut values: impl Iterator<Item = Value<'a>>,
) {
    let Some(first) = values.next() else { return };
    put_packet(out, 0, |out| {
        out.push(STMT_BULK_EXECUTE);
        out.extend_from_slice(&statement.to_le_bytes());
        out.extend_from_slice(&SENDS_TYPES.to_le_bytes());
        out.extend_from_slice(&first.type_bytes());
        for value in [first].into_iter().chain(values) {
            // A value follows.
            out.push(0);
            value.put(out);
        }
    });
}

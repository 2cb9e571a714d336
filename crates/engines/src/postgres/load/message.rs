//! Messages of the frontend/backend protocol, version 3
//! (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).

use crate::Parameter;
use std::io::Write as _;

/// Formats of a message's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text = 0,
    Binary = 1,
}

/// Appends a message whose body `body` writes.
fn message(out: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    with_length(out, 4, body);
}

/// Appends a length, which counts `itself` bytes of its own, and what `body` writes.
fn with_length(out: &mut Vec<u8>, itself: usize, body: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - at - 4 + itself) as i32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Name under which statement number `statement` is prepared.
fn name(out: &mut Vec<u8>, statement: usize) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "s{statement}");
    out.push(0);
}

/// Prepares a statement; the server finds out the types of its parameters.
pub fn parse(out: &mut Vec<u8>, statement: usize, sql: &str) {
    message(out, b'P', |out| {
        name(out, statement);
        text(out, sql);
        out.extend_from_slice(&0_i16.to_be_bytes());
    });
}

/// Binds parameters, which `values` writes with [`binary`] or [`value`], to a prepared statement.
/// Results come as text.
pub fn bind(
    out: &mut Vec<u8>,
    statement: usize,
    (format, count): (Format, usize),
    values: impl FnOnce(&mut Vec<u8>),
) {
    message(out, b'B', |out| {
        text(out, "");
        name(out, statement);
        // One format for all parameters.
        out.extend_from_slice(&1_i16.to_be_bytes());
        out.extend_from_slice(&(format as i16).to_be_bytes());
        out.extend_from_slice(&(count as i16).to_be_bytes());
        values(out);
        out.extend_from_slice(&0_i16.to_be_bytes());
    });
}

/// A parameter's value in binary format.
pub fn binary(out: &mut Vec<u8>, bytes: &[u8]) {
    with_length(out, 0, |out| out.extend_from_slice(bytes));
}

/// A parameter's value in text format. Floating point numbers have the 15 digits that pgbench
/// gives them (`DBL_DIG`).
pub fn value(out: &mut Vec<u8>, parameter: &Parameter) {
    if *parameter == Parameter::Null {
        out.extend_from_slice(&(-1_i32).to_be_bytes());
        return;
    }
    with_length(out, 0, |out| {
        // Writing to a vector cannot fail.
        let _ = match parameter {
            Parameter::Null => Ok(()),
            Parameter::Bool(value) => write!(out, "{value}"),
            Parameter::Integer(value) => write!(out, "{value}"),
            Parameter::Double(value) => write!(out, "{value:.14e}"),
            Parameter::Text(value) => write!(out, "{value}"),
        };
    });
}

/// Asks for the names of the bound statement's columns.
pub fn describe(out: &mut Vec<u8>) {
    message(out, b'D', |out| out.extend_from_slice(b"P\0"));
}

/// Runs the bound statement.
pub fn execute(out: &mut Vec<u8>) {
    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
}

/// Ends a series of messages: the server answers it with ReadyForQuery.
pub fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(b"S\0\0\0\x04");
}

/// A text of one or more statements.
pub fn query(out: &mut Vec<u8>, sql: &str) {
    message(out, b'Q', |out| text(out, sql));
}

/// A piece of a bulk load.
pub fn copy_data(out: &mut Vec<u8>, data: impl FnOnce(&mut Vec<u8>)) {
    message(out, b'd', data);
}

/// The end of a bulk load.
pub fn copy_done(out: &mut Vec<u8>) {
    out.extend_from_slice(b"c\0\0\0\x04");
}

/// The message at the beginning of `bytes`, if all of it is there: its kind and body.
pub fn first(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let (length, _) = rest.split_first_chunk::<4>()?;
    // The length counts itself.
    let length = u32::from_be_bytes(*length) as usize;
    Some((kind, rest.get(4..length.max(4))?))
}

/// Names of the columns of a RowDescription.
pub fn column_names(body: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = body.get(2..).unwrap_or_default();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        names.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        // Table, column, type, size, modifier, format: 18 bytes.
        rest = rest.get(end + 19..).unwrap_or_default();
    }
    names
}

/// The cells of a DataRow.
pub fn cells(body: &[u8]) -> Vec<Option<String>> {
    let mut cells = Vec::new();
    let mut rest = body.get(2..).unwrap_or_default();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = i32::from_be_bytes(*length);
        let bytes = usize::try_from(length).ok().and_then(|length| after.get(..length));
        rest = &after[bytes.map_or(0, <[u8]>::len)..];
        cells.push(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
    }
    cells
}

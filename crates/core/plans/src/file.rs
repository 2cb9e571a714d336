//! Files: what they are by their contents, and their encoding.

use crate::{PlanError, Statement, mariadb, mysql, postgres, postgres_text, showplan};
use serde_json::Value;

/// Larger files are not read. The largest plan of SQL Server is 2 GB, of those that people look at
/// 20 MB.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// Operators in operators; SQL Server itself keeps plans of more than 128 levels as text only.
pub(crate) const DEPTH_MAX: usize = 200;

/// The statements of a file with their plans, in its order.
///
/// # Errors
///
/// [`PlanError`] when it holds no plan, or a damaged one.
pub fn read(bytes: &[u8]) -> Result<Vec<Statement>, PlanError> {
    let text = decoded(bytes)?;
    let text = text.trim();
    if text.starts_with('<') {
        return if text.contains("<ShowPlanXML") {
            showplan::read(text)
        } else {
            Err(PlanError::Unknown)
        };
    }
    if let Some(statements) = postgres_text::log(text) {
        return Ok(statements);
    }
    let unframed = without_frame(text);
    if let Some(json) = json_in(&unframed) {
        return documents(json);
    }
    postgres_text::read(&unframed).map(|statement| vec![statement])
}

/// By the byte order mark, or by where the zeros of ASCII characters lie. What an XML declaration
/// says of the encoding is often false: a tool has converted the text since.
fn decoded(bytes: &[u8]) -> Result<String, PlanError> {
    let utf16 = |of_bytes: fn([u8; 2]) -> u16, bytes: &[u8]| {
        let units: Vec<u16> =
            bytes.chunks_exact(2).map(|pair| of_bytes([pair[0], pair[1]])).collect();
        String::from_utf16(&units).map_err(|_| PlanError::Encoding)
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(u16::from_le_bytes, rest),
        [0xFE, 0xFF, rest @ ..] => utf16(u16::from_be_bytes, rest),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        [first, 0, ..] if first.is_ascii() => utf16(u16::from_le_bytes, bytes),
        [0, first, ..] if first.is_ascii() => utf16(u16::from_be_bytes, bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<String, PlanError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| PlanError::Encoding)
}

/// What psql prints around a plan: its heading, the line below it, the sign of a line that goes on,
/// and the number of rows.
fn without_frame(text: &str) -> String {
    let Some(start) = text.find("QUERY PLAN") else { return text.to_owned() };
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
    let body = &text[line_end(start)..];
    let lines = body.lines().filter(|line| {
        let line = line.trim();
        let is_count =
            line.starts_with('(') && (line.ends_with(" rows)") || line.ends_with(" row)"));
        !is_count && (line.is_empty() || line.chars().any(|c| c != '-'))
    });
    let lines = lines.map(|line| line.trim_end().strip_suffix('+').map_or(line, str::trim_end));
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// JSON, also behind the name of a column (`EXPLAIN: {`, as of a client's vertical output).
fn json_in(text: &str) -> Option<&str> {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['{', '[']) {
        return Some(trimmed);
    }
    let at = text.find('{')?;
    let before = text[..at].trim_end();
    (before.ends_with(':')
        && ["query_block", "query_plan"].iter().any(|key| text[at..].contains(key)))
    .then(|| &text[at..])
}

/// JSON documents, one after the other.
fn documents(text: &str) -> Result<Vec<Statement>, PlanError> {
    let mut statements = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match document {
            Ok(document) => statements.extend(of_document(&document)?),
            // Behind a document of a client there may be other output.
            Err(_) if !statements.is_empty() => break,
            Err(error) => return Err(PlanError::of_json("JSON", &error)),
        }
    }
    Ok(statements)
}

/// The statements of one JSON document.
pub(crate) fn of_document(document: &Value) -> Result<Vec<Statement>, PlanError> {
    let all = document.as_array().map_or(std::slice::from_ref(document), Vec::as_slice);
    let statements: Vec<Statement> = all
        .iter()
        .filter_map(|one| {
            one.get("Plan")
                .map(|_| postgres::read(one))
                .or_else(|| one.get("query_block").map(|_| mariadb::read(one)))
                .or_else(|| one.get("query_plan").map(|_| mysql::read(one)))
        })
        .collect::<Result<_, _>>()?;
    if statements.is_empty() { Err(PlanError::Unknown) } else { Ok(statements) }
}

#[cfg(test)]
mod tests {
    use super::{decoded, read};
    use crate::PlanError;

    #[test]
    fn the_encoding_is_told_by_the_bytes() {
        let text = "<?xml version=\"1.0\" encoding=\"utf-16\"?><a>é</a>";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xEF\xBB\xBF".as_slice(), text.as_bytes()].concat(),
            [b"\xFF\xFE".as_slice(), &little].concat(),
            [b"\xFE\xFF".as_slice(), &big].concat(),
            little,
            big,
        ] {
            assert_eq!(decoded(&bytes).as_deref(), Ok(text));
        }
        assert_eq!(decoded(b"caf\xE9 <"), Err(PlanError::Encoding));
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        for text in ["", "SELECT 1", "<html></html>", "{}", "[]", "[1]", "{\"a\": 1}"] {
            assert_eq!(read(text.as_bytes()), Err(PlanError::Unknown), "{text}");
        }
        let cut = read(b"[{\"Plan\": {\"Node Type\": \"Seq Sc");
        assert!(matches!(cut, Err(PlanError::Damaged { .. })), "{cut:?}");
    }
}

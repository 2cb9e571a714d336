//! Hints, which the emulator does not know: they are checked by the documented syntax and taken out
//! of the statement
//! (<https://learn.microsoft.com/sql/t-sql/queries/hints-transact-sql-table>,
//! <https://learn.microsoft.com/sql/t-sql/queries/hints-transact-sql-query>).

use crate::catalog::error;
use iridium_core::error::DbError;

/// Query hints, as far as they have no figure.
const OF_A_QUERY: [&str; 5] = [
    "LOOP JOIN",
    "HASH JOIN",
    "MERGE JOIN",
    "FORCE ORDER",
    "USE HINT('ENABLE_PARALLEL_PLAN_PREFERENCE')",
];

/// Returns a statement without its hints; fails on one that is not documented.
pub fn without(sql: &str) -> Result<String, DbError> {
    let (sql, query_hints) = match sql.rsplit_once(" OPTION (") {
        Some((rest, hints)) => (rest, hints.strip_suffix(')').ok_or_else(|| syntax(hints))?),
        None => (sql, ""),
    };
    let mut parts = query_hints.split(", ").filter(|part| !part.is_empty());
    if let Some(unknown) = parts.find(|part| !is_of_a_query(part)) {
        return Err(syntax(unknown));
    }
    let Some((before, rest)) = sql.split_once(" WITH (") else { return Ok(sql.to_owned()) };
    if !["INDEX(", "FORCE"].iter().any(|word| rest.starts_with(word)) {
        return Ok(sql.to_owned());
    }
    let end = rest.find(") WHERE").or_else(|| rest.ends_with(')').then(|| rest.len() - 1));
    let end = end.ok_or_else(|| syntax(rest))?;
    let hints: Vec<&str> = rest[..end].split(", ").collect();
    if let Some(unknown) = hints.iter().find(|hint| !is_of_a_table(hint)) {
        return Err(syntax(unknown));
    }
    if hints.contains(&"FORCESEEK") && hints.contains(&"FORCESCAN") {
        return Err(error(1047, "Conflicting locking hints specified.".into()));
    }
    Ok(format!("{before}{}", &rest[end + 1..]))
}

fn is_of_a_query(hint: &str) -> bool {
    let degree = hint.strip_prefix("MAXDOP ").map(|degree| degree.parse::<u16>().is_ok());
    degree.unwrap_or_else(|| OF_A_QUERY.contains(&hint))
}

fn is_of_a_table(hint: &str) -> bool {
    let index = hint.strip_prefix("INDEX(").and_then(|name| name.strip_suffix(')'));
    match index {
        Some(name) => name == "0" || (name.starts_with('[') && name.ends_with(']')),
        None => ["FORCESEEK", "FORCESCAN"].contains(&hint),
    }
}

fn syntax(near: &str) -> DbError {
    error(102, format!("Incorrect syntax near '{near}'."))
}

//! DuckDB's description of a statement: its plan, the blocks of the table, and the profile of one
//! run by operator.

use super::dialect::literal;
use super::library::{Answered, Connection};
use engine::planned::each;
use engine::{Explained, NoPlan, PlanRequest, Planned};
use observations::Fact;
use serde_json::Value;
use std::collections::BTreeMap;
use work::{Parameter, Table, TableFormat};

/// Explains a statement on a table.
pub fn explain(
    connection: &Connection,
    sql: &str,
    table: &Table,
    analyze: bool,
) -> Answered<Explained> {
    let name = literal(table.name);
    let stored = format!(
        "SELECT count(DISTINCT block_id) FROM pragma_storage_info({name}) WHERE persistent"
    );
    // A Parquet file has no blocks of the database.
    let stored = (table.storage.format == TableFormat::Table).then_some(stored);
    let mut explained = Explained {
        plan: Some(Planned {
            text: answer(connection, &format!("EXPLAIN {sql}"), 1)?,
            ..Planned::default()
        }),
        pages: match stored {
            Some(sql) => answer(connection, &sql, 0)?.parse().ok(),
            None => None,
        },
        page_bytes: answer(connection, "SELECT block_size FROM pragma_database_size()", 0)?
            .parse()
            .ok(),
        ..Explained::default()
    };
    // Without values for its parameters a statement would do something else.
    if analyze && connection.prepare(sql)?.parameters() == 0 {
        explained.analysis = Some(answer(connection, &format!("EXPLAIN ANALYZE {sql}"), 1)?);
        let profile = answer(connection, &format!("EXPLAIN (ANALYZE, FORMAT JSON) {sql}"), 1)?;
        explained.counters = counters(&profile);
    }
    Ok(explained)
}

/// The plans of the user's statements, for the values that the load sends.
pub fn plans(
    connection: &Connection,
    plan_requests: &[PlanRequest],
) -> Vec<Result<Planned, NoPlan>> {
    each(plan_requests, |plan_request| {
        let sql = plan_request.statement.sql(|number| format!("${number}"));
        let values = plan_request
            .values
            .clone()
            .unwrap_or_else(|| vec![Parameter::Null; plan_request.parameters()]);
        let plan = answer_for(connection, &format!("EXPLAIN (FORMAT JSON) {sql}"), 1, &values);
        plan.map(|plan| planned(&plan)).map_err(NoPlan::refused)
    })
}

/// A line for each operator, indented below the one that it works for, with the table that it
/// reads.
fn planned(plan: &str) -> Planned {
    let Ok(json) = serde_json::from_str::<Value>(plan) else {
        return Planned { text: plan.to_owned(), ..Planned::default() };
    };
    let (mut lines, mut left) = (Vec::new(), Vec::new());
    let nodes = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let mut rows = None;
    left.extend(nodes(&json).into_iter().rev().map(|node| (0, node)));
    while let Some((depth, node)) = left.pop() {
        let (name, more) = (node["name"].as_str().unwrap_or("?").trim(), &node["extra_info"]);
        let detail = ["Table", "Text", "Type"]
            .iter()
            .filter_map(|key| more[*key].as_str())
            .collect::<Vec<_>>()
            .join(", ");
        let detail = if detail.is_empty() { detail } else { format!(" on {detail}") };
        rows = rows.or_else(|| more["Estimated Cardinality"].as_str()?.parse::<f64>().ok());
        lines.push(format!("{}{name}{detail}", "  ".repeat(depth)));
        left.extend(nodes(&node["children"]).into_iter().rev().map(|child| (depth + 1, child)));
    }
    Planned { text: lines.join("\n"), rows, cost: None }
}

/// A cell of the last row that a statement answers with; of any values for its parameters.
fn answer(connection: &Connection, sql: &str, column: u64) -> Answered<String> {
    let parameters = connection.prepare(sql)?.parameters();
    answer_for(connection, sql, column, &vec![Parameter::Integer(1); parameters as usize])
}

fn answer_for(
    connection: &Connection,
    sql: &str,
    column: u64,
    values: &[Parameter],
) -> Answered<String> {
    let mut statement = connection.prepare(sql)?;
    for (number, value) in (1..).zip(values) {
        statement.bind(number, value)?;
    }
    let mut answer = statement.execute()?;
    let last = answer.rows().saturating_sub(1);
    Ok(answer.cell(column, last).unwrap_or_default())
}

/// Seconds in each kind of operator, of all threads together, and the rows that were scanned, from
/// a profile: `{"children": [{"operator_name": ..., "operator_timing": ...,
/// "operator_rows_scanned": ..., "children": ...}]}`.
fn counters(profile: &str) -> Vec<Fact> {
    let Ok(profile) = serde_json::from_str::<Value>(profile) else { return Vec::new() };
    let (mut seconds, mut scanned, mut left) =
        (BTreeMap::<String, f64>::new(), 0.0, vec![&profile]);
    while let Some(node) = left.pop() {
        left.extend(node["children"].as_array().into_iter().flatten());
        scanned += node["operator_rows_scanned"].as_f64().unwrap_or(0.0);
        if let (Some(name), Some(timing)) =
            (node["operator_name"].as_str(), node["operator_timing"].as_f64())
        {
            *seconds.entry(name.trim().to_lowercase()).or_default() += timing;
        }
    }
    let operators = seconds.into_iter().filter(|(name, _)| !name.starts_with("explain"));
    let mut facts: Vec<Fact> = operators
        .map(|(name, value)| Fact { name: format!("operator_{name}"), unit: "s".into(), value })
        .collect();
    facts.push(Fact { name: "rows_scanned".into(), unit: String::new(), value: scanned });
    facts
}

#[cfg(test)]
mod tests {
    use super::counters;

    #[test]
    fn a_profile_is_summed_by_operator() {
        let profile = r#"{"latency": 0.5, "children": [{"operator_name": "EXPLAIN_ANALYZE",
            "operator_timing": 0.0, "children": [
            {"operator_name": "HASH_JOIN", "operator_timing": 0.25, "operator_rows_scanned": 0,
            "children": [
                {"operator_name": "SEQ_SCAN ", "operator_timing": 0.5,
                "operator_rows_scanned": 1000, "children": []},
                {"operator_name": "SEQ_SCAN ", "operator_timing": 0.125,
                "operator_rows_scanned": 24, "children": []}]}]}]}"#;
        let facts: Vec<(String, f64)> =
            counters(profile).into_iter().map(|fact| (fact.name, fact.value)).collect();
        let expected =
            [("operator_hash_join", 0.25), ("operator_seq_scan", 0.625), ("rows_scanned", 1024.0)];
        assert_eq!(facts, expected.map(|(name, value)| (name.to_owned(), value)));
        assert!(counters("not JSON").is_empty());
    }

    /// DuckDB's profile as a crashing or foreign library may give it: facts are finite for any
    /// values.
    #[test]
    fn no_profile_gives_a_figure_that_is_none() {
        let whole = br#"{"children": [{"operator_name": "SEQ_SCAN", "operator_timing": 0.5,
            "operator_rows_scanned": 7}]}"#;
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            "\"",
            ",",
            "null",
            "-1e308",
            "1e999",
            "nan",
            "\\u0000",
            "\u{1b}[2J",
            "children",
        ];
        let mut number = 1_u64;
        let mut below = |end: usize| {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (number >> 33) as usize % end
        };
        for _ in 0..5000 {
            let mut profile = whole.to_vec();
            for _ in 0..=below(3) {
                let (at, piece) = (below(profile.len()), pieces[below(pieces.len())]);
                profile.splice(at..(at + below(9)).min(profile.len()), piece.bytes());
            }
            let facts = counters(&String::from_utf8_lossy(&profile));
            assert!(facts.iter().all(|fact| fact.value.is_finite()), "{facts:?}");
        }
        let deep = [r#"{"children": ["#.repeat(100_000), "]}".repeat(100_000)].concat();
        assert!(counters(&deep).is_empty());
    }
}

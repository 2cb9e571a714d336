//! EXPLAIN and EXPLAIN ANALYZE FORMAT=JSON of MySQL in the second version of the format
//! (`explain_json_format_version = 2`), a tree of operators; the first version is that of `blocks`
//! (<https://dev.mysql.com/doc/refman/9.4/en/explain.html>).

use crate::plans::{
    Access, Kind, Object, Operator, Plan, PlanError, Predicate, Role, Rows, Statement, number,
};
use serde_json::Value;
use work::sql::Syntax;

/// A statement of `{"query_plan": ...}`. Statements for which the server had no plan, such as a
/// change of one table, have none.
pub fn read(document: &Value) -> Result<Statement, PlanError> {
    let node = &document["query_plan"];
    let is_planned = node.get("access_type").is_some();
    let root = if is_planned { Some(operator(node, 1.0, 0)?) } else { None };
    let text = |key: &str| document[key].as_str().unwrap_or_default();
    Ok(Statement {
        text: text("query").into(),
        kind: if text("query_type") == "select" { "SELECT" } else { "CHANGE" }.into(),
        plan: root.map(|root| Plan {
            cost: root.tree().iter().find_map(|(_, operator)| operator.cost),
            elapsed_ms: root.elapsed_ms,
            degree: Some(1),
            root: Some(root),
            ..Plan::default()
        }),
        ..Statement::default()
    })
}

/// An operator with its inputs, which is expected to run `loops` times. The server's figures are of
/// one run.
fn operator(node: &Value, loops: f64, depth: usize) -> Result<Operator, PlanError> {
    PlanError::check_depth(depth)?;
    let text = |key: &str| node[key].as_str().unwrap_or_default();
    let kind =
        kind_of_operator(text("access_type"), text("index_access_type"), text("join_algorithm"));
    let mut inputs: Vec<Operator> = Vec::new();
    for input in node["inputs"].as_array().into_iter().flatten() {
        // The second input of such a join is read for each row of the first.
        let outer = inputs
            .first()
            .filter(|_| kind == Kind::NestedLoops)
            .and_then(|first| first.rows.estimated);
        inputs.push(operator(input, outer.unwrap_or(loops), depth + 1)?);
    }
    let runs = number(node, "actual_loops");
    let estimated = number(node, "estimated_rows").map(|rows| rows * runs.unwrap_or(loops));
    let actual = number(node, "actual_rows").zip(runs).map(|(rows, runs)| rows * runs);
    let rows = Rows { estimated, actual };
    // A table that operators below have made does not belong to a database.
    let is_stored = inputs.is_empty() && !text("schema_name").is_empty();
    let access = kind.access().filter(|_| is_stored || kind == Kind::Modify);
    let object = Object {
        database: text("schema_name").into(),
        table: text("table_name").into(),
        index: node["index_name"].as_str().map(str::to_owned),
        ..Object::default()
    };
    Ok(Operator {
        name: name(text("operation")).into(),
        detail: if node["covering"].as_bool() == Some(true) {
            "only the index".into()
        } else {
            String::new()
        },
        objects: if object.table.is_empty() { Vec::new() } else { vec![object] },
        access,
        cost: number(node, "estimated_total_cost").map(|cost| cost * loops),
        rows,
        rows_read: if access.is_some_and(|access| access != Access::Change) {
            rows
        } else {
            Rows::default()
        },
        executions: runs,
        elapsed_ms: number(node, "actual_last_row_ms").zip(runs).map(|(ms, runs)| ms * runs),
        predicates: predicates(node),
        kind,
        inputs,
        ..Operator::default()
    })
}

/// The name of an operation, without its object and the constants there:
/// `Index lookup on o using customer (customer = 7)`.
fn name(operation: &str) -> &str {
    let ends = [": ", " on ", " (", " using "].iter().filter_map(|end| operation.find(end));
    ends.min().map_or(operation, |end| &operation[..end])
}

fn predicates(node: &Value) -> Vec<Predicate> {
    [
        ("lookup_condition", Role::Seek),
        ("ranges", Role::Seek),
        ("pushed_index_condition", Role::Filter),
        ("condition", Role::Filter),
        ("hash_condition", Role::Join),
    ]
    .into_iter()
    .filter_map(|(key, role)| {
        let listed = node[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        let parts: Vec<&str> = node[key].as_str().into_iter().chain(listed).collect();
        let text = parts.join(if key == "ranges" { " OR " } else { " AND " });
        (!text.is_empty()).then(|| Predicate::new(role, text, Syntax::MariaDb))
    })
    .collect()
}

/// The kind of an operator, by its kinds of access and of join.
fn kind_of_operator(access: &str, index_access: &str, join: &str) -> Kind {
    match access {
        "table" => Kind::TableScan,
        "index" if index_access == "index_scan" => Kind::IndexScan,
        "index" => Kind::IndexSeek,
        "join" if join == "hash" => Kind::HashJoin,
        "join" => Kind::NestedLoops,
        "filter" => Kind::Filter,
        "sort" => Kind::Sort,
        "limit" => Kind::Limit,
        "aggregate" | "window" | "remove_duplicates" => Kind::Aggregate,
        "temp_table_aggregate" => Kind::HashAggregate,
        "materialize" => Kind::Spool,
        "append" | "rowid_intersection" | "rowid_union" => Kind::Append,
        "materialized_table_function" => Kind::Function,
        "rows_fetched_before_execution" | "zero_rows" | "constant_row" => Kind::Constant,
        "insert_values" | "insert" | "replace_values" | "update" | "delete" => Kind::Modify,
        _ => Kind::Other,
    }
}

//! EXPLAIN (FORMAT JSON)
//! (<https://www.postgresql.org/docs/current/sql-explain.html>).

use super::node::{
    DROPPED, ENGINE, PREDICATES, Run, compiled, degree, finish, kind_of, object, parameters, spill,
};
use plans::{DEPTH_MAX, Operator, Plan, PlanError, Predicate, Statement};
use serde_json::Value;

/// A statement of `[{"Plan": ...}]`, with `Query Text` from `auto_explain`; `None` of another
/// document.
pub fn read(document: &Value) -> Option<Result<Statement, PlanError>> {
    document.get("Plan").map(|plan| statement(document, plan))
}

fn statement(document: &Value, plan: &Value) -> Result<Statement, PlanError> {
    let root = read_node(plan, 1.0, 0)?;
    let jit = document["JIT"]["Timing"]["Total"].as_f64();
    Ok(Statement {
        engine: ENGINE.to_owned(),
        text: document["Query Text"].as_str().map(str::to_owned).unwrap_or_default(),
        kind: kind_of(&root).into(),
        query_hash: document["Query Identifier"].as_i64().map(|id| id.to_string()),
        plan_hash: None,
        damage: None,
        plan: Some(Plan {
            cost: root.cost,
            elapsed_ms: document["Execution Time"].as_f64().or(root.elapsed_ms),
            planning_ms: document["Planning Time"].as_f64(),
            degree: Some(degree(&root)),
            parameters: document["Query Parameters"].as_str().map(parameters).unwrap_or_default(),
            warnings: jit.map(|ms| compiled(&format!("{ms} ms"))).into_iter().collect(),
            root: Some(root),
            ..Plan::default()
        }),
    })
}

/// `processes` run this node at the same time: its loops are theirs together, and its time is the
/// mean of one.
fn read_node(node: &Value, processes: f64, depth: usize) -> Result<Operator, PlanError> {
    if depth > DEPTH_MAX {
        return Err(PlanError::TooDeep(DEPTH_MAX));
    }
    let text = |key: &str| node[key].as_str().unwrap_or_default();
    let number = |key: &str| node[key].as_f64();
    let node_type = text("Node Type");
    // As in text format.
    let name = match (node_type, text("Operation"), text("Strategy")) {
        ("ModifyTable", operation, _) if !operation.is_empty() => operation,
        ("Aggregate", _, "Hashed") => "HashAggregate",
        ("Aggregate", _, "Mixed") => "MixedAggregate",
        ("Aggregate", _, "Sorted") => "GroupAggregate",
        _ => node_type,
    };
    let workers = number("Workers Launched").or(number("Workers Planned"));
    let below = workers.map_or(processes, |workers| workers + 1.0);
    let inputs = node["Plans"].as_array().map_or(&[][..], Vec::as_slice);
    let inputs = inputs
        .iter()
        .map(|input| read_node(input, below, depth + 1))
        .collect::<Result<Vec<_>, _>>()?;
    let mut operator = Operator {
        name: name.into(),
        detail: match (workers, text("Partial Mode"), text("Join Type")) {
            (Some(workers), ..) => format!("{workers} workers"),
            (None, "" | "Simple", "Inner") => String::new(),
            (None, "" | "Simple", join) => join.into(),
            (None, partial, _) => partial.into(),
        },
        objects: object(text("Schema"), text("Relation Name"), text("Index Name")),
        cost: number("Total Cost"),
        is_parallel: node["Parallel Aware"].as_bool() == Some(true) || processes > 1.0,
        predicates: PREDICATES
            .iter()
            .map(|(key, role)| Predicate { role: *role, text: text(key).to_owned() })
            .filter(|predicate| !predicate.text.is_empty())
            .collect(),
        pages: number("Shared Hit Blocks").zip(number("Shared Read Blocks")),
        inputs,
        ..Operator::default()
    };
    let run = number("Actual Rows").zip(number("Actual Loops")).map(|(rows, loops)| Run {
        rows,
        loops,
        ms: number("Actual Total Time"),
        dropped: DROPPED.iter().filter_map(|key| number(key)).sum(),
    });
    finish(&mut operator, number("Plan Rows"), run, processes);
    let spilled = text("Sort Space Type") == "Disk" || text("Sort Method").starts_with("external");
    if spilled {
        operator.warnings.push(spill(&format!("{} kB", number("Sort Space Used").unwrap_or(0.0))));
    }
    if number("Hash Batches").is_some_and(|batches| batches > 1.0) {
        operator
            .warnings
            .push(spill(&format!("{} batches", number("Hash Batches").unwrap_or(0.0))));
    }
    if let Some(kb) = number("Disk Usage").filter(|kb| *kb > 0.0) {
        operator.warnings.push(spill(&format!("{kb} kB")));
    }
    Ok(operator)
}

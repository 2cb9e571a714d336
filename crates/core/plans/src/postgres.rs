//! EXPLAIN (FORMAT JSON) of PostgreSQL
//! (<https://www.postgresql.org/docs/current/sql-explain.html>).

use crate::file::DEPTH_MAX;
use crate::model::{
    Access, Engine, Object, Operator, Parameter, Plan, Predicate, Role, Rows, Statement, Warning,
};
use crate::{Kind, PlanError};
use serde_json::Value;

/// Conditions by the keys of a node, as both formats name them.
pub(crate) const PREDICATES: [(&str, Role); 10] = [
    ("Index Cond", Role::Seek),
    ("TID Cond", Role::Seek),
    ("Order By", Role::Seek),
    ("Filter", Role::Filter),
    ("One-Time Filter", Role::Filter),
    ("Join Filter", Role::Filter),
    ("Recheck Cond", Role::Filter),
    ("Hash Cond", Role::Join),
    ("Merge Cond", Role::Join),
    ("Cache Key", Role::Join),
];

/// A statement of `[{"Plan": ...}]`; `Query Text` stands in what `auto_explain` writes.
pub(crate) fn read(document: &Value) -> Result<Statement, PlanError> {
    let plan = &document["Plan"];
    let root = read_node(plan, 1.0, 0)?;
    let jit = document["JIT"]["Timing"]["Total"].as_f64();
    Ok(Statement {
        engine: Engine::Postgres,
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

/// The values of `$1 = '5', $2 = NULL`, as the server writes them: a quote in a value is doubled.
/// Values that it has cut off (`auto_explain.log_parameter_max_length`) are none.
pub(crate) fn parameters(text: &str) -> Vec<Parameter> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    while let Some((name, after)) = rest.split_once(" = ") {
        let end = value_end(after);
        let value = &after[..end];
        let is_cut = value.ends_with("...'") || value.ends_with("...");
        all.push(Parameter {
            name: name.trim_start_matches([',', ' ']).into(),
            run: (!is_cut).then(|| value.into()),
            ..Parameter::default()
        });
        rest = &after[end..];
    }
    all
}

/// Where a value ends: at the next comma, or behind its quotes.
fn value_end(text: &str) -> usize {
    let Some(quoted) = text.strip_prefix('\'') else {
        return text.find(", ").unwrap_or(text.len());
    };
    let mut from = 0;
    while let Some(at) = quoted[from..].find('\'') {
        let end = from + at + 1;
        if !quoted[end..].starts_with('\'') {
            return end + 1;
        }
        from = end + 1;
    }
    text.len()
}

/// Just-in-time compilation, which a short statement does not earn back.
pub(crate) fn compiled(time: &str) -> Warning {
    Warning { name: "JIT".into(), detail: format!("Total {time}") }
}

pub(crate) fn kind_of(root: &Operator) -> &str {
    match root.name.as_str() {
        verb @ ("Insert" | "Update" | "Delete" | "Merge") => verb,
        _ => "Select",
    }
}

/// The most workers that a part asks for, and the leader.
pub(crate) fn degree(root: &Operator) -> u32 {
    let workers = root.tree().into_iter().filter_map(|(_, operator)| {
        operator.detail.strip_suffix(" workers").and_then(|count| count.parse::<u32>().ok())
    });
    1 + workers.max().unwrap_or(0)
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

/// Rows that were read for nothing, for each loop.
pub(crate) const DROPPED: [&str; 3] =
    ["Rows Removed by Filter", "Rows Removed by Index Recheck", "Rows Removed by Join Filter"];

/// What a run of a node came to, for each of its loops.
pub(crate) struct Run {
    pub rows: f64,
    pub loops: f64,
    pub ms: Option<f64>,
    pub dropped: f64,
}

pub(crate) fn spill(detail: &str) -> Warning {
    Warning { name: "Spill".into(), detail: detail.into() }
}

pub(crate) fn object(schema: &str, table: &str, index: &str) -> Vec<Object> {
    if table.is_empty() && index.is_empty() {
        return Vec::new();
    }
    vec![Object {
        schema: schema.into(),
        table: table.into(),
        index: (!index.is_empty()).then(|| index.into()),
        ..Object::default()
    }]
}

/// What both formats have in common: a node's figures are those of one loop.
pub(crate) fn finish(
    operator: &mut Operator,
    plan_rows: Option<f64>,
    run: Option<Run>,
    processes: f64,
) {
    let kind = match Kind::of_postgres(&operator.name) {
        // An index that is read without a condition is read whole.
        Kind::IndexSeek if !operator.predicates.iter().any(|one| one.role == Role::Seek) => {
            Kind::IndexScan
        }
        kind => kind,
    };
    operator.kind = kind;
    operator.access = match kind {
        Kind::TableScan | Kind::IndexScan => Some(Access::Scan),
        Kind::IndexSeek => Some(Access::Seek),
        Kind::Lookup => Some(Access::Lookup),
        Kind::Modify => Some(Access::Change),
        _ => None,
    };
    let loops = run.as_ref().map_or(1.0, |run| run.loops);
    operator.rows = Rows {
        estimated: plan_rows.map(|rows| rows * loops),
        actual: run.as_ref().map(|run| run.rows * loops),
    };
    if operator.access.is_some() && kind != Kind::Modify {
        operator.rows_read.actual = run.as_ref().map(|run| (run.rows + run.dropped) * loops);
    }
    operator.executions = run.as_ref().map(|run| run.loops);
    operator.elapsed_ms =
        run.and_then(|run| Some(run.ms? * run.loops / processes.min(run.loops).max(1.0)));
}

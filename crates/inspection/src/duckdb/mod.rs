//! DuckDB's plans: the profile of a run as JSON
//! (<https://duckdb.org/docs/stable/guides/meta/explain_analyze>).

use crate::plans::{Kind, Object, Operator, Plan, PlanError, Predicate, Role, Rows};
use serde_json::Value;
use std::slice::from_ref;
use work::sql::Syntax;

/// Name of a scan of a whole table.
pub const SCAN: &str = "Sequential Scan";
/// Name of a scan that reads the rows that an index has found.
pub const INDEX: &str = "Index Scan";

/// Name of the operator in EXPLAIN of a query whose answer the statistics have.
const FROM_STATISTICS: &str = "COLUMN_DATA_SCAN";

/// Operators that every plan of a query has: they neither drop nor join rows.
const PASSED: [&str; 2] = ["PROJECTION", "EXPLAIN_ANALYZE"];

/// Reads the profile of a run, `EXPLAIN (ANALYZE, FORMAT JSON)`.
///
/// # Errors
/// When it is not JSON, has no operator, or nests too many.
pub fn read(text: &str) -> Result<Plan, PlanError> {
    let json: Value =
        serde_json::from_str(text).map_err(|error| PlanError::from_json("JSON", &error))?;
    let mut plan = Plan::default();
    if json.get("children").is_none() && json.is_object() {
        // DuckDB answers from its statistics and then has no profile: `{"result": "error"}`.
        plan.root = Some(Operator { name: FROM_STATISTICS.into(), ..Operator::default() });
        return Ok(plan);
    }
    let roots = json.as_array().map_or_else(|| children(&json), Vec::as_slice);
    let root = roots.first().ok_or(PlanError::Unknown)?;
    plan.root = Some(operator(root, 0)?);
    Ok(plan)
}

fn children(node: &Value) -> &[Value] {
    node["children"].as_array().map_or(&[], Vec::as_slice)
}

fn operator(node: &Value, depth: usize) -> Result<Operator, PlanError> {
    PlanError::check_depth(depth)?;
    let name = ["operator_name", "name"].iter().find_map(|key| node[*key].as_str());
    let name = name.unwrap_or("?").trim();
    let inputs = children(node);
    if let (true, [only]) = (PASSED.contains(&name), inputs) {
        return operator(only, depth + 1);
    }
    let more = &node["extra_info"];
    let text = |key: &str| more[key].as_str();
    let table = text("Table").map(|path| path.rsplit('.').next().unwrap_or(path).to_owned());
    // The kind of a scan tells more than its name.
    let name = text("Type").filter(|text| [SCAN, INDEX].contains(text)).unwrap_or(name);
    let rows = Rows {
        estimated: text("Estimated Cardinality").and_then(|rows| rows.parse().ok()),
        actual: node["operator_cardinality"].as_f64(),
    };
    let kind = kind(name);
    Ok(Operator {
        kind,
        name: name.to_owned(),
        objects: table.into_iter().map(|table| Object { table, ..Object::default() }).collect(),
        access: kind.access(),
        rows,
        elapsed_ms: node["operator_timing"].as_f64().map(|seconds| seconds * 1e3),
        predicates: predicates(more),
        inputs: inputs.iter().map(|input| operator(input, depth + 1)).collect::<Result<_, _>>()?,
        ..Operator::default()
    })
}

fn predicates(more: &Value) -> Vec<Predicate> {
    [("Filters", Role::Filter), ("Expression", Role::Filter), ("Conditions", Role::Join)]
        .into_iter()
        .flat_map(|(key, role)| {
            let value = &more[key];
            let all = value.as_array().map_or_else(|| from_ref(value), Vec::as_slice);
            all.iter()
                .filter_map(Value::as_str)
                .map(move |text| Predicate::new(role, text, Syntax::Postgres))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn kind(name: &str) -> Kind {
    match name {
        SCAN | "SEQ_SCAN" | "TABLE_SCAN" => Kind::TableScan,
        INDEX => Kind::IndexSeek,
        "HASH_JOIN" | "RIGHT_DELIM_JOIN" | "LEFT_DELIM_JOIN" => Kind::HashJoin,
        "NESTED_LOOP_JOIN" | "BLOCKWISE_NL_JOIN" | "CROSS_PRODUCT" => Kind::NestedLoops,
        "PIECEWISE_MERGE_JOIN" | "IE_JOIN" | "ASOF_JOIN" => Kind::MergeJoin,
        "UNGROUPED_AGGREGATE" | "STREAMING_WINDOW" | "WINDOW" => Kind::Aggregate,
        "HASH_GROUP_BY" | "PERFECT_HASH_GROUP_BY" => Kind::HashAggregate,
        "ORDER_BY" => Kind::Sort,
        "FILTER" => Kind::Filter,
        "LIMIT" | "STREAMING_LIMIT" | "LIMIT_PERCENT" | "TOP_N" => Kind::Limit,
        "UNION" => Kind::Append,
        "DUMMY_SCAN" | "EMPTY_RESULT" => Kind::Constant,
        "PROJECTION" => Kind::Compute,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::plans::Kind;

    /// Both releases have these members; 1.2 has a space behind the name of a scan.
    #[test]
    fn a_profile_has_the_operators_with_estimated_and_counted_rows() {
        let plan = read(
            r#"{"latency": 0.0, "children": [{"operator_name": "EXPLAIN_ANALYZE", "extra_info": {},
            "operator_cardinality": 0, "children": [{"operator_name": "UNGROUPED_AGGREGATE",
            "operator_cardinality": 1, "extra_info": {"Aggregates": "count_star()"}, "children": [
            {"operator_name": "PROJECTION", "operator_cardinality": 101, "extra_info": {},
            "children": [{"operator_name": "SEQ_SCAN ", "operator_cardinality": 101,
            "operator_timing": 0.002, "extra_info": {"Table": "memory.main.t", "Type": "Index Scan",
            "Filters": ["a<=100", "b<=7"], "Estimated Cardinality": "4000"},
            "children": []}]}]}]}]}"#,
        )
        .unwrap();
        let all = plan.operators();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].1.kind, all[1].1.kind), (Kind::Aggregate, Kind::IndexSeek));
        let scan = all[1].1;
        assert_eq!((scan.name.as_str(), scan.objects[0].table.as_str()), ("Index Scan", "t"));
        assert_eq!((scan.rows.estimated, scan.rows.actual), (Some(4000.0), Some(101.0)));
        assert_eq!((scan.predicates.len(), scan.elapsed_ms), (2, Some(2.0)));
        assert!(read("").is_err());
        let of_statistics = read(r#"{"result": "error"}"#).unwrap();
        assert_eq!(of_statistics.operators()[0].1.name, "COLUMN_DATA_SCAN");
    }
}

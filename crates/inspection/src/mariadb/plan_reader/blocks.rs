//! EXPLAIN and ANALYZE FORMAT=JSON of MariaDB, and EXPLAIN FORMAT=JSON of MySQL in the first
//! version of its format (<https://mariadb.com/kb/en/explain-format-json/>,
//! <https://mariadb.com/kb/en/analyze-format-json/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/explain.html>).

use crate::plans::{
    Access, Kind, Object, Operator, Plan, PlanError, Predicate, Property, Role, Rows, Statement,
    Warning, number,
};
use serde_json::Value;
use work::sql::Syntax;

/// Objects that hold operators, the name that is shown for them, and what they do.
const STEPS: [(&str, &str, Kind); 22] = [
    ("filesort", "Sort", Kind::Sort),
    ("read_sorted_file", "Read sorted file", Kind::Sort),
    ("ordering_operation", "Sort", Kind::Sort),
    ("grouping_operation", "Group", Kind::Aggregate),
    ("duplicates_removal", "Distinct", Kind::Aggregate),
    ("duplicate_removal", "Distinct", Kind::Aggregate),
    ("windowing", "Window", Kind::Aggregate),
    ("window_functions_computation", "Window", Kind::Aggregate),
    ("temporary_table", "Temporary table", Kind::Spool),
    ("buffer_result", "Buffer result", Kind::Spool),
    ("materialized", "Materialize", Kind::Spool),
    ("materialized_from_subquery", "Materialize", Kind::Spool),
    ("materialization", "Materialize", Kind::Spool),
    ("expression_cache", "Subquery cache", Kind::Spool),
    ("block-nl-join", "Block nested loops", Kind::NestedLoops),
    ("union_result", "Union", Kind::Append),
    ("except_result", "Except", Kind::Append),
    ("intersect_result", "Intersect", Kind::Append),
    ("unit_result", "Set operation", Kind::Append),
    ("range-checked-for-each-record", "Range checked for each record", Kind::Other),
    ("query_block", "Query block", Kind::Other),
    ("rowid_filter", "Rowid filter", Kind::Filter),
];

/// Keys that hold further operators without being one.
const LISTS: [&str; 9] = [
    "query_specifications",
    "subqueries",
    "optimized_away_subqueries",
    "attached_subqueries",
    "select_list_subqueries",
    "order_by_subqueries",
    "having_subqueries",
    "sorts",
    "duplicates_weedout",
];

/// A statement of `{"query_block": ...}`.
pub fn read(document: &Value) -> Result<Statement, PlanError> {
    let block = &document["query_block"];
    let mut plan = Plan {
        cost: number(block, "cost").or_else(|| number(&block["cost_info"], "query_cost")),
        elapsed_ms: number(block, "r_total_time_ms"),
        planning_ms: number(&document["query_optimization"], "r_total_time_ms"),
        degree: Some(1),
        ..Plan::default()
    };
    let mut reader = Reader::default();
    let mut inputs = reader.operators(block, 0)?;
    plan.unknown = reader.unknown;
    let root = match inputs.len() {
        1 => inputs.remove(0),
        _ => step(block, "Query block", Kind::Other, inputs),
    };
    let changes = root.tree().iter().any(|(_, operator)| operator.access == Some(Access::Change));
    plan.root = Some(root);
    plan.unknown.sort();
    plan.unknown.dedup();
    Ok(Statement {
        text: document["query"].as_str().unwrap_or_default().into(),
        kind: if changes { "CHANGE" } else { "SELECT" }.into(),
        plan: Some(plan),
        ..Statement::default()
    })
}

/// Reads operators.
#[derive(Default)]
struct Reader {
    /// Names of members that are not read.
    unknown: Vec<String>,
}

impl Reader {
    /// The operators of an object, in its order.
    fn operators(&mut self, node: &Value, depth: usize) -> Result<Vec<Operator>, PlanError> {
        PlanError::check_depth(depth)?;
        let mut found = Vec::new();
        for child in node.as_array().into_iter().flatten() {
            found.extend(self.operators(child, depth + 1)?);
        }
        for (key, value) in node.as_object().into_iter().flatten() {
            found.extend(self.member(key, value, depth)?);
        }
        Ok(found)
    }

    fn member(
        &mut self,
        key: &str,
        value: &Value,
        depth: usize,
    ) -> Result<Vec<Operator>, PlanError> {
        if key == "table"
            && let Some(members) = value.as_object()
        {
            let mut inputs = Vec::new();
            for (key, inner) in members {
                if is_deep(inner) {
                    inputs.extend(self.member(key, inner, depth + 1)?);
                }
                self.unknown.extend(Some(key).filter(|key| !is_known(key)).cloned());
            }
            return Ok(vec![table(value, inputs)]);
        }
        let known = STEPS.iter().find(|step| step.0 == key && is_deep(value));
        let is_list = LISTS.contains(&key);
        if known.is_none() && key != "nested_loop" && !is_list {
            if !is_deep(value) || !has_table(value) {
                return Ok(Vec::new());
            }
            self.unknown.push(key.to_owned());
        }
        let inputs = self.operators(value, depth + 1)?;
        Ok(match known {
            Some((_, name, kind)) => vec![step(value, name, *kind, inputs)],
            None if key == "nested_loop" && inputs.len() != 1 => vec![join(inputs)],
            None => inputs,
        })
    }
}

fn is_deep(value: &Value) -> bool {
    value.is_object() || value.as_array().is_some_and(|all| all.iter().any(Value::is_object))
}

fn has_table(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.contains_key("table") || object.values().any(has_table),
        Value::Array(all) => all.iter().any(has_table),
        _ => false,
    }
}

/// Tables are joined in the order in which they stand.
fn join(inputs: Vec<Operator>) -> Operator {
    let rows = inputs.last().map(|last| last.rows).unwrap_or_default();
    let elapsed = inputs.iter().map(|input| input.elapsed_ms).sum();
    let cost = inputs.iter().map(|input| input.cost).sum();
    Operator {
        name: "Nested loops".into(),
        kind: Kind::NestedLoops,
        rows,
        cost,
        elapsed_ms: elapsed,
        inputs,
        ..Operator::default()
    }
}

fn step(value: &Value, name: &str, kind: Kind, mut inputs: Vec<Operator>) -> Operator {
    // What follows the reading of a row is here the work of the sort.
    if kind == Kind::Sort
        && let [input] = inputs.as_mut_slice()
    {
        let read = number(&value["table"], "r_table_time_ms");
        input.elapsed_ms = read.or(input.elapsed_ms);
    }
    let rows = inputs.first().map(|input| input.rows).unwrap_or_default();
    let times: f64 = inputs.iter().filter_map(|input| input.elapsed_ms).sum();
    let loops = number(value, "r_loops");
    let output = number(value, "r_output_rows").zip(loops).map(|(rows, loops)| rows * loops);
    let mut operator = Operator {
        name: name.into(),
        detail: ["join_type", "sort_key"].iter().filter_map(|key| value[*key].as_str()).collect(),
        rows: Rows { actual: output.or(rows.actual), ..rows },
        executions: loops,
        // A sort has the reading of its input in its time.
        elapsed_ms: number(value, "r_total_time_ms")
            .map(|ms| if kind == Kind::Sort { ms.max(times) } else { ms + times }),
        predicates: predicates(value, kind),
        properties: properties(value, name),
        kind,
        inputs,
        ..Operator::default()
    };
    if number(value, "r_sort_passes").is_some_and(|passes| passes > 0.0) {
        let passes = number(value, "r_sort_passes").unwrap_or(0.0);
        operator.warnings.push(Warning {
            name: "Spill".into(),
            detail: format!("{passes} merge passes"),
            bytes: None,
        });
    }
    operator
}

fn table(value: &Value, inputs: Vec<Operator>) -> Operator {
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    let change = ["insert", "update", "delete"]
        .into_iter()
        .find(|verb| value[*verb].as_bool() == Some(true) || value[*verb].as_u64() == Some(1));
    let access_type = text("access_type");
    let kind = kind_of_access(access_type);
    let rows = number(value, "rows").or_else(|| number(value, "rows_examined_per_scan"));
    let filtered = number(value, "filtered").unwrap_or(100.0) / 100.0;
    let loops = number(value, "r_loops");
    let estimated_loops = loops.or_else(|| number(value, "loops")).unwrap_or(1.0);
    // Without loops it was run once.
    let read = number(value, "r_rows").map(|rows| rows * loops.unwrap_or(1.0));
    let estimated = rows.map(|rows| rows * estimated_loops);
    let ms = ["r_table_time_ms", "r_other_time_ms"]
        .iter()
        .filter_map(|key| number(value, key))
        .reduce(|a, b| a + b);
    // A part that fills the table has its time apart.
    let filled_ms: f64 = inputs.iter().map(known_ms).sum();
    // Named so are results of parts of the statement.
    let is_temporary = text("table_name").starts_with('<');
    Operator {
        name: change.map_or_else(
            || format!("Table: {access_type}"),
            |verb| format!("{}{}", verb[..1].to_uppercase(), &verb[1..]),
        ),
        detail: if value["using_index"].as_bool() == Some(true) {
            "only the index".into()
        } else {
            String::new()
        },
        objects: vec![Object {
            table: text("table_name").into(),
            index: value["key"].as_str().map(str::to_owned),
            ..Object::default()
        }],
        access: match (change, kind) {
            _ if is_temporary => None,
            (Some(_), _) => Some(Access::Change),
            (None, kind) => kind.access(),
        },
        cost: number(value, "cost").or_else(|| {
            let info = &value["cost_info"];
            Some(number(info, "read_cost")? + number(info, "eval_cost").unwrap_or(0.0))
        }),
        rows: Rows {
            estimated: estimated.map(|rows| rows * filtered),
            actual: read.map(|read| read * number(value, "r_filtered").unwrap_or(100.0) / 100.0),
        },
        rows_read: Rows { estimated, actual: read },
        executions: loops,
        elapsed_ms: ms.map(|ms| ms + filled_ms),
        pages: number(&value["r_engine_stats"], "pages_accessed").map(|accessed| {
            let read = number(&value["r_engine_stats"], "pages_read_count").unwrap_or(0.0);
            ((accessed - read).max(0.0), read)
        }),
        predicates: predicates(value, kind),
        properties: properties(value, ""),
        inputs,
        kind: if change.is_some() { Kind::Modify } else { kind },
        ..Operator::default()
    }
}

/// The time of an operator; without one that of its inputs.
fn known_ms(operator: &Operator) -> f64 {
    operator.elapsed_ms.unwrap_or_else(|| operator.inputs.iter().map(known_ms).sum())
}

/// Members of a table, of MariaDB and of MySQL's first version.
const MEMBERS: &str = "table_name access_type possible_keys key key_length used_key_parts ref \
    ref_or_null rows r_rows filtered r_filtered r_loops loops cost r_table_time_ms \
    r_other_time_ms r_total_time_ms r_engine_stats r_index_rows r_icp_filtered \
    attached_condition index_condition index_condition_bka pushed_condition \
    pushed_index_condition using_index using_index_condition distinct first_match not_exists \
    loosescan start_temporary end_temporary partitions message full-scan_on_NULL_key mrr_type \
    using_MRR using_join_buffer using_temporary_table using_filesort using_index_for_group_by \
    using_index_for_skip_scan backward_index_scan used_columns cost_info \
    rows_examined_per_scan rows_produced_per_join insert update delete replace select_id \
    const_row_not_found impossible_on_condition unique_row_not_found scanned_databases \
    open_full_table open_frm_only skip_open_table r_limit index_merge r_unpack_time_ms \
    r_unpack_ops table_condition rowid_filter materialized materialized_from_subquery";

fn is_known(member: &str) -> bool {
    MEMBERS.split_whitespace().any(|known| known == member)
        || LISTS.contains(&member)
        || STEPS.iter().any(|step| step.0 == member)
}

/// Properties that remarks need beside the figures of all operators.
fn properties(value: &Value, step: &str) -> Vec<Property> {
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    // The server makes an index of such a result when a join needs one.
    let is_indexed = text("table_name").starts_with('<') && text("key").starts_with("key");
    let condition = text("attached_condition");
    let is_null_aware = text("r_strategy").starts_with("null-aware")
        || (condition.contains("trigcond(") && condition.contains(" is null"));
    let is_chosen = step == "Range checked for each record";
    [
        is_indexed.then_some(Property::IndexBuilt),
        is_null_aware.then_some(Property::NullAware),
        is_chosen.then_some(Property::ChosenPerRow),
        (step == "Materialize").then_some(Property::PartKept),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn predicates(value: &Value, kind: Kind) -> Vec<Predicate> {
    let condition = |key: &str| {
        let text = value[key].as_str()?;
        Some(Predicate::new(Role::Filter, text, Syntax::MariaDb))
    };
    let used = value["used_key_parts"].as_array().filter(|_| kind == Kind::IndexSeek);
    let seek = used.map(|parts| {
        let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
        Predicate::new(Role::Seek, parts.join(", "), Syntax::MariaDb)
    });
    [seek, condition("index_condition"), condition("attached_condition")]
        .into_iter()
        .flatten()
        .collect()
}

/// The kind of a table, by its access type
/// (<https://mariadb.com/kb/en/explain/>,
/// <https://dev.mysql.com/doc/refman/8.4/en/explain-output.html>).
fn kind_of_access(access: &str) -> Kind {
    match access.to_ascii_lowercase().as_str() {
        "all" => Kind::TableScan,
        "index" => Kind::IndexScan,
        "system" => Kind::Constant,
        "const" | "eq_ref" | "ref" | "ref_or_null" | "range" | "fulltext" | "index_merge"
        | "unique_subquery" | "index_subquery" | "hash_range" | "hash_ref" => Kind::IndexSeek,
        _ => Kind::Other,
    }
}

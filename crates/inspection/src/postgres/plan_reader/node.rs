//! The vocabulary of nodes.

use crate::plans::{Kind, Object, Operator, Parameter, Role, Warning};
use serde_json::Value;
use std::ops::RangeInclusive;

/// Conditions by the keys of a node, as all formats name them.
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

/// The values of `$1 = '5', $2 = NULL`, as the server writes them: a quote in a value is doubled.
/// Values that it has cut off (`auto_explain.log_parameter_max_length`) are left out.
pub fn parameters(text: &str) -> Vec<Parameter> {
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

pub fn kind_of(root: &Operator) -> &str {
    match root.name.as_str() {
        verb @ ("Insert" | "Update" | "Delete" | "Merge") => verb,
        _ => "Select",
    }
}

/// The most workers that a part asks for, and the leader.
pub fn degree(root: &Operator) -> u32 {
    let workers = root.tree().into_iter().filter_map(|(_, operator)| {
        operator.detail.strip_suffix(" workers").and_then(|count| count.parse::<u32>().ok())
    });
    1 + workers.max().unwrap_or(0)
}

/// Rows that were read for nothing, for each loop.
pub(crate) const DROPPED: [&str; 3] =
    ["Rows Removed by Filter", "Rows Removed by Index Recheck", "Rows Removed by Join Filter"];

/// The members of nodes that are not predicates: those that are read, and those that a reader of
/// the model does not need. Names of pages and of WAL are known by their last word.
const MEMBERS: &str = "\
    Node Type|Parent Relationship|Subplan Name|Parallel Aware|Async Capable|Join Type|Inner Unique|\
    Strategy|Partial Mode|Operation|Command|Custom Plan Provider|Scan Direction|Index Name|\
    Relation Name|Schema|Alias|CTE Name|Tuplestore Name|Function Name|Table Function Name|\
    Startup Cost|Total Cost|Plan Rows|Plan Width|Actual Startup Time|Actual Total Time|\
    Actual Rows|Actual Loops|Disabled|Output|Target Tables|Plans|Workers|Workers Planned|\
    Workers Launched|Single Copy|Params Evaluated|Rows Removed by Filter|\
    Rows Removed by Join Filter|Rows Removed by Index Recheck|Rows Removed by Conflict Filter|\
    Heap Fetches|Index Searches|Sort Key|Presorted Key|Group Key|Group Keys|Hash Key|Hash Keys|\
    Grouping Sets|Group Count|Key|Sort Method|Sort Methods Used|Sort Space Used|Sort Space Type|\
    Full-sort Groups|Pre-sorted Groups|Hash Buckets|Original Hash Buckets|Hash Batches|\
    Original Hash Batches|Peak Memory Usage|Planned Partitions|HashAgg Batches|Disk Usage|\
    Cache Mode|Cache Hits|Cache Misses|Cache Evictions|Cache Overflows|Estimates|Storage|\
    Maximum Storage|Conflict Resolution|Conflict Arbiter Indexes|Conflict Filter|\
    Conflicting Tuples|Tuples|Tuples Inserted|Tuples Updated|Tuples Deleted|Tuples Skipped|\
    Sampling|Sampling Method|Sampling Parameters|Repeatable Seed|Function Call|\
    Table Function Call|Subplans Removed|Run Condition|Window|Remote SQL|Relations|\
    Never Executed|I/O Timings|WAL|WAL Records|WAL FPI|WAL Bytes|WAL Buffers Full|Heap Blocks|\
    Buffers|JIT|Settings";

/// The names of a node's members that the reader does not know.
pub fn unknown(node: &Value) -> Vec<String> {
    let members = node.as_object().into_iter().flat_map(|members| members.keys());
    let unknown = members.filter(|name| {
        !MEMBERS.split('|').any(|member| member == *name)
            && !PREDICATES.iter().any(|(key, _)| key == name)
            && !["Blocks", "Time"].iter().any(|last| name.ends_with(last))
    });
    unknown.cloned().collect()
}

/// Returns true for a member that is set.
pub fn flag(value: &Value, key: &str) -> bool {
    value[key].as_bool() == Some(true) || value[key].as_str() == Some("true")
}

pub fn spill(detail: &str, bytes: Option<f64>) -> Warning {
    Warning { name: "Spill".into(), detail: detail.into(), bytes }
}

pub fn object(schema: &str, table: &str, index: &str) -> Vec<Object> {
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

/// The kind of a node, by its name in text format without `Parallel`, `Partial` and the like.
pub fn kind(node: &str) -> Kind {
    match node {
        "Seq Scan" | "Sample Scan" | "Tid Scan" | "Tid Range Scan" | "Foreign Scan"
        | "Custom Scan" => Kind::TableScan,
        "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => Kind::IndexSeek,
        "Bitmap Heap Scan" => Kind::Lookup,
        "Nested Loop" => Kind::NestedLoops,
        "Hash Join" => Kind::HashJoin,
        "Merge Join" => Kind::MergeJoin,
        "Sort" | "Incremental Sort" => Kind::Sort,
        "Aggregate" | "GroupAggregate" | "Group" | "WindowAgg" | "Unique" => Kind::Aggregate,
        "HashAggregate" | "MixedAggregate" => Kind::HashAggregate,
        "Limit" => Kind::Limit,
        "Materialize" | "Memoize" | "CTE Scan" | "WorkTable Scan" => Kind::Spool,
        "Gather" | "Gather Merge" => Kind::Exchange,
        "Append" | "Merge Append" | "SetOp" | "HashSetOp" | "Recursive Union" | "BitmapAnd"
        | "BitmapOr" => Kind::Append,
        "Result" | "ProjectSet" | "Values Scan" => Kind::Constant,
        "Function Scan" | "Table Function Scan" => Kind::Function,
        "ModifyTable" | "Insert" | "Update" | "Delete" | "Merge" => Kind::Modify,
        _ => Kind::Other,
    }
}

/// Returns the number of inputs of a node of this name, without parts of the statement that it
/// starts.
pub(crate) fn inputs_of(node: &str) -> RangeInclusive<usize> {
    match node {
        "Nested Loop" | "Hash Join" | "Merge Join" => 2..=2,
        "Sort" | "Incremental Sort" | "Aggregate" | "GroupAggregate" | "HashAggregate"
        | "MixedAggregate" | "Group" | "WindowAgg" | "Unique" | "Limit" | "Materialize"
        | "Memoize" | "Gather" | "Gather Merge" | "Hash" | "LockRows" | "ProjectSet"
        | "Bitmap Heap Scan" | "Subquery Scan" => 1..=1,
        "Seq Scan" | "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" | "Tid Scan"
        | "Tid Range Scan" | "CTE Scan" | "WorkTable Scan" | "Values Scan" | "Function Scan" => {
            0..=0
        }
        "BitmapAnd" | "BitmapOr" => 2..=usize::MAX,
        _ => 0..=usize::MAX,
    }
}

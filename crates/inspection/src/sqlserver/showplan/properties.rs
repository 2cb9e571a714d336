//! Properties of operators that remarks are about.

use super::xml::{flag, is, number, object, unquoted};
use crate::plans::{Operator, Predicate, Property, Role};
use roxmltree::Node;

/// The properties of an operator. `times`: how often it is expected, or was seen, to run.
pub(crate) fn of_operator(
    node: Node,
    nodes: &[Node],
    inputs: &[Operator],
    predicates: &[Predicate],
    times: f64,
) -> Vec<Property> {
    let attribute = |name| node.attribute(name).unwrap_or_default();
    let (physical, logical) = (attribute("PhysicalOp"), attribute("LogicalOp"));
    let mut all = Vec::new();
    if (physical, logical) == ("Index Spool", "Eager Spool") {
        all.push(Property::IndexBuilt);
    }
    if logical == "Lazy Spool" {
        all.extend(cache(node, nodes));
    }
    if nodes.iter().any(|part| is(*part, "Merge") && flag(*part, "ManyToMany")) {
        all.push(Property::ManyToMany);
    }
    if physical == "Nested Loops" && merges_ranges(node, inputs) {
        all.push(Property::AlternativeKeys);
    }
    if logical.contains("Anti Semi")
        && predicates
            .iter()
            .any(|predicate| predicate.role == Role::Filter && predicate.text.contains("IS NULL"))
    {
        all.push(Property::NullAware);
    }
    let mut called = nodes.iter().filter_map(|part| part.attribute("FunctionName"));
    if called.any(|name| name == "GetRangeWithMismatchedTypes") {
        all.push(Property::MismatchedTypes);
    }
    let goal = number(node, "EstimateRowsWithoutRowGoal");
    let goal = goal.filter(|without| Some(*without) > number(node, "EstimateRows"));
    all.extend(goal.map(|without| Property::RowGoal { without: without * times }));
    let functions = nodes.iter().filter(|part| is(**part, "UserDefinedFunction"));
    for function in functions.filter_map(|part| part.attribute("FunctionName")) {
        let name: Vec<String> = function.split('.').skip(1).map(unquoted).collect();
        let property = Property::FunctionPerRow(name.join("."));
        if !all.contains(&property) {
            all.push(property);
        }
    }
    // The server's own functions are in no database.
    let mut objects = nodes.iter().filter(|part| is(**part, "Object")).map(|part| object(*part));
    if nodes.iter().any(|part| is(*part, "TableValuedFunction"))
        && objects.clone().any(|object| !object.database.is_empty() && object.schema != "sys")
    {
        all.push(Property::TableFunction);
    }
    if objects.any(|object| object.table.starts_with('@')) {
        all.push(Property::TableVariable);
    }
    all
}

/// Returns the number of times that a spool was filled and how often it was read again.
fn cache(node: Node, nodes: &[Node]) -> Option<Property> {
    let sum = |name| {
        let threads = nodes.iter().filter(|part| is(**part, "RunTimeCountersPerThread"));
        threads.filter_map(|thread| number(*thread, name)).reduce(|a, b| a + b)
    };
    let counted = sum("ActualRebinds").zip(sum("ActualRewinds"));
    // Without either it was read once.
    let (misses, hits) = counted.filter(|(a, b)| a + b > 0.0).or_else(|| {
        let rebinds = number(node, "EstimateRebinds")? + 1.0;
        Some((rebinds, number(node, "EstimateRewinds")?))
    })?;
    Some(Property::Cache { misses, hits })
}

/// Returns true when the outer input merges ranges of keys of other tables:
/// `a.x = b.y OR a.x = b.z`.
fn merges_ranges(node: Node, inputs: &[Operator]) -> bool {
    if inputs.first().is_none_or(|first| first.name != "Merge Interval") {
        return false;
    }
    let merge =
        node.descendants().find(|part| part.attribute("PhysicalOp") == Some("Merge Interval"));
    let ranges = merge.into_iter().flat_map(|merge| merge.descendants());
    let (mut ends, mut sources) = (0, 0);
    for part in ranges {
        ends += usize::from(part.attribute("PhysicalOp") == Some("Constant Scan"));
        sources += usize::from(is(part, "ColumnReference") && part.has_attribute("Table"));
    }
    ends > 1 && sources > 1
}

/// Rows of each thread but the one that only collects.
pub fn thread_rows(counters: &[Node]) -> Vec<f64> {
    if counters.len() < 2 {
        return Vec::new();
    }
    let workers = counters.iter().filter(|thread| thread.attribute("Thread") != Some("0"));
    workers.filter_map(|thread| number(*thread, "ActualRows")).collect()
}

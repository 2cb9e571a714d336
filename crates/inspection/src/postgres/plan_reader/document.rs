//! A plan as EXPLAIN (FORMAT JSON) has it, into which the other formats are read
//! (<https://www.postgresql.org/docs/current/sql-explain.html>).

use super::costs;
use super::node::{
    DROPPED, PREDICATES, degree, flag, kind, kind_of, object, parameters, spill, unknown,
};
use super::parts::{Entry, charge, tree};
use crate::plans::{
    self, Kind, Object, Operator, Plan, PlanError, Predicate, Property, Role, Rows, Statement,
    number,
};
use serde_json::Value;
use work::sql::Syntax;

/// A statement of `[{"Plan": ...}]`, with `Query Text` from `auto_explain`; `None` of another
/// document.
pub fn read(document: &Value) -> Option<Result<Statement, PlanError>> {
    document.get("Plan").filter(|plan| plan.is_object()).map(|plan| statement(document, plan))
}

fn statement(document: &Value, plan: &Value) -> Result<Statement, PlanError> {
    let settings = &document["Settings"];
    let leads = settings["parallel_leader_participation"].as_str() != Some("off");
    let mut nodes = Nodes { leads, settings, entries: Vec::new(), unknown: Vec::new() };
    nodes.read(plan, None, Processes::SINGLE, 0)?;
    nodes.unknown.sort();
    nodes.unknown.dedup();
    charge(&mut nodes.entries)?;
    let root = tree(nodes.entries);
    let jit = number(&document["JIT"]["Timing"], "Total")
        .or_else(|| number(&document["JIT"]["Timing"]["Total"], "Time"));
    Ok(Statement {
        text: document["Query Text"].as_str().map(str::to_owned).unwrap_or_default(),
        kind: kind_of(&root).into(),
        query_hash: number_text(&document["Query Identifier"]),
        plan: Some(Plan {
            cost: root.cost,
            elapsed_ms: number(document, "Execution Time")
                .or_else(|| number(document, "Total Runtime"))
                .or(root.elapsed_ms),
            planning_ms: number(document, "Planning Time"),
            degree: Some(degree(&root)),
            parameters: document["Query Parameters"].as_str().map(parameters).unwrap_or_default(),
            compilation_ms: jit,
            unknown: nodes.unknown,
            root: Some(root),
            ..Plan::default()
        }),
        ..Statement::default()
    })
}

fn number_text(value: &Value) -> Option<String> {
    value.as_i64().map(|id| id.to_string()).or_else(|| value.as_str().map(str::to_owned))
}

/// The processes that run a node at the same time.
#[derive(Clone, Copy)]
struct Processes {
    /// Rows of the run: its loops are theirs together, and its time is the mean of one.
    ran: f64,
    /// The parts in which the planner expects the rows of a parallel node to come.
    divisor: f64,
}

impl Processes {
    const SINGLE: Self = Self { ran: 1.0, divisor: 1.0 };

    /// The processes below a node with workers: the leader takes part, the less the more workers it
    /// has to serve (`get_parallel_divisor` of PostgreSQL).
    fn below(self, node: &Value, leads: bool) -> Self {
        let planned = number(node, "Workers Planned");
        let Some(workers) = number(node, "Workers Launched").or(planned) else { return self };
        if flag(node, "Single Copy") {
            return Self::SINGLE;
        }
        let planned = planned.unwrap_or(workers);
        let leader = if leads { (1.0 - 0.3 * planned).max(0.0) } else { 0.0 };
        Self {
            ran: workers + if leads || workers == 0.0 { 1.0 } else { 0.0 },
            divisor: (planned + leader).max(1.0),
        }
    }
}

/// The nodes of a plan, from the top.
struct Nodes<'a> {
    /// The leader of parallel parts works with its workers.
    leads: bool,
    /// The settings that are recorded with the plan.
    settings: &'a Value,
    entries: Vec<Entry>,
    /// Names of members that are not read.
    unknown: Vec<String>,
}

impl Nodes<'_> {
    /// Adds a node and all below it. Returns true when each process has a part of its rows.
    fn read(
        &mut self,
        node: &Value,
        parent: Option<usize>,
        processes: Processes,
        depth: usize,
    ) -> Result<bool, PlanError> {
        PlanError::check_depth(depth)?;
        let at = self.entries.len();
        self.entries.push(Entry::new(parent, node));
        self.unknown.extend(unknown(node));
        let below = processes.below(node, self.leads);
        let mut is_partial = flag(node, "Parallel Aware");
        for (position, input) in node["Plans"].as_array().into_iter().flatten().enumerate() {
            let is_part = self.read(input, Some(at), below, depth + 1)?;
            // A join has a part of its rows where its outer input has.
            let relationship = input["Parent Relationship"].as_str();
            let is_outer = match relationship {
                Some("Inner" | "InitPlan" | "SubPlan") => false,
                Some(_) => true,
                None => input.get("Subplan Name").is_none() && position == first_input(node),
            };
            is_partial |= is_part && is_outer;
        }
        let is_partial = is_partial && number(node, "Workers Planned").is_none();
        let divisor = if is_partial { processes.divisor } else { 1.0 };
        let cost_parts = costs::scan(node, self.settings).into_iter().collect();
        self.entries[at].operator =
            Operator { cost_parts, ..operator(node, processes.ran, divisor) };
        Ok(is_partial)
    }
}

/// Position of the first input that is not a part of the statement by itself.
fn first_input(node: &Value) -> usize {
    let inputs = node["Plans"].as_array().into_iter().flatten();
    inputs.take_while(|input| input.get("Subplan Name").is_some()).count()
}

fn operator(node: &Value, processes: f64, divisor: f64) -> Operator {
    let text = |key: &str| node[key].as_str().unwrap_or_default();
    let (node_type, operation) = (text("Node Type"), text("Operation"));
    let foreign = format!("Foreign {operation}");
    // As in text format.
    let name = match (node_type, text("Strategy")) {
        ("ModifyTable", _) if !operation.is_empty() => operation,
        ("Foreign Scan", _) if !matches!(operation, "" | "Select") => &foreign,
        ("Aggregate", "Hashed") => "HashAggregate",
        ("Aggregate", "Mixed") => "MixedAggregate",
        ("Aggregate", "Sorted") => "GroupAggregate",
        ("SetOp", "Hashed") => "HashSetOp",
        _ => node_type,
    };
    let workers = number(node, "Workers Launched").or_else(|| number(node, "Workers Planned"));
    let words =
        [text("Command"), text("Custom Plan Provider"), text("Partial Mode"), text("Join Type")];
    let word = words.into_iter().find(|word| !matches!(*word, "" | "Simple" | "Inner"));
    let predicates: Vec<Predicate> = PREDICATES
        .iter()
        .map(|(key, role)| Predicate::new(*role, text(key), Syntax::Postgres))
        .filter(|predicate| !predicate.text.is_empty())
        .collect();
    let kind = match kind(name) {
        // An index that is read without a condition is read whole.
        Kind::IndexSeek if !predicates.iter().any(|predicate| predicate.role == Role::Seek) => {
            Kind::IndexScan
        }
        kind => kind,
    };
    let access = kind.access();
    let run = number(node, "Actual Rows").zip(number(node, "Actual Loops"));
    let loops = run.map(|(_, loops)| loops);
    let ran = processes.min(loops.unwrap_or(1.0)).max(1.0);
    // A node that never ran keeps the estimate of one run.
    let times = divisor
        * loops
            .filter(|loops| *loops > 0.0)
            .map_or(1.0, |loops| if divisor > 1.0 { loops / ran } else { loops });
    let dropped: f64 = DROPPED.iter().filter_map(|key| number(node, key)).sum();
    let elapsed_ms = number(node, "Actual Total Time").zip(loops);
    let reads = access.is_some() && kind != Kind::Modify;
    Operator {
        name: name.into(),
        detail: workers.map_or_else(
            || word.unwrap_or_default().to_owned(),
            |workers| format!("{workers} workers"),
        ),
        part: node["Subplan Name"].as_str().map(str::to_owned),
        objects: objects(node),
        access,
        cost: number(node, "Total Cost"),
        rows: Rows {
            estimated: number(node, "Plan Rows").map(|rows| rows * times),
            actual: run.map(|(rows, loops)| rows * loops),
        },
        rows_read: Rows {
            estimated: None,
            // Of a join and of groups those that it dropped are known.
            actual: run
                .filter(|_| reads || dropped > 0.0)
                .map(|(rows, loops)| (rows + dropped) * loops),
        },
        executions: loops,
        elapsed_ms: elapsed_ms.map(|(ms, loops)| ms * loops / ran),
        pages: number(node, "Shared Hit Blocks").zip(number(node, "Shared Read Blocks")),
        properties: properties(node, &predicates),
        thread_rows: process_rows(node),
        predicates,
        is_parallel: flag(node, "Parallel Aware") || processes > 1.0,
        warnings: spills(node),
        kind,
        ..Operator::default()
    }
}

/// Properties that remarks need beside the figures of all nodes.
fn properties(node: &Value, predicates: &[Predicate]) -> Vec<Property> {
    let of = |key: &str| number(node, key);
    let workers = of("Workers Planned").zip(of("Workers Launched"));
    // Text leaves out what is 0.
    let lossy = of("Lossy Heap Blocks").filter(|lossy| *lossy > 0.0);
    let exact = of("Exact Heap Blocks").unwrap_or(0.0);
    let cache = of("Cache Misses").zip(of("Cache Hits"));
    // A list that is compared as a whole because it may have NULL; EXISTS is planned as a join.
    let lists = ["NOT (hashed SubPlan", "NOT (ANY ("];
    let is_null_aware = predicates.iter().any(|predicate| {
        predicate.text.contains("SubPlan") && lists.iter().any(|list| predicate.text.contains(list))
    });
    [
        workers.map(|(planned, launched)| Property::Workers { planned, launched }),
        lossy.map(|lossy| Property::Bitmap { exact, lossy }),
        cache.map(|(misses, hits)| Property::Cache { misses, hits }),
        of("Heap Fetches").map(Property::HeapFetches),
        is_null_aware.then_some(Property::NullAware),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Rows of each process: the leader, whose are the rest, and its workers.
fn process_rows(node: &Value) -> Vec<f64> {
    let rows = |value: &Value| Some(number(value, "Actual Rows")? * number(value, "Actual Loops")?);
    let workers = node["Workers"].as_array().into_iter().flatten();
    let workers: Vec<f64> = workers.filter_map(rows).collect();
    let Some(all) = rows(node).filter(|_| !workers.is_empty()) else { return Vec::new() };
    let leader = (all - workers.iter().sum::<f64>()).max(0.0);
    std::iter::once(leader).chain(workers).collect()
}

/// The table of a node, and further ones that it changes.
fn objects(node: &Value) -> Vec<Object> {
    let of = |value: &Value| {
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        object(text("Schema"), text("Relation Name"), text("Index Name"))
    };
    let targets = node["Target Tables"].as_array().into_iter().flatten().flat_map(&of);
    let workers = of(node);
    let mut all: Vec<Object> = workers.into_iter().chain(targets).collect();
    all.dedup();
    all
}

/// Data that a node and its workers wrote to disk because their memory did not suffice.
fn spills(node: &Value) -> Vec<plans::Warning> {
    let workers = node["Workers"].as_array().into_iter().flatten();
    let sum = |kb: &dyn Fn(&Value) -> Option<f64>| {
        let kb: f64 = std::iter::once(node).chain(workers.clone()).filter_map(kb).sum();
        (kb > 0.0).then_some(kb)
    };
    let sorted = sum(&|node| {
        let is_disk = node["Sort Space Type"].as_str() == Some("Disk");
        number(node, "Sort Space Used").filter(|_| is_disk)
    });
    let groups = sum(&|node| {
        let peak = ["Full-sort Groups", "Pre-sorted Groups"]
            .iter()
            .filter_map(|key| number(&node[*key]["Sort Space Disk"], "Peak Sort Space Used"));
        peak.reduce(f64::max)
    });
    let hashed = sum(&|node| number(node, "Disk Usage"));
    let stored =
        number(node, "Maximum Storage").filter(|_| node["Storage"].as_str() == Some("Disk"));
    let sizes = [sorted, groups, hashed, stored];
    let batches = number(node, "Hash Batches").filter(|batches| *batches > 1.0);
    sizes
        .into_iter()
        .flatten()
        .map(|kb| spill(&format!("{kb} kB"), Some(kb * 1024.0)))
        .chain(batches.map(|batches| spill(&format!("{batches} batches"), None)))
        .collect()
}

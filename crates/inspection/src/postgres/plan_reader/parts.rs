//! Parts of a statement that run when their result is first needed: common table expressions and
//! subqueries without outer references (`InitPlan`).
//!
//! EXPLAIN shows them below the node of their query level, with their cost in its cost. Their time
//! is in that of the node that first needed them, which may be another one.

use crate::plans::{self, Operator, PlanError};
use serde_json::Value;

/// Parts of a plan at most.
const PARTS_MAX: usize = 500;

/// A node while the plan is read.
pub struct Entry {
    parent: Option<usize>,
    pub operator: Operator,
    /// The name of its result in expressions: `$0`, `(InitPlan 1)`, a common table expression.
    part: Option<Part>,
    /// Common table expression that it reads.
    reads: Option<String>,
    /// All of its expressions.
    expressions: String,
    /// Time of its inputs, ms.
    inputs_ms: f64,
}

enum Part {
    /// A common table expression.
    Cte(String),
    /// A subquery, with the names of its results.
    Init(Vec<String>),
}

impl Entry {
    pub fn new(parent: Option<usize>, node: &Value) -> Self {
        let mut expressions = String::new();
        for (key, value) in node.as_object().into_iter().flatten() {
            if !matches!(key.as_str(), "Plans" | "Subplan Name" | "Workers") {
                texts(value, &mut expressions);
            }
        }
        let name = node["Subplan Name"].as_str().unwrap_or_default();
        let is_part = name.starts_with("InitPlan ")
            || name.starts_with("CTE ")
            || node["Parent Relationship"].as_str() == Some("InitPlan");
        Self {
            parent,
            operator: Operator::default(),
            part: is_part.then(|| part(name)),
            reads: node["CTE Name"].as_str().map(str::to_owned),
            expressions,
            inputs_ms: 0.0,
        }
    }

    /// Time without inputs and parts, as far as that is known.
    fn own_ms(&self) -> f64 {
        self.operator.elapsed_ms.unwrap_or(0.0) - self.inputs_ms - self.operator.started_ms
    }

    fn names(&self, results: &[String]) -> bool {
        results.iter().any(|name| {
            self.expressions.match_indices(name.as_str()).any(|(at, name)| {
                let next = self.expressions[at + name.len()..].chars().next();
                !next.is_some_and(|c| c.is_ascii_digit())
            })
        })
    }
}

fn texts(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| texts(value, all)),
        _ => {}
    }
}

/// `CTE x`, `InitPlan 1 (returns $0,$1)`; since version 17 expressions name `InitPlan 1`.
fn part(name: &str) -> Part {
    if let Some(name) = name.strip_prefix("CTE ") {
        return Part::Cte(name.to_owned());
    }
    let (plan, results) = name.split_once(" (returns ").unwrap_or((name, ""));
    let results = results.trim_end_matches(')').split(',').map(str::trim);
    let results = results.filter(|name| !name.is_empty()).map(str::to_owned);
    Part::Init(results.chain([plan.to_owned()]).collect())
}

/// Finds for each part the nodes that waited for it, and moves its time from their inputs to what
/// they started.
pub(crate) fn charge(all: &mut [Entry]) -> Result<(), PlanError> {
    if all.iter().filter(|entry| entry.part.is_some()).count() > PARTS_MAX {
        return Err(PlanError::TooManyParts(PARTS_MAX));
    }
    for at in 0..all.len() {
        if let (Some(parent), None) = (all[at].parent, &all[at].part) {
            all[parent].inputs_ms += all[at].operator.elapsed_ms.unwrap_or(0.0);
        }
    }
    for at in 0..all.len() {
        let (Some(part), Some(elapsed)) = (&all[at].part, all[at].operator.elapsed_ms) else {
            continue;
        };
        let scope = all[at].parent.unwrap_or(0);
        let entry_end = end(all, at);
        let within: Vec<usize> =
            (scope..end(all, scope)).filter(|index| !(at..entry_end).contains(index)).collect();
        let named: Vec<usize> = match part {
            Part::Cte(name) => {
                let reads = |index: &&usize| all[**index].reads.as_ref() == Some(name);
                within.iter().filter(reads).copied().collect()
            }
            Part::Init(results) => {
                within.iter().filter(|index| all[**index].names(results)).copied().collect()
            }
        };
        // Only VERBOSE shows the expressions of the output.
        let is_cte = matches!(part, Part::Cte(_));
        let candidates = if named.is_empty() && !is_cte { within } else { named };
        let room = |index: usize| all[index].own_ms().max(0.0);
        let mut left = elapsed;
        let mut shares = Vec::new();
        if is_cte {
            for candidate in candidates {
                let share = room(candidate).min(left);
                left -= share;
                shares.push((candidate, share));
            }
        } else {
            // Who needs it first waits for all of it, but for what is lost by rounding.
            let whole = candidates.iter().find(|candidate| room(**candidate) >= 0.95 * elapsed);
            let most = candidates.iter().max_by(|a, b| room(**a).total_cmp(&room(**b)));
            shares.extend(whole.or(most).map(|index| (*index, room(*index).min(left))));
        }
        let charged: f64 = shares.iter().map(|(_, ms)| ms).sum();
        // A change that no other part reads runs behind all others: it keeps its time.
        let is_last = charged == 0.0 && all[at].operator.access == Some(plans::Access::Change);
        all[at].operator.charged_ms = Some(if is_last { elapsed } else { charged });
        for (index, ms) in shares {
            all[index].operator.started_ms += ms;
        }
    }
    Ok(())
}

/// The position behind all nodes below one.
fn end(all: &[Entry], at: usize) -> usize {
    (at + 1..all.len()).find(|index| !is_below(all, *index, at)).unwrap_or(all.len())
}

fn is_below(all: &[Entry], mut index: usize, at: usize) -> bool {
    while let Some(parent) = all[index].parent.filter(|parent| *parent >= at) {
        if parent == at {
            return true;
        }
        index = parent;
    }
    false
}

/// The nodes as a tree.
pub fn tree(mut all: Vec<Entry>) -> Operator {
    while let Some(mut entry) = all.pop() {
        entry.operator.inputs.reverse();
        let Some(parent) = entry.parent else { return entry.operator };
        all[parent].operator.inputs.push(entry.operator);
    }
    Operator::default()
}

//! The model: statements, their plans, operators in a tree.

use crate::plans::condition::{Obstacle, obstacles};
use crate::plans::property::{Property, Trait};
use crate::plans::{Access, CostPart, Kind, Terms};
use serde::{Deserialize, Serialize};
use work::sql::Syntax;

/// A statement and its plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Name of the engine that made the plan, where it was read from a file.
    pub engine: String,
    /// The text in the file, with its literals; empty where the file does not have it.
    pub text: String,
    /// The kind, in the engine's words: `SELECT`, `COND`.
    pub kind: String,
    /// The engine's hash of the statement without its literals.
    pub query_hash: Option<String>,
    /// The engine's hash of the plan.
    pub plan_hash: Option<String>,
    /// `None`: the engine made none, or the file does not have it.
    pub plan: Option<Plan>,
    /// Why its plan could not be read, and its position.
    pub damage: Option<String>,
}

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// In the engine's own unit.
    pub cost: Option<f64>,
    /// Time of the run that is recorded in it, with planning where that is known, ms.
    pub elapsed_ms: Option<f64>,
    /// Processor time of that run, ms.
    pub cpu_ms: Option<f64>,
    /// Time that planning took, ms.
    pub planning_ms: Option<f64>,
    /// Threads or processes at most; 1 of a serial plan.
    pub degree: Option<u32>,
    /// Why it is serial, in the engine's words.
    pub serial_reason: Option<String>,
    /// Why the optimizer stopped early, in the engine's words.
    pub early_abort: Option<String>,
    /// Processor time that planning took, ms.
    #[serde(default)]
    pub planning_cpu_ms: Option<f64>,
    /// Time of the run in which the statement was compiled to machine code, ms.
    #[serde(default)]
    pub compilation_ms: Option<f64>,
    /// Time of the run in user-defined functions, ms.
    #[serde(default)]
    pub functions_ms: Option<f64>,
    /// Memory that was reserved for the run.
    #[serde(default)]
    pub memory: Option<Memory>,
    /// Properties of the statement that its text or the engine states.
    #[serde(default)]
    pub traits: Vec<Trait>,
    /// Statistics of columns from which its rows were estimated.
    #[serde(default)]
    pub statistics: Vec<Statistics>,
    /// The operators.
    pub root: Option<Operator>,
    /// Indexes that the optimizer itself missed.
    pub missing_indexes: Vec<MissingIndex>,
    /// Values that it was compiled for and run with.
    pub parameters: Vec<Parameter>,
    /// The waits of the run.
    pub waits: Vec<Wait>,
    /// The engine's warnings about the whole statement.
    pub warnings: Vec<Warning>,
    /// Parts of the file that this reader does not know, by name.
    pub unknown: Vec<String>,
}

/// An operator with its inputs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Operator {
    /// The kind.
    pub kind: Kind,
    /// The engine's own name: `Clustered Index Seek`, `Index Only Scan`.
    pub name: String,
    /// More from the engine: `Left Outer Join`, `Hashed`.
    pub detail: String,
    /// The part of the statement that begins here, in the engine's words: `SubPlan 1`, `CTE x`.
    pub part: Option<String>,
    /// The table and index that it reads or changes; the first of several.
    pub objects: Vec<Object>,
    /// How it gets at them.
    pub access: Option<Access>,
    /// Cost with all its inputs, in the engine's unit.
    pub cost: Option<f64>,
    /// The cost of one run of it without its inputs, by resource, where the plan has it.
    pub run_cost: Option<RunCost>,
    /// The parts of its estimated cost that a published formula explains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cost_parts: Vec<CostPart>,
    /// Rows that leave it.
    pub rows: Rows,
    /// Rows that it read to find them.
    pub rows_read: Rows,
    /// The number of times that it was run, over all threads.
    pub executions: Option<f64>,
    /// Time of the run with all its inputs, ms: the slowest thread's.
    pub elapsed_ms: Option<f64>,
    /// The part of that time in which other operators waited for this one, though it is not their
    /// input: a common table expression runs when it is first read. `None` of an input.
    pub charged_ms: Option<f64>,
    /// Time of such other operators in `elapsed_ms`, ms.
    pub started_ms: f64,
    /// Pages that were found in memory, and that were read.
    pub pages: Option<(f64, f64)>,
    /// Conditions.
    pub predicates: Vec<Predicate>,
    /// True when several threads run it.
    pub is_parallel: bool,
    /// Rows that left it in each thread or process; empty where the plan does not have them.
    pub thread_rows: Vec<f64>,
    /// Further properties.
    pub properties: Vec<Property>,
    /// The engine's warnings.
    pub warnings: Vec<Warning>,
    /// The inputs.
    pub inputs: Vec<Operator>,
}

/// The cost of one run of an operator without its inputs, in the engine's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RunCost {
    /// Of the processor.
    pub cpu: f64,
    /// Of reads and writes.
    pub io: f64,
}

impl RunCost {
    /// The part that is CPU cost, from 0 to 1; `None` where both are 0.
    pub fn cpu_share(self) -> Option<f64> {
        let sum = self.cpu + self.io;
        (sum > 0.0).then(|| self.cpu / sum)
    }
}

/// Rows as expected and as counted, over all executions and threads: those of the run where one is
/// recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// By the optimizer.
    pub estimated: Option<f64>,
    /// In the run that is recorded.
    pub actual: Option<f64>,
}

/// A table, and where one is used the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Object {
    /// Empty where the plan does not have it.
    pub database: String,
    /// Empty where the plan does not have it.
    pub schema: String,
    /// The name.
    pub table: String,
    /// `None`: the table itself.
    pub index: Option<String>,
}

/// Memory that was reserved for a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// KiB.
    pub granted_kib: f64,
    /// The most that was used, KiB.
    pub used_kib: f64,
    /// Time that the statement waited for it, ms.
    pub wait_ms: f64,
}

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predicate {
    /// Where it is applied.
    pub role: Role,
    /// As the engine writes it, with its literals.
    pub text: String,
    /// Parts for which the order of an index is of no use.
    #[serde(default)]
    pub obstacles: Vec<Obstacle>,
}

impl Predicate {
    /// A condition in the syntax of an engine.
    pub fn new(role: Role, text: impl Into<String>, syntax: Syntax) -> Self {
        let text = text.into();
        let obstacles = if role == Role::Seek { Vec::new() } else { obstacles(&text, syntax) };
        Self { role, text, obstacles }
    }
}

/// Where a condition is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It says where to look in an index.
    Seek,
    /// It drops rows after they were read.
    Filter,
    /// It says which rows belong together.
    Join,
}

/// An index that the optimizer would have used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MissingIndex {
    /// Of which table.
    pub object: Object,
    /// The part of the statement's estimated cost that it would save, as the engine estimates,
    /// from 0 to 1.
    pub impact: Option<f64>,
    /// Columns that are compared with `=`.
    pub equality: Vec<String>,
    /// Columns that are compared otherwise.
    pub inequality: Vec<String>,
    /// Columns that are only read.
    pub included: Vec<String>,
}

/// A parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The value that the plan was made for.
    pub compiled: Option<String>,
    /// The value of this run.
    pub run: Option<String>,
    /// True when both are known and differ.
    pub differs: bool,
}

/// Statistics of columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The table.
    pub object: Object,
    /// Their name.
    pub name: String,
    /// Rows of the table, where the plan has them.
    pub rows: Option<f64>,
    /// Changes since they were gathered.
    pub changes: f64,
    /// Share of the rows that was read for them, from 0 to 1.
    pub sampled: f64,
    /// When they were gathered, as the engine writes it.
    pub updated: String,
}

/// A wait of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// The engine's name.
    pub name: String,
    /// ms, all waits together.
    pub wait_ms: f64,
    /// The number.
    pub count: f64,
}

/// A warning of the engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// The engine's name of it: `SpillToTempDb`.
    pub name: String,
    /// The details, as `name value` pairs.
    pub detail: String,
    /// Bytes that an operator wrote because its memory did not suffice.
    #[serde(default)]
    pub bytes: Option<f64>,
}

impl Operator {
    /// `Hash Match (Inner Join, parallel)`.
    pub fn title(&self) -> String {
        let parallel = if self.is_parallel { "parallel" } else { "" };
        let more = [self.detail.as_str(), parallel].into_iter().filter(|part| !part.is_empty());
        let more = more.collect::<Vec<_>>().join(", ");
        if more.is_empty() { self.name.clone() } else { format!("{} ({more})", self.name) }
    }

    /// This operator and all below it with their depth, from the top.
    pub fn tree(&self) -> Vec<(usize, &Self)> {
        let mut all = Vec::new();
        let mut next = vec![(0, self)];
        while let Some((depth, operator)) = next.pop() {
            all.push((depth, operator));
            next.extend(operator.inputs.iter().rev().map(|input| (depth + 1, input)));
        }
        all
    }
}

impl Plan {
    /// The operators with their depth, from the top.
    pub fn operators(&self) -> Vec<(usize, &Operator)> {
        self.root.as_ref().map_or_else(Vec::new, Operator::tree)
    }

    /// Visits every text in which constants may stand: values of parameters, conditions, and
    /// warnings that quote them.
    pub fn visit_texts(&mut self, terms: &Terms, mut visit: impl FnMut(&mut String)) {
        for parameter in &mut self.parameters {
            parameter.compiled.iter_mut().chain(&mut parameter.run).for_each(&mut visit);
        }
        for role in &mut self.traits {
            if let Trait::Variant { condition, .. } = role {
                visit(condition);
            }
        }
        // The figures of a spill, for instance, are no constants of the statement.
        let quotes =
            |warning: &&mut Warning| terms.quoting_warnings.contains(&warning.name.as_str());
        self.warnings.iter_mut().filter(quotes).for_each(|warning| visit(&mut warning.detail));
        self.visit_operators(|operator| {
            operator.predicates.iter_mut().for_each(|predicate| visit(&mut predicate.text));
            operator
                .warnings
                .iter_mut()
                .filter(quotes)
                .for_each(|warning| visit(&mut warning.detail));
        });
    }

    /// Visits every operator.
    pub fn visit_operators(&mut self, mut visit: impl FnMut(&mut Operator)) {
        let mut next: Vec<&mut Operator> = self.root.iter_mut().collect();
        while let Some(operator) = next.pop() {
            visit(operator);
            next.extend(&mut operator.inputs);
        }
    }
}

impl Object {
    /// `Sales.Orders (IX_Date)`: without the schemas that tables are in unless one is named.
    pub fn label(&self) -> String {
        let schema = match self.schema.as_str() {
            "" | "dbo" | "public" => String::new(),
            schema => format!("{schema}."),
        };
        let index = self.index.as_ref().map(|index| format!(" ({index})"));
        format!("{schema}{}{}", self.table, index.unwrap_or_default()).trim().to_owned()
    }
}

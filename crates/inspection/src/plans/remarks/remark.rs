//! A finding, and what all rules share.

use observations::number::{count, grouped};
use serde::Serialize;

/// Estimates and figures that differ by less than this factor are alike: three joins multiply
/// errors of 2 to this (Leis and others, "How Good Are Query Optimizers, Really?", VLDB 2015, show
/// errors by joins).
pub const OFF: f64 = 10.0;
/// Fewer rows than this are nothing to look at, however far off they are.
pub const ROWS: f64 = 100.0;
/// Operators with a smaller share are silent: without them the run would hardly be shorter than
/// runs of the same statement differ.
pub(crate) const MATTERS: f64 = 0.05;

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remark {
    /// The rule that found it.
    pub rule: Rule,
    /// A number in [`Plan::operators`], from 0; `None` of the whole statement.
    pub operator: Option<usize>,
    /// The share of the run or of the estimated cost: at most so much can be saved. `None` where
    /// the plan does not say.
    pub share: Option<Share>,
    /// The figures and their meaning.
    pub text: String,
}

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The engine warns.
    Warning,
    /// Rows came that were not expected, or the other way round, though its inputs are as
    /// expected: here it begins.
    Estimate,
    /// Many rows were read and few were kept.
    ReadForNothing,
    /// Many rows of other operators were dropped.
    LateFilter,
    /// Many single rows were fetched from the table by what an index has found.
    Lookups,
    /// An index was made for this run.
    IndexBuilt,
    /// Rows were kept to read them again.
    Materialized,
    /// Results were kept for values that hardly came again.
    CacheMissed,
    /// A single thread had most of the rows.
    Skew,
    /// Most threads had nothing to do.
    IdleThreads,
    /// Fewer workers came than were planned.
    WorkersMissing,
    /// Much more memory was reserved than was used.
    MemoryUnused,
    /// The statement waited for memory.
    MemoryWait,
    /// The inner input of a join ran very often.
    Executions,
    /// A function of a column.
    Function,
    /// A conversion of a column.
    Conversion,
    /// Arithmetic with a column.
    Arithmetic,
    /// A CASE in a condition.
    Case,
    /// A pattern without a beginning.
    LeadingWildcard,
    /// A join by alternatives.
    AlternativeKeys,
    /// A range that is computed because types differ.
    MismatchedTypes,
    /// A user-defined function for each row.
    FunctionPerRow,
    /// A user-defined function that returns rows.
    TableFunction,
    /// A variable with rows.
    TableVariable,
    /// A plan for the first rows that had to read many.
    RowGoal,
    /// A join of repeated keys.
    ManyToMany,
    /// NOT IN with values that may be unknown.
    NullAware,
    /// A bitmap that did not fit into its memory.
    LossyBitmap,
    /// Rows that were fetched though the index has all columns.
    HeapFetches,
    /// A way of reading that is chosen for each row.
    ChosenPerRow,
    /// A change of many indexes.
    ManyIndexes,
    /// The plan was made for other values than it ran with.
    Parameters,
    /// The plan was made for unknown values.
    UnknownValues,
    /// A plan of several for different values.
    Variant,
    /// A hint makes the plan serial.
    SerialByHint,
    /// It is serial for another reason.
    Serial,
    /// The optimizer gave up before it had looked at all plans.
    EarlyAbort,
    /// Planning took long.
    Planning,
    /// Compilation to machine code took long.
    Compilation,
    /// The optimizer missed an index.
    MissingIndex,
    /// A cursor that reads again for each fetch.
    DynamicCursor,
    /// Statistics that are older than the data, or of a small sample.
    Statistics,
}

/// A number of rows or runs: whole where it is.
pub fn shown(value: f64) -> String {
    let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    if is_whole { count(value as u64) } else { grouped(value) }
}

/// A share of a run or of the estimated cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// From 0 to 1.
    pub part: f64,
    /// Of what.
    pub of: Measure,
}

/// A whole that shares are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The time of the run.
    Time,
    /// The cost that the optimizer estimates.
    Cost,
}

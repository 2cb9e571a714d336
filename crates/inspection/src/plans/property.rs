//! Properties of operators and statements that remarks are about.

use serde::{Deserialize, Serialize};

/// A property of an operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// It makes an index for this run and drops it.
    IndexBuilt,
    /// It keeps a result for each value that it was asked for.
    Cache {
        /// Requests that ran its inputs.
        misses: f64,
        /// Requests that a kept result answered.
        hits: f64,
    },
    /// Both of its inputs may repeat a key, so that rows are kept to join them again.
    ManyToMany,
    /// It joins by alternatives, of which each needs an access of its own.
    AlternativeKeys,
    /// It compares with a list in which an unknown value makes the answer unknown.
    NullAware,
    /// The types of a column and of its value differ: the range to seek is computed in the run.
    MismatchedTypes,
    /// It was planned for the first rows only.
    RowGoal {
        /// Rows expected of all.
        without: f64,
    },
    /// It calls a user-defined function for each row.
    FunctionPerRow(String),
    /// It runs a user-defined function whose rows are not estimated from statistics.
    TableFunction,
    /// It reads or changes a variable with rows, which has no statistics.
    TableVariable,
    /// It starts workers.
    Workers {
        /// By the plan.
        planned: f64,
        /// In the run.
        launched: f64,
    },
    /// Pages by a bitmap, of which it keeps single rows or, where memory did not suffice, whole
    /// pages.
    Bitmap {
        /// Pages of which it knows the rows.
        exact: f64,
        /// Pages of which all rows are compared again.
        lossy: f64,
    },
    /// Rows that an index held, but that were fetched to see whether they are visible.
    HeapFetches(f64),
    /// It computes a part of the statement and keeps its rows before the rest begins.
    PartKept,
    /// It chooses how to read its table again for each row.
    ChosenPerRow,
}

/// A property of a statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trait {
    /// Variables whose values the optimizer did not know.
    UnknownValues {
        /// Their names.
        names: Vec<String>,
        /// True when the statement asks for it.
        is_wanted: bool,
    },
    /// It asks for a serial plan.
    SerialByHint,
    /// A cursor that sees changes, and reads again for each fetch.
    DynamicCursor(String),
    /// A plan of several that differ by the number of rows of a value.
    Variant {
        /// The condition whose values differ in their rows.
        condition: String,
        /// The least number of rows.
        low: f64,
        /// The greatest number of rows.
        high: f64,
    },
}

//! The vocabulary of operators.

use serde::{Deserialize, Serialize};

/// A kind of operator. Engines have hundreds of names; a reader of plans needs one of these.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reads a whole table.
    TableScan,
    /// Reads a whole index, or a clustered index, which is the table.
    IndexScan,
    /// Reads a part of an index by its key.
    IndexSeek,
    /// Fetches rows of the table that an index has found.
    Lookup,
    /// For each row of one input, the other is read.
    NestedLoops,
    /// Joins by a hash table.
    HashJoin,
    /// Joins sorted inputs.
    MergeJoin,
    /// Sorts.
    Sort,
    /// Groups sorted rows, or all rows into one; window functions too.
    Aggregate,
    /// Groups by a hash table.
    HashAggregate,
    /// Drops rows.
    Filter,
    /// Passes the first rows.
    Limit,
    /// Keeps rows to read them again.
    Spool,
    /// Hands rows from one thread or process to others.
    Exchange,
    /// Several inputs one after the other.
    Append,
    /// Computes columns.
    Compute,
    /// Calls a function that returns rows.
    Function,
    /// Rows that are written in the statement.
    Constant,
    /// Inserts, updates, deletes or merges.
    Modify,
    /// Another operator: the engine's name says more.
    #[default]
    Other,
}

/// How an operator gets at a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// All of it.
    Scan,
    /// By a key or a range of keys.
    Seek,
    /// By the place that an index has.
    Lookup,
    /// It is changed.
    Change,
}

impl Kind {
    /// How an operator of this kind gets at a table; `None` of one that works on rows.
    pub fn access(self) -> Option<Access> {
        match self {
            Self::TableScan | Self::IndexScan => Some(Access::Scan),
            Self::IndexSeek => Some(Access::Seek),
            Self::Lookup => Some(Access::Lookup),
            Self::Modify => Some(Access::Change),
            _ => None,
        }
    }
}

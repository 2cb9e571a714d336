//! The vocabulary of operators.

use serde::{Deserialize, Serialize};

/// What an operator does. Engines have hundreds of names; what a plan's reader asks is one of
/// these.
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
    /// None of these: the engine's name says more.
    #[default]
    Other,
}

impl Kind {
    /// Of an operator of SQL Server, by its physical and its logical name.
    pub(crate) fn of_sql_server(physical: &str, logical: &str, is_lookup: bool) -> Self {
        match physical {
            _ if is_lookup => Self::Lookup,
            "Key Lookup" | "RID Lookup" => Self::Lookup,
            "Clustered Index Seek" | "Index Seek" => Self::IndexSeek,
            "Table Scan" | "Remote Scan" | "Deleted Scan" | "Inserted Scan" | "Log Row Scan" => {
                Self::TableScan
            }
            "Nested Loops" => Self::NestedLoops,
            "Merge Join" if logical == "Union" => Self::Append,
            "Merge Join" => Self::MergeJoin,
            "Hash Match" if logical.contains("Join") => Self::HashJoin,
            "Hash Match" if logical == "Union" => Self::Append,
            "Hash Match" => Self::HashAggregate,
            "Adaptive Join" => Self::HashJoin,
            "Sort" | "Top N Sort" => Self::Sort,
            "Stream Aggregate" | "Window Aggregate" => Self::Aggregate,
            "Filter" => Self::Filter,
            "Top" => Self::Limit,
            "Concatenation" => Self::Append,
            "Parallelism" => Self::Exchange,
            "Compute Scalar" | "Sequence Project" => Self::Compute,
            "Constant Scan" => Self::Constant,
            "Table-valued function" => Self::Function,
            other if other.ends_with("Scan") => Self::IndexScan,
            other if other.ends_with("Spool") => Self::Spool,
            other
                if ["Insert", "Update", "Delete", "Merge"]
                    .iter()
                    .any(|verb| other.ends_with(verb)) =>
            {
                Self::Modify
            }
            _ => Self::Other,
        }
    }

    /// Of a node of PostgreSQL, by its name in text format without `Parallel`, `Partial` and the
    /// like.
    pub(crate) fn of_postgres(node: &str) -> Self {
        match node {
            "Seq Scan" | "Sample Scan" | "Tid Scan" | "Tid Range Scan" | "Foreign Scan"
            | "Custom Scan" => Self::TableScan,
            "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => Self::IndexSeek,
            "Bitmap Heap Scan" => Self::Lookup,
            "Nested Loop" => Self::NestedLoops,
            "Hash Join" => Self::HashJoin,
            "Merge Join" => Self::MergeJoin,
            "Sort" | "Incremental Sort" => Self::Sort,
            "Aggregate" | "GroupAggregate" | "Group" | "WindowAgg" | "Unique" => Self::Aggregate,
            "HashAggregate" | "MixedAggregate" => Self::HashAggregate,
            "Limit" => Self::Limit,
            "Materialize" | "Memoize" | "CTE Scan" | "WorkTable Scan" => Self::Spool,
            "Gather" | "Gather Merge" => Self::Exchange,
            "Append" | "Merge Append" | "SetOp" | "HashSetOp" | "Recursive Union" | "BitmapAnd"
            | "BitmapOr" => Self::Append,
            "Result" | "ProjectSet" | "Values Scan" => Self::Constant,
            "Function Scan" | "Table Function Scan" => Self::Function,
            "ModifyTable" | "Insert" | "Update" | "Delete" | "Merge" => Self::Modify,
            _ => Self::Other,
        }
    }

    /// Of a table of MariaDB and MySQL, by its access type
    /// (<https://mariadb.com/kb/en/explain/>,
    /// <https://dev.mysql.com/doc/refman/8.4/en/explain-output.html>).
    pub(crate) fn of_mariadb(access: &str) -> Self {
        match access.to_ascii_lowercase().as_str() {
            "all" => Self::TableScan,
            "index" => Self::IndexScan,
            "system" => Self::Constant,
            "const" | "eq_ref" | "ref" | "ref_or_null" | "range" | "fulltext" | "index_merge"
            | "unique_subquery" | "index_subquery" | "hash_range" | "hash_ref" => Self::IndexSeek,
            _ => Self::Other,
        }
    }

    /// Of an operator of MySQL's tree, by its kinds of access and of join.
    pub(crate) fn of_mysql(access: &str, of_index: &str, of_join: &str) -> Self {
        match access {
            "table" => Self::TableScan,
            "index" if of_index == "index_scan" => Self::IndexScan,
            "index" => Self::IndexSeek,
            "join" if of_join == "hash" => Self::HashJoin,
            "join" => Self::NestedLoops,
            "filter" => Self::Filter,
            "sort" => Self::Sort,
            "limit" => Self::Limit,
            "aggregate" | "window" | "remove_duplicates" => Self::Aggregate,
            "temp_table_aggregate" => Self::HashAggregate,
            "materialize" => Self::Spool,
            "append" | "rowid_intersection" | "rowid_union" => Self::Append,
            "materialized_table_function" => Self::Function,
            "rows_fetched_before_execution" | "zero_rows" | "constant_row" => Self::Constant,
            "insert_values" | "insert" | "replace_values" | "update" | "delete" => Self::Modify,
            _ => Self::Other,
        }
    }
}

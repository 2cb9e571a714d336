//! Statement counters: one vocabulary for all engines.

use serde::{Deserialize, Serialize};

/// The unit of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: a number of things.
    Number,
    /// Nanoseconds.
    Nanoseconds,
    /// Pages of the server.
    Blocks,
    /// Bytes.
    Bytes,
}

/// Each counter with the name that people read and its unit.
macro_rules! counters {
    ($($(#[$meaning:meta])+ $name:ident: $label:literal, $unit:ident;)+) => {
        /// A counter of a statement. It only grows, until the server evicts the statement or its
        /// counters are reset.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Counter {
            $($(#[$meaning])+ $name,)+
        }

        impl Counter {
            /// All of them, in the order in which they are shown, with the names that people read.
            pub const ALL: &[(Self, &str, Unit)] = &[$((Self::$name, $label, Unit::$unit),)+];
        }
    };
}

counters! {
    /// Runs.
    Calls: "calls", Number;
    /// Time of the runs.
    TimeNs: "time", Nanoseconds;
    /// Processor time of the runs, where the server knows it.
    CpuNs: "CPU time", Nanoseconds;
    /// Time in which runs waited for locks of tables.
    LockNs: "lock time", Nanoseconds;
    /// The number of plans that were made of it.
    Plans: "plans made", Number;
    /// Time of planning.
    PlanningNs: "planning", Nanoseconds;
    /// Rows that it returned or changed.
    Rows: "rows", Number;
    /// Rows that it read to find them.
    RowsRead: "rows read", Number;
    /// Pages of tables and indexes that were found in the server's cache.
    SharedHitBlocks: "shared hit", Blocks;
    /// Local blocks that were read.
    SharedReadBlocks: "shared read", Blocks;
    /// Local blocks that it changed first.
    SharedDirtiedBlocks: "shared dirtied", Blocks;
    /// Shared blocks that it had to write itself.
    SharedWrittenBlocks: "shared written", Blocks;
    /// Pages of temporary tables that were found in memory.
    LocalHitBlocks: "local hit", Blocks;
    /// Local blocks that were read.
    LocalReadBlocks: "local read", Blocks;
    /// Local blocks that it changed first.
    LocalDirtiedBlocks: "local dirtied", Blocks;
    /// Local blocks that it wrote.
    LocalWrittenBlocks: "local written", Blocks;
    /// Pages of temporary files that it read.
    TempReadBlocks: "temporary read", Blocks;
    /// Pages of temporary files that it wrote: work that did not fit in memory.
    TempWrittenBlocks: "temporary written", Blocks;
    /// Pages of SQL Server's tempdb that it used.
    TempdbBlocks: "tempdb", Blocks;
    /// Time of reading pages of tables and indexes.
    ReadNs: "read time", Nanoseconds;
    /// Time of writing them.
    WriteNs: "write time", Nanoseconds;
    /// Records that it wrote to the log.
    WalRecords: "WAL records", Number;
    /// Whole pages in them.
    WalFullPages: "WAL full pages", Number;
    /// Bytes that it wrote to the log.
    WalBytes: "WAL", Bytes;
    /// Functions that were compiled for it.
    JitFunctions: "JIT functions", Number;
    /// Time of compiling them.
    JitNs: "JIT", Nanoseconds;
    /// Runs that read a table, the first of a join, without an index.
    WithoutIndex: "runs without index", Number;
    /// Joins of a run that read a table without an index.
    JoinsWithoutIndex: "joins without index", Number;
    /// Temporary tables in memory.
    TempTables: "temporary tables", Number;
    /// Temporary tables in files.
    TempDiskTables: "temporary tables on disk", Number;
    /// Passes over temporary files of sorts.
    SortMergePasses: "sort merge passes", Number;
    /// Sorts.
    Sorts: "sorts", Number;
    /// Rows that were put into indexes which the engine built for a run alone.
    AutomaticIndexRows: "rows of automatic indexes", Number;
    /// Steps of the engine's virtual machine.
    MachineSteps: "machine steps", Number;
    /// Runs that failed.
    Errors: "errors", Number;
}

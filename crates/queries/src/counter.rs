//! What servers count of statements: one vocabulary for all engines.

use serde::{Deserialize, Serialize};

/// A counter of a statement. It only grows, until the server forgets the statement or is told to begin anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Runs.
    Calls,
    /// Time of the runs.
    TimeNs,
    /// Processor time of the runs, where the server knows it.
    CpuNs,
    /// Time in which runs waited for locks of tables.
    LockNs,
    /// How often it was planned.
    Plans,
    /// Time of planning.
    PlanningNs,
    /// Rows that it returned or changed.
    Rows,
    /// Rows that it read to find them.
    RowsRead,
    /// Pages of tables and indexes that were found in the server's cache.
    SharedHitBlocks,
    /// Those that were not.
    SharedReadBlocks,
    /// Those that it changed first.
    SharedDirtiedBlocks,
    /// Those that it had to write itself.
    SharedWrittenBlocks,
    /// Pages of temporary tables that were found in memory.
    LocalHitBlocks,
    /// Those that were not.
    LocalReadBlocks,
    /// Those that it changed first.
    LocalDirtiedBlocks,
    /// Those that it wrote.
    LocalWrittenBlocks,
    /// Pages of temporary files that it read.
    TempReadBlocks,
    /// Pages of temporary files that it wrote: work that did not fit in memory.
    TempWrittenBlocks,
    /// Pages of SQL Server's tempdb that it used.
    TempdbBlocks,
    /// Time of reading pages of tables and indexes.
    ReadNs,
    /// Time of writing them.
    WriteNs,
    /// Records that it wrote to the log.
    WalRecords,
    /// Whole pages in them.
    WalFullPages,
    /// Bytes that it wrote to the log.
    WalBytes,
    /// Functions that were compiled for it.
    JitFunctions,
    /// Time of compiling them.
    JitNs,
    /// Runs that read a table, the first of a join, without an index.
    WithoutIndex,
    /// Joins of a run that read a table without an index.
    JoinsWithoutIndex,
    /// Temporary tables in memory.
    TempTables,
    /// Temporary tables in files.
    TempDiskTables,
    /// Passes over temporary files of sorts.
    SortMergePasses,
    /// Sorts.
    Sorts,
    /// Rows that were put into indexes which the engine built for a run alone.
    AutomaticIndexRows,
    /// Steps of the engine's virtual machine.
    MachineSteps,
    /// Runs that failed.
    Errors,
}

/// What a counter counts in.
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

impl Counter {
    /// All of them, in the order in which they are shown, with the names that people read.
    pub const ALL: [(Self, &'static str, Unit); 35] = [
        (Self::Calls, "calls", Unit::Number),
        (Self::TimeNs, "time", Unit::Nanoseconds),
        (Self::CpuNs, "processor time", Unit::Nanoseconds),
        (Self::LockNs, "lock time", Unit::Nanoseconds),
        (Self::Plans, "plans made", Unit::Number),
        (Self::PlanningNs, "planning", Unit::Nanoseconds),
        (Self::Rows, "rows", Unit::Number),
        (Self::RowsRead, "rows read", Unit::Number),
        (Self::SharedHitBlocks, "shared hit", Unit::Blocks),
        (Self::SharedReadBlocks, "shared read", Unit::Blocks),
        (Self::SharedDirtiedBlocks, "shared dirtied", Unit::Blocks),
        (Self::SharedWrittenBlocks, "shared written", Unit::Blocks),
        (Self::LocalHitBlocks, "local hit", Unit::Blocks),
        (Self::LocalReadBlocks, "local read", Unit::Blocks),
        (Self::LocalDirtiedBlocks, "local dirtied", Unit::Blocks),
        (Self::LocalWrittenBlocks, "local written", Unit::Blocks),
        (Self::TempReadBlocks, "temporary read", Unit::Blocks),
        (Self::TempWrittenBlocks, "temporary written", Unit::Blocks),
        (Self::TempdbBlocks, "tempdb", Unit::Blocks),
        (Self::ReadNs, "read time", Unit::Nanoseconds),
        (Self::WriteNs, "write time", Unit::Nanoseconds),
        (Self::WalRecords, "WAL records", Unit::Number),
        (Self::WalFullPages, "WAL full pages", Unit::Number),
        (Self::WalBytes, "WAL", Unit::Bytes),
        (Self::JitFunctions, "JIT functions", Unit::Number),
        (Self::JitNs, "JIT", Unit::Nanoseconds),
        (Self::WithoutIndex, "runs without index", Unit::Number),
        (Self::JoinsWithoutIndex, "joins without index", Unit::Number),
        (Self::TempTables, "temporary tables", Unit::Number),
        (Self::TempDiskTables, "temporary tables on disk", Unit::Number),
        (Self::SortMergePasses, "sort merge passes", Unit::Number),
        (Self::Sorts, "sorts", Unit::Number),
        (Self::AutomaticIndexRows, "rows of automatic indexes", Unit::Number),
        (Self::MachineSteps, "machine steps", Unit::Number),
        (Self::Errors, "errors", Unit::Number),
    ];
}

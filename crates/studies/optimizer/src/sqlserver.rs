//! SQL Server's query optimizer as plain data
//! (<https://learn.microsoft.com/sql/t-sql/queries/hints-transact-sql-table>,
//! <https://learn.microsoft.com/sql/t-sql/statements/set-showplan-xml-transact-sql>).

use crate::optimizer::{Alternative, Explain, Optimizer, Statistics};
use engine::Results;
use inspection::plans::{Plan, PlanError};
use inspection::sqlserver::PLANS;

/// The optimizer.
pub const OPTIMIZER: Optimizer = Optimizer {
    // Either option must be the only statement of its batch.
    explain: Explain {
        before: &["SET SHOWPLAN_XML ON"],
        words: "",
        after: &["SET SHOWPLAN_XML OFF"],
        runs: false,
    },
    analyze: &[Explain {
        before: &["SET STATISTICS XML ON"],
        words: "",
        after: &["SET STATISTICS XML OFF"],
        runs: true,
    }],
    read,
    alternatives: &[
        // Index 0 is the table itself, clustered or not.
        Alternative::by_hint("scan", " WITH (INDEX(0), FORCESCAN)")
            .scanning(&["Clustered Index Scan", "Table Scan"]),
        Alternative::by_hint("index", " WITH (INDEX({index}), FORCESEEK)").reading(&["Index Seek"]),
        Alternative::by_hint("index-scan", " WITH (INDEX({index}), FORCESCAN)")
            .reading(&["Index Scan"]),
        Alternative::by_end("serial", " OPTION (MAXDOP 1)").avoiding(&["Parallelism"]),
        // In sys.dm_exec_valid_use_hints from 2016 SP1 CU2 on: without the cost threshold.
        Alternative::by_end("parallel", " OPTION (USE HINT('ENABLE_PARALLEL_PLAN_PREFERENCE'))")
            .needing(&["Parallelism"]),
        // A join hint of a query holds for all of its joins.
        Alternative::by_end("loop-join", " OPTION (LOOP JOIN)")
            .avoiding(&["Hash Match", "Merge Join"]),
        Alternative::by_end("hash-join", " OPTION (HASH JOIN)")
            .avoiding(&["Nested Loops", "Merge Join"]),
        Alternative::by_end("merge-join", " OPTION (MERGE JOIN)")
            .avoiding(&["Nested Loops", "Hash Match"]),
        Alternative::by_end("written-order", " OPTION (FORCE ORDER)"),
    ],
    unforced: &["SQL Server's hint for a parallel plan is a preference: MAXDOP is an upper limit."],
    read_only: &[],
    index: "SELECT TOP 1 QUOTENAME(i.name) FROM sys.indexes i JOIN sys.index_columns k ON \
            k.object_id = i.object_id AND k.index_id = i.index_id JOIN sys.columns c ON \
            c.object_id = k.object_id AND c.column_id = k.column_id WHERE i.object_id = \
            OBJECT_ID('{table}') AND i.type = 2 AND k.key_ordinal = 1 AND c.name = '{column}' \
            ORDER BY i.index_id",
    row_at: "OFFSET {skipped} ROWS FETCH NEXT 1 ROWS ONLY",
    statistics: Statistics {
        gather: &["UPDATE STATISTICS {table}"],
        sample: &[
            "UPDATE STATISTICS {table} WITH SAMPLE {sample} ROWS, PERSIST_SAMPLE_PERCENT = ON",
        ],
        by_rows: &[],
        extended: &["CREATE STATISTICS steelbench_optimizer ON {table} ({columns})"],
    },
    formulas: None,
    hints: None,
    prefix: None,
};

fn read(results: &Results) -> Result<Plan, PlanError> {
    let text = results.last.first().and_then(Option::as_deref).unwrap_or_default();
    PLANS.read_one(text)
}

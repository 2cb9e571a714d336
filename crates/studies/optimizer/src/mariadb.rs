//! The optimizer of MariaDB and MySQL as plain data
//! (<https://mariadb.com/kb/en/index-hints-how-to-force-query-plans/>).

use crate::optimizer::{Alternative, Explain, LIMIT_OFFSET, Optimizer, Statistics};
use engine::Results;
use inspection::mariadb::PLANS;
use inspection::plans::{Plan, PlanError};

/// The optimizer.
pub const OPTIMIZER: Optimizer = Optimizer {
    explain: Explain::words("EXPLAIN FORMAT=JSON "),
    analyze: &[
        Explain::words("ANALYZE FORMAT=JSON "),
        // MySQL from 8.3 up.
        Explain {
            before: &["SET SESSION explain_json_format_version = 2"],
            words: "EXPLAIN ANALYZE FORMAT=JSON ",
            after: &[],
            runs: true,
        },
    ],
    read,
    alternatives: &[
        Alternative::by_hint("scan", " USE INDEX ()").scanning(&["Table: ALL", "Table scan"]),
        Alternative::by_hint("index", " FORCE INDEX ({index})").reading(&["Table: r", "Index"]),
        Alternative::by_session(
            "no-semijoin",
            &["SET SESSION optimizer_switch = 'semijoin=off,materialization=off'"],
        ),
    ],
    unforced: &["MariaDB and MySQL cannot be made to sort row addresses before they fetch rows \
         (multi-range read): optimizer_switch permits it, and the optimizer decides by cost."],
    read_only: &["SET SESSION TRANSACTION READ ONLY"],
    index: "SELECT concat('`', index_name, '`') FROM information_schema.statistics WHERE \
            table_schema = database() AND table_name = '{table}' AND column_name = '{column}' AND \
            seq_in_index = 1 LIMIT 1",
    row_at: LIMIT_OFFSET,
    statistics: Statistics {
        gather: &["ANALYZE TABLE {table}"],
        sample: &["ALTER TABLE {table} STATS_SAMPLE_PAGES = {sample}"],
        // The server's own statistics (MariaDB's engine-independent ones) with histograms, before
        // InnoDB's.
        by_rows: &[
            "SET SESSION use_stat_tables = 'preferably'",
            "SET SESSION optimizer_use_condition_selectivity = 4",
            "SET SESSION analyze_sample_percentage = {sample}",
            "ANALYZE TABLE {table} PERSISTENT FOR ALL",
        ],
        extended: &[],
    },
    formulas: None,
    hints: None,
    prefix: None,
};

fn read(results: &Results) -> Result<Plan, PlanError> {
    let text = results.last.first().and_then(Option::as_deref).unwrap_or_default();
    PLANS.read_one(text)
}

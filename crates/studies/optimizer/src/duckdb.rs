//! DuckDB's optimizer as plain data (<https://duckdb.org/docs/stable/configuration/overview>,
//! <https://duckdb.org/docs/stable/guides/performance/indexing>).
//!
//! It chooses between an index and a scan of the table when a query starts, by the rows that the
//! index finds, so that only a plan of a run names the choice.

use crate::optimizer::{Alternative, CostFormulas, Explain, LIMIT_OFFSET, Optimizer, Statistics};
use engine::Results;
use inspection::duckdb::{INDEX, SCAN};
use inspection::plans::{Plan, PlanError};

/// The words that run a statement and count the rows of its operators.
const ANALYZE: Explain =
    Explain { runs: true, ..Explain::words("EXPLAIN (ANALYZE, FORMAT JSON) ") };

/// The optimizer.
pub const OPTIMIZER: Optimizer = Optimizer {
    explain: ANALYZE,
    analyze: &[ANALYZE],
    read,
    alternatives: &[
        Alternative::by_session(
            "scan",
            &["SET index_scan_max_count = 0", "SET index_scan_percentage = 0"],
        )
        .scanning(&[SCAN]),
        Alternative::by_session(
            "index",
            &["SET index_scan_max_count = 1000000000000", "SET index_scan_percentage = 1"],
        )
        .reading(&[INDEX]),
        Alternative::by_session("no-pushdown", &["SET disabled_optimizers = 'filter_pushdown'"]),
        Alternative::by_session(
            "written-order",
            &["SET disabled_optimizers = 'join_order,build_side_probe_side'"],
        ),
    ],
    unforced: &[
        "DuckDB chooses between index and scan when a query starts: its plans are read from runs \
         of the query.",
        "disabled_optimizers switches rules of DuckDB off; the kind of join cannot be forced.",
    ],
    read_only: &[],
    // Only an index on the column alone serves a comparison.
    index: "SELECT '\"' || index_name || '\"' FROM duckdb_indexes() WHERE table_name = '{table}' \
            AND replace(expressions, '\"', '') IN ('[{column}]', '[''{column}'']') LIMIT 1",
    row_at: LIMIT_OFFSET,
    statistics: Statistics {
        gather: &["ANALYZE {table}"],
        sample: &[],
        by_rows: &[],
        extended: &[],
    },
    formulas: Some(&IndexLimit),
    hints: None,
    prefix: None,
};

fn read(results: &Results) -> Result<Plan, PlanError> {
    let text = results.last.get(1).and_then(Option::as_deref).unwrap_or_default();
    inspection::duckdb::read(text)
}

/// The documented limit of an index scan: it is used for at most `index_scan_max_count` rows or
/// `index_scan_percentage` of the table, whichever is more.
struct IndexLimit;

impl CostFormulas for IndexLimit {
    fn constant(&self) -> &'static str {
        "index_scan_max_count"
    }

    fn figures(&self) -> &'static str {
        "SELECT count(*), current_setting('index_scan_max_count'), \
         current_setting('index_scan_percentage') FROM {table}"
    }

    fn value(&self, figures: &[Option<String>]) -> Option<f64> {
        figure(figures, 1)
    }

    fn other_value(&self, value: f64) -> f64 {
        (value * 4.0).max(100.0)
    }

    fn set(&self, value: f64) -> String {
        format!("SET index_scan_max_count = {value}")
    }

    fn crossover_rows(&self, figures: &[Option<String>], value: f64) -> Option<f64> {
        let (rows, share) = (figure(figures, 0)?, figure(figures, 2)?);
        let first = value.max((rows * share).floor()) + 1.0;
        (first <= rows).then_some(first)
    }
}

fn figure(figures: &[Option<String>], at: usize) -> Option<f64> {
    figures.get(at)?.as_ref()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{IndexLimit, read};
    use crate::optimizer::CostFormulas as _;
    use engine::Results;

    #[test]
    fn the_profile_is_in_the_second_column() {
        let last = ["analyzed_plan", r#"{"result": "error"}"#].map(|cell| Some(cell.to_owned()));
        assert!(read(&Results { last: last.into(), ..Results::default() }).is_ok());
        assert!(read(&Results::default()).is_err());
    }

    #[test]
    fn the_limit_of_an_index_scan_is_the_larger_of_two() {
        let figures = |rows: &str, share: &str| {
            [Some(rows.to_owned()), Some("2048".to_owned()), Some(share.to_owned())]
        };
        let first = |rows: &str, share: &str| {
            IndexLimit.crossover_rows(&figures(rows, share), 2048.0).map(|rows| rows as u64)
        };
        assert_eq!(first("20000", "0.001"), Some(2049));
        assert_eq!(first("20000", "0.5"), Some(10_001));
        assert_eq!(first("2048", "0.001"), None);
    }
}

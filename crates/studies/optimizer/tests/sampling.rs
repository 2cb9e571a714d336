//! MariaDB's samples of pages (`innodb_stats_persistent_sample_pages` of a table) and of rows
//! (engine-independent statistics) over repeated gatherings.

use crate::engines::run_on;
use experiment::Value;
use optimizer::facts::ANALYZED;
use testing::trials::{Bench, installed, text};

/// Rows with each value, on average: what one look into the index of the inner table finds.
const ROWS_PER_VALUE: f64 = 100.0;
/// InnoDB reports half of them, so that an index looks better than a scan (`ha_innodb.cc`).
const BY_INNODB: f64 = ROWS_PER_VALUE / 2.0;

/// The smallest, middle and largest estimate of rows with a value of `a`, which few values have
/// most of: the pages of an index have one value in some places and many in others.
fn estimates(bench: &mut Bench<'_>, sampling: &str, sample: i64) -> [f64; 3] {
    let query = "SELECT count(*) FROM dials d STRAIGHT_JOIN dials ON dials.a = d.b WHERE d.id < 3 \
                 AND dials.c :varies";
    let settings = [
        ("workload.query", text(query)),
        ("workload.selectivity", Value::Float(1.0)),
        ("workload.rows", Value::Integer(20_000)),
        ("workload.distinct", Value::Integer((20_000.0 / ROWS_PER_VALUE) as i64)),
        ("workload.zipf", Value::Float(1.0)),
        ("workload.sampling", text(sampling)),
        ("workload.sample", Value::Integer(sample)),
        ("workload.analyzes", Value::Integer(9)),
        ("workload.runs", Value::Integer(1)),
    ];
    let observations = run_on(bench, &settings);
    ["min", "median", "max"].map(|member| ANALYZED.read(member, &observations).unwrap())
}

#[test]
fn samples_of_pages_vary_and_samples_of_all_rows_do_not() {
    let mariadb =
        installed().into_iter().filter(|installation| installation.name.starts_with("mariadb"));
    for engine in mariadb {
        let bench = &mut engine.bench();
        let [least, _, most] = estimates(bench, "default", 1);
        assert!(most > 1.2 * least, "one page: {least} to {most}");
        let [few, _, many] = estimates(bench, "default", 1_000);
        assert!(many <= 1.01 * few, "all pages: {few} to {many}");
        assert!((few / BY_INNODB - 1.0).abs() < 0.05, "{few}");
        let [low, _, high] = estimates(bench, "rows", 100);
        assert!(high - low < 1e-9, "all rows: {low} to {high}");
        assert!((low / ROWS_PER_VALUE - 1.0).abs() < 0.05, "{low}");
        // Of an index all entries are read, whatever the share of rows for columns is.
        let [few, _, many] = estimates(bench, "rows", 10);
        assert!((few - low).abs() < 1e-9 && many - few < 1e-9, "a tenth: {few} to {many}");
    }
}

//! Where PostgreSQL's plans turn parallel, by the documented rule: a table of at least
//! `min_parallel_table_scan_size` has a worker, and one more for each factor of three. The costs
//! are those of `cost_seqscan`, `get_parallel_divisor` and `cost_gather` (costsize.c, allpaths.c),
//! written here once more.

use crate::engines::postgres;
use experiment::Value;
use optimizer::OptimizerProbe;
use optimizer::facts::{
    CHANGES_ESTIMATED, FIRST_PLAN, FORCED, PARALLEL_CHANGE, PARALLEL_FIRST, PLAN_CHANGES,
};
use testing::trials::{Bench, ask, text};
use work::Statement;

const ROWS: f64 = 20_000.0;
const SETUP_COST: f64 = 50.0;

/// The rows of a query without an index from which on one process is cheaper than several: each row
/// that it returns has to be handed over by a worker.
fn last_parallel_rows(pages: f64, least_pages: f64, workers_max: f64) -> Option<f64> {
    let mut workers = 0.0;
    let mut size = least_pages;
    while pages >= size {
        workers += 1.0;
        size *= 3.0;
    }
    let workers = f64::min(workers, workers_max);
    if workers < 1.0 {
        return None;
    }
    let divisor = workers + f64::max(0.0, 1.0 - 0.3 * workers);
    let rows_cost = ROWS * (0.01 + 0.0025);
    let serial = pages + rows_cost;
    // Costs within 1 % count as equal, and the one process starts at once.
    let rows = (serial / 1.01 - (SETUP_COST + pages + rows_cost / divisor)) / 0.1;
    (rows >= 1.0).then_some(rows)
}

fn settings(least: &str, workers: i64) -> Vec<(&'static str, Value)> {
    vec![
        ("workload.query", text("SELECT a, c FROM dials WHERE b :varies")),
        ("workload.rows", Value::Integer(ROWS as i64)),
        ("workload.rows_per_page", Value::Integer(40)),
        ("workload.runs", Value::Integer(1)),
        ("target.settings.parallel_setup_cost", Value::Float(SETUP_COST)),
        ("target.settings.min_parallel_table_scan_size", text(least)),
        ("target.settings.max_parallel_workers_per_gather", Value::Integer(workers)),
    ]
}

fn plans_follow_the_rule(bench: &mut Bench<'_>, least: &str, least_pages: f64, workers: i64) {
    let removed = bench.measured(&OptimizerProbe, &settings(least, workers), |context, result| {
        let observations = result.unwrap();
        let pages = "SELECT pg_relation_size('dials') / 8192";
        let answer = ask(context, Statement::Text(pages)).unwrap();
        let pages: f64 = answer.last[0].as_ref().unwrap().parse().unwrap();
        let changes: Vec<(&str, f64)> = PLAN_CHANGES.members(&observations).collect();
        let Some(expected) = last_parallel_rows(pages, least_pages, workers as f64) else {
            assert_eq!(FIRST_PLAN.members(&observations).next(), Some(("Seq Scan dials", 1.0)));
            assert_eq!(
                (changes.len(), PARALLEL_FIRST.read(&observations)),
                (0, Some(0.0)),
                "{changes:?}"
            );
            return;
        };
        let (change, share) = changes[0];
        let estimated = CHANGES_ESTIMATED.read(change, &observations).unwrap() * ROWS;
        assert_eq!(change, "1: Gather < Seq Scan dials -> Seq Scan dials");
        assert!((estimated - expected).abs() <= 0.005 * expected + 2.0, "{estimated} {expected}");
        let parallel = (PARALLEL_FIRST.read(&observations), PARALLEL_CHANGE.read(&observations));
        assert_eq!(parallel, (Some(1.0), Some(share)));
    });
    removed.unwrap();
}

#[test]
fn plans_turn_parallel_by_the_documented_rule() {
    let Some(engine) = postgres() else { return };
    let bench = &mut engine.bench();
    // About 500 pages: two workers above 128 pages, one above 256, none above 1,024.
    plans_follow_the_rule(bench, "1MB", 128.0, 4);
    plans_follow_the_rule(bench, "2MB", 256.0, 4);
    plans_follow_the_rule(bench, "8MB", 1024.0, 4);
    plans_follow_the_rule(bench, "1MB", 128.0, 1);
}

/// A parallel plan is forced however small the table is, and a serial one where the choice is
/// parallel.
#[test]
fn parallel_and_serial_plans_are_forced() {
    let Some(engine) = postgres() else { return };
    let bench = &mut engine.bench();
    for (least, alternative) in [("8MB", "parallel"), ("1MB", "serial")] {
        let mut all = settings(least, 2);
        all.push(("workload.alternative", text(alternative)));
        let removed = bench.measured(&OptimizerProbe, &all, |_, observations| {
            let observations = observations.unwrap();
            println!("{alternative}: {}", observations.plans[0].text);
            assert_eq!(FORCED.read(&observations), Some(1.0), "{:?}", observations.warnings);
            assert_eq!(observations.plans[0].text.contains("Gather"), alternative == "parallel");
        });
        removed.unwrap();
    }
}

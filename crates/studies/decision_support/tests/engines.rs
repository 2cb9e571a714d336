//! The queries on real engines: the same answers everywhere, and the published ones at scale 1.

use decision_support::{DecisionSupport, QUERIES, published};
use engine::Results;
use experiment::Value;
use observations::Observations;
use testing::trials::{ask, duckdb, installed, text};
use work::Statement;

/// Position of Q1 among the operations of a trial.
const FIRST: usize = 1;

/// Returns whether two answers have as many rows, and last rows that differ by rounding alone.
fn are_equal(one: &Results, other: &Results) -> bool {
    let is_close = |pair: (&Option<String>, &Option<String>)| {
        let [one, other] = [pair.0, pair.1].map(|cell| cell.as_deref().unwrap_or("").trim());
        match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => (one - other).abs() <= 1e-3 * other.abs().max(1.0),
            _ => one.split(' ').next() == other.split(' ').next(),
        }
    };
    one.rows == other.rows
        && one.last.len() == other.last.len()
        && one.last.iter().zip(&other.last).all(is_close)
}

/// Each of two streams has run each query once; the response is the mean of their times.
fn are_recorded(seen: &Observations, name: &str) {
    assert_eq!(seen.work.amount, 2 * 22, "{name}");
    assert!(seen.statements.iter().all(|one| one.count == 2 && one.wall_s > 0.0), "{name}");
    let logarithms = seen.statements.iter().map(|one| (one.wall_s / 2.0).ln());
    let mean_s = (logarithms.sum::<f64>() / 22.0).exp();
    let response = seen.response("geometric_mean").unwrap();
    assert!((response / mean_s - 1.0).abs() < 1e-9, "{name}: {response} for {mean_s}");
    let q1 = seen.latencies.iter().find(|own| own.name == "query: Q1");
    assert_eq!(q1.map(|own| own.histogram.len()), Some(2), "{name}");
}

#[test]
fn all_engines_have_the_same_answers() {
    let mut known = Vec::<Results>::new();
    for engine in installed() {
        let given = [
            ("workload.scale", Value::Float(0.01)),
            ("workload.streams", Value::Integer(2)),
            ("workload.indexes", text("references")),
        ];
        let removed = engine.measured(&DecisionSupport, &given, |context, seen| {
            are_recorded(&seen.unwrap(), &engine.name);
            let answers: Vec<Results> = (FIRST..=QUERIES.len())
                .map(|operation| ask(context, Statement::Operation(operation)).unwrap())
                .collect();
            if known.is_empty() {
                known.clone_from(&answers);
            }
            for ((own, other), query) in answers.iter().zip(&known).zip(&QUERIES) {
                let label = query.label();
                assert!(are_equal(own, other), "{} {label}: {own:?} {other:?}", engine.name);
            }
        });
        removed.unwrap();
    }
    // Q2, Q16 and others find rows even in small tables, so that equality says something.
    let rows: Vec<u64> = known.iter().map(|answer| answer.rows).collect();
    assert!(rows.iter().filter(|rows| **rows > 0).count() >= 20, "{rows:?}");
}

#[test]
fn the_published_answers_are_found_at_scale_1() {
    let Some(engine) = duckdb() else {
        println!("SKIPPED: DuckDB's library is not installed");
        return;
    };
    let given = [("workload.scale", Value::Float(1.0))];
    let removed = engine.measured(&DecisionSupport, &given, |context, seen| {
        let seen = seen.unwrap();
        assert!(seen.statements.iter().all(|one| one.count == 1));
        for (operation, query) in (FIRST..).zip(&QUERIES) {
            let (found, known) =
                (ask(context, Statement::Operation(operation)).unwrap(), published(query).unwrap());
            assert_eq!(found.rows, known.rows, "{}", query.label());
        }
    });
    removed.unwrap();
}

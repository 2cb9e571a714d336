//! Correlation across a join, and counts that are kept.

use crate::engines::{postgres, run_on};
use experiment::Value;
use observations::Observations;
use optimizer::facts::{COUNTED_QUERIES, JOIN_FACTOR, Q_ERRORS};
use std::slice::from_ref;
use std::time::UNIX_EPOCH;
use testing::trials::{Bench, installed, text};

/// Values, so that a partner of the same value is one in as many.
const DISTINCT: i64 = 20;

const QUERY: &str = "SELECT count(*) FROM dials d JOIN partners p ON p.id = d.partner WHERE d.a = \
                     7 AND p.value = 7 AND d.id :varies";

fn joined(bench: &mut Bench<'_>, share: f64, more: &[(&'static str, Value)]) -> Observations {
    let settings = [
        ("workload.query", text(QUERY)),
        ("workload.selectivity", Value::Float(1.0)),
        ("workload.distinct", Value::Integer(DISTINCT)),
        ("workload.join_correlation", Value::Float(share)),
        ("workload.estimates", Value::Bool(true)),
        ("workload.runs", Value::Integer(1)),
    ];
    run_on(bench, &settings.iter().chain(more).cloned().collect::<Vec<_>>())
}

/// The largest q-error of operators with a join below or in them.
fn q_error_of_joins(observations: &Observations) -> f64 {
    let joins = Q_ERRORS.members(observations).filter(|(member, _)| !member.contains("|0|"));
    joins.map(|(_, error)| error).fold(0.0, f64::max)
}

/// PostgreSQL assumes that predicates on both sides of a join are independent. Of 1,000 rows with a
/// value, 50 have a partner with it then, and with the dial at 100 % all of them. All of so small a
/// table is read for the statistics, so that nothing else errs.
#[test]
fn the_error_of_a_join_is_the_dial_s_factor() {
    let Some(engine) = postgres() else { return };
    let bench = &mut engine.bench();
    for (share, expected) in [(0.0, 1.0), (0.5, 10.5), (1.0, 20.0)] {
        let observations = joined(bench, share, &[]);
        let (factor, error) =
            (JOIN_FACTOR.read(&observations).unwrap(), q_error_of_joins(&observations));
        println!("{share}: by the dial {factor}, q-error {error}");
        assert!((factor / expected - 1.0).abs() < 0.02, "{share}: {factor}");
        assert!((error / expected - 1.0).abs() < 0.05, "{share}: {error}");
        assert!(observations.response("q_error_max").unwrap() >= error);
    }
}

/// Rows are counted once for a data set and a plan, and again where the data is another.
#[test]
fn rows_of_operators_are_counted_once_for_a_data_set() {
    for engine in installed() {
        let Some(rules) = optimizer::for_engine(engine.engine.name) else { continue };
        if rules.analyze.is_empty() {
            continue;
        }
        let bench = &mut engine.bench();
        // No other run has this data set.
        let seed = UNIX_EPOCH.elapsed().unwrap().as_nanos() as i64 & i64::MAX;
        let seed = ("workload.data_seed", Value::Integer(seed));
        let mut observe = |more: &[(&'static str, Value)]| {
            let observations = joined(bench, 0.3, &[from_ref(&seed), more].concat());
            let errors: Vec<(String, f64)> = Q_ERRORS
                .members(&observations)
                .map(|(name, error)| (name.to_owned(), error))
                .collect();
            (COUNTED_QUERIES.read(&observations), errors)
        };
        let first = observe(&[]);
        let again = observe(&[]);
        println!("{}: {first:?}", engine.name);
        assert!(!first.1.is_empty(), "{}", engine.name);
        assert_eq!(first.0, Some(1.0), "{}", engine.name);
        if rules.explain.runs {
            // Its plan is known from a run alone.
            assert_eq!(again.0, Some(1.0), "{}", engine.name);
            continue;
        }
        assert_eq!(again.0, Some(0.0), "{}", engine.name);
        // Statistics that were gathered again may expect other rows, of the same operators.
        let names = |all: &[(String, f64)]| -> Vec<String> {
            all.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&again.1), names(&first.1), "{}", engine.name);
        if engine.name.starts_with("postgres") {
            assert_eq!(again.1, first.1);
        }
        // With rows that a trial appends, the data is another.
        let appended = ("workload.appended", Value::Float(0.01));
        assert_eq!(observe(&[appended]).0, Some(1.0), "{}", engine.name);
        let other = ("workload.correlation", Value::Float(0.5));
        assert_eq!(observe(&[other]).0, Some(1.0), "{}", engine.name);
    }
}

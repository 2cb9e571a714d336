//! Order entry and analytical queries, alone and at the same time, on every installed engine.

use crate::support::{each_engine, measured_on};
use engine::Results;
use experiment::Value;
use observations::Observations;
use order_entry::{ANALYSES, ANALYTICS_TIME, DONE, Kind, NEW_ORDERS, QUERIES, TAIL};
use testing::trials::ask;
use work::Statement;

const ORDERS: Statement<'_> = Statement::Text("SELECT count(*) FROM orders");

/// Orders that the reduced tables begin with: 30 in each of 20 districts.
const LOADED: f64 = 600.0;

fn number(results: &Results) -> f64 {
    results.last[0].as_ref().unwrap().parse().unwrap()
}

/// Queries ran, each was timed, and the response is the geometric mean of their mean times. A slow
/// machine may not come to all of them: then there is no such mean.
fn queries_are_recorded(observations: &Observations, name: &str) {
    let timed = ANALYSES.iter().map(|analyse| {
        let histogram = observations.latency(&format!("transaction: {}", analyse.label)).unwrap();
        let statement =
            observations.statements.iter().find(|known| known.script == analyse.label).unwrap();
        assert_eq!(statement.count, histogram.len(), "{name} {}", analyse.label);
        (histogram.len(), histogram.min_mean_max_ns().1 / 1e9)
    });
    let timed: Vec<(u64, f64)> = timed.collect();
    let queries: u64 = timed.iter().map(|(count, _)| count).sum();
    assert!(queries > 0, "{name}: no query ran");
    assert_eq!(QUERIES.read(observations), Some(queries as f64), "{name}");
    if timed.iter().any(|(count, _)| *count == 0) {
        assert_eq!(observations.response(ANALYTICS_TIME), None, "{name}");
        return;
    }
    let mean_s = timed.iter().map(|(_, mean_s)| mean_s.ln()).sum::<f64>() / timed.len() as f64;
    let response = observations.response(ANALYTICS_TIME).unwrap();
    assert!((response / mean_s.exp() - 1.0).abs() < 1e-9, "{name}: {response}");
}

/// Returns whether two answers have as many rows and the same last one, apart from rounding.
fn are_equal(results: &Results, other: &Results) -> bool {
    let is_close = |(text, other): (&Option<String>, &Option<String>)| {
        let [cell, other] = [text, other].map(|cell| cell.as_deref().unwrap_or("").trim());
        match (cell.parse::<f64>(), other.parse::<f64>()) {
            (Ok(cell), Ok(other)) => (cell - other).abs() <= 1e-3 * other.abs().max(1.0),
            _ => cell == other,
        }
    };
    results.rows == other.rows && results.last.iter().zip(&other.last).all(is_close)
}

/// Queries without terminals leave the tables as they are, and have the same answers everywhere.
/// With terminals, both are measured in one trial.
#[test]
fn analytics_run_alone_and_beside_order_entry() {
    let mut known = Vec::<Results>::new();
    let streams = |streams| ("workload.analytics", Value::Integer(streams));
    let duration = ("workload.duration", Value::Float(1.0));
    each_engine(|bench| {
        let name = bench.name().to_owned();
        let none = ("workload.terminals", Value::Integer(0));
        measured_on(bench, &[duration.clone(), streams(1), none], |context, result| {
            let observations = result.unwrap_or_else(|error| panic!("{name}: {error}"));
            queries_are_recorded(&observations, &name);
            assert_eq!(
                (observations.connections, observations.response(NEW_ORDERS)),
                (1, None),
                "{name}"
            );
            assert!(
                Kind::ALL
                    .iter()
                    .all(|kind| DONE.read(kind.profile().name, &observations).is_none())
            );
            assert!((number(&ask(context, ORDERS).unwrap()) - LOADED).abs() < 0.5, "{name}");
            let first = order_entry::operations().len();
            let answers = (first..first + ANALYSES.len())
                .map(|operation| ask(context, Statement::Operation(operation)).unwrap())
                .collect::<Vec<_>>();
            if known.is_empty() {
                known.clone_from(&answers);
            }
            for ((answer, other), query) in answers.iter().zip(&known).zip(ANALYSES.iter()) {
                assert!(are_equal(answer, other), "{name} {}: {answer:?} {other:?}", query.label);
            }
        });
        // Transactions of several connections conflict on DuckDB.
        let connections = if name == "duckdb" { 1 } else { 2 };
        let connected = ("workload.connections", Value::Integer(connections));
        measured_on(bench, &[duration.clone(), streams(2), connected], |context, result| {
            let observations = result.unwrap_or_else(|error| panic!("{name}: {error}"));
            queries_are_recorded(&observations, &name);
            assert_eq!(i64::from(observations.connections), connections + 2, "{name}");
            assert_eq!(observations.responses[0].name, NEW_ORDERS, "{name}");
            // The time of terminals is between the duration and that of both loads.
            let rate = observations.response(NEW_ORDERS).unwrap();
            let orders = number(&ask(context, ORDERS).unwrap()) - LOADED;
            let worked_s = orders * 60.0 / rate;
            assert!(
                (0.99..=observations.elapsed_s + 0.01).contains(&worked_s),
                "{name}: {worked_s}"
            );
            assert!(TAIL.read(&observations) <= Some(observations.elapsed_s), "{name}");
            let done: f64 = Kind::ALL
                .iter()
                .filter_map(|kind| DONE.read(kind.profile().name, &observations))
                .sum();
            let all = done + QUERIES.read(&observations).unwrap();
            assert_eq!(observations.work.amount, all as u64, "{name}");
        });
    });
    assert!(known.iter().all(|answer| answer.rows > 0), "{known:?}");
}

#[test]
fn loads_that_do_nothing_or_have_no_end_are_refused() {
    let installation = crate::support::installed().remove(0);
    let objections = |settings: &[(&'static str, Value)]| {
        let configuration = installation.configuration(&crate::support::reduced(settings));
        installation.objections(&order_entry::OrderEntry, &configuration)
    };
    let transactions = ("workload.transactions", Value::Integer(10));
    let none = ("workload.terminals", Value::Integer(0));
    let streams = ("workload.analytics", Value::Integer(1));
    assert_eq!(objections(&[transactions.clone(), none.clone()]), ["workload.terminals"]);
    assert_eq!(objections(&[transactions, streams.clone()]), ["workload.transactions"]);
    let duration = ("workload.duration", Value::Float(1.0));
    // A pace needs a terminal for each connection, but not a terminal.
    let pace = ("workload.pace", Value::Float(1.0));
    assert_eq!(objections(&[duration, none, streams, pace]), Vec::<String>::new());
}

//! The published answers at scale 1. An engine takes minutes, so each has a process of its own.

use decision_support::{DecisionSupport, QUERIES, published};
use experiment::Value;
use testing::trials::{ask, installed, text};
use work::Statement;

/// Position of Q16 among the operations of a trial.
const Q16: usize = 16;

/// The trial compares every row of its answers.
pub fn published_answers(engine: &str) {
    let settings =
        [("workload.scale", Value::Float(1.0)), ("workload.indexes", text("references"))];
    for engine in installed().iter().filter(|installation| installation.name.starts_with(engine)) {
        let removed = engine.measured(&DecisionSupport, &settings, |context, result| {
            let observations = result.unwrap_or_else(|error| panic!("{}: {error}", engine.name));
            assert!(observations.statements.iter().all(|statement| statement.count == 1));
            let answer = ask(context, Statement::Operation(Q16)).unwrap();
            let rows = published(&QUERIES[Q16 - 1]).unwrap().len();
            assert_eq!((answer.rows as usize, answer.before.len()), (rows, rows - 1));
        });
        removed.unwrap();
    }
}

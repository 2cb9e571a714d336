//! The published answers at scale 1. An engine takes minutes, so each has a process of its own.

use decision_support::{DecisionSupport, QUERIES, published};
use experiment::Value;
use testing::trials::{ask, installed, text};
use work::Statement;

/// Position of Q16 among the operations of a trial.
const Q16: usize = 16;

/// The trial compares every row of its answers.
pub fn published_answers(name: &str) {
    let settings =
        [("workload.scale", Value::Float(1.0)), ("workload.indexes", text("references"))];
    for mut engine in installed() {
        if !engine.name.starts_with(name) {
            continue;
        }
        if name == "mariadb" {
            // A join by an index reads each page again where the tables do not fit in memory.
            engine.settings.push(("target.settings.innodb_buffer_pool_size", text("2G")));
        }
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

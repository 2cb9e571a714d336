//! Statements that are run for each row of another: N+1.

use crate::words::numbers;
use inspection::statements::{Advice, AdviceKind, Certainty, Counter, Snapshot, Statement};
use observations::number::{count, figure, ratio, seconds};

/// Fewest runs of a statement that count as a loop.
const CALLS_MIN: u64 = 500;
/// Rows of a list that is worth a loop, and how often the list has to be read to tell a pattern
/// from chance.
const LIST_ROWS_MIN: f64 = 5.0;
const LIST_CALLS_MIN: u64 = 5;
/// The distance that the runs may keep from the rows of the list.
const TOLERANCE: f64 = 0.02;

/// Queries for a single row that are run as often as another query of the same user returns rows.
pub fn repeated(snapshot: &Snapshot) -> Vec<Advice> {
    let mut all = Vec::new();
    for (at, statement) in snapshot.statements.iter().enumerate() {
        let calls = statement.calls();
        if calls < CALLS_MIN || !is_lookup(statement) {
            continue;
        }
        let lists = snapshot.statements.iter().enumerate().filter(|(other, list)| {
            *other != at
                && list.database == statement.database
                && list.user == statement.user
                && is_list(list)
        });
        let off = |list: &Statement| {
            (calls as f64 / list.get(Counter::Rows).unwrap_or(0) as f64 - 1.0).abs()
        };
        let nearest = lists.min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
        if let Some((list_at, list)) = nearest.filter(|(_, list)| off(list) <= TOLERANCE) {
            all.push(advise(at, statement, list_at, list));
        }
    }
    all
}

/// A query that returns at most one row, found by a value.
fn is_lookup(statement: &Statement) -> bool {
    let has_value = statement.text.contains("= $") || statement.text.contains("= ?");
    statement.is_top
        && statement.is_query()
        && has_value
        && statement.by_call(Counter::Rows).is_some_and(|rows| rows <= 1.0)
}

fn is_list(list: &Statement) -> bool {
    list.is_top
        && list.is_query()
        && list.calls() >= LIST_CALLS_MIN
        && list.by_call(Counter::Rows).is_some_and(|rows| rows >= LIST_ROWS_MIN)
}

fn advise(at: usize, statement: &Statement, list_at: usize, list: &Statement) -> Advice {
    let (calls, time_s) = (statement.calls(), statement.time_s());
    let (lists, rows) = (list.calls(), list.get(Counter::Rows).unwrap_or(0));
    Advice {
        database: statement.database.clone(),
        statements: vec![at, list_at],
        subject: numbers(&[at]),
        evidence: format!(
            "It returns one row and ran {} times. Statement {} ran {} times and returned {} \
             rows, {} each: {} runs for each of these rows.",
            count(calls),
            list_at + 1,
            count(lists),
            count(rows),
            figure(rows as f64 / lists.max(1) as f64),
            ratio(calls as f64 / rows.max(1) as f64)
        ),
        change: format!(
            "If a program runs it in a loop over those rows, a join of both or one query with a \
             list of values (= ANY, IN) saves {} round trips. The runs took {} in the server, \
             not counting the network.",
            count(calls.saturating_sub(lists)),
            seconds(time_s)
        ),
        price: "A change of the program, not of the server. The equal counts may be chance: \
                check the program, or log both statements with log_statement for a minute."
            .into(),
        weight: time_s,
        ..Advice::new(AdviceKind::RepeatedStatement, Certainty::Possible)
    }
}

//! The published answers at scale 1, with which the crate `tpchgen` comes.

use crate::queries::Query;
use engine::Results;
use tpchgen::q_and_a::answers_sf1;

/// Largest relative difference of a number from the published one: engines round averages and
/// quotients to another number of digits, and the published ones have two (2.1.3.5).
const TOLERANCE: f64 = 0.01;

/// The query of which `tpchgen` has an answer with the first column cut to four characters.
const CUT: u32 = 11;

/// An answer as far as a client that keeps the last row knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its number of rows.
    pub rows: u64,
    /// The cells of its last row without blanks around them.
    pub last: Vec<String>,
}

/// A query has another answer than the published one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{query} has another answer than the published one: {found:?} in place of {expected:?}")]
pub struct WrongAnswer {
    /// The query.
    pub query: String,
    /// The answer of the engine.
    pub found: Answer,
    /// The published answer.
    pub expected: Answer,
}

/// The published answer of a query at scale 1.
pub fn published(query: &Query) -> Option<Answer> {
    let text = answers_sf1::answer(query.number as i32)?;
    // The first line has the names of the columns.
    let rows: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).skip(1).collect();
    let last = rows.last()?.split('|').map(|cell| cell.trim().to_owned()).collect();
    Some(Answer { rows: rows.len() as u64, last })
}

/// Compares the answer of an engine with the published one.
///
/// # Errors
/// When they differ.
pub fn verify(query: &Query, results: &Results) -> Result<(), WrongAnswer> {
    let Some(expected) = published(query) else { return Ok(()) };
    let cells = results.last.iter().map(|cell| cell.as_deref().unwrap_or_default().trim());
    let found = Answer { rows: results.rows, last: cells.map(str::to_owned).collect() };
    let is_same = found.rows == expected.rows
        && found.last.len() == expected.last.len()
        && (0..found.last.len()).all(|column| {
            let (own, known) = (&found.last[column], &expected.last[column]);
            let is_cut = query.number == CUT && column == 0;
            if is_cut { own.starts_with(known.as_str()) } else { is_close(own, known) }
        });
    if is_same { Ok(()) } else { Err(WrongAnswer { query: query.label(), found, expected }) }
}

/// Returns whether two cells are the same text, or numbers that differ by rounding.
fn is_close(own: &str, known: &str) -> bool {
    match (own.parse::<f64>(), known.parse::<f64>()) {
        (Ok(own), Ok(known)) => (own - known).abs() <= TOLERANCE * known.abs().max(0.5),
        // A timestamp at midnight is a date.
        _ => own == known || own.split(' ').next() == Some(known),
    }
}

#[cfg(test)]
mod tests {
    use super::{published, verify};
    use crate::queries::QUERIES;
    use engine::Results;

    /// The rows of the answers in the specification (2.4.1.5 and so on).
    #[test]
    fn published_answers_have_the_rows_of_the_specification() {
        let rows =
            [4, 100, 10, 5, 5, 1, 4, 2, 175, 20, 1048, 2, 42, 1, 1, 18314, 1, 57, 1, 186, 100, 7];
        for (query, rows) in QUERIES.iter().zip(rows) {
            assert_eq!(published(query).unwrap().rows, rows, "{}", query.label());
        }
    }

    #[test]
    fn other_rows_texts_and_numbers_are_wrong_and_rounding_is_not() {
        let q4 = &QUERIES[3];
        let answer = |rows, cells: [&str; 2]| Results {
            rows,
            last: cells.iter().map(|cell| Some((*cell).to_owned())).collect(),
            ..Results::default()
        };
        assert_eq!(verify(q4, &answer(5, ["5-LOW          ", "10487"])), Ok(()));
        assert!(verify(q4, &answer(4, ["5-LOW", "10487"])).is_err());
        assert!(verify(q4, &answer(5, ["5-LOW", "10700"])).is_err());
        assert!(verify(q4, &answer(5, ["4-NOT SPECIFIED", "10487"])).is_err());
        let q6 = |number: &str| Results {
            rows: 1,
            last: vec![Some(number.to_owned())],
            ..Results::default()
        };
        assert_eq!(verify(&QUERIES[5], &q6("123141078.22829981")), Ok(()));
        assert!(verify(&QUERIES[5], &q6("125141078.22")).is_err());
    }
}

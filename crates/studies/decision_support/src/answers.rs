//! The published answers at scale 1, with which the crate `tpchgen` comes.

use crate::queries::Query;
use engine::Results;
use tpchgen::q_and_a::answers_sf1;

/// Largest relative difference of a number from the published one: engines round averages and
/// quotients to another number of digits, and the published ones have two (2.1.3.5).
const TOLERANCE: f64 = 0.01;

/// The query of which `tpchgen` has an answer with the first column cut to four characters.
const CUT: u32 = 11;

/// The cells of a row without blanks around them.
pub type Row = Vec<String>;

/// A query has another answer than the published one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongAnswer {
    /// It has another number of rows.
    #[error("{query} has {found} rows; the published answer has {expected}")]
    Rows {
        /// The query.
        query: String,
        /// Rows of the answer.
        found: u64,
        /// Rows of the published answer.
        expected: u64,
    },
    /// It has other values.
    #[error("row {row} of {query} is {found:?}; in the published answer it is {expected:?}")]
    Values {
        /// The query.
        query: String,
        /// Number of the row, from 1.
        row: u64,
        /// The row of the engine.
        found: Row,
        /// The published row.
        expected: Row,
    },
}

/// The rows of the published answer of a query at scale 1.
pub fn published(query: &Query) -> Option<Vec<Row>> {
    let text = answers_sf1::answer(query.number as i32)?;
    // The first line has the names of the columns.
    let rows = text.lines().filter(|line| !line.trim().is_empty()).skip(1);
    Some(rows.map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect()).collect())
}

/// Compares the answer of an engine with the published one: all rows that the results have.
///
/// # Errors
/// When they differ.
pub fn verify(query: &Query, results: &Results) -> Result<(), WrongAnswer> {
    let Some(published) = published(query) else { return Ok(()) };
    let (found, expected) = (results.rows, published.len() as u64);
    if found != expected {
        return Err(WrongAnswer::Rows { query: query.label(), found, expected });
    }
    let rows = results.before.iter().chain([&results.last]);
    // Without the rows before it, the last one is compared with the last.
    let skipped = published.len() - results.before.len().min(published.len() - 1) - 1;
    for (row, (row_cells, expected)) in rows.zip(&published[skipped..]).enumerate() {
        let found: Row = row_cells
            .iter()
            .map(|cell| cell.as_deref().unwrap_or_default().trim().to_owned())
            .collect();
        if !is_same_row(query, &found, expected) {
            let (row, expected) = ((skipped + row + 1) as u64, expected.clone());
            return Err(WrongAnswer::Values { query: query.label(), row, found, expected });
        }
    }
    Ok(())
}

fn is_same_row(query: &Query, found: &Row, expected: &Row) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).enumerate().all(|(column, (cell, known))| {
            let is_cut = query.number == CUT && column == 0;
            if is_cut { cell.starts_with(known.as_str()) } else { is_close(cell, known) }
        })
}

/// Returns whether two cells are the same text, or numbers that differ by rounding.
fn is_close(text: &str, known: &str) -> bool {
    match (text.parse::<f64>(), known.parse::<f64>()) {
        (Ok(text), Ok(known)) => (text - known).abs() <= TOLERANCE * known.abs().max(0.5),
        // A timestamp at midnight is a date.
        _ => text == known || text.split(' ').next() == Some(known),
    }
}

#[cfg(test)]
mod tests {
    use super::{WrongAnswer, published, verify};
    use crate::queries::QUERIES;
    use engine::Results;

    /// The rows of the answers in the specification (2.4.1.5 and so on).
    #[test]
    fn published_answers_have_the_rows_of_the_specification() {
        let rows =
            [4, 100, 10, 5, 5, 1, 4, 2, 175, 20, 1048, 2, 42, 1, 1, 18314, 1, 57, 1, 186, 100, 7];
        for (query, rows) in QUERIES.iter().zip(rows) {
            assert_eq!(published(query).unwrap().len(), rows, "{}", query.label());
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
        let cells = |row: &Vec<String>| row.iter().cloned().map(Some).collect::<Vec<_>>();
        let mut whole = Results { rows: 5, ..Results::default() };
        let published = published(q4).unwrap();
        whole.before = published[..4].iter().map(cells).collect();
        whole.last = cells(&published[4]);
        assert_eq!(verify(q4, &whole), Ok(()));
        whole.before[2][1] = Some("1".into());
        assert!(matches!(verify(q4, &whole), Err(WrongAnswer::Values { row: 3, .. })));
        let q6 = |number: &str| Results {
            rows: 1,
            last: vec![Some(number.to_owned())],
            ..Results::default()
        };
        assert_eq!(verify(&QUERIES[5], &q6("123141078.22829981")), Ok(()));
        assert!(verify(&QUERIES[5], &q6("125141078.22")).is_err());
    }
}

//! Rows of servers from texts.

use engine::Rows;

/// Rows from a text: names of columns in the first line, `|` between values, `-` for NULL.
pub fn rows(text: &str) -> Rows {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut rows = Rows::with_columns(cells(lines.next().unwrap()));
    for line in lines {
        rows.push(cells(line).into_iter().map(|cell| (cell != "-").then_some(cell)));
    }
    rows
}

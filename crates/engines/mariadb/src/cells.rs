//! Cells of the rows that a server sends.

/// The cells of a row, empty where they are NULL.
pub fn cells<const N: usize>(row: Vec<Option<String>>) -> [String; N] {
    let mut cells = row.into_iter().map(Option::unwrap_or_default);
    std::array::from_fn(|_| cells.next().unwrap_or_default())
}

/// A counter; a value that is not a number counts as 0.
pub fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

//! Words that findings and documents share.

use observations::number::plural;
use report::text::joined;

/// Numbers that are listed.
pub const NUMBERS: usize = 12;

/// Units of time: the seconds from which one is used, its seconds, and its name.
const UNITS: [(f64, f64, &str); 3] =
    [(172_800.0, 86_400.0, "days"), (7_200.0, 3_600.0, "hours"), (120.0, 60.0, "minutes")];

/// `1 run`, `2,000 runs`
pub fn runs(calls: u64) -> String {
    plural(usize::try_from(calls).unwrap_or(usize::MAX), "run")
}

/// Statements by their numbers as people read them, from 1: `statement 3`, `statements 1, 4`.
pub fn numbers(statements: &[usize]) -> String {
    format!("statement{} {}", if statements.len() == 1 { "" } else { "s" }, few(statements))
}

/// Numbers from 1, the first of many: `3, 4 and 20 more`.
pub fn few(statements: &[usize]) -> String {
    let shown = joined(statements.iter().take(NUMBERS).map(|at| at + 1), ", ");
    match statements.len().saturating_sub(NUMBERS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A length of time in a larger unit, where it is long.
pub fn in_units(seconds: f64) -> Option<(f64, &'static str)> {
    let mut units = UNITS.into_iter();
    let (_, unit_s, name) = units.find(|(from_s, ..)| seconds >= *from_s)?;
    Some((seconds / unit_s, name))
}

#[cfg(test)]
mod tests {
    use super::few;

    #[test]
    fn of_many_statements_the_first_are_listed() {
        assert_eq!(few(&[0, 2]), "1, 3");
        let many: Vec<usize> = (0..5_000).collect();
        assert_eq!(few(&many), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 4988 more");
    }
}

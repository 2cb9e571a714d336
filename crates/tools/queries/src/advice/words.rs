//! Words that several findings share.

use observations::number::plural;

/// `1 run`, `2,000 runs`
pub fn runs(calls: u64) -> String {
    plural(usize::try_from(calls).unwrap_or(usize::MAX), "run")
}

/// Numbers that are listed.
const NUMBERS: usize = 12;

/// Statements by their numbers as people read them, from 1: `statement 3`, `statements 1, 4`.
pub fn numbers(statements: &[usize]) -> String {
    let shown: Vec<String> =
        statements.iter().take(NUMBERS).map(|at| (at + 1).to_string()).collect();
    let more = match statements.len().saturating_sub(NUMBERS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("statement{} {}{more}", if statements.len() == 1 { "" } else { "s" }, shown.join(", "))
}

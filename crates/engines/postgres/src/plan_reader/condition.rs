//! The work of a condition for each row, as the planner counts it.

/// Characters of operators.
const OPERATORS: &str = "+-*/<>=~!@#%^&|`?";
/// Words of conditions whose cost is not that of the operators in them.
const OTHERS: [&str; 7] = ["SubPlan", "InitPlan", "ANY (", "ALL (", "CASE ", "COALESCE", "ARRAY["];

/// The number of clauses of a join.
pub fn clauses(text: &str) -> f64 {
    (1 + text.matches(" AND ").count()) as f64
}

/// The operators of a condition, each of which costs `cpu_operator_cost`; `None` where it calls
/// functions, whose cost a plan does not have.
pub fn steps(text: &str) -> Option<f64> {
    let text = without_quotes(text);
    if OTHERS.iter().any(|other| text.contains(other)) {
        return None;
    }
    // A conversion of a column is a function, except that of one text type to another.
    let is_converted = text.match_indices(")::").any(|(at, _)| !text[at..].starts_with(")::text"));
    let calls = text.match_indices('(').any(|(at, _)| {
        text[..at].ends_with(|before: char| before.is_alphanumeric() || matches!(before, '_' | '"'))
    });
    let words = text.split([' ', '(', ')']);
    let is_operator =
        |word: &&str| !word.is_empty() && word.chars().all(|sign| OPERATORS.contains(sign));
    (!is_converted && !calls).then(|| words.filter(is_operator).count() as f64)
}

/// Constants and quoted names become their quotes.
fn without_quotes(text: &str) -> String {
    let mut open = None;
    text.chars()
        .filter(|c| match open {
            Some(quote) => {
                let ends = *c == quote;
                if ends {
                    open = None;
                }
                ends
            }
            None => {
                open = matches!(c, '\'' | '"').then_some(*c);
                true
            }
        })
        .collect()
}

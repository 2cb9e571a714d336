//! The work of a condition for each row, as the planner counts it.

/// Characters of operators.
const OPERATORS: &str = "+-*/<>=~!@#%^&|`?";
/// Words of conditions whose cost is not that of the operators in them.
const OTHERS: [&str; 7] = ["SubPlan", "InitPlan", "ANY (", "ALL (", "CASE ", "COALESCE", "ARRAY["];

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
        .filter(|c| {
            if let Some(quote) = open {
                let ends = *c == quote;
                if ends {
                    open = None;
                }
                ends
            } else {
                open = matches!(c, '\'' | '"').then_some(*c);
                true
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn operators_are_counted_and_functions_are_unknown() {
        for (text, expected) in [
            ("(a = 5)", Some(1.0)),
            ("((a >= 1) AND (a <= 9) AND (note <> 'x = (y'::text))", Some(3.0)),
            ("((name)::text ~~ 'a%'::text)", Some(1.0)),
            ("((a % 7) = 3)", Some(2.0)),
            ("(note IS NOT NULL)", Some(0.0)),
            ("NOT (\"odd (name\" = 1)", Some(1.0)),
            ("(lower(note) = 'x'::text)", None),
            ("(a = ANY ('{1,2}'::integer[]))", None),
            ("((a)::numeric > 1.5)", None),
            ("(hashed SubPlan 1)", None),
        ] {
            assert_eq!(steps(text), expected, "{text}");
        }
    }
}

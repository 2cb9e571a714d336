//! The work of a condition for each row, as the planner counts it.

use serde_json::Value;

/// Characters of operators.
const OPERATORS: &str = "+-*/<>=~!@#%^&|`?";
/// Words of conditions whose cost is not that of the operators in them.
const OTHERS: [&str; 7] = ["SubPlan", "InitPlan", "ANY (", "ALL (", "CASE ", "COALESCE", "ARRAY["];

/// The number of expressions in a list, which text has in one line.
pub fn keys(list: &Value) -> usize {
    match list {
        Value::Null => 0,
        Value::Array(all) => all.len(),
        Value::String(line) => {
            let mut depth = 0_i32;
            let plain = without_quotes(line);
            let parts = plain.split(|c: char| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                c == ',' && depth == 0
            });
            parts.count()
        }
        _ => 1,
    }
}

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
    use super::{clauses, keys, steps};
    use serde_json::json;

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
        assert_eq!(Some(clauses("((a.x = b.x) AND (a.y = b.y))")), Some(2.0));
    }

    #[test]
    fn keys_of_a_line_are_those_of_a_list() {
        for (line, count) in [("c", 1), ("c, d", 2), ("(a + 1), COALESCE(b, 'x, y'::text)", 2)] {
            assert_eq!(keys(&line.into()), count, "{line}");
        }
        assert_eq!(keys(&json!(["c", "(a + 1)"])), 2);
        assert_eq!(keys(&json!(null)), 0);
    }
}

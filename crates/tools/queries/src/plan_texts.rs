//! Plans in their engine's format without constants of users: all else stays byte for byte.

use inspection::statements::PlanText;
use observations::redacted;
use sql::Syntax;
use sql::statement::shown;

/// The plan; passwords are hidden in any case, other constants unless they are wanted.
pub fn without_secrets(plan: &PlanText, syntax: Syntax, literals: bool) -> String {
    let text = plan.text.as_str();
    let clean = |value: &str| {
        if literals { redacted(value) } else { shown(value, syntax, false) }
    };
    match text.trim_start().chars().next() {
        Some('{' | '[') => json(text, &clean),
        Some('<') => xml(text, &clean),
        _ => text.lines().map(|line| in_line(line, &clean) + "\n").collect(),
    }
}

/// A line with its indent.
fn in_line(line: &str, clean: &dyn Fn(&str) -> String) -> String {
    let begin = line.len() - line.trim_start().len();
    format!("{}{}", &line[..begin], clean(&line[begin..]))
}

/// Returns true for a value without a constant: one word that is not a number, which names an
/// operator, a table or an option.
fn is_word(value: &str) -> bool {
    value.chars().all(|c| c.is_alphanumeric() || "_.-:[]#@$\\/+".contains(c))
        && value.parse::<f64>().is_err()
}

/// Each string of a document that is not the name of a member. Costs of MySQL are numbers in
/// strings.
fn json(text: &str, clean: &dyn Fn(&str) -> String) -> String {
    let (mut out, mut rest, mut key) = (String::with_capacity(text.len()), text, String::new());
    while let Some(begin) = rest.find('"') {
        out.push_str(&rest[..begin]);
        let string = &rest[begin..];
        let end = end_of_string(string);
        let (string, behind) = string.split_at(end);
        rest = behind;
        if behind.trim_start().starts_with(':') {
            string.clone_into(&mut key);
            out.push_str(string);
            continue;
        }
        let Ok(value) = serde_json::from_str::<String>(string) else {
            // A damaged document ends here: what cannot be read cannot be cleaned.
            return out;
        };
        if is_word(&value) || (key.contains("cost") && value.parse::<f64>().is_ok()) {
            out.push_str(string);
        } else {
            out.push_str(&serde_json::Value::from(clean(&value)).to_string());
        }
    }
    out.push_str(rest);
    out
}

/// Bytes of the string that a text begins with, with both quotes.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, sign) in text.char_indices().skip(1) {
        match sign {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Each value of an attribute, and each text between tags. Figures are the optimizer's, except
/// values of parameters and constants.
fn xml(text: &str, clean: &dyn Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(begin) = rest.find('<') {
        out.push_str(&between_tags(&rest[..begin], clean));
        rest = &rest[begin..];
        if let Some(end) = rest.strip_prefix("<!--").and_then(|comment| comment.find("-->")) {
            // A comment is not the server's.
            rest = &rest[4 + end + 3..];
            continue;
        }
        let mut attribute = String::new();
        loop {
            let Some(next) = rest.find(['"', '\'', '>']) else {
                // A damaged document ends here.
                return out;
            };
            let (before, from) = rest.split_at(next);
            out.push_str(before);
            if let Some(behind) = from.strip_prefix('>') {
                out.push('>');
                rest = behind;
                break;
            }
            if let Some(name) = before.trim_end_matches('=').split_whitespace().last() {
                name.clone_into(&mut attribute);
            }
            let quote = &from[..1];
            let Some(end) = from[1..].find(quote) else { return out };
            let value = unescaped(&from[1..=end]);
            let is_figure = value.parse::<f64>().is_ok() && !attribute.contains("Value");
            out.push_str(quote);
            if is_figure || is_word(&value) || attribute.starts_with("xmlns") {
                out.push_str(&from[1..=end]);
            } else {
                out.push_str(&escaped(&clean(&value)));
            }
            out.push_str(quote);
            rest = &from[end + 2..];
        }
    }
    out.push_str(&between_tags(rest, clean));
    out
}

fn between_tags(text: &str, clean: &dyn Fn(&str) -> String) -> String {
    if text.trim().is_empty() { text.to_owned() } else { escaped(&clean(&unescaped(text))) }
}

const ENTITIES: [(&str, &str); 5] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];

fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    for (number, sign) in [("&#xA;", "\n"), ("&#xD;", "\r"), ("&#x9;", "\t"), ("&#39;", "'")] {
        text = text.replace(number, sign).replace(&number.to_lowercase(), sign);
    }
    for (entity, sign) in ENTITIES {
        text = text.replace(entity, sign);
    }
    text
}

fn escaped(text: &str) -> String {
    let mut text = text.replace('&', "&amp;");
    for (entity, sign) in ENTITIES.iter().filter(|(_, sign)| *sign != "&") {
        text = text.replace(sign, entity);
    }
    text.replace('\n', "&#xA;").replace('\r', "&#xD;").replace('\t', "&#x9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(extension: &'static str, text: &str, literals: bool) -> String {
        let plan = PlanText { extension, text: text.to_owned() };
        without_secrets(&plan, Syntax::Postgres, literals)
    }

    #[test]
    fn constants_leave_a_plan_and_nothing_else_does() {
        for (text, expected) in [
            (
                r#"[ {"Plan": {"Node Type": "Seq Scan", "Total Cost": 1.50,
                  "Filter": "((name)::text = 'S3c \"ret'::text)", "Output": ["42", "$1"]} } ]"#,
                r#"[ {"Plan": {"Node Type": "Seq Scan", "Total Cost": 1.50,
                  "Filter": "((name)::text = ?::text)", "Output": ["?", "$1"]} } ]"#,
            ),
            (
                r#"{"query_cost": "10.25", "ranges": ["(17 <= id)"], "key": "a\\b"}"#,
                r#"{"query_cost": "10.25", "ranges": ["(? <= id)"], "key": "a\\b"}"#,
            ),
            (
                "<?xml version=\"1.0\"?><!-- S3c --><Plan xmlns=\"http://x/2004/07\"\n \
                 EstimateRows=\"1.5e+006\"><Const ConstValue=\"(42)\" V='N&apos;S3c&apos;'/>\
                 <P ParameterCompiledValue=\"42\" Text=\"a &lt; 5 AND b=N'S3c'&#xA;c\"/> S3c \
                 9</Plan>",
                "<?xml version=\"1.0\"?><Plan xmlns=\"http://x/2004/07\"\n \
                 EstimateRows=\"1.5e+006\"><Const ConstValue=\"(?)\" V='N?'/>\
                 <P ParameterCompiledValue=\"?\" Text=\"a &lt; ? AND b=N? c\"/>S3c ?</Plan>",
            ),
            ("SCAN t\n  SEARCH u (a=5)\n", "SCAN t\n  SEARCH u (a=?)\n"),
            ("{\"a\": \"x 1", "{\"a\": "),
            ("<a b=\"x 1", "<a b="),
        ] {
            assert_eq!(cleaned("", text, false), expected);
        }
    }

    #[test]
    fn with_constants_a_plan_is_as_it_was_but_for_passwords() {
        let plan = "<P StatementText=\"SELECT 'a',&#xA; 1\" Rows=\"2\"/>\n";
        assert_eq!(cleaned("sqlplan", plan, true).replace("&apos;", "'"), plan);
        let secret = r#"{"text": "ALTER ROLE u PASSWORD 'S3cret'"}"#;
        assert!(!cleaned("json", secret, true).contains("S3cret"));
    }
}

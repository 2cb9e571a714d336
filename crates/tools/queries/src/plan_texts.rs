//! Plans in their engine's format without constants of users: all else stays byte for byte.

use inspection::statements::PlanText;
use observations::redacted;
use regex_lite::{Captures, Regex};
use work::sql::Syntax;
use work::sql::statement::shown;

/// A string of JSON, and the colon behind the name of a member.
const JSON: &str = r#"("(?:[^"\\]|\\.)*")(\s*:)?"#;
/// A comment of XML and the text behind it, where it ends, an attribute with its value, a text
/// between tags.
const XML: &str = r#"<!--[\s\S]*?(?:-->([^<]*)|$)|([^\s<>="']+)=("[^"]*"|'[^']*')|>([^<]+)"#;

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

/// A document with its values replaced. A damaged one ends where it is: what cannot be read cannot
/// be cleaned.
fn replaced(
    text: &str,
    values: &str,
    mut replace: impl FnMut(&Captures<'_>) -> Option<String>,
) -> String {
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for found in Regex::new(values).expect("a pattern").captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        let between = &text[done..whole.start()];
        let value = if between.contains(['"', '\'']) { None } else { replace(&found) };
        let Some(value) = value else { return out };
        out.extend([between, &value]);
        done = whole.end();
    }
    out.push_str(text[done..].split(['"', '\'']).next().unwrap_or_default());
    out
}

/// Each string of a document that is not the name of a member. Costs of MySQL are numbers in
/// strings.
fn json(text: &str, clean: &dyn Fn(&str) -> String) -> String {
    let mut key = String::new();
    replaced(text, JSON, |found| {
        let (whole, string) = (found[0].to_owned(), &found[1]);
        if found.get(2).is_some() {
            string.clone_into(&mut key);
            return Some(whole);
        }
        let value: String = serde_json::from_str(string).ok()?;
        let is_kept = is_word(&value) || (key.contains("cost") && value.parse::<f64>().is_ok());
        Some(if is_kept { whole } else { serde_json::Value::from(clean(&value)).to_string() })
    })
}

/// Each value of an attribute, and each text between tags. Figures are the optimizer's, except
/// values of parameters and constants.
fn xml(text: &str, clean: &dyn Fn(&str) -> String) -> String {
    replaced(text, XML, |found| {
        let Some((name, value)) = found.get(2).zip(found.get(3)) else {
            // A comment is not the server's.
            let behind_comment = found.get(1).map(|text| between_tags(text.as_str(), clean));
            let text = found.get(4).map(|text| between_tags(text.as_str(), clean));
            return text.map(|text| format!(">{text}")).or(behind_comment).or(Some(String::new()));
        };
        let (name, quote) = (name.as_str(), &value.as_str()[..1]);
        let value = unescaped(&value.as_str()[1..value.len() - 1]);
        let is_figure = value.parse::<f64>().is_ok() && !name.contains("Value");
        Some(if is_figure || is_word(&value) || name.starts_with("xmlns") {
            found[0].to_owned()
        } else {
            format!("{name}={quote}{}{quote}", escaped(&clean(&value)))
        })
    })
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
            ("<a/><!-- S3c -- 42", "<a/>"),
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

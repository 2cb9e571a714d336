//! `keyword=value` pairs, as in `host=db1 dbname='my db'`.

use super::ConfigError;
use std::iter::Peekable;
use std::str::Chars;

/// The pairs in order. Values are bare words or in single quotes; a backslash takes the next
/// character literally in both.
pub fn pairs(text: &str) -> Result<Vec<(String, String)>, ConfigError> {
    let mut pairs = Vec::new();
    let mut rest = text.chars().peekable();
    loop {
        skip_space(&mut rest);
        if rest.peek().is_none() {
            return Ok(pairs);
        }
        let mut name = String::new();
        while let Some(c) = rest.next_if(|c| *c != '=' && !c.is_ascii_whitespace()) {
            name.push(c);
        }
        skip_space(&mut rest);
        if rest.next() != Some('=') {
            return Err(ConfigError::Syntax(format!("`{name}` is not followed by `=`")));
        }
        skip_space(&mut rest);
        let value = value(&mut rest)
            .ok_or_else(|| ConfigError::Syntax(format!("the quotes of `{name}`'s value do not end")))?;
        pairs.push((name, value));
    }
}

fn skip_space(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(char::is_ascii_whitespace).is_some() {}
}

fn value(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let quoted = rest.next_if_eq(&'\'').is_some();
    let mut value = String::new();
    loop {
        match rest.peek() {
            None if quoted => return None,
            None => return Some(value),
            Some('\'') if quoted => {
                rest.next();
                return Some(value);
            }
            Some(c) if !quoted && c.is_ascii_whitespace() => return Some(value),
            Some('\\') => {
                rest.next();
                value.extend(rest.next());
            }
            Some(_) => value.extend(rest.next()),
        }
    }
}

/// A value as [`pairs`] reads it.
pub fn quoted(value: &str) -> String {
    let special = |c: char| c.is_ascii_whitespace() || c == '\'' || c == '\\';
    if value.is_empty() || value.contains(special) {
        format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'"))
    } else {
        value.to_owned()
    }
}

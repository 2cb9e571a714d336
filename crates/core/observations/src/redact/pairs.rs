//! Values of names that stand apart from them: in YAML, in elements of XML, in entries with a name
//! and a value, in the query of a URL and in files of passwords.

use super::quotes::{after_blanks, bare_end, quote, quoted};
use std::ops::Range;

/// Parameters in the query of a URL that hold a secret there, and nowhere else.
const QUERY: [&str; 4] = ["sig", "signature", "key", "auth"];
/// Colons in a line of a file of passwords of libpq, before the password.
const FIELDS: usize = 4;

/// Returns whether a name is a parameter in the query of a URL that holds a secret.
pub(crate) fn is_in_query(chars: &[char], at: usize, name: &str) -> bool {
    QUERY.contains(&name) && at.checked_sub(1).is_some_and(|sign| "?&".contains(chars[sign]))
}

/// The value of the name of a secret, where it does not stand directly behind it.
pub fn secret(chars: &[char], name: &Range<usize>) -> Option<Range<usize>> {
    yaml(chars, name)
        .or_else(|| element(chars, name))
        .or_else(|| entry(chars, name))
        .or_else(|| machine(chars, name))
        .or_else(|| slash_option(chars, name))
}

/// `password: secret`, alone on its line, in braces or in quotes.
fn yaml(chars: &[char], name: &Range<usize>) -> Option<Range<usize>> {
    let key = chars[..name.start].iter().rev();
    let key = key.take_while(|c| c.is_ascii_alphanumeric() || "_.-".contains(**c)).count();
    let before = chars[..name.start - key].iter().rev().find(|c| !" \t".contains(**c));
    let is_first = before.is_none_or(|c| "\n-'\"".contains(*c));
    let start = after_blanks(chars, name.end + 1);
    if chars.get(name.end) != Some(&':') || start == name.end + 1 {
        return None;
    }
    let end = bare_end(chars, start, true);
    let next = chars.get(after_blanks(chars, end));
    let is_last = next.is_none_or(|c| "\n\r#'\"".contains(*c));
    let is_in_braces =
        before.is_some_and(|c| "{,".contains(*c)) && next.is_some_and(|c| ",}".contains(*c));
    let is_reference = chars[start..end].starts_with(&['$']);
    (end > start && !is_reference && (is_first && is_last || is_in_braces)).then_some(start..end)
}

/// `<password>secret</password>`, `<property name="password">secret</property>`.
fn element(chars: &[char], name: &Range<usize>) -> Option<Range<usize>> {
    let (_, after) = quote(chars, name.end).unzip();
    let sign = after.unwrap_or(name.end);
    let key = chars[..name.start].iter().rev();
    let key = key.take_while(|c| c.is_ascii_alphanumeric() || "_.:-".contains(**c)).count();
    let is_tag = chars[..name.start - key].last() == Some(&'<');
    if chars.get(sign) != Some(&'>') || !(is_tag || after.is_some()) {
        return None;
    }
    let length = chars[sign + 1..].iter().position(|c| *c == '<')?;
    (length > 0).then_some(sign + 1..sign + 1 + length)
}

/// `"name": "PASSWORD", "value": "secret"`, `name: PASSWORD` and `value: secret` in the next line,
/// `key="password" value="secret"`.
fn entry(chars: &[char], name: &Range<usize>) -> Option<Range<usize>> {
    let (_, after) = quote(chars, name.end).unzip();
    let end = after.unwrap_or(name.end);
    let rest = chars[end.min(chars.len())..].iter();
    let key = end + rest.take_while(|c| c.is_whitespace() || **c == ',').count();
    let key = if quote(chars, key).is_some() { quote(chars, key)?.1 } else { key };
    let word: String = chars.get(key..key + 5)?.iter().collect::<String>().to_ascii_lowercase();
    let sign = quote(chars, key + 5).map_or(key + 5, |(_, after)| after);
    let sign = after_blanks(chars, sign);
    let is_entry = word == "value" && chars.get(sign).is_some_and(|c| ":=".contains(*c));
    let start = after_blanks(chars, sign + 1);
    let value = quoted(chars, start).unwrap_or_else(|| start..bare_end(chars, start, true));
    (is_entry && key > name.end && !value.is_empty()).then_some(value)
}

/// `login user password secret`, as in a file of netrc(5).
fn machine(chars: &[char], name: &Range<usize>) -> Option<Range<usize>> {
    let before: String = chars[name.start.saturating_sub(200)..name.start].iter().collect();
    let mut words = before.split_whitespace().rev().skip(1);
    let start = after_blanks(chars, name.end);
    let is_login = words.next() == Some("login") && start > name.end;
    is_login.then(|| start..bare_end(chars, start, false)).filter(|value| !value.is_empty())
}

/// `/SourcePassword:secret`.
fn slash_option(chars: &[char], name: &Range<usize>) -> Option<Range<usize>> {
    let word = chars[..name.start].iter().rev().take_while(|c| c.is_ascii_alphabetic()).count();
    let slash = (name.start - word).checked_sub(1).filter(|at| chars[*at] == '/')?;
    let is_first = slash == 0 || chars[slash - 1].is_whitespace();
    let start = name.end + 1;
    let value = quoted(chars, start).unwrap_or_else(|| start..bare_end(chars, start, false));
    (is_first && chars.get(name.end) == Some(&':') && !value.is_empty()).then_some(value)
}

/// The passwords in lines of `~/.pgpass`: `host:5432:database:user:secret`.
pub(crate) fn password_files(chars: &[char]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for word in chars.split(|c| c.is_whitespace() || "'\"`<>".contains(*c)) {
        let colons: Vec<usize> =
            (0..word.len()).filter(|at| word[*at] == ':').take(FIELDS).collect();
        if let [host, port, database, user] = colons[..] {
            let number = &word[host + 1..port];
            let is_port =
                !number.is_empty() && (number == ['*'] || number.iter().all(char::is_ascii_digit));
            let is_name = |field: &[char]| {
                !field.is_empty()
                    && field.iter().all(|c| c.is_alphanumeric() || "*_-.$".contains(*c))
            };
            // An address in IPv6 has colons, too.
            let is_host = word[..host].iter().any(|c| !c.is_ascii_hexdigit());
            if is_host
                && is_name(&word[..host])
                && is_port
                && is_name(&word[port + 1..database])
                && is_name(&word[database + 1..user])
            {
                found.push(start + user + 1..start + word.len());
            }
        }
        start += word.len() + 1;
    }
    found
}

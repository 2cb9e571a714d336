//! Passwords in texts, found by their context. All code that prints or records a URL, a connection
//! string, an environment, a command line or an experiment file sends it through here.

use std::ops::Range;

/// Endings of names of secrets.
const SECRETS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "_pass",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "secret_key",
    "private_key",
];

/// The text with a star for each character of what is, or may be, a password in it:
///
/// - in anything like a URL, what is between the first colon and the last `@`: `x://name:...@host`,
///   `name:...@host`;
/// - the value of a name that says so, after `=`, after `:` with quotes, in quotes alone, or as an
///   option: `password=...`, `"passwd": "..."`, `PASSWORD '...'`, `--password ...`, `token =
///   ["...", "..."]`. A variable of the shell is not a value.
///
/// Names and signs are recognised in percent-encoding and in the escapes of JSON and TOML too.
pub fn redacted(text: &str) -> String {
    if !may_hold_secret(text) {
        return text.to_owned();
    }
    let (chars, ends) = signs(text);
    let mut hidden = vec![false; chars.len()];
    for range in logins(&chars).into_iter().chain(values(&chars)) {
        hidden[range].fill(true);
    }
    let (mut shown, mut start) = (String::with_capacity(text.len()), 0);
    for (end, hidden) in ends.into_iter().zip(hidden) {
        let source = &text[start..end as usize];
        if hidden {
            shown.extend(source.chars().map(|_| '*'));
        } else {
            shown.push_str(source);
        }
        start = end as usize;
    }
    shown
}

/// Returns whether a name (of a variable or an option) marks its value as a secret: `PGPASSWORD`,
/// `API_TOKEN`.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "pass" || SECRETS.iter().any(|secret| name.ends_with(secret))
}

/// In every name of a secret.
const PARTS: [&[u8]; 5] = [b"pass", b"pwd", b"secret", b"token", b"key"];

/// The bytes with which begins what [`may_hold_secret`] looks for: one in five of a text, so that
/// the others are passed by.
const LEADS: [bool; 256] = {
    let mut leads = [false; 256];
    (leads[b'@' as usize], leads[b'%' as usize]) = (true, true);
    (leads[b'\\' as usize], leads[b':' as usize]) = (true, true);
    let mut part = 0;
    while part < PARTS.len() {
        leads[PARTS[part][0] as usize] = true;
        leads[PARTS[part][0].to_ascii_uppercase() as usize] = true;
        part += 1;
    }
    leads
};

/// Returns whether the text needs a closer look: most recorded texts are plain names.
fn may_hold_secret(text: &str) -> bool {
    let bytes = text.as_bytes();
    let begins = |at: usize, part: &[u8]| {
        bytes.get(at..at + part.len()).is_some_and(|found| found.eq_ignore_ascii_case(part))
    };
    let holds = |at: usize| match bytes[at] {
        b'@' | b'%' | b'\\' => true,
        b':' => begins(at, b"://"),
        _ => PARTS.iter().any(|part| begins(at, part)),
    };
    bytes.iter().enumerate().any(|(at, byte)| LEADS[*byte as usize] && holds(at))
}

/// The characters of a text, escapes decoded where they stand for a letter, a digit or a sign that
/// matters here; and where each ends.
fn signs(text: &str) -> (Vec<char>, Vec<u32>) {
    let (mut chars, mut ends) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let (length, sign) = escape(&text[at..]).unwrap_or((c.len_utf8(), c));
        at += length;
        chars.push(sign);
        ends.push(at as u32);
    }
    (chars, ends)
}

/// The length of an escape at the beginning of a text, and what it stands for.
fn escape(text: &str) -> Option<(usize, char)> {
    let forms = [("%", 2), ("\\u", 4), ("\\U", 8), ("\\x", 2)];
    let slash = text.starts_with("\\/").then_some((2, '/'));
    slash
        .or_else(|| {
            forms.iter().find_map(|(prefix, digits)| {
                let code = text.strip_prefix(prefix)?.get(..*digits)?;
                let sign = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
                Some((prefix.len() + digits, sign))
            })
        })
        .filter(|(_, sign)| sign.is_ascii_alphanumeric() || ":/@=_.-?&".contains(*sign))
}

/// Returns possible passwords of URLs, and of texts that resemble URLs.
fn logins(chars: &[char]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for word in chars.split(|c| c.is_whitespace() || "\"'`<>".contains(*c)) {
        let scheme = word.windows(3).position(|three| three == [':', '/', '/']);
        let login = scheme.map_or(0, |at| at + 3);
        let rest = &word[login..];
        let colon = rest.iter().position(|c| *c == ':');
        let at = rest.iter().rposition(|c| *c == '@');
        // A login without a host reads as a host and a port, but the port is not a number.
        if let (Some(_), Some(colon), None) = (scheme, colon, at) {
            let port = rest[colon + 1..].iter().take_while(|c| !"/?#,;)".contains(**c)).count();
            let port = colon + 1..colon + 1 + port;
            if rest[0] != '[' && !rest[port.clone()].iter().all(char::is_ascii_digit) {
                found.push(start + login + port.start..start + login + port.end);
            }
        }
        if let (Some(colon), Some(at)) = (colon, at) {
            // Without a scheme it has to look like a login: SQL has `::` and `@>`.
            let name = rest[..colon].rsplit(|c| "=,(/".contains(*c)).next().unwrap_or_default();
            let is_name = name.iter().all(|c| c.is_alphanumeric() || "._%+-".contains(*c));
            let has_host =
                rest.get(at + 1).is_none_or(|c| c.is_alphanumeric() || "[/_.-:".contains(*c));
            let is_cast = at + 1 == rest.len() && rest[colon + 1] == ':';
            let is_login = scheme.is_some() || (is_name && has_host && !is_cast);
            // In a URL a login can stand where another part does: `x://u@h/y:z@h`.
            if is_login && (scheme.is_some() || !rest[..colon].contains(&'@')) && colon < at {
                found.push(start + login + colon + 1..start + login + at);
            }
        }
        start += word.len() + 1;
    }
    found
}

/// The values of names of secrets.
fn values(chars: &[char]) -> Vec<Range<usize>> {
    let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let end = at + chars[at..].iter().take_while(|c| is_name(c)).count();
        let name: String = chars[at..end].iter().collect();
        let is_option = chars[..at].ends_with(&['-', '-']);
        // "To pass 'x' as a value" is a sentence.
        let is_verb = name == "pass" && chars[end..].starts_with(&[' ', '\'']);
        if names_secret(&name) && !is_verb {
            found.extend(
                value(chars, end, is_option).filter(|range| !is_variable(&chars[range.clone()])),
            );
        }
        at = end.max(at + 1);
    }
    found
}

/// The value that follows a name, if one does.
fn value(chars: &[char], name_end: usize, is_option: bool) -> Option<Range<usize>> {
    let blanks =
        |at: usize| at + chars[at..].iter().take_while(|c| [' ', '\t'].contains(c)).count();
    let (_, after_quote) = quote(chars, name_end).unzip();
    let mut sign = blanks(after_quote.unwrap_or(name_end));
    if is_option && after_quote.is_some() && chars.get(sign) == Some(&',') {
        // The next word of a list of words.
        sign = blanks(sign + 1);
    }
    let start = blanks(sign + chars[sign..].iter().take_while(|c| ":=>".contains(**c)).count());
    let opened = quoted(chars, start);
    let is_list = chars.get(start) == Some(&'[');
    let follows = match chars.get(sign)? {
        '=' => true,
        ':' => after_quote.is_some() || opened.is_some(),
        '-' => false,
        '\'' | '"' | '\\' => opened.is_some() && sign > name_end,
        _ => is_option && sign > name_end,
    };
    if !follows {
        return None;
    }
    if is_list {
        return Some(start + 1..list_end(chars, start));
    }
    if opened.is_some() {
        return opened;
    }
    let mut end = bare_end(chars, start, chars[sign] == ':');
    // libpq ends it at a blank. A word with a value that is not a keyword was meant as a part of
    // it.
    let is_keyword = chars[..name_end]
        .iter()
        .rev()
        .take_while(|c| c.is_ascii_alphabetic())
        .all(char::is_ascii_lowercase);
    if is_keyword && !is_option && chars[sign] == '=' {
        end = std::iter::successors(Some(end), |end| {
            let word = blanks(*end);
            let word_end = bare_end(chars, word, false);
            let is_pair =
                chars[word..word_end].contains(&'=') || chars.get(blanks(word_end)) == Some(&'=');
            (word > *end && word_end > word && !is_pair).then_some(word_end)
        })
        .last()
        .unwrap_or(end);
    }
    Some(start..end)
}

/// Returns the range between quotes that start here, possibly tripled or escaped; to the end of the
/// text if unclosed.
fn quoted(chars: &[char], start: usize) -> Option<Range<usize>> {
    let (mark, inner) = quote(chars, start)?;
    let triple = [mark; 3];
    if chars[inner - 1..].starts_with(&triple) {
        let inner = inner + 2;
        let end = chars[inner..].windows(3).position(|three| three == triple);
        return Some(inner..end.map_or(chars.len(), |end| inner + end));
    }
    // The same quote behind as many backslashes ends it. Two of them may be one that was escaped
    // once more.
    let depth = inner - start - 1;
    let end = (inner..chars.len())
        .find(|at| {
            let before = chars[inner..*at].iter().rev().take_while(|c| **c == '\\').count();
            chars[*at] == mark && before == depth
        })
        .map_or(chars.len(), |end| end - depth);
    Some(inner..end.max(inner))
}

/// Where the list ends that begins with the bracket at this place.
fn list_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != ']' {
        // A text ends with as many signs as it begins with.
        at = quoted(chars, at).map_or(at + 1, |inner| inner.end + inner.start - at);
    }
    at.min(chars.len())
}

/// The end of a value without quotes; a number in JSON ends earlier.
fn bare_end(chars: &[char], start: usize, is_json: bool) -> usize {
    let ends = |c: char| c.is_whitespace() || "\"'`&".contains(c) || (is_json && ",}]".contains(c));
    let mut end = start;
    while let Some(c) = chars.get(end).filter(|c| !ends(**c)) {
        let escapes = *c == '\\' && chars.get(end + 1).is_some_and(|c| !"\"'`".contains(*c));
        end += if escapes { 2 } else { 1 };
    }
    end.min(chars.len())
}

/// A quote at this place, behind backslashes perhaps, and where what it holds begins.
fn quote(chars: &[char], at: usize) -> Option<(char, usize)> {
    let depth = chars[at..].iter().take_while(|c| **c == '\\').count();
    chars.get(at + depth).filter(|c| "'\"".contains(**c)).map(|mark| (*mark, at + depth + 1))
}

/// `$PGPASSWORD`, `${PGPASSWORD}`: the secret is elsewhere.
fn is_variable(value: &[char]) -> bool {
    let Some((&'$', name)) = value.split_first() else { return false };
    !name.is_empty() && name.iter().all(|c| c.is_ascii_uppercase() || "_{}".contains(*c))
}

#[cfg(test)]
mod tests {
    use super::redacted;

    /// Each text has the secret in it, whole or in parts.
    #[test]
    fn no_part_of_a_password_stays_and_all_else_does() {
        for (text, shown) in [
            ("postgres://u:S3c@h/d", "postgres://u:***@h/d"),
            ("see POSTGRES://u:S3c@h:5/d?a=b, please", "see POSTGRES://u:***@h:5/d?a=b, please"),
            ("mysql://u:S3c@", "mysql://u:***@"),
            ("u:S3c@h", "u:***@h"),
            ("postgres://u:S3c", "postgres://u:***"),
            ("u:S3c@: not found", "u:***@: not found"),
            ("results/postgres:/u:S3c@h.html", "results/postgres:******@h.html"),
            (":S3c@h u:S3c@", ":***@h u:***@"),
            ("postgres://u:S?3/c@h", "postgres://u:*****@h"),
            ("postgres://u:S@3@c@h", "postgres://u:*****@h"),
            ("mariadb://u@h/x:%2fu:S3c%40h", "mariadb://u@h/x:********%40h"),
            (r#""url": "postgres:\/\/u:S3c@h""#, r#""url": "postgres:\/\/u:***@h""#),
            (r"postgres://u\u003aS3c@h", r"postgres://u\u003a***@h"),
            ("host=h password=S3c user=u", "host=h password=*** user=u"),
            ("host=h password = 'S 3\\'c' user=u", "host=h password = '******' user=u"),
            ("host=h passwd=S3\\ c", "host=h passwd=*****"),
            ("host=h password=S3 c user=u", "host=h password=**** user=u"),
            ("postgres://h?pass%77ord=S3c&a=b", "postgres://h?pass%77ord=***&a=b"),
            (r#"{"pass\u0077ord": "S\"3c", "a": 1}"#, r#"{"pass\u0077ord": "*****", "a": 1}"#),
            (r#""{\"password\": \"S3c\", \"a\": 1}""#, r#""{\"password\": \"***\", \"a\": 1}""#),
            ("PGPASSWORD=S3c psql -h h", "PGPASSWORD=*** psql -h h"),
            ("export MYSQL_PWD='S3c'; x", "export MYSQL_PWD='***'; x"),
            ("tool --password S3c --db d", "tool --password *** --db d"),
            ("tool --password=S3c", "tool --password=***"),
            ("ALTER ROLE a PASSWORD 'S3c'", "ALTER ROLE a PASSWORD '***'"),
            (r#"{"token": 371, "a": 1}"#, r#"{"token": ***, "a": 1}"#),
            ("AWS_SECRET_ACCESS_KEY=S3c", "AWS_SECRET_ACCESS_KEY=***"),
            ("url = \"host=h password='S3c\"", "url = \"host=h password='****"),
            ("password = [\"S3c\", 'S]3c'] # a", "password = [*************] # a"),
            (r#""{\"token\": [\"S3\"], \"a\": 1}""#, r#""{\"token\": [******], \"a\": 1}""#),
            (
                "command = [\"tool\", \"--password\", \"S3c\", \"x\"]",
                "command = [\"tool\", \"--password\", \"***\", \"x\"]",
            ),
            ("password = \"\"\"S\"3c\"\"\" # a", "password = \"\"\"****\"\"\" # a"),
        ] {
            assert_eq!(redacted(text), shown, "{text}");
            assert_eq!(redacted(shown), shown, "twice");
        }
    }

    #[test]
    fn what_is_no_password_stays() {
        for text in [
            "postgres://user@host:5432/database",
            "no engine has mongodb://; known are postgres://, http://h:80/x and http://[::1]:80",
            "host=h port=5432 user=u dbname=d",
            "password_encryption = 'scram-sha-256'",
            "tip: to pass '--output' as a value, use '-- --output'",
            "FATAL: password authentication failed for user \"u\"",
            "a password is asked for: give one in PGPASSWORD or ~/.pgpass",
            "SELECT tags::jsonb @> '[]', a::text@>b FROM t -- e.toml:8:15",
            "PGPASSWORD=$PGPASSWORD psql --password -h h",
            "log_line_prefix = '%t:%r:%u@%d:[%p]:'",
            "git@example.org:owner/name 12:30 a@b",
            "%zz \\u00 \\ % \\u",
            "",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}

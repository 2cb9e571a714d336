//! Secrets by the words before them: statements of SQL, headers of HTTP, and tokens that say what
//! they are.

use super::names::names_secret;
use super::quotes::{after_blanks, is_variable, quote, quoted, word_length};
use std::ops::Range;

/// Beginnings of tokens that services issue: of GitHub, GitLab, Slack, Vault, Stripe, Google and
/// others.
const TOKENS: [&str; 21] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "xapp-",
    "hvs.",
    "hvb.",
    "sk_live_",
    "sk-ant-",
    "sk-proj-",
    "AIza",
    "ya29.",
    "dop_v1_",
    "npm_",
];
/// Characters that follow such a beginning, and those of a bearer token that stands alone; shorter
/// ones are words.
const TOKEN_CHARS_MIN: usize = 8;
/// Ways to log in that a header names before the secret.
const SCHEMES: [&str; 8] =
    ["bearer", "basic", "digest", "token", "apikey", "negotiate", "splunk", "aws4-hmac-sha256"];
/// Statements that name a user before `IDENTIFIED BY`.
const STATEMENTS: [&str; 5] = ["user", "role", "grant", "connect", "key management"];
/// Headers with a secret whose names do not say so.
const HEADERS: [&str; 4] = ["apikey", "x_functions_key", "x_clickhouse_key", "x_auth_key"];
/// Functions of SQL that are given a password or a key: which argument it is, from 0, of at least
/// how many. Those of `ClickHouse` read tables of other servers.
const FUNCTIONS: [(&str, usize, usize); 17] = [
    ("pgp_sym_encrypt", 1, 2),
    ("pgp_sym_decrypt", 1, 2),
    ("aes_encrypt", 1, 2),
    ("aes_decrypt", 1, 2),
    ("encryptbypassphrase", 0, 2),
    ("decryptbypassphrase", 0, 2),
    ("crypt", 0, 2),
    ("hmac", 1, 3),
    ("pwdencrypt", 0, 1),
    ("pwdcompare", 0, 2),
    ("mysql", 4, 5),
    ("postgresql", 4, 5),
    ("mongodb", 4, 5),
    ("remote", 4, 5),
    ("remotesecure", 4, 5),
    ("s3", 2, 4),
    ("s3cluster", 3, 5),
];
/// Procedures of SQL Server, and which argument is a password, from 0.
const PROCEDURES: [(&str, usize); 2] = [("sp_addlogin", 1), ("sp_addlinkedsrvlogin", 4)];
/// Characters before `IDENTIFIED BY` in which one of them stands.
const STATEMENT_CHARS_MAX: usize = 100;

/// The secret that a word announces or is; `name` is the word in small letters with `_` for `-`.
pub fn secret(chars: &[char], name: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let Range { start, end } = *word;
    match name {
        "identified" => identified(chars, word),
        "password" if follows(chars, start, "set") => password_for(chars, end),
        "authorization" | "proxy_authorization" => header(chars, end),
        "cookie" | "set_cookie" if start == 0 || "'\"\n".contains(chars[start - 1]) => {
            header(chars, end)
        }
        "bearer" => bearer(chars, end),
        "using" if is_after_user(chars, start) => Some(bare_word(chars, end)),
        "logon" if chars[..start].ends_with(&['.']) => logon(chars, end),
        "requirepass" | "masterauth" if is_line_start(chars, start) => {
            Some(bare_word(chars, end)).filter(|secret| !secret.is_empty())
        }
        "sp_password" => Some(end..line_end(chars, end)).filter(|rest| !rest.is_empty()),
        "openrowset" => provider_login(chars, end),
        "begin" if chars[..start].ends_with(&['-'; 5]) => private_key(chars, end),
        "key" | "rekey" | "hexkey" | "hexrekey" | "textkey" if follows(chars, start, "pragma") => {
            let sign = after_blanks(chars, end);
            chars.get(sign).filter(|c| "=(".contains(**c))?;
            quoted(chars, after_blanks(chars, sign + 1))
        }
        "key" if is_attached(chars, start) => quoted(chars, after_blanks(chars, end)),
        "replace" if is_after_identified(chars, start) => quoted(chars, after_blanks(chars, end)),
        _ if FUNCTIONS.iter().any(|(function, ..)| *function == name) => {
            function_argument(chars, name, end)
        }
        _ if PROCEDURES.iter().any(|(procedure, _)| *procedure == name) => {
            procedure_argument(chars, name, end)
        }
        _ if HEADERS.contains(&name)
            || (chars[word.clone()].contains(&'-') && names_secret(name)) =>
        {
            header(chars, end).filter(|_| chars[end] == ':')
        }
        _ => token(chars, start),
    }
}

/// Returns whether this word stands before a place.
fn follows(chars: &[char], at: usize, word: &str) -> bool {
    let before = chars[..at].iter().rev().skip_while(|c| c.is_whitespace());
    before.take(word.len()).map(char::to_ascii_lowercase).eq(word.chars().rev())
}

/// The next word and where it ends.
fn next_word(chars: &[char], at: usize) -> (String, usize) {
    let start = after_space(chars, at);
    let end =
        start + chars[start..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
    (chars[start..end].iter().collect::<String>().to_ascii_lowercase(), end)
}

fn after_space(chars: &[char], at: usize) -> usize {
    at + chars[at..].iter().take_while(|c| c.is_whitespace()).count()
}

/// `IDENTIFIED BY 'secret'`, `IDENTIFIED WITH plugin AS 'secret'`, and Oracle's without quotes.
fn identified(chars: &[char], word: &Range<usize>) -> Option<Range<usize>> {
    let (first, mut end) = next_word(chars, word.end);
    if first == "with" || first == "via" {
        let (_, plugin) = next_word(chars, after_space(chars, end));
        let (by, behind) = next_word(chars, plugin);
        end = ["by", "as", "using"].contains(&by.as_str()).then_some(behind)?;
    } else if first != "by" {
        return None;
    }
    let (kind, behind) = next_word(chars, end);
    if kind == "password" || kind == "values" {
        end = behind;
    }
    let start = after_space(chars, end);
    if chars.get(start) == Some(&'(') {
        return quoted(chars, start + 1);
    }
    quoted(chars, start).or_else(|| {
        let before = &chars[word.start.saturating_sub(STATEMENT_CHARS_MAX)..word.start];
        let before = before.iter().collect::<String>().to_ascii_lowercase();
        let is_statement = STATEMENTS.iter().any(|statement| before.contains(statement));
        let value = chars[start..].iter();
        let length = value.take_while(|c| !c.is_whitespace() && !";,)'\"`".contains(**c)).count();
        (is_statement && length > 0).then_some(start..start + length)
    })
}

/// `SET PASSWORD FOR user = 'secret'`, `... TO 'secret'`.
fn password_for(chars: &[char], end: usize) -> Option<Range<usize>> {
    let (word, end) = next_word(chars, end);
    let rest = chars[end..].iter().take_while(|c| !"\n;".contains(**c)).count();
    let sign = (end..end + rest).find(|at| chars[*at] == '=' || follows(chars, *at, " to"))?;
    let value = after_space(chars, sign + usize::from(chars[sign] == '='));
    quoted(chars, value).filter(|_| word == "for")
}

fn line_end(chars: &[char], at: usize) -> usize {
    at + chars[at..].iter().take_while(|c| !"\n;".contains(**c)).count()
}

fn is_line_start(chars: &[char], at: usize) -> bool {
    chars[..at].iter().rev().find(|c| !" \t".contains(**c)).is_none_or(|c| *c == '\n')
}

/// The next word, up to a blank or a quote.
fn bare_word(chars: &[char], end: usize) -> Range<usize> {
    let start = after_blanks(chars, end);
    let rest = chars[start..].iter();
    start..start + rest.take_while(|c| !c.is_whitespace() && !"'\"`;".contains(**c)).count()
}

/// Returns whether a statement up to here is `CONNECT TO database USER name`, or `ATTACH TO`.
fn is_after_user(chars: &[char], at: usize) -> bool {
    let before: String = chars[at.saturating_sub(STATEMENT_CHARS_MAX)..at].iter().collect();
    let before = before.to_ascii_lowercase();
    before.split_whitespace().rev().nth(1) == Some("user")
        && ["connect to ", "attach to "].iter().any(|verb| before.contains(verb))
}

/// The password in `.logon host/user,secret` of BTEQ.
fn logon(chars: &[char], end: usize) -> Option<Range<usize>> {
    let word = bare_word(chars, end);
    let comma = chars[word.clone()].iter().position(|c| *c == ',')?;
    Some(word.start + comma + 1..word.end)
}

/// The password in `OPENROWSET('provider', 'host';'user';'secret', ...)`.
fn provider_login(chars: &[char], end: usize) -> Option<Range<usize>> {
    let sign = (end..line_end(chars, end).min(chars.len())).find(|at| chars[*at] == ',')?;
    let mut at = after_blanks(chars, sign + 1);
    for _ in 0..2 {
        let text = quoted(chars, at)?;
        let sign = after_blanks(chars, text.end + 1);
        at = after_blanks(chars, sign + 1);
        chars.get(sign).filter(|c| **c == ';')?;
    }
    quoted(chars, at)
}

/// Returns whether a statement up to here is `ATTACH '...' AS name`.
fn is_attached(chars: &[char], at: usize) -> bool {
    let before: String = chars[at.saturating_sub(STATEMENT_CHARS_MAX)..at].iter().collect();
    let mut words = before.split_whitespace().rev().skip(1);
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("as"))
        && before.to_ascii_lowercase().contains("attach")
}

/// Returns whether a statement up to here is `... IDENTIFIED BY '...'`.
fn is_after_identified(chars: &[char], at: usize) -> bool {
    let before: String = chars[at.saturating_sub(STATEMENT_CHARS_MAX)..at].iter().collect();
    before.to_ascii_lowercase().contains("identified by ")
}

/// The argument of a function that is a secret, if it is a text.
fn function_argument(chars: &[char], name: &str, end: usize) -> Option<Range<usize>> {
    let open = after_blanks(chars, end);
    chars.get(open).filter(|c| **c == '(')?;
    let texts = arguments(chars, open + 1);
    let (_, at, count) = FUNCTIONS.iter().find(|(function, ..)| *function == name)?;
    texts.get(*at).filter(|_| texts.len() >= *count)?.clone()
}

/// The argument of a procedure that is a secret, if it is a text.
fn procedure_argument(chars: &[char], name: &str, end: usize) -> Option<Range<usize>> {
    let (_, at) = PROCEDURES.iter().find(|(procedure, _)| *procedure == name)?;
    arguments(chars, end).get(*at)?.clone()
}

/// The arguments from a place on to the end of their list, each with its text if it is one.
fn arguments(chars: &[char], mut at: usize) -> Vec<Option<Range<usize>>> {
    let (mut texts, mut depth) = (vec![None], 0);
    while let Some(c) = chars.get(at).filter(|c| !"\n;".contains(**c)) {
        let text = quoted(chars, at);
        let next = text.as_ref().map_or(at + 1, |text| text.end + 1);
        match c {
            // Only the first one of an argument: a quote may also end what is around it.
            _ if text.is_some() => {
                if let Some(entry) = texts.last_mut().filter(|text| text.is_none() && depth == 0) {
                    *entry = text;
                }
            }
            ',' if depth == 0 => texts.push(None),
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            _ => {}
        }
        at = next;
    }
    texts
}

/// The value of a header, without the way to log in.
fn header(chars: &[char], end: usize) -> Option<Range<usize>> {
    let end = quote(chars, end).map_or(end, |(_, after)| after);
    let sign = after_blanks(chars, end);
    chars.get(sign).filter(|c| ":=".contains(**c))?;
    let start = after_blanks(chars, sign + 1);
    let value = quoted(chars, start).unwrap_or_else(|| {
        start..start + chars[start..].iter().take_while(|c| !"'\"`\n\\".contains(**c)).count()
    });
    let first = chars[value.clone()].iter().take_while(|c| !c.is_whitespace()).count();
    let scheme = chars[value.start..value.start + first].iter().collect::<String>();
    let is_scheme = SCHEMES.contains(&scheme.to_ascii_lowercase().as_str());
    let skipped = if is_scheme { after_blanks(chars, value.start + first) } else { value.start };
    let secret = skipped.min(value.end)..value.end;
    let is_elsewhere = is_variable(&chars[secret.clone()])
        || chars[secret.clone()].starts_with(&['$', '('])
        || chars[secret.clone()].starts_with(&['{']);
    (!secret.is_empty() && !is_elsewhere).then_some(secret)
}

/// `Bearer` and a token with digits.
fn bearer(chars: &[char], end: usize) -> Option<Range<usize>> {
    let start = after_blanks(chars, end);
    let length = word_length(chars, start, "._~+/=-");
    let has_digit = chars[start..start + length].iter().any(char::is_ascii_digit);
    (start > end && length >= TOKEN_CHARS_MIN && has_digit).then_some(start..start + length)
}

/// `-----BEGIN PRIVATE KEY-----`, its lines and its end.
fn private_key(chars: &[char], end: usize) -> Option<Range<usize>> {
    let title = chars[end..].iter().take_while(|c| **c == ' ' || c.is_ascii_uppercase()).count();
    let title: String = chars[end..end + title].iter().collect();
    let start = end + title.len() + 5;
    let last = chars
        .get(start..)?
        .windows(8)
        .position(|eight| eight.iter().collect::<String>() == "-----END");
    let is_private = title.ends_with("PRIVATE KEY");
    is_private.then_some(start..last.map_or(chars.len(), |last| start + last))
}

/// A token that begins as those of a known service do, or a JSON Web Token.
fn token(chars: &[char], start: usize) -> Option<Range<usize>> {
    let length = word_length(chars, start, "_.-");
    let word = &chars[start..start + length];
    let known =
        TOKENS.iter().find(|prefix| word.iter().copied().take(prefix.len()).eq(prefix.chars()));
    if let Some(prefix) = known {
        let secret = start + prefix.len()..start + length;
        return (secret.len() >= TOKEN_CHARS_MIN).then_some(secret);
    }
    let is_web =
        word.starts_with(&['e', 'y', 'J']) && word.iter().filter(|c| **c == '.').count() == 2;
    is_web.then_some(start..start + length)
}

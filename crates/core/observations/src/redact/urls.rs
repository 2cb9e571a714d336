//! Logins in URLs and in texts that resemble URLs, and in files of passwords.

use super::names::is_random;
use crate::folded::{is_quote, pattern, quoted};
use regex_lite::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Endings of schemes whose login without a password is the name of a user, a bucket or a
/// container; that of any other scheme is a token.
#[rustfmt::skip]
const NAME_SCHEMES: [&str; 21] = [
    "sql", "sqls", "postgres", "pg", "db", "srv", "oracle", "server", "clickhouse", "trino", "ssh",
    "git", "ftp", "ftps", "rsync", "scp", "svn", "smb", "s3", "fs", "fss",
];
/// Colons in a line of a file of passwords of libpq.
const FIELDS: usize = 4;
/// `name:secret@host` without a scheme, where the punctuation of a sentence can follow; it has to
/// look like one, as SQL has `::` and `@>`.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"^(?:[^:@]*[=,(/])?[\w.%+\x{80}-\x{10ffff}-]*";
    let host = r"[\w\[/_.:\x{80}-\x{10ffff}-].*";
    pattern(&format!("{name}:(?:([^:].*|)@[.,;!?)]*|(.*)@{host})$"))
});
/// `host:5432:database:user:secret`; an address in IPv6 has colons, too.
static PASSWORD_FILE: LazyLock<Regex> = LazyLock::new(|| {
    let (host, name) =
        (r"(?:[\w*.$-]*[g-z_*.$-][\w*.$-]*|\[[\da-f:.]+\])", r"\d*[a-z_*.$-][\w*.$-]*");
    pattern(&format!(r"^\(?{host}:(?:\*|\d+):{name}:{name}:(.+)$"))
});

fn is_end(c: char) -> bool {
    c.is_whitespace() || is_quote(c) || "`<>".contains(c)
}

/// The possible passwords in a folded text.
pub fn secrets(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), 0);
    while start < text.len() {
        let end = text[start..].find(is_end).map_or(text.len(), |length| start + length);
        let word = &text[start..end];
        if let Some(scheme) = word.find("://") {
            found.extend(url(text, start..end, start + scheme));
        } else if word.contains('@') || word.matches(':').count() >= FIELDS {
            let logins = [&LOGIN, &PASSWORD_FILE].map(|login| login.captures(word));
            let secrets = logins.iter().flatten().filter_map(|login| login.iter().flatten().last());
            found.extend(secrets.map(|secret| start + secret.start()..start + secret.end()));
        }
        start = end + text[end..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

/// The password of a URL in a word. It may hold blanks and quotes, which end the word.
fn url(text: &str, word: Range<usize>, scheme: usize) -> Option<Range<usize>> {
    let login = scheme + "://".len();
    let find = |from: usize, is: &dyn Fn(char) -> bool| {
        text[from..].find(is).map_or(text.len(), |length| from + length)
    };
    let last_at = |from: usize, end: usize| text[from..end].rfind('@').map(|at| from + at);
    let host_end = find(login, &|c| "/?#".contains(c)).min(word.end);
    let name = text[word.start..scheme].rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
    let name = name.unwrap_or_default().to_ascii_lowercase();
    let has_name = NAME_SCHEMES.iter().any(|known| name.ends_with(known));
    let is_token = |at: &usize| !has_name && !text[login..*at].contains(':');
    if let Some(at) = last_at(login, host_end).filter(is_token) {
        return Some(login..at);
    }
    let colon = login + text[login..word.end].find(':')?;
    let start = colon + 1;
    // In quotes it is all of what they hold, in this line.
    let before = text[..word.start].char_indices().next_back();
    let inside = before.and_then(|(at, _)| quoted(text, at)).map_or(word.end, |inside| inside.end);
    let end = find(word.end, &|c| c == '\n').min(inside).max(word.end);
    if let Some(at) = last_at(start, end) {
        // https://TOKEN:x-oauth-basic@github.com
        let is_token = !has_name && is_random(&text[login..colon]);
        return Some(if is_token { login } else { start }..at);
    }
    // A login without a host reads as a host and a port, but the port is not a number. Or the
    // password has a blank or a quote, and the host is in a later word, before the next URL.
    let port = find(start, &|c| "/?#,;)".contains(c)).min(word.end);
    let is_port = text[login..].starts_with('[')
        || text[start..port].bytes().all(|byte| byte.is_ascii_digit());
    let line = find(word.end, &|c| c == '\n');
    let next_url = text[word.end..line].find("://").map_or(line, |length| word.end + length);
    if !is_port {
        return Some(start..last_at(word.end, next_url).unwrap_or(port));
    }
    let is_last = start < port && port == word.end && text[port..].starts_with(' ');
    let next = if is_last { find(port + 1, &is_end) } else { port };
    last_at(port, next).filter(|_| next <= next_url).map(|at| start..at)
}

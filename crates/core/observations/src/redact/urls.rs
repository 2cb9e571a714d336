//! Passwords in URLs, and in texts that resemble URLs.

use super::quotes::{quote, quoted};
use std::ops::Range;

/// Returns whether a character ends a URL that is not in quotes.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"'`<>".contains(c)
}

/// Returns possible passwords of URLs, and of texts that resemble URLs.
pub fn logins(chars: &[char]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for word in chars.split(|c| ends_word(*c)) {
        match word.windows(3).position(|three| three == [':', '/', '/']) {
            Some(scheme) => found.extend(with_scheme(chars, start, start + scheme + 3)),
            None => found.extend(without_scheme(word, start)),
        }
        start += word.len() + 1;
    }
    found
}

/// The password of a URL of which the word starts at `start` and the login at `login`. It may hold
/// blanks and quotes, which end the word.
fn with_scheme(chars: &[char], start: usize, login: usize) -> Option<Range<usize>> {
    let word = login + chars[login..].iter().take_while(|c| !ends_word(**c)).count();
    let colon = login + chars[login..word].iter().position(|c| *c == ':')?;
    let last_at =
        |end: usize| chars[..end].iter().rposition(|c| *c == '@').filter(|at| *at > colon);
    // In quotes it is all of what they hold.
    let marks = chars[..start].iter().rev().take(1 + MARKS_MAX);
    let opening = start - marks.take_while(|c| "\\'\"".contains(**c)).count();
    let inside = quote(chars, opening).and_then(|_| quoted(chars, opening));
    let end = inside.map_or(word, |inside| inside.end.clamp(word, line_end(chars, word)));
    if let Some(at) = last_at(end) {
        return Some(colon + 1..at);
    }
    let port = colon + 1
        ..colon + 1 + chars[colon + 1..word].iter().take_while(|c| !"/?#,;)".contains(**c)).count();
    if chars[login] == '[' || chars[port.clone()].iter().all(char::is_ascii_digit) {
        return digits_before_blank(chars, &port, word);
    }
    // A login without a host reads as a host and a port, but the port is not a number. Or the
    // password has a blank or a quote, and the host is in a later word.
    Some(port.start..last_at(next_url(chars, word)).unwrap_or(port.end))
}

/// Backslashes and quotes before a URL that are looked at.
const MARKS_MAX: usize = 8;

/// The range of a password that begins with digits and has a blank in it; a host and a port look
/// the same, but that no word with `@` follows.
fn digits_before_blank(chars: &[char], port: &Range<usize>, word: usize) -> Option<Range<usize>> {
    let is_last = !port.is_empty() && port.end == word && chars.get(word) == Some(&' ');
    let next = word + 1;
    let end = next + chars.get(next..)?.iter().take_while(|c| !ends_word(**c)).count();
    let at = chars[next..end].iter().rposition(|c| *c == '@').filter(|_| is_last)?;
    let is_url = chars[next..end].windows(3).any(|three| three == [':', '/', '/']);
    (!is_url).then_some(port.start..next + at)
}

fn line_end(chars: &[char], from: usize) -> usize {
    from + chars[from..].iter().take_while(|c| **c != '\n').count()
}

/// Returns the begin of the next URL of the line, or the end of the line.
fn next_url(chars: &[char], from: usize) -> usize {
    let end = line_end(chars, from);
    let next = chars[from..end].windows(3).position(|three| three == [':', '/', '/']);
    next.map_or(end, |next| from + next)
}

/// The password of a login: without a scheme it has to look like one, as SQL has `::` and `@>`.
fn without_scheme(word: &[char], start: usize) -> Option<Range<usize>> {
    let colon = word.iter().position(|c| *c == ':')?;
    let at = word.iter().rposition(|c| *c == '@').filter(|at| colon < *at)?;
    let name = word[..colon].rsplit(|c| "=,(/".contains(*c)).next().unwrap_or_default();
    let is_name = name.iter().all(|c| c.is_alphanumeric() || "._%+-".contains(*c));
    let host = without_stops(&word[at + 1..]);
    let has_host = host.first().is_none_or(|c| c.is_alphanumeric() || "[/_.-:".contains(*c));
    let is_cast = host.is_empty() && word[colon + 1] == ':';
    // In a URL a login can stand where another part does: `x://u@h/y:z@h`.
    let is_login = is_name && has_host && !is_cast && !word[..colon].contains(&'@');
    is_login.then_some(start + colon + 1..start + at)
}

/// A word of a sentence without the punctuation after it.
fn without_stops(word: &[char]) -> &[char] {
    let stops = word.iter().rev().take_while(|c| ".,;!?)".contains(**c)).count();
    &word[..word.len() - stops]
}

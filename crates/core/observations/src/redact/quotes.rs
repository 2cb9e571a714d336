//! Quotes of shells, of SQL and of JSON, possibly escaped, and values without any.

use std::ops::Range;

/// A quote with the number of backslashes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    pub mark: char,
    pub depth: usize,
}

/// A quote at this place, behind backslashes perhaps, and where what it holds begins.
pub fn quote(chars: &[char], at: usize) -> Option<(Quote, usize)> {
    let depth = chars.get(at..)?.iter().take_while(|c| **c == '\\').count();
    let mark = chars.get(at + depth).filter(|c| "'\"".contains(**c))?;
    Some((Quote { mark: *mark, depth }, at + depth + 1))
}

/// Returns the range between quotes that start here, possibly tripled or escaped; to the end of the
/// text if unclosed.
pub fn quoted(chars: &[char], start: usize) -> Option<Range<usize>> {
    let (Quote { mark, depth }, inner) = quote(chars, start)?;
    let triple = [mark; 3];
    if chars[inner - 1..].starts_with(&triple) {
        let inner = inner + 2;
        let end = chars[inner..].windows(3).position(|three| three == triple);
        return Some(inner..end.map_or(chars.len(), |end| inner + end));
    }
    // The same quote behind as many backslashes ends it. Two of them may be one that was escaped
    // once more.
    let end = (inner..chars.len())
        .find(|at| {
            let before = chars[inner..*at].iter().rev().take_while(|c| **c == '\\').count();
            chars[*at] == mark && before == depth
        })
        .map_or(chars.len(), |end| end - depth);
    Some(inner..end.max(inner))
}

/// Returns the range between `$$` and `$$`, or `$tag$` and `$tag$`, as PostgreSQL has it.
pub(crate) fn dollar_quoted(chars: &[char], start: usize) -> Option<Range<usize>> {
    let rest = chars.get(start..)?.strip_prefix(&['$'])?;
    let tag = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').count();
    let mark = &chars[start..start + tag + 2.min(rest.len() - tag + 1)];
    let inner = start + mark.len();
    let end = chars[inner..].windows(mark.len()).position(|some| some == mark)?;
    (mark.len() > 1 && mark.ends_with(&['$'])).then_some(inner..inner + end)
}

/// Where the list ends that begins with the bracket at this place.
pub(crate) fn list_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != ']' {
        // A text ends with as many signs as it begins with.
        at = quoted(chars, at).map_or(at + 1, |inner| inner.end + inner.start - at);
    }
    at.min(chars.len())
}

/// The end of a value without quotes; a number in JSON ends earlier.
pub(crate) fn bare_end(chars: &[char], start: usize, is_json: bool) -> usize {
    let ends = if is_json { "\"'`&,}]" } else { "\"'`&" };
    let mut end = start;
    while let Some(c) = chars.get(end).filter(|c| !c.is_whitespace() && !ends.contains(**c)) {
        let escapes = *c == '\\' && chars.get(end + 1).is_some_and(|c| !"\"'`".contains(*c));
        end += if escapes { 2 } else { 1 };
    }
    end.min(chars.len())
}

/// The place behind blanks.
pub(crate) fn after_blanks(chars: &[char], at: usize) -> usize {
    let rest = chars.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|c| [' ', '\t'].contains(c)).count()
}

/// The number of letters, digits and these signs that stand at a place.
pub(crate) fn word_length(chars: &[char], at: usize, signs: &str) -> usize {
    chars[at..].iter().take_while(|c| c.is_ascii_alphanumeric() || signs.contains(**c)).count()
}

/// `$PGPASSWORD`, `${PGPASSWORD}`: the secret is elsewhere.
pub fn is_variable(value: &[char]) -> bool {
    let Some((&'$', name)) = value.split_first() else { return false };
    !name.is_empty() && name.iter().all(|c| c.is_ascii_uppercase() || "_{}".contains(*c))
}

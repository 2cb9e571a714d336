//! A text as the rules read it, the quotes in it, and their patterns.

use regex_lite::Regex;
use std::ops::Range;

/// The quote that a shell has between two others: `'\''`, `'"'"'`. Those with backslashes follow.
const BETWEEN: char = '\u{f0000}';
/// Backslashes before a quote that are counted.
const DEPTH_MAX: usize = 64;

/// Signs that SQL doubles, shells leave their quotes for, and HTML names.
const SIGNS: [(&str, char); 8] = [
    (r"'\''", '\''),
    ("''", '\''),
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&#x27;", '\''),
];

/// A text in which an escape is the sign that it stands for, if that matters here. A quote with the
/// backslashes before it is one sign, which only the same sign closes.
pub struct Folded {
    pub text: String,
    /// Where each sign ends in the source.
    ends: Vec<usize>,
}

impl Folded {
    /// Folds a text by what reads an escape at the beginning of a text: its length and its sign.
    pub fn new(source: &str, escape: impl Fn(&str) -> Option<(usize, char)>) -> Self {
        let (mut text, mut ends, mut at) = (String::new(), Vec::new(), 0);
        while let Some(c) = source[at..].chars().next() {
            let escape = if "'\\%&".contains(c) { escape(&source[at..]) } else { None };
            let (length, sign) = escape.unwrap_or((c.len_utf8(), c));
            at += length;
            text.push(sign);
            ends.push(at);
        }
        Self { text, ends }
    }

    /// The source with a star for each hidden character.
    pub fn hide(&self, source: &str, ranges: Vec<Range<usize>>) -> String {
        let mut hidden = vec![false; self.text.len()];
        for range in ranges {
            hidden[range].fill(true);
        }
        let (mut shown, mut start) = (String::with_capacity(source.len()), 0);
        for ((at, sign), end) in self.text.char_indices().zip(&self.ends) {
            let part = &source[start..*end];
            if hidden[at] && sign != '\n' {
                shown.extend(part.chars().map(|_| '*'));
            } else {
                shown.push_str(part);
            }
            start = *end;
        }
        shown
    }
}

/// Reads an escape of a sign that rules know.
pub fn escape(text: &str) -> Option<(usize, char)> {
    if let Some(between) = [r"'\''", r#"'"'"'"#].iter().find(|signs| text.starts_with(**signs)) {
        return Some((between.len(), BETWEEN));
    }
    let depth = text.bytes().take(DEPTH_MAX).take_while(|byte| *byte == b'\\').count();
    if let (1.., Some(mark @ (b'\'' | b'"'))) = (depth, text.as_bytes().get(depth)) {
        let code = u32::from(BETWEEN) + 2 * depth as u32 + u32::from(*mark == b'"');
        return Some((depth + 1, char::from_u32(code)?));
    }
    if text.starts_with(r"\/") {
        return Some((2, '/'));
    }
    let (length, sign) = coded(text)?;
    (sign.is_ascii_alphanumeric() || ":/@=_.-?&".contains(sign)).then_some((length, sign))
}

/// Reads an escape of any character: of URLs, JSON, SQL, shells and HTML.
pub fn character(text: &str) -> Option<(usize, char)> {
    let sign = SIGNS.iter().find(|(escape, _)| text.starts_with(escape));
    if let Some((escape, sign)) = sign {
        return Some((escape.len(), *sign));
    }
    // The bytes of one character in UTF-8.
    let code = |digits: &str| u8::from_str_radix(digits.get(..2)?, 16).ok();
    let bytes: Vec<u8> =
        (0..4).map_while(|nth| code(text.get(3 * nth..)?.strip_prefix('%')?)).collect();
    let whole = (1..=bytes.len()).find_map(|count| {
        let c = str::from_utf8(&bytes[..count]).ok()?.chars().next()?;
        Some((3 * count, c))
    });
    let escaped = text.strip_prefix('\\').and_then(|rest| rest.chars().next());
    let escaped = escaped.filter(|c| !c.is_alphanumeric()).map(|c| (1 + c.len_utf8(), c));
    whole.or_else(|| coded(text)).or(escaped)
}

/// Reads a character by its number in hexadecimal.
fn coded(text: &str) -> Option<(usize, char)> {
    let forms = [("%", 2), (r"\u", 4), (r"\U", 8), (r"\x", 2)];
    forms.iter().find_map(|(prefix, digits)| {
        let code = text.strip_prefix(prefix)?.get(..*digits)?;
        Some((prefix.len() + digits, char::from_u32(u32::from_str_radix(code, 16).ok()?)?))
    })
}

pub fn is_quote(c: char) -> bool {
    "'\"".contains(c) || c >= BETWEEN
}

/// The inner part of quotes that begin here, possibly tripled; to the end of the text if they are
/// not closed.
pub fn quoted(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let once = &rest[..rest.chars().next().filter(|c| is_quote(*c))?.len_utf8()];
    let thrice = once.repeat(3);
    let mark = if rest.starts_with(&thrice) { &thrice } else { once };
    let find = |from: usize| rest[from..].find(mark).map_or(rest.len(), |length| from + length);
    let mut end = find(mark.len());
    // SQL doubles a quote in a text.
    while end > mark.len() && mark == "'" && rest[end..].starts_with("''") {
        end = find(end + 2);
    }
    Some(start + mark.len()..start + end)
}

/// A pattern for folded texts, with capital letters for parts. Q is quotes in a class, T a text in
/// quotes, V its inner part, and B blanks. C is a character of a value without quotes, A an
/// argument of a function, I the words behind IDENTIFIED, and H the way to log in of a header.
pub fn pattern(pattern: &str) -> Regex {
    let text = |inner: &str| ["'", "\"", "Q"].map(|mark| inner.replace('~', mark)).join("|");
    let by = r"\s+(?:by|(?:with|via)\s+\w+\s+(?:by|as|using))(?:\s+(?:password|values))?[\s(]*";
    let schemes = "bearer|basic|digest|token|apikey|negotiate|splunk|aws4-hmac-sha256";
    let pattern = pattern
        .replace('A', r"(?:[^,;()Q\n]|T|\((?:[^()\n]|\([^()\n]*\))*\))*")
        .replace('V', &format!("(?:{})", text("[~]([^~]*)[~]")))
        .replace('T', &format!("(?:{})", text("[~][^~]*[~]")))
        .replace('C', r"(?:\\[\s\S]|[^\\\sQ`&])")
        .replace('I', by)
        .replace('H', &format!(r"B[Q]?(?:(?:{schemes})[ \t]+)?"))
        .replace('B', r"[ \t]*")
        .replace('Q', "'\"\u{f0000}-\u{f0100}");
    Regex::new(&format!("(?i){pattern}")).expect("a pattern of this crate")
}

/// Returns whether a secret is in a variable or the output of a command: `$PGPASSWORD`, `$(cat x)`.
pub fn is_elsewhere(value: &str) -> bool {
    let is_variable =
        |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || "_{}".contains(c));
    value.strip_prefix('$').is_some_and(|name| is_variable(name) || name.starts_with('('))
}

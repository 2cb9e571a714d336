//! Passwords and tokens, and the values of all that this process was given.

use crate::folded::{Folded, character};
use crate::hexadecimal;
use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};
use zeroize::Zeroizing;

/// A password, a token or another secret, from the moment it is read.
///
/// It is neither displayed nor serialised, and `{:?}` shows stars: what is built from it, such as
/// an error or a recording, cannot hold it by accident. Its memory is overwritten when it is
/// dropped; one copy stays, by which its value is found in what others say, until the process ends.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// The text itself: for the server that asks for it, and for the environment of its clients.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns whether it has no characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        remember(&text);
        Self(Zeroizing::new(text))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// Characters of a secret that is looked for. Shorter ones are parts of any text: stars in their
/// places would spoil it, and tell by their number what they are. Those are hidden where a name or
/// a form announces them ([`crate::redacted`]).
const CHARS_MIN: usize = 4;
/// Characters from which on it is nothing else, if it is not of small letters or digits alone.
const DISTINCT_CHARS_MIN: usize = 8;

/// Passwords that every text about databases has as words: a star in their place would show them.
#[rustfmt::skip]
const WORDS: [&str; 14] = [
    "admin", "database", "default", "mariadb", "mssql", "mysql", "password", "postgres",
    "postgresql", "root", "secret", "steelbench", "test", "user",
];

/// A way in which the value of a secret can be written, apart from escapes.
struct Form {
    text: Zeroizing<String>,
    /// Set unless it may be a word, a name or a number by accident.
    is_distinct: bool,
    /// Set for Base64, whose signs around it are of the same text: `user:password`.
    is_packed: bool,
}

/// The secrets of this process.
static KNOWN: RwLock<Vec<Form>> = RwLock::new(Vec::new());

fn remember(value: &str) {
    let length = value.chars().count();
    if length < CHARS_MIN || WORDS.contains(&value) {
        return;
    }
    let is_one_kind = value.chars().all(char::is_alphabetic) || value.chars().all(char::is_numeric);
    let is_distinct = length >= DISTINCT_CHARS_MIN && !is_one_kind;
    let hex = hexadecimal(value.as_bytes());
    let plain = [value.to_owned(), hex.to_uppercase(), hex].map(|text| (text, false));
    let packed = (0..BASE64_BYTES).flat_map(|before| packed(value, before));
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    for (text, is_packed) in plain.into_iter().chain(packed.map(|text| (text, true))) {
        let is_code = text != value && text.contains(char::is_alphabetic);
        let is_distinct = is_distinct || is_code && text.len() >= DISTINCT_CHARS_MIN;
        let text = Zeroizing::new(text);
        if !known.iter().any(|form| form.text == text) {
            known.push(Form { text, is_distinct, is_packed });
        }
    }
}

/// Bytes that Base64 writes together.
const BASE64_BYTES: usize = 3;

/// The signs of a value in Base64 that do not depend on what is around it, with `before` bytes in
/// front of it beyond a multiple of three; with the other two signs of URLs too.
fn packed(value: &str, before: usize) -> [String; 2] {
    let bytes = [&b"\0\0"[..before], value.as_bytes()].concat();
    let text = BASE64_STANDARD_NO_PAD.encode(&bytes);
    let text = &text[(before * 8).div_ceil(6)..bytes.len() * 8 / 6];
    [text.to_owned(), text.replace('+', "-").replace('/', "_")]
}

/// A text with a star for each character of a known secret, also of an escaped one; of one that is
/// also a word only if `is_message`, and only where it is a word.
pub fn without_known(text: &str, is_message: bool) -> Cow<'_, str> {
    let forms = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let places = |text: &str| {
        let forms = forms.iter().filter(|form| form.is_distinct || is_message);
        forms.flat_map(|form| form.places(text)).collect::<Vec<_>>()
    };
    let mut shown = Cow::Borrowed(text);
    let plain = places(text);
    if !plain.is_empty() {
        shown = Folded::new(text, |_| None).hide(text, plain).into();
    }
    if !forms.is_empty() && shown.contains(['%', '\\', '\'', '&']) {
        let folded = Folded::new(&shown, character);
        let escaped = places(&folded.text);
        if !escaped.is_empty() {
            shown = folded.hide(&shown, escaped).into();
        }
    }
    shown
}

impl Form {
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let is_sign = |c: char| c.is_ascii_alphanumeric() || "+/-_=".contains(c);
        let is_joined = |left: &str, right: &str| {
            left.ends_with(char::is_alphanumeric) && right.starts_with(char::is_alphanumeric)
        };
        let place = |(at, found): (usize, &str)| {
            let (before, after) = (&text[..at], &text[at + found.len()..]);
            if self.is_distinct && self.is_packed {
                let rest = after.trim_start_matches(is_sign);
                return Some(before.trim_end_matches(is_sign).len()..text.len() - rest.len());
            }
            let is_whole = !is_joined(before, found) && !is_joined(found, after);
            (self.is_distinct || is_whole).then_some(at..at + found.len())
        };
        text.match_indices(self.text.as_str()).filter_map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Secret, without_known};

    #[test]
    fn no_form_of_it_shows_the_text() {
        let secret = Secret::from("S3c");
        assert_eq!(secret.reveal(), "S3c");
        for shown in [format!("{secret:?}"), format!("{secret:#?}"), format!("{:?}", Some(secret))]
        {
            assert!(!shown.contains("S3c"), "{shown}");
        }
    }

    #[test]
    fn the_values_of_secrets_are_found_wherever_they_stand() {
        let _secrets = ["zebra/x9'\"%", "quagga", "gnu", "tapir7ü&<é"].map(Secret::from);
        for (text, elsewhere, message) in [
            ("x=zebra/x9'\"%.", "x=***********.", "x=***********."),
            ("at zebra%2Fx9%27%22%25", "at *******************", "at *******************"),
            ("at zebra%2fx9%27%22%25", "at *******************", "at *******************"),
            // Encoders leave various signs.
            ("at zebra/x9'%22%25", "at ***************", "at ***************"),
            ("\"zebra/x9'\\\"%\"", "\"************\"", "\"************\""),
            (r#""zebra\/x9\u0027\"%""#, r#""******************""#, r#""******************""#),
            ("'zebra/x9''\"%'", "'************'", "'************'"),
            (r"'zebra/x9'\''&quot;%'", "'*******************'", "'*******************'"),
            ("tapir7%C3%BC%26%3C%c3%a9", "************************", "************************"),
            (
                "role \"quagga\" of quaggas",
                "role \"quagga\" of quaggas",
                "role \"******\" of quaggas",
            ),
            ("a gnu", "a gnu", "a gnu"),
            // In Base64 alone, behind `u:`, behind `us:`, and with the signs of URLs.
            ("emVicmEveDknIiU=", "****************", "****************"),
            (
                "Basic dTp6ZWJyYS94OSciJQ==",
                "Basic ********************",
                "Basic ********************",
            ),
            ("dXM6emVicmEveDknIiU, x", "*******************, x", "*******************, x"),
            ("7a656272612f7839272225", "**********************", "**********************"),
        ] {
            assert_eq!(without_known(text, false), elsewhere);
            assert_eq!(without_known(text, true), message);
        }
    }
}

//! Passwords and tokens, and the values of all that this process was given.

use crate::order;
use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use std::borrow::Cow;
use std::fmt;
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

/// Characters of a secret that is looked for: shorter ones are parts of any text.
const CHARS_MIN: usize = 4;
/// Characters from which on it is nothing else, if it is not of small letters or digits alone.
const DISTINCT_CHARS_MIN: usize = 8;

/// Passwords that every text about databases has as words: a star in their place would show them.
#[rustfmt::skip]
const WORDS: [&str; 14] = [
    "admin", "database", "default", "mariadb", "mssql", "mysql", "password", "postgres",
    "postgresql", "root", "secret", "steelbench", "test", "user",
];

/// A way in which the value of a secret can be written.
struct Form {
    text: Zeroizing<String>,
    /// Set unless it may be a word, a name or a number by accident.
    is_distinct: bool,
}

/// The secrets of this process, longest forms first.
static KNOWN: RwLock<Vec<Form>> = RwLock::new(Vec::new());

fn remember(value: &str) {
    let length = value.chars().count();
    if length < CHARS_MIN || WORDS.contains(&value) {
        return;
    }
    let is_one_kind = value.chars().all(char::is_alphabetic) || value.chars().all(char::is_numeric);
    let is_distinct = length >= DISTINCT_CHARS_MIN && !is_one_kind;
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    for text in spellings(value).map(Zeroizing::new) {
        if !known.iter().any(|form| form.text == text) {
            known.push(Form { text, is_distinct });
        }
    }
    order::by_key(&mut known, &|form| std::cmp::Reverse(form.text.len()));
}

/// A value as it is, percent-encoded, in the quotes of JSON, of SQL and of shells, and in Base64.
fn spellings(value: &str) -> [String; 8] {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded = |code: fn(u8) -> String| -> String {
        let plain = |byte: u8| is_plain(byte).then(|| char::from(byte).to_string());
        value.bytes().map(|byte| plain(byte).unwrap_or_else(|| code(byte))).collect()
    };
    [
        value.to_owned(),
        encoded(|byte| format!("%{byte:02X}")),
        encoded(|byte| format!("%{byte:02x}")),
        value.replace('\\', "\\\\").replace('"', "\\\""),
        value.replace('\'', "''"),
        value.replace('\'', "\\'"),
        value.replace('\'', r"'\''"),
        BASE64_STANDARD_NO_PAD.encode(value),
    ]
}

/// A text with a star for each character of a known secret; of one that is also a word only if
/// `is_message`, and only where it is a word.
pub fn without_known(text: &str, is_message: bool) -> Cow<'_, str> {
    let forms = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let forms = forms.iter().filter(|form| form.is_distinct || is_message);
    forms.fold(Cow::Borrowed(text), |shown, form| {
        if shown.contains(form.text.as_str()) { hidden(&shown, form).into() } else { shown }
    })
}

fn hidden(text: &str, form: &Form) -> String {
    let (mut shown, mut end) = (String::with_capacity(text.len()), 0);
    for (at, found) in text.match_indices(form.text.as_str()) {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        let is_joined = |left: &str, right: &str| {
            left.ends_with(char::is_alphanumeric) && right.starts_with(char::is_alphanumeric)
        };
        if form.is_distinct || !is_joined(before, found) && !is_joined(found, after) {
            shown += &text[end..at];
            shown.extend(found.chars().map(|_| '*'));
            end = at + found.len();
        }
    }
    shown + &text[end..]
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
        let _secrets = ["zebra/x9'\"%", "quagga", "gnu"].map(Secret::from);
        for (text, elsewhere, message) in [
            ("x=zebra/x9'\"%.", "x=***********.", "x=***********."),
            ("at zebra%2Fx9%27%22%25", "at *******************", "at *******************"),
            ("at zebra%2fx9%27%22%25", "at *******************", "at *******************"),
            ("\"zebra/x9'\\\"%\"", "\"************\"", "\"************\""),
            ("'zebra/x9''\"%'", "'************'", "'************'"),
            (
                "role \"quagga\" of quaggas",
                "role \"quagga\" of quaggas",
                "role \"******\" of quaggas",
            ),
            ("a gnu", "a gnu", "a gnu"),
            ("emVicmEveDknIiU=", "***************=", "***************="),
        ] {
            assert_eq!(without_known(text, false), elsewhere);
            assert_eq!(without_known(text, true), message);
        }
    }
}

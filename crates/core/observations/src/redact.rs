//! Secrets in texts from outside, found by their context and by the values that are known. A
//! secret that we are given is a [`crate::Secret`]; the guards of the store and of outputs, and
//! what renders errors, send texts through here.

mod commands;
mod names;
mod urls;

pub use names::names_secret;

use crate::folded::{Folded, escape};
use crate::secret::{Secret, without_known};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::VecDeque;

/// The text with a star for each character of what is, or may be, a secret in it:
///
/// - the values of secrets that this process was given;
/// - in anything like a URL, what is between the first colon and the last `@`: `x://name:...@host`,
///   `name:...@host`; the login of a URL that has no name: `https://...@host`;
/// - the value of a name that says so, after `=`, after `:` with quotes, in quotes alone, or as an
///   option: `password=...`, `"passwd": "..."`, `PASSWORD '...'`, `--password ...`, `token =
///   ["...", "..."]`. A variable of the shell is not a value;
/// - the text of elements and the value of entries that are named so: `<password>...</password>`,
///   `name: PASSWORD, value: ...`;
/// - in command lines, `-u name:...`, and short options of a few programs: `mysql -p...`;
/// - what `IDENTIFIED BY` and headers of HTTP announce, and tokens that begin as known ones do.
///
/// Names and signs are recognised in percent-encoding and in the escapes of JSON and TOML too.
pub fn redacted(text: &str) -> String {
    without_forms(&without_known(text, false))
}

/// Redacts a message of a server or a program: also known secrets that are common words, which
/// elsewhere name databases and users.
pub fn redacted_message(text: &str) -> String {
    without_forms(&without_known(text, true))
}

/// Returns whether a text has a secret by its context, whatever secrets are known.
pub fn holds_secret(text: &str) -> bool {
    without_forms(text) != text
}

fn without_forms(text: &str) -> String {
    // Most recorded texts are plain names.
    let is_sign = |c: char| !c.is_alphanumeric() && !"_-.,/".contains(c);
    if !text.contains(is_sign) && !names::has_token(text) {
        return text.to_owned();
    }
    // Records repeat texts in each trial of a run.
    if HARMLESS.with_borrow(|texts| texts.iter().any(|harmless| harmless == text)) {
        return text.to_owned();
    }
    let folded = Folded::new(text, escape);
    let (mut ranges, all) = (urls::secrets(&folded.text), 0..folded.text.len());
    ranges.extend(names::secrets(&folded.text));
    commands::secrets(&folded.text, all, 0, &mut ranges);
    let shown = folded.hide(text, ranges);
    if shown == text && text.len() <= REMEMBERED_BYTES_MAX {
        HARMLESS.with_borrow_mut(|texts| {
            texts.truncate(REMEMBERED_TEXTS - 1);
            texts.push_front(text.to_owned());
        });
    }
    shown
}

/// Labels of configurations, texts of scripts and warnings.
const REMEMBERED_TEXTS: usize = 16;
const REMEMBERED_BYTES_MAX: usize = 128 << 10;

thread_local! {
    /// The last texts without a secret that were searched.
    static HARMLESS: RefCell<VecDeque<String>> = const { RefCell::new(VecDeque::new()) };
}

/// Hides what is, or may be, a password in the texts of a JSON document, and the texts of names
/// that say so.
pub fn redact_json(value: &mut Value) {
    match value {
        Value::String(text) => *text = redacted(text),
        Value::Array(values) => {
            redact_words(values);
            values.iter_mut().for_each(redact_json);
        }
        Value::Object(entries) => {
            for (name, value) in entries {
                match value {
                    Value::String(text) if names_secret(name) => {
                        *text = "*".repeat(text.chars().count());
                    }
                    value => redact_json(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Hides secrets in the words of a command: an option and its value are two.
fn redact_words(words: &mut [Value]) {
    let Some(list) = words.iter().map(Value::as_str).collect::<Option<Vec<_>>>() else { return };
    let quoted =
        list.iter().map(|word| format!("\"{}\"", word.replace(['\'', '"', '\\', '\n'], "_")));
    let line = format!("[{}]", quoted.collect::<Vec<_>>().join(","));
    let shown = redacted(&line);
    if shown == line {
        return;
    }
    // Its quotes and a comma surround each word.
    let mut signs = shown.chars().skip(1);
    for word in words {
        signs.next();
        let text = word.as_str().unwrap_or_default().chars();
        let hidden = text.zip(&mut signs).map(|(c, shown)| if shown == '*' { '*' } else { c });
        *word = hidden.collect::<String>().into();
        signs.nth(1);
    }
}

/// The secrets that a text has by its context, as for [`redacted`]: of an argument, to know them
/// when an error quotes them elsewhere.
pub fn secrets_in(text: &str) -> Vec<Secret> {
    let shown = without_forms(text);
    let mut signs = text.chars().zip(shown.chars());
    let secret = |_| {
        let hidden = signs.by_ref().skip_while(|(c, shown)| c == shown);
        hidden.take_while(|(c, shown)| c != shown).map(|(c, _)| c).collect::<String>()
    };
    let count = text.chars().count();
    (0..count).map(secret).take_while(|secret| !secret.is_empty()).map(Secret::from).collect()
}

#[cfg(test)]
mod tests;

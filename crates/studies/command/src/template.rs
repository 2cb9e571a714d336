//! Commands with parameters in braces, and the words that are executed.

use std::collections::BTreeMap;
use std::process::Command;

/// Values of parameters by name.
pub type Parameters = BTreeMap<String, String>;

/// A text that cannot be split into the words of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WordsError {
    /// An open quote or a backslash at the end.
    #[error("unclosed quote, or a backslash at the end")]
    Unclosed,
    /// Nothing but blanks.
    #[error("the text has no words")]
    Empty,
}

/// Interpreter of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shell {
    /// Nothing: the text is split into words.
    None,
    /// A program with options; it is given `-c` and the text.
    Words(Vec<String>),
}

impl Shell {
    /// From its setting: `sh`, `bash --norc`, `none`.
    ///
    /// # Errors
    /// When its quotes are not closed.
    pub fn parse(text: &str) -> Result<Self, WordsError> {
        if text.trim() == "none" {
            return Ok(Self::None);
        }
        words(text).map(Self::Words)
    }

    /// The words that execute a text.
    ///
    /// # Errors
    /// Without a shell: when there is no word, or quotes are not closed.
    pub fn execute(&self, text: &str) -> Result<Vec<String>, WordsError> {
        match self {
            Self::None => words(text),
            Self::Words(shell) => Ok([shell.as_slice(), &["-c".into(), text.into()]].concat()),
        }
    }
}

/// The words of a text as a shell splits it.
fn words(text: &str) -> Result<Vec<String>, WordsError> {
    let words = shlex::split(text).ok_or(WordsError::Unclosed)?;
    if words.is_empty() { Err(WordsError::Empty) } else { Ok(words) }
}

/// A program with its arguments.
pub fn command(words: &[String]) -> Command {
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(words.get(1..).unwrap_or_default());
    command
}

/// The text with the values of parameters in the place of `{NAME}`; `{{NAME}}` is these characters
/// with single braces. Other braces stand for themselves: `${NAME}`, `{}`, `{a,b}`, `{ cmd; }`.
///
/// # Errors
/// The name in braces that is not a parameter.
pub fn substituted<'t>(text: &'t str, parameters: &Parameters) -> Result<String, &'t str> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let variable = rest[..at].ends_with('$');
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((name, length)) = in_braces(rest, "{{", "}}") {
            out.extend(["{", name, "}"]);
            rest = &rest[length..];
        } else if let Some((name, length)) = in_braces(rest, "{", "}").filter(|_| !variable) {
            out.push_str(parameters.get(name).ok_or(name)?);
            rest = &rest[length..];
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// A text in which only the braces of these parameters are replaced: those of other names are
/// doubled.
pub fn escaped(text: &str, is_parameter: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let variable = rest[..at].ends_with('$');
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match in_braces(rest, "{", "}") {
            Some((name, length)) if !variable && !is_parameter(name) => {
                out.extend(["{{", name, "}}"]);
                length
            }
            Some((_, length)) => {
                out.push_str(&rest[..length]);
                length
            }
            None => {
                out.push('{');
                1
            }
        };
        rest = &rest[length..];
    }
    out + rest
}

/// Returns whether a text uses a parameter: as `{NAME}`, or as a shell variable.
pub fn uses(text: &str, name: &str) -> bool {
    let variable = format!("${name}");
    let mut variables = text.match_indices(&variable).map(|(at, found)| &text[at + found.len()..]);
    text.contains(&format!("{{{name}}}")) || variables.any(|rest| !rest.starts_with(is_of_name))
}

/// Returns whether this can be a parameter's name: letters, digits, `_` and `-`.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// The name between these signs at the beginning of a text, and the length of all three.
fn in_braces<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, usize)> {
    let inner = text.strip_prefix(open)?;
    let name = &inner[..inner.find(|c| !is_of_name(c))?];
    let closed = !name.is_empty() && inner[name.len()..].starts_with(close);
    closed.then_some((name, open.len() + name.len() + close.len()))
}

#[cfg(test)]
mod tests {
    use super::{Parameters, Shell, WordsError, escaped, substituted};

    fn parameters() -> Parameters {
        [("n", "8"), ("my-file", "a b"), ("foo", "a,{n}")]
            .map(|(name, value)| (name.into(), value.into()))
            .into()
    }

    #[test]
    fn parameters_are_put_in_once_and_other_braces_stay() {
        for (text, expected) in [
            ("sleep 0.{n}", "sleep 0.8"),
            ("cat '{my-file}' {n}{n}", "cat 'a b' 88"),
            // What a value holds is not looked at again.
            ("{foo} {n}", "a,{n} 8"),
            ("echo ${n} {} {a,b} { true; } {\"k\":{n}}", "echo ${n} {} {a,b} { true; } {\"k\":8}"),
            ("awk '{{print}}' ${{x}}", "awk '{print}' ${x}"),
            ("awk '{print $1}' {n", "awk '{print $1}' {n"),
            ("", ""),
            ("é{n}é", "é8é"),
        ] {
            assert_eq!(substituted(text, &parameters()), Ok(expected.to_owned()), "{text}");
        }
        assert_eq!(substituted("sleep {delay}", &parameters()), Err("delay"));
    }

    #[test]
    fn what_is_no_parameter_can_be_escaped() {
        for text in [
            "awk '{print}' {n}",
            "{x}{y}",
            "${n} {} {a,b}",
            "docker ps --format '{{.Names}}'",
            "{{other}}",
            "{",
            "a",
        ] {
            let same = text.replace("{n}", "8").replace("$8", "${n}");
            assert_eq!(
                substituted(
                    &escaped(text, |name: &str| parameters().contains_key(name)),
                    &parameters()
                ),
                Ok(same),
                "{text}"
            );
        }
    }

    #[test]
    fn a_text_is_given_to_the_shell_or_split_as_by_one() {
        let bash = Shell::parse("bash --norc").unwrap();
        assert_eq!(
            bash.execute("a 'b"),
            Ok(["bash", "--norc", "-c", "a 'b"].map(str::to_owned).to_vec())
        );
        let none = Shell::parse("none").unwrap();
        assert_eq!(
            none.execute("grep -i 'a b'"),
            Ok(["grep", "-i", "a b"].map(str::to_owned).to_vec())
        );
        assert_eq!(none.execute("grep 'a"), Err(WordsError::Unclosed));
        assert_eq!(none.execute("  "), Err(WordsError::Empty));
    }
}

//! Responses of the user's own, found in what a command prints.

use crate::error::{AnswerError, CommandError, said};
use experiment::{Configuration, Invalid, choice};
use observations::Response;
use observe::child::{Printed, without_secrets};
use regex::Regex;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Where the settings of these responses lie.
const PREFIX: &str = "workload.responses.";

choice! {
    /// Which way a response is better.
    pub enum Better {
        /// More is better.
        Higher = "higher",
        /// Less is better.
        Lower = "lower",
    }
}

/// A response of the user's.
#[derive(Debug)]
pub struct Answer {
    name: String,
    unit: String,
    better: Better,
    place: Place,
}

/// Place of the value in the output.
#[derive(Debug)]
enum Place {
    /// The first group of the expression, or all of it where it has none, in the last match on
    /// standard output, else on standard error.
    Regex(Regex),
    /// A JSON Pointer (RFC 6901) into what standard output has.
    Pointer(String),
}

impl Answer {
    /// Parses the answers of a configuration.
    ///
    /// # Errors
    /// All wrong ones, each with its setting.
    pub fn all(configuration: &Configuration) -> Result<Vec<Self>, Vec<Invalid>> {
        let settings = configuration.below(PREFIX);
        let names: BTreeSet<&str> =
            settings.filter_map(|(path, _)| Some(path.rsplit_once('.')?.0)).collect();
        let (mut answers, mut invalid) = (Vec::new(), Vec::new());
        for name in names {
            match Self::from_settings(configuration, name) {
                Ok(answer) => answers.push(answer),
                Err(objection) => invalid.push(objection),
            }
        }
        if invalid.is_empty() { Ok(answers) } else { Err(invalid) }
    }

    fn from_settings(configuration: &Configuration, name: &str) -> Result<Self, Invalid> {
        let path = |key: &str| format!("{PREFIX}{name}.{key}");
        let given = |key: &str| configuration.value(&path(key)).map(ToString::to_string);
        let objection = |key: &str, message: String| Err(Invalid::new(path(key), message));
        let small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.chars().all(small) || OWN.contains(&name) {
            let key = if given("regex").is_some() { "regex" } else { "pointer" };
            let message = "use lower-case letters, digits and `_`, and no name of the probe's \
                           own responses";
            return objection(key, format!("`{name}`: {message}"));
        }
        let place = match (given("regex"), given("pointer")) {
            (Some(regex), None) => match Regex::new(&regex) {
                Ok(regex) => Place::Regex(regex),
                Err(error) => return objection("regex", error.to_string()),
            },
            (None, Some(pointer)) if pointer.is_empty() || pointer.starts_with('/') => {
                Place::Pointer(pointer)
            }
            (None, Some(_)) => {
                return objection(
                    "pointer",
                    "a JSON Pointer begins with `/`, as in /results/0/tps".into(),
                );
            }
            (Some(_), Some(_)) => {
                return objection("pointer", "give this or regex, not both".into());
            }
            (None, None) => return objection("regex", "missing; give this or pointer".into()),
        };
        let Some(better) = given("direction").and_then(|name| Better::from_name(&name)) else {
            return objection(
                "direction",
                "missing; say which is better: \"higher\" or \"lower\"".into(),
            );
        };
        Ok(Self { name: name.to_owned(), unit: given("unit").unwrap_or_default(), better, place })
    }

    /// Its value in what a run has printed, looked for until `stop` says so.
    ///
    /// # Errors
    /// When the value is missing or not a number.
    pub fn find(
        &self,
        stdout: &Printed,
        stderr: &Printed,
        stop: &dyn Fn() -> bool,
    ) -> Result<f64, CommandError> {
        let found = match &self.place {
            Place::Regex(regex) => last_match(regex, &stdout.text(), stop)
                .or_else(|| last_match(regex, &stderr.text(), stop))
                .ok_or_else(|| AnswerError::NoMatch { regex: regex.to_string() }),
            Place::Pointer(pointer) => in_json(pointer, stdout),
        };
        let number = found.and_then(|text| {
            let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| AnswerError::NoNumber { text: beginning(&without_secrets(&text)) })
        });
        number.map_err(|cause| CommandError::NoResponse {
            name: self.name.clone(),
            cause,
            said: said(stdout, stderr),
        })
    }

    /// The response with the mean of these values.
    pub fn response(&self, values: &[f64]) -> Response {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        match self.better {
            Better::Higher => Response::higher(&self.name, &self.unit, mean),
            Better::Lower => Response::lower(&self.name, &self.unit, mean),
        }
    }
}

/// The names of the probe's own responses.
pub const OWN: [&str; 14] = [
    "elapsed",
    "elapsed_min",
    "elapsed_max",
    "throughput",
    "user_cpu",
    "system_cpu",
    "run_queue",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "storage_read",
    "storage_written",
    "peak_memory",
];

/// Characters shown of a value that is not a number.
const TOLD_CHARS_MAX: usize = 100;

fn beginning(text: &str) -> String {
    let more = if text.chars().nth(TOLD_CHARS_MAX).is_some() { "..." } else { "" };
    text.chars().take(TOLD_CHARS_MAX).chain(more.chars()).collect()
}

/// The last match. One takes time in proportion to the text, and all of them perhaps to its square:
/// 4 MiB in one line, searched to its end for each character.
fn last_match(regex: &Regex, text: &str, stop: &dyn Fn() -> bool) -> Option<String> {
    let last = regex.find_iter(text).take_while(|_| !stop()).last()?;
    let found = regex.captures_at(text, last.start())?;
    found.get(1).or_else(|| found.get(0)).map(|found| found.as_str().to_owned())
}

fn in_json(pointer: &str, stdout: &Printed) -> Result<String, AnswerError> {
    if stdout.is_cut() {
        return Err(AnswerError::TooLarge);
    }
    let json: Json = serde_json::from_str(&stdout.text())?;
    match json.pointer(pointer) {
        Some(Json::Number(number)) => Ok(number.to_string()),
        Some(Json::String(text)) => Ok(text.clone()),
        Some(_) => Err(AnswerError::Kind { pointer: pointer.to_owned() }),
        None => Err(AnswerError::Nothing { pointer: pointer.to_owned() }),
    }
}

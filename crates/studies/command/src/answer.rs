//! Responses of the user's own, found in what a command prints.

use crate::error::{AnswerError, CommandError, output_end};
use experiment::{Configuration, FromValue, Invalid, choice};
use observations::Response;
use observations::redacted_message;
use observe::child::Printed;
use regex_lite::Regex;
use serde_json::Value as Json;
use statistics::step;
use std::collections::BTreeSet;

/// Where the settings of these responses lie.
const PREFIX: &str = "workload.responses.";

choice! {
    /// The direction in which a response is better.
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
    /// The step that the user declared.
    step: Option<f64>,
}

/// A value that a run printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PrintedValue {
    pub value: f64,
    /// The unit of its last digit: 0.01 of `3.10`; 0: as fine as the number.
    digit: f64,
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
        let value_of = |key: &str| configuration.value(&path(key)).map(ToString::to_string);
        let objection = |key: &str, message: String| Err(Invalid::new(path(key), message));
        if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            || PROBE_RESPONSES.contains(&name)
        {
            let key = if value_of("regex").is_some() { "regex" } else { "pointer" };
            let message = "use lower-case letters, digits and `_`, and no name of the probe's \
                           own responses";
            return objection(key, format!("`{name}`: {message}"));
        }
        let place = match (value_of("regex"), value_of("pointer")) {
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
        let Some(better) = value_of("direction").and_then(|name| Better::from_name(&name)) else {
            return objection(
                "direction",
                "missing; say which is better: \"higher\" or \"lower\"".into(),
            );
        };
        let step = f64::from_value(configuration.value(&path("step")));
        let unit = value_of("unit").unwrap_or_default();
        Ok(Self { name: name.to_owned(), unit, better, place, step })
    }

    /// The value in what a run has printed, looked for until `stop` says so.
    ///
    /// # Errors
    /// When the value is missing or not a number.
    pub fn find(
        &self,
        stdout: &Printed,
        stderr: &Printed,
        stop: &dyn Fn() -> bool,
    ) -> Result<PrintedValue, CommandError> {
        let found = match &self.place {
            Place::Regex(regex) => last_match(regex, &stdout.text(), stop)
                .or_else(|| last_match(regex, &stderr.text(), stop))
                .ok_or_else(|| AnswerError::NoMatch(regex.to_string())),
            Place::Pointer(pointer) => in_json(pointer, stdout),
        };
        let number = found.and_then(|text| {
            PrintedValue::read(text.trim())
                .ok_or_else(|| AnswerError::NoNumber(beginning(&redacted_message(&text))))
        });
        number.map_err(|cause| CommandError::NoResponse {
            name: self.name.clone(),
            cause,
            output: output_end(stdout, stderr),
        })
    }

    /// The response with the mean of what the runs printed.
    pub fn response(&self, printed: &[PrintedValue]) -> Response {
        let values: Vec<f64> = printed.iter().map(|value| value.value).collect();
        let digit = printed.iter().map(|value| value.digit).reduce(f64::min).unwrap_or(0.0);
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let step = self.step.or_else(|| step(&[values], digit)).unwrap_or(digit);
        // Errors of rounding average out where values vary by half a step or more.
        let varies = n > 1.0 && (squares / (n - 1.0)).sqrt() >= step / 2.0;
        let of_mean = if varies { step / n.sqrt() } else { step };
        let response = match self.better {
            Better::Higher => Response::higher(&self.name, &self.unit, mean),
            Better::Lower => Response::lower(&self.name, &self.unit, mean),
        };
        response.in_steps_of(of_mean)
    }
}

impl PrintedValue {
    /// Reads a finite number.
    fn read(text: &str) -> Option<Self> {
        let value = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
        let exponent: i32 = exponent.parse().ok()?;
        // `1e6` may be exact, `1.5e6` has one decimal.
        let place = if decimals == 0 { exponent.min(0) } else { exponent - decimals };
        Some(Self { value, digit: 10_f64.powi(place) })
    }
}

/// The names of the probe's own responses.
pub(crate) const PROBE_RESPONSES: [&str; 14] = [
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
        Some(_) => Err(AnswerError::Kind(pointer.to_owned())),
        None => Err(AnswerError::Nothing(pointer.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Better, Place, PrintedValue};

    fn answer(step: Option<f64>) -> Answer {
        let place = Place::Pointer(String::new());
        Answer { name: "cost".into(), unit: "ms".into(), better: Better::Lower, place, step }
    }

    fn resolution(answer: &Answer, texts: &[&str]) -> f64 {
        let printed: Vec<PrintedValue> =
            texts.iter().map(|text| PrintedValue::read(text).unwrap()).collect();
        answer.response(&printed).resolution
    }

    #[test]
    fn the_last_printed_digit_is_the_step() {
        let inferred = answer(None);
        for (texts, expected) in [
            (&["12.50"][..], 0.01),
            (&["12"], 1.0),
            (&["-3.4e-2"], 1e-3),
            (&["1e6"], 1.0),
            (&["1.5e6"], 1e5),
            // The mean of two that vary.
            (&["12.5", "12.25"], 0.01 / 2_f64.sqrt()),
        ] {
            let found = resolution(&inferred, texts);
            assert!((found / expected - 1.0).abs() < 1e-9, "{texts:?}: {found}");
        }
        // Ticks of 20 in 9 runs that vary by more than one: a third for the mean.
        let ticks = ["100", "140", "180", "120", "160", "200", "100", "220", "260"];
        assert!((resolution(&inferred, &ticks) - 20.0 / 3.0).abs() < 1e-9);
        assert!((resolution(&inferred, &["100", "100", "100"]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_declared_step_takes_precedence() {
        assert!((resolution(&answer(Some(0.5)), &["12.50"]) - 0.5).abs() < 1e-12);
    }
}

//! Wording of figures in findings, and the evidence that each phrase needs. The rules:
//!
//! - A figure has three significant digits and its unit; a factor is `1.93x` with its interval in
//!   brackets.
//! - "falls", "rises", "better", "worse", "less", "more" require significance at 95 % after Holm's
//!   correction over the family of the sentence. With a single block nothing is significant, and
//!   findings say so.
//! - All else is "not significantly different", with the possible difference; one beyond tenfold is
//!   called not bounded. "Equivalent" requires that a difference of the margin is excluded
//!   (`equivalence.rs`). "The same" is never used.
//! - With trials that timed out a figure is "at least" or "at most" its value, and no claim is made
//!   in the other direction.
//! - A level is named `data_files=8`: the last part of the factor's path and the label.
//! - The baseline is called so only if the experiment names one; else it is "the first level".
//!
//! Why two sides differ (`findings/why.rs`), in session time (sessions x elapsed) for each unit of
//! work:
//!
//! - throughput is N x: A x the sessions, divided by B x the session time: Little's law: throughput
//!   = sessions / session time of a unit of work; said where the numbers of sessions differ
//! - session time falls, rises; "of this decrease", "of this increase": the change of session time,
//!   t over blocks
//! - less, more X wait; CPU time; unaccounted time: the interval of that part's change does not
//!   hold 0 (`decompose/judge.rs`: of the causes named at most 5 % are expected to be wrong)
//! - N % \[a, b\]: the part's share of the change, with its interval; the three largest each way of
//!   5 % or more
//! - offset by: the part goes the other way
//! - not significant: one of the largest, and its interval holds 0
//! - wait eliminated, new wait: a supported change, and less than 1 % of it is on the other side
//! - fewer waits, each longer (more, each shorter): number and length of the waits each changed,
//!   the length in resource time and in all; the family is number and length of every wait type of
//!   5 % of the waits or more
//! - equally many waits, each longer (shorter): the length changed, the number by under 5 %

use crate::response::seconds;
pub use crate::settings::short_name;
use crate::{Comparison, Interval, ResponseChoice, Scale, WaitShape};
pub use observations::number::{
    figure, grouped, p_value, plain_percent, plural as count, ratio, seconds_unit,
    short_percent as percent, whole, within,
};
use observations::wait_type::CPU_QUEUE;
use observations::{Direction, WarningKind, number};

/// A sentence with the evidence behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    /// True if it claims a difference.
    pub claims: bool,
    /// The sentence.
    pub text: String,
    /// Figures behind it.
    pub evidence: String,
}

/// A claim needs an adjusted p-value below this.
pub const SUPPORTED: f64 = 0.05;
/// And of another response or a statement below this, when the response that was asked for shows no
/// effect at all: together they stay near the 5 % of false findings of one family.
pub const SUPPORTED_ALONE: f64 = 0.01;

/// `1.93x [1.88, 1.99]`, or for a difference `3.2 s [2.9, 3.5] better`.
///
/// With time-outs what is supported: `at least 2.20x`.
pub fn comparison(comparison: &Comparison, unit: &str) -> String {
    if let Some(bound) = comparison.bound {
        let limit = comparison.limit();
        let limit = match comparison.scale {
            Scale::Ratio => format!("{}x", ratio(limit)),
            Scale::Difference => format!("{} {unit} better", figure(limit)),
        };
        return format!("{} {limit}", bound.words());
    }
    match comparison.scale {
        Scale::Ratio => {
            let interval =
                comparison.interval.map(|interval| format!(" {}", number::ratio_ends(interval)));
            format!("{}x{}", ratio(comparison.value), interval.unwrap_or_default())
        }
        Scale::Difference => {
            let sign = comparison.value.signum();
            let (word, value) =
                (if sign < 0.0 { "worse" } else { "better" }, comparison.value.abs());
            let interval = comparison.interval.map(|interval| interval.times(sign));
            format!("{} {word}", number::difference(value, interval, unit))
        }
    }
}

/// A change in the words of its response, a factor the natural way round:
/// `1.93x [1.88, 1.99] faster`, `59x [41, 85] longer`, `at least 2.20x higher`,
/// `3.2 s [2.9, 3.5] better`.
pub fn change(change: &Comparison, response: Option<&ResponseChoice>) -> String {
    if change.scale == Scale::Difference {
        return comparison(change, response.map_or("", |response| response.unit.as_str()));
    }
    ratio_in_words(change, response.map_or(["better", "worse"], ratio_words))
}

/// The direction of a change: `faster`, `longer`, `better`.
pub fn direction(change: &Comparison, response: Option<&ResponseChoice>) -> &'static str {
    let [better, worse] = match (change.scale, response) {
        (Scale::Ratio, Some(response)) => ratio_words(response),
        _ => ["better", "worse"],
    };
    if change.is_better() { better } else { worse }
}

/// A ratio of durations of the same work: `1.93x [1.88, 1.99] faster`.
pub fn speed(comparison: &Comparison) -> String {
    ratio_in_words(comparison, ["faster", "slower"])
}

/// Without a word where the interval contains 1.
fn ratio_in_words(change: &Comparison, [better, worse]: [&str; 2]) -> String {
    if change.bound.is_none() && change.interval.is_some_and(|interval| interval.contains(1.0)) {
        return comparison(change, "");
    }
    if let Some(bound) = change.bound {
        let limit = change.limit();
        return if limit < 1.0 {
            format!("{} {}x {worse}", bound.opposite().words(), ratio(1.0 / limit))
        } else {
            format!("{} {}x {better}", bound.words(), ratio(limit))
        };
    }
    let is_worse = change.value < 1.0;
    let value = if is_worse { 1.0 / change.value } else { change.value };
    let interval = change.interval.map(|interval| match interval {
        Interval { low, high } if is_worse => Interval { low: 1.0 / high, high: 1.0 / low },
        interval => interval,
    });
    let ends =
        interval.map_or_else(String::new, |interval| format!(" {}", number::ratio_ends(interval)));
    format!("{}x{ends} {}", ratio(value), if is_worse { worse } else { better })
}

/// The word between a change and what it is compared with: `1.93x [1.88, 1.99] faster than`,
/// `1.33x [0.84, 2.09] against`.
pub fn preposition(change: &str) -> &'static str {
    if change.ends_with(']') { "against" } else { "than" }
}

/// The comparatives of a response: of a better value and of a worse one.
fn ratio_words(response: &ResponseChoice) -> [&'static str; 2] {
    match response.direction {
        Direction::HigherIsBetter => ["higher", "lower"],
        Direction::LowerIsBetter if response.name == "elapsed" => ["faster", "slower"],
        Direction::LowerIsBetter if seconds(&response.unit).is_some() => ["shorter", "longer"],
        Direction::LowerIsBetter => ["lower", "higher"],
    }
}

/// ` (A)`: the configuration in a sentence; empty where it has no label.
pub fn in_brackets(label: &str) -> String {
    if label.is_empty() { String::new() } else { format!(" ({label})") }
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [single] => single.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A text on one line, of a long one the beginning.
pub fn one_line(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// A number of things: `45.7 M`, `3.75 k`, `203`.
fn amount(count: f64) -> String {
    match count {
        millions if millions >= 999_500.0 => format!("{} M", figure(millions / 1e6)),
        thousands if thousands >= 9_999.5 => format!("{} k", figure(thousands / 1e3)),
        few => format!("{few:.0}"),
    }
}

/// Number and length of waits on both sides: `45.7 M of 4.95 ms -> 45.2 M of 5.42 ms`.
pub fn shape(shape: &WaitShape) -> String {
    let side = |count, each_s| format!("{} of {}", amount(count), number::seconds(each_s));
    format!(
        "{} -> {}",
        side(shape.from_count, shape.from_each_s),
        side(shape.to_count, shape.to_each_s)
    )
}

/// Meaning of the load driver's own wait type, which no engine documents.
pub fn meaning(wait_type: &str) -> Option<&'static str> {
    (wait_type == CPU_QUEUE).then_some("for a CPU")
}

/// Subject of a warning.
pub fn warning(kind: WarningKind) -> &'static str {
    match kind {
        WarningKind::LoadLimited => "limited by the load generator",
        WarningKind::OtherLoad => "other load on the machine",
        WarningKind::Steal => "CPU steal",
        WarningKind::Overloaded => "requested rate not achieved",
        WarningKind::CacheState => "cache state not as declared",
        WarningKind::Short => "short measurement",
        WarningKind::Unaccounted => "unaccounted time",
        WarningKind::NotObserved => "incompletely observed",
        WarningKind::Fallback => "fallback",
        WarningKind::IoErrors => "I/O errors",
        WarningKind::NotSteady => "throughput not steady",
        WarningKind::OtherPlan => "plan differs from other trials",
        WarningKind::DeviceDisagrees => "device counters disagree",
        WarningKind::LeftBehind => "processes left behind",
        WarningKind::Generators => "load generators differ",
    }
}

/// An end of an interval in percent: whole, with one decimal below 10.
pub(crate) fn figure_of_percent(percent: f64) -> String {
    number::fixed(percent, usize::from(percent.abs() < 9.95))
}

/// An F statistic after its letter, `= 12.3`. Without spread within groups it has no bound, and its
/// digits are those of rounding.
pub fn f_statistic(f: f64) -> String {
    if f < 1e6 { format!("= {}", figure(f)) } else { "> 1,000,000".to_owned() }
}

/// Units of work to which seconds refer, so that figures are neither tiny nor huge, and their name.
pub fn work_scale(work_in_a_trial: f64, unit: &str) -> (f64, String) {
    let unit = if unit.is_empty() { "unit" } else { unit };
    match work_in_a_trial {
        work if work >= 1e6 => (1e6, format!("million {unit}s")),
        work if work >= 1e3 => (1e3, format!("1,000 {unit}s")),
        _ => (1.0, unit.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interval, Method};

    #[test]
    fn an_f_statistic_without_spread_has_a_bound() {
        assert_eq!(f_statistic(12.34), "= 12.3");
        assert_eq!(f_statistic(3.2e28), "> 1,000,000");
        assert_eq!(f_statistic(f64::INFINITY), "> 1,000,000");
    }

    #[test]
    fn says_comparisons_lists_and_scales() {
        let mut change = Comparison {
            scale: Scale::Ratio,
            value: 1.9306,
            interval: Some(Interval { low: 1.88, high: 1.99 }),
            p_value: None,
            adjusted_p: None,
            equivalence_p: None,
            bound: None,
            blocks: 5,
            df: None,
            method: Method::PairedT,
        };
        assert_eq!(comparison(&change, "s"), "1.93x [1.88, 1.99]");
        change.scale = Scale::Difference;
        change.value = -2.0;
        change.interval = Some(Interval { low: -3.0, high: -1.0 });
        assert_eq!(comparison(&change, "s"), "2.00 s [1.00, 3.00] worse");
        let items: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!((list(&items), list(&items[..1])), ("a, b and c".to_owned(), "a".to_owned()));
        assert_eq!(work_scale(320_000.0, "row"), (1e3, "1,000 rows".to_owned()));
        assert_eq!(work_scale(2e6, "row").1, "million rows");
        assert_eq!(work_scale(10.0, "").1, "unit");
        assert_eq!(short_name("target.settings.synchronous"), "synchronous");
    }
}

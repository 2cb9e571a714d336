//! Does the second run keep to limits? A regression gate.
//!
//! The rule, in full in `docs/regression-gate.md`: a limit fails when a change is beyond it by
//! Welch's test of logarithms, one-sided at 2.5 %, corrected (Holm) over the configurations. For
//! one configuration that is when the whole 95 % interval lies beyond the limit.

use super::samples::Samples;
use super::{Pair, Responses, RunsError};
use crate::compare::{RESOLUTION, welch};
use crate::{Interval, ResponseChoice, TooFew, WarningsCompared};
use observations::{Direction, Recording};
use serde::Serialize;
use statistics::correct;
use std::fmt;
use std::str::FromStr;

/// The error of a decision on one side: that of a 95 % interval.
const ONE_SIDED: f64 = 0.025;

/// How far a response may change: `slower:3%`, `latency_p99:+5%`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// The response; `None`: the one that runs are compared on.
    pub response: Option<String>,
    /// Which change is limited.
    pub way: Way,
    /// How far it may go: 0.03 is 3 %.
    pub share: f64,
}

/// Which change is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// For the worse, whichever way that is.
    Worse,
    /// For the better.
    Better,
    /// Up.
    Rise,
    /// Down.
    Fall,
}

/// A text that is not a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a limit; expected `slower:3%`, `faster:3%`, or a response and a change: \
     `latency_p99:+5%`, `iops:-3%`"
)]
pub struct LimitError(String);

impl Gate {
    /// Limits on a percentile that some configurations have too few values for.
    pub fn too_few(&self) -> impl Iterator<Item = (&Limit, &TooFew)> {
        self.limits.iter().filter_map(|own| Some((&own.limit, own.too_few.as_ref()?)))
    }

    /// Limits of which no configuration could be judged: too few blocks, or values that are not
    /// above 0.
    pub fn not_judged(&self) -> impl Iterator<Item = &LimitJudged> {
        self.limits
            .iter()
            .filter(|limit| limit.configurations.iter().all(|own| own.adjusted_p.is_none()))
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let error = || LimitError(text.to_owned());
        let (what, change) = text.rsplit_once(':').ok_or_else(error)?;
        let (what, change) = (what.trim(), change.trim());
        let percent = change.strip_suffix('%').ok_or_else(error)?.trim();
        let digits = percent.trim_start_matches(['+', '-']);
        if what.is_empty()
            || !digits.starts_with(|c: char| c.is_ascii_digit())
            || percent.len() > digits.len() + 1
        {
            return Err(error());
        }
        let share = digits.trim().parse::<f64>().map_err(|_| error())? / 100.0;
        let sign = percent.chars().next().filter(|c| !c.is_ascii_digit());
        let (response, way) = match (what, sign) {
            ("slower" | "worse", None) => (None, Way::Worse),
            ("faster" | "better", None) => (None, Way::Better),
            ("slower" | "worse" | "faster" | "better", Some(_)) => return Err(error()),
            (name, Some('+')) => (Some(name), Way::Rise),
            (name, Some(_)) => (Some(name), Way::Fall),
            (name, None) => (Some(name), Way::Worse),
        };
        let impossible = !share.is_finite() || (way == Way::Fall && share >= 1.0);
        if impossible {
            Err(error())
        } else {
            Ok(Self { response: response.map(str::to_owned), way, share })
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A hundredth of a percent is finer than anybody limits.
        let percent = (self.share * 1e4).round() / 1e2;
        let (way, sign) = match self.way {
            Way::Worse => ("slower", ""),
            Way::Better => ("faster", ""),
            Way::Rise => ("slower", "+"),
            Way::Fall => ("slower", "-"),
        };
        write!(f, "{}:{sign}{percent}%", self.response.as_deref().unwrap_or(way))
    }
}

/// The limits, each judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// The worst of all.
    pub decision: Decision,
    /// True if each side has a single run: the decision holds for these two runs, because how much
    /// runs of one side differ is unknown.
    pub single_runs: bool,
    /// Each limit.
    pub limits: Vec<LimitJudged>,
    /// Warnings that the trials behind it carry. They change no decision: what is judged is what
    /// was measured.
    pub warnings: WarningsCompared,
}

/// A limit on all configurations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitJudged {
    /// The limit.
    pub limit: Limit,
    /// The response that it is on.
    pub response: ResponseChoice,
    /// True if it limits a rise of the response; else a fall.
    pub rise: bool,
    /// The worst of all configurations.
    pub decision: Decision,
    /// Each configuration, in the order of the first run.
    pub configurations: Vec<Judged>,
    /// Why some of them cannot be judged by this percentile: a trial has too few values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_few: Option<TooFew>,
}

/// A limit on one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// Label in the first run.
    pub label: String,
    /// The decision.
    pub decision: Decision,
    /// Relative change of the response, as measured: 0.04 is 4 % more. `None` where it cannot be
    /// computed.
    pub change: Option<f64>,
    /// Its 95 % interval, not corrected.
    pub interval: Option<Interval>,
    /// One-sided p-value of "the limit is kept", corrected (Holm) over the configurations.
    pub adjusted_p: Option<f64>,
}

/// Decision about a limit, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The whole interval is within the limit.
    Kept,
    /// The limit may be kept or not.
    Unsure,
    /// The change is beyond the limit.
    Broken,
}

/// Judges the second run against the limits. A limit without its own response applies to the one
/// that `which` names, by default the primary one.
///
/// # Errors
/// As [`super::compare_runs`].
pub fn judge(
    from: &Recording,
    to: &Recording,
    which: Responses,
    limits: &[Limit],
) -> Result<Gate, RunsError> {
    judge_sides(std::slice::from_ref(from), std::slice::from_ref(to), which, limits)
}

/// Judges several runs per side; each run counts once.
///
/// # Errors
/// As [`super::compare_sides`].
pub fn judge_sides(
    from: &[Recording],
    to: &[Recording],
    which: Responses,
    limits: &[Limit],
) -> Result<Gate, RunsError> {
    let pair = Pair::new(from, to)?;
    let which = if which == Responses::All { Responses::Primary } else { which };
    let limits = limits
        .iter()
        .map(|limit| -> Result<LimitJudged, RunsError> {
            let response = match &limit.response {
                Some(name) => pair.common(name)?,
                None => pair.choices(which)?.remove(0),
            };
            judge_limit(&pair, limit, response)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let decision = limits.iter().map(|limit| limit.decision).max().unwrap_or(Decision::Kept);
    let (single_runs, warnings) = (pair.has_single_runs(), pair.warnings());
    Ok(Gate { decision, single_runs, limits, warnings })
}

fn judge_limit(
    pair: &Pair,
    limit: &Limit,
    response: ResponseChoice,
) -> Result<LimitJudged, RunsError> {
    let lower_is_better = response.direction == Direction::LowerIsBetter;
    let rise = match limit.way {
        Way::Rise => true,
        Way::Fall => false,
        Way::Worse => lower_is_better,
        Way::Better => !lower_is_better,
    };
    if !rise && limit.share >= 1.0 {
        return Err(RunsError::ImpossibleLimit { limit: limit.to_string(), name: response.name });
    }
    let judged = pair.matches.iter().zip(pair.samples(&response)).map(|(own, samples)| {
        let label = pair.from.first().configurations[own.from].label.clone();
        judge_one(label, &samples, rise, limit.share)
    });
    let (mut configurations, beyond): (Vec<Judged>, Vec<Option<f64>>) = judged.unzip();
    correct(
        beyond.into_iter().zip(configurations.iter_mut().map(|it| &mut it.adjusted_p)).collect(),
    );
    for judged in
        configurations.iter_mut().filter(|it| it.adjusted_p.is_some_and(|p| p < ONE_SIDED))
    {
        judged.decision = Decision::Broken;
    }
    let decision = configurations.iter().map(|it| it.decision).max().unwrap_or(Decision::Unsure);
    let too_few = pair.too_few(&response);
    Ok(LimitJudged { limit: limit.clone(), response, rise, decision, configurations, too_few })
}

/// A configuration by itself, kept or unsure, with the one-sided p-value of "the limit is kept".
fn judge_one(label: String, samples: &Samples, rise: bool, share: f64) -> (Judged, Option<f64>) {
    let unsure = Judged {
        label,
        decision: Decision::Unsure,
        change: None,
        interval: None,
        adjusted_p: None,
    };
    let Some([from, to]) = samples.logarithms() else { return (unsure, None) };
    let seen = welch(&from, &to, RESOLUTION);
    let sign = if rise { 1.0 } else { -1.0 };
    // The test of "no more than the limit" is that of "no difference" from values that are at the
    // limit.
    let mut at_limit = from.clone();
    at_limit.values.iter_mut().for_each(|log| *log += (sign * share).ln_1p());
    let beyond = welch(&at_limit, &to, RESOLUTION);
    let p_value =
        beyond.p_value.map(|p| if sign * beyond.value > 0.0 { p / 2.0 } else { 1.0 - p / 2.0 });
    let kept = p_value.is_some_and(|p| 1.0 - p < ONE_SIDED);
    // The first run's time-outs make the change smaller than it looks, the second's make it larger.
    let [smaller, larger] = samples.timed_out();
    let (may_break, may_keep) = if rise { (!smaller, !larger) } else { (!larger, !smaller) };
    let exact = !smaller && !larger;
    let judged = Judged {
        decision: if kept && may_keep { Decision::Kept } else { Decision::Unsure },
        change: exact.then(|| seen.value.exp_m1()),
        interval: seen.interval.filter(|_| exact).map(|interval| interval.map(f64::exp_m1)),
        ..unsure
    };
    (judged, p_value.filter(|_| may_break))
}

#[cfg(test)]
mod tests {
    use super::{Limit, Way};

    #[test]
    fn limits_are_written_as_they_are_read() {
        for text in ["slower:3%", "faster:0.25%", "latency_p99:+150%", "log.iops:-3%", "iops:3%"] {
            assert_eq!(text.parse::<Limit>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn limits_are_read() {
        let of = |text: &str| {
            text.parse::<Limit>().map(|it| (it.response, it.way, (it.share * 1e6).round()))
        };
        assert_eq!(of("slower:3%"), Ok((None, Way::Worse, 30_000.0)));
        assert_eq!(of("faster: 2.5 %"), Ok((None, Way::Better, 25_000.0)));
        assert_eq!(
            of("latency_p99:+150%"),
            Ok((Some("latency_p99".into()), Way::Rise, 1_500_000.0))
        );
        assert_eq!(of("log.iops:-3%"), Ok((Some("log.iops".into()), Way::Fall, 30_000.0)));
        assert_eq!(of("iops:3%"), Ok((Some("iops".into()), Way::Worse, 30_000.0)));
        for bad in [
            "",
            "slower",
            "slower:3",
            "slower:-3%",
            "slower:%",
            ":3%",
            "iops:-100%",
            "iops:+-3%",
            "iops:nan%",
            "iops:1e999%",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}

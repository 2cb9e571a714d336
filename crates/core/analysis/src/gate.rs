//! Does the second side keep to limits? A regression gate.
//!
//! The rule, in full in `docs/regression-gate.md`: a limit fails when a change is beyond it by a t
//! test of logarithms, one-sided at 2.5 %, corrected (Holm) over the configurations. Sides of one
//! run are paired by block, runs are compared by Welch's test. For one configuration a limit fails
//! when the whole 95 % interval lies beyond it.

use crate::compare::{RESOLUTION, Sample, Test};
use crate::estimate::{Precision, mean};
use crate::grid::{Grid, Matched};
use crate::power::noncentrality;
use crate::response::{self, Figure, resolution};
use crate::{Interval, MatchedCells, ResponseChoice, TooFew, WarningsCompared};
use observations::{Direction, Observations, Recording};
use serde::Serialize;
use statistics::correct;
use std::fmt;
use std::str::FromStr;

/// The error of a decision on one side: that of a 95 % interval.
const ONE_SIDED: f64 = 0.025;

/// The permitted change of a response: `slower:3%`, `latency_p99:+5%`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// The response; `None`: the one that runs are compared on.
    pub response: Option<String>,
    /// The change that is limited.
    pub way: Way,
    /// The permitted change: 0.03 is 3 %.
    pub share: f64,
}

/// The change that is limited.
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
        self.limits.iter().filter_map(|limit| Some((&limit.limit, limit.too_few.as_ref()?)))
    }

    /// Limits of which no configuration could be judged: too few blocks, or values that are not
    /// above 0.
    pub fn not_judged(&self) -> impl Iterator<Item = &LimitJudged> {
        self.limits.iter().filter(|limit| {
            limit.configurations.iter().all(|configuration| configuration.adjusted_p.is_none())
        })
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
    /// The repeats that the intervals are over.
    pub spread: Spread,
    /// Each limit.
    pub limits: Vec<LimitJudged>,
    /// Warnings that the trials behind it carry. They change no decision: what is judged is what
    /// was measured.
    pub warnings: WarningsCompared,
}

/// The repeats that the intervals of a gate are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Blocks of one run, which hold both sides: what slows the machine down hits both.
    Interleaved,
    /// Blocks of two runs. The decision holds for these, because how much runs of one side differ
    /// is unknown.
    SingleRuns,
    /// Several runs per side.
    Runs,
}

/// Why a limit cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// No response by that name, in the same unit and direction, on both sides.
    #[error("no comparable response {name}; both sides have {known}")]
    NoResponse {
        /// The name asked for.
        name: String,
        /// Names of those that can be compared.
        known: String,
    },
    /// Nothing that is above 0 falls by 100 %.
    #[error("{limit} can never be exceeded: {name} would have to fall to 0 or below")]
    ImpossibleLimit {
        /// The limit.
        limit: String,
        /// The response.
        name: String,
    },
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
    pub configurations: Vec<Judgement>,
    /// Why some of them cannot be judged by this percentile: a trial has too few values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_few: Option<TooFew>,
}

/// A limit on one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// Label: of two runs in the first one, of two configurations of a run that of the second.
    pub label: String,
    /// The decision.
    pub decision: Decision,
    /// Relative change of the response, as measured: 0.04 is 4 % more. `None` where it cannot be
    /// computed.
    pub change: Option<f64>,
    /// The 95 % interval, not corrected.
    pub interval: Option<Interval>,
    /// One-sided p-value of "the limit is kept", corrected (Holm) over the configurations.
    pub adjusted_p: Option<f64>,
    /// Blocks, set-ups or runs behind it.
    pub repeats: usize,
    /// The smallest change that exceeds the limit with 80 % power: 0.04 is 4 %. `None` where a
    /// fall cannot be as large.
    pub detectable: Option<f64>,
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

/// A configuration on both sides.
pub struct Candidate {
    /// The label.
    pub label: String,
    /// `None` where a value has no logarithm, or there is none.
    pub values: Option<Logarithms>,
}

/// Logarithms of the values of both sides.
pub struct Logarithms {
    /// True if the values match one by one: those of the same blocks.
    pub is_paired: bool,
    /// The first side.
    pub from: Sample,
    /// The second side.
    pub to: Sample,
    /// Sides with time-outs: true values are larger.
    pub timed_out: [bool; 2],
}

/// Judges the second configuration of each pair against the first, by paired blocks of one run. A
/// limit without its own response applies to that of the run.
///
/// # Errors
/// When the pairs do not have the response of a limit, or nothing exceeds it.
pub fn judge(
    recording: &Recording,
    cells: &MatchedCells,
    limits: &[Limit],
) -> Result<Gate, GateError> {
    let grid = Grid::new(recording);
    let trials = |side: fn(&(usize, usize)) -> usize| -> Vec<&Observations> {
        cells.pairs.iter().flat_map(|pair| grid.trials(side(pair))).collect()
    };
    let (from, to) = (trials(|pair| pair.0), trials(|pair| pair.1));
    let primary = ResponseChoice::for_recording(recording).map(|choice| choice.name);
    let primary = primary.unwrap_or_default();
    let limits = limits.iter().map(|limit| {
        let response = common(limit.response.as_deref().unwrap_or(&primary), &from, &to)?;
        let figures = grid.figures(&response);
        let candidates = cells.pairs.iter().map(|(from, other)| Candidate {
            label: recording.configurations[*other].label.clone(),
            values: figures.grid.matched(*from, *other).logarithms(),
        });
        let too_few = TooFew::find(&response.name, &[&from[..], &to].concat());
        LimitJudged::new(limit, response, candidates.collect(), too_few)
    });
    let limits = limits.collect::<Result<_, _>>()?;
    Ok(Gate::new(Spread::Interleaved, limits, WarningsCompared::compare(&from, &to)))
}

/// The response by this name, if both sides have it in the same unit and direction.
///
/// # Errors
/// When they do not; with the names of those that both have.
pub fn common(
    name: &str,
    from: &[&Observations],
    to: &[&Observations],
) -> Result<ResponseChoice, GateError> {
    let of_both = |name: &str| ResponseChoice::common(name, from, to);
    of_both(name).ok_or_else(|| {
        let all = response::all_names(&[from, to].concat());
        let known: Vec<&str> = all.into_iter().filter(|other| of_both(other).is_some()).collect();
        GateError::NoResponse { name: name.to_owned(), known: known.join(", ") }
    })
}

impl Matched<Figure> {
    /// Means of the logarithms of each block; `None` where a value has none, or there is none.
    fn logarithms(&self) -> Option<Logarithms> {
        let sample = |side: &[Vec<Figure>], first: usize| {
            let log = |figure: &Figure| figure.known.filter(|value| *value > 0.0).map(f64::ln);
            let blocks = side.iter().map(|block| block.iter().map(log).collect::<Option<Vec<_>>>());
            let values: Vec<f64> = blocks.map(|logs| logs.map(mean)).collect::<Option<_>>()?;
            let all = mean(side.iter().flatten().filter_map(|side| side.known));
            let rounding = (resolution(side.iter().flatten()) / all).powi(2) / 12.0;
            (!values.is_empty())
                .then_some(Sample { values, precision: Precision { first, rounding } })
        };
        let timed_out =
            |side: &[Vec<Figure>]| side.iter().flatten().any(|figure: &Figure| figure.timed_out);
        Some(Logarithms {
            is_paired: self.paired,
            from: sample(&self.from, self.first[0])?,
            to: sample(&self.to, self.first[1])?,
            timed_out: [timed_out(&self.from), timed_out(&self.to)],
        })
    }
}

impl Gate {
    /// The worst decision of these limits.
    pub fn new(spread: Spread, limits: Vec<LimitJudged>, warnings: WarningsCompared) -> Self {
        let decision = limits.iter().map(|limit| limit.decision).max().unwrap_or(Decision::Kept);
        Self { decision, spread, limits, warnings }
    }
}

impl LimitJudged {
    /// Judges all configurations by one limit.
    ///
    /// # Errors
    /// When nothing exceeds the limit.
    pub fn new(
        limit: &Limit,
        response: ResponseChoice,
        candidates: Vec<Candidate>,
        too_few: Option<TooFew>,
    ) -> Result<Self, GateError> {
        let lower_is_better = response.direction == Direction::LowerIsBetter;
        let rise = match limit.way {
            Way::Rise => true,
            Way::Fall => false,
            Way::Worse => lower_is_better,
            Way::Better => !lower_is_better,
        };
        if !rise && limit.share >= 1.0 {
            return Err(GateError::ImpossibleLimit {
                limit: limit.to_string(),
                name: response.name,
            });
        }
        let number = candidates.len();
        let judged =
            candidates.into_iter().map(|candidate| candidate.judge(rise, limit.share, number));
        let (mut configurations, beyond): (Vec<Judgement>, Vec<Option<f64>>) = judged.unzip();
        let adjusted = configurations.iter_mut().map(|configuration| &mut configuration.adjusted_p);
        correct(beyond.into_iter().zip(adjusted).collect());
        for judged in configurations
            .iter_mut()
            .filter(|configuration| configuration.adjusted_p.is_some_and(|p| p < ONE_SIDED))
        {
            judged.decision = Decision::Broken;
        }
        let decision = configurations
            .iter()
            .map(|configuration| configuration.decision)
            .max()
            .unwrap_or(Decision::Unsure);
        Ok(Self { limit: limit.clone(), response, rise, decision, configurations, too_few })
    }
}

impl Candidate {
    /// Judges a configuration by itself, kept or unsure, with the one-sided p-value of "the limit
    /// is kept". `number`: of configurations that the limit is on.
    fn judge(self, rise: bool, share: f64, number: usize) -> (Judgement, Option<f64>) {
        let unsure = Judgement {
            label: self.label,
            decision: Decision::Unsure,
            change: None,
            interval: None,
            adjusted_p: None,
            repeats: 0,
            detectable: None,
        };
        let Some(Logarithms { is_paired, from, to, timed_out }) = self.values else {
            return (unsure, None);
        };
        let test = Test::run(is_paired, &from, &to, RESOLUTION);
        let sign = if rise { 1.0 } else { -1.0 };
        // The test of "no more than the limit" is that of "no difference" from values that are at
        // the limit.
        let limit = (sign * share).ln_1p();
        let mut at_limit = from;
        at_limit.values.iter_mut().for_each(|log| *log += limit);
        let beyond = Test::run(is_paired, &at_limit, &to, RESOLUTION);
        let p_value =
            beyond.p_value.map(|p| if sign * beyond.value > 0.0 { p / 2.0 } else { 1.0 - p / 2.0 });
        let kept = p_value.is_some_and(|p| 1.0 - p < ONE_SIDED);
        // The first side's time-outs make the change smaller than it looks, the second's make it
        // larger.
        let [smaller, larger] = timed_out;
        let (may_break, may_keep) = if rise { (!smaller, !larger) } else { (!larger, !smaller) };
        let exact = !smaller && !larger;
        let detectable = beyond
            .error_and_df()
            .map(|(error, df)| sign * (limit + sign * noncentrality(df, number) * error).exp_m1());
        let judged = Judgement {
            decision: if kept && may_keep { Decision::Kept } else { Decision::Unsure },
            change: exact.then(|| test.value.exp_m1()),
            interval: test.interval.filter(|_| exact).map(|interval| interval.map(f64::exp_m1)),
            repeats: test.blocks,
            detectable: detectable.filter(|change| exact && (rise || *change < 1.0)),
            ..unsure
        };
        (judged, p_value.filter(|_| may_break))
    }
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
            text.parse::<Limit>().map(|text| (text.response, text.way, (text.share * 1e6).round()))
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

//! The nine-column table of waits.

use observations::number::fixed;
use observations::{Observations, Wait, WaitClass, WaitSource, order};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Rows are printed until they make up this share of all waits, in percent.
const TOP_PERCENT: f64 = 95.0;

/// The nine columns of the published studies.
pub const HEADINGS: [&str; 9] = [
    "WaitType",
    "Wait_S",
    "Resource_S",
    "Signal_S",
    "WaitCount",
    "Percentage",
    "AvgWait_S",
    "AvgRes_S",
    "AvgSig_S",
];

/// The waits of one or several trials, each figure the mean of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WaitTable {
    /// All rows in the percentage base, most wait first.
    pub rows: Vec<WaitRow>,
    /// The number of `rows`, from the first, that make up the top 95 %.
    pub top: usize,
    /// Seconds of all rows: 100 %.
    pub total_s: f64,
    /// Seconds in which sessions waited for their client; in the rows only if asked for.
    pub client_s: f64,
    /// Seconds filtered as benign or idle, never in the rows.
    pub filtered_s: f64,
    /// Wait types so filtered.
    pub filtered: Vec<String>,
    /// Number of trials averaged.
    pub trials: usize,
}

/// A row: the nine columns of the table, and the class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitRow {
    /// The engine's own name.
    pub wait_type: String,
    /// Our class.
    pub class: WaitClass,
    /// Seconds from RUNNING through SUSPENDED and RUNNABLE back to RUNNING.
    pub wait_s: f64,
    /// Seconds of it suspended.
    pub resource_s: f64,
    /// Seconds of it runnable, waiting for a processor.
    pub signal_s: f64,
    /// Number of waits (mean of a trial), where the engine counts them.
    pub count: Option<f64>,
    /// Share of all waits in percent.
    pub percentage: f64,
    /// Seconds for each wait; `None` without a count or with a count of 0.
    pub average: Option<Averages>,
    /// Counted or sampled; the samples are those of all trials.
    pub source: WaitSource,
    /// Standard error of `wait_s` that comes from sampling; `None` where every wait was counted,
    /// and in recordings from before it was kept.
    pub error_s: Option<f64>,
}

/// Seconds for each wait.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Averages {
    /// `AvgWait_S`.
    pub wait_s: f64,
    /// `AvgRes_S`.
    pub resource_s: f64,
    /// `AvgSig_S`.
    pub signal_s: f64,
}

/// Options of the rows.
#[derive(Clone, Copy, Default)]
pub struct WaitOptions<'a> {
    /// Waits for the client are rows too and in the percentage base.
    pub include_client: bool,
    /// Returns true for benign wait types, which are left out. Only for waits of a whole server:
    /// waits of the load's own sessions are never filtered.
    pub benign: Option<&'a dyn Fn(&str) -> bool>,
}

impl WaitTable {
    /// The waits of our own sessions over trials; a trial without a wait type counts as 0 of it.
    pub fn of_trials(trials: &[&Observations]) -> Self {
        let waits: Vec<&[Wait]> = trials.iter().map(|trial| trial.waits.as_slice()).collect();
        Self::new(&waits, WaitOptions::default())
    }

    /// Any waits, one slice a trial.
    pub fn new(trials: &[&[Wait]], options: WaitOptions) -> Self {
        let mut table = Self { trials: trials.len(), ..Self::default() };
        let mut sums: HashMap<&str, Wait> = HashMap::new();
        let mut filtered = BTreeSet::new();
        for wait in trials.iter().copied().flatten().filter(|wait| wait.wait_s().is_finite()) {
            let benign = options.benign.is_some_and(|is_benign| is_benign(&wait.wait_type));
            if benign || wait.class == WaitClass::Idle {
                table.filtered_s += wait.wait_s();
                filtered.insert(wait.wait_type.as_str());
                continue;
            }
            if wait.class == WaitClass::Client {
                table.client_s += wait.wait_s();
                if !options.include_client {
                    continue;
                }
            }
            match sums.get_mut(wait.wait_type.as_str()) {
                Some(sum) => sum.add(wait),
                None => drop(sums.insert(&wait.wait_type, wait.clone())),
            }
        }
        table.filtered = filtered.into_iter().map(str::to_owned).collect();
        table.finish(sums.into_values())
    }

    /// The rows to print: those that make up the top 95 % of all waits.
    pub fn top(&self) -> &[WaitRow] {
        &self.rows[..self.top]
    }

    fn finish(mut self, sums: impl Iterator<Item = Wait>) -> Self {
        let n = self.trials.max(1) as f64;
        self.client_s /= n;
        self.filtered_s /= n;
        self.rows = sums
            .filter(|sum| sum.wait_s() != 0.0 || sum.count.is_some_and(|count| count > 0))
            .map(|sum| WaitRow::mean(sum, n))
            .collect();
        order::sort(&mut self.rows, &|left, right| {
            right.wait_s.total_cmp(&left.wait_s).then_with(|| left.wait_type.cmp(&right.wait_type))
        });
        self.total_s = self.rows.iter().map(|row| row.wait_s).sum();
        if self.total_s > 0.0 {
            for row in &mut self.rows {
                row.percentage = 100.0 * row.wait_s / self.total_s;
            }
        }
        // The row which crosses the line is shown.
        let before = self.rows.iter().scan(0.0, |before, row| {
            let earlier = *before;
            *before += row.percentage;
            Some(earlier)
        });
        self.top = before.take_while(|before| *before < TOP_PERCENT).count();
        self
    }
}

impl WaitRow {
    /// The nine cells as the published studies print them, of sampled waits with their error; empty
    /// where the engine does not count waits.
    pub fn cells(&self) -> [String; 9] {
        let average = |pick: fn(&Averages) -> f64| {
            self.average.as_ref().map_or_else(String::new, |average| trimmed(pick(average), 4))
        };
        [
            self.wait_type.clone(),
            self.error_s.map_or_else(
                || trimmed(self.wait_s, 2),
                |error_s| format!("{} ± {}", trimmed(self.wait_s, 2), error_text(error_s)),
            ),
            trimmed(self.resource_s, 2),
            trimmed(self.signal_s, 2),
            self.count.map_or_else(String::new, |count| fixed(count, 0)),
            fixed(self.percentage, 2),
            average(|a| a.wait_s),
            average(|a| a.resource_s),
            average(|a| a.signal_s),
        ]
    }

    fn mean(sum: Wait, trials: f64) -> Self {
        let average = sum.count.filter(|count| *count > 0).map(|count| Averages {
            wait_s: sum.wait_s() / count as f64,
            resource_s: sum.resource_s / count as f64,
            signal_s: sum.signal_s / count as f64,
        });
        Self {
            class: sum.class,
            wait_s: sum.wait_s() / trials,
            resource_s: sum.resource_s / trials,
            signal_s: sum.signal_s / trials,
            count: sum.count.map(|count| count as f64 / trials),
            percentage: 0.0,
            average,
            error_s: sum.source.error_s().map(|error_s| error_s / trials),
            source: sum.source,
            wait_type: sum.wait_type,
        }
    }
}

/// An error with as many decimals as the figure before it has.
fn error_text(error_s: f64) -> String {
    if error_s < 0.005 { "<0.01".to_owned() } else { trimmed(error_s, 2) }
}

/// Formats a number with this many decimals at most, without trailing zeros: `16976`, `3152.3`,
/// `0.016`.
fn trimmed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_published() {
        let waits =
            [("A", 3152.3, 16976.0, 1), ("B", 0.016, -0.001, 1), ("C", f64::NAN, 0.0, 45_295_507)];
        let rows = waits.map(|(name, resource_s, signal_s, count)| Wait {
            wait_type: name.into(),
            class: WaitClass::Log,
            count: Some(count),
            resource_s,
            signal_s,
            source: WaitSource::Counted,
        });
        let [a, b, c] = rows.map(|wait| WaitRow::mean(wait, 1.0).cells());
        assert_eq!(a[1..5], ["20128.3", "3152.3", "16976", "1"]);
        assert_eq!(
            (b[2].as_str(), b[3].as_str(), b[5].as_str(), b[8].as_str()),
            ("0.02", "0", "0.00", "-0.001")
        );
        assert_eq!((c[2].as_str(), c[4].as_str()), ("NaN", "45295507"));
        for (value, decimals, text) in [
            (16976.0, 2, "16976"),
            (100.0, 2, "100"),
            (-0.001, 2, "0"),
            (0.016, 4, "0.016"),
            (0.000_001_2, 4, "0"),
        ] {
            assert_eq!(trimmed(value, decimals), text);
        }
        assert_eq!(fixed(19.1, 2), "19.10");
    }
}

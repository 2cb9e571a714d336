//! Scripts and their statements: how often each ran, how long that took and how often it failed.
//! The figures that `pgbench --report-per-command` prints.

use crate::estimate::{Known, Moments, Repeats, mean};
use crate::grid::Grid;
use crate::response_names::distinct;
use crate::{ConfigurationRow, Estimate, Interval, Summary, health};
use observations::{
    Direction, INITIAL_CONNECTION_TIME, Latency, Observations, SCRIPT_CHECKS, SCRIPT_COUNTS,
    SCRIPT_SHARES, ScriptStatement,
};
use serde::Serialize;

/// The scripts that a configuration ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationScripts {
    /// Position of the configuration in the recording.
    pub index: usize,
    /// Its short label.
    pub configuration: String,
    /// Trials behind the figures.
    pub trials: usize,
    /// Milliseconds until all connections were made, where that was recorded.
    pub initial_connection_time: Option<Estimate>,
    /// In the order in which they were given.
    pub scripts: Vec<ScriptFigures>,
    /// In the order of the scripts.
    pub statements: Vec<StatementFigures>,
    /// The counters of the scripts (`\count`, `\refused`), in their order.
    pub counts: Vec<ScriptCount>,
    /// Checks of the tables that held after each trial.
    pub checks: u64,
}

/// A counter of a script, summed over the measurements of all trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScriptCount {
    /// Name of the script.
    pub script: String,
    /// Its name.
    pub name: String,
    /// The sum.
    pub sum: f64,
    /// The sum for each transaction of the script.
    pub per_transaction: f64,
}

/// A script; counts are of all trials together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScriptFigures {
    /// Its name.
    pub script: String,
    /// Transactions committed.
    pub transactions: u64,
    /// Their share of the transactions of all scripts.
    pub share: f64,
    /// The share that its weight says, where there are several scripts.
    pub specified_share: Option<f64>,
    /// Transactions a second.
    pub tps: Option<Estimate>,
    /// Milliseconds of a transaction, from the intended start in an open loop.
    pub latency: Option<Estimate>,
    /// Transactions given up.
    pub failures: u64,
    /// Transactions and statements repeated.
    pub retries: u64,
}

/// A statement; counts are of all trials together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementFigures {
    /// Name of its script.
    pub script: String,
    /// Its text.
    pub text: String,
    /// The number of times that it succeeded.
    pub count: u64,
    /// Milliseconds from sending it to its whole answer.
    pub latency: Option<Estimate>,
    /// The longest, in seconds.
    pub longest_s: f64,
    /// Its share of the time in statements of the configuration.
    pub share: f64,
    /// The number of times that it ended a transaction that was given up.
    pub failures: u64,
    /// The number of times that it was repeated, or ended a transaction that was tried again.
    pub retries: u64,
}

impl Summary<'_> {
    /// The configurations that ran scripts, in the order of the file.
    pub fn scripts(&self) -> Vec<ConfigurationScripts> {
        let ran = self.grid.filter(|seen| !seen.timed_out() && !seen.statements.is_empty());
        self.configurations
            .iter()
            .filter_map(|row| ConfigurationScripts::for_configuration(&ran, row))
            .collect()
    }
}

impl ConfigurationScripts {
    fn for_configuration(ran: &Grid<&Observations>, row: &ConfigurationRow) -> Option<Self> {
        let repeats = ran.repeats(row.index, ran.unit_of_levels());
        let trials: Vec<&Observations> = repeats.units.concat();
        let first = trials.first()?;
        let statements = StatementFigures::from_trials(&first.statements, &trials, &repeats);
        let names = distinct(first.statements.iter().map(|statement| statement.script.as_str()));
        let committed = |script: Option<&str>| -> u64 {
            trials.iter().map(|seen| transactions(seen, script.filter(|_| names.len() > 1))).sum()
        };
        let scripts = names.iter().map(|name| {
            let own = || statements.iter().filter(|statement| statement.script == **name);
            let alone = (names.len() > 1).then_some(*name);
            ScriptFigures {
                script: (*name).to_owned(),
                transactions: committed(Some(name)),
                share: committed(Some(name)) as f64 / committed(None).max(1) as f64,
                specified_share: SCRIPT_SHARES.read(name, first),
                tps: estimate(
                    &repeats,
                    "transactions/s",
                    Direction::HigherIsBetter,
                    |seen: &Observations| Some(transactions(seen, alone) as f64 / seen.elapsed_s),
                ),
                latency: estimate(&repeats, "ms", Direction::LowerIsBetter, |seen| {
                    latency_ms(seen, alone)
                }),
                failures: own().map(|statement| statement.failures).fold(0, u64::saturating_add),
                retries: own().map(|statement| statement.retries).fold(0, u64::saturating_add),
            }
        });
        Some(Self {
            index: row.index,
            configuration: row.label.clone(),
            trials: trials.len(),
            initial_connection_time: estimate(&repeats, "ms", Direction::LowerIsBetter, |seen| {
                INITIAL_CONNECTION_TIME.read(seen)
            }),
            scripts: scripts.collect(),
            statements,
            counts: counts(&trials, |script| committed(Some(script))),
            checks: SCRIPT_CHECKS.read(first).unwrap_or(0.0) as u64,
        })
    }
}

/// The counters of the trials; `transactions` is the number of transactions of a script.
fn counts(trials: &[&Observations], transactions: impl Fn(&str) -> u64) -> Vec<ScriptCount> {
    let members = trials.iter().take(1).flat_map(|seen| SCRIPT_COUNTS.members(seen));
    let counts = members.filter_map(|(member, _)| {
        let (script, name) = member.rsplit_once(": ")?;
        let sum: f64 = trials.iter().filter_map(|seen| SCRIPT_COUNTS.read(member, seen)).sum();
        let per_transaction = sum / transactions(script).max(1) as f64;
        Some(ScriptCount { script: script.into(), name: name.into(), sum, per_transaction })
    });
    counts.collect()
}

impl StatementFigures {
    fn from_trials(
        statements: &[ScriptStatement],
        trials: &[&Observations],
        repeats: &Repeats<&Observations>,
    ) -> Vec<Self> {
        let total_s: f64 =
            trials.iter().flat_map(|seen| &seen.statements).map(|own| own.wall_s).sum();
        let figures = statements.iter().enumerate().map(|(at, statement)| {
            let own = || trials.iter().filter_map(move |seen| seen.statements.get(at));
            // A crafted file may hold any counts.
            let sum =
                |part: fn(&ScriptStatement) -> u64| own().map(part).fold(0, u64::saturating_add);
            let wall_s: f64 = own().map(|own| own.wall_s).sum();
            Self {
                script: statement.script.clone(),
                text: statement.text.clone(),
                count: sum(|own| own.count),
                latency: estimate(
                    repeats,
                    "ms",
                    Direction::LowerIsBetter,
                    |seen: &Observations| {
                        let own = seen.statements.get(at).filter(|own| own.count > 0)?;
                        Some(own.wall_s * 1e3 / own.count as f64)
                    },
                ),
                longest_s: own().map(|own| own.wall_s_max).fold(0.0, f64::max),
                share: if total_s > 0.0 { wall_s / total_s } else { 0.0 },
                failures: sum(|own| own.failures),
                retries: sum(|own| own.retries),
            }
        });
        figures.collect()
    }
}

/// Returns whether these are the latencies of one of several scripts, or of the only one. Their
/// names are what the study times, and the script: `transaction: payment`, `query: Q1`.
fn is_of(own: &Latency, script: Option<&str>) -> bool {
    match own.name.split_once(": ") {
        Some((_, name)) => script == Some(name),
        None => script.is_none() && own.name != "service",
    }
}

/// Transactions that a trial committed, of one of several scripts or of all.
fn transactions(seen: &Observations, script: Option<&str>) -> u64 {
    if script.is_none() {
        return seen.work.transactions;
    }
    seen.latencies.iter().filter(|own| is_of(own, script)).map(|own| own.histogram.len()).sum()
}

/// The mean latency of a trial's transactions; one in which an open loop was overloaded only
/// measures how long it was.
fn latency_ms(seen: &Observations, script: Option<&str>) -> Option<f64> {
    let recorded =
        seen.latencies.iter().filter(|own| is_of(own, script) && !own.histogram.is_empty());
    let (mut sum_ns, mut count) = (0.0, 0);
    for own in recorded.filter(|_| !health::is_overloaded(seen)) {
        sum_ns += own.histogram.min_mean_max_ns().1 * own.histogram.len() as f64;
        count += own.histogram.len();
    }
    (count > 0).then(|| sum_ns / count as f64 / 1e6)
}

/// The mean of a figure that is not below zero; its interval is over what repeats it.
fn estimate(
    repeats: &Repeats<&Observations>,
    unit: &str,
    direction: Direction,
    value: impl Fn(&Observations) -> Option<f64>,
) -> Option<Estimate> {
    let values = |unit: &Vec<&Observations>| unit.iter().filter_map(|seen| value(seen)).collect();
    let units = repeats.units.iter().map(values).filter(|values: &Vec<f64>| !values.is_empty());
    let means: Vec<f64> = units.map(|values| mean(&values)).collect();
    let moments = Moments::known(&means, Known { first: repeats.first, ..Known::default() });
    let interval =
        moments.interval().map(|interval| Interval { low: interval.low.max(0.0), ..interval });
    Estimate::without_interval(&means, unit, direction)
        .map(|estimate| Estimate { interval, ..estimate })
}

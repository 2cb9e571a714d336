//! Scripts and their statements: how often each ran, how long that took and how often it failed.
//! The figures that `pgbench --report-per-command` prints.

use crate::estimate::{Precision, Repeats, mean};
use crate::grid::Grid;
use crate::response_names::distinct;
use crate::{ConfigurationRow, Estimate, Summary, health};
use observations::{
    Direction, INITIAL_CONNECTION_TIME, Latency, Observations, SCRIPT_CHECKS, SCRIPT_COUNTS,
    SCRIPT_SHARES, ScriptStatement, range,
};
use serde::Serialize;

/// The scripts that a configuration ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationScripts {
    /// Position of the configuration in the recording.
    pub index: usize,
    /// The short label.
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
    /// The name.
    pub name: String,
    /// The sum.
    pub sum: f64,
    /// The sum for each transaction of the script.
    pub per_transaction: f64,
}

/// A script; counts are of all trials together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScriptFigures {
    /// The name.
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
    /// The text.
    pub text: String,
    /// The number of times that it succeeded.
    pub count: u64,
    /// Milliseconds from sending it to its whole answer.
    pub latency: Option<Estimate>,
    /// The longest, in seconds.
    pub longest_s: f64,
    /// The share of the time in statements of the configuration.
    pub share: f64,
    /// The number of times that it ended a transaction that was given up.
    pub failures: u64,
    /// The number of times that it was repeated, or ended a transaction that was tried again.
    pub retries: u64,
}

impl Summary<'_> {
    /// The configurations that ran scripts, in the order of the file.
    pub fn scripts(&self) -> Vec<ConfigurationScripts> {
        let ran = self.grid.filter(|grid| !grid.timed_out() && !grid.statements.is_empty());
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
            let script = script.filter(|_| names.len() > 1);
            range::total(trials.iter().map(|trial| transactions(trial, script)))
        };
        let scripts = names.iter().map(|name| {
            let of_script = || statements.iter().filter(|statement| statement.script == **name);
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
                    |observations: &Observations| {
                        Some(transactions(observations, alone) as f64 / observations.elapsed_s)
                    },
                ),
                latency: estimate(&repeats, "ms", Direction::LowerIsBetter, |repeat| {
                    latency_ms(repeat, alone)
                }),
                failures: range::total(of_script().map(|statement| statement.failures)),
                retries: range::total(of_script().map(|statement| statement.retries)),
            }
        });
        Some(Self {
            index: row.index,
            configuration: row.label.clone(),
            trials: trials.len(),
            initial_connection_time: estimate(&repeats, "ms", Direction::LowerIsBetter, |repeat| {
                INITIAL_CONNECTION_TIME.read(repeat)
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
    let members = trials.iter().take(1).flat_map(|trial| SCRIPT_COUNTS.members(trial));
    let counts = members.filter_map(|(member, _)| {
        let (script, name) = member.rsplit_once(": ")?;
        let sum: f64 = trials.iter().filter_map(|trial| SCRIPT_COUNTS.read(member, trial)).sum();
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
        let total_s: f64 = trials
            .iter()
            .flat_map(|trial| &trial.statements)
            .map(|statement| statement.wall_s)
            .sum();
        let figures = statements.iter().enumerate().map(|(at, statement)| {
            let counts = || trials.iter().filter_map(move |trial| trial.statements.get(at));
            // A crafted file may hold any counts.
            let sum = |part: fn(&ScriptStatement) -> u64| range::total(counts().map(part));
            let wall_s: f64 = counts().map(|count| count.wall_s).sum();
            Self {
                script: statement.script.clone(),
                text: statement.text.clone(),
                count: sum(|count| count.count),
                latency: estimate(
                    repeats,
                    "ms",
                    Direction::LowerIsBetter,
                    |observations: &Observations| {
                        let statement = observations
                            .statements
                            .get(at)
                            .filter(|statement| statement.count > 0)?;
                        Some(statement.wall_s * 1e3 / statement.count as f64)
                    },
                ),
                longest_s: counts().map(|count| count.wall_s_max).fold(0.0, f64::max),
                share: if total_s > 0.0 { wall_s / total_s } else { 0.0 },
                failures: sum(|count| count.failures),
                retries: sum(|count| count.retries),
            }
        });
        figures.collect()
    }
}

/// Returns whether these are the latencies of one of several scripts, or of the only one. Their
/// names are what the study times, and the script: `transaction: payment`, `query: Q1`.
fn is_of(latency: &Latency, script: Option<&str>) -> bool {
    match latency.name.split_once(": ") {
        Some((_, name)) => script == Some(name),
        None => script.is_none() && latency.name != "service",
    }
}

/// Transactions that a trial committed, of one of several scripts or of all.
fn transactions(observations: &Observations, script: Option<&str>) -> u64 {
    if script.is_none() {
        return observations.work.transactions;
    }
    let latencies = observations.latencies.iter().filter(|latency| is_of(latency, script));
    range::total(latencies.map(|latency| latency.histogram.len()))
}

/// The mean latency of a trial's transactions; one in which an open loop was overloaded only
/// measures how long it was.
fn latency_ms(observations: &Observations, script: Option<&str>) -> Option<f64> {
    let recorded = observations
        .latencies
        .iter()
        .filter(|latency| is_of(latency, script) && !latency.histogram.is_empty());
    let (mut sum_ns, mut count) = (0.0, 0.0);
    for latency in recorded.filter(|_| !health::is_overloaded(observations)) {
        sum_ns += latency.histogram.min_mean_max_ns().1 * latency.histogram.len() as f64;
        count += latency.histogram.len() as f64;
    }
    (count > 0.0).then(|| sum_ns / count / 1e6)
}

/// The mean of a figure that is not below zero; its interval is over what repeats it.
fn estimate(
    repeats: &Repeats<&Observations>,
    unit: &str,
    direction: Direction,
    value: impl Fn(&Observations) -> Option<f64>,
) -> Option<Estimate> {
    let values = |unit: &Vec<&Observations>| unit.iter().filter_map(|unit| value(unit)).collect();
    let units = repeats.units.iter().map(values).filter(|values: &Vec<f64>| !values.is_empty());
    let means: Vec<f64> = units.map(|values| mean(&values)).collect();
    let precision = Precision { first: repeats.first, ..Precision::default() };
    Estimate::known(&means, unit, direction, precision).map(Estimate::of_amount)
}

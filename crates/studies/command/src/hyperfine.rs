//! Runs of commands in the formats that hyperfine exports.
//!
//! Names, types and units are those of hyperfine 1.20: JSON has seconds and bytes, CSV seconds.
//! `stddev` is that of single runs, and the column "Relative" of Markdown has hyperfine's
//! propagated standard deviation, not our interval.

use analysis::Estimate;
use analysis::estimate::mean;
use observations::{Direction, Recording, order};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// All measured runs of one command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CommandTimes {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    pub(crate) user: f64,
    pub(crate) system: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) times: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_usage_byte: Option<Vec<u64>>,
    exit_codes: Vec<i64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
}

/// The document.
#[derive(Debug, Serialize)]
struct Results<'a> {
    results: &'a [CommandTimes],
}

impl CommandTimes {
    /// The runs of one configuration in the order in which they were made; `None` where there are
    /// none.
    pub fn for_configuration(
        recording: &Recording,
        configuration: usize,
        command: &str,
        parameters: &BTreeMap<String, String>,
    ) -> Option<Self> {
        let mut done: Vec<_> =
            recording.done().filter(|(trial, _)| trial.configuration == configuration).collect();
        order::by_key(&mut done, &|(trial, _)| trial.sequence);
        let runs = |name: &str| {
            let all = done.iter().map(|(_, observations)| {
                let series = observations.series.iter().find(|series| series.name == name)?;
                Some(series.values.clone())
            });
            all.collect::<Option<Vec<_>>>().map(|all| all.concat())
        };
        let times = runs("run:elapsed")?;
        let time = Estimate::without_interval(&times, "s", Direction::LowerIsBetter)?;
        Some(Self {
            command: command.to_owned(),
            mean: time.mean,
            stddev: time.sd,
            median: time.median,
            user: mean(runs("run:user_cpu")?),
            system: mean(runs("run:system_cpu")?),
            min: time.min,
            max: time.max,
            times,
            memory_usage_byte: runs("run:peak_memory")
                .map(|peaks| peaks.into_iter().map(|peak| peak as u64).collect()),
            exit_codes: runs("run:exit_code")?.into_iter().map(|code| code as i64).collect(),
            parameters: parameters.clone(),
        })
    }
}

/// As `--export-json`.
///
/// # Errors
/// When a number cannot be written.
pub fn json(commands: &[CommandTimes]) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Results { results: commands }).map(|text| text + "\n")
}

/// As `--export-csv`.
///
/// # Errors
/// When memory cannot be written to.
pub fn csv(commands: &[CommandTimes]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let parameters = commands.first().map(|first| first.parameters.keys()).into_iter().flatten();
    let figures = ["command", "mean", "stddev", "median", "user", "system", "min", "max"];
    let figures = figures.into_iter().map(str::to_owned);
    writer.write_record(figures.chain(parameters.map(|name| format!("parameter_{name}"))))?;
    for command in commands {
        let figures = [
            command.mean,
            command.stddev.unwrap_or(0.0),
            command.median,
            command.user,
            command.system,
            command.min,
            command.max,
        ];
        let row =
            figures.iter().map(ToString::to_string).chain(command.parameters.values().cloned());
        writer.write_record(std::iter::once(command.command.clone()).chain(row))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// As `--export-markdown`: in the unit that fits the first command.
pub fn markdown(commands: &[CommandTimes]) -> String {
    let (factor, decimals, unit) = match commands.first().map_or(1.0, |first| first.mean) {
        mean if mean < 1e-3 => (1e6, 1, "µs"),
        mean if mean < 1.0 => (1e3, 1, "ms"),
        _ => (1.0, 3, "s"),
    };
    let time = |seconds: f64| format!("{:.decimals$}", seconds * factor);
    let fastest = commands.iter().min_by(|a, b| a.mean.total_cmp(&b.mean));
    let mut text =
        format!("| Command | Mean [{unit}] | Min [{unit}] | Max [{unit}] | Relative |\n");
    text.push_str("|:---|---:|---:|---:|---:|\n");
    for timed in commands {
        let spread = timed.stddev.map_or_else(String::new, |stddev| format!(" ± {}", time(stddev)));
        let relative = fastest.map_or_else(String::new, |fastest| relative(timed, fastest));
        let command = timed.command.replace('|', "\\|");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{command}` | {}{spread} | {} | {} | {relative} |",
            time(timed.mean),
            time(timed.min),
            time(timed.max)
        );
    }
    text
}

/// The ratio to the fastest command, with the standard deviation that follows from those of both.
fn relative(command_times: &CommandTimes, fastest: &CommandTimes) -> String {
    let ratio = command_times.mean / fastest.mean;
    if command_times == fastest {
        return "1.00".into();
    }
    let share = |of: &CommandTimes| of.stddev.map(|stddev| stddev / of.mean);
    match (share(command_times), share(fastest)) {
        (Some(share), Some(other)) => format!("{ratio:.2} ± {:.2}", ratio * share.hypot(other)),
        _ => format!("{ratio:.2}"),
    }
}

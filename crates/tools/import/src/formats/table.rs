//! A table of trials: factors, the block, and a column for each response, `throughput (tx/s)`.

use super::trial::{FormatError, Options, Trial, check_rows, observed};
use observations::{LevelRecord, Response, range};

/// Names and units of which more is better.
const RATES: [&str; 6] = ["throughput", "rate", "tps", "iops", "bandwidth", "per_second"];

/// The trials of a table.
pub fn read(text: &str, options: &Options<'_>) -> Result<Vec<Trial>, FormatError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let column = |name: &str| header.iter().position(|header| header.eq_ignore_ascii_case(name));
    let factors: Vec<usize> = match options.factors {
        [] => vec![column("configuration").unwrap_or(0)],
        names => names
            .iter()
            .map(|name| {
                column(name).ok_or_else(|| FormatError::Damaged(format!("it has no column {name}")))
            })
            .collect::<Result<_, _>>()?,
    };
    check_rows(header.len(), "columns")?;
    let block = column("block");
    let mut trials = Vec::new();
    for record in reader.records() {
        let record = record?;
        check_rows(trials.len() + 1, "trials")?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |at: usize| {
            record[at].parse::<f64>().ok().filter(|value| range::has(*value)).ok_or_else(|| {
                FormatError::Damaged(format!(
                    "line {line}: expected a number for {}, found \"{}\"",
                    header[at], &record[at]
                ))
            })
        };
        let mut responses = Vec::new();
        for at in 0..header.len() {
            if factors.contains(&at) || block == Some(at) || record[at].is_empty() {
                continue;
            }
            responses.push(response(&header[at], number(at)?, options.higher));
        }
        if responses.is_empty() {
            return Err(FormatError::Damaged(format!("line {line}: no response")));
        }
        let elapsed =
            responses.iter().find(|response| response.name == "elapsed" && response.unit == "s");
        let elapsed_s = elapsed.map_or(0.0, |elapsed| elapsed.value);
        trials.push(Trial {
            levels: factors
                .iter()
                .map(|at| LevelRecord { factor: header[*at].clone(), level: record[*at].into() })
                .collect(),
            block: block.map(number).transpose()?.map(|block| (block as u32).max(1)),
            observations: observed(elapsed_s, 0.0, responses)?,
            ..Trial::default()
        });
    }
    Ok(trials)
}

/// A response by its heading: `latency p99 (ms)`.
fn response(heading: &str, value: f64, higher: &[String]) -> Response {
    let (name, unit) = match heading.split_once('(') {
        Some((name, unit)) => (name.trim(), unit.trim_end_matches(')').trim()),
        None => (heading, ""),
    };
    let name = name.to_lowercase().replace([' ', '-'], "_");
    let is_rate = unit.ends_with("/s") || RATES.iter().any(|rate| name.contains(rate));
    let is_higher =
        higher.iter().any(|candidate| *candidate == name || candidate == heading) || is_rate;
    if is_higher {
        Response::higher(&name, unit, value)
    } else {
        Response::lower(&name, unit, value)
    }
}

//! The attack campaign of `crates/cli/tests/attack`: every kind or some, with more tries
//! than the tests make, and a table at the end.

use crate::process::{cargo, output};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Tries of each kind, unless a number is given: what each kind has for the full campaign.
const TRIES: &str = "full";
/// No try begins later than this after the first one, unless a number is given.
const MINUTES: u64 = 60;

/// The executables among which one has the campaign: those of the tests, so that nothing is built
/// twice.
const CAMPAIGN: [&str; 7] =
    ["test", "--quiet", "--workspace", "--all-features", "--test", "all", "--"];

const USAGE: &str = "cargo xtask attack [KIND...] [--tries N] [--seed SEED] [--minutes N]";

/// Result of a kind: its name, the number of tries and the planned number, failures, seconds, and
/// the seeds of failed tries.
type Row = [String; 6];

/// Attacks; an error when a try failed, or when time was over before all tries.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut kinds, mut tries, mut seed, mut minutes) = (Vec::new(), TRIES.to_owned(), 1, MINUTES);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || rest.next().and_then(|text| text.parse::<u64>().ok()).ok_or(USAGE);
        match argument.as_str() {
            "--tries" => tries = number()?.to_string(),
            "--seed" => seed = number()?,
            "--minutes" => minutes = number()?,
            option if option.starts_with('-') => return Err(USAGE.into()),
            kind => kinds.push(kind),
        }
    }
    let environment = crate::tools::install_tools(false)?;
    let mut test = cargo(&CAMPAIGN);
    // Who kills, or asks a silent server, mostly waits: there is work for twice as many threads as
    // processors.
    let threads = 2 * std::thread::available_parallelism().map_or(1, usize::from);
    test.args(selected(&kinds)?).args(["--exact", "--nocapture"]);
    test.args(["--test-threads", &threads.to_string()]).envs(environment);
    test.env("STEELBENCH_ATTACK_TRIES", tries).env("STEELBENCH_ATTACK_SEED", seed.to_string());
    test.env("STEELBENCH_ATTACK_SECONDS", (60 * minutes).to_string());
    let mut child =
        test.stdout(Stdio::piped()).spawn().map_err(|error| format!("{test:?}: {error}"))?;
    let mut rows = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let line = line.map_err(|error| format!("reading what the campaign prints: {error}"))?;
        match row(&line) {
            Some(row) => rows.push(row),
            None => println!("{line}"),
        }
    }
    let status = child.wait().map_err(|error| format!("{test:?}: {error}"))?;
    rows.sort();
    println!(
        "{:<28}{:>8}{:>8}{:>8}{:>8}  seeds of failures",
        "kind", "tried", "of", "failed", "seconds"
    );
    for [kind, tried, planned, failed, seconds, seeds] in &rows {
        println!("{kind:<28}{tried:>8}{planned:>8}{failed:>8}{seconds:>8}  {seeds}");
    }
    let cut: Vec<&str> =
        rows.iter().filter(|row| row[1] != row[2]).map(|row| row[0].as_str()).collect();
    match (status.success(), cut.is_empty()) {
        (false, _) => Err(format!("the campaign found something: {status}")),
        (true, false) => Err(format!("{minutes} minutes were too few for {}", cut.join(", "))),
        (true, true) => Ok(()),
    }
}

/// The tests of these kinds; of all without any.
fn selected(kinds: &[&str]) -> Result<Vec<String>, String> {
    let list = output(cargo(&CAMPAIGN).args(["--list", "--format", "terse", "attack::"]))?;
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(tests
        .filter(|test| kinds.is_empty() || kinds.iter().any(|kind| test.contains(kind)))
        .map(str::to_owned)
        .collect())
}

/// A line of the table, as a kind prints it.
fn row(line: &str) -> Option<Row> {
    let (_, line) = line.split_once("ATTACK ")?;
    let mut parts = line.splitn(6, ' ').map(str::to_owned);
    let mut part = || parts.next();
    Some([part()?, part()?, part()?, part()?, part()?, part()?])
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn a_kind_says_what_it_came_to() {
        let parts = |line| row(line).map(|row| row.join("|"));
        assert_eq!(parts("ATTACK kills 4 4 0 17 ").as_deref(), Some("kills|4|4|0|17|"));
        assert_eq!(
            parts("test kills ... ATTACK kills 8 9 2 5 3,7").as_deref(),
            Some("kills|8|9|2|5|3,7")
        );
        assert_eq!(parts("test kills ... ok"), None);
    }
}

//! The attack campaign of `crates/steelbench/tests/attack`: every kind or some, with more tries than the tests make, and
//! a table at the end.

use crate::process::cargo;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Tries of each kind, unless a number is given: what each kind has for the full campaign, an hour in all.
const TRIES: &str = "full";

const USAGE: &str = "cargo xtask attack [KIND...] [--tries N] [--seed SEED]";

/// What a kind came to: its name, how many tries, how many failed, and their seeds.
type Row = [String; 4];

/// Attacks; an error when a try failed.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut kinds, mut tries, mut seed) = (Vec::new(), TRIES.to_owned(), "1".to_owned());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || rest.next().filter(|text| text.parse::<u64>().is_ok()).cloned().ok_or(USAGE);
        match argument.as_str() {
            "--tries" => tries = number()?,
            "--seed" => seed = number()?,
            option if option.starts_with('-') => return Err(USAGE.into()),
            kind => kinds.push(kind),
        }
    }
    let mut test = cargo(&["test", "-p", "steelbench", "--all-features", "--test", "attack", "--"]);
    test.args(kinds).args(["--nocapture", "--test-threads", "2"]);
    test.env("STEELBENCH_ATTACK_TRIES", tries).env("STEELBENCH_ATTACK_SEED", seed);
    let mut child = test.stdout(Stdio::piped()).spawn().map_err(|error| format!("{test:?}: {error}"))?;
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
    println!("{:<24}{:>8}{:>8}  seeds of failures", "kind", "tried", "failed");
    for [kind, tried, failed, seeds] in rows {
        println!("{kind:<24}{tried:>8}{failed:>8}  {seeds}");
    }
    if status.success() { Ok(()) } else { Err(format!("the campaign found something: {status}")) }
}

/// A line of the table, as a kind prints it.
fn row(line: &str) -> Option<Row> {
    let (_, line) = line.split_once("ATTACK ")?;
    let mut parts = line.splitn(4, ' ').map(str::to_owned);
    Some([parts.next()?, parts.next()?, parts.next()?, parts.next()?])
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn a_kind_says_what_it_came_to() {
        let parts = |line| row(line).map(|row| row.join("|"));
        assert_eq!(parts("ATTACK kills 4 0 ").as_deref(), Some("kills|4|0|"));
        assert_eq!(parts("test kills ... ATTACK kills 9 2 3,7").as_deref(), Some("kills|9|2|3,7"));
        assert_eq!(parts("test kills ... ok"), None);
    }
}

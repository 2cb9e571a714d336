//! The findings of experiments with known truth, in full: `data/findings.txt`.

use analysis::summarize;
use experiment::{DurabilityRule, Risk};
use observations::{Recording, Response, Value};
use std::fmt::Write as _;
use testing::recordings::{Factor, Random, done, failed, observed, recording};

const EXPECTED: &str = include_str!("data/findings.txt");

const RULES: &[DurabilityRule] = &[DurabilityRule {
    path: "target.settings.sync",
    risk: Risk::Commits,
    keeps: &["on"],
    applied: [Some("on"), Some("off")],
}];

/// An experiment with mean elapsed times (seconds) of its configurations and lognormal noise.
fn experiment(factors: &[Factor], blocks: u32, noise: f64, elapsed_s: &[f64]) -> Recording {
    let mut random = Random::new(7);
    let mut run = recording(factors);
    for block in 1..=blocks {
        for (configuration, seconds) in elapsed_s.iter().enumerate() {
            let seconds = seconds * (noise * random.normal()).exp();
            run.trials.push(done(configuration, block, observed(seconds)));
        }
    }
    run
}

fn with_settings(run: &mut Recording, path: &str, values: &[&str]) {
    for (configuration, value) in run.configurations.iter_mut().zip(values) {
        configuration.settings.insert(path.into(), Value::Text((*value).into()));
    }
}

fn side_response() -> Recording {
    let mut run = experiment(&[("target.data_files", &["1", "4"])], 5, 0.01, &[10.0, 10.0]);
    for trial in &mut run.trials {
        let latency = if trial.configuration == 0 { 2.0 } else { 4.0 };
        let latency = latency * (1.0 + 0.01 * f64::from(trial.block));
        let observations = trial.observations.as_mut().unwrap();
        observations.responses.push(Response::lower("latency_p99", "ms", latency));
    }
    run
}

fn durability_of_engines() -> Recording {
    let mut run = experiment(&[("target.engine", &["a", "b"])], 5, 0.01, &[10.0, 5.0]);
    with_settings(&mut run, "target.engine", &["a", "b"]);
    with_settings(&mut run, "target.settings.sync", &["on", "off"]);
    run
}

fn queries_and_engines() -> Recording {
    let factors: [Factor; 2] = [("target.engine", &["a", "b"]), ("query", &["count", "sum"])];
    let mut run = experiment(&factors, 5, 0.01, &[10.0, 80.0, 2.0, 20.0]);
    with_settings(&mut run, "workload.aggregates", &["count", "sum", "count", "sum"]);
    run
}

fn failures_in_slow_blocks() -> Recording {
    let mut run = recording(&[("target.data_files", &["1", "2", "4"])]);
    let mut random = Random::new(73);
    for block in 1..=6 {
        for configuration in 0..3 {
            let seconds = 10.0 * (0.1 * f64::from(block) + 0.03 * random.normal()).exp();
            run.trials.push(match (configuration, block) {
                (2, 4..) => failed(configuration, block, "disk full"),
                _ => done(configuration, block, observed(seconds)),
            });
        }
    }
    run
}

/// Sections of a title and its findings.
fn printed() -> String {
    let sync: [Factor; 2] =
        [("target.settings.sync", &["on", "off"]), ("workload.connections", &["1", "8"])];
    let files: [Factor; 1] = [("target.data_files", &["1", "4"])];
    let none = experiment(&sync, 5, 0.01, &[10.0, 3.0, 10.0, 3.0]);
    let sections = [
        ("No difference, wide noise", experiment(&files, 4, 0.1, &[10.0, 10.0])),
        ("Two blocks, three times faster", experiment(&files, 2, 0.2, &[30.0, 10.0])),
        ("The factor asked about does nothing", none),
        ("A difference in another response", side_response()),
        ("A faster engine that may lose commits", durability_of_engines()),
        ("Queries are different work", queries_and_engines()),
        ("A level fails in slow blocks", failures_in_slow_blocks()),
        ("One run of each", experiment(&files, 1, 0.01, &[10.0, 5.0])),
    ];
    let mut all = String::new();
    for (title, run) in &sections {
        writeln!(all, "## {title}").unwrap();
        let mut summary = summarize(run);
        summary.durability = vec![("a", RULES), ("b", RULES)];
        for finding in summary.findings() {
            writeln!(all, "- {}", finding.text).unwrap();
        }
    }
    all
}

#[test]
fn findings_are_worded_as_recorded() {
    let printed = printed();
    assert!(printed == EXPECTED, "findings changed; where that is intended, record:\n{printed}");
}

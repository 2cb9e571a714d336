//! Scripts and their statements over trials, by hand.

use analysis::summarize;
use observations::{Fact, Histogram, Latency, Observations, ScriptStatement};
use testing::recordings::{data_files, observed};

/// A trial of 2 s in which a script ran 1,000 times and another 3,000 times; the first one's
/// statement took `first_ms` each time. `timed` is what the study times.
fn trial(timed: &str, first_ms: f64) -> Observations {
    let statement = |script: &str, text: &str, count: u64, each_ms: f64| ScriptStatement {
        script: script.into(),
        text: text.into(),
        count,
        wall_s: each_ms * count as f64 / 1e3,
        wall_s_max: each_ms / 100.0,
        failures: 2,
        retries: 5,
    };
    let latency = |script: &str, count: u64, each_ms: f64| {
        let mut histogram = Histogram::default();
        histogram.add((each_ms * 1e6) as u64, count);
        Latency { name: format!("{timed}: {script}"), histogram }
    };
    let mut observations = observed(2.0);
    observations.work.transactions = 4000;
    observations.latencies =
        vec![latency("a.sql", 1000, first_ms * 2.0), latency("b.sql", 3000, 1.0)];
    observations.facts =
        vec![Fact { name: "initial_connection_time".into(), unit: "ms".into(), value: 7.0 }];
    observations.statements = vec![
        statement("a.sql", "UPDATE", 1000, first_ms),
        statement("b.sql", "SELECT", 3000, 0.5),
        statement("b.sql", "NEVER", 0, 0.0),
    ];
    observations
}

#[test]
fn statements_have_means_with_intervals_over_trials() {
    for timed in ["transaction", "query"] {
        have_means_with_intervals(timed);
    }
}

fn have_means_with_intervals(timed: &str) {
    let mut run = data_files(&["1"], &[&[2.0, 2.0, 2.0]]);
    for (trial_record, first_ms) in run.trials.iter_mut().zip([1.0, 2.0, 3.0]) {
        trial_record.observations = Some(trial(timed, first_ms));
    }
    let summary = summarize(&run);
    let all = summary.scripts();
    let [statement] = &all[..] else { panic!("{all:?}") };
    let near = |ours: f64, expected: f64| {
        assert!((ours / expected - 1.0).abs() < 2e-3, "{ours} {expected}");
    };
    let update = statement.statements[0].latency.as_ref().unwrap();
    // t(0.975, 2) x 1 / sqrt(3) = 2.4841; below zero it is cut off.
    near(update.mean, 2.0);
    let interval = update.interval.unwrap();
    assert!(interval.low.abs() < 1e-12);
    near(interval.high, 4.4841);
    assert_eq!((update.n, update.unit.as_str()), (3, "ms"));
    assert_eq!(statement.statements[2].latency, None, "it never ran");
    assert_eq!(
        (
            statement.statements[0].count,
            statement.statements[0].failures,
            statement.statements[0].retries
        ),
        (3000, 6, 15)
    );
    // 6 s of 6 + 4.5.
    near(statement.statements[0].share, 6.0 / 10.5);
    near(statement.statements[0].longest_s, 0.03);
    let scripts: Vec<_> = statement
        .scripts
        .iter()
        .map(|script| (script.script.as_str(), script.transactions, script.failures))
        .collect();
    assert_eq!(scripts, [("a.sql", 3000, 6), ("b.sql", 9000, 12)]);
    near(statement.scripts[0].share, 0.25);
    near(statement.scripts[0].tps.as_ref().unwrap().mean, 500.0);
    near(statement.scripts[0].latency.as_ref().unwrap().mean, 4.0);
    near(statement.initial_connection_time.as_ref().unwrap().mean, 7.0);
    // Who ran no script has no such section.
    assert!(summarize(&data_files(&["1"], &[&[2.0, 2.1]])).scripts().is_empty());
}

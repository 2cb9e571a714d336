//! The lag of real replicas: one that applies late by a known time, and one that commits wait for.

use availability::lag::Lag;
use availability::lag::probe::{BEATS, LOOKS, WRITES};
use experiment::Value;
use observations::Observations;
use testing::trials::{Bench, TestEngine, installed, text};

/// The engine, where it is installed; the search says so where it is not.
fn engine(name: &str) -> Option<TestEngine> {
    installed().into_iter().find(|installation| installation.engine.name == name)
}

fn run(bench: &mut Bench<'_>, settings: &[(&'static str, Value)]) -> Observations {
    let short = [
        // Long enough for a write on a device that others keep busy.
        ("workload.duration", Value::Float(3.0)),
        ("workload.warmup", Value::Float(0.7)),
        ("workload.rate", Value::Float(200.0)),
    ];
    let short: Vec<_> = short.iter().chain(settings).cloned().collect();
    let mut found = None;
    bench.measured(&Lag, &short, |_, result| found = Some(result.unwrap())).unwrap();
    let observations = found.unwrap();
    println!("{:?} {:?}", observations.responses, observations.facts);
    assert!(LOOKS.read(&observations).unwrap() > 10.0 && BEATS.read(&observations).unwrap() > 10.0);
    assert!(WRITES.read(&observations).unwrap() > 0.0);
    assert!(observations.response("behind_max").is_some());
    observations
}

#[test]
fn the_lag_is_the_delay_of_the_replica() {
    let Some(engine) = engine("postgres") else { return };
    let mut bench = engine.bench();
    let mut run = |settings: &[(&'static str, Value)]| run(&mut bench, settings);
    // A replica that applies commits 300 ms after their time.
    let late = run(&[("target.settings.recovery_min_apply_delay", text("300ms"))]);
    let median = late.response("lag_median").unwrap();
    assert!(median > 250.0, "{median} ms");
    assert!(late.response("behind_max").unwrap() > 0.0);
    // Commits that wait until the replica shows them: no look misses one.
    let level = ("target.settings.synchronous_commit", text("remote_apply"));
    let observations = run(&[("workload.synchronous", Value::Bool(true)), level]);
    assert_eq!(observations.response("lag_max"), Some(0.0));
}

/// Heartbeats and writes need some 50 kB of binary log a second, of which this replica reads 1 kB:
/// it falls behind by almost all of the time, and of the bytes.
#[test]
fn a_replica_of_mariadb_that_reads_slowly_falls_behind() {
    let Some(engine) = engine("mariadb") else { return };
    let mut bench = engine.bench();
    let log = ("target.settings.innodb_log_file_size", text("8M"));
    let slow = ("target.settings.read_binlog_speed_limit", Value::Integer(1));
    let late = run(&mut bench, &[log.clone(), slow]);
    let median = late.response("lag_median").unwrap();
    assert!(median > 600.0, "{median} ms");
    // Each write has its row of 200 bytes in the log.
    let behind = late.response("behind_max").unwrap();
    let written = WRITES.read(&late).unwrap() * 200.0 / 1e6;
    assert!(behind > 0.5 * written, "{behind} MB behind of {written} MB a second");
    // Without the limit it follows.
    let observations = run(&mut bench, &[log]);
    let follows = observations.response("lag_median").unwrap();
    assert!(follows < 0.5 * median, "{follows} ms");
}

#[test]
fn engines_without_replicas_are_refused_before_anything_runs() {
    for engine in &installed() {
        let refused = engine.objections(&Lag, &engine.configuration(&[]));
        let has_replicas = ["postgres", "mariadb"].contains(&engine.engine.name);
        let expected: &[&str] = if has_replicas { &[] } else { &["workload.probe"] };
        assert_eq!(refused, expected, "{}", engine.name);
    }
}

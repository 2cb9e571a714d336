//! The lag of real replicas: one that applies late by a known time, and one that commits wait for.

use experiment::Value;
use lag::Lag;
use lag::probe::{BEATS, LOOKS, WRITES};
use testing::trials::{installed, text};

#[test]
fn the_lag_is_the_delay_of_the_replica() {
    let Some(engine) = installed().into_iter().find(|own| own.name.starts_with("postgres")) else {
        return;
    };
    let mut bench = engine.bench();
    let short = [
        ("workload.duration", Value::Float(1.0)),
        ("workload.warmup", Value::Float(0.7)),
        ("workload.rate", Value::Float(200.0)),
    ];
    let mut run = |given: &[(&'static str, Value)]| {
        let given: Vec<_> = short.iter().chain(given).cloned().collect();
        let mut found = None;
        bench.measured(&Lag, &given, |_, seen| found = Some(seen.unwrap())).unwrap();
        let seen = found.unwrap();
        println!("{:?} {:?}", seen.responses, seen.facts);
        assert!(LOOKS.read(&seen).unwrap() > 10.0 && BEATS.read(&seen).unwrap() > 10.0);
        assert!(WRITES.read(&seen).unwrap() > 0.0);
        assert!(seen.response("behind_max").is_some());
        seen
    };
    // A replica that applies commits 300 ms after their time.
    let late = run(&[("target.settings.recovery_min_apply_delay", text("300ms"))]);
    let median = late.response("lag_median").unwrap();
    assert!(median > 250.0, "{median} ms");
    assert!(late.response("behind_max").unwrap() > 0.0);
    // Commits that wait until the replica shows them: no look misses one.
    let level = ("target.settings.synchronous_commit", text("remote_apply"));
    let seen = run(&[("workload.synchronous", Value::Bool(true)), level]);
    assert_eq!(seen.response("lag_max"), Some(0.0));
}

#[test]
fn engines_without_replicas_are_refused_before_anything_runs() {
    for engine in &installed() {
        let refused = engine.objections(&Lag, &engine.configuration(&[]));
        let expected: &[&str] =
            if engine.name.starts_with("postgres") { &[] } else { &["workload.probe"] };
        assert_eq!(refused, expected, "{}", engine.name);
    }
}

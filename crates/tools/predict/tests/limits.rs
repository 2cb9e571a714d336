//! Questions that the levels do not answer, and changes of what limits the target.

use crate::network::{LEVELS, recording, recording_of, sets, trial, truth};
use analysis::summarize;
use observations::{Latency, Recording, WaitClass};
use predict::{WhatIfError, what_if};
use testing::recordings::{Random, done, plan, wait};

/// Seconds of a transaction on a CPU, and waiting for its client.
const CPU_S: f64 = 0.002;
const CLIENT_S: f64 = 0.001;

/// Two CPUs that are the limit, of which a hypervisor takes a share: sessions record less CPU time
/// than their work needs, and wait in the run queue for the rest.
fn stolen(share: f64) -> Recording {
    let mut recording = recording(|n| truth(2, [CPU_S, 0.0, CLIENT_S], n));
    for trial in &mut recording.trials {
        let observations = trial.observations.as_mut().unwrap();
        let done = observations.work.transactions as f64;
        let ready_s = observations.time.session_s - done * CLIENT_S;
        observations.time.cpu_s = done * CPU_S * (1.0 - share);
        observations.machine.own_s = observations.time.cpu_s;
        let queue_s = ready_s - observations.time.cpu_s;
        observations.waits = vec![wait("CPU_QUEUE", WaitClass::CpuQueue, 0.0, queue_s)];
        observations.devices.clear();
    }
    recording
}

/// Once "cpus=8" had no effect: what the recorded CPU time did not explain was a serial section.
#[test]
fn more_cpus_help_where_sessions_wait_for_them() {
    for share in [0.0, 0.1, 0.3] {
        let recording = stolen(share);
        let summary = summarize(&recording);
        let ask = |changes: &[&str]| what_if(&summary, &sets(changes)).unwrap();
        let now = ask(&["connections=32"]);
        for cpus in [4, 8] {
            let more = ask(&["connections=32", &format!("cpus={cpus}")]);
            let truth = truth(cpus, [CPU_S, 0.0, CLIENT_S], 32.0);
            assert!(more.interval.contains(truth), "{share} {cpus}: {more:?} {truth}");
            assert!(more.throughput > 1.5 * now.throughput, "{share} {cpus}: {more:?}");
            assert_eq!(more.changes[1].law.contains("more CPU time"), share > 0.0, "{more:?}");
        }
    }
}

#[test]
fn an_interval_that_says_nothing_is_no_answer() {
    let mut recording = plan(&[("workload.connections", &LEVELS[..4])]);
    let mut random = Random::new(12);
    for configuration in 0..4 {
        for block in 1..=2 {
            let throughput = 500.0 * (0.5 * random.normal()).exp();
            let trial = trial(f64::from(1 << configuration), throughput);
            recording.trials.push(done(configuration, block, trial));
        }
    }
    let summary = summarize(&recording);
    let error = what_if(&summary, &sets(&["connections=500"])).unwrap_err();
    let WhatIfError::Unpredictable { n, add, factor, .. } = &error else { panic!("{error}") };
    assert!((n - 500.0).abs() < 1e-9 && (add - 250.0).abs() < 1e-9 && *factor > 10.0);
    let text = error.to_string();
    assert!(
        text.starts_with(
            "connections=500 cannot be predicted from these levels: the 95 % interval"
        ) && text.ends_with("; add level 250"),
        "{text}"
    );
    // Within an octave there are bounds, however much trials vary.
    match what_if(&summary, &sets(&["connections=16"])) {
        Ok(near) => assert!(near.interval.high / near.interval.low <= 10.0, "{near:?}"),
        Err(error) => assert!(error.to_string().ends_with("add level 9"), "{error}"),
    }
}

/// Once latencies of a disk at a rate had an interval from 1e-6 ns on.
#[test]
fn latencies_at_a_rate_have_a_physical_interval() {
    let disk = [0.000_01, 0.0005, 0.0];
    let mut random = Random::new(5);
    for noise in [0.02, 0.2] {
        let mut recording = recording_of("workload.queue_depth", |n| truth(2, disk, n));
        for trial in &mut recording.trials {
            let observations = trial.observations.as_mut().unwrap();
            let times = (noise * random.normal()).exp();
            observations.work.transactions = 0;
            observations.work.unit = "I/O".into();
            observations.work.amount = (observations.work.amount as f64 * times) as u64;
            observations.responses.clear();
            let each_ns =
                1e10 * f64::from(observations.connections) / observations.work.amount as f64;
            let mut histogram = observations::Histogram::default();
            histogram.add(each_ns as u64, observations.work.amount);
            observations.latencies = vec![Latency { name: "I/O".into(), histogram }];
        }
        let summary = summarize(&recording);
        let found = what_if(&summary, &sets(&["queue_depth=8", "rate=500"])).unwrap();
        let latency_s = found.latency_s.unwrap();
        assert!((disk[1]..10.0 * disk[1]).contains(&latency_s), "{noise}: {found:?}");
        if let Some(interval) = found.latency_interval {
            assert!(interval.low > disk[1] / 10.0 && interval.high < 1.0, "{noise}: {found:?}");
        }
    }
}

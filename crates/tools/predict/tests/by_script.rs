//! Predictions of each script of a mix.

use crate::network::{network, recording, sets, truth};
use analysis::summarize;
use observations::{Histogram, Latency, Recording, ScriptStatement};
use predict::what_if;
use testing::recordings::Random;

/// Seconds of each of two scripts at the processors, in what is done one at a time, at the client.
const SCRIPTS: [[f64; 3]; 2] = [[0.001, 0.0001, 0.002], [0.006, 0.002, 0.002]];
const SHARES: [f64; 2] = [0.75, 0.25];

fn mean_of_scripts() -> [f64; 3] {
    [0, 1, 2].map(|at| SHARES[0] * SCRIPTS[0][at] + SHARES[1] * SCRIPTS[1][at])
}

/// By simulation and theory (`queueing.rs`): at each station each script
/// waits as many times as long as it is served as all others do.
fn script_latencies(n: f64) -> [f64; 2] {
    let mean = mean_of_scripts();
    let base = truth(2, mean, n);
    let mut probability = vec![1.0];
    let mut serial = vec![1.0];
    let (mut at_processors, mut at_serial) = (0.0, 0.0);
    // Mean value analysis by marginal probabilities.
    for customers in 1..=n as usize {
        let x = truth(2, mean, customers as f64);
        at_processors = (1..=customers)
            .map(|j| j as f64 * mean[0] / (j.min(2) as f64) * probability[j - 1])
            .sum();
        at_serial = (1..=customers).map(|j| j as f64 * mean[1] * serial[j - 1]).sum();
        let next = |p: &[f64], demand: f64, servers: usize| {
            let mut all: Vec<f64> =
                (1..=customers).map(|j| x * demand / (j.min(servers) as f64) * p[j - 1]).collect();
            all.insert(0, 1.0 - all.iter().sum::<f64>());
            all
        };
        probability = next(&probability, mean[0], 2);
        serial = next(&serial, mean[1], 1);
    }
    assert!(((at_processors + at_serial + mean[2]) * base / n - 1.0).abs() < 1e-6);
    SCRIPTS.map(|script| script[0] * at_processors / mean[0] + script[1] * at_serial / mean[1])
}

fn scripts() -> Recording {
    let mut recording = recording(|n| truth(2, mean_of_scripts(), n));
    let mut random = Random::new(11);
    for trial in &mut recording.trials {
        let observations = trial.observations.as_mut().unwrap();
        observations.machine.own_s = observations.work.transactions as f64 * mean_of_scripts()[0];
        let latencies = script_latencies(f64::from(observations.connections));
        for ((name, share), latency) in
            ["short.sql", "long.sql"].into_iter().zip(SHARES).zip(latencies)
        {
            let mut histogram = Histogram::default();
            let ns = latency * 1e9 * (1.0 + 0.01 * random.normal());
            histogram.add(ns as u64, (observations.work.transactions as f64 * share) as u64);
            observations
                .latencies
                .push(Latency { name: format!("transaction: {name}"), histogram });
            observations
                .statements
                .push(ScriptStatement { script: name.into(), ..ScriptStatement::default() });
        }
        let all: Vec<&Histogram> =
            observations.latencies.iter().map(|latency| &latency.histogram).collect();
        let histogram = Histogram::sum(&all);
        observations.latencies.insert(0, Latency { name: "transaction".into(), histogram });
    }
    recording
}

#[test]
fn what_each_script_of_a_mix_gets() {
    let recording = scripts();
    let summary = summarize(&recording);
    let found = what_if(&summary, &sets(&["connections=24"])).unwrap();
    let by_script = found.by_script.unwrap();
    for ((script, share), latency) in
        by_script.scripts.iter().zip(SHARES).zip(script_latencies(24.0))
    {
        assert!(
            (script.throughput / (share * truth(2, mean_of_scripts(), 24.0)) - 1.0).abs() < 0.05,
            "{script:?}"
        );
        assert!((script.latency_s / latency - 1.0).abs() < 0.08, "{script:?} {latency}");
    }
    assert!(by_script.error_median.unwrap() < 0.1, "{by_script:?}");
    // Something else is asked, or there is one script: no figures by script.
    assert_eq!(what_if(&summary, &sets(&["connections=24", "cpus=4"])).unwrap().by_script, None);
    assert_eq!(
        what_if(&summarize(&network()), &sets(&["connections=24"])).unwrap().by_script,
        None
    );
}

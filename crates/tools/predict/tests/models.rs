//! Models and their predictions against the truth.

use crate::network::{
    DEMANDS, LEVELS, law_and_error, network, recording, recording_of, served, sets, trial, truth,
};
use crate::queueing::shared_queue;
use analysis::findings::FindingKind;
use analysis::summarize;
use observations::{Environment, Interval, Operation, Recording, Value, Warning, WarningKind};
use predict::models::curve::Model;
use predict::models::hold_out::{Candidate, HoldOut, Prediction};
use predict::models::network::Service;
use predict::throughput::{self, ModelSummary};
use predict::{WhatIf, what_if};
use testing::recordings::{done, plan};

/// A recording whose file holds out these levels.
fn hold_out(mut recording: Recording, levels: &str) -> Recording {
    recording.run.source = format!("[model]\nhold_out = \"{levels}\"");
    recording
}

/// A level whose interval is too wide to plan by is not predicted, so it is not covered either.
#[test]
fn only_levels_that_are_predicted_count() {
    let level = |n: f64, width: f64| HoldOut {
        prediction: Prediction {
            n,
            predicted: 100.0,
            interval: Interval { low: 100.0 / width, high: 100.0 * width },
            distance: 1.0,
        },
        measured: 104.0,
        error: -4.0 / 104.0,
        covered: true,
    };
    let candidate = |tested: Vec<HoldOut>| Candidate {
        model: Model::Average,
        tested,
        error_median: 0.0,
        factor_median: 1.0,
    };
    let accuracy = candidate(vec![level(8.0, 1.1), level(64.0, 40.0)]).accuracy();
    assert_eq!(accuracy.covered, (1, 1));
    assert!((accuracy.factor_median - 1.21).abs() < 1e-9, "{accuracy:?}");
    assert_eq!(candidate(vec![level(64.0, 40.0)]).accuracy().covered, (0, 0));
}

#[test]
fn levels_that_the_model_has_not_seen() {
    let recording = network();
    let models = throughput::models(&summarize(&recording));
    let [model] = models.as_slice() else { panic!("{} models", models.len()) };
    assert_eq!(model.refused, None);
    let tested = |model: &ModelSummary| -> Vec<f64> {
        model.levels.iter().filter(|level| level.tested.is_some()).map(|level| level.n).collect()
    };
    // The highest third by default, else the levels that the experiment names.
    assert_eq!(tested(model), [32.0, 64.0]);
    assert!(
        model.candidates.len() == 4 && model.candidates[0].error_median < 0.05,
        "{:?}",
        model.candidates
    );
    assert!(
        model.candidates[1..].windows(2).all(|pair| pair[0].error_median <= pair[1].error_median)
    );
    let held_out = hold_out(recording.clone(), "workload.connections > 8");
    assert_eq!(tested(&throughput::models(&summarize(&held_out))[0]), [16.0, 32.0, 64.0]);
    // What was held out says nothing to the fit: another measurement there changes no prediction.
    let mut other = recording.clone();
    for trial in other.trials.iter_mut().filter(|trial| trial.configuration > 4) {
        trial.observations.as_mut().unwrap().responses[0].value /= 3.0;
    }
    let other = throughput::models(&summarize(&other));
    let find = |models: &[ModelSummary]| {
        let candidate = models[0]
            .candidates
            .iter()
            .find(|candidate| candidate.model == predict::models::curve::Model::Universal)
            .unwrap();
        candidate.tested.iter().map(|level| level.prediction.predicted).collect::<Vec<_>>()
    };
    assert_eq!(find(&models), find(&other));
}

#[test]
fn demands_by_the_operational_laws() {
    let recording = network();
    let models = throughput::models(&summarize(&recording));
    let high = &models[0].demands[1];
    let demands = high.demands.as_ref().unwrap();
    let find = |name: &str| demands.demands.iter().find(|demand| demand.name == name).unwrap();
    let cpu = find("CPUs: sessions");
    assert!((cpu.demand_s / DEMANDS[0] - 1.0).abs() < 1e-3, "{cpu:?}");
    // Two processors, 2 ms each: nearly all of the time busy at 64 connections.
    assert!(cpu.busy > 0.9 && cpu.busy < 1.05, "{cpu:?}");
    assert!((find("device vdb").operations.unwrap() - 1.0).abs() < 1e-3);
    assert!((demands.customers - 64.0).abs() < 1e-9);
    assert!(high.missing.is_empty());
}

/// A disk with half the latency serves twice as many, as far as the processors let it.
#[test]
fn a_disk_of_another_latency() {
    let disk = [0.00001, 0.0005, 0.0];
    let mut recording = recording_of("workload.queue_depth", |n| truth(2, disk, n));
    for trial in &mut recording.trials {
        let observations = trial.observations.as_mut().unwrap();
        observations.machine.own_s = observations.work.transactions as f64 * disk[0];
    }
    let summary = summarize(&recording);
    for (change, times) in [("device.log.latency=0.5x", 0.5), ("device.vdb.latency=3x", 3.0)] {
        let what_if = what_if(&summary, &sets(&["queue_depth=8", change])).unwrap();
        let truth = truth(2, [disk[0], disk[1] * times, 0.0], 8.0);
        assert!((what_if.throughput / truth - 1.0).abs() < 0.1, "{what_if:?} {truth}");
        assert!(what_if.interval.contains(truth), "{what_if:?} {truth}");
    }
}

/// Predictions for another machine equal those of that machine's network.
#[test]
fn more_processors_and_no_lock() {
    let recording = network();
    let summary = summarize(&recording);
    let ask = |changes: &[&str]| what_if(&summary, &sets(changes)).unwrap();
    let same = ask(&["connections=48"]);
    assert!((same.throughput / truth(2, DEMANDS, 48.0) - 1.0).abs() < 0.05, "{same:?}");
    assert!(
        same.interval.contains(truth(2, DEMANDS, 48.0)) && same.warnings.is_empty(),
        "{same:?}"
    );
    assert_eq!(same.limit.as_ref().map(|(name, _)| name.as_str()), Some("the CPUs"));
    let four = ask(&["connections=48", "cpus=4"]);
    assert!(
        four.interval.contains(truth(4, DEMANDS, 48.0)),
        "{four:?} {}",
        truth(4, DEMANDS, 48.0)
    );
    assert!((four.throughput / truth(4, DEMANDS, 48.0) - 1.0).abs() < 0.15, "{four:?}");
    let width = |what_if: &WhatIf| what_if.interval.high / what_if.interval.low;
    assert!(width(&four) > width(&same));
    let no_lock = truth(4, [DEMANDS[0], 0.0, DEMANDS[1] + DEMANDS[2]], 48.0);
    let both = ask(&["connections=48", "cpus=2x", "waits.WRITER_LOCK=0"]);
    assert!(both.interval.contains(no_lock), "{both:?} {no_lock}");
    // The device's time is waited for somewhere: both places are in the interval.
    let device = ask(&["connections=4", "device.vdb.latency=0.5x"]);
    let nothing = ask(&["connections=4"]);
    assert!(device.throughput > nothing.throughput && width(&device) > width(&nothing));
    let log = ask(&["connections=4", "device.log.latency=0.5x"]);
    assert_eq!(log.throughput.to_bits(), device.throughput.to_bits());
}

/// With connections for all, each station of an open network stands by itself: the formulas of
/// M/M/2 and M/M/1.
#[test]
fn transactions_that_arrive_at_a_rate() {
    let recording = network();
    let summary = summarize(&recording);
    let ask = |changes: &[&str]| what_if(&summary, &sets(changes));
    for rate in [200.0, 600.0] {
        let [cpu, lock, client] = DEMANDS;
        let truth =
            shared_queue(2, cpu, rate * cpu / 2.0) + shared_queue(1, lock, rate * lock) + client;
        let found = ask(&["connections=64", &format!("rate={rate}")]).unwrap();
        let latency = found.latency_s.unwrap();
        assert!((latency / truth - 1.0).abs() < 0.05, "{rate}: {latency} {truth}");
        let interval = found.latency_interval;
        assert!(interval.is_none_or(|interval| interval.contains(truth)), "{interval:?} {truth}");
        // By the Utilisation Law.
        let busy = found.limit.as_ref().unwrap();
        assert_eq!(busy.0, "the CPUs");
        assert!((busy.1 / (rate * cpu / 2.0) - 1.0).abs() < 0.02, "{busy:?}");
    }
    // Few connections: transactions wait in line. Twice the processors, and they wait less.
    let few = ask(&["connections=4", "rate=300"]).unwrap().latency_s.unwrap();
    let more = ask(&["connections=4", "rate=300", "cpus=4"]).unwrap().latency_s.unwrap();
    let all = ask(&["connections=64", "rate=300"]).unwrap().latency_s.unwrap();
    assert!(few > more && few > 1.1 * all, "{few} {more} {all}");
    let error = ask(&["connections=64", "rate=2000"]).unwrap_err().to_string();
    assert!(
        error.starts_with("rate=2000 cannot be sustained: 64 connections complete at most"),
        "{error}"
    );
    let near = ask(&["connections=64", "rate=950"]).unwrap();
    assert!(
        near.latency_interval.is_none() && near.warnings[0].contains("may be too large"),
        "{near:?}"
    );
    assert!(ask(&["rate=0"]).unwrap_err().to_string().contains("give transactions per second"));
}

/// A thousand combinations of other factors: those that the verdict names have their model, and
/// each that is asked for.
#[test]
fn of_many_combinations_some_have_models() {
    let names: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut recording = plan(&[("target.data_files", &names), ("workload.connections", &LEVELS)]);
    recording.environments = vec![Environment { cpus: 2, ..Environment::default() }];
    for configuration in 0..recording.configurations.len() {
        let n: f64 = LEVELS[configuration % LEVELS.len()].parse().unwrap();
        let faster = if configuration / LEVELS.len() == 70 { 1.5 } else { 1.0 };
        for block in 1..=2 {
            let trial = trial(n, faster * truth(2, DEMANDS, n) * (1.0 + 0.001 * f64::from(block)));
            recording.trials.push(done(configuration, block, trial));
        }
    }
    let summary = summarize(&recording);
    let models = throughput::models(&summary);
    assert_eq!((models.len(), throughput::left_out(&summary)), (8, 92));
    let files = |model_summary: &ModelSummary| {
        recording.configurations[model_summary.configuration]
            .level("target.data_files")
            .unwrap()
            .to_owned()
    };
    let named: Vec<String> = models.iter().map(files).collect();
    // Of the baseline and of the best, then from the first on.
    assert!(
        named[..2].contains(&"1".to_owned()) && named[..2].contains(&"71".to_owned()),
        "{named:?}"
    );
    assert_eq!(named[2..], ["2", "3", "4", "5", "6", "7"]);
    let what_if = what_if(&summary, &sets(&["connections=48", "data_files=50"])).unwrap();
    assert_eq!(what_if.group, "data_files=50");
}

#[test]
fn what_there_is_no_evidence_for_is_refused() {
    let recording = network();
    let summary = summarize(&recording);
    let error = |change: &str| what_if(&summary, &sets(&[change])).unwrap_err().to_string();
    assert!(error("connections").contains("is not a change"));
    assert!(error("connections=many").contains("a whole number above 0"));
    assert!(error("data_files=4").contains("data_files was not varied; varied: connections"));
    assert!(error("waits.NONE=0").contains("recorded waits: WRITER_LOCK, WAL_SYNC"));
    assert!(error("waits.WRITER_LOCK=3").contains("give a factor"));
    assert!(error("device.sda.latency=0.5x").contains("recorded: vdb, log"));
    assert!(error("device.vdb.iops=2x").contains("only the latency"));
    assert!(error("cpus=0.5").contains("expected a whole number of CPUs"));
    let far = what_if(&summary, &sets(&["connections=300"])).unwrap();
    assert!(far.warnings[0].contains("4.69 times beyond the measured range (1 to 64)"), "{far:?}");
    // Another factor has levels, and no law between them.
    let mut two = plan(&[
        ("workload.connections", &["1", "2", "4", "8"]),
        ("target.data_files", &["1", "4"]),
    ]);
    for configuration in 0..8 {
        let n = f64::from(1 << (configuration / 2));
        two.trials.push(done(configuration, 1, trial(n, truth(2, DEMANDS, n))));
    }
    let summary = summarize(&two);
    assert_eq!(throughput::models(&summary).len(), 2);
    let error = what_if(&summary, &sets(&["data_files=8"])).unwrap_err().to_string();
    assert!(
        error.contains("this level was not measured") && error.ends_with("measured: 1, 4"),
        "{error}"
    );
    assert_eq!(
        what_if(&summary, &sets(&["connections=8", "data_files=4"])).unwrap().group,
        "data_files=4"
    );
}

#[test]
fn bad_input_is_said_and_nothing_is_claimed() {
    // The generator was the limit.
    let mut limited = network();
    for trial in &mut limited.trials {
        let warning = Warning { kind: WarningKind::LoadLimited, detail: String::new() };
        trial.observations.as_mut().unwrap().warnings.push(warning);
    }
    let summary = summarize(&limited);
    let model = &throughput::models(&summary)[0];
    let why = model.refused.as_ref().unwrap();
    assert!(why.starts_with("the load generator was the limit in 3 of 3 trials at 1"), "{why}");
    assert!(model.candidates.is_empty() && model.curve.is_empty() && model.scalability.is_none());
    let error = what_if(&summary, &sets(&["connections=8"])).unwrap_err().to_string();
    assert!(error.contains("the load generator was the limit"), "{error}");
    // Three levels; an open loop, whose throughput is asked for.
    let three = plan(&[("workload.connections", &LEVELS[..3])]);
    assert!(throughput::models(&summarize(&three)).is_empty());
    let mut open = network();
    for configuration in &mut open.configurations {
        configuration.settings.insert("workload.rate".into(), Value::from_json("1000").unwrap());
    }
    assert!(throughput::models(&summarize(&open)).is_empty());
    let error = what_if(&summarize(&open), &sets(&["connections=8"])).unwrap_err().to_string();
    assert!(error.contains("four or more") || error.contains("4 or more levels"), "{error}");
    // No counters of devices, counters that went back, and a rule that leaves too few levels.
    let mut bare = network();
    for trial in &mut bare.trials {
        let observations = trial.observations.as_mut().unwrap();
        observations.devices.clear();
        observations.time.cpu_s = -1.0;
    }
    let summary = summarize(&bare);
    let models = throughput::models(&summary);
    assert!(models[0].demands[0].missing[0].starts_with("device counters"));
    assert!(models[0].demands[0].error.as_ref().unwrap().contains("negative time"));
    let error = what_if(&summary, &sets(&["device.vdb.latency=0"])).unwrap_err().to_string();
    assert!(error.contains("no device counters were recorded"), "{error}");
    let held_out = hold_out(bare.clone(), "workload.connections > 2");
    let refused = throughput::models(&summarize(&held_out))[0].refused.clone().unwrap();
    assert!(refused.contains("2 levels remain to fit when 5 are held out"), "{refused}");
}

/// No variation of the throughput: a law without any contention to show claims neither a peak nor a
/// fall.
#[test]
fn a_throughput_that_does_not_change() {
    let recording = recording(|_| 500.0);
    let models = throughput::models(&summarize(&recording));
    let law = models[0].scalability.as_ref().unwrap();
    assert!(!law.falls && law.peak_interval.is_none(), "{law:?}");
}

/// The one line of "why" that says what is to be had: sessions wait for the lock most of the time.
#[test]
fn what_the_largest_wait_costs_at_most() {
    let recording = recording(|n| truth(2, [0.002, 0.0, 0.01], n));
    let findings = summarize(&recording).findings();
    let gain = findings.iter().find(|finding| finding.kind == FindingKind::Gain).unwrap();
    assert!(gain.text.contains("WRITER_LOCK") && gain.text.contains("at most"), "{gain:?}");
}

/// Commits that share syncs: the model that knows it is the one that predicts. Where syncs were not
/// counted, or more commits end with one than there are connections, because none waits for it,
/// there is no such model.
#[test]
fn commits_that_share_syncs() {
    let demands = [0.0005, 0.004, 0.002];
    let mut recording = recording(|n| served(Service::Shared, demands, n));
    let count = |recording: &mut Recording, batch: &dyn Fn(f64) -> f64| {
        for trial in &mut recording.trials {
            let observations = trial.observations.as_mut().unwrap();
            observations.machine.own_s = observations.work.transactions as f64 * demands[0];
            let syncs =
                observations.work.transactions as f64 / batch(f64::from(observations.connections));
            let sync =
                Operation { name: "WAL sync".into(), count: syncs as u64, bytes: 0, wall_s: 1.0 };
            observations.operations = vec![sync];
        }
    };
    count(&mut recording, &|n| (n / 2.0).max(1.0));
    recording = hold_out(recording, "workload.connections > 16");
    let summary = summarize(&recording);
    let models = throughput::models(&summary);
    assert_eq!(models[0].candidates[1].model, Model::SharedSyncs, "{:?}", models[0].candidates);
    let (law, off) = law_and_error(&summary, "48", served(Service::Shared, demands, 48.0));
    assert!(
        law.contains("one sync of the log serves all sessions waiting")
            && law.ends_with("(up to 32.0)"),
        "{law}"
    );
    assert!(off < 0.05, "{off}");
    let has_shared = |recording: &Recording| {
        let models = throughput::models(&summarize(recording));
        models[0].candidates.iter().any(|candidate| candidate.model == Model::SharedSyncs)
    };
    count(&mut recording, &|n| 500.0 * n);
    assert!(!has_shared(&recording));
    count(&mut recording, &|_| 1.0);
    assert!(!has_shared(&recording));
}

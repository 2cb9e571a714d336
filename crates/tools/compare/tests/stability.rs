//! The stability of whole reports: how often one of steady runs claims regimes, and what is said to
//! separate real ones.

use ::compare::stability::Stability;
use analysis::summarize;
use observations::{MachineLoad, Recording};
use testing::recordings::{Random, data_files, wait};

const REPORTS: usize = 200;

/// Elapsed times of a configuration whose mean is this.
type Noise = fn(f64, usize, &mut Random) -> Vec<f64>;

fn normal(mean: f64, blocks: usize, random: &mut Random) -> Vec<f64> {
    (0..blocks).map(|_| mean * (1.0 + 0.03 * random.normal())).collect()
}

fn lognormal(mean: f64, blocks: usize, random: &mut Random) -> Vec<f64> {
    (0..blocks).map(|_| mean * (0.3 * random.normal()).exp()).collect()
}

fn autocorrelated(mean: f64, blocks: usize, random: &mut Random) -> Vec<f64> {
    let mut value = random.normal();
    let mut next = || {
        value = 0.6 * value + 0.8 * random.normal();
        mean * (0.05 * value).exp()
    };
    (0..blocks).map(|_| next()).collect()
}

/// 30 % of trials take 1.3 times as long.
fn two_regimes(mean: f64, blocks: usize, random: &mut Random) -> Vec<f64> {
    let mut factor = || if random.uniform() < 0.3 { 1.3 } else { 1.0 };
    let factors: Vec<f64> = (0..blocks).map(|_| factor()).collect();
    normal(mean, blocks, random).iter().zip(factors).map(|(value, factor)| value * factor).collect()
}

fn recording(of: &[Noise], blocks: usize, random: &mut Random) -> Recording {
    let levels: Vec<String> = (1..=of.len()).map(|level| level.to_string()).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let times: Vec<Vec<f64>> =
        (1..).zip(of).map(|(level, noise)| noise(f64::from(level), blocks, random)).collect();
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    data_files(&levels, &times)
}

fn stability(recording: &Recording) -> Stability {
    ::compare::stability::stability(&summarize(recording)).unwrap()
}

/// Twice the standard error of 5 % in 200 reports is 3.1 %.
#[test]
fn one_of_twenty_reports_of_steady_runs_claims_regimes() {
    let mut random = Random::new(36);
    for (name, noise) in
        [("normal", normal as Noise), ("lognormal", lognormal), ("AR(1)", autocorrelated)]
    {
        for (configurations, blocks) in [(1, 20), (4, 8)] {
            let of = vec![noise; configurations];
            let claims = (0..REPORTS).filter(|_| {
                stability(&recording(&of, blocks, &mut random)).with_regimes().next().is_some()
            });
            let share = claims.count() as f64 / REPORTS as f64;
            println!("{name}, {configurations} configurations, {blocks} blocks: {share}");
            assert!(share <= 0.08, "{name}, {configurations}, {blocks}: {share}");
        }
    }
}

#[test]
fn a_noisy_configuration_among_steady_ones_is_found() {
    let mut random = Random::new(37);
    let of = [normal as Noise, normal, two_regimes, normal, normal];
    let (mut found, mut wrong) = (0, 0);
    for _ in 0..REPORTS {
        for stability in stability(&recording(&of, 12, &mut random)).with_regimes() {
            *(if stability.configuration == 2 { &mut found } else { &mut wrong }) += 1;
        }
    }
    println!("{found} {wrong}");
    assert!(found > REPORTS * 7 / 10 && wrong < REPORTS / 20, "{found} {wrong}");
}

/// Ten blocks of which three are slow: sessions wait for the log, and the host steals CPU time.
fn slow_blocks() -> Recording {
    let mut random = Random::new(38);
    let slow = [false, true, false, false, true, false, false, false, true, false];
    let times: Vec<f64> = slow
        .iter()
        .map(|slow| (if *slow { 1.4 } else { 1.0 }) * (1.0 + 0.01 * random.normal()))
        .collect();
    let mut recording = data_files(&["1"], &[&times]);
    for (trial, slow) in recording.trials.iter_mut().zip(slow) {
        let observations = trial.observations.as_mut().unwrap();
        // A second of each connection is on a CPU, whatever the block.
        observations.time.cpu_s = 3.0 * (1.0 + 0.01 * random.normal());
        let waited_s = observations.time.session_s - observations.time.cpu_s;
        observations.waits = vec![wait("WAL_SYNC", observations::WaitClass::Log, waited_s, 0.0)];
        let steal_s = (if slow { 0.4 } else { 0.02 }) * (1.0 + 0.1 * random.normal());
        observations.machine = MachineLoad {
            cpus: 4,
            // The other processes take turns, whatever the block.
            busy_s: 1.0 + observations.elapsed_s * if trial.block % 2 == 0 { 0.11 } else { 0.09 },
            own_s: 1.0,
            steal_s,
            iowait_s: 0.0,
        };
    }
    recording
}

#[test]
fn waits_and_counters_that_separate_regimes_are_named() {
    let stability = stability(&slow_blocks());
    let stability = stability.with_regimes().next().unwrap();
    let blocks: Vec<&Vec<u32>> = stability.regimes.iter().map(|regime| &regime.blocks).collect();
    assert_eq!(blocks, [&vec![2, 5, 9], &vec![1, 3, 4, 6, 7, 8, 10]]);
    assert!((stability.ratio.unwrap() - 1.4).abs() < 0.02, "{stability:?}");
    let why: String = stability.why.iter().map(|finding| finding.text.as_str()).collect();
    assert!(why.contains("more WAL_SYNC wait") && !why.contains("CPU time"), "{why}");
    // The other processes do not differ.
    let names: Vec<&str> =
        stability.separators.iter().map(|separator| separator.name.as_str()).collect();
    assert_eq!(names, ["CPU steal"]);
    let steal = &stability.separators[0];
    assert!(steal.is_complete && steal.p_value < 0.05, "{steal:?}");
    assert!(steal.worse.mean > 5.0 * steal.better.mean && steal.worse.unit == "%", "{steal:?}");
}

#[test]
fn coarse_values_do_not_gather_on_their_steps() {
    let mut random = Random::new(39);
    let times: Vec<f64> =
        (0..20).map(|_| ((10.0 + 0.3 * random.normal()) * 2.0).round() / 2.0).collect();
    let mut recording = data_files(&["1"], &[&times]);
    for trial in &mut recording.trials {
        trial.observations.as_mut().unwrap().responses[0].resolution = 0.5;
    }
    assert!(stability(&recording).with_regimes().next().is_none());
}

#[test]
fn four_blocks_have_no_stability() {
    let recording = data_files(&["1"], &[&[1.0, 1.1, 1.0, 1.1]]);
    assert!(::compare::stability::stability(&summarize(&recording)).is_none());
}

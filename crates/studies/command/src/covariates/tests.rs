use super::{Covariate, covariates};
use crate::draws::DRAWN;
use analysis::summarize;
use testing::recordings::{Random, data_files};

const RUNS: usize = 300;

/// Slowdown over the range of x, noise, and how much faster the second level gets over it.
#[derive(Clone, Copy)]
struct Truth {
    slowdown: f64,
    interaction: f64,
    spread: f64,
    has_spikes: bool,
}

/// x is uniform from 1 to 100; both levels of a block have the same.
fn drawn(blocks: usize, truth: Truth, random: &mut Random) -> Option<Covariate> {
    let x: Vec<f64> = (0..blocks).map(|_| 1.0 + (99.0 * random.uniform()).round()).collect();
    let mut times = |interaction: f64| -> Vec<f64> {
        let time = |x: &f64| {
            let share = (x - 1.0) / 99.0;
            let spike = truth.has_spikes && random.uniform() < 0.05;
            let noise = truth.spread * random.normal() + if spike { 0.3 } else { 0.0 };
            (share * (truth.slowdown.ln() + interaction) + noise).exp()
        };
        x.iter().map(time).collect()
    };
    let levels = [times(0.0), times(truth.interaction)];
    let mut recording = data_files(&["1", "2"], &[&levels[0], &levels[1]]);
    for trial in &mut recording.trials {
        let observations = trial.observations.as_mut().unwrap();
        observations.facts.push(DRAWN.record("x", x[trial.block as usize - 1]));
    }
    covariates(&summarize(&recording)).pop()
}

/// Shares of runs in which the interval of the slowdown holds the truth, in which the slowdown is
/// found, and in which the comparison is said to depend on x.
fn simulated(blocks: usize, truth: Truth) -> [f64; 3] {
    let mut random = Random::new(36);
    let mut counts = [0; 3];
    for _ in 0..RUNS {
        let sample = drawn(blocks, truth, &mut random).unwrap();
        let width = (sample.drawn[1] - sample.drawn[0]) / 99.0;
        let is_held = sample.response.interval.contains(truth.slowdown.powf(width));
        let is = [is_held, sample.response.supported(), sample.comparisons[0].supported()];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += usize::from(is));
    }
    let shares = counts.map(|count| count as f64 / RUNS as f64);
    println!("{blocks} blocks: {shares:?}");
    shares
}

#[test]
fn intervals_hold_the_slowdown_95_times_of_100() {
    let truth = Truth { slowdown: 1.5, interaction: 0.0, spread: 0.05, has_spikes: false };
    for blocks in [5, 20] {
        for truth in [truth, Truth { has_spikes: true, ..truth }] {
            let [held, found, depends] = simulated(blocks, truth);
            assert!((0.92..=0.98).contains(&held), "{blocks} blocks: {held}");
            assert!(depends <= 0.075, "{blocks} blocks: {depends}");
            assert!(found > 0.5, "{blocks} blocks: {found}");
        }
    }
}

#[test]
fn a_parameter_without_effect_is_found_in_one_of_twenty_runs() {
    let truth = Truth { slowdown: 1.0, interaction: 0.0, spread: 0.1, has_spikes: false };
    for blocks in [5, 20] {
        let [_, found, depends] = simulated(blocks, truth);
        assert!(found <= 0.075 && depends <= 0.075, "{blocks} blocks: {found} {depends}");
    }
}

#[test]
fn a_comparison_that_depends_on_the_parameter_is_named() {
    let truth = Truth { slowdown: 2.0, interaction: 0.4, spread: 0.05, has_spikes: false };
    let [_, _, depends] = simulated(10, truth);
    assert!(depends > 0.8, "{depends}");
}

#[test]
fn few_blocks_and_equal_draws_have_no_line() {
    let mut random = Random::new(1);
    let truth = Truth { slowdown: 2.0, interaction: 0.0, spread: 0.05, has_spikes: false };
    assert_eq!(drawn(4, truth, &mut random), None);
    let mut recording = data_files(&["1"], &[&[1.0, 1.1, 1.0, 1.2, 1.1, 1.0]]);
    for trial in &mut recording.trials {
        trial.observations.as_mut().unwrap().facts.push(DRAWN.record("x", 7.0));
    }
    assert_eq!(covariates(&summarize(&recording)), []);
}

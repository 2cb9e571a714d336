//! Trials of a search that are stopped because they cannot beat the leader, and the end of a search
//! that is not worth continuing, on functions with a known optimum.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod independent;
#[path = "../../../designs/tests/noise/mod.rs"]
mod noise;
mod rates;

use independent::Independent;
use noise::{ALL, Noise, Random};
use tune::optimiser::{Domain, Optimiser, Outcome, Point, Space, Trial};

/// Proposed points of a round, beside the present settings.
const ROUND: usize = 8;
const ROUNDS: usize = 5;
const SEARCHES: u64 = 20;
/// Further rounds that are drawn for each limit.
const DRAWS: usize = 25;
/// The noise of a trial, of its cost.
const CV: f64 = 0.05;

/// Costs of a valley: the best is 0, the present settings have 0.9.
fn cost(point: &[Option<f64>]) -> f64 {
    let at = |knob: usize| point[knob].unwrap();
    let (near, far) = ((at(0) - 0.3).abs(), (at(1) - 0.8).powi(2));
    1.2 * near + far + 0.4 * (at(2) - 0.5 * at(0)).powi(2)
}

fn present() -> Point {
    vec![Some(0.8), Some(0.4), Some(0.1)]
}

fn domains(knobs: usize) -> Vec<Domain> {
    let unit =
        Domain::Numbers { low: 0.0, high: 1.0, is_log: false, whole: false, special: Vec::new() };
    vec![unit; knobs]
}

/// Trials of searches with early stops.
#[derive(Debug, Default)]
struct Counts {
    /// Trials of points as good as the best one until then, and those that would be stopped.
    equal: usize,
    wrong: usize,
    /// Points that are worse by 30 % or more after the second round, and those that were stopped.
    hopeless: usize,
    stopped: usize,
    /// Sum of the costs of the best candidates.
    regret: f64,
}

fn search(noise: Noise, seed: u64, counts: &mut Counts) {
    let domains = domains(3);
    let space = Space { domains: &domains, rules: &Independent };
    let optimiser = Optimiser { space, seed, first: ROUND };
    let mut random = Random::new(seed);
    let mut tried: Vec<Trial> = vec![];
    for round in 0..ROUNDS {
        let points = optimiser.propose(&tried, ROUND);
        let limit = optimiser.stop_beyond(&tried);
        let known = tried.iter().filter(|attempt| attempt.outcome.cost().is_some());
        let leader = known.map(|trial| cost(&trial.point)).fold(f64::INFINITY, f64::min);
        for limit in limit.iter().flat_map(|limit| [limit; DRAWS]) {
            let errors = random.block(ROUND + 1, round, noise).into_iter().skip(1);
            let costs = errors.map(|error| leader + CV * (error - 100.0));
            counts.equal += ROUND;
            counts.wrong += costs.filter(|cost| cost > limit).count();
        }
        let errors = random.block(ROUND + 1, round, noise);
        let all = std::iter::once(present()).chain(points);
        for (at, (point, error)) in all.zip(errors).enumerate() {
            let truth = cost(&point);
            let measured = truth + CV * (error - 100.0);
            let bound = limit.filter(|limit| at > 0 && measured > *limit);
            let is_hopeless = at > 0 && round > 2 && truth > leader + 0.3;
            counts.hopeless += usize::from(is_hopeless);
            counts.stopped += usize::from(is_hopeless && bound.is_some());
            let outcome = bound.map_or(Outcome::Cost(measured), Outcome::AtLeast);
            tried.push(Trial { point, outcome });
        }
    }
    let ranked = optimiser.ranked(&tried);
    let stopped = |point: &Point| {
        tried.iter().any(|attempt| attempt.point == *point && attempt.outcome.cost().is_none())
    };
    assert!(ranked.iter().all(|entry| !stopped(&entry.point)), "a bound is not a value");
    counts.regret += cost(&ranked[0].point);
}

/// Of points that are as good as the best one so far at most one in twenty is stopped, whatever the
/// noise; of better ones fewer are.
#[test]
fn good_points_are_rarely_stopped() {
    for noise in ALL {
        let mut counts = Counts::default();
        (0..SEARCHES).for_each(|seed| search(noise, seed, &mut counts));
        let wrong = counts.wrong as f64 / counts.equal as f64;
        println!("{noise:?}: {wrong:.4} {counts:?}");
        assert!(wrong <= 0.05, "{noise:?}: {wrong} {counts:?}");
        if noise == Noise::Normal {
            assert!(counts.stopped as f64 >= 0.5 * counts.hopeless as f64, "{counts:?}");
            assert!(counts.regret < 0.1 * SEARCHES as f64, "{counts:?}");
        }
    }
}

/// A bound is a lower bound: the model expects a higher cost there, and higher than without it.
#[test]
fn a_stopped_trial_counts_as_its_bound_or_more() {
    let domains = domains(3);
    let space = Space { domains: &domains, rules: &Independent };
    let optimiser = Optimiser { space, seed: 7, first: ROUND };
    let mut tried: Vec<Trial> = optimiser
        .propose(&[], ROUND)
        .into_iter()
        .map(|point| Trial { outcome: Outcome::Cost(cost(&point)), point })
        .collect();
    assert_eq!(optimiser.stop_beyond(&tried), None, "the noise is not known without repeats");
    let point = vec![Some(0.95), Some(0.1), Some(0.9)];
    let before = optimiser.predict(&tried, std::slice::from_ref(&point))[0];
    for _ in 0..3 {
        tried.push(Trial { point: point.clone(), outcome: Outcome::AtLeast(2.5) });
    }
    let after = optimiser.predict(&tried, std::slice::from_ref(&point))[0];
    assert!(before < 1.5 && after > 2.0, "{before} {after}");
    assert!(optimiser.ranked(&tried).iter().all(|entry| entry.point != point));
    let failed = Trial { point: point.clone(), outcome: Outcome::Failed };
    assert!(!optimiser.propose(&[vec![failed], tried].concat(), 1).contains(&point));
}

/// The last trials improve the best point as long as the search is far from the optimum, and hardly
/// near it.
#[test]
fn improvements_end_near_the_optimum() {
    let domains = domains(3);
    let space = Space { domains: &domains, rules: &Independent };
    let (mut early, mut late) = (0.0, 0.0);
    for seed in 0..10 {
        let optimiser = Optimiser { space, seed, first: ROUND };
        let mut random = Random::new(seed);
        let mut tried: Vec<Trial> = Vec::new();
        assert!(optimiser.improvement(&tried, 0).is_infinite());
        for round in 0..9 {
            for point in optimiser.propose(&tried, ROUND) {
                let outcome = Outcome::Cost(cost(&point) + 0.02 * random.normal());
                tried.push(Trial { point, outcome });
            }
            if round == 3 {
                early += optimiser.improvement(&tried, ROUND) / 10.0;
            }
        }
        late += optimiser.improvement(&tried, 6 * ROUND) / 10.0;
    }
    println!("{early:.3} {late:.3}");
    assert!(early > 0.08 && (0.0..0.03).contains(&late), "{early} {late}");
}

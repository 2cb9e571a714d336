//! Simulated error rates of the tests of effects.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod adjusted;
mod noise;

use adjusted::adjusted;
use designs::mathematics::{Chain, Contrasts, Fraction, Lenth, Stratum, detectable};
use noise::{ALL, Noise, Random};
use statistics::t_quantile;

const SETS: usize = 2_000;

/// At most 5 % of experiments without effects show any, by Holm over all contrasts; and the
/// intervals hold the true effect, which is 0.
#[test]
fn repeated_effects() {
    let chains = Contrasts::new(&Fraction::minimum_aberration(16, 8).unwrap().design()).chains;
    let all: Vec<&Chain> = chains.iter().collect();
    let mut random = Random::new(1);
    for noise in ALL {
        for blocks in [2, 3, 5, 60] {
            let sets = if blocks > 5 { SETS / 10 } else { SETS };
            let (mut any, mut covered, mut tested) = (0, 0, 0);
            for _ in 0..sets {
                let values: Vec<Vec<f64>> =
                    (0..blocks).map(|block| random.block(16, block, noise)).collect();
                let stratum = Stratum::new(&all, &values, usize::MAX).unwrap();
                any += usize::from(adjusted(&stratum).iter().flatten().any(|p| *p < 0.05));
                tested += stratum.effects.len();
                covered +=
                    stratum.effects.iter().filter(|effect| effect.interval.contains(0.0)).count();
            }
            let (any, covered) = (any as f64 / sets as f64, covered as f64 / tested as f64);
            println!("{noise:?}, {blocks} blocks: any {any:.3}, coverage {covered:.3}");
            // Three standard errors of the simulation.
            let error = 3.0 * (0.05 * 0.95 / sets as f64).sqrt();
            assert!(any <= 0.05 + error, "{noise:?}, {blocks} blocks: {any}");
            assert!(covered >= 0.935, "{noise:?}, {blocks} blocks: {covered}");
        }
    }
}

/// Without repeats: the simulated margins err as often as they say.
#[test]
fn unreplicated_effects() {
    let mut random = Random::new(2);
    for effects in [3, 7, 11, 15, 31, 63] {
        let (mut alone, mut any) = (0, 0);
        let unit = Lenth::new(&vec![1.0; effects]).unwrap();
        let simulated = unit.simulated();
        for _ in 0..SETS {
            let effects_truth: Vec<f64> = (0..effects).map(|_| random.normal()).collect();
            let scale = Lenth::new(&effects_truth).unwrap().pse / unit.pse;
            let largest = effects_truth.iter().map(|effect| effect.abs()).fold(0.0, f64::max);
            alone += usize::from(effects_truth[0].abs() > simulated.margin * scale);
            any += usize::from(largest > simulated.simultaneous * scale);
        }
        let rate = |count: usize| count as f64 / SETS as f64;
        println!("{effects}: {:.3}, {:.3}", rate(alone), rate(any));
        let error = 4.0 * (0.05 * 0.95 / SETS as f64).sqrt();
        assert!((rate(alone) - 0.05).abs() < error && (rate(any) - 0.05).abs() < error);
    }
}

/// Sums of 16 trials are nearly normal whatever the noise of each: of unreplicated designs at most
/// 5 % show an effect that is not there.
#[test]
fn unreplicated_effects_of_noisy_trials() {
    let chains = Contrasts::new(&Fraction::minimum_aberration(16, 8).unwrap().design()).chains;
    let unit = Lenth::new(&vec![1.0; chains.len()]).unwrap();
    let limit = unit.simulated().simultaneous / unit.pse;
    let mut random = Random::new(3);
    for noise in ALL {
        let mut any = 0;
        for _ in 0..SETS {
            let values = random.block(16, 0, noise);
            let effects: Vec<f64> = chains.iter().map(|chain| chain.effect(&values)).collect();
            let lenth = Lenth::new(&effects).unwrap();
            any += usize::from(effects.iter().any(|effect| effect.abs() > limit * lenth.pse));
        }
        let rate = any as f64 / SETS as f64;
        println!("{noise:?}: {rate:.3}");
        assert!(rate <= 0.05 + 4.0 * (0.05 * 0.95 / SETS as f64).sqrt(), "{noise:?}: {rate}");
    }
}

/// The margin of the pooled error is that of the analysis of variance with blocks.
#[test]
fn pooled_error_is_that_of_two_way_analysis() {
    let chains = Contrasts::new(&Fraction::minimum_aberration(8, 4).unwrap().design()).chains;
    let mut random = Random::new(4);
    let values: Vec<Vec<f64>> = (0..3).map(|block| random.block(8, block, Noise::Drift)).collect();
    let stratum = Stratum::new(&chains.iter().collect::<Vec<_>>(), &values, 3).unwrap();
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let total = mean(&values.concat());
    let mut squares = 0.0;
    for run in 0..8 {
        let run_mean = mean(&values.iter().map(|block| block[run]).collect::<Vec<_>>());
        squares += values
            .iter()
            .map(|block| (block[run] - run_mean - mean(block) + total).powi(2))
            .sum::<f64>();
    }
    let expected = (4.0 / 24.0 * squares / 14.0_f64).sqrt();
    assert!((stratum.standard_error - expected).abs() < 1e-12);
    // Fewer than 7 x 2, as the runs do not vary alike.
    assert!((4.0..=14.0).contains(&stratum.df), "{}", stratum.df);
    let (effect, half) = (stratum.effects[0], t_quantile(0.025, stratum.df) * expected);
    assert!((effect.interval.high - effect.value - half).abs() < 1e-12);
}

/// The effect that `check` calls detectable is found in 80 % of experiments.
#[test]
fn detectable_effects_are_found() {
    let mut random = Random::new(5);
    for (runs, factors) in [(8, 7), (16, 8), (32, 6)] {
        let design = Fraction::minimum_aberration(runs, factors).unwrap().design();
        let chains = Contrasts::new(&design).chains;
        let all: Vec<&Chain> = chains.iter().collect();
        let unit = Lenth::new(&vec![1.0; chains.len()]).unwrap();
        let limit = unit.simulated().simultaneous / unit.pse;
        for blocks in [1, 2, 5] {
            let size = detectable(runs, chains.len(), blocks).unwrap();
            let mut found = 0;
            for _ in 0..SETS {
                let block = |block| {
                    let noise = random.block(runs, block, Noise::Normal).into_iter();
                    let signs = noise.zip(&chains[0].coefficients);
                    signs.map(|(value, sign)| value + size * f64::from(*sign) / 2.0).collect()
                };
                let values: Vec<Vec<f64>> = (0..blocks).map(block).collect();
                found += usize::from(if blocks == 1 {
                    let effects: Vec<f64> =
                        chains.iter().map(|chain| chain.effect(&values[0])).collect();
                    effects[0].abs() > limit * Lenth::new(&effects).unwrap().pse
                } else {
                    let stratum = Stratum::new(&all, &values, usize::MAX).unwrap();
                    adjusted(&stratum)[0].unwrap() < 0.05
                });
            }
            let power = found as f64 / SETS as f64;
            println!("{runs} runs, {blocks} blocks: {size:.2} found in {power:.3}");
            assert!((0.74..=0.86).contains(&power), "{runs} runs, {blocks} blocks: {power}");
        }
    }
}

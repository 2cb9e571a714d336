//! Fold-overs, centre points and confirmations against published figures and by simulation.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod adjusted;
mod noise;

use adjusted::adjusted;
use designs::mathematics::{
    CentredBlocks, Chain, Confirmation, Contrasts, Curvature, Design, Fit, Fraction, Lenth,
    PredictedDifference, Stratum, Verdict, plackett_burman,
};
use noise::{ALL, Noise, Random};

const SETS: usize = 1_000;

/// Eye focus time in milliseconds: a 2^(7-4) design with D = AB, E = AC, F = BC, G = ABC, and its
/// full fold-over. D. C. Montgomery, Design and Analysis of Experiments, section 8.5.
const EYE_FOCUS: [f64; 16] = [
    85.5, 75.1, 93.2, 145.4, 83.7, 77.6, 95.0, 141.8, 91.3, 136.7, 82.4, 73.4, 94.1, 143.8, 87.3,
    71.9,
];

fn eye_focus() -> Design {
    let run = |number: usize| {
        let level = |bit: usize| if number >> bit & 1 == 1 { 1_i8 } else { -1 };
        let [a, b, c] = [level(0), level(1), level(2)];
        vec![a, b, c, a * b, a * c, b * c, a * b * c]
    };
    Design::new((0..8).map(run).collect()).folded(None)
}

fn effect(chains: &[Chain], factors: &[usize], values: &[f64]) -> f64 {
    let has = |chain: &&Chain| chain.terms.iter().any(|term| term.factors == factors);
    chains.iter().find(has).unwrap().effect(values)
}

#[test]
fn a_folded_design_has_the_published_effects() {
    let design = eye_focus();
    assert_eq!(design.separation(), 4);
    let chains = Contrasts::new(&design).chains;
    // 16 runs less the mean and the difference of the halves.
    assert_eq!(chains.len(), 14);
    let mains = [1.48, 38.05, -1.80, 29.38, 0.13, 0.50, 0.13];
    for (factor, published) in mains.into_iter().enumerate() {
        let found = effect(&chains, &[factor], &EYE_FOCUS);
        assert!((found - published).abs() < 0.0051, "{factor}: {found}");
    }
    // BD + CE + FG, AD + CF + EG, AE + BF + DG, AB + CG + EF.
    for (pair, published) in [([1, 3], 19.15), ([0, 3], 0.33), ([0, 4], 1.53), ([0, 1], -0.50)] {
        let found = effect(&chains, &pair, &EYE_FOCUS);
        assert!((found - published).abs() < 0.0051, "{pair:?}: {found}");
        let has = |chain: &&Chain| chain.terms.iter().any(|term| term.factors == pair);
        assert_eq!(chains.iter().find(has).unwrap().terms.len(), 3);
    }
}

/// Least squares with a column for the halves gives the same effects and the same error.
#[test]
fn folded_contrasts_are_least_squares_with_a_shift_between_halves() {
    let base = Fraction::minimum_aberration(8, 5).unwrap().design();
    let all = plackett_burman(12).unwrap();
    let six = Design::new(all.runs().iter().map(|run| run[..6].to_vec()).collect());
    let designs = [base.folded(None), base.folded(Some(0)), six.folded(None), six.folded(Some(2))];
    let mut random = Random::new(11);
    for (number, design) in designs.iter().enumerate() {
        let contrasts = Contrasts::with_unassigned(design);
        let chains: Vec<&Chain> = contrasts.chains.iter().collect();
        let runs = design.runs().len();
        assert_eq!(chains.len(), runs - 2, "{number}");
        for (at, chain) in chains.iter().enumerate() {
            for other in &chains[at + 1..] {
                let products = chain.coefficients.iter().zip(&other.coefficients);
                assert_eq!(products.map(|(a, b)| i32::from(a * b)).sum::<i32>(), 0);
            }
        }
        let values: Vec<Vec<f64>> = (0..3).map(|at| random.block(runs, at, Noise::Drift)).collect();
        let stratum = Stratum::new(&chains, &values, usize::MAX).unwrap();
        let columns = |block: usize, half: usize| -> Vec<f64> {
            let half_of_run =
                design.blocks().iter().map(|block| f64::from(u8::from(*block == half)));
            let all = (0..3).map(|other| f64::from(u8::from(other == block)));
            let half_indicator: Vec<f64> = half_of_run.collect();
            all.flat_map(|on| half_indicator.iter().map(move |half_sign| on * half_sign)).collect()
        };
        let mut all: Vec<Vec<f64>> =
            (0..3).flat_map(|block| [columns(block, 0), columns(block, 1)]).collect();
        all.extend(chains.iter().map(|chain| {
            let once = chain.coefficients.iter().map(|sign| f64::from(*sign));
            let once: Vec<f64> = once.collect();
            [once.clone(), once.clone(), once].concat()
        }));
        let fit = Fit::new(&all, &values.concat()).unwrap();
        for (at, effect) in stratum.effects.iter().enumerate() {
            assert!((effect.value - 2.0 * fit.coefficients[6 + at]).abs() < 1e-9, "{number}");
        }
        let error = 2.0 * (fit.variance().unwrap() / (3 * runs) as f64).sqrt();
        assert!((stratum.standard_error - error).abs() < 1e-9, "{number}");
    }
}

/// By hand: squares of 1 within the centre (2 degrees of freedom) and of 1 between runs and blocks
/// (1); Welch's interval is the wider one, and scipy.stats.t.ppf(0.975, 2) its quantile.
#[test]
fn curvature_of_two_blocks() {
    let runs = vec![vec![39.0, 41.0], vec![40.0, 40.0]];
    let centre = vec![vec![42.0, 43.0], vec![44.0, 43.0]];
    let found = Curvature::new(&[CentredBlocks { runs, centre }]).unwrap();
    assert!((found.value - 3.0).abs() < 1e-12 && (found.df - 2.0).abs() < 1e-12);
    let half = 4.302_652_730 * 0.375_f64.sqrt();
    assert!((found.interval.high - 3.0 - half).abs() < 1e-8, "{found:?}");
}

#[test]
fn curvature_needs_repeats_of_the_centre() {
    let part = |centre: Vec<Vec<f64>>| CentredBlocks {
        runs: vec![vec![1.0, 2.0, 3.0, 4.0]; centre.len()],
        centre,
    };
    assert_eq!(Curvature::new(&[part(vec![vec![2.0]])]), None);
    assert_eq!(Curvature::new(&[part(vec![Vec::new(); 3])]), None);
    assert_eq!(Curvature::new(&[part(vec![vec![2.0, 2.1, 2.2]])]), None);
    let exact = Curvature::new(&[part(vec![vec![2.5]; 3])]).unwrap();
    assert!((exact.p_value - 1.0).abs() < 1e-12);
}

/// At most 5 % of experiments without curvature show any, whatever the noise.
#[test]
fn error_rate_of_the_test_of_curvature() {
    let mut random = Random::new(12);
    for noise in ALL {
        for (blocks, centre) in [(2, 1), (2, 2), (3, 3), (5, 2), (60, 2)] {
            let sets = if blocks > 5 { SETS / 5 } else { SETS };
            let (mut wrong, mut tested) = (0, 0);
            for _ in 0..sets {
                let all: Vec<Vec<f64>> =
                    (0..blocks).map(|block| random.block(16 + centre, block, noise)).collect();
                let split = |at: fn(&[f64]) -> &[f64]| {
                    all.iter().map(|values| at(values).to_vec()).collect()
                };
                let part = CentredBlocks {
                    runs: split(|values| &values[..16]),
                    centre: split(|values| &values[16..]),
                };
                let Some(found) = Curvature::new(&[part]) else { continue };
                tested += 1;
                wrong += usize::from(!found.interval.contains(0.0));
                assert_eq!(found.interval.contains(0.0), found.p_value >= 0.05);
            }
            let rate = f64::from(u32::try_from(wrong).unwrap()) / f64::from(tested);
            println!("{noise:?}, {blocks} blocks, {centre} centre: {rate:.3}");
            let error = 3.0 * (0.05 * 0.95 / f64::from(tested)).sqrt();
            assert!(rate <= 0.05 + error, "{noise:?}, {blocks}, {centre}: {rate}");
        }
    }
}

/// Both halves of a folded design are analysed with one error, and a shift between them is taken
/// out: at most 5 % of experiments without effects show any.
#[test]
fn error_rate_of_folded_designs() {
    let design = Fraction::minimum_aberration(8, 7).unwrap().design().folded(None);
    let contrasts = Contrasts::new(&design);
    let chains: Vec<&Chain> = contrasts.chains.iter().collect();
    let limit = Lenth::new(&vec![1.0; chains.len()]).unwrap();
    let limit = limit.simulated().simultaneous / limit.pse;
    let mut random = Random::new(13);
    for noise in ALL {
        for blocks in [1, 2, 5, 60] {
            let sets = if blocks > 5 { SETS / 5 } else { SETS };
            let mut any = 0;
            let (mut covered, mut tested) = (0, 0);
            for _ in 0..sets {
                // The second half runs after all blocks of the first, on another level.
                let mut half = |half: usize| -> Vec<Vec<f64>> {
                    let shift = 7.0 * half as f64;
                    let blocks = (0..blocks).map(|at| random.block(8, half * blocks + at, noise));
                    blocks.map(|block| block.iter().map(|value| value + shift).collect()).collect()
                };
                let (first, second) = (half(0), half(1));
                let values: Vec<Vec<f64>> = first
                    .into_iter()
                    .zip(second)
                    .map(|(value, fold)| [value, fold].concat())
                    .collect();
                if blocks == 1 {
                    let effects: Vec<f64> =
                        chains.iter().map(|chain| chain.effect(&values[0])).collect();
                    let pse = Lenth::new(&effects).unwrap().pse;
                    any += usize::from(effects.iter().any(|effect| effect.abs() > limit * pse));
                    continue;
                }
                let stratum = Stratum::new(&chains, &values, usize::MAX).unwrap();
                any += usize::from(adjusted(&stratum).iter().flatten().any(|p| *p < 0.05));
                tested += stratum.effects.len();
                covered +=
                    stratum.effects.iter().filter(|effect| effect.interval.contains(0.0)).count();
            }
            let rate = any as f64 / sets as f64;
            let coverage = covered as f64 / tested.max(1) as f64;
            println!("{noise:?}, {blocks} blocks: any {rate:.3}, coverage {coverage:.3}");
            assert!(rate <= 0.05 + 4.0 * (0.05 * 0.95 / sets as f64).sqrt(), "{noise:?} {blocks}");
            assert!(tested == 0 || coverage >= 0.935, "{noise:?}, {blocks} blocks: {coverage}");
        }
    }
}

/// A screening with three effects is tested, the significant ones predict the best run against the
/// worst, and fresh blocks confirm it. The expected interval holds the measured difference in 95 %.
#[test]
fn expected_intervals_of_confirmations() {
    let design = Fraction::minimum_aberration(16, 8).unwrap().design();
    let contrasts = Contrasts::new(&design);
    let chains: Vec<&Chain> = contrasts.chains.iter().collect();
    let mut random = Random::new(14);
    for noise in ALL {
        for blocks in [2, 5, 60] {
            // In units of noise and of its error: from hardly found to plain.
            let size = 6.0 / f64::sqrt(blocks as f64);
            let sets = if blocks > 5 { SETS / 10 } else { SETS };
            let (mut agrees, mut judged) = (0, 0_usize);
            for _ in 0..sets {
                let screened: Vec<Vec<f64>> = (0..blocks)
                    .map(|at| {
                        let noise = random.block(16, at, noise);
                        let effect = |run: usize| -> f64 {
                            let planted = chains[..3].iter().zip([1.0, -0.7, 0.4]);
                            planted
                                .map(|(chain, share)| {
                                    share * size * f64::from(chain.coefficients[run]) / 2.0
                                })
                                .sum()
                        };
                        noise.iter().enumerate().map(|(run, noise)| noise + effect(run)).collect()
                    })
                    .collect();
                let stratum = Stratum::new(&chains, &screened, usize::MAX).unwrap();
                let adjusted = adjusted(&stratum);
                let active: Vec<usize> = (0..chains.len())
                    .filter(|at| adjusted[*at].is_some_and(|p| p < 0.05))
                    .collect();
                if active.is_empty() {
                    continue;
                }
                // Best against worst: each active effect has its full size.
                let value = active.iter().map(|at| stratum.effects[*at].value.abs()).sum();
                let predicted = PredictedDifference {
                    value,
                    standard_error: stratum.standard_error * (active.len() as f64).sqrt(),
                    df: stratum.df,
                    selected: active.len() as f64 / chains.len() as f64,
                };
                let truth: f64 = active
                    .iter()
                    .map(|at| {
                        let share = [1.0, -0.7, 0.4].get(*at).copied().unwrap_or(0.0);
                        share * size * stratum.effects[*at].value.signum()
                    })
                    .sum();
                let fresh: Vec<f64> = (0..5)
                    .map(|at| {
                        let block = random.block(3, blocks + at, noise);
                        truth + block[0] - block[1]
                    })
                    .collect();
                let found = Confirmation::new(&predicted, &fresh, 1).unwrap();
                judged += 1;
                agrees += usize::from(found.expected.contains(found.measured));
            }
            let rate = agrees as f64 / judged.max(1) as f64;
            println!("{noise:?}, {blocks} blocks: {rate:.3} of {judged}");
            let error = 3.0 * (0.05 * 0.95 / judged.max(1) as f64).sqrt();
            assert!(judged == 0 || rate >= 0.95 - error, "{noise:?}, {blocks} blocks: {rate}");
        }
    }
}

#[test]
fn a_prediction_without_a_difference_is_seldom_confirmed() {
    let mut random = Random::new(15);
    let predicted =
        PredictedDifference { value: 3.0, standard_error: 0.7, df: 15.0, selected: 0.2 };
    for noise in ALL {
        let mut confirmed = 0;
        for _ in 0..SETS {
            let difference = |at: usize, random: &mut Random| {
                let block = random.block(2, at, noise);
                block[0] - block[1]
            };
            let fresh: Vec<f64> = (0..5).map(|at| difference(at, &mut random)).collect();
            let found = Confirmation::new(&predicted, &fresh, 2).unwrap();
            confirmed += usize::from(found.verdict == Verdict::Confirmed);
        }
        let rate = confirmed as f64 / SETS as f64;
        println!("{noise:?}: {rate:.3}");
        assert!(rate <= 0.025, "{noise:?}: {rate}");
    }
}

#[test]
fn verdicts_of_confirmations() {
    let predicted =
        PredictedDifference { value: 10.0, standard_error: 0.5, df: 20.0, selected: 0.25 };
    let verdict = |differences: &[f64]| {
        Confirmation::new(&predicted, differences, 1).map(|confirmation| confirmation.verdict)
    };
    assert_eq!(verdict(&[9.5, 10.5, 10.0]), Some(Verdict::Confirmed));
    assert_eq!(verdict(&[4.9, 5.1, 5.0]), Some(Verdict::OtherSize));
    assert_eq!(verdict(&[-20.0, 35.0, 10.0]), Some(Verdict::Undecided));
    assert_eq!(verdict(&[-1.0, 1.0, 0.5]), Some(Verdict::NotConfirmed));
    assert_eq!(verdict(&[-5.1, -4.9, -5.0]), Some(Verdict::Reversed));
    assert_eq!(verdict(&[10.0]), None);
}

use super::regimes;
use crate::series::{autoregressive, normal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

type Random = Xoshiro256PlusPlus;
/// Draws one repeat, or changes a whole series.
type Noise = fn(usize, &mut Random) -> Vec<f64>;

const LENGTHS: [usize; 5] = [5, 7, 10, 20, 60];
const SERIES: usize = 400;

fn uniform(random: &mut Random) -> f64 {
    (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0
}

fn each(length: usize, mut draw: impl FnMut() -> f64) -> Vec<f64> {
    (0..length).map(|_| draw()).collect()
}

/// The share of series in which groups are found at 5 %.
fn found(length: usize, noise: Noise) -> f64 {
    let mut random = Random::seed_from_u64(0x5eed + length as u64);
    let found = (0..SERIES).filter(|_| {
        regimes(&noise(length, &mut random)).is_some_and(|regime| regime.p_value < 0.05)
    });
    found.count() as f64 / SERIES as f64
}

/// Twice the standard error of 5 % in 400 series is 2.2 %.
#[test]
fn noise_has_groups_in_one_of_twenty_series_at_most() {
    let noises: [(&str, Noise); 8] = [
        ("normal, CV 3 %", |n, random| each(n, || 1.0 + 0.03 * normal(random))),
        ("normal, CV 20 %", |n, random| each(n, || (1.0 + 0.2 * normal(random)).max(0.05))),
        ("lognormal, 30 %", |n, random| each(n, || (0.3 * normal(random)).exp())),
        ("t, 3 degrees of freedom", |n, random| {
            each(n, || {
                let chi2: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                (0.03 * normal(random) / (chi2 / 3.0).sqrt()).exp()
            })
        }),
        ("drift", |n, random| {
            (0..n).map(|i| 1.0 + 0.2 * i as f64 / n as f64 + 0.03 * normal(random)).collect()
        }),
        ("autocorrelation 0.3", |n, random| of_process(n, 0.3, random)),
        ("autocorrelation 0.6", |n, random| of_process(n, 0.6, random)),
        ("autocorrelation 0.9", |n, random| of_process(n, 0.9, random)),
    ];
    for (name, noise) in noises {
        for length in LENGTHS {
            let share = found(length, noise);
            assert!(share <= 0.072, "{name}, {length} values: {share}");
        }
    }
}

fn of_process(n: usize, autocorrelation: f64, random: &mut Random) -> Vec<f64> {
    autoregressive(n, autocorrelation, random)
        .iter()
        .map(|autoregressive| (0.05 * autoregressive).exp())
        .collect()
}

/// The figures of docs/statistics.md. What is not normal and has no groups may pass for
/// such: the page says how often.
#[test]
fn finds_regimes_as_often_as_the_page_says() {
    let kinds: [(&str, Noise, [f64; 5]); 6] = [
        (
            "30 % slower 1.3 times",
            |n, random| mixture(n, 0.3, 1.3, random),
            [0.33, 0.63, 0.80, 0.99, 1.0],
        ),
        (
            "50 % slower 1.3 times",
            |n, random| mixture(n, 0.5, 1.3, random),
            [0.52, 0.80, 0.97, 0.99, 1.0],
        ),
        (
            "30 % slower 1.15 times",
            |n, random| mixture(n, 0.3, 1.15, random),
            [0.14, 0.22, 0.33, 0.50, 0.82],
        ),
        (
            "spikes",
            |n, random| {
                each(n, || {
                    let spike = if uniform(random) < 0.05 { uniform(random) } else { 0.0 };
                    1.0 + spike + 0.03 * normal(random)
                })
            },
            [0.05, 0.05, 0.08, 0.18, 0.04],
        ),
        (
            "uniform",
            |n, random| each(n, || 1.0 + 0.1 * uniform(random)),
            [0.09, 0.10, 0.12, 0.09, 0.13],
        ),
        (
            "exponential",
            |n, random| each(n, || 1.0 - 0.05 * uniform(random).ln()),
            [0.07, 0.07, 0.14, 0.19, 0.22],
        ),
    ];
    let mut differ = Vec::new();
    for (name, noise, expected) in kinds {
        for (length, expected) in LENGTHS.into_iter().zip(expected) {
            let share = found(length, noise);
            if (share - expected).abs() > 0.03 {
                differ.push(format!("{name}, {length} values: {share}, not {expected}"));
            }
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

fn mixture(n: usize, share: f64, ratio: f64, random: &mut Random) -> Vec<f64> {
    each(n, || {
        let factor = if uniform(random) < share { ratio } else { 1.0 };
        factor * (1.0 + 0.03 * normal(random))
    })
}

#[test]
fn groups_are_divided_in_their_gaps() {
    let two = regimes(&[10.1, 14.9, 10.0, 15.1, 9.9, 10.2, 15.0, 10.05, 9.95, 14.95]).unwrap();
    assert!(two.p_value < 0.01 && two.cuts.len() == 1, "{two:?}");
    assert_eq!([9.9, 10.2, 14.9].map(|value| two.group(value)), [0, 0, 1]);
    let three = [10.1, 15.0, 21.0, 9.9, 14.9, 21.1, 10.0, 15.1, 20.9, 10.0];
    let three = regimes(&three).unwrap();
    assert!(three.p_value < 0.01 && three.cuts.len() == 2, "{three:?}");
    assert_eq!([10.1, 14.9, 20.9].map(|value| three.group(value)), [0, 1, 2]);
}

#[test]
fn too_few_or_equal_values_have_no_groups() {
    assert_eq!(regimes(&[1.0, 1.0, 2.0, 2.0]), None);
    assert_eq!(regimes(&[3.0; 12]), None);
    assert_eq!(regimes(&[0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.3]), None);
    assert_eq!(regimes(&[f64::NAN; 6]), None);
    // One value alone is an outlier.
    assert!(regimes(&[1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 5.0]).unwrap().p_value > 0.05);
    assert!(regimes(&(0..1_000).map(f64::from).collect::<Vec<_>>()).unwrap().p_value > 0.05);
}

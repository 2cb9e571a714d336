//! Identical configurations (A/A): how often are they called different, and how often does an
//! interval hold the true value?

use analysis::{FindingKind, Standing, summarize};
use observations::Recording;
use testing::recordings::{Random, done, observed, recording};

const RECORDINGS: usize = 1_000;
const BLOCKS: u32 = 5;
const LEVELS: [&str; 4] = ["1", "2", "4", "8"];
/// Spread of a trial and of a block, as a share of the mean.
const NOISE: f64 = 0.03;
const DRIFT: f64 = 0.05;
/// Mean elapsed seconds.
const MEAN_S: f64 = 12.0;

/// Four identical configurations in five blocks on a machine that drifts.
fn identical(random: &mut Random) -> Recording {
    let mut recording = recording(&[("target.data_files", &LEVELS)]);
    for block in 1..=BLOCKS {
        let machine = DRIFT * random.normal();
        for configuration in 0..LEVELS.len() {
            let elapsed_s = MEAN_S * (machine + NOISE * random.normal()).exp();
            recording.trials.push(done(configuration, block, observed(elapsed_s)));
        }
    }
    recording
}

/// The most events that 5 % of `n` may bring by chance: four standard deviations above.
fn five_percent(n: usize) -> f64 {
    0.05 * n as f64 + 4.0 * (n as f64 * 0.05 * 0.95).sqrt()
}

#[test]
fn identical_configurations_are_rarely_called_different() {
    let mut random = Random::new(1);
    let (mut comparisons, mut raw, mut corrected, mut worse) = (0, 0, 0, 0);
    let (mut claims, mut drifts) = (0, 0);
    for _ in 0..RECORDINGS {
        let recording = identical(&mut random);
        let summary = summarize(&recording);
        for factor in summary.configurations.iter().filter_map(|row| row.factor.as_ref()) {
            comparisons += 1;
            raw += usize::from(factor.p_value.unwrap() < 0.05);
            corrected += usize::from(factor.supported());
            assert_eq!(factor.supported(), !factor.interval.unwrap().contains(1.0));
        }
        worse +=
            summary.configurations.iter().filter(|row| row.standing == Standing::Worse).count();
        claims += usize::from(summary.headline().unwrap().kind != FindingKind::NoDifference);
        drifts += usize::from(summary.drift().is_some_and(|drift| drift.supported));
    }
    println!(
        "of {comparisons}: raw {raw}, corrected {corrected}, worse than the best {worse}; of \
         {RECORDINGS}: verdicts {claims}, drift found {drifts}"
    );
    assert_eq!(comparisons, RECORDINGS * (LEVELS.len() - 1));
    // Comparisons of one recording share their baseline: their spread is up to that of a third as
    // many.
    assert!((raw as f64) < 3.0 * five_percent(comparisons / 3));
    assert!((corrected as f64) < 0.05 * comparisons as f64);
    assert!((worse as f64) < 0.05 * comparisons as f64);
    assert!((claims as f64) < five_percent(RECORDINGS), "{claims} verdicts");
    // The machine does drift, and that is found more often than not.
    assert!(drifts > RECORDINGS / 2);
}

#[test]
fn intervals_hold_the_true_value_95_times_of_100_or_more() {
    let mut random = Random::new(2);
    let (mut factors, mut factor_holds, mut means, mut mean_holds) = (0, 0, 0, 0);
    let true_mean = MEAN_S * f64::midpoint(NOISE * NOISE, DRIFT * DRIFT).exp();
    for _ in 0..RECORDINGS {
        let recording = identical(&mut random);
        let summary = summarize(&recording);
        for row in &summary.configurations {
            means += 1;
            mean_holds +=
                usize::from(row.elapsed.as_ref().unwrap().interval.unwrap().contains(true_mean));
            if let Some(factor) = &row.factor {
                factors += 1;
                factor_holds += usize::from(factor.interval.unwrap().contains(1.0));
            }
        }
    }
    // Intervals of ratios hold for all of them at once.
    for (holds, n, most) in [(factor_holds, factors, 1.0), (mean_holds, means, 0.97)] {
        let coverage = f64::from(holds as u32) / f64::from(n);
        println!("{coverage}");
        assert!((0.93..=most).contains(&coverage), "{coverage}");
    }
}

//! Percentiles of trials with few transactions: coverage of their intervals, and how often equal
//! distributions are said to differ.
//!
//! Each line of the printed tables is a distribution, each column a number of blocks.

use analysis::{ConfigurationRow, summarize};
use observations::{Histogram, Observations, Percentile, Recording, Response};
use testing::recordings::{Random, done, observed, recording};

const EXPERIMENTS: usize = 120;
const BLOCKS: [usize; 5] = [2, 5, 10, 20, 60];
/// Spread (sd of the logarithm) of whole trials.
const SPREAD: f64 = 0.03;
const PERCENT: f64 = 99.0;
const SHARE: f64 = PERCENT / 100.0;

/// Distribution of the latencies of a trial.
#[derive(Debug, Clone, Copy)]
enum Latencies {
    Exponential,
    Lognormal,
    /// Pareto's, of shape 3.
    HeavyTail,
    /// One in 20 is ten times slower.
    TwoModes,
}

const DISTRIBUTIONS: [Latencies; 4] =
    [Latencies::Exponential, Latencies::Lognormal, Latencies::HeavyTail, Latencies::TwoModes];

impl Latencies {
    /// The latency in ms that this share exceeds.
    fn exceeded_by(self, share: f64) -> f64 {
        match self {
            Self::Exponential => -share.ln(),
            Self::Lognormal => normal_quantile(share).exp(),
            Self::HeavyTail => share.powf(-1.0 / 3.0),
            Self::TwoModes if share <= 0.05 => 10.0 * (0.3 * normal_quantile(share / 0.05)).exp(),
            Self::TwoModes => (0.3 * normal_quantile((share - 0.05) / 0.95)).exp(),
        }
    }

    /// The percentile of a trial of `n` transactions at the rank `n q + shift`, between the values
    /// of whole ranks: two neighbours among uniform order statistics.
    fn percentile(self, random: &mut Random, n: u64, shift: f64) -> f64 {
        let rank = (n as f64 * SHARE + shift).min(n as f64);
        let (below, slower) = (rank.floor(), n as f64 - rank.floor());
        let [fast, slow] = [gamma(random, below), gamma(random, slower + 1.0)];
        let share = slow / (slow + fast);
        let next = if slower > 0.0 { share * random.uniform().powf(1.0 / slower) } else { share };
        let [low, high] = [share, next].map(|share| self.exceeded_by(share));
        low + (high - low) * rank.fract()
    }
}

/// Of the standard normal distribution, by Newton's method on the logistic approximation.
fn normal_quantile(exceeded_by: f64) -> f64 {
    let cdf = |z: f64| 0.5 * erfc(z / std::f64::consts::SQRT_2);
    let mut z = (1.0 / exceeded_by - 1.0).ln() / 1.702;
    for _ in 0..12 {
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        z += ((cdf(z) - exceeded_by) / density).clamp(-1.0, 1.0);
    }
    z
}

/// W. J. Cody's rational approximation in the form of Numerical Recipes, 1.2e-7.
fn erfc(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let terms = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let sum = terms.iter().fold(0.0, |sum, term| sum * t + term);
    let value = t * (-x * x + sum).exp();
    if x >= 0.0 { value } else { 2.0 - value }
}

/// G. Marsaglia and W. W. Tsang, ACM Transactions on Mathematical Software 26 (2000).
fn gamma(random: &mut Random, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    loop {
        let x = random.normal();
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && random.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

fn trial(value: f64, values: u64) -> Observations {
    let percentile = Some(Percentile { percent: PERCENT, values });
    let response = Response { percentile, ..Response::lower("latency_p99", "ms", value) };
    Observations { responses: vec![response], ..observed(10.0) }
}

/// Two levels with the same distribution and these numbers of transactions in each trial.
fn experiment(
    random: &mut Random,
    latencies: Latencies,
    transactions: [u64; 2],
    blocks: usize,
    shift: f64,
) -> Recording {
    let mut recording = recording(&[("target.data_files", &["1", "2"])]);
    recording.run.response = Some("latency_p99".to_owned());
    for block in 1..=blocks {
        for (configuration, n) in transactions.into_iter().enumerate() {
            let value = latencies.percentile(random, n, shift) * (SPREAD * random.normal()).exp();
            recording.trials.push(done(configuration, block as u32, trial(value, n)));
        }
    }
    recording
}

/// Shares of the experiments in which equal levels differ, and of intervals that contain the truth.
fn rates(
    random: &mut Random,
    latencies: Latencies,
    transactions: [u64; 2],
    blocks: usize,
    shift: f64,
) -> [f64; 2] {
    let truth = latencies.exceeded_by(1.0 - SHARE) * (SPREAD * SPREAD / 2.0).exp();
    let (mut claims, mut covered) = (0, 0);
    for _ in 0..EXPERIMENTS {
        let recording = experiment(random, latencies, transactions, blocks, shift);
        let rows = summarize(&recording).configurations;
        claims += usize::from(rows[1].factor.as_ref().unwrap().supported());
        let holds = |row: &ConfigurationRow| {
            row.response.as_ref().unwrap().interval.unwrap().contains(truth)
        };
        covered += rows.iter().filter(|row| holds(row)).count();
    }
    [claims as f64 / EXPERIMENTS as f64, covered as f64 / (2 * EXPERIMENTS) as f64]
}

/// Counts of transactions: equal and unequal, from the fewest that are compared.
const COUNTS: [[u64; 2]; 5] =
    [[1_000, 1_000], [1_000, 3_000], [1_000, 100_000], [10_000, 10_000], [100_000, 10_000]];

#[test]
#[ignore = "lane all: many draws"]
fn available_percentiles_cover_and_do_not_differ_by_their_counts() {
    let mut random = Random::new(61);
    for counts in COUNTS {
        println!("{counts:?} transactions, {EXPERIMENTS} experiments; blocks: {BLOCKS:?}");
        let [mut claims, mut coverage] = [[0.0; BLOCKS.len()]; 2];
        for latencies in DISTRIBUTIONS {
            let found = BLOCKS.map(|blocks| rates(&mut random, latencies, counts, blocks, 0.5));
            let shown = found.map(|[claims, coverage]| {
                format!("{:.1} / {:.1} %", 100.0 * claims, 100.0 * coverage)
            });
            println!("  {latencies:?}: {}", shown.join("  "));
            for (at, [claimed, covered]) in found.into_iter().enumerate() {
                claims[at] += claimed / DISTRIBUTIONS.len() as f64;
                coverage[at] += covered / DISTRIBUTIONS.len() as f64;
            }
        }
        let shown =
            [claims, coverage].map(|claim| claim.map(|claim| format!("{:.1} %", 100.0 * claim)));
        println!("  all: differ {}; cover {}", shown[0].join("  "), shown[1].join("  "));
        // Three standard errors over the distributions.
        let margin = 3.0 * (0.05 * 0.95 / (DISTRIBUTIONS.len() * EXPERIMENTS) as f64).sqrt();
        assert!(claims.iter().all(|claim| *claim <= 0.05 + margin), "{counts:?}: {claims:?}");
        assert!(
            coverage.iter().all(|coverage| *coverage >= 0.95 - margin),
            "{counts:?}: {coverage:?}"
        );
    }
}

/// Why ranks are shifted: at the rank `n q`, 1,000 and 100,000 transactions differ.
#[test]
fn without_the_shift_counts_would_differ() {
    let mut random = Random::new(62);
    let [with, without] = [0.5, 0.0]
        .map(|shift| rates(&mut random, Latencies::Exponential, [1_000, 100_000], 60, shift)[0]);
    println!("differ with the shift {with:.3}, without {without:.3}");
    assert!(without > 0.12 && with < 0.12, "{with} {without}");
}

#[test]
fn percentiles_of_few_transactions_have_no_interval_and_no_comparison() {
    let mut random = Random::new(63);
    for counts in [[100, 100], [300, 300], [999, 999], [300, 100_000]] {
        for latencies in DISTRIBUTIONS {
            let mut recording = experiment(&mut random, latencies, counts, 10, 0.5);
            let summary = summarize(&recording);
            let [first, second] = [0, 1].map(|at: usize| &summary.configurations[at]);
            assert!(first.response.is_none() && second.factor.is_none(), "{counts:?}");
            // One trial with few is enough, whatever the others have.
            recording.trials[7].observations.as_mut().unwrap().responses[0].percentile =
                Some(Percentile { percent: PERCENT, values: 50 });
            assert!(summarize(&recording).configurations[1].factor.is_none());
        }
    }
}

/// The recorded percentile of real histograms has no bias at ten slower values, and the value at
/// the rank `n q` has.
#[test]
fn recorded_percentiles_are_without_bias() {
    const TRIALS: usize = 400;
    let mut random = Random::new(64);
    let (mut shifted, mut at_rank) = (Vec::new(), Vec::new());
    for _ in 0..TRIALS {
        let mut latencies = Histogram::default();
        (0..1_000).for_each(|_| latencies.record((-1e6 * random.uniform().ln()) as u64));
        shifted.push(Response::percentile("latency_p99", "ms", 1e6, &latencies, 99.0).value);
        at_rank.push(latencies.percentile_ns(99.0) as f64 / 1e6);
    }
    let errors = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / TRIALS as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (TRIALS - 1) as f64 / TRIALS as f64).sqrt();
        (mean - 100_f64.ln()) / error
    };
    let [shifted, at_rank] = [errors(&shifted), errors(&at_rank)];
    println!("off by {shifted:.2} standard errors, at the rank by {at_rank:.2}");
    assert!(shifted.abs() < 3.0 && at_rank < -1.5, "{shifted} {at_rank}");
}

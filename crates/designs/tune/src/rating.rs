//! The confirmation of candidates against a baseline in blocks of their own: by how much the best
//! one is better, whichever of them that turns out to be.
//!
//! The winner is chosen by the blocks that also measure its gain, which flatters it. So intervals
//! are adjusted: for the candidate that is chosen, or for all at once where all are reported.

use crate::optimiser::Lead;
use observations::Interval;
use statistics::{mean, t_quantile};

/// Rules of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// True of times and costs.
    pub is_lower_better: bool,
    /// A candidate whose values differ by more than this share of their mean is unstable, unless
    /// those of the baseline do too and its ratios to them, block by block, do not: then all vary
    /// with the machine.
    pub range_max: f64,
    /// Share that a gain has to reach.
    pub worth: f64,
    /// The candidates for which intervals hold.
    pub coverage: Coverage,
}

/// The candidates whose intervals hold the truth in 95 % of confirmations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// The one with the largest gain.
    Chosen,
    /// All at once (Bonferroni).
    All,
}

impl Coverage {
    /// The probability beyond each end of an interval, of this number of candidates. The largest
    /// of `k` equal gains lies above the interval unless all lie below its end, and below it only
    /// if all do: `(1 - p)^k - p^k` is 0.95. Two candidates need no adjustment; gains that share a
    /// baseline, or differ, are chosen wrongly less often.
    fn tail(self, number: usize) -> f64 {
        let number = number.max(1) as i32;
        match self {
            Self::All => 0.025 / f64::from(number),
            Self::Chosen => {
                let (mut low, mut high) = (0.0_f64, 0.025_f64);
                for _ in 0..60 {
                    let p = 0.5 * (low + high);
                    let holds = (1.0 - p).powi(number) - p.powi(number);
                    if holds >= 0.95 { low = p } else { high = p }
                }
                low
            }
        }
    }
}

/// Fewest blocks of a confirmation that is planned: the interval of two is 13 standard errors wide
/// to each side.
const BLOCKS_MIN: usize = 3;
/// Half width of the expected interval, as a share of the gain: small, as the search is flattered
/// by its luckiest measurements, and knows the noise from few.
const GAIN_SHARE: f64 = 0.25;

impl Lead {
    /// Returns the blocks of the confirmation of this number of candidates: as few as let its
    /// interval be expected within a quarter of the gain to each side, `most` at most.
    pub fn blocks(self, candidates: usize, most: usize) -> usize {
        let tail = Coverage::Chosen.tail(candidates);
        let proving = (BLOCKS_MIN..most).find(|blocks| {
            let n = *blocks as f64;
            t_quantile(tail, n - 1.0) * self.noise * (2.0 / n).sqrt() <= GAIN_SHARE * self.cost
        });
        proving.unwrap_or(most)
    }
}

/// The standing of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A block has no value: it failed or broke a limit.
    Failed,
    /// The values differ too much.
    Unstable,
    /// Significantly better than the baseline, by what is worth it.
    Better,
    /// Not shown to be better.
    NotBetter,
}

/// A candidate after all blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Mean and range of its values.
    pub spread: Spread,
    /// How many times better than the baseline it is; `None` without values to compare.
    pub gain: Option<f64>,
    /// 95 % interval of the gain.
    pub interval: Option<Interval>,
    /// The standing.
    pub verdict: Verdict,
}

/// Rates candidates by the positive values of each block; `None`: failed. The values of the
/// baseline are complete.
pub fn confirm(baseline: &[f64], candidates: &[Vec<Option<f64>>], rules: Rules) -> Vec<Rating> {
    candidates.iter().map(|candidate| rate(baseline, candidate, candidates.len(), rules)).collect()
}

/// The candidate that is better and has the largest gain.
pub fn winner(ratings: &[Rating]) -> Option<usize> {
    let better = ratings.iter().enumerate().filter(|(_, rating)| rating.verdict == Verdict::Better);
    let gain = |rating: &Rating| rating.gain.unwrap_or_default();
    better.max_by(|left, right| gain(left.1).total_cmp(&gain(right.1))).map(|(at, _)| at)
}

/// The mean of values, and how far apart they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// The largest less the smallest value, relative to their mean.
    pub range: f64,
}

impl Spread {
    /// That of positive values; not a number without any.
    pub fn from_values(values: &[f64]) -> Self {
        let mean = mean(values);
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        Self { mean, range: (largest - smallest) / mean }
    }
}

/// A gain from logarithms of paired ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedGain {
    /// The geometric mean of the ratios.
    pub factor: f64,
    /// 95 % t interval of it; `None` of fewer than two ratios.
    pub interval: Option<Interval>,
}

impl PairedGain {
    /// That of these logarithms, one of `family` comparisons.
    pub fn from_logs(logs: &[f64], family: usize, coverage: Coverage) -> Self {
        let n = logs.len() as f64;
        let centre = mean(logs);
        let interval = (logs.len() >= 2).then(|| {
            let squares: f64 = logs.iter().map(|log| (log - centre).powi(2)).sum();
            let error = (squares / (n - 1.0) / n).sqrt();
            let half = t_quantile(coverage.tail(family), n - 1.0) * error;
            Interval::around(centre, half).map(f64::exp)
        });
        Self { factor: centre.exp(), interval }
    }
}

fn rate(baseline: &[f64], values: &[Option<f64>], family: usize, rules: Rules) -> Rating {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let has_failed = known.len() < baseline.len();
    let sign = if rules.is_lower_better { -1.0 } else { 1.0 };
    let pairs = values.iter().zip(baseline);
    let ratios: Vec<f64> = pairs.filter_map(|(value, base)| Some((*value)? / base)).collect();
    let logs: Vec<f64> = ratios.iter().map(|ratio| sign * ratio.ln()).collect();
    let varies = |values: &[f64]| Spread::from_values(values).range > rules.range_max;
    let is_unstable = varies(&known) && (!varies(baseline) || varies(&ratios));
    let PairedGain { factor, interval } = PairedGain::from_logs(&logs, family, rules.coverage);
    let is_proven = interval.is_some_and(|interval| interval.low > 1.0);
    let verdict = if has_failed {
        Verdict::Failed
    } else if is_unstable {
        Verdict::Unstable
    } else if is_proven && factor >= 1.0 + rules.worth {
        Verdict::Better
    } else {
        Verdict::NotBetter
    };
    let gain = (!logs.is_empty()).then_some(factor);
    Rating { spread: Spread::from_values(&known), gain, interval, verdict }
}

#[cfg(test)]
mod tests {
    use super::{Coverage, Lead, Rules, Verdict, confirm, winner};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;
    use statistics::normal;

    const RULES: Rules =
        Rules { is_lower_better: false, range_max: 0.3, worth: 0.02, coverage: Coverage::Chosen };

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().map(|value| Some(*value)).collect()
    }

    #[test]
    fn a_winner_is_stable_complete_and_significantly_better() {
        let baseline = [100.0, 101.0, 99.0, 100.5, 99.5];
        let candidates = [
            some(&[110.0, 112.0, 109.0, 111.0, 110.0]),
            some(&[180.0, 90.0, 170.0, 185.0, 175.0]),
            vec![Some(200.0), None, Some(200.0), Some(200.0), Some(200.0)],
            some(&[101.0, 102.0, 100.0, 101.5, 100.5]),
            some(&[104.0, 97.0, 105.0, 96.0, 103.0]),
        ];
        let ratings = confirm(&baseline, &candidates, RULES);
        let verdicts = ratings.iter().map(|rating| rating.verdict).collect::<Vec<_>>();
        let expected = [
            Verdict::Better,
            Verdict::Unstable,
            Verdict::Failed,
            Verdict::NotBetter,
            Verdict::NotBetter,
        ];
        assert_eq!(verdicts, expected);
        assert_eq!(winner(&ratings), Some(0));
        let slower = confirm(&baseline, &candidates, Rules { is_lower_better: true, ..RULES });
        assert_eq!(winner(&slower), None);
        // The fourth is better for sure, by less than what is worth it.
        assert!(
            ratings[3].interval.is_some_and(|interval| interval.low > 1.0 && interval.high < 1.02)
        );
    }

    /// In the first block everything ran at half its speed.
    #[test]
    fn what_varies_with_the_machine_is_not_unstable() {
        let baseline = [50.0, 101.0, 99.0, 100.5, 99.5];
        let candidates = [
            some(&[55.0, 112.0, 109.0, 111.0, 110.0]),
            some(&[90.0, 180.0, 170.0, 95.0, 175.0]),
            some(&[50.5, 100.0, 99.5, 101.0, 99.0]),
            // Steady, while the present settings are not.
            some(&[111.0, 112.0, 109.0, 111.0, 110.0]),
        ];
        let ratings = confirm(&baseline, &candidates, RULES);
        let verdicts = ratings.iter().map(|rating| rating.verdict).collect::<Vec<_>>();
        let not_better = Verdict::NotBetter;
        assert_eq!(verdicts, [Verdict::Better, Verdict::Unstable, not_better, not_better]);
        assert!(ratings[0].spread.range > 0.5, "the range that is shown is its own");
        // A steady machine and a candidate that was once half as fast.
        let steady = [100.0, 101.0, 99.0, 100.5, 99.5];
        assert_eq!(confirm(&steady, &candidates[..1], RULES)[0].verdict, Verdict::Unstable);
    }

    /// By hand: t(0.975, n - 1) x sqrt(2 / n) is 3.513 (n = 3), 2.250 (4), 1.756 (5). Times the
    /// noise and by a quarter, that is 0.7026, 0.4501 and 0.3512.
    #[test]
    fn a_large_gain_needs_fewer_blocks() {
        let blocks = |gain: f64, most: usize| Lead { cost: gain, noise: 0.05 }.blocks(1, most);
        let gains = [0.704, 0.700, 0.452, 0.448, 0.353, 0.349, 0.0, -1.0];
        assert_eq!(gains.map(|gain| blocks(gain, 6)), [3, 4, 4, 5, 5, 6, 6, 6]);
        assert_eq!([2, 3, 60].map(|most| blocks(5.0, most)), [2, 3, 3]);
    }

    /// Shares of confirmations in which the interval of the chosen candidate misses the truth, and
    /// in which one is better though all are equal.
    fn errors(
        noise: &dyn Fn(&mut Xoshiro256PlusPlus) -> f64,
        blocks: usize,
        number: usize,
    ) -> (f64, f64) {
        const RUNS: usize = 2_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(36);
        let (mut missed, mut wrong) = (0, 0);
        for _ in 0..RUNS {
            let mut series = |drift: f64| -> Vec<f64> {
                let block = |at: usize| drift * at as f64 / blocks as f64;
                (0..blocks).map(|at| (block(at) + noise(&mut random)).exp()).collect()
            };
            let baseline = series(0.1);
            let candidates: Vec<Vec<Option<f64>>> =
                (0..number).map(|_| some(&series(0.1))).collect();
            let rules = Rules { worth: 0.0, range_max: f64::INFINITY, ..RULES };
            let ratings = confirm(&baseline, &candidates, rules);
            let chosen = ratings
                .iter()
                .max_by(|left, right| left.gain.unwrap().total_cmp(&right.gain.unwrap()));
            missed += usize::from(!chosen.unwrap().interval.unwrap().contains(1.0));
            wrong += usize::from(winner(&ratings).is_some());
        }
        (missed as f64 / RUNS as f64, wrong as f64 / RUNS as f64)
    }

    #[test]
    fn two_candidates_need_no_adjustment_and_more_need_some() {
        let tails = [1, 2, 3, 4].map(|number| Coverage::Chosen.tail(number));
        for (tail, expected) in tails.into_iter().zip([0.025, 0.025, 0.016_952, 0.012_741]) {
            assert!((tail - expected).abs() < 1e-5, "{tails:?}");
        }
        assert!((Coverage::All.tail(4) - 0.00625).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_the_chosen_candidate_holds_the_truth() {
        let normal_noise = |random: &mut Xoshiro256PlusPlus| 0.05 * normal(random);
        let skewed = |random: &mut Xoshiro256PlusPlus| 0.1 * (0.5 * normal(random)).exp();
        let regimes = |random: &mut Xoshiro256PlusPlus| {
            (if normal(random) > 0.0 { 0.05 } else { 0.0 }) + 0.02 * normal(random)
        };
        let spikes = |random: &mut Xoshiro256PlusPlus| {
            (if normal(random) > 1.6 { -0.3 } else { 0.0 }) + 0.02 * normal(random)
        };
        for (blocks, number) in [(3, 2), (5, 2), (5, 3), (8, 1), (10, 4), (60, 2)] {
            for (name, noise) in [
                ("normal", &normal_noise as &dyn Fn(&mut Xoshiro256PlusPlus) -> f64),
                ("skewed", &skewed),
                ("regimes", &regimes),
                ("spikes", &spikes),
            ] {
                let (missed, wrong) = errors(noise, blocks, number);
                println!("{name} {blocks} {number}: missed {missed:.4}, wrong winner {wrong:.4}");
                // Standard error of 5 % in 2,000: 0.5 %.
                assert!(
                    missed <= 0.06 && wrong <= 0.06,
                    "{name} {blocks} {number}: {missed} {wrong}"
                );
            }
        }
    }
}

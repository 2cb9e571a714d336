//! The changes of level of a series of runs.
//!
//! `divisive` finds them as if values were independent. Here they are tested: are they more than
//! what values show that depend on the one before?
//!
//! The hypothesis is an autoregressive process of first order around the levels between fewer
//! changes, seen with the noise of single runs; the alternative has all changes. The noise is
//! independent from run to run: it hides the dependence from the value before, and the process
//! wanders all the same. The statistic is the ratio of the largest likelihoods, by which C.
//! Gallagher, R. Killick, R. Lund and X. Shi find changes in autoregressive processes ("A
//! Comparison of Single and Multiple Changepoint Techniques for Time Series Data", Computational
//! Statistics and Data Analysis 170, 2022). Likelihoods are those of Kalman's filter. Series of the
//! hypothesis are made of its own innovations, drawn with replacement (the sieve bootstrap: P.
//! Bühlmann, Bernoulli 3, 1997), and cut by E-divisive as the series was: what the choice of the
//! cuts adds is in both.
//!
//! Because each fit has a process of its own, the statistic depends little on the true one. The
//! series of the hypothesis are [`LEAST_FAVOURABLE`], so that nothing hangs on an estimate, which
//! short series with a change make far too large.

mod divisive;

pub use divisive::ChangePoint;

use divisive::{candidates, next_cut, p_value, positions, spans};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A process of variance 1: an autoregressive part, and the noise of single runs.
#[derive(Debug, Clone, Copy)]
struct Process {
    /// Autocorrelation of the autoregressive part.
    autocorrelation: f64,
    /// The share of the variance; the rest is noise.
    share: f64,
}

const fn process(autocorrelation: f64, share: f64) -> Process {
    Process { autocorrelation, share }
}

/// Processes that a change must stand against, each: few, some and much noise of single runs.
const LEAST_FAVOURABLE: [Process; 3] = [process(0.8, 1.0), process(0.8, 0.6), process(0.8, 0.3)];
/// Processes of which the likeliest is fitted.
const FITTED: [Process; 11] = [
    process(0.0, 1.0),
    process(0.3, 1.0),
    process(0.5, 1.0),
    process(0.7, 1.0),
    process(0.85, 1.0),
    process(0.5, 0.6),
    process(0.7, 0.7),
    process(0.85, 0.7),
    process(0.7, 0.4),
    process(0.85, 0.4),
    process(0.9, 0.2),
];
/// Series of a test, and the share of those that may show as much as ours. It is half of what is
/// allowed in all, because E-divisive says how many cuts are tested, and does so where there seem
/// to be many.
const SERIES: usize = 199;
const LEVEL: f64 = 0.025;
/// Values before the first: what came before them has then died away (0.8^30 is 0.1 %).
const RUN_IN: usize = 30;
/// Any fixed seed.
const SEED: u64 = 0x5eed_a201;

/// The changes of a series, in its order.
///
/// E-divisive finds them as if values were independent ([`candidates`]). Values that resemble the
/// one before, as those of runs on one machine do, wander and show such changes without any: at an
/// autocorrelation of 0.8 in 84 of 100 series. So each change must also stand against dependence
/// ([`stand`]).
pub fn change_points(values: &[f64]) -> Vec<ChangePoint> {
    stand(values, candidates(values))
}

/// Returns the changes that autocorrelation does not explain, in the order of the series.
/// `candidates` are sorted by size; the first ones stay, until the rest is no more than
/// autocorrelation produces.
fn stand(values: &[f64], candidates: Vec<ChangePoint>) -> Vec<ChangePoint> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let all = positions(&candidates);
    let mut standing: Vec<ChangePoint> = Vec::new();
    for candidate in candidates {
        let few = positions(&standing);
        let Some(p_value) = more_than_dependence(values, &few, &all, &mut random) else { break };
        standing.push(ChangePoint { p_value: candidate.p_value.max(p_value), ..candidate });
    }
    standing.sort_by_key(|change| change.at);
    standing
}

/// The p-value of "`few` cuts are enough", if it is significant, against all of them: the largest
/// over the hypotheses.
fn more_than_dependence(
    values: &[f64],
    few: &[usize],
    all: &[usize],
    random: &mut Xoshiro256PlusPlus,
) -> Option<f64> {
    let fit = Fit::likeliest(values, few);
    let gain = fit.deviance - Fit::likeliest(values, all).deviance;
    let p_values = LEAST_FAVOURABLE.map(|process| {
        let steps = process.filter(values.len() + RUN_IN);
        p_value(SERIES, LEVEL, || {
            let series = process.series(&steps, &fit.innovations, random);
            let mut cuts = few.to_vec();
            while cuts.len() < all.len()
                && let Some((at, _)) = next_cut(&series, &cuts)
            {
                cuts.push(at);
                cuts.sort_unstable();
            }
            let [few, all] = [few, &cuts].map(|cuts| Fit::likeliest(&series, cuts).deviance);
            few - all >= gain
        })
    });
    p_values.into_iter().try_fold(0.0, |largest: f64, p| Some(largest.max(p?)))
}

/// A step of Kalman's filter: the weight of an innovation in the next prediction, and its standard
/// deviation.
struct Step {
    weight: f64,
    deviation: f64,
}

impl Process {
    fn filter(self, length: usize) -> Vec<Step> {
        let Self { autocorrelation, share } = self;
        let mut variance = share;
        let steps = (0..length).map(|_| {
            let of_value = variance + 1.0 - share;
            let gain = variance / of_value;
            let kept = autocorrelation * autocorrelation;
            variance = kept * variance * (1.0 - gain) + share * (1.0 - kept);
            Step { weight: autocorrelation * gain, deviation: of_value.sqrt() }
        });
        steps.collect()
    }

    /// The part of each value that those before do not predict, in standard deviations.
    fn innovations(self, steps: &[Step], values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut predicted = 0.0;
        let innovations = values.zip(steps).map(|(value, step)| {
            let innovation = value - predicted;
            predicted = self.autocorrelation * predicted + step.weight * innovation;
            innovation / step.deviation
        });
        innovations.collect()
    }

    /// A series with innovations drawn from these, without the run-in.
    fn series(
        self,
        steps: &[Step],
        innovations: &[f64],
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<f64> {
        let mut predicted = 0.0;
        let values = steps.iter().map(|step| {
            let drawn = (u64::from(random.next_u32()) * innovations.len() as u64) >> 32;
            let innovation = innovations[drawn as usize] * step.deviation;
            let value = predicted + innovation;
            predicted = self.autocorrelation * predicted + step.weight * innovation;
            value
        });
        values.skip(RUN_IN).collect()
    }
}

/// The likeliest process around the levels between cuts.
struct Fit {
    /// Twice the negative logarithm of its likelihood, but for a constant.
    deviance: f64,
    innovations: Vec<f64>,
}

impl Fit {
    fn likeliest(values: &[f64], cuts: &[usize]) -> Self {
        let fits = FITTED.map(|process| Self::of_process(process, values, cuts));
        let [first, rest @ ..] = fits;
        rest.into_iter().fold(first, |a, b| if b.deviance < a.deviance { b } else { a })
    }

    /// With levels by generalised least squares.
    fn of_process(process: Process, values: &[f64], cuts: &[usize]) -> Self {
        let n = values.len();
        let steps = process.filter(n);
        let mut rest = process.innovations(&steps, values.iter().copied());
        let mut levels: Vec<Vec<f64>> = Vec::new();
        for span in spans(n, cuts) {
            let is_in = (0..n).map(|at| f64::from(u8::from(span.contains(&at))));
            let mut level = process.innovations(&steps, is_in);
            for before in &levels {
                subtract(&mut level, before);
            }
            let length = product(&level, &level).sqrt();
            for value in &mut level {
                *value /= length;
            }
            levels.push(level);
        }
        for level in &levels {
            subtract(&mut rest, level);
        }
        let spread: f64 = steps.iter().map(|step| step.deviation.ln()).sum();
        let deviance = n as f64 * product(&rest, &rest).ln() + 2.0 * spread;
        Self { deviance, innovations: rest }
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Subtracts the part of a series that lies along another one of length 1.
fn subtract(series: &mut [f64], along: &[f64]) {
    let part = product(series, along);
    series.iter_mut().zip(along).for_each(|(value, along)| *value -= part * along);
}

#[cfg(test)]
mod tests {
    use super::change_points;

    #[test]
    fn the_shortest_series_have_no_change() {
        for values in
            [&[][..], &[1.0], &[1.0, 2.0], &[1.0, 1.0, 9.0, 9.0], &[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]]
        {
            assert_eq!(change_points(values), [], "{values:?}");
        }
        // Of the 70 orders of four and four, two are as extreme.
        let eight = change_points(&[1.0, 1.1, 0.9, 1.0, 9.0, 9.1, 8.9, 9.0]);
        assert_eq!(eight.iter().map(|change| change.at).collect::<Vec<_>>(), [4]);
        assert!((0.01..0.05).contains(&eight[0].p_value), "{eight:?}");
    }

    #[test]
    fn what_differs_only_by_rounding_has_not_changed() {
        let mut values = [0.3; 20];
        assert_eq!(change_points(&values), []);
        values[10..].fill(0.1 + 0.2);
        assert_eq!(change_points(&values), []);
    }
}

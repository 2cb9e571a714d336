//! The random functions: pgbench's distributions, drawn with a generator of ours.

use super::Fault;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::f64::consts::TAU;

/// Smallest parameter of a Gaussian: Box-Muller's draws beyond it are repeated, and below this too many were.
const GAUSSIAN_MIN: f64 = 2.0;
/// Limits of a Zipfian's parameter: where the rejection method works.
const ZIPFIAN_MIN: f64 = 1.001;
const ZIPFIAN_MAX: f64 = 1_000.0;

/// The integers from `least` to `most`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    least: i64,
    most: i64,
}

impl Bounds {
    /// # Errors
    /// When there are none, or more than 2^63 - 1.
    pub fn new(function: &'static str, least: i64, most: i64) -> Result<Self, Fault> {
        let argument = |message| Fault::Argument { function, message };
        if least > most {
            return Err(argument(format!("the range from {least} to {most} is empty")));
        }
        match most.checked_sub(least).and_then(|width| width.checked_add(1)) {
            Some(_) => Ok(Self { least, most }),
            None => Err(argument(format!("the range from {least} to {most} is too large"))),
        }
    }

    fn count(self) -> i64 {
        self.most - self.least + 1
    }

    /// The integer at this share, at least 0 and below 1, of the range.
    fn at(self, share: f64) -> i64 {
        let steps = (self.count() as f64 * share) as i64;
        // Rounding can reach the end of a huge range.
        self.least + steps.min(self.count() - 1)
    }
}

/// Each integer with the same probability.
pub(super) fn uniform(bounds: Bounds, random: &mut Xoshiro256PlusPlus) -> i64 {
    random.random_range(bounds.least..=bounds.most)
}

/// An exponential distribution cut off at `parameter`, which is mapped to the end of the range.
pub(super) fn exponential(
    bounds: Bounds,
    parameter: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Result<i64, Fault> {
    if parameter <= 0.0 || parameter.is_nan() {
        let message = format!("the parameter has to be above 0, not {parameter}");
        return Err(Fault::Argument { function: "random_exponential", message });
    }
    let uniform: f64 = random.random();
    // The inverse of the distribution function (1 - e^-x) / (1 - e^-parameter).
    let beyond = 1.0 - (1.0 - (-parameter).exp()) * uniform;
    Ok(bounds.at(-beyond.ln() / parameter))
}

/// A normal distribution cut off at `parameter` standard deviations, which are mapped to the ends
/// of the range.
pub(super) fn gaussian(
    bounds: Bounds,
    parameter: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Result<i64, Fault> {
    if parameter < GAUSSIAN_MIN || parameter.is_nan() {
        let message = format!("the parameter has to be at least {GAUSSIAN_MIN}, not {parameter}");
        return Err(Fault::Argument { function: "random_gaussian", message });
    }
    loop {
        // Box and Muller 1958; 1 - u is never 0.
        let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
        let deviation = radius * (TAU * random.random::<f64>()).sin();
        if (-parameter..parameter).contains(&deviation) {
            return Ok(bounds.at((deviation + parameter) / (2.0 * parameter)));
        }
    }
}

/// The k-th integer with a probability in proportion to k^-parameter: by rejection from a Pareto
/// distribution (Devroye, Non-Uniform Random Variate Generation, 1986, p. 551), drawn again beyond the range.
pub(super) fn zipfian(bounds: Bounds, parameter: f64, random: &mut Xoshiro256PlusPlus) -> Result<i64, Fault> {
    if !(ZIPFIAN_MIN..=ZIPFIAN_MAX).contains(&parameter) {
        let message = format!("the parameter has to be from {ZIPFIAN_MIN} to {ZIPFIAN_MAX}, not {parameter}");
        return Err(Fault::Argument { function: "random_zipfian", message });
    }
    if bounds.count() == 1 {
        return Ok(bounds.least);
    }
    let (count, power) = (bounds.count() as f64, parameter - 1.0);
    let limit = 2f64.powf(power);
    loop {
        let candidate = (1.0 - random.random::<f64>()).powf(-1.0 / power).floor();
        let ratio = (1.0 + 1.0 / candidate).powf(power);
        let height: f64 = random.random();
        let accepted = height * candidate * (ratio - 1.0) / (limit - 1.0) <= ratio / limit;
        if accepted && candidate <= count {
            return Ok(bounds.least + (candidate as i64 - 1).min(bounds.count() - 1));
        }
    }
}

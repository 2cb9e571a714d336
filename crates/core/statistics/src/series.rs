//! Series in which a value depends on the one before.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::f64::consts::TAU;

/// A standard normal deviate, by G. E. P. Box and M. E. Muller (1958).
pub fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let uniform =
        |random: &mut Xoshiro256PlusPlus| (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0;
    let length = (-2.0 * uniform(random).ln()).sqrt();
    length * (TAU * uniform(random)).cos()
}

/// Fisher and Yates' shuffle. Written out because `rand` does not promise that its `shuffle`
/// draws the same in every version, and a resumed run must see the order that it began with.
pub fn shuffle<T>(items: &mut [T], random: &mut Xoshiro256PlusPlus) {
    for last in (1..items.len()).rev() {
        // Lemire's multiplication; the bias for some thousand items is below 2^-50.
        let chosen = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        items.swap(last, chosen);
    }
}

/// A stationary autoregressive process of first order with normal values of mean 0 and variance 1.
pub(crate) fn autoregressive(
    length: usize,
    autocorrelation: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<f64> {
    let innovation = (1.0 - autocorrelation * autocorrelation).sqrt();
    let mut value = normal(random);
    let values = (0..length).map(|_| {
        value = autocorrelation * value + innovation * normal(random);
        value
    });
    values.collect()
}

/// Autocorrelation at a lag of one value.
pub(crate) fn autocorrelation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let products = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
    products / values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
}

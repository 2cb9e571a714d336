//! The random functions: pgbench's distributions, with another generator, its permutation and its
//! hashes.

use crate::error::Fault;
use datasets::sysbench;
use observations::fnv1a_64;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution as _, Zipf};
use rand_xoshiro::{Xoroshiro128StarStar, Xoshiro256PlusPlus as Random};
use std::f64::consts::TAU;
use std::fmt::Arguments;

/// Smallest parameter of a Gaussian: Box-Muller's draws beyond it are repeated, and below this too
/// many were.
const GAUSSIAN_MIN: f64 = 2.0;
/// The largest parameter of a Zipfian. pgbench's least is 1.001; here it is anything above 0.
const ZIPFIAN_MAX: f64 = 1_000.0;

/// The integers from `least` to `most`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The drawing function.
    function: &'static str,
    least: i64,
    most: i64,
}

impl Bounds {
    /// # Errors
    /// When there are none, or more than 2^63 - 1.
    pub fn new(function: &'static str, least: i64, most: i64) -> Result<Self, Fault> {
        let size = if least > most { "empty" } else { "too large" };
        let width = most.checked_sub(least).filter(|width| (0..i64::MAX).contains(width));
        let bounds = width.map(|_| Self { function, least, most });
        bounds.ok_or(Fault::Range { function, least, most, size })
    }

    /// Objects to a parameter beyond its bound.
    fn require(self, holds: bool, bound: Arguments<'_>, parameter: f64) -> Result<(), Fault> {
        if holds {
            return Ok(());
        }
        Err(Fault::Parameter { function: self.function, bound: bound.to_string(), parameter })
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
pub(super) fn uniform(bounds: Bounds, random: &mut Random) -> i64 {
    random.random_range(bounds.least..=bounds.most)
}

/// An exponential distribution cut off at `parameter`, which is mapped to the end of the range.
pub(super) fn exponential(
    bounds: Bounds,
    parameter: f64,
    random: &mut Random,
) -> Result<i64, Fault> {
    bounds.require(parameter > 0.0, format_args!("above 0"), parameter)?;
    let uniform: f64 = random.random();
    // The inverse of the distribution function (1 - e^-x) / (1 - e^-parameter).
    let beyond = 1.0 - (1.0 - (-parameter).exp()) * uniform;
    Ok(bounds.at(-beyond.ln() / parameter))
}

/// A normal distribution cut off at `parameter` standard deviations, which are mapped to the ends
/// of the range.
pub(super) fn gaussian(bounds: Bounds, parameter: f64, random: &mut Random) -> Result<i64, Fault> {
    bounds.require(
        parameter >= GAUSSIAN_MIN,
        format_args!("at least {GAUSSIAN_MIN}"),
        parameter,
    )?;
    loop {
        // Box and Muller 1958; 1 - u is never 0.
        let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
        let deviation = radius * (TAU * random.random::<f64>()).sin();
        if (-parameter..parameter).contains(&deviation) {
            return Ok(bounds.at((deviation + parameter) / (2.0 * parameter)));
        }
    }
}

/// sysbench's distribution `special`, with its defaults.
pub(super) fn special(bounds: Bounds, random: &mut Random) -> i64 {
    sysbench::special(bounds.least, bounds.most, random)
}

/// sysbench's Pareto distribution: of the integers, a share of 1 - `parameter` is in the first
/// `parameter` of the range.
pub(super) fn pareto(bounds: Bounds, parameter: f64, random: &mut Random) -> Result<i64, Fault> {
    bounds.require(
        parameter > 0.0 && parameter < 1.0,
        format_args!("above 0 and below 1"),
        parameter,
    )?;
    Ok(sysbench::pareto(bounds.least, bounds.most, parameter, random))
}

/// Most characters of a text.
const DIGITS_MAX: i64 = 65_536;

/// A length of a text, checked.
pub(super) fn length(function: &'static str, length: i64) -> Result<usize, Fault> {
    let most = DIGITS_MAX;
    let fits = (1..=most).contains(&length);
    if fits { Ok(length as usize) } else { Err(Fault::Length { function, length, most }) }
}

/// A text of random letters, digits, dashes and underscores: six random bits each.
pub(super) fn text(length: i64, random: &mut Random) -> Result<String, Fault> {
    let length = self::length("random_text", length)?;
    let mut text = String::with_capacity(length);
    datasets::ycsb::put_text(&mut text, length, random);
    Ok(text)
}

/// A text of groups of random digits with dashes between them, as sysbench writes.
pub(super) fn digits(groups: i64, digits: i64, random: &mut Random) -> Result<String, Fault> {
    let both =
        groups.checked_mul(digits).filter(|all| groups >= 1 && digits >= 1 && *all <= DIGITS_MAX);
    let Some(all) = both else {
        return Err(Fault::Digits { groups, digits, most: DIGITS_MAX });
    };
    let mut text = String::with_capacity((all + groups) as usize);
    sysbench::put_digits(&mut text, groups as u32, digits as u32, random);
    Ok(text)
}

/// The k-th integer with a probability in proportion to k^-parameter.
pub(super) fn zipfian(bounds: Bounds, parameter: f64, random: &mut Random) -> Result<i64, Fault> {
    let is_within = parameter > 0.0 && parameter <= ZIPFIAN_MAX;
    bounds.require(is_within, format_args!("above 0 and at most {ZIPFIAN_MAX}"), parameter)?;
    // The bounds are those that it needs.
    let zipf = Zipf::new(bounds.count() as f64, parameter).ok();
    let rank = zipf.map_or(1.0, |zipf| zipf.sample(random));
    Ok(bounds.least + (rank as i64 - 1).clamp(0, bounds.count() - 1))
}

/// So often the transformations are repeated.
const ROUNDS: u32 = 6;

/// The new position of `value` (modulo `size`) in the permutation of `0..size` that belongs to this
/// seed: the same one as pgbench's, so that a script hits the same rows. 0 for a size below 2.
///
/// Each round is three bijections: one of the lowest 2^k positions (the largest power of two that
/// is at most `size`), the same of the highest 2^k, and a rotation of all.
pub(super) fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut random = Xoroshiro128StarStar::seed_from_u64(seed as u64);
    let size = size as u64;
    let window = Window { bits: size.ilog2() };
    let mut position = value as u64 % size;
    for _ in 0..ROUNDS {
        position = window.scramble(position, &mut random);
        // Seen from the other end, the highest positions are the lowest.
        position = size - 1 - window.scramble(size - 1 - position, &mut random);
        position = (position + below(size, &mut random)) % size;
    }
    position as i64
}

/// The positions below 2^bits.
struct Window {
    bits: u32,
}

impl Window {
    /// Moves a position within the window: multiplied by an odd number, flipped by a mask, rotated
    /// by one bit. Positions outside stay.
    fn scramble(&self, position: u64, random: &mut Xoroshiro128StarStar) -> u64 {
        let mask = (1 << self.bits) - 1;
        let factor = (random.next_u64() & mask) | 1;
        let flip = random.next_u64() & mask;
        if position > mask {
            return position;
        }
        let moved = (position.wrapping_mul(factor) ^ flip) & mask;
        ((moved << 1) & mask) | (moved >> (self.bits - 1))
    }
}

/// A random number below `limit` (at least 2): the highest bits of the generator, drawn again while
/// too large.
fn below(limit: u64, random: &mut Xoroshiro128StarStar) -> u64 {
    let shift = (limit - 1).leading_zeros();
    loop {
        let number = random.next_u64() >> shift;
        if number < limit {
            return number;
        }
    }
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo), the seed mixed into the offset basis.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    fnv1a_64(value.to_le_bytes(), seed as u64) as i64
}

const MURMUR_MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
const MURMUR_SHIFT: u32 = 47;

/// `MurmurHash2` of 64 bits (Appleby's `MurmurHash64A`) of a key that is one block long.
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    let scramble = |word: u64| word ^ (word >> MURMUR_SHIFT);
    let multiply = |word: u64| word.wrapping_mul(MURMUR_MULTIPLIER);
    let block = multiply(scramble(multiply(value as u64)));
    let length = MURMUR_MULTIPLIER.wrapping_mul(size_of::<i64>() as u64);
    let hash = multiply(seed as u64 ^ length ^ block);
    scramble(multiply(scramble(hash))) as i64
}

#[cfg(test)]
mod tests {
    use super::{fnv1a, murmur2, permute};

    /// The examples of pgbench's manual page.
    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
    }

    #[test]
    fn every_position_is_taken_once() {
        for size in [2, 3, 4, 7, 64, 100, 1000, 1025] {
            for seed in [0, 1, -5, i64::MAX] {
                let mut taken = vec![false; size as usize];
                for value in 0..size {
                    let position = permute(value, size, seed) as usize;
                    assert!(
                        !std::mem::replace(&mut taken[position], true),
                        "{size} {seed}: {position} twice"
                    );
                }
            }
        }
    }
}

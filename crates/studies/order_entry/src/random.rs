//! Random values of the specification: uniform and non-uniform numbers, texts, last names.

use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Spreads small numbers over all seeds (2^64 divided by the golden ratio).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A generator for one purpose: the same numbers for the same seed and purpose.
pub fn generator(seed: u64, purpose: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ purpose.wrapping_add(1).wrapping_mul(STEP))
}

/// Constants of the three non-uniform distributions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// Of last names, when the tables are loaded.
    pub last_name_load: i64,
    /// Of last names, in the run.
    pub last_name_run: i64,
    /// Of customers.
    pub customer: i64,
    /// Of items.
    pub item: i64,
}

/// The largest constants, which are the `A` of the distributions.
const A_LAST_NAME: i64 = 255;
const A_CUSTOMER: i64 = 1023;
const A_ITEM: i64 = 8191;

/// The purpose of the generator of the constants; tables have those from 0 on.
const CONSTANTS: u64 = 1 << 40;

impl Constants {
    /// The constants that follow from a seed: one draw for the load and the run, so that a run
    /// never redraws them.
    pub fn from_seed(seed: u64) -> Self {
        let mut random = generator(seed, CONSTANTS);
        let last_name_load = random.random_range(0..=A_LAST_NAME);
        let last_name_run = loop {
            let drawn = random.random_range(0..=A_LAST_NAME);
            if is_allowed(last_name_load, drawn) {
                break drawn;
            }
        };
        Self {
            last_name_load,
            last_name_run,
            customer: random.random_range(0..=A_CUSTOMER),
            item: random.random_range(0..=A_ITEM),
        }
    }

    /// Number of a last name of the load, from 0 to `names` - 1.
    pub fn loaded_last_name(&self, names: i64, random: &mut impl Rng) -> i64 {
        non_uniform(A_LAST_NAME, self.last_name_load, [0, names - 1], random)
    }

    /// Number of a last name of the run, from 0 to `names` - 1.
    pub fn last_name(&self, names: i64, random: &mut impl Rng) -> i64 {
        non_uniform(A_LAST_NAME, self.last_name_run, [0, names - 1], random)
    }

    /// A customer of a district, from 1.
    pub fn customer(&self, customers: i64, random: &mut impl Rng) -> i64 {
        non_uniform(A_CUSTOMER, self.customer, [1, customers], random)
    }

    /// An item, from 1.
    pub fn item(&self, items: i64, random: &mut impl Rng) -> i64 {
        non_uniform(A_ITEM, self.item, [1, items], random)
    }
}

/// The rule for the constants of last names (clause 2.1.6.1): the run must not hit the names that
/// the load made frequent.
pub fn is_allowed(load: i64, run: i64) -> bool {
    let distance = (run - load).abs();
    (65..=119).contains(&distance) && distance != 96 && distance != 112
}

/// A non-uniform number from `least` to `most` (clause 2.1.6): NURand(A, x, y) with the constant C.
pub(crate) fn non_uniform(a: i64, c: i64, [least, most]: [i64; 2], random: &mut impl Rng) -> i64 {
    let mixed = random.random_range(0..=a) | random.random_range(least..=most);
    (mixed + c) % (most - least + 1) + least
}

/// Appends the last name with a number from 0 to 999: a syllable for each digit (clause 4.3.2.3).
pub(crate) fn put_last_name(out: &mut String, number: i64) {
    const SYLLABLES: [&str; 10] =
        ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
    for digit in [number / 100, number / 10 % 10, number % 10] {
        out.push_str(SYLLABLES[digit as usize]);
    }
}

/// Letters and digits of texts.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Appends random letters and digits, from `least` to `most` of them.
pub fn put_text(out: &mut String, [least, most]: [usize; 2], random: &mut impl Rng) {
    put(out, LETTERS, random.random_range(least..=most), random);
}

/// Appends random capital letters: every collation sorts them alike.
pub(crate) fn put_capitals(out: &mut String, [least, most]: [usize; 2], random: &mut impl Rng) {
    put(out, &LETTERS[..26], random.random_range(least..=most), random);
}

/// Appends random digits.
pub fn put_digits(out: &mut String, length: usize, random: &mut impl Rng) {
    put(out, &LETTERS[52..], length, random);
}

/// Eight characters of each random number, whose bytes are scaled to the alphabet.
fn put(out: &mut String, alphabet: &[u8], length: usize, random: &mut impl Rng) {
    let mut left = length;
    while left > 0 {
        for byte in random.random::<u64>().to_le_bytes().into_iter().take(left) {
            out.push(char::from(alphabet[(usize::from(byte) * alphabet.len()) >> 8]));
            left -= 1;
        }
    }
}

/// The word that a tenth of the items and of the stock has in its data.
const ORIGINAL: &str = "ORIGINAL";

/// Appends 26 to 50 characters, of which one text in ten contains "ORIGINAL" at a random place.
pub(crate) fn put_data(out: &mut String, random: &mut impl Rng) {
    let start = out.len();
    put_text(out, [26, 50], random);
    if random.random_range(0..10) == 0 {
        let place = start + random.random_range(0..=out.len() - start - ORIGINAL.len());
        out.replace_range(place..place + ORIGINAL.len(), ORIGINAL);
    }
}

/// Shuffles in place (Fisher and Yates).
pub fn shuffle<T>(values: &mut [T], random: &mut impl Rng) {
    for last in (1..values.len()).rev() {
        values.swap(last, random.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use super::{Constants, generator, is_allowed, non_uniform, put_data, put_last_name};

    #[test]
    fn last_names_are_those_of_the_specification() {
        for (number, name) in [(0, "BARBARBAR"), (371, "PRICALLYOUGHT"), (999, "EINGEINGEING")] {
            let mut text = String::new();
            put_last_name(&mut text, number);
            assert_eq!(text, name);
        }
    }

    #[test]
    fn the_constants_obey_the_rule_for_every_seed() {
        for seed in 0..2_000 {
            let drawn = Constants::from_seed(seed);
            let distance = drawn.last_name_run.abs_diff(drawn.last_name_load);
            assert!((65..=119).contains(&distance), "{drawn:?}");
            assert!(![96, 112].contains(&distance), "{drawn:?}");
            assert!(
                (0..=255).contains(&drawn.last_name_load)
                    && (0..=255).contains(&drawn.last_name_run)
            );
            assert!((0..=1023).contains(&drawn.customer) && (0..=8191).contains(&drawn.item));
            assert_eq!(drawn, Constants::from_seed(seed));
        }
        assert!(!is_allowed(0, 64) && is_allowed(0, 65) && is_allowed(200, 81));
        assert!(!is_allowed(0, 96) && !is_allowed(0, 112) && !is_allowed(0, 120));
    }

    /// Probabilities by counting all pairs of the two uniform numbers, which is another way than to
    /// draw them.
    fn probabilities(a: i64, c: i64, [least, most]: [i64; 2]) -> Vec<f64> {
        let size = most - least + 1;
        let mut counts = vec![0_u64; size as usize];
        for first in 0..=a {
            for second in least..=most {
                counts[(((first | second) + c) % size) as usize] += 1;
            }
        }
        let all = ((a + 1) * size) as f64;
        counts.into_iter().map(|count| count as f64 / all).collect()
    }

    #[test]
    fn non_uniform_numbers_have_the_distribution_of_all_pairs() {
        for (a, c, [least, most]) in
            [(255, 123, [0, 999]), (1023, 77, [1, 3000]), (255, 0, [0, 29])]
        {
            let (expected, draws) = (probabilities(a, c, [least, most]), 1_000_000);
            let mut random = generator(7, 0);
            let mut counts = vec![0_u64; expected.len()];
            for _ in 0..draws {
                counts[(non_uniform(a, c, [least, most], &mut random) - least) as usize] += 1;
            }
            let mut chi_squared = 0.0;
            for (count, share) in counts.iter().zip(&expected) {
                let mean = share * f64::from(draws);
                assert!(mean > 0.0 || *count == 0);
                if mean > 0.0 {
                    chi_squared += (*count as f64 - mean).powi(2) / mean;
                }
            }
            // Mean and deviation of the chi-squared distribution; five deviations of it.
            let freedom = expected.iter().filter(|share| **share > 0.0).count() as f64 - 1.0;
            assert!((chi_squared - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{chi_squared}");
        }
    }

    #[test]
    fn a_tenth_of_the_data_contains_the_word() {
        let (mut random, mut found) = (generator(3, 0), 0);
        for _ in 0..20_000 {
            let mut text = String::new();
            put_data(&mut text, &mut random);
            assert!((26..=50).contains(&text.len()));
            found += u32::from(text.contains("ORIGINAL"));
        }
        // 2,000 expected, deviation 42.
        assert!((1_790..=2_210).contains(&found), "{found}");
    }
}

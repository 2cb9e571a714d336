use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoroshiro128StarStar;

/// So often the transformations are repeated.
const ROUNDS: u32 = 6;

/// The new position of `value` (modulo `size`) in the permutation of `0..size` that belongs to this
/// seed: the same one as pgbench's, so that a script hits the same rows. 0 for a size below 2.
///
/// Each round is three bijections: one of the lowest 2^k positions (the largest power of two that is
/// at most `size`), the same of the highest 2^k, and a rotation of all.
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
    /// Moves a position within the window: multiplied by an odd number, flipped by a mask, rotated by
    /// one bit. Positions outside stay.
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

/// A random number below `limit` (at least 2): the highest bits of the generator, drawn again while too large.
fn below(limit: u64, random: &mut Xoroshiro128StarStar) -> u64 {
    let shift = (limit - 1).leading_zeros();
    loop {
        let number = random.next_u64() >> shift;
        if number < limit {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::permute;

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

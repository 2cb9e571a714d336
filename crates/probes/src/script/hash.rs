//! The two hash functions, of the eight bytes of an integer, lowest first.

const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a of 64 bits (Fowler, Noll, Vo), the seed mixed into the offset basis.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    let begin = FNV_OFFSET_BASIS ^ seed as u64;
    let hash = value
        .to_le_bytes()
        .iter()
        .fold(begin, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
    hash as i64
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
    use super::{fnv1a, murmur2};

    /// The examples of pgbench's manual page.
    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
    }
}

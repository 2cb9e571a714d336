/// A clustering key. Random ones are version 4 UUIDs, sequential ones count up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u128);

/// Bits of a version 4 UUID that are random and contiguous: all below the variant.
const TAIL_BITS: u32 = 62;
const TAIL_MASK: u64 = (1 << TAIL_BITS) - 1;

impl Key {
    /// A version 4 UUID (RFC 9562) from 122 random bits: `high` gives 60 of them, `tail` 62.
    pub fn random(high: u64, tail: u64) -> Self {
        let high = (high & !0xF000) | 0x4000;
        let low = (tail & TAIL_MASK) | 1 << 63;
        Self(u128::from(high) << 64 | u128::from(low))
    }

    /// The 16 bytes in the order in which they are compared.
    pub fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The key as an integer, for tables with an integer key: the lowest 62 bits.
    pub fn integer(self) -> i64 {
        (self.0 as u64 & TAIL_MASK) as i64
    }
}

/// The data file that a row goes to. A row's file follows from its key alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    files: u32,
}

impl Placement {
    /// A placement over this many files (at least one).
    pub fn over(files: u32) -> Self {
        Self { files: files.max(1) }
    }

    /// The file of a random key: its random tail, scaled to the number of files. The tail is
    /// uniform and no part of the order of the clustered index, so it serves as the key's hash.
    pub fn file_of_random(self, key: Key) -> u32 {
        let tail = u128::from(key.0 as u64 & TAIL_MASK);
        ((tail * u128::from(self.files)) >> TAIL_BITS) as u32
    }

    /// The tail, made from 64 random bits, of a random key that belongs to `file`; uniform over all
    /// such tails.
    pub fn tail_in_file(self, file: u32, random: u64) -> u64 {
        let bound = |file: u32| (u128::from(file) << TAIL_BITS).div_ceil(u128::from(self.files));
        let (low, high) = (bound(file), bound(file + 1));
        (low + ((u128::from(random) * (high - low)) >> 64)) as u64
    }

    /// The file of a sequential key: stripes of `stripe` consecutive keys go round robin.
    pub fn file_of_sequential(self, key: Key, stripe: u64) -> u32 {
        (key.0 / u128::from(stripe.max(1)) % u128::from(self.files)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Placement};

    #[test]
    fn random_keys_are_version_4_uuids() {
        for (high, tail) in [(0, 0), (u64::MAX, u64::MAX), (0x1234_5678_9abc_def0, 7)] {
            let bytes = Key::random(high, tail).bytes();
            assert_eq!((bytes[6] >> 4, bytes[8] >> 6), (4, 2));
        }
    }

    #[test]
    fn a_tail_drawn_for_a_file_belongs_to_that_file() {
        for files in [1, 2, 3, 7, 16, 125] {
            let placement = Placement::over(files);
            for file in 0..files {
                for random in [0, 1, u64::MAX / 3, u64::MAX - 1, u64::MAX] {
                    let key = Key::random(random, placement.tail_in_file(file, random));
                    assert_eq!(
                        placement.file_of_random(key),
                        file,
                        "{files} files, random {random}"
                    );
                }
            }
        }
    }

    #[test]
    fn sequential_keys_go_round_robin_in_stripes() {
        let placement = Placement::over(3);
        let files: Vec<u32> = (0..8).map(|key| placement.file_of_sequential(Key(key), 2)).collect();
        assert_eq!(files, [0, 0, 1, 1, 2, 2, 0, 0]);
    }
}

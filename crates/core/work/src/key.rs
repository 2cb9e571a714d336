/// A clustering key. Random ones are version 4 UUIDs, sequential ones count up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u128);

impl Key {
    /// Bits of a version 4 UUID that are random and contiguous: all below the variant.
    pub const TAIL_BITS: u32 = 62;
    const TAIL_MASK: u64 = (1 << Self::TAIL_BITS) - 1;

    /// A version 4 UUID (RFC 9562) from 122 random bits: `high` gives 60 of them, `tail` 62.
    pub fn random(high: u64, tail: u64) -> Self {
        let high = (high & !0xF000) | 0x4000;
        let low = (tail & Self::TAIL_MASK) | 1 << 63;
        Self(u128::from(high) << 64 | u128::from(low))
    }

    /// The 16 bytes in the order in which they are compared.
    pub fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The random tail.
    pub fn tail(self) -> u64 {
        self.0 as u64 & Self::TAIL_MASK
    }

    /// The key as an integer, for tables with an integer key: the lowest 62 bits.
    pub fn integer(self) -> i64 {
        self.tail() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn random_keys_are_version_4_uuids() {
        for (high, tail) in [(0, 0), (u64::MAX, u64::MAX), (0x1234_5678_9abc_def0, 7)] {
            let bytes = Key::random(high, tail).bytes();
            assert_eq!((bytes[6] >> 4, bytes[8] >> 6), (4, 2));
        }
    }
}

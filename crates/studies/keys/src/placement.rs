use work::Key;

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
        ((u128::from(key.tail()) * u128::from(self.files)) >> Key::TAIL_BITS) as u32
    }

    /// The tail, made from 64 random bits, of a random key that belongs to `file`; uniform over all
    /// such tails.
    pub fn tail_in_file(self, file: u32, random: u64) -> u64 {
        let bound =
            |file: u32| (u128::from(file) << Key::TAIL_BITS).div_ceil(u128::from(self.files));
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
    use super::Placement;
    use work::Key;

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

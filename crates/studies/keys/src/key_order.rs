use crate::placement::Placement;
use experiment::choice;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::Key;

choice! {
    /// Order of the clustering keys.
    pub enum KeyOrder {
        /// Version 4 UUIDs.
        Random = "random",
        /// Each transaction's keys follow on those that other connections took before.
        Sequential = "sequential",
    }
}

/// The keys of one connection, made in batches that belong to one data file each.
#[derive(Debug)]
pub struct Keys {
    order: KeyOrder,
    placement: Placement,
    random: Xoshiro256PlusPlus,
    /// Sequential: the number of this connection's next stripe, and of connections.
    stripe: u64,
    connections: u64,
    rows_before: u64,
    stripe_rows: u64,
}

impl Keys {
    /// Keys of connection `index` of `connections`; the same seed gives the same keys.
    pub fn new(
        order: KeyOrder,
        placement: Placement,
        seed: u64,
        index: u64,
        connections: u64,
    ) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // Streams that cannot overlap: 2^128 draws apart.
        for _ in 0..index {
            random.jump();
        }
        Self {
            order,
            placement,
            random,
            stripe: index,
            connections,
            rows_before: 0,
            stripe_rows: 1,
        }
    }

    /// Lets sequential keys begin after `rows_before` rows, in stripes of `stripe_rows`.
    pub fn after(self, rows_before: u64, stripe_rows: u64) -> Self {
        Self { rows_before, stripe_rows, ..self }
    }

    /// Returns whether keys ascend.
    pub fn are_sequential(&self) -> bool {
        self.order == KeyOrder::Sequential
    }

    /// Fills a batch and says which data file it belongs to.
    pub fn fill(&mut self, batch: &mut Vec<Key>, rows: usize) -> u32 {
        batch.clear();
        match self.order {
            KeyOrder::Random => {
                // Which file comes next is as random as the keys are.
                let file = self.placement.file_of_random(Key::random(0, self.random.next_u64()));
                batch.extend((0..rows).map(|_| {
                    let tail = self.placement.tail_in_file(file, self.random.next_u64());
                    Key::random(self.random.next_u64(), tail)
                }));
                file
            }
            KeyOrder::Sequential => {
                let first = u128::from(self.stripe) * u128::from(self.stripe_rows);
                let before = u128::from(self.rows_before);
                let file = self.placement.file_of_sequential(Key(first), self.stripe_rows);
                self.stripe += self.connections;
                batch.extend((0..rows as u128).map(|row| Key(before + first + row)));
                file
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyOrder, Keys};
    use crate::placement::Placement;
    use std::collections::HashSet;
    use work::Key;

    fn batches(order: KeyOrder, files: u32, seed: u64) -> Vec<(u32, Vec<Key>)> {
        let mut all = Vec::new();
        for index in 0..3 {
            let mut keys = Keys::new(order, Placement::over(files), seed, index, 3).after(100, 50);
            for _ in 0..40 {
                let mut batch = Vec::new();
                all.push((keys.fill(&mut batch, 50), batch));
            }
        }
        all
    }

    #[test]
    fn random_keys_are_unique_repeatable_and_in_the_file_that_their_key_says() {
        let made = batches(KeyOrder::Random, 5, 9);
        let unique: HashSet<Key> = made.iter().flat_map(|(_, keys)| keys.clone()).collect();
        assert_eq!(unique.len(), 3 * 40 * 50);
        for (file, keys) in &made {
            assert!(keys.iter().all(|key| Placement::over(5).file_of_random(*key) == *file));
        }
        assert_eq!(made, batches(KeyOrder::Random, 5, 9));
        assert_ne!(made, batches(KeyOrder::Random, 5, 10));
    }

    #[test]
    fn random_keys_use_all_files_and_all_of_the_key_space() {
        let made = batches(KeyOrder::Random, 4, 1);
        for file in 0..4 {
            assert!(made.iter().any(|(used, _)| *used == file));
        }
        let first_bytes: HashSet<u8> =
            made.iter().flat_map(|(_, keys)| keys).map(|key| key.bytes()[0]).collect();
        assert_eq!(first_bytes.len(), 256);
    }

    #[test]
    fn sequential_keys_leave_no_gap_and_start_after_the_rows_before() {
        let made = batches(KeyOrder::Sequential, 4, 1);
        let mut keys: Vec<u128> = made.iter().flat_map(|(_, keys)| keys).map(|key| key.0).collect();
        keys.sort_unstable();
        assert!(keys.iter().copied().eq(100..100 + 3 * 40 * 50));
        assert_eq!(made.iter().map(|(file, _)| *file).collect::<HashSet<_>>().len(), 4);
    }
}

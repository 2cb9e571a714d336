//! The place and the size of the next I/O.

use crate::{Access, BlockSize};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::{AtomicU64, Ordering};

/// A region, with its file as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub file: usize,
    pub start: u64,
    pub length: u64,
}

/// The place of one I/O.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Place {
    pub file: usize,
    pub offset: u64,
    pub length: u32,
}

/// All places where the I/Os of a stream can go.
#[derive(Debug, Clone)]
pub struct Space {
    extents: Vec<Extent>,
    access: Access,
    block: BlockSize,
    align: u64,
    /// Sizes grow in steps of this many bytes.
    step: u32,
    /// Number of sizes.
    sizes: u64,
    /// Bytes up to the end of each extent; sequential positions count these.
    ends: Vec<u64>,
    /// Ends without the bytes of failed files, for random draws.
    alive_ends: Vec<u64>,
    /// Aligned places of the smallest block in each extent.
    places: Vec<u64>,
}

/// A number below `limit`, which is not 0, by multiplication instead of division: off from uniform
/// by less than `limit` in 2^64.
#[inline]
pub fn below(random: &mut Xoshiro256PlusPlus, limit: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(limit)) >> 64) as u64
}

impl Space {
    /// Each extent has room for the largest block.
    pub fn new(extents: Vec<Extent>, access: Access, block: BlockSize, align: Option<u64>) -> Self {
        let align = align.unwrap_or(u64::from(block.min)).max(1);
        let step = u64::from(block.min).min(align).max(1) as u32;
        let ends = cumulated(extents.iter().map(|extent| extent.length));
        let places = extents
            .iter()
            .map(|extent| (extent.length - u64::from(block.min)) / align + 1)
            .collect();
        Self {
            alive_ends: ends.clone(),
            sizes: u64::from((block.max - block.min) / step) + 1,
            extents,
            access,
            block,
            align,
            step,
            ends,
            places,
        }
    }

    /// Takes the extents of files that failed out.
    pub fn remove(&mut self, failed: impl Fn(usize) -> bool) {
        let lengths =
            self.extents.iter().map(|extent| if failed(extent.file) { 0 } else { extent.length });
        self.alive_ends = cumulated(lengths);
    }

    /// The next place; `None` when all files have failed. `position` is where the threads of a
    /// sequential stream have come to.
    #[inline]
    pub fn next(&self, random: &mut Xoshiro256PlusPlus, position: &AtomicU64) -> Option<Place> {
        let alive = *self.alive_ends.last()?;
        if alive == 0 {
            return None;
        }
        let length = match self.sizes {
            1 => self.block.min,
            sizes => self.block.min + below(random, sizes) as u32 * self.step,
        };
        Some(match self.access {
            Access::Random => self.anywhere(random, alive, length),
            Access::Sequential => self.after(position, length),
        })
    }

    /// An extent by its length, and in it any aligned place where the I/O fits.
    #[inline]
    fn anywhere(&self, random: &mut Xoshiro256PlusPlus, alive: u64, length: u32) -> Place {
        let index = if self.extents.len() == 1 {
            0
        } else {
            let byte = below(random, alive);
            self.alive_ends.partition_point(|end| *end <= byte)
        };
        let extent = self.extents[index];
        let places = if length == self.block.min {
            self.places[index]
        } else {
            (extent.length - u64::from(length)) / self.align + 1
        };
        Place {
            file: extent.file,
            offset: extent.start + below(random, places) * self.align,
            length,
        }
    }

    /// The place at the shared position, which moves on.
    fn after(&self, position: &AtomicU64, length: u32) -> Place {
        let mut place = Place { file: 0, offset: 0, length };
        let _ = position.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |position| {
            let next;
            (place, next) = self.step(position, length);
            Some(next)
        });
        place
    }

    /// The place at a position and the position after it. Not all files have failed.
    fn step(&self, position: u64, length: u32) -> (Place, u64) {
        let mut index = self.ends.partition_point(|end| *end <= position);
        let mut position = position;
        loop {
            if index == self.extents.len() {
                (index, position) = (0, 0);
            }
            let room = self.ends[index] - position;
            if self.is_alive(index) && room >= u64::from(self.block.min) {
                break;
            }
            position = self.ends[index];
            index += 1;
        }
        let (extent, end) = (self.extents[index], self.ends[index]);
        let room = end - position;
        let length = if u64::from(length) <= room {
            length
        } else {
            let more = (room - u64::from(self.block.min)) as u32;
            self.block.min + more / self.step * self.step
        };
        let offset = extent.start + position - (end - extent.length);
        let next = (position + u64::from(length).next_multiple_of(self.align)).min(end);
        (Place { file: extent.file, offset, length }, next)
    }

    fn is_alive(&self, index: usize) -> bool {
        let before = if index == 0 { 0 } else { self.alive_ends[index - 1] };
        self.alive_ends[index] > before
    }
}

fn cumulated(lengths: impl Iterator<Item = u64>) -> Vec<u64> {
    lengths
        .scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Extent, Place, Space};
    use crate::{Access, BlockSize};
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::HashMap;
    use std::sync::atomic::AtomicU64;

    const FIRST: Extent = Extent { file: 0, start: 1 << 20, length: 3 << 20 };
    const SECOND: Extent = Extent { file: 1, start: 512, length: 1 << 20 };

    fn draw(space: &Space, count: usize) -> Vec<Place> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let position = AtomicU64::new(0);
        (0..count).map(|_| space.next(&mut random, &position).unwrap()).collect()
    }

    #[test]
    fn random_places_are_aligned_inside_and_everywhere_alike() {
        let block = BlockSize { min: 8 << 10, max: 8 << 10 };
        let space = Space::new(vec![FIRST, SECOND], Access::Random, block, None);
        let count = 512 * 200;
        let mut hits = HashMap::new();
        for place in draw(&space, count) {
            let extent = [FIRST, SECOND][place.file];
            assert!((place.offset - extent.start).is_multiple_of(8 << 10), "{place:?}");
            assert!(
                place.offset + u64::from(place.length) <= extent.start + extent.length,
                "{place:?}"
            );
            *hits.entry(place).or_insert(0_u32) += 1;
        }
        // 4 MiB in blocks of 8 KiB, each hit 200 times on average (deviation 14).
        assert_eq!(hits.len(), 512);
        assert!(hits.values().all(|hits| (120..290).contains(hits)), "{hits:?}");
        // Chi-square with 511 degrees of freedom: 99.99 % are below 640.
        let chi: f64 = hits.values().map(|hits| (f64::from(*hits) - 200.0).powi(2) / 200.0).sum();
        assert!((380.0..640.0).contains(&chi), "{chi}");
    }

    #[test]
    fn sizes_are_all_multiples_up_to_the_largest_and_alignment_can_be_coarser_or_finer() {
        let block = BlockSize { min: 512, max: 60 << 10 };
        let space = Space::new(vec![FIRST], Access::Random, block, Some(64 << 10));
        let places = draw(&space, 20_000);
        assert!(places.iter().all(|place| (place.offset - FIRST.start).is_multiple_of(64 << 10)));
        let mut sizes: Vec<u32> = places.iter().map(|place| place.length).collect();
        sizes.sort_unstable();
        sizes.dedup();
        assert_eq!(sizes, (1..=120).map(|n| n * 512).collect::<Vec<_>>());
        // Every start from which a block fits is drawn, the last one too.
        let fine = Space::new(
            vec![SECOND],
            Access::Random,
            BlockSize { min: 512 << 10, max: 512 << 10 },
            Some(512),
        );
        let offsets: std::collections::BTreeSet<u64> =
            draw(&fine, 40_000).iter().map(|place| place.offset).collect();
        assert_eq!(offsets.len(), 1025);
        assert_eq!(offsets.last(), Some(&(512 + (512 << 10))));
    }

    #[test]
    fn sequential_places_cover_each_byte_once_and_begin_anew() {
        let block = BlockSize { min: 512, max: 60 << 10 };
        let space = Space::new(vec![FIRST, SECOND], Access::Sequential, block, None);
        let mut next = [FIRST.start, SECOND.start];
        let mut wraps = 0;
        for place in draw(&space, 1_000) {
            if place.file == 0 && place.offset == FIRST.start && next[0] > FIRST.start {
                assert_eq!(next, [FIRST.start + FIRST.length, SECOND.start + SECOND.length]);
                next = [FIRST.start, SECOND.start];
                wraps += 1;
            }
            assert_eq!(place.offset, next[place.file]);
            next[place.file] += u64::from(place.length);
        }
        assert!(wraps >= 5, "{wraps}");
    }

    #[test]
    fn failed_files_get_no_more() {
        let block = BlockSize { min: 8 << 10, max: 8 << 10 };
        for access in [Access::Random, Access::Sequential] {
            let mut space = Space::new(vec![FIRST, SECOND, FIRST], access, block, None);
            space.remove(|file| file == 0);
            assert!(draw(&space, 1_000).iter().all(|place| place.file == 1));
            space.remove(|_| true);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
            assert_eq!(space.next(&mut random, &AtomicU64::new(0)), None);
        }
    }

    #[test]
    fn a_rest_that_is_too_small_is_left_out() {
        let odd = Extent { file: 0, start: 0, length: 20_000 };
        let block = BlockSize { min: 8 << 10, max: 8 << 10 };
        let offsets: Vec<u64> = draw(&Space::new(vec![odd], Access::Sequential, block, None), 4)
            .iter()
            .map(|p| p.offset)
            .collect();
        assert_eq!(offsets, [0, 8192, 0, 8192]);
    }
}

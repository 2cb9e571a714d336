//! Memory that I/Os read into and write from.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::alloc::{self, Layout};
use std::io;
use std::ptr::NonNull;

/// Buffers begin at multiples of this; also the piece that drives and file systems deduplicate and
/// compress at the finest.
const PAGE: usize = 4096;

/// Bytes that are new in each piece of each write.
const STAMP: usize = 8;

/// A kind of buffer, of which each I/O in flight has one.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Size of one.
    pub bytes: u32,
    /// Share of its contents, 0 to 100, that a compressor can remove; `None`: it is read into.
    pub compress_percent: Option<u8>,
}

/// The buffers of one thread, in one piece of memory, all in use by the kernel at times.
#[derive(Debug)]
pub struct Buffers {
    memory: NonNull<u8>,
    bytes: usize,
    /// The begin of the buffers of each kind, and the distance between them.
    kinds: Vec<(usize, usize)>,
    depth: usize,
}

impl Buffers {
    /// Makes `depth` buffers of each kind.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn new(depth: u32, kinds: &[Kind], random: &mut Xoshiro256PlusPlus) -> io::Result<Self> {
        let depth = depth as usize;
        let mut places = Vec::new();
        let mut bytes = 0;
        for kind in kinds {
            let stride = (kind.bytes as usize).next_multiple_of(PAGE);
            places.push((bytes, stride));
            bytes += stride * depth;
        }
        let layout = layout(bytes)?;
        // SAFETY: the layout is not of 0 bytes.
        let memory = NonNull::new(unsafe { alloc::alloc_zeroed(layout) });
        let memory = memory.ok_or(io::ErrorKind::OutOfMemory)?;
        let buffers = Self { memory, bytes, kinds: places, depth };
        for (kind, (start, stride)) in kinds.iter().zip(&buffers.kinds) {
            // SAFETY: the range lies within the memory, to which there is no other reference yet.
            let contents = unsafe {
                std::slice::from_raw_parts_mut(buffers.memory.as_ptr().add(*start), stride * depth)
            };
            // Also faults the memory in: else each page would be faulted by its first read.
            fill(contents, kind.compress_percent.unwrap_or(100), random);
        }
        Ok(buffers)
    }

    /// Address and number of the buffer of this kind for I/O number `slot`.
    #[inline]
    pub fn get(&self, kind: usize, slot: u32) -> (*mut u8, u16) {
        let (start, stride) = self.kinds[kind];
        // SAFETY: there are `depth` buffers of each kind, and slots count from 0 up to that.
        let address = unsafe { self.memory.as_ptr().add(start + stride * slot as usize) };
        (address, (kind * self.depth + slot as usize) as u16)
    }

    /// All buffers, in order of their numbers.
    pub fn all(&self) -> Vec<libc::iovec> {
        self.kinds
            .iter()
            .flat_map(|&(start, stride)| {
                (0..self.depth).map(move |slot| libc::iovec {
                    // SAFETY: as in `get`.
                    iov_base: unsafe { self.memory.as_ptr().add(start + stride * slot) }.cast(),
                    iov_len: stride,
                })
            })
            .collect()
    }

    /// Number of buffers of each kind.
    pub fn depth(&self) -> u32 {
        self.depth as u32
    }

    /// Size of all of them.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes a buffer that is about to be written unlike any other that was, in each of its pieces.
    #[inline]
    pub fn stamp(&self, kind: usize, slot: u32, random: &mut Xoshiro256PlusPlus) {
        let (address, _) = self.get(kind, slot);
        for piece in (0..self.kinds[kind].1).step_by(PAGE) {
            let stamp = random.next_u64();
            // SAFETY: buffers are whole pages, and no I/O uses one that is about to be written.
            unsafe { address.add(piece).cast::<u64>().write_unaligned(stamp) };
        }
    }

    /// Gives the memory up for good: I/Os may still be using it.
    pub fn leak(&mut self) {
        self.bytes = 0;
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if let Some(layout) = layout(self.bytes).ok()
            && self.bytes > 0
        {
            // SAFETY: it was allocated with this layout, and no I/O uses it any more: else `leak`
            // is called.
            unsafe { alloc::dealloc(self.memory.as_ptr(), layout) };
        }
    }
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Buffers {}

fn layout(bytes: usize) -> io::Result<Layout> {
    Layout::from_size_align(bytes.max(PAGE), PAGE).map_err(io::Error::other)
}

/// Fills each page with zeros to this percentage, behind bytes that do not compress.
pub fn fill(contents: &mut [u8], compress_percent: u8, random: &mut Xoshiro256PlusPlus) {
    for page in contents.chunks_mut(PAGE) {
        let noise = (page.len() * usize::from(100 - compress_percent.min(100)) / 100)
            .max(STAMP.min(page.len()));
        let (front, zeros) = page.split_at_mut(noise);
        random.fill_bytes(front);
        zeros.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffers, Kind, fill};
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_share_of_zeros_is_as_asked_in_each_page() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for (percent, zeros) in [(0, 0), (50, 2048), (75, 3072), (100, 4088)] {
            let mut contents = vec![1; 8192];
            fill(&mut contents, percent, &mut random);
            for page in contents.chunks(4096) {
                let trailing = page.iter().rev().take_while(|byte| **byte == 0).count();
                assert!((zeros..zeros + 3).contains(&trailing), "{percent} %: {trailing}");
                // Of random bytes one in 256 is 0.
                let more = page[..4096 - trailing].split(|byte| *byte == 0).count() - 1;
                assert!(more < 60, "{percent} %: {more}");
            }
        }
    }

    #[test]
    fn each_write_is_new_in_each_page_and_buffers_do_not_overlap() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let kinds = [
            Kind { bytes: 512, compress_percent: None },
            Kind { bytes: 12_000, compress_percent: Some(50) },
        ];
        let buffers = Buffers::new(3, &kinds, &mut random).unwrap();
        assert_eq!(buffers.bytes(), 3 * 4096 + 3 * 12_288);
        let starts: Vec<usize> =
            buffers.all().iter().map(|buffer| buffer.iov_base as usize).collect();
        assert_eq!(starts[4], buffers.get(1, 1).0 as usize);
        assert_eq!(buffers.get(1, 1).1, 4);
        assert_eq!(starts[5] - starts[4], 12_288);
        let (address, _) = buffers.get(1, 2);
        // SAFETY: the buffer is 12,000 bytes long and not in use.
        let contents = || unsafe { std::slice::from_raw_parts(address, 12_000) }.to_vec();
        let before = contents();
        buffers.stamp(1, 2, &mut random);
        let after = contents();
        for page in 0..3 {
            let changed: Vec<usize> = (page * 4096..12_000.min((page + 1) * 4096))
                .filter(|i| before[*i] != after[*i])
                .collect();
            assert!(
                !changed.is_empty() && changed.iter().all(|byte| byte % 4096 < 8),
                "{changed:?}"
            );
        }
    }
}

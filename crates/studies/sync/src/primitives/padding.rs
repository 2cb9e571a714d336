//! The distance between the members of a table.

use std::ops::Deref;

/// Bytes of a cache line on x86-64 and most 64-bit ARM processors.
pub(crate) const LINE_BYTES: usize = 64;
/// Alignment of the tables, so that members lie in lines in the same way in every trial.
const TABLE_ALIGNMENT: usize = 128;

experiment::choice! {
    /// The distance between the members of a table.
    pub enum Padding {
        /// One after the other: several in a cache line.
        None = "none",
        /// Each in a cache line of its own, 64 bytes.
        Line = "line",
        /// Each in two lines of its own, 128 bytes: processors fetch lines in pairs (Intel, "64 and
        /// IA-32 Architectures Optimization Reference Manual", the spatial prefetcher).
        TwoLines = "two-lines",
    }
}

/// A member with what keeps it apart from the next one: a type each, so that the measured loop has
/// no trace of the choice.
macro_rules! cell {
    ($cell:ident $(, $alignment:meta)?) => {
        #[derive(Debug, Default)]
        $(#[$alignment])?
        pub struct $cell<T>(T);

        impl<T> Deref for $cell<T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                &self.0
            }
        }
    };
}

cell!(Packed);
cell!(OneLine, repr(align(64)));
cell!(TwoLines, repr(align(128)));

/// Members at a fixed place within the lines, with nothing else in these.
#[derive(Debug)]
pub struct Cells<C> {
    cells: Box<[C]>,
    first: usize,
    members: usize,
}

impl<C: Default + Deref<Target: Sized>> Cells<C> {
    pub fn new(members: usize) -> Self {
        // An aligned place recurs with this period, which the power of 2 in the size gives.
        let period = (TABLE_ALIGNMENT >> size_of::<C>().trailing_zeros()).max(1);
        let last_line = TABLE_ALIGNMENT.div_ceil(size_of::<C>());
        let room = members + period + last_line;
        let cells: Box<[C]> = (0..room).map(|_| Default::default()).collect();
        // If no member begins at such a place (does not occur with our sizes), use the first one.
        let first =
            Some(cells.as_ptr().align_offset(TABLE_ALIGNMENT)).filter(|offset| *offset < period);
        Self { cells, first: first.unwrap_or(0), members }
    }

    #[inline]
    pub fn get(&self, member: usize) -> &C::Target {
        &self.cells[self.first + member]
    }

    /// Number of cache lines that the members lie in.
    pub fn lines(&self) -> u32 {
        let lines = (self.members * size_of::<C>()).div_ceil(LINE_BYTES);
        lines.min(self.members * size_of::<C::Target>().div_ceil(LINE_BYTES)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{Cells, OneLine, Packed, TwoLines};
    use std::ops::Deref;
    use std::sync::atomic::AtomicU64;
    use std::sync::{Mutex, RwLock};

    /// Addresses of the members, counted from the first, which has to be aligned.
    fn offsets<C: Default + Deref<Target: Sized>>() -> Vec<usize> {
        let cells = Cells::<C>::new(5);
        let first = std::ptr::from_ref(cells.get(0)).addr();
        assert_eq!(first % 128, 0);
        (0..5).map(|member| std::ptr::from_ref(cells.get(member)).addr() - first).collect()
    }

    #[test]
    fn members_lie_as_far_apart_as_asked_for() {
        assert_eq!(offsets::<Packed<AtomicU64>>(), [0, 8, 16, 24, 32]);
        assert_eq!(offsets::<OneLine<AtomicU64>>(), [0, 64, 128, 192, 256]);
        assert_eq!(offsets::<TwoLines<AtomicU64>>(), [0, 128, 256, 384, 512]);
        assert_eq!(offsets::<OneLine<RwLock<u64>>>(), [0, 64, 128, 192, 256]);
        assert_eq!(offsets::<Packed<Mutex<u64>>>(), [0, 16, 32, 48, 64]);
        assert_eq!(offsets::<Packed<RwLock<u64>>>(), [0, 24, 48, 72, 96]);
    }

    #[test]
    fn lines_are_counted() {
        assert_eq!(Cells::<Packed<AtomicU64>>::new(1).lines(), 1);
        assert_eq!(Cells::<Packed<AtomicU64>>::new(8).lines(), 1);
        assert_eq!(Cells::<Packed<AtomicU64>>::new(9).lines(), 2);
        assert_eq!(Cells::<OneLine<AtomicU64>>::new(9).lines(), 9);
        assert_eq!(Cells::<TwoLines<AtomicU64>>::new(9).lines(), 9);
    }
}

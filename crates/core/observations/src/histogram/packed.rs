//! A distribution as it is stored: the standard V2 form of `HdrHistogram` (`hdrhistogram.org`),
//! which its libraries in other languages read, with bounds and digits as we record them. It is
//! questioned as it is, without the 264 KiB of counters that recording needs.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::cell::RefCell;

/// Highest recordable value: one hour in nanoseconds. Longer is recorded as one hour.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits kept: values are right within 0.1 %.
pub const DIGITS: u8 = 3;

const COMPRESSED: u32 = 0x1c84_9314;
const UNCOMPRESSED: u32 = 0x1c84_9313;
/// Of the uncompressed form: what it is, its length, an offset, digits, bounds, and a ratio.
const HEADER: usize = 40;
/// Slots of which each holds values that differ in the lowest bits that are not kept.
pub const SLOTS: usize = slot(HIGHEST_NS) + 1;
/// Values below this have a slot each, and each power of two above has half as many slots.
const EXACT: u64 = 2048;
/// A count takes at most this many bytes.
const COUNT_MAX: usize = 9;

thread_local! {
    /// The tables are larger than most histograms: made once.
    static INFLATE: RefCell<Decompress> = RefCell::new(Decompress::new(true));
}

/// A stored histogram could not be read, for this reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a histogram: {0}")]
pub struct HistogramError(&'static str);

/// The counts of a distribution: numbers of variable length, one for each slot or run of empty
/// ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    counts: Box<[u8]>,
    len: u64,
}

/// Values recorded in one slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slot {
    /// The position, in ascending order of the values.
    pub at: usize,
    /// The number of times that one of its values was recorded.
    pub count: u64,
}

impl Slot {
    /// The smallest and the largest value that it stands for.
    pub fn ends(self) -> (u64, u64) {
        equivalent(lowest(self.at))
    }
}

/// The first and last value that are recorded in the same bucket as this one.
pub const fn equivalent(value: u64) -> (u64, u64) {
    let bits = (u64::BITS - value.leading_zeros()).saturating_sub(EXACT.trailing_zeros());
    (value >> bits << bits, (value >> bits << bits) + (1 << bits) - 1)
}

/// The slot that a value is counted in.
#[inline]
pub const fn slot(value: u64) -> usize {
    let bits = (u64::BITS - value.leading_zeros()).saturating_sub(EXACT.trailing_zeros());
    ((value >> bits) + bits as u64 * (EXACT / 2)) as usize
}

const fn lowest(slot: usize) -> u64 {
    let (slot, half) = (slot as u64, EXACT / 2);
    if slot < EXACT { slot } else { (slot % half + half) << (slot / half - 1) }
}

impl Packed {
    /// From slots in ascending order, of which none is empty.
    pub fn from_slots(slots: impl IntoIterator<Item = Slot>) -> Self {
        let (mut counts, mut next, mut len) = (Vec::new(), 0, 0);
        for Slot { at, count } in slots {
            if at > next {
                write(&mut counts, -((at - next) as i64));
            }
            // More than fit in a signed number cannot be recorded one by one.
            write(&mut counts, i64::try_from(count).unwrap_or(i64::MAX));
            next = at + 1;
            len = u64::saturating_add(len, count);
        }
        Self { counts: counts.into(), len }
    }

    /// Number of recorded values.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The slots that are not empty, in ascending order.
    pub fn slots(&self) -> Slots<'_> {
        Slots { counts: &self.counts, slot: 0 }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut plain = Vec::with_capacity(HEADER + self.counts.len());
        plain.extend(UNCOMPRESSED.to_be_bytes());
        plain.extend((self.counts.len() as u32).to_be_bytes());
        plain.extend(0_u32.to_be_bytes());
        plain.extend(u32::from(DIGITS).to_be_bytes());
        plain.extend(1_u64.to_be_bytes());
        plain.extend(HIGHEST_NS.to_be_bytes());
        plain.extend(1.0_f64.to_be_bytes());
        plain.extend(&self.counts);
        let mut deflated = Vec::with_capacity(plain.len() + 64);
        // Deflate adds a few bytes at most where it finds nothing to shorten.
        let _ = Compress::new(Compression::default(), true).compress_vec(
            &plain,
            &mut deflated,
            FlushCompress::Finish,
        );
        let mut bytes = Vec::with_capacity(8 + deflated.len());
        bytes.extend(COMPRESSED.to_be_bytes());
        bytes.extend((deflated.len() as u32).to_be_bytes());
        bytes.extend(deflated);
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        let (head, deflated) = bytes.split_at_checked(8).ok_or(HistogramError("too short"))?;
        if number(head, 0) != COMPRESSED || number(head, 4) as usize != deflated.len() {
            return Err(HistogramError("no compressed V2 histogram"));
        }
        let plain = inflate(deflated).ok_or(HistogramError("its compressed part is damaged"))?;
        let (head, counts) = plain.split_at_checked(HEADER).ok_or(HistogramError("too short"))?;
        if number(head, 0) != UNCOMPRESSED || number(head, 4) as usize != counts.len() {
            return Err(HistogramError("no V2 histogram"));
        }
        let bounds = (number(head, 8), number(head, 12), number(head, 16), number(head, 20));
        if bounds != (0, u32::from(DIGITS), 0, 1) {
            return Err(HistogramError("other digits or bounds than Steelbench records"));
        }
        let len = check(counts).ok_or(HistogramError("its counts are damaged"))?;
        Ok(Self { counts: counts.into(), len })
    }
}

/// The slots of a packed histogram.
#[derive(Default)]
pub struct Slots<'a> {
    counts: &'a [u8],
    slot: usize,
}

impl Iterator for Slots<'_> {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        while let Some(number) = read(&mut self.counts) {
            let at = self.slot;
            if number <= 0 {
                // Zero is one empty slot.
                self.slot += number.unsigned_abs().max(1) as usize;
                continue;
            }
            self.slot += 1;
            return Some(Slot { at, count: number as u64 });
        }
        None
    }
}

/// Returns the number of values of these counts, if they can be read and lie within the bounds.
fn check(mut counts: &[u8]) -> Option<u64> {
    let (mut slots, mut len) = (0_u64, 0_u64);
    while !counts.is_empty() {
        let number = read(&mut counts)?;
        slots = slots.checked_add(if number < 0 { number.unsigned_abs() } else { 1 })?;
        len = len.checked_add(number.max(0) as u64)?;
    }
    (slots <= SLOTS as u64).then_some(len)
}

/// `None` for data that inflates to more than a histogram of all slots.
fn inflate(deflated: &[u8]) -> Option<Vec<u8>> {
    INFLATE.with_borrow_mut(|inflate| {
        inflate.reset(true);
        let mut plain = Vec::with_capacity(4096);
        while plain.len() <= HEADER + SLOTS * COUNT_MAX {
            let done = inflate.total_in() as usize;
            match inflate
                .decompress_vec(&deflated[done..], &mut plain, FlushDecompress::None)
                .ok()?
            {
                Status::StreamEnd => {
                    return (inflate.total_in() as usize == deflated.len()).then_some(plain);
                }
                // The input has ended, but not what it says.
                _ if plain.len() < plain.capacity() => return None,
                _ => plain.reserve(plain.capacity()),
            }
        }
        None
    })
}

/// The number of 32 bits at a place that is known to exist.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Zig-zag, then 7 bits a byte from the lowest on; a ninth byte has 8.
fn write(out: &mut Vec<u8>, number: i64) {
    let mut rest = (number << 1 ^ number >> 63) as u64;
    for _ in 1..COUNT_MAX {
        if rest < 0x80 {
            break;
        }
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[inline]
fn read(counts: &mut &[u8]) -> Option<i64> {
    // Most take one byte.
    if let [byte @ ..0x80, rest @ ..] = counts {
        *counts = rest;
        return Some(signed(u64::from(*byte)));
    }
    read_long(counts)
}

fn read_long(counts: &mut &[u8]) -> Option<i64> {
    let mut number = 0_u64;
    for at in 0..COUNT_MAX {
        let (byte, rest) = counts.split_first()?;
        *counts = rest;
        if at == COUNT_MAX - 1 || *byte < 0x80 {
            number |= u64::from(*byte) << (7 * at);
            break;
        }
        number |= u64::from(*byte & 0x7f) << (7 * at);
    }
    Some(signed(number))
}

fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_the_values_that_the_library_cannot_tell_apart() {
        let library =
            hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, DIGITS).unwrap();
        assert_eq!(library.distinct_values(), slot(1 << 42));
        for value in [0, 1, 2047, 2048, 2049, 4095, 4096, 123_456_789, HIGHEST_NS] {
            let (low, high) = (library.lowest_equivalent(value), library.highest_equivalent(value));
            assert_eq!((equivalent(value), lowest(slot(value))), ((low, high), low), "{value}");
        }
        assert!((1..SLOTS).all(|at| slot(lowest(at)) == at && slot(lowest(at) - 1) == at - 1));
    }

    #[test]
    fn numbers_of_any_size_survive() {
        for number in [0, 1, -1, 63, -64, 64, 1 << 40, -(1 << 40), i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            write(&mut bytes, number);
            assert_eq!(
                (read(&mut bytes.as_slice()), bytes.len() <= COUNT_MAX),
                (Some(number), true),
                "{number}"
            );
        }
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let good = Packed::from_slots(
            [(5, 3), (70_000, 2), (HIGHEST_NS, 1)]
                .map(|(value, count)| Slot { at: slot(value), count }),
        );
        let bytes = good.to_bytes();
        assert_eq!(Packed::from_bytes(&bytes).unwrap(), good);
        let mut accepted = 0;
        for at in 0..bytes.len() {
            assert!(Packed::from_bytes(&bytes[..at]).is_err(), "{at}");
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            accepted += usize::from(Packed::from_bytes(&changed).is_ok());
        }
        // Deflate has bits that change nothing; the checksum finds every change of what they say.
        assert!(accepted <= 2, "{accepted} of {}", bytes.len());
        let far = Packed { counts: Box::from([0x81, 0x80, 0x80, 0x01, 2].as_slice()), len: 1 };
        assert!(Packed::from_bytes(&far.to_bytes()).is_err(), "a slot beyond the bounds");
    }
}

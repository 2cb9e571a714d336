use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use std::cell::UnsafeCell;
use std::io;
use std::sync::atomic::{AtomicU16, Ordering};

/// Number of buffers, a power of two. When all of them are full, receiving begins anew.
const COUNT: u16 = 256;

/// Bytes of a buffer: more than most answers have, and half of what the server sends at most at once.
const BYTES: usize = 4096;

/// Buffers that the kernel fills with what comes, whichever connection it is for
/// (`io_uring_register_buf_ring(3)`).
pub struct Pool {
    queue: Box<Queue>,
    buffers: Box<[UnsafeCell<[u8; BYTES]>]>,
    /// Buffers given to the kernel so far; only the lower bits count.
    given: u16,
}

/// Shared with the kernel, which takes buffers from its head.
#[repr(C, align(4096))]
struct Queue([UnsafeCell<BufRingEntry>; COUNT as usize]);

impl Pool {
    /// The group under which the buffers are known.
    pub const GROUP: u16 = 0;

    /// Most buffers that can be full at a time.
    pub const MOST_FULL: u32 = COUNT as u32;

    /// Buffers for a ring, which has to be dropped before them.
    pub fn register(ring: &Submitter<'_>) -> io::Result<Self> {
        let buffers = (0..COUNT).map(|_| UnsafeCell::new([0; BYTES])).collect();
        // SAFETY: an entry is plain numbers, for which zeros are valid.
        let entry = |_| UnsafeCell::new(unsafe { std::mem::zeroed() });
        let queue = Box::new(Queue(std::array::from_fn(entry)));
        // SAFETY: the queue is in a box of its own, which outlives the ring.
        unsafe { ring.register_buf_ring_with_flags(queue.0.as_ptr() as u64, COUNT, Self::GROUP, 0)? };
        let mut pool = Self { queue, buffers, given: 0 };
        (0..COUNT).for_each(|buffer| pool.give(buffer));
        Ok(pool)
    }

    /// Looks at the bytes of a buffer and gives it back.
    ///
    /// # Safety
    /// A completion has handed out this buffer with so many bytes, and it has not been taken since.
    pub unsafe fn take<T>(&mut self, buffer: u16, bytes: usize, look: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: the kernel leaves the buffer alone until it is given back.
        let content = unsafe { &*self.buffers[usize::from(buffer)].get() };
        let result = look(&content[..bytes]);
        self.give(buffer);
        result
    }

    fn give(&mut self, buffer: u16) {
        let entry = self.queue.0[usize::from(self.given % COUNT)].get();
        // SAFETY: the kernel does not look at entries behind the tail, and we alone write.
        let entry = unsafe { &mut *entry };
        entry.set_addr(self.buffers[usize::from(buffer)].get() as u64);
        entry.set_len(BYTES as u32);
        entry.set_bid(buffer);
        self.given = self.given.wrapping_add(1);
        // SAFETY: the tail is within the first entry of a queue that is there as long as we are,
        // and written here only.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.queue.0[0].get()).cast_mut()) };
        tail.store(self.given, Ordering::Release);
    }
}

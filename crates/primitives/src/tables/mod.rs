//! The table of counters under each primitive.

mod arrays;
mod maps;
mod partitions;

pub use arrays::{AtomicArray, CasArray, MutexArray, RacyArray, SharedCounter, SpinArray};
pub use maps::{ConcurrentMap, MutexMap, RwLockMap};
pub use partitions::{PerCore, PerThread};

/// Counters that several threads add to. Threads and members are numbered from 0.
///
/// `acquired` is called when a lock was got, where there is one.
pub trait Table: Sync {
    /// Adds one to a member.
    fn add(&self, thread: usize, member: usize, acquired: impl FnOnce());
    /// The count of a member.
    fn read(&self, thread: usize, member: usize, acquired: impl FnOnce()) -> u64;
    /// The sum over all members, while nobody adds.
    fn sum(&self) -> u64;
    /// Number of cache lines that threads share and write to; `None` where it is not known (maps).
    fn shared_lines(&self) -> Option<u32>;
}

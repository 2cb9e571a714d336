//! Spin locks. Every one of them guards what is done between [`SpinLock::acquire`] and [`SpinLock::release`].

mod mcs;
mod tas;
mod ticket;
mod ttas;

pub use mcs::{Mcs, Seat};
pub use tas::TestAndSet;
pub use ticket::Ticket;
pub use ttas::TestAndTestAndSet;

/// A lock for which threads wait without sleeping.
pub trait SpinLock: Default + Send + Sync {
    /// Waits for the lock and takes it. `thread` numbers the calling thread, which waits for one lock at a time, in `seats`.
    fn acquire(&self, seats: &[Seat], thread: usize);
    /// Gives back the lock that this thread has taken.
    fn release(&self, seats: &[Seat], thread: usize);
}

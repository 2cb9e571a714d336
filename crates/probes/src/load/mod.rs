//! Load: many connections that run transactions, each timed, without disturbing each other.
//!
//! - `plan`: what a load is, apart from its transactions
//! - `arrivals`: when transactions are meant to start (closed or open loop)
//! - `recorder`: what one thread records, on cache lines of its own
//! - `shared`: what the threads share
//! - `client`: what one thread does
//! - `driver`: starts the threads, lets them go together and watches
//! - `outcome`: adds up what the threads saw

mod arrivals;
mod client;
mod driver;
mod outcome;
mod plan;
mod recorder;
mod shared;

pub use arrivals::Arrivals;
pub use driver::drive;
pub use plan::LoadPlan;

use engines::Transaction;

/// The transactions of one connection, in order.
pub trait Workload: Send {
    /// The measured part begins: work that was done before does not count.
    fn begin(&mut self);
    /// The next transaction; `None` when this connection has done all its work, which it never has
    /// before [`Workload::begin`].
    fn next(&mut self) -> Option<Transaction<'_>>;
}

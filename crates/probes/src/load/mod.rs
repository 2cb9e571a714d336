//! Load: many connections that run transactions, each timed, without disturbing each other.
//!
//! - `arrivals`: when transactions are meant to start (closed or open loop)
//! - `recorder`: what one thread records, on cache lines of its own
//! - `client`: what one thread does
//! - `driver`: starts the threads, lets them go together and watches
//! - `outcome`: adds up what the threads saw

mod arrivals;
mod client;
mod driver;
mod outcome;
mod recorder;

pub use arrivals::Arrivals;
pub use driver::{LoadPlan, drive};

use engines::Transaction;

/// The transactions of one connection, in order.
pub trait Workload: Send {
    /// The next transaction; `None` when this connection has done all its work.
    fn next(&mut self) -> Option<Transaction<'_>>;
}

//! Load: many connections that run transactions, each timed, without disturbing each other.
//!
//! - `plan`: what a load is, apart from its transactions
//! - `workload`: what the transactions of one connection are
//! - `arrivals`: when transactions are meant to start (closed or open loop)
//! - `recorder`: what one thread records, on cache lines of its own
//! - `lane`: where one connection stands
//! - `client`: what one thread does with its connections
//! - `driver`: runs the threads
//! - `outcome`: adds up what the threads saw

mod arrivals;
mod client;
mod driver;
mod lane;
mod outcome;
mod plan;
mod recorder;
mod workload;

pub use arrivals::Arrivals;
pub use driver::drive;
pub use outcome::add_intervals;
pub use plan::{CONNECTIONS, DURATION, LoadPlan, RATE, THREADS, WARMUP};
pub use workload::{Amount, Step, Workload};

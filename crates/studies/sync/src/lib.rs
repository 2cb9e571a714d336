//! Study S2a: how primitives of synchronisation scale on this machine.
//!
//! - `primitives`: the primitives and the loop that loads them
//! - `probe`: settings and a trial; `outcome`: from what the threads did to observations

mod outcome;
pub mod primitives;
mod probe;

pub use crate::probe::*;
pub use outcome::{CORES, NODES, PROCESSORS, SHARED_LINES, SOCKETS};
pub use primitives::{Padding, Pinning, Primitive};

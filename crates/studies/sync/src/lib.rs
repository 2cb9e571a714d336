//! Study S2a: how primitives of synchronisation scale on this machine.
//!
//! - `primitives`: the primitives and the loop that loads them
//! - `quick`: `steelbench sync`
//! - `probe`: settings and a trial; `outcome`: from what the threads did to observations

pub mod analysis;
mod outcome;
pub mod primitives;
mod probe;
mod quick;
mod section;

pub use crate::probe::*;
pub use outcome::{CORES, NODES, PROCESSORS, SHARED_LINES, SOCKETS};
pub use primitives::{Padding, Pinning, Primitive};
pub use quick::COMMAND;

use self::analysis::scaling;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Scaling scaling: scaling(summary).as_ref() => section::section [screen];
    }
}

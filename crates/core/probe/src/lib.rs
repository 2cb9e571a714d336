//! The seam of studies: the probe of a trial, and the parts that several probes share.
//!
//! - `probe`: what a study implements
//! - `measure`: conducts the load of every probe while its surroundings are observed
//! - `side_actions`: actions beside a load; `load_clock`: its time and transactions, as they see it
//! - `generation`, `record`: the seam by which other processes generate a load
//! - `load`: the client loop of probes that send requests to a database
//! - `data`, `scans`: data sets and scans as experiment files name them

pub mod data;
mod error;
pub mod generation;
pub mod load;
mod load_clock;
pub mod measure;
mod probe;
mod record;
pub mod scans;
mod side_actions;

pub use error::ProbeError;
pub use load_clock::{CountedKind, LoadClock, LoadSeen, Timed};
pub use probe::{
    Action, Declarations, Disturbance, Disturbed, Probe, SetUp, Target, TrialContext,
    WrittenStatement,
};
pub use record::{Counting, Counts, LoadRecord, StudyCounts};

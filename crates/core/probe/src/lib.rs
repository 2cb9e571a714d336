//! The seam of studies: the probe of a trial, and the parts that several probes share.
//!
//! - `probe`: what a study implements
//! - `measure`: conducts the load of every probe while its surroundings are observed
//! - `disturbance`: actions beside a load
//! - `generation`, `record`: the seam by which other processes generate a load
//! - `load`: the client loop of probes that send requests to a database
//! - `data`, `keys`, `scans`, `aggregates`: data sets, keys and scans as experiment files name them

pub mod aggregates;
pub mod data;
mod disturbance;
mod error;
pub mod generation;
pub mod keys;
pub mod load;
pub mod measure;
mod probe;
mod record;
pub mod scans;

pub use disturbance::{Action, Disturbance, Disturbed, LoadClock};
pub use error::ProbeError;
pub use probe::{Probe, SetUp, Target, TrialContext, WrittenStatement};
pub use record::LoadRecord;

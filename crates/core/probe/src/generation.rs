//! The seam by which a trial hands its load to other processes.

use crate::ProbeError;
use crate::record::LoadRecord;
use engine::Shared;
use experiment::Configuration;
use observations::MachineLoad;
use std::any::Any;
use work::Cancel;
use work::conductor::Director;

/// The place where the load of a trial runs.
#[derive(Clone, Copy, Default)]
pub enum Generation<'a> {
    /// In this process; other processes cannot be had.
    #[default]
    Here,
    /// In other processes, if the configuration asks for any.
    Elsewhere(&'a dyn Generators),
    /// In this process, as a part of a load that another process conducts.
    Part(&'a dyn Part),
}

/// Load generators in other processes, seen from the process that conducts the load.
pub trait Generators: Send + Sync {
    /// Runs a load on them: they connect and warm up, `director` lets them go, and all start at
    /// the same time. The director looks at the load ten times a second at least.
    ///
    /// # Errors
    /// When there are too few of them, one fails or is lost, or the director stops the load.
    fn generate(
        &self,
        load: &SharedLoad<'_>,
        director: &mut dyn Director,
    ) -> Result<Generated, ProbeError>;
}

/// The load of a trial that several processes generate.
pub struct SharedLoad<'a> {
    /// The settings of the trial.
    pub configuration: &'a Configuration,
    /// Seed of the trial's data.
    pub seed: u64,
    /// Number of generators.
    pub generators: u32,
    /// The prepared target.
    pub target: &'a dyn Shared,
    /// Stop request of the trial.
    pub cancel: &'a Cancel,
}

/// The outcome of a load that several processes generated.
pub struct Generated {
    /// The records of all generators.
    pub parts: Vec<PartRecord>,
    /// Keeps the connections of the generators open until it is dropped.
    pub connected: Box<dyn Any + Send>,
}

/// The record of one generator.
pub struct PartRecord {
    /// Name of the generator.
    pub generator: String,
    /// The sum of its threads. Times count from when its load was let go.
    pub record: LoadRecord,
    /// Nanoseconds between the common start and that time, on the generator's own clock.
    pub late_ns: u64,
    /// The common start on its clock is known up to this.
    pub clock_uncertainty_ns: u64,
    /// Nanoseconds by which its clock and that of the conducting process drifted apart during the
    /// load.
    pub clock_drift_ns: u64,
    /// Load of its machine during the measurement.
    pub machine: MachineLoad,
    /// Bytes that its machine's busiest network interface carried in it, where they are known.
    pub network_bytes: Option<u64>,
}

/// The process that conducts a load, seen from one of its generators.
pub trait Part: Send + Sync {
    /// Returns the position of this generator, from 0.
    fn index(&self) -> u32;
    /// Returns the number of generators.
    fn parts(&self) -> u32;
    /// The director of this generator's load. It lets the load go at the common start.
    fn director(&self) -> Box<dyn Director + '_>;
    /// Takes the record, whose times count from the moment at which the director let the load go.
    /// Returns when the connections may close.
    fn deliver(&self, record: LoadRecord);
}

//! Probes: what a trial does and measures. One folder a probe; `measure` conducts the loads of all, `load` is the client
//! loop that database probes share.

pub mod command;
pub mod disk;
pub mod insert;
mod load;
mod measure;
mod probe;
pub mod script;
pub mod sync;
pub mod tables;

pub use probe::{Probe, ProbeError, Target, TrialContext};

/// All probes, by the name that `workload.probe` gives.
pub fn all() -> impl Iterator<Item = &'static dyn Probe> {
    const ALL: &[&dyn Probe] =
        &[&insert::Insert, &script::ScriptProbe, &disk::DiskProbe, &sync::SyncProbe, &command::CommandProbe];
    ALL.iter().copied()
}

/// The probe with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Probe> {
    all().find(|probe| probe.name() == name)
}

//! Probes: what a trial does and measures. One folder a probe; `measure` conducts the loads of all,
//! `load` is the client loop that database probes share, `data` the data sets that they work on.

pub mod bulk_load;
pub mod command;
pub mod data;
pub mod disk;
pub mod insert;
mod keys;
mod load;
pub mod lookup;
mod measure;
mod probe;
pub mod scan;
pub mod script;
pub mod sort_order;
pub mod sync;
pub mod update;

pub use probe::{Probe, ProbeError, Target, TrialContext};

/// All probes, by the name that `workload.probe` gives.
pub fn all() -> impl Iterator<Item = &'static dyn Probe> {
    const ALL: &[&dyn Probe] = &[
        &insert::Insert,
        &script::ScriptProbe,
        &scan::Scan,
        &lookup::Lookup,
        &update::Update,
        &sort_order::SortOrder,
        &bulk_load::BulkLoad,
        &disk::DiskProbe,
        &sync::SyncProbe,
        &command::CommandProbe,
    ];
    ALL.iter().copied()
}

/// The probe with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Probe> {
    all().find(|probe| probe.name() == name)
}

//! Trials of order entry on every engine that is installed.

use experiment::Value;
use observations::Observations;
use order_entry::OrderEntry;
use probe::{ProbeError, TrialContext};
use testing::trials::{Bench, TestEngine, text};

/// SQLite in WAL mode, and the last installation of each of the others.
pub fn installed() -> Vec<TestEngine> {
    let mut all = testing::trials::installed();
    for sqlite in all.iter_mut().filter(|installation| installation.name == "sqlite") {
        sqlite.settings.push(("target.settings.journal_mode", text("wal")));
    }
    all
}

/// The settings on reduced tables of two warehouses, by one connection unless they say otherwise.
pub fn reduced(settings: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
    let base = [
        ("workload.warehouses", Value::Integer(2)),
        ("workload.reduced_by", Value::Integer(100)),
        ("workload.connections", Value::Integer(1)),
    ];
    base.into_iter().chain(settings.iter().cloned()).collect()
}

/// Runs a trial, and hands the open target to a check before it is removed.
pub fn measured(
    installation: &TestEngine,
    settings: &[(&'static str, Value)],
    check: impl FnOnce(&TrialContext<'_>, Result<Observations, ProbeError>),
) {
    installation.measured(&OrderEntry, &reduced(settings), check).unwrap();
}

/// Runs a check on a bench of each engine, which keeps its server for all trials of the check.
pub fn each_engine(mut check: impl FnMut(&mut Bench<'_>)) {
    for installation in installed() {
        check(&mut installation.bench());
    }
}

/// Runs a trial on a bench, as [`measured`].
pub fn measured_on(
    bench: &mut Bench<'_>,
    settings: &[(&'static str, Value)],
    check: impl FnOnce(&TrialContext<'_>, Result<Observations, ProbeError>),
) {
    bench.measured(&OrderEntry, &reduced(settings), check).unwrap();
}

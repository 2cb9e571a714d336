//! The sync probe: how primitives of synchronisation scale on this machine.
//!
//! - `settings`: what can be asked for
//! - `outcome`: from what the threads did to the observations of the trial

mod outcome;
mod settings;

use crate::sampling::{Sampled, Sampling};
use crate::{Probe, ProbeError, Progress, TrialContext};
use engines::nothing::Nothing;
use engines::{Engine, EngineError};
use experiment::{Configuration, Declaration, Invalid};
use observations::Observations;
use observe::MachineMonitor;
use observe::topology::Topology;
use primitives::{Hooks, Load, Padding, Pinning, Primitive, SyncError, place};
use std::cell::Cell;
use std::time::Duration;

/// The primitives, by the name that `workload.primitive` gives.
pub const PRIMITIVES: &[&str] = Primitive::NAMES;

/// Whether `workload.padding` does something for the primitive with this name.
pub fn pads(name: &str) -> bool {
    Primitive::from_name(name).is_some_and(Primitive::pads)
}

/// The sync probe.
#[derive(Debug, Clone, Copy)]
pub struct SyncProbe;

impl Probe for SyncProbe {
    fn name(&self) -> &'static str {
        "sync"
    }

    fn settings(&self) -> &'static [Declaration] {
        settings::SETTINGS
    }

    fn plan(&self, configuration: &Configuration) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        if configuration.text("target.engine") != Nothing.name() {
            let message = "the sync probe measures the machine itself: set target.engine = \"none\"";
            invalid.push(Invalid::new("workload.probe", message));
        }
        let primitive = primitive(configuration);
        if configuration.text("workload.padding") != "none" && !primitive.pads() {
            let name = primitive.name();
            let message =
                format!("this changes nothing for {name}, whose members cannot be kept apart or are always");
            invalid.push(Invalid::new("workload.padding", message));
        }
        let topology = Topology::of_this_machine();
        if let Err(message) = place(&topology, pinning(configuration), threads(configuration)) {
            invalid.push(Invalid::new("workload.pinning", message));
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let topology = Topology::of_this_machine();
        let cpus = place(&topology, pinning(configuration), threads(configuration))
            .map_err(|message| Invalid::new("workload.pinning", message))?;
        let seconds = |path| configuration.number(path).unwrap_or(0.0);
        let load = Load {
            primitive: primitive(configuration),
            threads: threads(configuration),
            members: configuration.integer("workload.members").unwrap_or(8) as u32,
            padding: Padding::from_name(configuration.text("workload.padding")),
            reads: seconds("workload.reads"),
            cpus,
            warmup: Duration::from_secs_f64(seconds("workload.warmup")),
            duration: Duration::from_secs_f64(seconds("workload.duration")),
            interval: Duration::from_secs_f64(configuration.number("observe.interval").unwrap_or(1.0)),
            seed: context.seed,
        };
        let begun = Cell::new(None);
        let last = Cell::new((0.0, 0));
        let outcome = primitives::run(
            &load,
            Hooks {
                go: &mut || begun.set(Some((Sampling::start(context), MachineMonitor::start()))),
                progress: &|now| (context.progress)(progress(now, load.duration.as_secs_f64(), &last)),
                stop: &|| context.cancel.is_cancelled(),
            },
        );
        let outcome = outcome.map_err(failed)?;
        let (sampled, machine) =
            begun.take().map(|(sampling, monitor)| (sampling.stop(), monitor.stop())).unzip();
        let span = topology.span(&load.cpus);
        let mut observations = outcome::observations(&load, &outcome, span, machine.unwrap_or_default());
        if let Some(sampled) = sampled {
            let sampled: Sampled = sampled;
            sampled.note(&mut observations);
        }
        Ok(observations)
    }
}

fn primitive(configuration: &Configuration) -> Primitive {
    Primitive::from_name(configuration.text("workload.primitive")).unwrap_or(Primitive::AtomicShared)
}

fn pinning(configuration: &Configuration) -> Pinning {
    Pinning::from_name(configuration.text("workload.pinning"))
}

fn threads(configuration: &Configuration) -> u32 {
    configuration.integer("workload.threads").unwrap_or(1) as u32
}

/// What stopped on request is told apart from what failed.
fn failed(error: SyncError) -> ProbeError {
    match error {
        SyncError::Stopped => EngineError::Cancelled.into(),
        error => error.into(),
    }
}

fn progress(now: primitives::Progress, duration_s: f64, last: &Cell<(f64, u64)>) -> Progress {
    let (last_s, last_operations) = last.replace((now.elapsed_s, now.operations));
    let operations = now.operations.saturating_sub(last_operations);
    Progress {
        elapsed_s: now.elapsed_s,
        fraction: (now.elapsed_s / duration_s).clamp(0.0, 1.0),
        rate: operations as f64 / 1e3 / (now.elapsed_s - last_s).max(1e-3),
        unit: "ops/ms",
        latency_p99_ns: None,
    }
}

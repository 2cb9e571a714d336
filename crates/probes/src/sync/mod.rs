//! The sync probe: how primitives of synchronisation scale on this machine.
//!
//! - `settings`: what can be asked for
//! - `outcome`: from what the threads did to the observations of the trial

mod outcome;
mod settings;

use crate::sampling::{Sampled, Sampling};
use crate::{Probe, ProbeError, Progress, Target, TrialContext};
use engines::EngineError;
use experiment::common::{OBSERVE_INTERVAL, PROBE};
use experiment::{Configuration, Declaration, Invalid};
use observations::Observations;
use observe::MachineMonitor;
use observe::topology::Topology;
use primitives::{Hooks, Load, SyncError, place};
pub use primitives::{Padding, Pinning, Primitive};
pub use settings::*;
use std::cell::Cell;
use std::time::Duration;

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

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        if !target.capabilities.abilities.is_empty() {
            let message = "the sync probe measures the machine itself: set target.engine = \"none\"";
            invalid.push(Invalid::new(PROBE.path(), message));
        }
        let primitive = configuration.get(PRIMITIVE);
        if configuration.get(PADDING) != Padding::None && !primitive.pads() {
            let name = primitive.name();
            let message =
                format!("this changes nothing for {name}, whose members cannot be kept apart or are always");
            invalid.push(Invalid::new(PADDING.path(), message));
        }
        let topology = Topology::of_this_machine();
        if let Err(message) = place(&topology, configuration.get(PINNING), configuration.get(THREADS)) {
            invalid.push(Invalid::new(PINNING.path(), message));
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let topology = Topology::of_this_machine();
        let cpus = place(&topology, configuration.get(PINNING), configuration.get(THREADS))
            .map_err(|message| Invalid::new(PINNING.path(), message))?;
        let seconds = |setting| Duration::from_secs_f64(configuration.get(setting));
        let load = Load {
            primitive: configuration.get(PRIMITIVE),
            threads: configuration.get(THREADS),
            members: configuration.get(MEMBERS),
            padding: configuration.get(PADDING),
            reads: configuration.get(READS),
            cpus,
            warmup: seconds(WARMUP),
            duration: seconds(DURATION),
            interval: seconds(OBSERVE_INTERVAL),
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

//! The sync probe: how primitives of synchronisation scale on this machine.
//!
//! - `settings`: what can be asked for
//! - `outcome`: from what the threads did to the observations of the trial

mod outcome;
mod settings;

use crate::measure::{Subject, measure};
use crate::{Probe, ProbeError, Target, TrialContext};
use experiment::common::{OBSERVE_INTERVAL, PROBE};
use experiment::{Configuration, Declaration, Invalid};
use observations::Observations;
use observe::topology::Topology;
use primitives::{Load, place};
pub use primitives::{Padding, Pinning, Primitive};
pub use settings::*;
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
        let subject = Subject {
            storage: &[],
            units: None,
            duration_s: Some(configuration.get(DURATION)),
            rate_unit: "ops/ms",
            rate_scale: 1e-3,
        };
        let (outcome, surroundings) =
            measure(context, subject, |director| Ok(primitives::run(&load, director)?))?;
        Ok(outcome::observations(&load, &outcome, topology.span(&load.cpus), surroundings))
    }
}

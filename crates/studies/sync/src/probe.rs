//! The sync probe: how primitives of synchronisation scale on this machine. `outcome` goes from
//! what the threads did to the observations of the trial.

use crate::primitives::{Load, MEMBERS_MAX, place};
use crate::primitives::{Padding, Pinning, Primitive, Topology};
use crate::{outcome, primitives};
use engine::Ability;
use experiment::common::{OBSERVE_INTERVAL, PROBE};
use experiment::{Configuration, Invalid, Kind, settings};
use observations::Observations;
use probe::measure::{Subject, measure};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use std::time::Duration;

/// The sync probe.
#[derive(Debug, Clone, Copy)]
pub struct SyncProbe;

settings! {
    const SETTINGS = [];
    /// Protection of the counters. A hash map under one lock (mutex-map, rwlock-map) or with a lock
    /// per part (concurrent-map). An array with a lock for each member (mutex-array, spin-tas,
    /// spin-ttas, spin-ticket, spin-mcs). An array without locks (atomic, cas; racy: updates get
    /// lost). One shared counter (atomic-shared). A copy per CPU or thread (per-core, per-thread).
    pub PRIMITIVE: Primitive = "workload.primitive", Primitive::KIND, "atomic-shared";
    /// Threads that increment the counters.
    pub THREADS: u32 = "workload.threads", Kind::Count { min: 1, max: 4096 }, "1" => Concurrency;
    /// Number of counters; each operation picks one at random.
    pub MEMBERS: u32 = "workload.members", Kind::Count { min: 1, max: MEMBERS_MAX as i64 }, "8";
    /// Distance between the members of an array: none, one cache line (64 bytes) each, or two.
    pub PADDING: Padding = "workload.padding", Padding::KIND, "none";
    /// Placement of threads: by the scheduler; all on one CPU; on all hardware threads of a core
    /// before the next core; on one hardware thread of each core, socket after socket; on the
    /// sockets alternately.
    pub PINNING: Pinning = "workload.pinning", Pinning::KIND, "none";
    /// Share of operations that read instead of incrementing.
    pub READS: f64 = "workload.reads", Kind::Share, "0%";
    /// Length of the measurement.
    pub DURATION: f64 = "workload.duration", Kind::PositiveDuration, "1 s" => Measurement;
    /// The load runs for this long before the measurement.
    pub WARMUP: f64 = "workload.warmup", Kind::Duration, "200 ms" => Measurement;
}

impl Probe for SyncProbe {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("sync", SETTINGS) }
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        if [Ability::Tables, Ability::Files]
            .iter()
            .any(|ability| target.abilities.contains(ability))
        {
            let message =
                "the sync probe measures the machine itself: set target.engine = \"none\"";
            invalid.push(Invalid::new(PROBE.path(), message));
        }
        let primitive = configuration.get(PRIMITIVE);
        if configuration.get(PADDING) != Padding::None && !primitive.pads() {
            let name = primitive.name();
            let message =
                format!("no effect for {name}: its members cannot be padded or always are");
            invalid.push(Invalid::new(PADDING.path(), message));
        }
        let topology = Topology::of_this_machine();
        if let Err(error) = place(&topology, configuration.get(PINNING), configuration.get(THREADS))
        {
            invalid.push(Invalid::new(PINNING.path(), error.to_string()));
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let topology = Topology::of_this_machine();
        let cpus = place(&topology, configuration.get(PINNING), configuration.get(THREADS))
            .map_err(|error| Invalid::new(PINNING.path(), error.to_string()))?;
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

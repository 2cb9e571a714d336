//! The disk probe: how fast storage is for what a database does to it.
//!
//! - `settings`: what can be asked for
//! - `paths`, `fio`: what a command line or a fio job file names instead
//! - `streams`: from settings to streams, and from these and files to what the I/O engine runs
//! - `outcome`, `responses`, `waits`: from what it saw to the observations of the trial

pub mod fio;
mod outcome;
mod paths;
mod responses;
mod settings;
mod streams;
mod waits;

use crate::sampling::Sampling;
use crate::{Probe, ProbeError, Progress, Target, TrialContext};
use disk_io::{DiskError, Hooks};
use engines::{Ability, CacheState, EngineError, Role};
use experiment::common::{OBSERVE_INTERVAL, PROBE};
use experiment::{Configuration, Declaration, Invalid};
use observations::{MachineLoad, Observations};
use observe::MachineMonitor;
use observe::devices::DeviceMonitor;
pub use paths::{PathKind, StoragePath};
pub use settings::*;
use std::sync::Mutex;
use streams::StreamPlan;
pub use streams::StreamText;

/// The disk probe.
#[derive(Debug, Clone, Copy)]
pub struct DiskProbe;

impl Probe for DiskProbe {
    fn name(&self) -> &'static str {
        "disk"
    }

    fn settings(&self) -> &'static [Declaration] {
        settings::SETTINGS
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        if !target.capabilities.has(Ability::Files) {
            let message = "the disk probe works on plain files and devices: set target.engine = \"files\"";
            return vec![Invalid::new(PROBE.path(), message)];
        }
        let mut invalid = Vec::new();
        if target.cache == CacheState::Cold && configuration.get(WARMUP) > 0.0 {
            let message =
                "a warm-up fills the page cache, which contradicts target.cache = \"cold\"; set it to 0";
            invalid.push(Invalid::new(WARMUP.path(), message));
        }
        match streams::streams(configuration) {
            Ok(streams) => invalid.extend(streams.iter().filter_map(StreamPlan::objection)),
            Err(error) => invalid.push(error),
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let streams = streams::streams(context.configuration)?;
        let mut roles: Vec<Role> = Vec::new();
        for stream in &streams {
            if !roles.contains(&stream.role()) {
                roles.push(stream.role());
            }
        }
        context.instance.create_files(&roles)?;
        let set = context
            .instance
            .files()
            .ok_or(EngineError::Unsupported { engine: "this engine", what: "plain files" })?;
        let load = streams::load(context, &streams, set)?;
        let cache = context.cache;
        // What is begun when the load is: the hook that begins it returns nothing.
        let begun = Mutex::new(None);
        let mut found = DeviceMonitor::find(&watched(context, set));
        let mut go = || {
            let settled = context.instance.settle(cache).map_err(|error| DiskError::Go(error.to_string()))?;
            let sampling = Sampling::start(context);
            found.start();
            if let Ok(mut begun) = begun.lock() {
                *begun = Some((settled, sampling, MachineMonitor::start()));
            }
            Ok(())
        };
        let duration_s = context.configuration.get(DURATION);
        let last = Mutex::new((0.0, 0));
        let outcome = disk_io::run(
            &load,
            Hooks {
                go: &mut go,
                progress: &|now| (context.progress)(progress(now, duration_s, &last)),
                stop: &|| context.cancel.is_cancelled(),
            },
        );
        let outcome = outcome.map_err(failed)?;
        let begun = begun.into_inner().ok().flatten();
        let (mut settled, mut sampled, mut machine) = (None, None, MachineLoad::default());
        if let Some((report, sampling, monitor)) = begun {
            (settled, sampled, machine) = (Some(report), Some(sampling.stop()), monitor.stop());
        }
        let seen = outcome::Seen {
            streams: &streams,
            outcome,
            devices: found.stop(),
            machine,
            warmup_s: context.configuration.get(WARMUP),
            duration_s,
            interval_s: context.configuration.get(OBSERVE_INTERVAL),
        };
        let mut observations = seen.observations()?;
        observations.warnings.extend(outcome::target_warnings(context, set, cache, settled));
        if let Some(sampled) = sampled {
            sampled.note(&mut observations);
        }
        Ok(observations)
    }
}

/// What stopped on request is told apart from what failed.
fn failed(error: DiskError) -> ProbeError {
    match error {
        DiskError::Stopped => EngineError::Cancelled.into(),
        error => error.into(),
    }
}

/// Where the files are: folders of ours by volume, existing files and devices by their path.
fn watched(context: &TrialContext<'_>, set: &engines::FileSet) -> Vec<(String, std::path::PathBuf)> {
    let mut places = Vec::new();
    for file in &set.files {
        let folder = context.storage.iter().find(|(_, folder)| file.path.starts_with(folder));
        let place = folder.cloned().unwrap_or_else(|| (file.path.display().to_string(), file.path.clone()));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn progress(now: disk_io::Progress, duration_s: f64, last: &Mutex<(f64, u64)>) -> Progress {
    let before = last.lock().map(|mut last| std::mem::replace(&mut *last, (now.elapsed_s, now.ios)));
    let (last_s, last_ios) = before.unwrap_or((now.elapsed_s, now.ios));
    let rate = now.ios.saturating_sub(last_ios) as f64 / (now.elapsed_s - last_s).max(1e-3);
    Progress {
        elapsed_s: now.elapsed_s,
        fraction: (now.elapsed_s / duration_s).clamp(0.0, 1.0),
        rate,
        unit: "I/Os/s",
        latency_p99_ns: now.latency_p99_ns,
    }
}

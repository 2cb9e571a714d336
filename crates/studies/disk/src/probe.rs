//! A trial of the disk probe.

use crate::settings::{DURATION, ON, QUEUE_DEPTH, WARMUP};
use crate::streams::StreamPlan;
use crate::{outcome, settings, streams};
use engine::{Ability, Footprint, Role};
use experiment::{Configuration, Invalid};
use observations::{Observations, Warning, WarningKind};
use probe::load::no_warmup_of_cold;
use probe::measure::{Subject, measure};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};

/// The disk probe.
#[derive(Debug, Clone, Copy)]
pub struct DiskProbe;

impl Probe for DiskProbe {
    fn declarations(&self) -> &'static Declarations {
        const {
            &Declarations::new("disk", settings::SETTINGS)
                .with_example_levels(QUEUE_DEPTH.path(), [1, 8, 32])
        }
    }

    fn footprint(&self, configuration: &Configuration) -> Footprint {
        let streams = streams::streams(configuration).unwrap_or_default();
        let files = streams.iter().map(|stream| (stream.get(ON), stream.writes())).collect();
        Footprint { files, ..Footprint::default() }
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let message =
            "the disk probe works on plain files and devices: set target.engine = \"files\"";
        if let Some(lacks_files) = target.without(Ability::Files, message) {
            return vec![lacks_files];
        }
        let mut invalid: Vec<Invalid> =
            no_warmup_of_cold(configuration, target, WARMUP).into_iter().collect();
        match streams::streams(configuration) {
            Ok(streams) => invalid.extend(streams.iter().filter_map(StreamPlan::objection)),
            Err(error) => invalid.push(error),
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let streams = streams::streams(context.configuration)?;
        let roles: Vec<Role> = streams.iter().map(|stream| stream.get(ON)).collect();
        let set = context.instance.create_files(&roles)?;
        let load = streams::load(context, &streams, set)?;
        let storage = watched(context, set);
        let subject = Subject {
            storage: &storage,
            units: None,
            duration_s: Some(context.configuration.get(DURATION)),
            rate_unit: "I/Os/s",
            rate_scale: 1.0,
        };
        let (outcome, surroundings) = measure(context, subject, |director| {
            disk_io::run(&load, director).map_err(ProbeError::study)
        })?;
        let disk_trial = outcome::DiskTrial {
            configuration: context.configuration,
            streams: &streams,
            outcome: &outcome,
        };
        let mut observations = disk_trial.observations(surroundings)?;
        observations.warnings.extend(
            set.notes
                .iter()
                .map(|detail| Warning { kind: WarningKind::NotSteady, detail: detail.clone() }),
        );
        Ok(observations)
    }
}

/// Places of the files: work folders by volume, existing files and devices by their path.
fn watched(context: &TrialContext<'_>, set: &engine::FileSet) -> Vec<(String, std::path::PathBuf)> {
    let mut places = Vec::new();
    for file in &set.files {
        let folder = context.storage.iter().find(|(_, folder)| file.path.starts_with(folder));
        let place =
            folder.cloned().unwrap_or_else(|| (file.path.display().to_string(), file.path.clone()));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

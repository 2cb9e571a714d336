//! One trial: prepare a target, run the probe under watch, remove the target.

use crate::RunError;
use crate::watchdog::{Interrupt, Limit, watched};
use crate::workdir::{TrialFolder, Workdir};
use engines::{Cancel, CancelReason, EngineError, Place};
use experiment::{Configuration, Volume};
use observations::{Event, Observations};
use probes::{ProbeError, Progress, TrialContext};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What a trial is and where it may work.
pub struct Trial<'a> {
    pub configuration: &'a Configuration,
    pub volumes: Vec<&'a Volume>,
    pub workdir: &'a Workdir,
    pub limit: Limit,
    pub seed: u64,
    pub interrupt: &'a Interrupt,
}

/// How a trial ended.
pub enum Outcome {
    /// Measured to the end.
    Done(Box<Observations>),
    /// Not measured to the end, for this cause.
    Failed(String),
    /// Not to be recorded: the run stops.
    Stopped(CancelReason),
}

impl Trial<'_> {
    /// Runs the trial. An error says that our own folders could not be made.
    pub fn run(&self, announce: &mut (dyn FnMut(Event) + Send)) -> Result<Outcome, RunError> {
        let cancel = Cancel::new();
        let folders = match self.folders()? {
            Ok(folders) => folders,
            Err(cause) => return Ok(Outcome::Failed(cause)),
        };
        let place = Place {
            directory: folders[0].1.path().to_path_buf(),
            volumes: folders[1..]
                .iter()
                .map(|(name, folder)| (name.clone(), folder.path().to_path_buf()))
                .collect(),
            cancel: cancel.clone(),
        };
        let engine = engines::by_name(self.configuration.text("target.engine"));
        let probe = probes::by_name(self.configuration.text("workload.probe"));
        let (Some(engine), Some(probe)) = (engine, probe) else {
            return Ok(Outcome::Failed("the engine or probe is not known".into()));
        };
        announce(Event::Step { text: format!("preparing {}", engine.name()) });
        let prepare = || engine.prepare(self.configuration, &place);
        let instance = match watched(&self.limit, &cancel, self.interrupt, None, prepare) {
            Ok(instance) => instance,
            Err(error) => return Ok(failed(&error, &cancel)),
        };
        let announce = Mutex::new(announce);
        let result = watched(&self.limit, &cancel, self.interrupt, Some(instance.as_ref()), || {
            probe.run(&TrialContext {
                configuration: self.configuration,
                instance: instance.as_ref(),
                capabilities: engine.capabilities(),
                seed: self.seed,
                cancel: &cancel,
                progress: &|progress| {
                    if let Ok(mut announce) = announce.lock() {
                        announce(progress_event(&progress));
                    }
                },
            })
        });
        let removed = instance.remove();
        Ok(match (result, removed) {
            (Ok(_), _) if cancel.reason() == Some(CancelReason::DiskSpace) => {
                failed(&EngineError::Cancelled, &cancel)
            }
            (Ok(mut observations), Ok(())) => {
                observations.marks.extend(analysis::health::marks(&observations));
                Outcome::Done(Box::new(observations))
            }
            (Ok(_), Err(error)) => Outcome::Failed(format!("removing the target: {error}")),
            (Err(ProbeError::Engine(error)), _) => failed(&error, &cancel),
            (Err(error), _) => Outcome::Failed(error.to_string()),
        })
    }

    /// A folder on the default volume, then one on each volume of the configuration. A volume that
    /// takes none fails the trial: configurations on other volumes can still run.
    fn folders(&self) -> Result<Result<Vec<(String, TrialFolder)>, String>, RunError> {
        let mut folders = vec![(String::new(), self.workdir.create(&self.workdir.default)?)];
        for volume in &self.volumes {
            match self.workdir.create(Path::new(&volume.path)) {
                Ok(folder) => folders.push((volume.name.clone(), folder)),
                Err(error) => return Ok(Err(format!("volume {}: {error}", volume.name))),
            }
        }
        Ok(Ok(folders))
    }
}

fn failed(error: &EngineError, cancel: &Cancel) -> Outcome {
    match (error, cancel.reason()) {
        (EngineError::Cancelled, Some(CancelReason::TrialTime)) => {
            Outcome::Failed("took longer than limits.trial_time".into())
        }
        (EngineError::Cancelled, Some(CancelReason::DiskSpace)) => Outcome::Failed(
            "used more space than limits.disk_space allows, or a volume is nearly full".into(),
        ),
        (EngineError::Cancelled, Some(reason)) => Outcome::Stopped(reason),
        _ => Outcome::Failed(error.to_string()),
    }
}

fn progress_event(progress: &Progress) -> Event {
    Event::Progress {
        elapsed_s: progress.elapsed_s,
        fraction: progress.fraction,
        rate: progress.rate,
        unit: progress.unit.into(),
    }
}

/// The directories whose file systems a trial fills.
pub fn places(workdir: &Workdir, volumes: &[&Volume]) -> Vec<PathBuf> {
    let mut places = vec![workdir.default.clone()];
    places.extend(volumes.iter().map(|volume| PathBuf::from(&volume.path)));
    places
}

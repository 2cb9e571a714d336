//! Volumes: prepared when a trial begins to use them, cleaned when no trial does any more.

use crate::error::{RunError, VolumeError};
use crate::hooks::{Hook, HookLimit, variables_of_run, variables_of_trial};
use crate::throttle;
use crate::trial::{FREE_BYTES_MIN, Interrupt};
use experiment::file::{DISK_SPACE_BYTES, VOLUME_TIMEOUT_S};
use experiment::{Configuration, Experiment, Volume};
use observations::{HookOutput, number};
use std::path::{Path, PathBuf};

/// The volumes that are in use.
#[derive(Debug)]
pub struct Volumes<'a> {
    experiment: &'a Experiment,
    interrupt: Interrupt,
    prepared: Vec<&'a Volume>,
}

impl<'a> Volumes<'a> {
    pub fn new(experiment: &'a Experiment, interrupt: Interrupt) -> Self {
        Self { experiment, interrupt, prepared: Vec::new() }
    }

    /// The volumes that a configuration names.
    pub fn used_by(&self, configuration: &Configuration) -> Vec<&'a Volume> {
        let names = configuration.volumes();
        self.experiment
            .volumes
            .iter()
            .filter(|volume| names.contains(&volume.name.as_str()))
            .collect()
    }

    /// Makes the volumes of a configuration ready: cleans those that it does not use, prepares
    /// those that it does and that are not ready yet, and returns the newly prepared ones. The
    /// outputs of the commands are added to `hooks`.
    pub fn change_to(
        &mut self,
        configuration: &Configuration,
        block: u32,
        hooks: &mut Vec<HookOutput>,
    ) -> Result<Vec<&'a Volume>, VolumeError> {
        let used = self.used_by(configuration);
        let variables = variables_of_trial(self.experiment, configuration, block);
        let leaving: Vec<&Volume> = self
            .prepared
            .iter()
            .copied()
            .filter(|volume| !used.iter().any(|other| other.name == volume.name))
            .collect();
        for volume in leaving {
            self.clean(volume, &variables, hooks)?;
        }
        let mut entered = Vec::new();
        for volume in used {
            if self.prepared.iter().any(|prepared| prepared.name == volume.name) {
                continue;
            }
            self.prepared.push(volume);
            if let Err(cause) = self.prepare(volume, &variables, hooks) {
                // Undo what the failed or killed command did so far; a second error adds nothing.
                let _ = self.clean(volume, &variables, hooks);
                return Err(cause);
            }
            entered.push(volume);
        }
        Ok(entered)
    }

    fn prepare(
        &self,
        volume: &Volume,
        variables: &[(String, String)],
        hooks: &mut Vec<HookOutput>,
    ) -> Result<(), VolumeError> {
        if let Some(command) = &volume.prepare {
            self.hook(volume, "prepare", command, variables).run(&self.interrupt, hooks)?;
        }
        if Path::new(&volume.path).is_dir() {
            Ok(())
        } else {
            let cause = format!("{} does not exist", volume.path);
            Err(VolumeError::Folder { volume: volume.name.clone(), cause })
        }
    }

    /// Cleans every volume that is in use, at the end of a session, interrupted or not. Returns
    /// what went wrong.
    pub fn clean_all(&mut self, hooks: &mut Vec<HookOutput>) -> Vec<VolumeError> {
        let variables = variables_of_run(self.experiment);
        let volumes = self.prepared.clone();
        volumes
            .into_iter()
            .filter_map(|volume| self.clean(volume, &variables, hooks).err())
            .collect()
    }

    /// A command of a volume.
    fn hook<'c>(
        &self,
        volume: &Volume,
        purpose: &str,
        command: &'c str,
        variables: &[(String, String)],
    ) -> Hook<'c> {
        let mut variables = variables.to_vec();
        variables.push(("STEELBENCH_VOLUME".into(), volume.name.clone()));
        variables.push(("STEELBENCH_VOLUME_PATH".into(), volume.path.clone()));
        Hook {
            name: format!("volume {}: {purpose}", volume.name),
            command,
            is_hidden: self.experiment.hides_commands(),
            variables,
            limit: HookLimit { setting: VOLUME_TIMEOUT_S.path(), timeout_s: volume.hook_timeout_s },
        }
    }

    fn clean(
        &mut self,
        volume: &'a Volume,
        variables: &[(String, String)],
        hooks: &mut Vec<HookOutput>,
    ) -> Result<(), VolumeError> {
        self.prepared.retain(|prepared| prepared.name != volume.name);
        if let Some(command) = &volume.cleanup {
            // An interruption ends the trials, not the cleaning after them.
            let hook = self.hook(volume, "cleanup", command, variables);
            hook.run(&Interrupt::default(), hooks)?;
        }
        Ok(())
    }
}

/// Before anything is recorded: volumes that no command makes must be there, and have room, as must
/// the default one; and where volumes are throttled, that has to be possible.
pub fn check(experiment: &Experiment, default: &Path) -> Result<(), RunError> {
    let mut folders = vec![default.to_path_buf()];
    for volume in experiment.volumes.iter().filter(|volume| volume.prepare.is_none()) {
        let path = PathBuf::from(&volume.path);
        if !path.is_dir() {
            return Err(RunError::Refused(format!(
                "volume {}: {} does not exist; create it, or create it in the volume's prepare \
                 command",
                volume.name, volume.path
            )));
        }
        folders.push(path);
    }
    throttle::check(experiment)?;
    let limit = experiment.get(DISK_SPACE_BYTES).unwrap_or(0);
    let needed = limit.saturating_add(FREE_BYTES_MIN);
    for path in folders {
        let free = observe::file_system::space(&path).map_or(u64::MAX, |(_, free)| free);
        if free < needed {
            return Err(RunError::Unready(format!(
                "{}: {} free, but a run needs {}",
                path.display(),
                number::bytes(free),
                space_needed(limit)
            )));
        }
    }
    Ok(())
}

/// The space of `limits.disk_space`, which is 0 without a limit, and what stays free.
fn space_needed(limit: u64) -> String {
    let reserve = number::bytes(FREE_BYTES_MIN);
    match limit {
        0 => format!("{reserve}; free some space"),
        limit => format!(
            "{} (limits.disk_space) plus {reserve}; free some space or lower the limit",
            number::bytes(limit)
        ),
    }
}

//! Volumes: prepared when a trial begins to use them, cleaned when no trial does any more.

use crate::RunError;
use crate::hooks::{Hook, variables};
use crate::watchdog::{FREE_BYTES_MIN, Interrupt};
use experiment::{Configuration, Experiment, Volume};
use observations::HookOutput;
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
        let paths = configuration
            .settings
            .keys()
            .filter(|path| path.starts_with("target.") && path.ends_with("volume"));
        let names: Vec<&str> = paths.flat_map(|path| configuration.texts(path)).collect();
        self.experiment.volumes.iter().filter(|volume| names.contains(&volume.name.as_str())).collect()
    }

    /// Before anything runs: volumes that no command makes must be there, and have room.
    pub fn check(&self, default: &Path) -> Result<(), RunError> {
        let given = self.experiment.volumes.iter().filter(|volume| volume.prepare.is_none());
        let mut places = vec![default.to_path_buf()];
        for volume in given {
            let path = PathBuf::from(&volume.path);
            if !path.is_dir() {
                return Err(RunError::NoVolume { name: volume.name.clone(), path });
            }
            places.push(path);
        }
        let wanted = self.experiment.limits.disk_space_bytes.unwrap_or(0) + FREE_BYTES_MIN;
        for path in places {
            let free = observe::environment::space(&path).map_or(u64::MAX, |(_, free)| free);
            if free < wanted {
                return Err(RunError::NoSpace { path, free, wanted });
            }
        }
        Ok(())
    }

    /// Makes the volumes of a configuration ready: cleans those that it does not use, prepares
    /// those that it does. The outputs of the commands are added to `hooks`.
    pub fn change_to(
        &mut self,
        configuration: &Configuration,
        block: u32,
        hooks: &mut Vec<HookOutput>,
    ) -> Result<(), String> {
        let used = self.used_by(configuration);
        let variables = variables(&self.experiment.name, configuration, block);
        let leaving: Vec<&Volume> = self
            .prepared
            .iter()
            .copied()
            .filter(|volume| !used.iter().any(|other| other.name == volume.name))
            .collect();
        for volume in leaving {
            self.clean(volume, &variables, hooks)?;
        }
        for volume in used {
            if self.prepared.iter().any(|prepared| prepared.name == volume.name) {
                continue;
            }
            if let Some(command) = &volume.prepare {
                self.hook(volume, "prepare", command, &variables, hooks)?;
            }
            if !Path::new(&volume.path).is_dir() {
                return Err(format!("volume {}: {} does not exist", volume.name, volume.path));
            }
            self.prepared.push(volume);
        }
        Ok(())
    }

    /// Cleans every volume that is in use, at the end of a sitting, interrupted or not. Returns what
    /// went wrong.
    pub fn clean_all(&mut self, hooks: &mut Vec<HookOutput>) -> Vec<String> {
        // An interruption ends the trials, not the cleaning after them.
        self.interrupt = Interrupt::default();
        let variables = [("STEELBENCH_EXPERIMENT".to_owned(), self.experiment.name.clone())];
        let volumes = self.prepared.clone();
        volumes.into_iter().filter_map(|volume| self.clean(volume, &variables, hooks).err()).collect()
    }

    fn clean(
        &mut self,
        volume: &'a Volume,
        variables: &[(String, String)],
        hooks: &mut Vec<HookOutput>,
    ) -> Result<(), String> {
        self.prepared.retain(|prepared| prepared.name != volume.name);
        match &volume.cleanup {
            Some(command) => self.hook(volume, "cleanup", command, variables, hooks),
            None => Ok(()),
        }
    }

    fn hook(
        &self,
        volume: &Volume,
        what: &str,
        command: &str,
        variables: &[(String, String)],
        hooks: &mut Vec<HookOutput>,
    ) -> Result<(), String> {
        let mut variables = variables.to_vec();
        variables.push(("STEELBENCH_VOLUME".into(), volume.name.clone()));
        variables.push(("STEELBENCH_VOLUME_PATH".into(), volume.path.clone()));
        let name = format!("volume {}: {what}", volume.name);
        let hook =
            Hook { name: name.clone(), command, variables, timeout_s: self.experiment.hooks.timeout_s };
        let (output, result) = hook.run(&self.interrupt);
        hooks.push(output);
        result.map_err(|cause| format!("hook {name} failed: {cause}"))
    }
}

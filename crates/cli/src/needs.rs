//! Prerequisites that an experiment file shows: manual steps, volumes, rights.

use experiment::common::{ENGINE, NETWORK_BANDWIDTH};
use experiment::file::{AFTER_RUN, AFTER_TRIAL, BEFORE_RUN, BEFORE_TRIAL, MACHINES};
use experiment::{Configuration, Experiment, Volume};
use probe::load::GENERATORS;
use runner::Registry;
use std::path::Path;

/// Words of commands that make loop devices, which needs root.
const LOOP_DEVICES: [&str; 2] = ["loop-volume.sh", "losetup"];
/// Words of other commands that usually need root.
const ROOT: [&str; 5] = ["mkfs", "mount ", "drop_caches", "sudo", "/sys/"];

/// Lists the prerequisites, a sentence each.
pub fn sentences(experiment: &Experiment) -> Vec<String> {
    let manual = experiment
        .factors
        .iter()
        .filter_map(|factor| Some((&factor.name, factor.manual.as_ref()?)));
    let mut needs: Vec<String> =
        manual.map(|(name, step)| format!("manual step when {name} changes: {step}")).collect();
    for Volume { name, path, prepare, throttle, .. } in &experiment.recorded().volumes {
        match prepare {
            Some(command) => needs.push(format!("volume {name}: prepared by `{command}`")),
            None if !Path::new(path).is_dir() => {
                needs.push(format!("volume {name}: {path} does not exist yet"));
            }
            None => {}
        }
        if let Some(throttle) = throttle {
            needs.push(format!(
                "volume {name}: throttled to {throttle}: needs root and control groups"
            ));
        }
    }
    if has_command(experiment, &LOOP_DEVICES) || has_command(experiment, &ROOT) {
        needs.push("some of these commands usually need root".into());
    }
    if has_link(experiment) {
        needs.push("network.bandwidth: needs root, ip and tc".into());
    }
    needs
}

/// Lists rights and other processes that the experiment needs on any machine, a phrase each.
pub fn rights(registry: Registry, experiment: &Experiment) -> Vec<&'static str> {
    let configurations = &experiment.configurations;
    let is_by_url = |configuration: &Configuration| {
        let engine = registry.engine(&configuration.get(ENGINE));
        let servers = engine.filter(|engine| engine.servers.is_some());
        // Private servers have versions.
        let has_only_url = servers.is_some_and(|engine| {
            engine.settings.iter().all(|setting| setting.path != "target.version")
        });
        configuration.value("target.url").is_some() || has_only_url
    };
    let has_generators =
        configurations.iter().any(|configuration| configuration.get(GENERATORS).is_some());
    let has_loop_devices = has_command(experiment, &LOOP_DEVICES);
    let has_throttle = experiment.volumes.iter().any(|volume| volume.throttle.is_some());
    let needs_root = has_command(experiment, &ROOT) || has_link(experiment);
    let needs = [
        ("root", has_loop_devices || has_throttle || needs_root),
        ("loop devices", has_loop_devices),
        ("control groups", has_throttle),
        ("a manual step", experiment.factors.iter().any(|factor| factor.manual.is_some())),
        ("your server by URL", configurations.iter().any(is_by_url)),
        ("`--agents`", has_generators || experiment.get(MACHINES).is_some()),
    ];
    needs.into_iter().filter(|(_, is_needed)| *is_needed).map(|(need, _)| need).collect()
}

/// Returns whether a hook or the preparation of a volume contains one of these words.
fn has_command(experiment: &Experiment, words: &[&str]) -> bool {
    let hooks = [BEFORE_RUN, BEFORE_TRIAL, AFTER_TRIAL, AFTER_RUN].map(|hook| experiment.get(hook));
    let prepare = experiment.volumes.iter().filter_map(|volume| volume.prepare.as_ref());
    let mut commands = hooks.iter().flatten().chain(prepare);
    commands.any(|command| words.iter().any(|word| command.contains(word)))
}

fn has_link(experiment: &Experiment) -> bool {
    experiment
        .configurations
        .iter()
        .any(|configuration| configuration.get(NETWORK_BANDWIDTH).is_some())
}

//! Preflight problems, found without changing anything: folders, programs, targets, space.

use crate::begin::folder;
use crate::catalog::{Registry, commands};
use crate::trial::FREE_BYTES_MIN;
use crate::workdir::Places;
use engine::{Engine, Folders, Need, Permits, Preflight};
use experiment::common::{ENGINE, PROBE};
use experiment::file::{AFTER_RUN, AFTER_TRIAL, BEFORE_RUN, BEFORE_TRIAL};
use experiment::{Experiment, Invalid, Setting, Value};
use observations::{number, redacted_message};
use rustix::fs::{Access, access};
use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use work::Stop;

/// Hooks in the order in which they run.
const HOOKS: [Setting<Option<String>>; 4] = [BEFORE_RUN, BEFORE_TRIAL, AFTER_TRIAL, AFTER_RUN];

/// Findings of the preflight.
#[derive(Debug, Default)]
pub struct Findings {
    /// Settings that a target cannot have: the file must be changed.
    pub invalid: Vec<Invalid>,
    /// Problems (missing, full or not permitted), a sentence each.
    pub missing: Vec<String>,
    /// Problems that a command or a person may fix before the trial.
    pub doubtful: Vec<String>,
    /// Differences between the file and the targets that trials will have, a sentence each.
    pub notes: Vec<String>,
    /// The space that a trial needs, in a sentence for each file system.
    pub space: Vec<String>,
}

impl Findings {
    /// Adds the notes of an engine, and those of disturbances on its targets, each once.
    fn add_notes(
        &mut self,
        notes: Vec<String>,
        registry: Registry,
        experiment: &Experiment,
        engine: &'static Engine,
    ) {
        self.notes.extend(notes);
        let all = experiment.configurations.iter();
        for configuration in all.filter(|configuration| configuration.get(ENGINE) == engine.name) {
            for disturbance in registry.disturbances {
                let note = disturbance.note(configuration, engine);
                self.notes.extend(note.filter(|note| !self.notes.contains(note)));
            }
        }
    }
}

/// Looks at what an experiment needs whose results go to this file.
pub fn preflight(
    registry: Registry,
    experiment: &Experiment,
    results: &Path,
    permits: &Permits,
    stop: &Stop,
) -> Findings {
    // Absolute, because a relative path that does not exist yet has no ancestors to check.
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.into());
    let folder = absolute(&folder(results));
    let made_by_command = |path: &Path| {
        let mut made = experiment.volumes.iter().filter(|volume| volume.prepare.is_some());
        made.any(|volume| absolute(path).starts_with(absolute(volume.path.as_ref())))
    };
    let mut findings = Findings::default();
    let volumes: Vec<(String, PathBuf)> = experiment
        .volumes
        .iter()
        .map(|volume| (volume.name.clone(), absolute(volume.path.as_ref())))
        .collect();
    let paths = volumes.iter().map(|(name, path)| (format!("volume {name}: "), path.clone()));
    for (whose, path) in paths.chain([(String::new(), folder.clone())]) {
        if !made_by_command(&path) {
            findings.missing.extend(not_writable(&path).map(|why| format!("{whose}{why}")));
        }
    }
    for (named_by, command) in commands(experiment, &HOOKS) {
        let program = missing_program(&command).filter(|program| !made_by_command(program));
        let missing = program.map(|program| {
            let run_in = format!("; commands run in {}", absolute(Path::new(".")).display());
            let run_in = if program.is_relative() { run_in } else { String::new() };
            format!("{named_by}: no such program {}{run_in}", program.display())
        });
        findings.missing.extend(missing);
    }
    let places = Places::find(registry, experiment, &folder);
    for engine in registry.engines {
        let needs = needs(registry, experiment, engine.name);
        if needs.is_empty() {
            continue;
        }
        let place = places.of_engine(engine.name);
        findings.notes.extend(place.map(|place| moved(engine.name, &folder, place)));
        let folders = Folders {
            directory: place.unwrap_or(&folder).to_path_buf(),
            volumes: volumes.clone(),
            permits: permits.clone(),
            cgroup_joins: Vec::new(),
        };
        let Preflight { invalid, missing, notes, space } = engine.preflight(&needs, &folders, stop);
        findings.invalid.extend(invalid);
        findings.add_notes(notes, registry, experiment, engine);
        let mut others: Vec<String> = missing.iter().map(|text| redacted_message(text)).collect();
        for space in space {
            let Some(existing) = space.folder.ancestors().find(|folder| folder.is_dir()) else {
                continue;
            };
            let free = observe::file_system::space(existing).map_or(u64::MAX, |(_, free)| free);
            let estimate =
                if space.is_estimate { " or more (estimate from its rows alone)" } else { "" };
            let needed = format!(
                "{}: a trial needs {}{estimate}, {} free",
                space.folder.display(),
                number::bytes(space.bytes),
                number::bytes(free)
            );
            if space.bytes.saturating_add(FREE_BYTES_MIN) > free && !made_by_command(&space.folder)
            {
                others.push(needed.clone());
            }
            findings.space.push(needed);
        }
        let prepares = experiment.get(BEFORE_TRIAL).is_some()
            || experiment.volumes.iter().any(|volume| volume.prepare.is_some())
            || experiment.factors.iter().any(|factor| factor.manual.is_some());
        if prepares { &mut findings.doubtful } else { &mut findings.missing }.extend(others);
    }
    findings
}

/// Says where the servers' files are when they cannot be in the folder of the results.
fn moved(engine: &str, folder: &Path, place: &Path) -> String {
    let device = |path: &Path| path.metadata().ok().map(|found| found.dev());
    let folder = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
    let other = if device(folder) == device(place) { "" } else { ", on another file system" };
    format!(
        "{engine}: files of its servers are in {}{other}: the server's user cannot enter {}",
        place.display(),
        folder.display()
    )
}

/// The different needs of the configurations on an engine.
fn needs<'a>(registry: Registry, experiment: &'a Experiment, engine: &str) -> Vec<Need<'a>> {
    let (mut needs, mut devices) = (Vec::new(), HashSet::new());
    for configuration in
        experiment.configurations.iter().filter(|configuration| configuration.get(ENGINE) == engine)
    {
        let Some(probe) = registry.probe(&configuration.get(PROBE)) else { continue };
        let connections = probe.connections(configuration);
        let need = Need { configuration, connections, footprint: probe.footprint(configuration) };
        let target: Vec<(&str, &Value)> = configuration.below("target.").collect();
        if devices.insert(format!("{target:?} {connections} {:?}", need.footprint)) {
            needs.push(need);
        }
    }
    needs
}

/// Why nothing can be written in a folder. One that does not exist is another's to complain about.
fn not_writable(folder: &Path) -> Option<String> {
    let refused =
        access(folder, Access::WRITE_OK | Access::EXEC_OK).err().filter(|_| folder.exists())?;
    Some(format!("cannot write in {}: {refused}", folder.display()))
}

/// Returns the missing path of the program that a shell would run first, directly or through an
/// interpreter. Words that the shell would expand are skipped.
fn missing_program(command: &str) -> Option<PathBuf> {
    const INTERPRETERS: [&str; 6] = ["sh", "bash", "python3", "perl", "source", "."];
    let mut words = command.split_whitespace();
    let first = words.next()?;
    let program = if INTERPRETERS.contains(&first) { words.next()? } else { first };
    let is_plain = program.chars().all(|c| c.is_alphanumeric() || "/._-+".contains(c));
    let is_path = program.contains('/') || (program != first && !program.starts_with('-'));
    (is_plain && is_path && !Path::new(program).exists()).then(|| program.into())
}

#[cfg(test)]
mod tests {
    use super::missing_program;

    #[test]
    fn only_what_is_surely_missing_is_told() {
        for command in
            ["./gone.sh", "  /no/such/program -x", "sh gone.sh", "bash ./gone.sh a", ". gone.sh"]
        {
            assert!(missing_program(command).is_some(), "{command}");
        }
        for command in [
            "gone.sh",
            "true",
            "/bin/sh -c true",
            "$HOME/x",
            "cd /tmp && ./x",
            "A=1 ./x",
            "sh -c ./x",
            "bash -e",
            "",
            "'./a b'",
            "echo ./gone",
            "if true; then ./x; fi",
            "~/x",
        ] {
            assert_eq!(missing_program(command), None, "{command}");
        }
    }
}

//! From the command line to an experiment.

use crate::args::{Disk, Files, Load};
use crate::exit_code::Failure;
use engines::files::{
    BACKUP_PATH, BACKUP_VOLUME, COMPRESS, DATA_FILES, FILE_SIZE, LOG_PATH, LOG_VOLUME, OFFSET, Origin, PATHS,
    PRECONDITION, Precondition, VOLUME,
};
use experiment::Draft;
use experiment::common::{ENGINE, PROBE};
use probes::disk::{
    ALIGN, BATCH, BLOCK_SIZE, DIRECT, DURATION, FILE, IO_ENGINE, MIX, PATTERN, Pattern, QUEUE_DEPTH, RATE,
    READS, STREAMS, SYNC, SYNC_EVERY, StoragePath, StreamText, THREADS, WARMUP, WORKING_SET,
};
use std::path::Path;

/// The part of an experiment that `--find-max` chooses itself.
pub struct Request<'a> {
    /// Name of the experiment.
    pub name: &'a str,
    /// Question that it answers.
    pub question: String,
    /// Numbers of threads: one, or several to vary; none: as the streams have it.
    pub threads: Vec<u32>,
    /// Queue depths, likewise.
    pub queue_depths: Vec<u32>,
    /// Seconds of the measurement.
    pub duration_s: f64,
    /// Seconds of the warm-up.
    pub warmup_s: f64,
    /// Number of blocks.
    pub blocks: u32,
}

impl<'a> Request<'a> {
    /// What the command line asks for.
    pub fn new(arguments: &Disk, name: &'a str) -> Self {
        let (load, measure) = (&arguments.load, &arguments.measure);
        Self {
            name,
            question: format!("How fast is {}?", super::shown(&arguments.paths)),
            threads: load.threads.clone(),
            queue_depths: or_default(&load.depth, load, 32),
            duration_s: measure.duration.unwrap_or(5.0),
            warmup_s: measure.warmup.unwrap_or(1.0),
            blocks: measure.blocks.unwrap_or(3),
        }
    }
}

/// The values that are given, else a default; none where streams have values of their own.
fn or_default<T: Clone>(given: &[T], load: &Load, default: T) -> Vec<T> {
    if given.is_empty() && !has_streams(load) { vec![default] } else { given.to_vec() }
}

fn has_streams(load: &Load) -> bool {
    load.mix.is_some() || !load.stream.is_empty()
}

/// The experiment that a command line stands for.
pub fn draft(arguments: &Disk, request: &Request<'_>) -> Result<Draft, Failure> {
    let paths = StoragePath::all(&arguments.paths).map_err(Failure::usage)?;
    check(arguments, &paths)?;
    let mut draft = Draft::new(request.name, &request.question);
    draft.comment("Written by `steelbench disk --print`.");
    draft.set(ENGINE, "files");
    target(&mut draft, arguments, &paths)?;
    draft.set(PROBE, "disk");
    workload(&mut draft, arguments, request, &paths);
    draft.repeats(request.blocks, arguments.measure.seed.unwrap_or(1));
    Ok(draft)
}

/// What cannot be asked for together, and what must not be written to.
fn check(arguments: &Disk, paths: &[StoragePath]) -> Result<(), Failure> {
    let (load, files) = (&arguments.load, &arguments.files);
    let refuse = |message: String| Err(Failure::usage(message));
    let directories = paths.iter().filter(|path| path.kind == Origin::Created).count();
    if directories != 0 && directories != paths.len() {
        let message =
            "directories cannot be mixed with existing files or devices: measure them one after the other";
        return refuse(message.into());
    }
    let one_directory = directories == 1 && !arguments.compare;
    if files.files.is_some() && !one_directory && !has_streams(load) {
        return refuse("--files is for one directory, or for --stream and --mix".into());
    }
    let created = [("--size", files.size.is_some()), ("--files", files.files.is_some())];
    if let Some((option, _)) = created.iter().find(|(_, given)| *given && directories == 0) {
        return refuse(format!("{option} is for files that Steelbench creates: no PATH is a directory"));
    }
    for (number, path) in arguments.paths.iter().enumerate() {
        if arguments.paths[..number].iter().any(|before| same(before, path)) {
            return refuse(format!("{} is named twice", path.display()));
        }
    }
    for device in &files.destroy {
        if !arguments.paths.iter().chain(&files.log_on).chain(&files.backup_on).any(|path| same(path, device))
        {
            return refuse(format!("--destroy {}: this is none of the paths to be loaded", device.display()));
        }
    }
    // Which streams write is known when a trial begins.
    if !has_streams(load) && load.pattern.iter().any(|pattern| pattern.writes()) {
        let permits = files.permits(arguments.paths.iter().map(AsRef::as_ref));
        if let Some(reason) = paths.iter().find_map(|path| path.refused(&permits)) {
            return refuse(reason);
        }
    }
    Ok(())
}

/// Whether two paths, in whatever words, mean the same.
fn same(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().ok().is_some_and(|real| other.canonicalize().is_ok_and(|it| it == real))
}

fn target(draft: &mut Draft, arguments: &Disk, paths: &[StoragePath]) -> Result<(), Failure> {
    let files = &arguments.files;
    let directories = paths.iter().all(|path| path.kind == Origin::Created);
    let (setting, names): (_, Vec<String>) = if directories {
        draft.set_some(FILE_SIZE, files.size);
        let count = files.files.unwrap_or(if arguments.compare { 1 } else { paths.len() });
        draft.set_some(DATA_FILES, Some(count).filter(|count| *count > 1));
        for path in paths {
            draft.volume(&path.name, &path.path);
        }
        (VOLUME, paths.iter().map(|path| path.name.clone()).collect())
    } else {
        (PATHS, paths.iter().map(|path| path.path.clone()).collect())
    };
    if arguments.compare {
        let levels: Vec<Vec<String>> = names.into_iter().map(|name| vec![name]).collect();
        draft.vary(setting, &levels);
    } else {
        draft.set(setting, names);
    }
    place_on(draft, files)?;
    draft.vary(OFFSET, &files.offset);
    draft.set_some(COMPRESS, files.compress);
    draft.set_some(PRECONDITION, files.precondition.then_some(Precondition::Steady));
    Ok(())
}

/// Log and backup on paths of their own.
fn place_on(draft: &mut Draft, files: &Files) -> Result<(), Failure> {
    let others = [
        ("log", &files.log_on, LOG_VOLUME, LOG_PATH),
        ("backup", &files.backup_on, BACKUP_VOLUME, BACKUP_PATH),
    ];
    for (name, path, volume, existing) in others {
        let Some(path) = path else { continue };
        let StoragePath { path, kind, name } = StoragePath::named(path, name).map_err(Failure::usage)?;
        if kind == Origin::Created {
            draft.volume(&name, &path);
            draft.set(volume, name);
        } else {
            draft.set(existing, path);
        }
    }
    Ok(())
}

/// Factors come in the order in which they are given here: what changes most seldom first.
fn workload(draft: &mut Draft, arguments: &Disk, request: &Request<'_>, paths: &[StoragePath]) {
    let load = &arguments.load;
    draft.set_some(MIX, load.mix);
    if !load.stream.is_empty() {
        draft.set(STREAMS, load.stream.clone());
    } else if load.mix.is_none() && paths.len() > 1 && !arguments.compare {
        draft.comment("Each path is loaded by threads of its own.");
        let numbered = paths.iter().zip(1_usize..);
        let stream = |(path, number): (&StoragePath, usize)| StreamText::new(&path.name).with(FILE, number);
        draft.set(STREAMS, numbered.map(|each| stream(each).into()).collect::<Vec<String>>());
    }
    draft.vary(PATTERN, &or_default(&load.pattern, load, Pattern::RandomRead));
    draft.vary(BLOCK_SIZE, &or_default(&load.block, load, 8192));
    draft.vary(THREADS, &request.threads);
    draft.vary(QUEUE_DEPTH, &request.queue_depths);
    draft.set_some(BATCH, load.batch);
    draft.set_some(READS, load.reads);
    draft.set_some(RATE, load.rate);
    draft.set_some(DIRECT, load.buffered.then_some(false));
    draft.set_some(SYNC, load.sync);
    draft.set_some(SYNC_EVERY, load.sync_every);
    draft.set_some(ALIGN, load.align);
    draft.set_some(WORKING_SET, load.working_set);
    draft.set_some(IO_ENGINE, load.io_engine);
    draft.set(DURATION, request.duration_s);
    draft.set(WARMUP, request.warmup_s);
}

//! From the command line to the text of an experiment file.

use super::places::{Place, PlaceKind, kind, look_at};
use crate::args::{Disk, Files, Load, same};
use crate::commands::file_text::{FileText, list, quoted};
use crate::exit_code::Failure;
use std::path::Path;

/// Volumes of the log and of the backup, where these are on directories of their own.
const LOG: &str = "log";
const BACKUP: &str = "backup";

/// What is composed.
pub struct Request<'a> {
    /// The command line.
    pub arguments: &'a Disk,
    /// Name of the experiment.
    pub name: &'a str,
    /// Question that it answers.
    pub question: String,
    /// Numbers of threads: one, or several to vary.
    pub threads: Vec<u32>,
    /// Queue depths; none: as the streams have it.
    pub depths: Vec<u32>,
    /// Length of the measured part.
    pub duration: &'a str,
    /// Length of the warm-up.
    pub warmup: &'a str,
    /// Number of blocks.
    pub blocks: u32,
}

impl<'a> Request<'a> {
    /// What the command line asks for.
    pub fn new(arguments: &'a Disk, name: &'a str) -> Self {
        let streams = has_streams(&arguments.load);
        // Streams of databases have a depth of their own.
        let depths =
            if arguments.load.depth.is_empty() && !streams { vec![32] } else { arguments.load.depth.clone() };
        let measure = &arguments.measure;
        Self {
            arguments,
            name,
            question: format!("How fast is {}?", super::shown(&arguments.paths)),
            threads: arguments.load.threads.clone(),
            depths,
            duration: measure.duration.as_deref().unwrap_or("5 s"),
            warmup: measure.warmup.as_deref().unwrap_or("1 s"),
            blocks: measure.blocks.unwrap_or(3),
        }
    }
}

fn has_streams(load: &Load) -> bool {
    load.mix.is_some() || !load.stream.is_empty()
}

/// The experiment file that a command line stands for.
pub fn compose(request: &Request<'_>) -> Result<String, Failure> {
    let arguments = request.arguments;
    let files = &arguments.files;
    let places = look_at(&arguments.paths)?;
    check(arguments, &places)?;
    let mut text = FileText::new(&["Written by `steelbench disk --print`."]);
    text.section("[experiment]");
    text.text("name", request.name);
    text.text("question", &request.question);
    text.section("[target]");
    text.text("engine", "files");
    target(&mut text, arguments, &places)?;
    text.section("[workload]");
    text.text("probe", "disk");
    workload(&mut text, request, &places);
    let factors = factors(request, &places);
    if !factors.is_empty() {
        text.section("[factors]");
        for (path, levels) in factors {
            text.set(&quoted(path), levels);
        }
    }
    let volumes = places.iter().map(|place| (place.name.as_str(), place.path.as_path(), place.kind));
    let log = directory(LOG, files.log_on.as_deref())?;
    let backup = directory(BACKUP, files.backup_on.as_deref())?;
    for (name, path, kind) in volumes.chain(log).chain(backup) {
        if kind == PlaceKind::Directory {
            text.section("[[volume]]");
            text.text("name", name);
            text.text("path", utf8(path)?);
        }
    }
    text.section("[repeats]");
    text.set("blocks", request.blocks);
    text.set("seed", arguments.measure.seed.unwrap_or(1));
    Ok(text.finish())
}

fn directory<'a>(
    name: &'static str,
    path: Option<&'a Path>,
) -> Result<Option<(&'static str, &'a Path, PlaceKind)>, Failure> {
    path.map(|path| Ok((name, path, kind(path)?))).transpose()
}

/// What cannot be asked for together, and what must not be written to.
fn check(arguments: &Disk, places: &[Place]) -> Result<(), Failure> {
    let (load, files) = (&arguments.load, &arguments.files);
    let directories = places.iter().filter(|place| place.kind == PlaceKind::Directory).count();
    if directories != 0 && directories != places.len() {
        return Err(Failure::usage(
            "directories cannot be mixed with existing files or devices: measure them one after the other",
        ));
    }
    if files.files.is_some()
        && (directories == 0 || arguments.compare || places.len() > 1)
        && !has_streams(load)
    {
        return Err(Failure::usage("--files is for one directory, or for --stream and --mix"));
    }
    let created = [("--size", files.size.is_some()), ("--files", files.files.is_some())];
    if let Some((option, _)) = created.iter().find(|(_, given)| *given && directories == 0) {
        return Err(Failure::usage(format!("{option} is for files that we create: no PATH is a directory")));
    }
    for (number, place) in places.iter().enumerate() {
        if places[..number].iter().any(|before| same(&before.path, &place.path)) {
            return Err(Failure::usage(format!("{} is named twice", place.path.display())));
        }
    }
    for device in &files.destroy {
        let named = |path: &Path| same(path, device);
        let others = [&files.log_on, &files.backup_on];
        let others = others.iter().filter_map(|path| path.as_deref());
        if !places.iter().map(|place| place.path.as_path()).chain(others).any(named) {
            let device = device.display();
            return Err(Failure::usage(format!(
                "--destroy {device}: this is none of the paths to be loaded"
            )));
        }
    }
    if !has_streams(load) && load.pattern.iter().any(|pattern| pattern.writes()) {
        places.iter().try_for_each(|place| refuse_writing(place, files))?;
    }
    Ok(())
}

/// Refuses to write to what was there before us and is not named as what may be overwritten.
pub fn refuse_writing(place: &Place, files: &Files) -> Result<(), Failure> {
    let path = place.path.display();
    match place.kind {
        PlaceKind::File if !files.may_overwrite(&place.path) => Err(Failure::usage(format!(
            "{path} was there before us: writing to it would destroy what it holds; allow it with --overwrite {path}"
        ))),
        PlaceKind::Device if !files.may_destroy(&place.path) => Err(Failure::usage(format!(
            "{path} is a block device: writing to it would destroy what it holds; allow it with --destroy {path}"
        ))),
        _ => Ok(()),
    }
}

fn target(text: &mut FileText, arguments: &Disk, places: &[Place]) -> Result<(), Failure> {
    let files = &arguments.files;
    let directories = places.iter().all(|place| place.kind == PlaceKind::Directory);
    if directories {
        text.maybe("file_size", files.size.as_deref());
        let together = if arguments.compare { 1 } else { places.len() };
        let count = files.files.map_or(together, |files| files as usize);
        if count > 1 {
            text.set("data_files", count);
        }
    }
    if !arguments.compare {
        let names =
            places.iter().map(|place| if directories { Ok(place.name.as_str()) } else { utf8(&place.path) });
        let names: Vec<String> = names.map(|name| name.map(str::to_owned)).collect::<Result<_, _>>()?;
        text.texts(if directories { "volume" } else { "paths" }, &names);
    }
    for (path, volume, name) in [(&files.log_on, LOG, "log"), (&files.backup_on, BACKUP, "backup")] {
        let Some(path) = path else { continue };
        if kind(path)? == PlaceKind::Directory {
            text.text(&format!("{name}_volume"), volume);
        } else {
            text.text(&format!("{name}_path"), utf8(path)?);
        }
    }
    if let [offset] = files.offset.as_slice() {
        text.text("offset", offset);
    }
    text.maybe("compress", files.compress.as_deref());
    if files.precondition {
        text.text("precondition", "steady");
    }
    Ok(())
}

fn workload(text: &mut FileText, request: &Request<'_>, places: &[Place]) {
    let load = &request.arguments.load;
    text.maybe("mix", load.mix.as_deref());
    if !load.stream.is_empty() {
        text.long_list("streams", &load.stream);
    } else if load.mix.is_none() && places.len() > 1 && !request.arguments.compare {
        text.comment("Each path is loaded by threads of its own.");
        let numbered = places.iter().enumerate();
        let streams: Vec<String> =
            numbered.map(|(index, place)| format!("{} file={}", place.name, index + 1)).collect();
        text.long_list("streams", &streams);
    }
    match load.pattern.as_slice() {
        [] if has_streams(load) => {}
        [] => text.text("pattern", "random-read"),
        [pattern] => text.text("pattern", pattern.name()),
        _ => {}
    }
    match load.block.as_slice() {
        [] if has_streams(load) => {}
        [] => text.text("block_size", "8 KiB"),
        [block] => text.text("block_size", block),
        _ => {}
    }
    for (key, values) in [("threads", &request.threads), ("queue_depth", &request.depths)] {
        if let [value] = values.as_slice() {
            text.set(key, value);
        }
    }
    if let Some(batch) = load.batch {
        text.set("batch", batch);
    }
    text.maybe("reads", load.reads.as_deref());
    text.maybe("rate", load.rate.as_deref());
    if load.buffered {
        text.set("direct", false);
    }
    text.maybe("sync", load.sync.as_deref());
    if let Some(every) = load.sync_every {
        text.set("sync_every", every);
    }
    text.maybe("align", load.align.as_deref());
    text.maybe("working_set", load.working_set.as_deref());
    text.maybe("io_engine", load.io_engine.as_deref());
    text.text("duration", request.duration);
    text.text("warmup", request.warmup);
}

/// What is varied: the setting and its levels as TOML, what changes most seldom first.
fn factors(request: &Request<'_>, places: &[Place]) -> Vec<(&'static str, String)> {
    let (load, files) = (&request.arguments.load, &request.arguments.files);
    let texts = |values: &[String]| list(values.iter().map(|value| quoted(value)));
    let mut factors = Vec::new();
    if request.arguments.compare {
        let directories = places.iter().all(|place| place.kind == PlaceKind::Directory);
        let paths: Vec<String> = places
            .iter()
            .map(|place| if directories { place.name.clone() } else { place.path.display().to_string() })
            .collect();
        factors.push((if directories { "target.volume" } else { "target.paths" }, texts(&paths)));
    }
    let patterns: Vec<String> = load.pattern.iter().map(|pattern| pattern.name().to_owned()).collect();
    for (path, values) in [
        ("workload.pattern", &patterns),
        ("workload.block_size", &load.block),
        ("target.offset", &files.offset),
    ] {
        if values.len() > 1 {
            factors.push((path, texts(values)));
        }
    }
    for (path, values) in [("workload.threads", &request.threads), ("workload.queue_depth", &request.depths)]
    {
        if values.len() > 1 {
            factors.push((path, list(values.iter())));
        }
    }
    factors
}

/// An experiment file is text.
fn utf8(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| Failure::usage(format!("{}: a path has to be UTF-8", path.display())))
}

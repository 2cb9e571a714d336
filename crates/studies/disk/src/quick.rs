//! `steelbench disk`: a quick command is an experiment too.

use crate::analysis::{SearchLevels, knee};
use crate::arguments::{Disk, Files, Load, Output};
use crate::files::{
    BACKUP_PATH, BACKUP_VOLUME, COMPRESS, DATA_FILES, FILE_SIZE, LOG_PATH, LOG_VOLUME, OFFSET,
    PATHS, PRECONDITION, Precondition, VOLUME, is_same,
};
use crate::fio;
use crate::fio_json::fio_json;
use crate::paths::StoragePath;
use crate::settings::{
    ALIGN, BATCH, BLOCK_SIZE, DIRECT, DURATION, FILE, IO_ENGINE, MIX, PATTERN, Pattern,
    QUEUE_DEPTH, RATE, READS, STREAMS, SYNC, SYNC_EVERY, THREADS, WARMUP, WORKING_SET,
};
use crate::streams::StreamText;
use crate::volume_document;
use command_line::output::{self, Form};
use command_line::session::{Session, exit_code};
use command_line::{Chapter, Command, Context, ExitCode, Failure, Tool};
use engine::Permits;
use engine::file_set::Origin;
use experiment::common::{ENGINE, PROBE};
use experiment::{Draft, NamedFile};
use inspection::volume_advice;
use observations::RunEnd;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The command of this study.
pub const COMMAND: Command = Command::new::<Disk>(Chapter::QuickTests);

/// Prints the experiment that is run.
const PRINTED: &str = "steelbench disk --print";

impl Tool for Disk {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench disk /mnt/data", "steelbench disk /mnt/a /mnt/b --compare --block 8k,64k"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let exchange = &self.exchange;
        if exchange.inspect {
            return inspect(&self.paths, self.quick.json);
        }
        let name = name(self);
        if self.measure.find_max {
            return find_max(context, self, &name);
        }
        let (draft, permits, grouped) = match &exchange.fio {
            None => (draft(self, &name, "How fast is")?, permits(self), BTreeMap::new()),
            Some(file) => imported(self, file, &name)?,
        };
        let session = Session::quick(&self.quick, &name, permits);
        match exchange.output {
            None => session.run(context, &draft, PRINTED, self.quick.print),
            Some(Output::FioJson) => {
                let end = session.conduct(context, &context.build(&draft, PRINTED)?)?;
                let recording = session.recording(context)?;
                output::print_as_it_is(&report::escaped(&format!(
                    "{:#}\n",
                    fio_json(&recording, &grouped)
                )))?;
                Ok(exit_code(&end, recording.done().count() < recording.trials.len(), None))
            }
        }
    }
}

/// The experiment that a fio job file stands for, and which of its streams are reported together.
fn imported(
    arguments: &Disk,
    file: &Path,
    name: &str,
) -> Result<(Draft, Permits, BTreeMap<String, String>), Failure> {
    let shown = file.display().to_string();
    let jobs = NamedFile::read("--fio", &shown, Path::new(""));
    let jobs = jobs.map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    let ignore = arguments.exchange.fio_ignore;
    let mut imported = fio::import(&jobs.content, &shown, name, ignore).map_err(Failure::usage)?;
    imported.draft.made_from(jobs);
    let permits =
        arguments.files.permits(imported.existing.iter().map(|file| Path::new(&file.path)));
    if let Some(reason) = imported.refused(&permits) {
        return Err(Failure::usage(reason));
    }
    for note in &imported.notes {
        output::complain(&format!("note: {note}"));
    }
    let quick = &arguments.quick;
    imported.draft.repeats(quick.blocks.unwrap_or(1), quick.seed.or(imported.seed).unwrap_or(1));
    Ok((imported.draft, permits, imported.grouped))
}

/// A coarse run over everything, then a fine one around the knees that it found.
fn find_max(context: &Context, arguments: &Disk, name: &str) -> Result<ExitCode, Failure> {
    let processors =
        std::thread::available_parallelism().map_or(1, |processors| processors.get() as u32);
    let coarse_name = format!("{name}-coarse");
    let mut coarse = arguments.clone();
    let SearchLevels { threads, queue_depths } = SearchLevels::coarse(processors);
    (coarse.load.threads, coarse.load.depth) = (threads, queue_depths);
    (coarse.measure.duration, coarse.quick.blocks, coarse.quick.results) =
        (Some(1.0), Some(1), None);
    coarse.measure.warmup.get_or_insert(0.25);
    let session = Session::quick(&coarse.quick, &coarse_name, permits(arguments));
    let end = session.conduct(
        context,
        &context.build(&draft(&coarse, &coarse_name, "How fast is")?, PRINTED)?,
    )?;
    if !matches!(end, RunEnd::Completed { .. }) {
        return Ok(exit_code(&end, false, None));
    }
    let recording = session.recording(context)?;
    let knees = knee(&recording);
    if knees.is_empty() {
        session.show(context, &recording)?;
        return Err(Failure::failed(
            "the coarse run was too short to find where the storage saturates",
        ));
    }
    for knee in &knees {
        output::complain(&format!("Coarse: {knee}"));
    }
    let mut fine = arguments.clone();
    let SearchLevels { threads, queue_depths } = SearchLevels::around(&knees);
    (fine.load.threads, fine.load.depth) = (threads, queue_depths);
    let draft = draft(&fine, name, "How many I/Os in flight saturate")?;
    Session::quick(&fine.quick, name, permits(arguments)).run(context, &draft, PRINTED, false)
}

/// Prints how the storage under each path is set up, with advice. Runs nothing.
fn inspect(paths: &[PathBuf], json: bool) -> Result<ExitCode, Failure> {
    for path in paths {
        let facts = observe::inspect::volume(path).map_err(Failure::usage)?;
        let advice = volume_advice(&facts);
        output::show(
            Form { json, md: false },
            || volume_document::json(&facts, &advice),
            || volume_document::volume(&facts, &advice),
        )?;
    }
    Ok(ExitCode::Ok)
}

/// The paths under load.
fn all_paths(arguments: &Disk) -> impl Iterator<Item = &Path> {
    let Files { log_on, backup_on, .. } = &arguments.files;
    arguments.paths.iter().chain(log_on).chain(backup_on).map(AsRef::as_ref)
}

fn permits(arguments: &Disk) -> Permits {
    arguments.files.permits(all_paths(arguments))
}

/// Name of the experiment.
fn name(arguments: &Disk) -> String {
    let of_file = |file: &PathBuf| {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        stem.replace(|c| !is_fit(c), "-").trim_start_matches(['.', '-']).to_owned()
    };
    let name = arguments.quick.name.clone();
    let name = name.or_else(|| arguments.exchange.fio.as_ref().map(of_file));
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "disk".into())
}

/// The values that are given, else a default; none where streams have values of their own.
fn or_default<T: Clone>(values: &[T], load: &Load, default: T) -> Vec<T> {
    if values.is_empty() && !has_streams(load) { vec![default] } else { values.to_vec() }
}

fn has_streams(load: &Load) -> bool {
    load.mix.is_some() || !load.stream.is_empty()
}

/// The experiment that a command line stands for; its question begins with these words.
fn draft(arguments: &Disk, name: &str, question: &str) -> Result<Draft, Failure> {
    let paths = StoragePath::all(&arguments.paths).map_err(Failure::usage)?;
    check(arguments, &paths)?;
    let shown: Vec<String> =
        arguments.paths.iter().map(|path| path.display().to_string()).collect();
    let question =
        if shown.len() > 1 { question.replace("fast is", "fast are") } else { question.to_owned() };
    let mut draft = Draft::new(name, &format!("{question} {}?", analysis::wording::list(&shown)));
    draft.comment(&format!("Written by `{PRINTED}`."));
    draft.set(ENGINE, "files");
    target(&mut draft, arguments, &paths)?;
    draft.set(PROBE, "disk");
    workload(&mut draft, arguments, &paths);
    draft.repeats(arguments.quick.blocks.unwrap_or(3), arguments.quick.seed.unwrap_or(1));
    Ok(draft)
}

/// Rejects contradictory options, and paths that must not be written to.
fn check(arguments: &Disk, paths: &[StoragePath]) -> Result<(), Failure> {
    let (load, files) = (&arguments.load, &arguments.files);
    let refuse = |message: String| Err(Failure::usage(message));
    let directories = paths.iter().filter(|path| path.kind == Origin::Created).count();
    if directories != 0 && directories != paths.len() {
        let message = "directories cannot be mixed with existing files or devices: measure them \
                       separately";
        return refuse(message.into());
    }
    let one_directory = directories == 1 && !arguments.compare;
    if files.files.is_some() && !one_directory && !has_streams(load) {
        return refuse("--files needs one directory, or --stream or --mix".into());
    }
    let created = [("--size", files.size.is_some()), ("--files", files.files.is_some())];
    if let Some((option, _)) = created.iter().find(|(_, is_set)| *is_set && directories == 0) {
        return refuse(format!(
            "{option} applies to files that Steelbench creates, but no PATH is a directory"
        ));
    }
    for (number, path) in arguments.paths.iter().enumerate() {
        if arguments.paths[..number].iter().any(|before| is_same(before, path)) {
            return refuse(format!("{} is given twice", path.display()));
        }
    }
    for device in &files.destroy {
        if !all_paths(arguments).any(|path| is_same(path, device)) {
            let device = device.display();
            return refuse(format!("--destroy {device}: not one of the paths under load"));
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
        let StoragePath { path, kind, name } =
            StoragePath::named(path, name).map_err(Failure::usage)?;
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
fn workload(draft: &mut Draft, arguments: &Disk, paths: &[StoragePath]) {
    let (load, measure) = (&arguments.load, &arguments.measure);
    draft.set_some(MIX, load.mix);
    if !load.stream.is_empty() {
        draft.set(STREAMS, load.stream.clone());
    } else if load.mix.is_none() && paths.len() > 1 && !arguments.compare {
        draft.comment("Each path has its own threads.");
        let numbered = paths.iter().zip(1_usize..);
        draft.set(
            STREAMS,
            numbered
                .map(|(path, number)| StreamText::new(&path.name).with(FILE, number).0)
                .collect::<Vec<_>>(),
        );
    }
    draft.vary(PATTERN, &or_default(&load.pattern, load, Pattern::RandomRead));
    draft.vary(BLOCK_SIZE, &or_default(&load.block, load, 8192));
    draft.vary(THREADS, &load.threads);
    draft.vary(QUEUE_DEPTH, &or_default(&load.depth, load, 32));
    draft.set_some(BATCH, load.batch);
    draft.set_some(READS, load.reads);
    draft.set_some(RATE, load.rate);
    draft.set_some(DIRECT, (load.buffered || load.direct == Some(0)).then_some(false));
    draft.set_some(SYNC, load.sync);
    draft.set_some(SYNC_EVERY, load.sync_every);
    draft.set_some(ALIGN, load.align);
    draft.set_some(WORKING_SET, load.working_set);
    draft.set_some(IO_ENGINE, load.io_engine);
    draft.set(DURATION, measure.duration.unwrap_or(5.0));
    draft.set(WARMUP, measure.warmup.unwrap_or(1.0));
}

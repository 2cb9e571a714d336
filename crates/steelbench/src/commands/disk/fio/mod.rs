//! fio job files: from one to the text of an experiment file.
//!
//! - `ini`, `number`: the form of job files
//! - `job`: what the options of a job mean
//! - `files`: the files that jobs work on
//! - `group`: jobs that run together

mod files;
mod group;
mod ini;
mod job;
mod number;

use super::places::PlaceKind;
use crate::args::Disk;
use crate::commands::file_text::{FileText, quoted};
use crate::exit_code::Failure;
use files::Files;
use group::Group;
use job::Job;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An experiment that a job file stands for.
pub struct FromFio {
    /// The experiment file.
    pub text: String,
    /// Files that were there before and may be written to, as the command line allows.
    pub overwrite: Vec<PathBuf>,
    /// What is not quite what fio does.
    pub notes: Vec<String>,
}

/// Reads a job file.
pub fn compose(path: &Path, arguments: &Disk, name: &str) -> Result<FromFio, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    let (jobs, mut notes) = jobs(&text, &shown.to_string(), arguments.exchange.fio_ignore)?;
    let mut files = Files::default();
    let groups = group::groups(&jobs, &mut files)?;
    let existing = files.all_exist()?;
    for file in files.files.iter().filter(|file| file.written) {
        refuse_writing(file, arguments)?;
    }
    let mut seen = BTreeSet::new();
    notes.extend(jobs.iter().flat_map(|job| &job.notes).filter(|note| seen.insert(*note)).cloned());
    let header = format!("From the fio job file {shown}, by `steelbench disk --fio`.");
    let mut text = FileText::new(&[&header]);
    for note in &notes {
        text.comment(&format!("Note: {note}."));
    }
    text.section("[experiment]");
    text.text("name", name);
    text.text("question", &format!("How fast are the jobs of {shown}?"));
    target(&mut text, &jobs, &files, existing)?;
    workload(&mut text, &jobs, &groups)?;
    volumes(&mut text, &files, existing);
    text.section("[repeats]");
    text.set("blocks", arguments.measure.blocks.unwrap_or(1));
    let seed = arguments.measure.seed.or_else(|| jobs.iter().find_map(|job| job.seed));
    text.set("seed", seed.unwrap_or(1));
    if jobs.iter().any(|job| job.runtime_s.is_none()) {
        text.section("[limits]");
        text.text("trial_time", "25 h");
    }
    let overwrite = files
        .files
        .into_iter()
        .filter(|file| file.existing == Some(PlaceKind::File) && arguments.files.may_overwrite(&file.path));
    Ok(FromFio { text: text.finish(), overwrite: overwrite.map(|file| file.path).collect(), notes })
}

/// The jobs, with notes of what was left out; or everything that is wrong, in one message.
fn jobs(text: &str, shown: &str, ignore: bool) -> Result<(Vec<Job>, Vec<String>), Failure> {
    let sections = ini::read(text, &|name| std::env::var(name).ok()).map_err(|problems| {
        let lines = problems.iter().map(|problem| format!("{shown}:{}: {}", problem.line, problem.text));
        Failure::usage(lines.collect::<Vec<_>>().join("\n"))
    })?;
    let (mut jobs, mut unknown, mut problems) = (Vec::new(), Vec::new(), BTreeSet::new());
    for section in &sections {
        let (job, without, wrong) = Job::read(section);
        jobs.push(job);
        unknown.extend(without);
        problems.extend(wrong);
    }
    // An option of a global section comes with each of its jobs.
    unknown.sort_by_key(|option| option.line);
    unknown.dedup();
    let named: Vec<String> =
        unknown.iter().map(|option| format!("{} (line {})", option.key, option.line)).collect();
    let mut lines: Vec<String> =
        problems.iter().map(|(line, text)| format!("{shown}:{line}: {text}")).collect();
    if !named.is_empty() && !ignore {
        lines.push(format!(
            "{shown}: we do not have these options: {}; --fio-ignore runs the jobs without them",
            named.join(", ")
        ));
    }
    if !lines.is_empty() {
        return Err(Failure::usage(lines.join("\n")));
    }
    let left_out =
        (!named.is_empty()).then(|| format!("left out, because we do not have it: {}", named.join(", ")));
    Ok((jobs, left_out.into_iter().collect()))
}

/// Refuses to write to what was there before us and is not named as what may be overwritten.
fn refuse_writing(file: &files::JobFile, arguments: &Disk) -> Result<(), Failure> {
    let place = super::places::Place {
        path: file.path.clone(),
        kind: file.existing.unwrap_or(PlaceKind::Directory),
        name: String::new(),
    };
    super::compose::refuse_writing(&place, &arguments.files)
}

fn target(text: &mut FileText, jobs: &[Job], files: &Files, existing: bool) -> Result<(), Failure> {
    text.section("[target]");
    text.text("engine", "files");
    if existing {
        let paths: Vec<String> = files.files.iter().map(|file| file.path.display().to_string()).collect();
        text.texts("paths", &paths);
    } else {
        text.set("data_files", files.files.len());
        text.set("file_size", files.size);
        let directories = directories(files);
        let volume = |file: &files::JobFile| {
            let number = directories.iter().position(|directory| *directory == file.directory());
            format!("directory-{}", number.unwrap_or(0) + 1)
        };
        let volumes: Vec<String> = files.files.iter().map(volume).collect();
        text.texts("volume", &volumes);
    }
    let offset = the_same(jobs, "offset", |job| job.offset)?;
    if offset > 0 {
        text.set("offset", offset);
    }
    let compress = the_same(jobs, "buffer_compress_percentage", |job| job.compress)?;
    if compress > 0 {
        text.text("compress", &format!("{compress}%"));
    }
    // A warm-up brings into memory what is to be cold.
    if jobs.iter().any(|job| !job.direct && job.invalidate) && jobs.iter().all(|job| job.warmup_s <= 0.0) {
        text.text("cache", "cold");
    }
    Ok(())
}

fn workload(text: &mut FileText, jobs: &[Job], groups: &[Group]) -> Result<(), Failure> {
    text.section("[workload]");
    text.text("probe", "disk");
    text.text("warmup", &format!("{} s", the_same(jobs, "ramp_time", |job| job.warmup_s)?));
    if jobs.iter().all(|job| job.synchronous) {
        text.text("io_engine", "pread");
    }
    if let [group] = groups {
        text.long_list("streams", &group.streams);
        text.text("duration", &group.duration);
        return Ok(());
    }
    text.comment(
        "stonewall: jobs behind one run when those before have ended. Each level is one such group.",
    );
    for group in groups {
        text.section("[[level]]");
        text.text("factor", "group");
        text.text("name", &group.name);
        let streams: Vec<String> = group.streams.iter().map(|stream| quoted(stream)).collect();
        text.set(
            "set",
            format_args!(
                "{{ \"workload.streams\" = [{}], \"workload.duration\" = {} }}",
                streams.join(", "),
                quoted(&group.duration)
            ),
        );
    }
    Ok(())
}

fn volumes(text: &mut FileText, files: &Files, existing: bool) {
    if existing {
        return;
    }
    for (number, directory) in (1..).zip(directories(files)) {
        text.section("[[volume]]");
        text.text("name", &format!("directory-{number}"));
        text.text("path", &directory.display().to_string());
    }
}

/// The directories that files of ours go to, each once.
fn directories(files: &Files) -> Vec<&Path> {
    let mut directories: Vec<&Path> = Vec::new();
    for file in &files.files {
        if !directories.contains(&file.directory()) {
            directories.push(file.directory());
        }
    }
    directories
}

/// What holds for all jobs of a file here, and has to be the same for them.
fn the_same<T: PartialEq>(jobs: &[Job], option: &str, value: impl Fn(&Job) -> T) -> Result<T, Failure> {
    let first = value(&jobs[0]);
    match jobs.iter().find(|job| value(job) != first) {
        None => Ok(first),
        Some(other) => Err(Failure::usage(format!(
            "jobs {} and {} have a different {option}, which holds for all jobs together here: put them in files of their own",
            jobs[0].name, other.name
        ))),
    }
}

//! fio job files: from one to an experiment.
//!
//! - `ini`: the form of job files, and of the numbers in them
//! - `job`: what the options of a job mean
//! - `group`: jobs that run together, and their files

mod error;
mod group;
mod ini;
mod job;

use crate::StoragePath;
use crate::files::{COMPRESS, DATA_FILES, FILE_SIZE, OFFSET, PATHS, VOLUME};
use crate::settings::{DURATION, IO_ENGINE, IoEngine, STREAMS, WARMUP};
use engine::file_set::CACHE;
use engine::{CacheState, Permits};
pub use error::FioError;
use error::limited;
use experiment::common::{ENGINE, PROBE};
use experiment::{Draft, LinkedSettings, file};
use group::{Files, Group, JobFile, groups, the_same};
use ini::JobOption;
use job::Job;
pub use job::pattern;
use observations::order;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Limit on the time of a trial whose jobs end by themselves: an hour more than that of the jobs.
const TRIAL_TIME_S: f64 = 90_000.0;

/// An experiment that a job file stands for.
#[derive(Debug)]
pub struct Import {
    /// The experiment, to which the repeats are to be added.
    pub draft: Draft,
    /// The seed that the file gives.
    pub seed: Option<u64>,
    /// Files and devices that were there before.
    pub existing: Vec<StoragePath>,
    /// The job of each stream that has `group_reporting`, by the stream's name.
    pub grouped: BTreeMap<String, String>,
    /// Paths that jobs write to.
    written: Vec<StoragePath>,
    /// Differences from fio.
    pub notes: Vec<String>,
}

impl Import {
    /// Why its jobs must not run; `None`: the user permits all that they write.
    pub fn refused(&self, permits: &Permits) -> Option<String> {
        self.written.iter().find_map(|file| file.refused(permits))
    }
}

/// Reads the text of a job file, which errors call `shown`. With `ignore`, options that we do not
/// have are left out.
///
/// # Errors
/// Everything that is wrong with it or that we do not have, in one message.
pub fn import(text: &str, shown: &str, name: &str, ignore: bool) -> Result<Import, FioError> {
    let (jobs, mut notes) = jobs(text, shown, ignore)?;
    let (groups, files) = groups(&jobs)?;
    let existing = files.all_exist()?;
    let mut names = BTreeSet::new();
    notes
        .extend(jobs.iter().flat_map(|job| &job.notes).filter(|note| names.insert(*note)).cloned());
    let mut draft = Draft::new(name, &format!("How fast are the jobs of {shown}?"));
    draft.comment(&format!("From the fio job file {shown}, by `steelbench disk --fio`."));
    for note in &notes {
        draft.comment(&format!("Note: {note}."));
    }
    target(&mut draft, &jobs, &files, existing)?;
    let grouped = groups.iter().flat_map(|group| group.reported.clone()).collect();
    workload(&mut draft, &jobs, groups)?;
    if jobs.iter().any(|job| job.runtime_s.is_none()) {
        draft.set(file::TRIAL_TIME_S, TRIAL_TIME_S);
    }
    let existing = |is_included: fn(&&JobFile) -> bool| {
        files.files.iter().filter(is_included).filter_map(|file| file.existing.clone()).collect()
    };
    let seed = jobs.iter().find_map(|job| job.seed);
    let (all, written) = (existing(|_| true), existing(|file| file.written));
    Ok(Import { draft, seed, existing: all, grouped, written, notes })
}

/// The jobs, with notes of what was left out; or everything that is wrong, in one message.
fn jobs(text: &str, shown: &str, ignore: bool) -> Result<(Vec<Job>, Vec<String>), FioError> {
    let failed =
        |problems, unsupported| FioError::Lines { shown: shown.to_owned(), problems, unsupported };
    let sections = ini::read(text, &|name| std::env::var(name).ok())
        .map_err(|problems| failed(problems, Vec::new()))?;
    let (mut jobs, mut unknown, mut problems) = (Vec::new(), Vec::<&JobOption>::new(), Vec::new());
    for section in &sections {
        let (job, without, wrong) = Job::read(section);
        jobs.push(job);
        unknown.extend(without);
        problems.extend(wrong);
    }
    order::by_key(&mut unknown, &|option| option.line);
    unknown.dedup();
    let named: Vec<String> =
        unknown.iter().map(|option| format!("{} (line {})", option.key, option.line)).collect();
    if !problems.is_empty() || (!named.is_empty() && !ignore) {
        return Err(failed(problems, if ignore { Vec::new() } else { named }));
    }
    let left_out = (!named.is_empty())
        .then(|| format!("omitted, not supported: {}", limited(named).join(", ")));
    Ok((jobs, left_out.into_iter().collect()))
}

fn target(draft: &mut Draft, jobs: &[Job], files: &Files, existing: bool) -> Result<(), FioError> {
    draft.set(ENGINE, "files");
    if existing {
        let existing = files.files.iter().filter_map(|file| file.existing.as_ref());
        draft.set(PATHS, existing.map(|file| file.path.clone()).collect::<Vec<_>>());
    } else {
        draft.set(DATA_FILES, files.files.len());
        draft.set(FILE_SIZE, files.size);
        let mut directories: Vec<&Path> = Vec::new();
        let mut volumes = Vec::new();
        for directory in files.files.iter().map(JobFile::directory) {
            let known = directories.iter().position(|known| *known == directory);
            let number = known.unwrap_or(directories.len()) + 1;
            volumes.push(format!("directory-{number}"));
            if known.is_none() {
                directories.push(directory);
                draft.volume(&format!("directory-{number}"), &directory.display().to_string());
            }
        }
        draft.set(VOLUME, volumes);
    }
    let offset = the_same(jobs, "offset", |job| job.offset)?;
    draft.set_some(OFFSET, Some(offset).filter(|offset| *offset > 0));
    let compress = the_same(jobs, "buffer_compress_percentage", |job| job.compress_percent)?;
    draft.set_some(COMPRESS, Some(f64::from(compress) / 100.0).filter(|share| *share > 0.0));
    // A warm-up brings into memory what is to be cold.
    if jobs.iter().any(|job| !job.direct && job.invalidate)
        && jobs.iter().all(|job| job.warmup_s <= 0.0)
    {
        draft.set(CACHE, CacheState::Cold);
    }
    Ok(())
}

fn workload(draft: &mut Draft, jobs: &[Job], mut groups: Vec<Group>) -> Result<(), FioError> {
    draft.set(PROBE, "disk");
    draft.set(WARMUP, the_same(jobs, "ramp_time", |job| job.warmup_s)?);
    if jobs.iter().all(|job| job.synchronous) {
        draft.set(IO_ENGINE, IoEngine::Pread);
    }
    if groups.len() > 1 {
        draft.comment(
            "The levels of `group` are the jobs between stonewalls. They run one after the other.",
        );
        for group in groups {
            let settings = LinkedSettings::default()
                .with(STREAMS, group.streams)
                .with(DURATION, group.duration_s);
            draft.level("group", &group.name, settings);
        }
    } else if let Some(group) = groups.pop() {
        draft.set(STREAMS, group.streams);
        draft.set(DURATION, group.duration_s);
    }
    Ok(())
}

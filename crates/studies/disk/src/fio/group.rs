//! Jobs that run together, and the files that they work on.

use super::error::FioError;
use super::job::Job;
use crate::files::size;
use crate::paths::stream_name;
use crate::settings::{
    ALIGN, BLOCK_SIZE, BLOCK_SIZE_MAX, BYTES, DIRECT, FILE, ON, PATTERN, QUEUE_DEPTH, RATE, READS,
    SYNC, SYNC_EVERY, THREADS, WORKING_SET,
};
use crate::{StoragePath, StreamText};
use engine::Role;
use engine::file_set::Origin;
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Seconds that jobs run which end by themselves: longer than anybody waits.
const NO_LIMIT_S: f64 = 86_400.0;

/// Jobs between two stonewalls.
#[derive(Debug, PartialEq)]
pub struct Group {
    /// Names of its jobs.
    pub name: String,
    pub streams: Vec<String>,
    pub duration_s: f64,
    /// The job of each stream that has `group_reporting`, by the stream's name.
    pub reported: BTreeMap<String, String>,
}

/// All files of a job file, each once.
#[derive(Debug, Default)]
pub struct Files {
    /// In the order of their numbers.
    pub files: Vec<JobFile>,
    /// Size of those that Steelbench creates.
    pub size: u64,
}

/// A file of a job.
#[derive(Debug)]
pub(crate) struct JobFile {
    /// The path, or the one that fio would give it.
    pub path: PathBuf,
    /// The existing path; `None`: Steelbench creates a file in its directory.
    pub existing: Option<StoragePath>,
    /// True if a job writes to it.
    pub written: bool,
}

/// Source of a stream: a job, or one of its clones.
#[derive(Debug)]
struct JobStream<'a> {
    name: String,
    job: &'a Job,
    threads: u32,
    /// Positions in [`Files::files`].
    files: Vec<usize>,
    /// Bytes of each.
    bytes: u64,
}

/// The groups of a file, and all files that they use.
pub fn groups(jobs: &[Job]) -> Result<(Vec<Group>, Files), FioError> {
    let mut files = Files::default();
    let mut parts: Vec<Vec<JobStream<'_>>> = Vec::new();
    for job in jobs {
        let streams = clones(job, &mut files)?;
        match parts.last_mut() {
            Some(part) if !job.after_others => part.extend(streams),
            _ => parts.push(streams),
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for mut streams in parts {
        let mut jobs: Vec<&Job> = streams.iter().map(|stream| stream.job).collect();
        jobs.dedup_by(|job, other| std::ptr::eq(*job, *other));
        let names: Vec<String> = jobs.iter().map(|job| stream_name(&job.name)).collect();
        let mut name = names.join("+");
        if groups.iter().any(|group| group.name == name) {
            name = format!("{name} {}", groups.len() + 1);
        }
        let runtime_s = the_same(&jobs, "runtime", |job| job.runtime_s)?;
        distinct(&mut streams);
        let reporting = streams.iter().filter(|stream| stream.job.group_reporting);
        let reported =
            reporting.map(|stream| (stream.name.clone(), stream.job.name.clone())).collect();
        let streams = streams
            .iter()
            .map(|stream| stream.text(files.files.len()))
            .collect::<Result<_, _>>()?;
        groups.push(Group { name, streams, duration_s: runtime_s.unwrap_or(NO_LIMIT_S), reported });
    }
    Ok((groups, files))
}

/// Divides the clones of a job (numjobs) into streams. Clones with a position in a file, or a file,
/// of their own are separate streams; all others are threads of one stream.
fn clones<'a>(job: &'a Job, files: &mut Files) -> Result<Vec<JobStream<'a>>, FioError> {
    let mut stream = |name: String, threads: u32, clone: u32| {
        let (files, bytes) = files.add(job, clone)?;
        Ok(JobStream { name, job, threads, files, bytes })
    };
    let name = stream_name(&job.name);
    if job.numjobs == 1 || (!job.pattern.is_sequential() && !job.files.is_empty()) {
        return Ok(vec![stream(name, job.numjobs, 0)?]);
    }
    (0..job.numjobs).map(|clone| stream(format!("{name}-{}", clone + 1), 1, clone)).collect()
}

/// Gives streams of the same name different ones.
fn distinct(streams: &mut [JobStream<'_>]) {
    let mut taken: Vec<String> = Vec::new();
    for stream in streams {
        let numbered = (2..=taken.len() + 2).map(|number| format!("{}_{number}", stream.name));
        // `checkpoint` is the pattern of that name, which comes in bursts; no job does.
        let found = std::iter::once(stream.name.clone())
            .chain(numbered)
            .find(|name| !name.is_empty() && name != "checkpoint" && !taken.contains(name));
        stream.name = found.unwrap_or_default();
        taken.push(stream.name.clone());
    }
}

impl JobStream<'_> {
    /// Everything is given, so that nothing comes from elsewhere: the name may be that of a known
    /// pattern.
    fn text(&self, files: usize) -> Result<String, FioError> {
        let job = self.job;
        let (min, max) = job.block();
        let block = |bytes: u64| {
            u32::try_from(bytes).map_err(|_| FioError::LargeBlock { job: job.name.clone(), bytes })
        };
        let mut text = StreamText::new(&self.name)
            .with(PATTERN, job.pattern)
            .with(READS, f64::from(job.read_percent) / 100.0)
            .with(BLOCK_SIZE, block(min)?)
            .with(BLOCK_SIZE_MAX, block(max)?)
            .with(ALIGN, job.align.unwrap_or(min))
            .with(THREADS, self.threads)
            .with(QUEUE_DEPTH, job.depth)
            .with(DIRECT, job.direct)
            .with(SYNC, job.sync)
            .with(SYNC_EVERY, job.sync_every)
            .with(ON, Role::Data)
            .with(WORKING_SET, self.bytes);
        if let Some(rate) = job.rate() {
            // A rate of fio is that of each clone.
            text = text.with(RATE, (rate * u64::from(self.threads)) as f64);
        }
        if !job.time_based {
            let each = job.io_size.or(job.size).unwrap_or(self.bytes * self.files.len() as u64);
            text = text.with(BYTES, each * u64::from(self.threads));
        }
        match self.files.as_slice() {
            all if all.len() == files => Ok(text.0),
            [file] => Ok(text.with(FILE, *file + 1).0),
            _ => Err(FioError::SomeFiles(job.name.clone())),
        }
    }
}

impl Files {
    /// Adds the files of one job, or of clone number `clone` of it: their positions, and the bytes
    /// of each.
    fn add(&mut self, job: &Job, clone: u32) -> Result<(Vec<usize>, u64), FioError> {
        let paths = [PathBuf::from(format!("{}.{clone}.0", job.name.replace('/', "_")))];
        let names = if job.files.is_empty() { &paths[..] } else { &job.files };
        let file_size = job.file_size.or(job.size.map(|size| size / names.len() as u64));
        let (mut files, mut bytes) = (Vec::new(), 0);
        for name in names {
            let path = job.directory.join(name);
            let existing = path.exists().then(|| StoragePath::named(&path, "")).transpose()?;
            bytes = match &existing {
                Some(StoragePath { kind: Origin::Created, .. }) => {
                    return Err(FioError::Directory(path));
                }
                Some(_) => file_size
                    .map_or_else(|| size(&path), Ok)
                    .map_err(|source| FioError::File { path: path.clone(), source })?,
                None => file_size.ok_or_else(|| FioError::NoSize {
                    job: job.name.clone(),
                    path: path.clone(),
                })?,
            };
            if existing.is_none() {
                self.size = self.size.max(bytes + job.offset);
            }
            files.push(self.number(path, existing, job.pattern.writes()));
        }
        Ok((files, bytes))
    }

    fn number(&mut self, path: PathBuf, existing: Option<StoragePath>, written: bool) -> usize {
        if let Some(known) = self.files.iter().position(|file| file.path == path) {
            self.files[known].written |= written;
            return known;
        }
        self.files.push(JobFile { path, existing, written });
        self.files.len() - 1
    }

    /// Returns whether all files exist; an error if only some do.
    pub fn all_exist(&self) -> Result<bool, FioError> {
        let missing = self.files.iter().find(|file| file.existing.is_none());
        let existing = self.files.iter().find(|file| file.existing.is_some());
        match (existing, missing) {
            (Some(existing), Some(missing)) => Err(FioError::SomeExist {
                existing: existing.path.clone(),
                missing: missing.path.clone(),
            }),
            (existing, _) => Ok(existing.is_some()),
        }
    }
}

impl JobFile {
    /// The directory that Steelbench creates it in.
    pub fn directory(&self) -> &Path {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

/// Returns the common value of jobs that run together; it must be equal.
pub(crate) fn the_same<T: PartialEq>(
    jobs: &[impl Borrow<Job>],
    option: &str,
    value: impl Fn(&Job) -> T,
) -> Result<T, FioError> {
    let mut jobs = jobs.iter().map(Borrow::borrow);
    let Some(first) = jobs.next() else { return Err(FioError::NoJob) };
    match jobs.find(|job| value(job) != value(first)) {
        None => Ok(value(first)),
        Some(other) => Err(FioError::Differ {
            job: first.name.clone(),
            other: other.name.clone(),
            option: option.to_owned(),
        }),
    }
}

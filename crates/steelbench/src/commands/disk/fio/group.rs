//! Jobs that run together.

use super::files::{Files, Used};
use super::job::Job;
use crate::commands::disk::places::plain;
use crate::exit_code::Failure;
use std::fmt::Write;

/// How long jobs run that end by themselves: longer than anybody waits.
const NO_LIMIT: &str = "24 h";

/// Jobs between two stonewalls.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// Names of its jobs.
    pub name: String,
    /// Its streams as an experiment file has them.
    pub streams: Vec<String>,
    /// Length of the measured part.
    pub duration: String,
}

/// The groups of a file. All files are noted that they use.
pub fn groups(jobs: &[Job], files: &mut Files) -> Result<Vec<Group>, Failure> {
    let mut parts: Vec<Vec<&Job>> = Vec::new();
    for job in jobs {
        match parts.last_mut() {
            Some(part) if !job.after_others => part.push(job),
            _ => parts.push(vec![job]),
        }
    }
    // Which numbers files have is known when all have been seen.
    let mut used: Vec<Vec<Stream<'_>>> = Vec::new();
    for part in &parts {
        let streams: Vec<Vec<Stream<'_>>> =
            part.iter().map(|job| clones(job, files)).collect::<Result<_, _>>()?;
        used.push(streams.concat());
    }
    let mut groups: Vec<Group> = Vec::new();
    for (part, mut streams) in parts.iter().zip(used) {
        distinct(&mut streams);
        let texts = streams.iter().map(|stream| stream.text(files)).collect::<Result<_, _>>()?;
        let names: Vec<String> = part.iter().map(|job| plain(&job.name)).collect();
        let name = names.join("+");
        let taken = groups.iter().filter(|group| group.name == name).count();
        let name = if taken == 0 { name } else { format!("{name} {}", groups.len() + 1) };
        groups.push(Group { name, streams: texts, duration: duration(part)? });
    }
    Ok(groups)
}

/// What becomes a stream: a job, or one of its clones.
#[derive(Debug, Clone)]
struct Stream<'a> {
    name: String,
    job: &'a Job,
    threads: u32,
    used: Used,
}

/// Clones (numjobs) that cannot be told apart are threads of one stream; those that each have a position in
/// a file, or a file, of their own are streams of their own.
fn clones<'a>(job: &'a Job, files: &mut Files) -> Result<Vec<Stream<'a>>, Failure> {
    let name = plain(&job.name);
    let together = job.numjobs == 1 || (!job.sequential() && !job.files.is_empty());
    if together {
        return Ok(vec![Stream { name, job, threads: job.numjobs, used: files.add(job, 0)? }]);
    }
    let clone = |number: u32| {
        let used = files.add(job, number)?;
        Ok(Stream { name: format!("{name}-{}", number + 1), job, threads: 1, used })
    };
    (0..job.numjobs).map(clone).collect()
}

/// Gives streams of the same name different ones.
fn distinct(streams: &mut [Stream<'_>]) {
    for number in 0..streams.len() {
        let (before, rest) = streams.split_at_mut(number);
        let taken = |name: &str| before.iter().any(|other| other.name == name);
        // What is known by this name comes in bursts, which no job does.
        let reserved = |name: &str| name.is_empty() || name == "checkpoint";
        let wanted = rest[0].name.clone();
        let mut names =
            (1..).map(|count: u32| if count == 1 { wanted.clone() } else { format!("{wanted}_{count}") });
        let free = names.find(|name| !taken(name) && !reserved(name));
        rest[0].name = free.unwrap_or(wanted);
    }
}

impl Stream<'_> {
    /// Everything is said, so that nothing comes from elsewhere: the name may be that of a known pattern.
    fn text(&self, files: &Files) -> Result<String, Failure> {
        let job = self.job;
        let (min, max) = job.block();
        let mut text = format!(
            "{} pattern={} reads={}% block_size={min} block_size_max={max} align={} threads={} queue_depth={} direct={} sync={} sync_every={} on=data",
            self.name,
            job.pattern.name(),
            job.read_percent,
            job.align.unwrap_or(min),
            self.threads,
            job.depth,
            job.direct,
            job.sync,
            job.sync_every,
        );
        // Writing to a string cannot fail.
        let mut add = |key: &str, value: u64| {
            let _ = write!(text, " {key}={value}");
        };
        add("working_set", self.used.bytes);
        if let Some(rate) = job.rate() {
            // A rate of fio is that of each clone.
            add("rate", rate * u64::from(self.threads));
        }
        if !job.time_based {
            let each = job.io_size.or(job.size).unwrap_or(self.used.bytes * self.used.files.len() as u64);
            add("bytes", each * u64::from(self.threads));
        }
        match self.used.files.as_slice() {
            _ if self.used.files.len() == files.files.len() => {}
            [file] => add("file", *file as u64 + 1),
            _ => {
                return Err(Failure::usage(format!(
                    "job {}: works on several files, but not on all: give each file a job of its own",
                    job.name
                )));
            }
        }
        Ok(text)
    }
}

/// How long the jobs of a group run: all for the same time.
fn duration(jobs: &[&Job]) -> Result<String, Failure> {
    let runtime_s = jobs[0].runtime_s;
    if let Some(other) = jobs.iter().find(|job| job.runtime_s != runtime_s) {
        return Err(Failure::usage(format!(
            "jobs {} and {} run together and have a different runtime: that is not possible here",
            jobs[0].name, other.name
        )));
    }
    Ok(runtime_s.map_or_else(|| NO_LIMIT.to_owned(), |s| format!("{s} s")))
}

//! From the options of a job to what we make of them.

use super::ini::{JobOption, Problem, Section, bytes, count, flag, percent, seconds};
use crate::disk::{Pattern, Sync};
use std::path::PathBuf;

/// A job with the values that fio would use, its defaults included.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "options of fio")]
pub struct Job {
    /// Its name.
    pub name: String,
    /// What is read or written, and where.
    pub pattern: Pattern,
    /// Of a mixed pattern.
    pub read_percent: u8,
    /// Smallest and largest block for reads and for writes.
    read_block: (u64, u64),
    write_block: (u64, u64),
    pub align: Option<u64>,
    pub depth: u32,
    pub numjobs: u32,
    pub direct: bool,
    pub sync: Sync,
    pub sync_every: u32,
    /// I/Os a second of reads and of writes.
    rates: Option<(u64, u64)>,
    /// Files that it names; none: one of its own.
    pub files: Vec<PathBuf>,
    pub directory: PathBuf,
    pub size: Option<u64>,
    pub file_size: Option<u64>,
    /// Bytes after which it ends, where that is not its size.
    pub io_size: Option<u64>,
    pub offset: u64,
    pub runtime_s: Option<f64>,
    pub time_based: bool,
    pub warmup_s: f64,
    /// An engine that has one I/O in flight and calls pread or pwrite.
    pub synchronous: bool,
    pub compress_percent: u8,
    pub seed: Option<u64>,
    /// It begins when all jobs before it have ended.
    pub after_others: bool,
    pub invalidate: bool,
    /// What differs from what fio does.
    pub notes: Vec<String>,
}

/// What is wrong with a value.
type Wrong = String;

impl Job {
    /// fio's defaults.
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            pattern: Pattern::SequentialRead,
            read_percent: 50,
            read_block: (4096, 4096),
            write_block: (4096, 4096),
            align: None,
            depth: 1,
            numjobs: 1,
            direct: false,
            sync: Sync::None,
            sync_every: 1,
            rates: None,
            files: Vec::new(),
            directory: PathBuf::new(),
            size: None,
            file_size: None,
            io_size: None,
            offset: 0,
            runtime_s: None,
            time_based: false,
            warmup_s: 0.0,
            synchronous: true,
            compress_percent: 0,
            seed: None,
            after_others: false,
            invalidate: true,
            notes: Vec::new(),
        }
    }

    /// Takes the options of a section. Those that we do not have come back, and what is wrong with the others.
    pub fn read(section: &Section) -> (Self, Vec<&JobOption>, Vec<Problem>) {
        let mut job = Self::new(&section.name);
        let (mut unknown, mut problems) = (Vec::new(), Vec::new());
        for option in &section.options {
            match job.take(&option.key, option.value.as_deref()) {
                Ok(true) => {}
                Ok(false) => unknown.push(option),
                Err(text) => {
                    problems.push(Problem { line: option.line, text: format!("{}: {text}", option.key) });
                }
            }
        }
        if let Err(text) = job.check() {
            let line = section.options.last().map_or(1, |option| option.line);
            problems.push(Problem { line, text: format!("job {}: {text}", job.name) });
        }
        (job, unknown, problems)
    }

    /// Takes an option; false when we have no such option.
    fn take(&mut self, key: &str, value: Option<&str>) -> Result<bool, Wrong> {
        Ok(self.take_load(key, value)?
            || self.take_files_and_time(key, value)?
            || is_of_no_effect(key, value))
    }

    /// What I/O is made, and how.
    fn take_load(&mut self, key: &str, value: Option<&str>) -> Result<bool, Wrong> {
        match key {
            "rw" | "readwrite" => self.pattern = known_pattern(given(value)?)?,
            "rwmixread" => self.read_percent = percent(given(value)?)?,
            "rwmixwrite" => self.read_percent = 100 - percent(given(value)?)?,
            "bs" | "blocksize" => {
                let (read, write) = for_each_direction(given(value)?, bytes)?;
                (self.read_block, self.write_block) = ((read, read), (write, write));
            }
            "bsrange" | "blocksize_range" => {
                (self.read_block, self.write_block) = for_each_direction(given(value)?, range)?;
            }
            "blockalign" | "ba" => self.align = Some(bytes(given(value)?)?),
            "buffer_compress_percentage" => self.compress_percent = percent(given(value)?)?,
            "randseed" => self.seed = Some(bytes(given(value)?)?),
            "iodepth" => self.depth = count(given(value)?)?,
            "numjobs" => self.numjobs = count(given(value)?)?,
            "direct" => self.direct = flag(value)?,
            "buffered" => self.direct = !flag(value)?,
            "ioengine" => self.synchronous = is_synchronous(given(value)?)?,
            "invalidate" => self.invalidate = flag(value)?,
            "fsync" | "fdatasync" if bytes(given(value)?)? > 0 => {
                self.sync = if key == "fsync" { Sync::Fsync } else { Sync::Fdatasync };
                self.sync_every = count(given(value)?)?;
            }
            "fsync" | "fdatasync" => {}
            "sync" => match value {
                Some("0" | "none") => {}
                None | Some("1" | "sync") => {
                    self.sync = Sync::Dsync;
                    self.notes.push("sync=1 (O_SYNC) is done as O_DSYNC".into());
                }
                Some("dsync") => self.sync = Sync::Dsync,
                Some(text) => return Err(format!("`{text}` is none of none, sync and dsync")),
            },
            "rate_iops" => {
                self.rates = Some(for_each_direction(given(value)?, bytes)?);
                let note = "rate_iops begins I/Os at random (Poisson) times, and latency counts from the intended time";
                self.notes.push(note.into());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// On which files, when and for how long.
    fn take_files_and_time(&mut self, key: &str, value: Option<&str>) -> Result<bool, Wrong> {
        match key {
            "name" => self.name = given(value)?.into(),
            // A colon stands between names, unless it is escaped.
            "filename" => {
                let names = given(value)?.replace("\\:", "\0");
                self.files = names.split(':').map(|name| name.replace('\0', ":").into()).collect();
            }
            "directory" => self.directory = given(value)?.into(),
            "size" => self.size = Some(bytes(given(value)?)?),
            "filesize" => self.file_size = Some(bytes(given(value)?)?),
            "io_size" | "io_limit" => self.io_size = Some(bytes(given(value)?)?),
            "offset" => self.offset = bytes(given(value)?)?,
            "runtime" | "timeout" => self.runtime_s = Some(seconds(given(value)?)?).filter(|s| *s > 0.0),
            "time_based" => self.time_based = flag(value)?,
            "ramp_time" => self.warmup_s = seconds(given(value)?)?,
            "stonewall" | "wait_for_previous" => self.after_others = flag(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What the options together ask for and we cannot do.
    fn check(&mut self) -> Result<(), Wrong> {
        let mixed = matches!(self.pattern, Pattern::RandomMixed | Pattern::SequentialMixed);
        if mixed && self.read_block != self.write_block {
            return Err("reads and writes of different sizes: make two jobs of it".into());
        }
        if mixed && self.rates.is_some() {
            return Err("rate_iops limits reads and writes each by themselves: make two jobs of it".into());
        }
        if self.time_based && self.runtime_s.is_none() {
            return Err("time_based needs a runtime".into());
        }
        if self.synchronous && self.depth > 1 {
            self.notes.push("a synchronous ioengine has one I/O in flight, whatever iodepth says".into());
            self.depth = 1;
        }
        Ok(())
    }

    /// Smallest and largest block.
    pub fn block(&self) -> (u64, u64) {
        if self.pattern.writes() { self.write_block } else { self.read_block }
    }

    /// I/Os a second; a rate of 0 is none.
    pub fn rate(&self) -> Option<u64> {
        let (read, write) = self.rates?;
        Some(if self.pattern.writes() { write } else { read }).filter(|rate| *rate > 0)
    }
}

/// Whether an option asks for what is so in any case, or changes nothing that is measured here.
fn is_of_no_effect(key: &str, value: Option<&str>) -> bool {
    matches!(
        (key, value),
        ("group_reporting" | "norandommap" | "thread" | "description" | "randrepeat" | "allrandrepeat", _)
            | ("loops" | "nrfiles" | "iodepth_batch" | "iodepth_batch_submit", Some("1"))
            | ("kb_base", Some("1024"))
    )
}

fn given(value: Option<&str>) -> Result<&str, Wrong> {
    value.filter(|text| !text.is_empty()).ok_or_else(|| "there is no value".to_owned())
}

/// `4k`: for both; `4k,8k`: reads, writes. What stands behind a second comma is for trims.
fn for_each_direction<T: Copy>(text: &str, read: fn(&str) -> Result<T, Wrong>) -> Result<(T, T), Wrong> {
    let mut parts = text.split(',');
    let first = read(parts.next().unwrap_or_default())?;
    let second = parts.next().filter(|part| !part.is_empty()).map(read).transpose()?;
    Ok((first, second.unwrap_or(first)))
}

fn range(text: &str) -> Result<(u64, u64), Wrong> {
    let (min, max) = text.split_once('-').ok_or_else(|| format!("`{text}` is not a range as in 4k-64k"))?;
    let (min, max) = (bytes(min)?, bytes(max)?);
    if min > max { Err(format!("`{text}` ends before it begins")) } else { Ok((min, max)) }
}

/// The pattern that fio calls so.
pub fn pattern(name: &str) -> Option<Pattern> {
    match name {
        "read" => Some(Pattern::SequentialRead),
        "write" => Some(Pattern::SequentialWrite),
        "rw" | "readwrite" => Some(Pattern::SequentialMixed),
        "randread" => Some(Pattern::RandomRead),
        "randwrite" => Some(Pattern::RandomWrite),
        "randrw" => Some(Pattern::RandomMixed),
        _ => None,
    }
}

fn known_pattern(name: &str) -> Result<Pattern, Wrong> {
    pattern(name).ok_or_else(|| format!("`{name}` is none of read, write, rw, randread, randwrite, randrw"))
}

/// Whether an ioengine has only one I/O in flight.
fn is_synchronous(name: &str) -> Result<bool, Wrong> {
    match name {
        "sync" | "psync" | "pvsync" | "pvsync2" => Ok(true),
        "io_uring" | "libaio" | "posixaio" => Ok(false),
        _ => Err(format!(
            "`{name}` is not supported; use io_uring, libaio or posixaio (by io_uring here), sync, psync or pvsync (by pread here)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ini;
    use super::Job;
    use crate::disk::{Pattern, Sync};

    fn job(options: &str) -> (Job, Vec<String>, Vec<String>) {
        let sections = ini::read(&format!("[a]\n{options}"), &|_| None).unwrap();
        let (job, unknown, problems) = Job::read(&sections[0]);
        let unknown = unknown.iter().map(|option| option.key.clone()).collect();
        (job, unknown, problems.into_iter().map(|problem| problem.text).collect())
    }

    #[test]
    fn options_are_understood_by_all_their_names() {
        let (job, unknown, problems) = job(
            "readwrite=randrw\nrwmixwrite=30\nblocksize=4k,4k\nba=16k\niodepth=8\nnumjobs=3\nbuffered=0\n\
             fdatasync=4\nfilename=/a:/b\\:c\nfilesize=1g\noffset=1m\ntimeout=1m\ntime_based\nramp_time=2\n\
             ioengine=libaio\nrandseed=7\nbuffer_compress_percentage=50\nstonewall\nthread\ngroup_reporting=1\n\
             norandommap\ninvalidate=0",
        );
        assert_eq!((unknown, problems), (vec![], vec![]));
        assert_eq!((job.pattern, job.read_percent), (Pattern::RandomMixed, 70));
        assert_eq!((job.block(), job.align, job.depth, job.numjobs), ((4096, 4096), Some(16384), 8, 3));
        assert_eq!((job.direct, job.sync, job.sync_every), (true, Sync::Fdatasync, 4));
        assert_eq!(job.files, ["/a", "/b:c"].map(std::path::PathBuf::from));
        assert_eq!((job.file_size, job.offset, job.runtime_s), (Some(1 << 30), 1 << 20, Some(60.0)));
        assert_eq!(
            (job.warmup_s, job.synchronous, job.seed, job.compress_percent),
            (2.0, false, Some(7), 50)
        );
        assert!(job.after_others && job.time_based && !job.invalidate);
    }

    #[test]
    fn blocks_are_those_of_the_direction() {
        let (job, ..) = job("rw=write\nbs=4k,64k");
        assert_eq!(job.block(), (65536, 65536));
    }

    #[test]
    fn what_we_do_not_have_is_named() {
        let (_, unknown, problems) = job("nrfiles=4\nzonesize=1m\nverify=md5\nrw=read");
        assert_eq!(unknown, ["nrfiles", "zonesize", "verify"]);
        assert!(problems.is_empty());
    }

    #[test]
    fn values_that_we_cannot_take_are_refused() {
        for (options, part) in [
            ("rw=trim", "none of read"),
            ("rw=randread:8", "none of read"),
            ("bs=nine", "not a number"),
            ("size=50%", "not a number"),
            ("ioengine=mmap", "io_uring"),
            ("rw=randrw\nbs=4k,8k", "make two jobs"),
            ("rw=rw\nrate_iops=100", "make two jobs"),
            ("time_based", "needs a runtime"),
            ("iodepth=0", "out of range"),
            ("direct=yes", "neither 0 nor 1"),
            ("bsrange=8k-4k", "ends before"),
            ("filename=", "no value"),
        ] {
            let (_, _, problems) = job(options);
            assert_eq!(problems.len(), 1, "{options}: {problems:?}");
            assert!(problems[0].contains(part), "{options}: {problems:?}");
        }
    }
}

//! From the options of a job to what we make of them.

use super::ini::{JobOption, Section};
use super::number::{bytes, count, flag, percent, seconds};
use crate::args::Pattern;
use std::path::PathBuf;

/// A job with the values that fio would use, its defaults included.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "options of fio")]
pub struct Job {
    /// Its name.
    pub name: String,
    /// Line of its first own option, for messages.
    pub line: usize,
    /// What is read or written, and where.
    pub pattern: Pattern,
    /// Of a mixed pattern.
    pub read_percent: u8,
    /// Smallest and largest block for reads and for writes.
    pub read_block: (u64, u64),
    pub write_block: (u64, u64),
    pub align: Option<u64>,
    pub depth: u32,
    pub numjobs: u32,
    pub direct: bool,
    /// One of ours: none, fdatasync, fsync, dsync.
    pub sync: &'static str,
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
    /// An engine that has one I/O under way and calls pread or pwrite.
    pub synchronous: bool,
    pub compress: u8,
    pub seed: Option<u64>,
    /// It begins when all jobs before it have ended.
    pub after_others: bool,
    pub invalidate: bool,
    /// What is not quite what fio does.
    pub notes: Vec<String>,
}

/// What became of an option.
enum Taken {
    Yes,
    /// We have no such option.
    Unknown,
}

type Value<'a> = Option<&'a str>;

impl Job {
    /// fio's defaults.
    fn new(section: &Section) -> Self {
        Self {
            name: section.name.clone(),
            line: section.options.last().map_or(1, |option| option.line),
            pattern: Pattern::SequentialRead,
            read_percent: 50,
            read_block: (4096, 4096),
            write_block: (4096, 4096),
            align: None,
            depth: 1,
            numjobs: 1,
            direct: false,
            sync: "none",
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
            compress: 0,
            seed: None,
            after_others: false,
            invalidate: true,
            notes: Vec::new(),
        }
    }

    /// Takes the options of a section. Those that we do not have come back, and what is wrong with the others.
    pub fn read(section: &Section) -> (Self, Vec<&JobOption>, Vec<(usize, String)>) {
        let mut job = Self::new(section);
        let (mut unknown, mut problems) = (Vec::new(), Vec::new());
        for option in &section.options {
            let value = option.value.as_deref();
            match job.take(&option.key, value) {
                Ok(Taken::Yes) => {}
                Ok(Taken::Unknown) => unknown.push(option),
                Err(text) => problems.push((option.line, format!("{}: {text}", option.key))),
            }
        }
        if let Err(text) = job.check() {
            problems.push((job.line, format!("job {}: {text}", job.name)));
        }
        (job, unknown, problems)
    }

    fn take(&mut self, key: &str, value: Value<'_>) -> Result<Taken, String> {
        for group in [Self::what, Self::how, Self::where_, Self::when] {
            if let Taken::Yes = group(self, key, value)? {
                return Ok(Taken::Yes);
            }
        }
        Ok(match (key, value) {
            // What these ask for is so in any case, or changes nothing that is measured here.
            (
                "group_reporting" | "norandommap" | "thread" | "description" | "randrepeat" | "allrandrepeat",
                _,
            )
            | ("loops" | "nrfiles" | "iodepth_batch" | "iodepth_batch_submit", Some("1"))
            | ("kb_base", Some("1024")) => Taken::Yes,
            _ => Taken::Unknown,
        })
    }

    /// What I/O is made.
    fn what(&mut self, key: &str, value: Value<'_>) -> Result<Taken, String> {
        match key {
            "name" => self.name = given(value)?.into(),
            "rw" | "readwrite" => self.pattern = pattern(given(value)?)?,
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
            "buffer_compress_percentage" => self.compress = percent(given(value)?)?,
            "randseed" => self.seed = Some(bytes(given(value)?)?),
            _ => return Ok(Taken::Unknown),
        }
        Ok(Taken::Yes)
    }

    /// How it is made.
    fn how(&mut self, key: &str, value: Value<'_>) -> Result<Taken, String> {
        match key {
            "iodepth" => self.depth = count(given(value)?)?,
            "numjobs" => self.numjobs = count(given(value)?)?,
            "direct" => self.direct = flag(value)?,
            "buffered" => self.direct = !flag(value)?,
            "ioengine" => self.synchronous = synchronous(given(value)?)?,
            "invalidate" => self.invalidate = flag(value)?,
            "fsync" | "fdatasync" => {
                let every = bytes(given(value)?)?;
                if every > 0 {
                    self.sync = if key == "fsync" { "fsync" } else { "fdatasync" };
                    self.sync_every = count(given(value)?)?;
                }
            }
            "sync" => match value {
                Some("0" | "none") => {}
                None | Some("1" | "sync") => {
                    self.sync = "dsync";
                    self.notes.push("sync=1 (O_SYNC) is done as O_DSYNC".into());
                }
                Some("dsync") => self.sync = "dsync",
                Some(text) => return Err(format!("`{text}` is none of none, sync and dsync")),
            },
            _ => return Ok(Taken::Unknown),
        }
        Ok(Taken::Yes)
    }

    /// On which files.
    fn where_(&mut self, key: &str, value: Value<'_>) -> Result<Taken, String> {
        match key {
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
            _ => return Ok(Taken::Unknown),
        }
        Ok(Taken::Yes)
    }

    /// When and for how long.
    fn when(&mut self, key: &str, value: Value<'_>) -> Result<Taken, String> {
        match key {
            "runtime" | "timeout" => self.runtime_s = Some(seconds(given(value)?)?).filter(|s| *s > 0.0),
            "time_based" => self.time_based = flag(value)?,
            "ramp_time" => self.warmup_s = seconds(given(value)?)?,
            "stonewall" | "wait_for_previous" => self.after_others = flag(value)?,
            "rate_iops" => {
                self.rates = Some(for_each_direction(given(value)?, bytes)?);
                self.notes.push(
                    "rate_iops begins I/Os at random (Poisson) times, and latency counts from the intended time".into(),
                );
            }
            _ => return Ok(Taken::Unknown),
        }
        Ok(Taken::Yes)
    }

    /// What the options together ask for and we cannot do.
    fn check(&mut self) -> Result<(), String> {
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
            self.notes.push("a synchronous ioengine has one I/O under way, whatever iodepth says".into());
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

    /// Whether it goes through its files from their beginning.
    pub fn sequential(&self) -> bool {
        matches!(self.pattern, Pattern::SequentialRead | Pattern::SequentialWrite | Pattern::SequentialMixed)
    }
}

fn given(value: Value<'_>) -> Result<&str, String> {
    value.filter(|text| !text.is_empty()).ok_or_else(|| "there is no value".to_owned())
}

/// `4k`: for both; `4k,8k`: reads, writes. What stands behind a second comma is for trims.
fn for_each_direction<T: Copy>(text: &str, read: fn(&str) -> Result<T, String>) -> Result<(T, T), String> {
    let mut parts = text.split(',');
    let first = read(parts.next().unwrap_or_default())?;
    match parts.next().filter(|part| !part.is_empty()) {
        Some(second) => Ok((first, read(second)?)),
        None => Ok((first, first)),
    }
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let (min, max) = text.split_once('-').ok_or_else(|| format!("`{text}` is not a range as in 4k-64k"))?;
    let (min, max) = (bytes(min)?, bytes(max)?);
    if min > max { Err(format!("`{text}` ends before it begins")) } else { Ok((min, max)) }
}

fn pattern(text: &str) -> Result<Pattern, String> {
    match text {
        "read" => Ok(Pattern::SequentialRead),
        "write" => Ok(Pattern::SequentialWrite),
        "rw" | "readwrite" => Ok(Pattern::SequentialMixed),
        "randread" => Ok(Pattern::RandomRead),
        "randwrite" => Ok(Pattern::RandomWrite),
        "randrw" => Ok(Pattern::RandomMixed),
        _ => Err(format!("`{text}` is none of read, write, rw, randread, randwrite, randrw")),
    }
}

/// Whether an ioengine has only one I/O under way.
fn synchronous(text: &str) -> Result<bool, String> {
    match text {
        "sync" | "psync" | "pvsync" | "pvsync2" => Ok(true),
        "io_uring" | "libaio" | "posixaio" => Ok(false),
        _ => Err(format!(
            "`{text}` is none of those that we have: io_uring, libaio, posixaio (by io_uring here), sync, psync, pvsync (by pread here)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ini;
    use super::Job;
    use crate::args::Pattern;

    fn job(options: &str) -> (Job, Vec<String>, Vec<String>) {
        let sections = ini::read(&format!("[a]\n{options}"), &|_| None).unwrap();
        let (job, unknown, problems) = Job::read(&sections[0]);
        let unknown = unknown.iter().map(|option| option.key.clone()).collect();
        (job, unknown, problems.into_iter().map(|(_, text)| text).collect())
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
        assert_eq!((job.direct, job.sync, job.sync_every), (true, "fdatasync", 4));
        assert_eq!(job.files, ["/a", "/b:c"].map(std::path::PathBuf::from));
        assert_eq!((job.file_size, job.offset, job.runtime_s), (Some(1 << 30), 1 << 20, Some(60.0)));
        assert_eq!((job.warmup_s, job.synchronous, job.seed, job.compress), (2.0, false, Some(7), 50));
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

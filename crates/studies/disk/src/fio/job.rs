//! From the options of a job to what we make of them.

use super::error::{LineError, Problem, ValueError};
use super::ini::{JobOption, Section, bytes, count, flag, percent, seconds};
use crate::{Pattern, Sync};
use std::path::PathBuf;

/// For reads and for writes.
type Pair<T> = (T, T);

/// A job with the values that fio would use, its defaults included.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "options of fio")]
pub struct Job {
    pub name: String,
    pub pattern: Pattern,
    /// Share of reads in a mixed pattern.
    pub read_percent: u8,
    /// Smallest and largest block, for reads and for writes.
    blocks: Pair<(u64, u64)>,
    pub align: Option<u64>,
    pub depth: u32,
    pub numjobs: u32,
    pub direct: bool,
    pub sync: Sync,
    pub sync_every: u32,
    /// I/Os a second of reads and of writes.
    rates: Option<Pair<u64>>,
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
    /// The figures are summed up with those of the others that run with it.
    pub group_reporting: bool,
    /// Differences from fio.
    pub notes: Vec<String>,
}

/// The options of a job that were not read yet, and the problems of those that were.
struct Options<'a> {
    left: Vec<&'a JobOption>,
    problems: Vec<Problem>,
}

impl Options<'_> {
    /// Takes all options with these keys and reads them, in order.
    fn all<T>(
        &mut self,
        keys: &[&str],
        mut read: impl FnMut(&str, Option<&str>) -> Result<T, ValueError>,
    ) -> Vec<T> {
        let (requested, left) = std::mem::take(&mut self.left)
            .into_iter()
            .partition(|option| keys.contains(&option.key.as_str()));
        self.left = left;
        let job_options: Vec<&JobOption> = requested;
        let mut values = Vec::new();
        for JobOption { key, value, line } in job_options {
            match read(key, value.as_deref()) {
                Ok(value) => values.push(value),
                Err(source) => {
                    let cause = LineError::Option { key: key.clone(), source };
                    self.problems.push(Problem { line: *line, cause });
                }
            }
        }
        values
    }

    /// The last value of an option with these keys.
    fn value<T>(
        &mut self,
        keys: &[&str],
        read: impl Fn(&str) -> Result<T, ValueError>,
    ) -> Option<T> {
        self.all(keys, |_, value| read(required(value)?)).pop()
    }

    fn flag(&mut self, keys: &[&str]) -> Option<bool> {
        self.all(keys, |_, value| flag(value)).pop()
    }
}

impl Job {
    /// Takes the options of a section. Those that we do not have come back, and what is wrong with
    /// the others.
    pub fn read(section: &Section) -> (Self, Vec<&JobOption>, Vec<Problem>) {
        let mut options = Options { left: section.options.iter().collect(), problems: Vec::new() };
        let mut job = Self::with(&mut options, &section.name);
        let Options { mut left, mut problems } = options;
        left.retain(|option| !is_of_no_effect(&option.key, option.value.as_deref()));
        if let Err(cause) = job.check() {
            let line = section.options.last().map_or(1, |option| option.line);
            problems.push(Problem { line, cause });
        }
        (job, left, problems)
    }

    /// A job with these options.
    fn with(options: &mut Options<'_>, name: &str) -> Self {
        let (sync, sync_every, mut notes) = sync(options);
        let rates = options.value(&["rate_iops"], |text| for_each_direction(text, bytes));
        if rates.is_some() {
            let note = "rate_iops starts I/Os at random (Poisson) times, and latency counts from \
                        the intended start";
            notes.push(note.into());
        }
        let blocks =
            options.all(&["bs", "blocksize", "bsrange", "blocksize_range"], |key, value| {
                for_each_direction(
                    required(value)?,
                    if key.ends_with("range") {
                        range
                    } else {
                        |text: &str| bytes(text).map(|size| (size, size))
                    },
                )
            });
        let direct = options
            .all(&["direct", "buffered"], |key, value| Ok(flag(value)? == (key == "direct")));
        let reads = options.all(&["rwmixread", "rwmixwrite"], |key, value| {
            let percent = percent(required(value)?)?;
            Ok(if key == "rwmixread" { percent } else { 100 - percent })
        });
        Self {
            name: options.value(&["name"], |name| Ok(name.into())).unwrap_or_else(|| name.into()),
            pattern: options
                .value(&["rw", "readwrite"], known_pattern)
                .unwrap_or(Pattern::SequentialRead),
            read_percent: reads.last().copied().unwrap_or(50),
            blocks: blocks.last().copied().unwrap_or(((4096, 4096), (4096, 4096))),
            align: options.value(&["blockalign", "ba"], bytes),
            depth: options.value(&["iodepth"], count).unwrap_or(1),
            numjobs: options.value(&["numjobs"], count).unwrap_or(1),
            direct: direct.last().copied().unwrap_or(false),
            sync,
            sync_every,
            rates,
            // A colon stands between names, unless it is escaped.
            files: options
                .value(&["filename"], |names| Ok(names.replace("\\:", "\0")))
                .map(|names| names.split(':').map(|name| name.replace('\0', ":").into()).collect())
                .unwrap_or_default(),
            directory: options.value(&["directory"], |path| Ok(path.into())).unwrap_or_default(),
            size: options.value(&["size"], bytes),
            file_size: options.value(&["filesize"], bytes),
            io_size: options.value(&["io_size", "io_limit"], bytes),
            offset: options.value(&["offset"], bytes).unwrap_or(0),
            runtime_s: options.value(&["runtime", "timeout"], seconds).filter(|s| *s > 0.0),
            time_based: options.flag(&["time_based"]).unwrap_or(false),
            warmup_s: options.value(&["ramp_time"], seconds).unwrap_or(0.0),
            synchronous: options.value(&["ioengine"], is_synchronous).unwrap_or(true),
            compress_percent: options.value(&["buffer_compress_percentage"], percent).unwrap_or(0),
            seed: options.value(&["randseed"], bytes),
            after_others: options.flag(&["stonewall", "wait_for_previous"]).unwrap_or(false),
            invalidate: options.flag(&["invalidate"]).unwrap_or(true),
            group_reporting: options.flag(&["group_reporting"]).unwrap_or(false),
            notes,
        }
    }

    /// Rejects combinations of options that are not supported.
    fn check(&mut self) -> Result<(), LineError> {
        let name = || self.name.clone();
        let mixed = matches!(self.pattern, Pattern::RandomMixed | Pattern::SequentialMixed);
        if mixed && self.blocks.0 != self.blocks.1 {
            return Err(LineError::MixedSizes(name()));
        }
        if mixed && self.rates.is_some() {
            return Err(LineError::MixedRates(name()));
        }
        if self.time_based && self.runtime_s.is_none() {
            return Err(LineError::NoRuntime(name()));
        }
        if self.synchronous && self.depth > 1 {
            self.notes
                .push("a synchronous ioengine has one I/O in flight; iodepth is ignored".into());
            self.depth = 1;
        }
        Ok(())
    }

    /// Smallest and largest block.
    pub fn block(&self) -> (u64, u64) {
        if self.pattern.writes() { self.blocks.1 } else { self.blocks.0 }
    }

    /// I/Os a second; a rate of 0 is none.
    pub fn rate(&self) -> Option<u64> {
        let (read, write) = self.rates?;
        Some(if self.pattern.writes() { write } else { read }).filter(|rate| *rate > 0)
    }
}

/// How writes are made durable, after how many of them, and what differs from fio in that.
fn sync(options: &mut Options<'_>) -> (Sync, u32, Vec<String>) {
    let mut notes = Vec::new();
    let syncs = options.all(&["fsync", "fdatasync", "sync"], |key, value| match (key, value) {
        ("sync", Some("0" | "none")) => Ok(None),
        ("sync", Some("dsync")) => Ok(Some((Sync::Dsync, 1))),
        ("sync", None | Some("1" | "sync")) => {
            notes.push("sync=1 (O_SYNC) runs as O_DSYNC".into());
            Ok(Some((Sync::Dsync, 1)))
        }
        ("sync", Some(text)) => {
            Err(ValueError::unfit(text, "is unknown; expected none, sync or dsync"))
        }
        _ if bytes(required(value)?)? == 0 => Ok(None),
        _ => {
            let sync = if key == "fsync" { Sync::Fsync } else { Sync::Fdatasync };
            Ok(Some((sync, count(required(value)?)?)))
        }
    });
    let (sync, every) = syncs.into_iter().flatten().next_back().unwrap_or((Sync::None, 1));
    (sync, every, notes)
}

/// Returns whether an option is a default here, or affects nothing that is measured.
fn is_of_no_effect(key: &str, value: Option<&str>) -> bool {
    matches!(
        (key, value),
        ("norandommap" | "thread" | "description" | "randrepeat" | "allrandrepeat", _)
            | ("loops" | "nrfiles" | "iodepth_batch" | "iodepth_batch_submit", Some("1"))
            | ("kb_base", Some("1024"))
    )
}

fn required(value: Option<&str>) -> Result<&str, ValueError> {
    value.filter(|text| !text.is_empty()).ok_or(ValueError::Missing)
}

/// `4k`: for both; `4k,8k`: reads, writes. What stands behind a second comma is for trims.
fn for_each_direction<T: Copy>(
    text: &str,
    read: fn(&str) -> Result<T, ValueError>,
) -> Result<Pair<T>, ValueError> {
    let mut parts = text.split(',');
    let first = read(parts.next().unwrap_or_default())?;
    let second = parts.next().filter(|part| !part.is_empty()).map(read).transpose()?;
    Ok((first, second.unwrap_or(first)))
}

fn range(text: &str) -> Result<(u64, u64), ValueError> {
    let (min, max) = text
        .split_once('-')
        .ok_or_else(|| ValueError::unfit(text, "is not a range such as 4k-64k"))?;
    let (min, max) = (bytes(min)?, bytes(max)?);
    if min > max {
        Err(ValueError::unfit(text, "is a range with its end below its beginning"))
    } else {
        Ok((min, max))
    }
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

fn known_pattern(name: &str) -> Result<Pattern, ValueError> {
    pattern(name).ok_or_else(|| {
        ValueError::unfit(
            name,
            "is unknown; expected read, write, rw, randread, randwrite or randrw",
        )
    })
}

/// Returns whether an ioengine keeps only one I/O in flight.
fn is_synchronous(name: &str) -> Result<bool, ValueError> {
    match name {
        "sync" | "psync" | "pvsync" | "pvsync2" => Ok(true),
        "io_uring" | "libaio" | "posixaio" => Ok(false),
        _ => Err(ValueError::unfit(
            name,
            "is not supported; use io_uring, libaio or posixaio (run as io_uring), sync, \
                 psync or pvsync (run as pread)",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ini;
    use super::Job;
    use crate::{Pattern, Sync};

    fn job(options: &str) -> (Job, Vec<String>, Vec<String>) {
        let sections = ini::read(&format!("[a]\n{options}"), &|_| None).unwrap();
        let (job, unknown, problems) = Job::read(&sections[0]);
        let unknown = unknown.iter().map(|option| option.key.clone()).collect();
        (job, unknown, problems.into_iter().map(|problem| problem.cause.to_string()).collect())
    }

    #[test]
    fn options_are_understood_by_all_their_names() {
        let (job, unknown, problems) = job("readwrite=randrw\nrwmixwrite=30\nblocksize=4k,4k\n\
                                            ba=16k\niodepth=8\nnumjobs=3\n\
                 buffered=0\nfdatasync=4\nfilename=/a:/b\\:c\nfilesize=1g\noffset=1m\n\
                 timeout=1m\ntime_based\nramp_time=2\nioengine=libaio\nrandseed=7\n\
                 buffer_compress_percentage=50\nstonewall\nthread\ngroup_reporting=1\n\
                 norandommap\ninvalidate=0");
        assert_eq!((unknown, problems), (vec![], vec![]));
        assert_eq!((job.pattern, job.read_percent), (Pattern::RandomMixed, 70));
        assert_eq!(
            (job.block(), job.align, job.depth, job.numjobs),
            ((4096, 4096), Some(16384), 8, 3)
        );
        assert_eq!((job.direct, job.sync, job.sync_every), (true, Sync::Fdatasync, 4));
        assert_eq!(job.files, ["/a", "/b:c"].map(std::path::PathBuf::from));
        assert_eq!(
            (job.file_size, job.offset, job.runtime_s),
            (Some(1 << 30), 1 << 20, Some(60.0))
        );
        assert_eq!(
            (job.warmup_s, job.synchronous, job.seed, job.compress_percent),
            (2.0, false, Some(7), 50)
        );
        assert!(job.after_others && job.time_based && job.group_reporting && !job.invalidate);
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
            ("rw=trim", "expected read"),
            ("rw=randread:8", "expected read"),
            ("bs=nine", "not a number"),
            ("size=50%", "not a number"),
            ("ioengine=mmap", "io_uring"),
            ("rw=randrw\nbs=4k,8k", "split the job in two"),
            ("rw=rw\nrate_iops=100", "split the job in two"),
            ("time_based", "needs a runtime"),
            ("iodepth=0", "out of range"),
            ("direct=yes", "neither 0 nor 1"),
            ("bsrange=8k-4k", "end below"),
            ("filename=", "missing value"),
        ] {
            let (_, _, problems) = job(options);
            assert_eq!(problems.len(), 1, "{options}: {problems:?}");
            assert!(problems[0].contains(part), "{options}: {problems:?}");
        }
    }
}

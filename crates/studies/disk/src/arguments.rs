//! The arguments of `steelbench disk`.

use crate::files::{COMPRESS, DATA_FILES, FILE_SIZE, OFFSET};
use crate::fio;
use crate::settings::{
    ALIGN, BATCH, BLOCK_SIZE, DURATION, IO_ENGINE, IoEngine, MIX, Mix, PATTERN, Pattern,
    QUEUE_DEPTH, RATE, READS, SYNC, SYNC_EVERY, Sync as Durability, THREADS, WARMUP, WORKING_SET,
};
use clap::{Args, Parser, ValueEnum};
use command_line::arguments::{ArgumentError, Quick, setting};
use engine::Permits;
use experiment::{FromValue, Setting};
use std::path::{Path, PathBuf};

/// Stands for the files among the paths; no file has this name.
const ALL: &str = "/";

/// Measure storage with the I/O patterns of databases
#[derive(Debug, Clone, Parser)]
#[command(name = "disk")]
pub struct Disk {
    /// Directories (files are created in them and removed), existing files or block devices; all
    /// are loaded together
    #[arg(value_name = "PATH", required_unless_present = "fio")]
    pub paths: Vec<PathBuf>,
    /// Compare the paths, one at a time, instead of loading them together
    #[arg(long, conflicts_with = "fio")]
    pub compare: bool,
    #[command(flatten)]
    pub load: Load,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub measure: Measure,
    #[command(flatten)]
    pub exchange: Exchange,
    #[command(flatten)]
    pub quick: Quick,
}

/// The I/O load. Lists with several values are varied: every combination is measured.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Load (each value of a LIST is a level)")]
pub struct Load {
    /// Pattern of I/O: random-read, random-write, random-mixed, sequential-read, sequential-write,
    /// sequential-mixed, or fio's name of it [default: random-read]
    #[arg(
        long, visible_alias = "rw", value_name = "LIST", value_parser = pattern,
        value_delimiter = ',',
    )]
    pub pattern: Vec<Pattern>,
    /// Block size, as in 8k or 64KiB (k = 1024) [default: 8 KiB]
    #[arg(
        long, visible_alias = "bs", value_name = "LIST", value_parser = size(BLOCK_SIZE),
        value_delimiter = ',',
    )]
    pub block: Vec<u32>,
    /// Number of threads, all on the same files [default: 1]
    #[arg(
        long, visible_alias = "numjobs", value_name = "LIST", value_parser = setting(THREADS),
        value_delimiter = ',',
    )]
    pub threads: Vec<u32>,
    /// I/Os that each thread keeps in flight [default: 32]
    #[arg(
        long, visible_alias = "iodepth", value_name = "LIST", value_parser = setting(QUEUE_DEPTH),
        value_delimiter = ',',
    )]
    pub depth: Vec<u32>,
    /// I/Os that each thread submits and waits for together, like a program that reads ahead
    /// [default: 1]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = setting(BATCH))]
    pub batch: Option<u32>,
    /// Share of reads in the mixed patterns, as in 70%
    #[arg(hide_short_help = true, long, value_name = "PERCENT", value_parser = setting(READS))]
    pub reads: Option<f64>,
    /// Named mix of database streams: oltp, oltp-data, log, checkpoint, scan, backup
    #[arg(long, value_name = "NAME", value_parser = setting(MIX), conflicts_with = "stream")]
    pub mix: Option<Mix>,
    /// A stream: "NAME key=value ..."; several run together
    #[arg(hide_short_help = true, long, value_name = "TEXT")]
    pub stream: Vec<String>,
    /// I/Os per second, started at random times regardless of completions (open loop)
    #[arg(hide_short_help = true, long, value_name = "RATE", value_parser = setting(RATE))]
    pub rate: Option<f64>,
    /// Use the page cache instead of direct I/O
    #[arg(hide_short_help = true, long, conflicts_with = "direct")]
    pub buffered: bool,
    /// Like fio's: 0 is --buffered, 1 is the default
    #[arg(
        hide_short_help = true, long, value_name = "0|1",
        value_parser = clap::value_parser!(u8).range(0..=1),
    )]
    pub direct: Option<u8>,
    /// How writes are made durable: none, fdatasync, fsync, dsync
    #[arg(hide_short_help = true, long, value_name = "HOW", value_parser = setting(SYNC))]
    pub sync: Option<Durability>,
    /// Number of writes between syncs
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = setting(SYNC_EVERY))]
    pub sync_every: Option<u32>,
    /// Offsets are multiples of this [default: the block size]
    #[arg(hide_short_help = true, long, value_name = "SIZE", value_parser = size(ALIGN))]
    pub align: Option<u64>,
    /// Bytes used of each file
    #[arg(hide_short_help = true, long, value_name = "SIZE", value_parser = size(WORKING_SET))]
    pub working_set: Option<u64>,
    /// I/O interface: auto, `io_uring`, pread
    #[arg(
        hide_short_help = true, long, visible_alias = "ioengine", value_name = "NAME",
        value_parser = setting(IO_ENGINE),
    )]
    pub io_engine: Option<IoEngine>,
}

/// Files of the I/O.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Files")]
pub struct Files {
    /// Size of each file that is created [default: 1 GiB]
    #[arg(long, value_name = "SIZE", value_parser = size(FILE_SIZE))]
    pub size: Option<u64>,
    /// Number of files to create, spread over the directories [default: one per directory]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = setting(DATA_FILES))]
    pub files: Option<usize>,
    /// Directory, file or device of the log, for a mix or streams on=log [default: with the data]
    #[arg(hide_short_help = true, long, value_name = "PATH")]
    pub log_on: Option<PathBuf>,
    /// Directory, file or device for backups [default: with the data]
    #[arg(hide_short_help = true, long, value_name = "PATH")]
    pub backup_on: Option<PathBuf>,
    /// Bytes to skip at the beginning of each file or device: a partition's offset
    #[arg(
        hide_short_help = true, long, value_name = "LIST", value_parser = size(OFFSET),
        value_delimiter = ',',
    )]
    pub offset: Vec<u64>,
    /// Share of the data that a compressing drive or file system can remove
    #[arg(hide_short_help = true, long, value_name = "PERCENT", value_parser = setting(COMPRESS))]
    pub compress: Option<f64>,
    /// Before measuring, overwrite at random until throughput is steady; takes long and wears the
    /// drive
    #[arg(hide_short_help = true, long)]
    pub precondition: bool,
    /// Permit writing to this existing file; without a value: to all existing files among the paths
    #[arg(
        hide_short_help = true, long, value_name = "FILE", num_args = 0..=1,
        default_missing_value = ALL,
    )]
    pub overwrite: Vec<PathBuf>,
    /// Permit writing to this block device; everything on it is lost
    #[arg(hide_short_help = true, long, value_name = "DEVICE")]
    pub destroy: Vec<PathBuf>,
}

/// How it is measured.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measuring")]
pub struct Measure {
    /// Length of the measurement of each trial [default: 5 s]
    #[arg(long, visible_alias = "runtime", value_name = "TIME", value_parser = setting(DURATION))]
    pub duration: Option<f64>,
    /// The load runs for this long before the measurement [default: 1 s]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = setting(WARMUP))]
    pub warmup: Option<f64>,
    /// Search for the threads and queue depth that saturate the storage: a coarse run, then a fine
    /// one around the knee
    #[arg(
        long,
        conflicts_with_all = [
            "fio", "threads", "depth", "compare", "mix", "stream", "print", "rate", "output",
        ],
    )]
    pub find_max: bool,
}

/// Where an experiment comes from and goes to.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input and output")]
pub struct Exchange {
    /// Run the jobs of a fio job file
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "paths", "pattern", "block", "threads", "depth", "batch", "reads", "mix", "stream", "rate",
        "buffered", "direct", "sync", "sync_every", "align", "working_set", "io_engine", "size",
        "files", "log_on", "backup_on", "offset", "compress", "precondition",
    ])]
    pub fio: Option<PathBuf>,
    /// Ignore unsupported job options instead of rejecting the file
    #[arg(hide_short_help = true, long, requires = "fio")]
    pub fio_ignore: bool,
    /// Show the storage stack under the paths, with advice; runs nothing
    #[arg(long, conflicts_with_all = ["fio", "print", "find_max", "output"])]
    pub inspect: bool,
    /// Form of the results
    #[arg(
        hide_short_help = true, long, value_enum, value_name = "FORM",
        conflicts_with_all = ["json", "print"],
    )]
    pub output: Option<Output>,
}

/// Forms of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// JSON in fio's format
    FioJson,
}

impl Files {
    /// Returns the files that may be overwritten; `paths` are those that a load could write to.
    pub fn permits<'a>(&self, paths: impl Iterator<Item = &'a Path>) -> Permits {
        let all = self.overwrite.iter().any(|named| named == Path::new(ALL));
        let all_paths = paths.filter(|_| all).map(Path::to_owned);
        Permits {
            overwrite: self.overwrite.iter().cloned().chain(all_paths).collect(),
            destroy: self.destroy.clone(),
            ..Permits::default()
        }
    }
}

/// Reads a size, in which k means 1024: an experiment file has no `8k`, because k means 1000 to
/// some people.
fn size<T: FromValue>(
    setting: Setting<T>,
) -> impl Fn(&str) -> Result<T::Present, ArgumentError> + Clone {
    let read = self::setting(setting);
    move |text| {
        let number = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
        match text.trim()[number.len()..].to_ascii_lowercase().as_str() {
            unit @ ("k" | "m" | "g" | "t") => read(&format!("{number} {unit}iB")),
            _ => read(text),
        }
    }
}

/// Reads a pattern by our name or by fio's.
fn pattern(text: &str) -> Result<Pattern, ArgumentError> {
    fio::pattern(text).map_or_else(|| setting(PATTERN)(text), Ok)
}

#[cfg(test)]
mod tests {
    use super::{Pattern, pattern, size};
    use crate::files::FILE_SIZE;

    #[test]
    fn k_is_1024_and_other_units_are_as_in_files() {
        for (typed, bytes) in [
            ("8k", 8 << 10),
            ("64K", 64 << 10),
            ("1g", 1 << 30),
            ("8 KB", 8000),
            ("8KiB", 8 << 10),
            ("512", 512),
            ("1.5m", 3 << 19),
        ] {
            assert_eq!(size(FILE_SIZE)(typed), Ok(bytes));
        }
        for wrong in ["", "k", "-8k", "8,k", "8x"] {
            assert!(size(FILE_SIZE)(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn patterns_have_the_names_of_files_and_of_fio() {
        for known in Pattern::ALL {
            assert_eq!(pattern(known.name()), Ok(*known));
        }
        for (fio, ours) in
            [("randread", "random-read"), ("rw", "sequential-mixed"), ("write", "sequential-write")]
        {
            assert_eq!(pattern(fio).unwrap().name(), ours);
        }
    }
}

//! What can be typed after `steelbench disk`.

use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Stands for the files among the paths; no file has this name.
const ALL: &str = "/";

/// How fast is this storage for what a database does to it?
#[derive(Debug, Args)]
pub struct Disk {
    /// Directories (files of ours are created in them and removed), existing files or block devices; several
    /// are loaded together
    #[arg(value_name = "PATH", required_unless_present = "fio")]
    pub paths: Vec<PathBuf>,
    /// Compare the paths, one at a time, instead of loading them together
    #[arg(long, conflicts_with = "fio")]
    pub compare: bool,
    /// What I/O is made.
    #[command(flatten)]
    pub load: Load,
    /// On what.
    #[command(flatten)]
    pub files: Files,
    /// How it is measured.
    #[command(flatten)]
    pub measure: Measure,
    /// Where it comes from and goes to.
    #[command(flatten)]
    pub exchange: Exchange,
}

/// What I/O is made. Lists with several values are varied: every combination is measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load (a LIST with several values is varied)")]
pub struct Load {
    /// Pattern of I/O; fio's short names are understood [default: random-read]
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    pub pattern: Vec<Pattern>,
    /// Block size, as in 8k or 64KiB (k = 1024) [default: 8 KiB]
    #[arg(long, value_name = "LIST", value_parser = size, value_delimiter = ',')]
    pub block: Vec<String>,
    /// Number of threads [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub threads: Vec<u32>,
    /// I/Os that each thread keeps under way [default: 32]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub depth: Vec<u32>,
    /// I/Os that each thread begins and waits for together, as a program that reads ahead does [default: 1]
    #[arg(long, value_name = "N")]
    pub batch: Option<u32>,
    /// Share of reads in the mixed patterns, as in 70%
    #[arg(long, value_name = "PERCENT")]
    pub reads: Option<String>,
    /// Mix of streams that databases make: oltp, oltp-data, log, checkpoint, scan, backup
    #[arg(long, value_name = "NAME", conflicts_with = "stream")]
    pub mix: Option<String>,
    /// A stream: "NAME key=value ..."; several run together
    #[arg(long, value_name = "TEXT")]
    pub stream: Vec<String>,
    /// I/Os a second, begun at random times whatever the storage does (open loop)
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Through the page cache, not direct
    #[arg(long)]
    pub buffered: bool,
    /// How writes are made durable: none, fdatasync, fsync, dsync
    #[arg(long, value_name = "HOW")]
    pub sync: Option<String>,
    /// Number of writes after which a sync follows
    #[arg(long, value_name = "N")]
    pub sync_every: Option<u32>,
    /// Offsets are multiples of this [default: the block size]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub align: Option<String>,
    /// Only so much of each file is used
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub working_set: Option<String>,
    /// How the system is asked: auto, `io_uring`, pread
    #[arg(long, value_name = "NAME")]
    pub io_engine: Option<String>,
}

/// What the I/O is made on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files")]
pub struct Files {
    /// Size of each file that is created [default: 1 GiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub size: Option<String>,
    /// Number of files that are created, spread over the directories [default: one a directory]
    #[arg(long, value_name = "N")]
    pub files: Option<u32>,
    /// Directory, file or device of the log, for a mix or streams on=log [default: with the data]
    #[arg(long, value_name = "PATH")]
    pub log_on: Option<PathBuf>,
    /// Directory, file or device that a backup is written to [default: with the data]
    #[arg(long, value_name = "PATH")]
    pub backup_on: Option<PathBuf>,
    /// Bytes left out at the beginning of each file or device: a partition's offset
    #[arg(long, value_name = "LIST", value_parser = size, value_delimiter = ',')]
    pub offset: Vec<String>,
    /// Share of the data that a compressing drive or file system can remove
    #[arg(long, value_name = "PERCENT")]
    pub compress: Option<String>,
    /// Before measuring, overwrite at random until the throughput is steady; takes long and wears a drive
    #[arg(long)]
    pub precondition: bool,
    /// This existing file may be written to; without a name: all that are among the paths
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = ALL)]
    pub overwrite: Vec<PathBuf>,
    /// This block device may be written to; everything on it is lost
    #[arg(long, value_name = "DEVICE")]
    pub destroy: Vec<PathBuf>,
}

/// How it is measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct Measure {
    /// Length of the measured part of each trial [default: 5 s]
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// The load runs for this long before [default: 1 s]
    #[arg(long, value_name = "TIME")]
    pub warmup: Option<String>,
    /// How often each configuration is measured [default: 3; of a fio job file: 1]
    #[arg(long, value_name = "N")]
    pub blocks: Option<u32>,
    /// Seed of offsets and of the order of trials
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Search the threads and queue depth that saturate the storage: a coarse run, then a fine one around
    /// the knee
    #[arg(long, conflicts_with_all = ["fio", "threads", "depth", "compare", "mix", "stream", "print", "rate", "output"])]
    pub find_max: bool,
}

/// Where an experiment comes from and goes to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input and output")]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub struct Exchange {
    /// Run the jobs of a fio job file
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "paths", "pattern", "block", "threads", "depth", "batch", "reads", "mix", "stream", "rate", "buffered", "sync",
        "sync_every", "align", "working_set", "io_engine", "size", "files", "log_on", "backup_on", "offset",
        "compress", "precondition",
    ])]
    pub fio: Option<PathBuf>,
    /// Leave out job options that we do not have, instead of refusing the file
    #[arg(long, requires = "fio")]
    pub fio_ignore: bool,
    /// Say how the paths are set up, and what is not as it should be; runs nothing
    #[arg(long, conflicts_with_all = ["fio", "print", "find_max", "output"])]
    pub inspect: bool,
    /// Print the experiment file instead of running it
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub print: bool,
    /// Name of the experiment [default: disk; of a fio job file: its name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The results file [default: results/NAME.steelbench]
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Form of the results
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<Output>,
    /// Print events and the summary as JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

/// Forms of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// The JSON that fio writes, for tools that read it
    FioJson,
}

/// Patterns of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// Reads anywhere
    #[value(alias = "randread")]
    RandomRead,
    /// Writes anywhere
    #[value(alias = "randwrite")]
    RandomWrite,
    /// Reads and writes anywhere
    #[value(alias = "randrw")]
    RandomMixed,
    /// Reads one after the other
    #[value(alias = "read")]
    SequentialRead,
    /// Writes one after the other
    #[value(alias = "write")]
    SequentialWrite,
    /// Reads and writes one after the other
    #[value(aliases = ["rw", "readwrite"])]
    SequentialMixed,
}

impl Files {
    /// Whether an existing file may be written to.
    pub fn may_overwrite(&self, path: &Path) -> bool {
        self.overwrite.iter().any(|named| named == Path::new(ALL) || same(named, path))
    }

    /// Whether a block device may be written to.
    pub fn may_destroy(&self, path: &Path) -> bool {
        self.destroy.iter().any(|named| same(named, path))
    }
}

/// Whether two paths, in whatever words, mean the same.
pub fn same(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().ok().is_some_and(|real| other.canonicalize().is_ok_and(|it| it == real))
}

impl Pattern {
    /// Its name in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "random-read",
            Self::RandomWrite => "random-write",
            Self::RandomMixed => "random-mixed",
            Self::SequentialRead => "sequential-read",
            Self::SequentialWrite => "sequential-write",
            Self::SequentialMixed => "sequential-mixed",
        }
    }

    /// Whether some of its I/Os are writes.
    pub fn writes(self) -> bool {
        !matches!(self, Self::RandomRead | Self::SequentialRead)
    }
}

/// A size as an experiment file has it. There is no `8k` in these, because k means 1000 to some people; on a
/// command line about blocks it means 1024.
fn size(text: &str) -> Result<String, String> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    if number.is_empty() || !number.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Err("write a size as in 8k, 64KiB or 1GiB".into());
    }
    Ok(match text[number.len()..].trim().to_ascii_lowercase().as_str() {
        "" => number.to_owned(),
        unit @ ("k" | "m" | "g" | "t") => format!("{number} {}iB", unit.to_ascii_uppercase()),
        _ => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Pattern, size};
    use clap::ValueEnum;

    #[test]
    fn k_is_1024_and_other_units_are_as_in_files() {
        for (typed, written) in [
            ("8k", "8 KiB"),
            ("64K", "64 KiB"),
            ("1g", "1 GiB"),
            ("8 KB", "8 KB"),
            ("512", "512"),
            ("1.5m", "1.5 MiB"),
        ] {
            assert_eq!(size(typed).unwrap(), written);
        }
        for wrong in ["", "k", "-8k", "8,k"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn patterns_have_the_names_of_files_and_of_fio() {
        for pattern in Pattern::value_variants() {
            assert_eq!(pattern.to_possible_value().unwrap().get_name(), pattern.name());
        }
        for (fio, ours) in
            [("randread", "random-read"), ("rw", "sequential-mixed"), ("write", "sequential-write")]
        {
            assert_eq!(Pattern::from_str(fio, false).unwrap().name(), ours);
        }
    }
}

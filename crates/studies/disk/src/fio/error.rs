//! Why a job file is not an experiment.

use crate::paths::PathError;
use std::io;
use std::path::PathBuf;

/// Why a job file is not an experiment.
#[derive(Debug, thiserror::Error)]
pub enum FioError {
    /// Lines that cannot be read, and options that we do not have.
    #[error("{}", lines(shown, problems, unsupported))]
    Lines {
        /// Name of the file.
        shown: String,
        /// The lines.
        problems: Vec<Problem>,
        /// The options, unless they are to be left out.
        unsupported: Vec<String>,
    },
    /// No job where one is needed.
    #[error("no job in the file")]
    NoJob,
    /// Jobs that run together differ.
    #[error(
        "jobs {job} and {other} differ in {option}, which applies to all jobs here: put them in \
         separate files"
    )]
    Differ {
        /// Name of a job.
        job: String,
        /// Name of another.
        other: String,
        /// The option.
        option: String,
    },
    /// Blocks beyond 32 bits.
    #[error("job {job}: blocks of {bytes} bytes are too large")]
    LargeBlock {
        /// Name of the job.
        job: String,
        /// The size.
        bytes: u64,
    },
    /// A job of some of the files.
    #[error("job {0} uses some of the files, but not all: give each file its own job")]
    SomeFiles(String),
    /// Existing and new files together.
    #[error(
        "{} exists and {} does not: jobs that run together must use either existing files or \
         files that Steelbench creates",
        existing.display(),
        missing.display()
    )]
    SomeExist {
        /// A file that exists.
        existing: PathBuf,
        /// A file that does not.
        missing: PathBuf,
    },
    /// A directory in place of a file.
    #[error("{}: expected a file, found a directory", .0.display())]
    Directory(PathBuf),
    /// A new file of unknown size.
    #[error("job {job}: {} does not exist: give its size", path.display())]
    NoSize {
        /// Name of the job.
        job: String,
        /// The file.
        path: PathBuf,
    },
    /// The size of a file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file that cannot be loaded.
    #[error(transparent)]
    Path(#[from] PathError),
}

/// A line of a job file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// The cause.
    pub cause: LineError,
}

/// Why a line of a job file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Brackets without a name.
    #[error("expected a section name in brackets")]
    SectionName,
    /// An option of no section.
    #[error("this option is before the first section")]
    BeforeSection,
    /// The file is larger than people write.
    #[error("too many jobs and options")]
    TooMany,
    /// Reading ended after too many problems.
    #[error("further lines were not read")]
    Unread,
    /// A file without a job.
    #[error("no job in the file")]
    NoJob,
    /// A sign that would change the terminal.
    #[error("control character in this line")]
    Control,
    /// A variable without its end.
    #[error("`{0}`: missing closing bracket of a variable")]
    OpenBracket(String),
    /// A variable whose name says that it is a secret.
    #[error("environment variable {0} not used: a secret would be recorded")]
    Secret(String),
    /// A variable that the environment lacks.
    #[error("the environment variable {0} is not set")]
    NotSet(String),
    /// An option does not take its value.
    #[error("{key}: {source}")]
    Option {
        /// The option.
        key: String,
        /// The cause.
        source: ValueError,
    },
    /// A mixed pattern with two sizes.
    #[error("job {0}: reads and writes have different sizes: split the job in two")]
    MixedSizes(String),
    /// A mixed pattern with rates.
    #[error("job {0}: rate_iops limits reads and writes separately: split the job in two")]
    MixedRates(String),
    /// A job without an end.
    #[error("job {0}: time_based needs a runtime")]
    NoRuntime(String),
}

/// A value that an option does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// An option without a value.
    #[error("missing value")]
    Missing,
    /// A value that the option does not take, and why.
    #[error("`{0}` {1}")]
    Unfit(String, &'static str),
}

impl ValueError {
    /// A value that the option does not take.
    pub fn unfit(text: &str, why: &'static str) -> Self {
        Self::Unfit(text.to_owned(), why)
    }
}

/// Problems that are listed.
const LISTED_MAX: usize = 21;

/// The first of them, and how many more there are.
pub fn limited(mut all: Vec<String>) -> Vec<String> {
    let more = all.len().saturating_sub(LISTED_MAX);
    all.truncate(LISTED_MAX);
    all.extend((more > 0).then(|| format!("and {more} more")));
    all
}

fn lines(shown: &str, problems: &[Problem], unsupported: &[String]) -> String {
    let mut causes: Vec<(usize, String)> =
        problems.iter().map(|problem| (problem.line, problem.cause.to_string())).collect();
    // An option of a global section comes with each of its jobs.
    causes.sort();
    causes.dedup();
    let text = causes.into_iter().map(|(line, text)| format!("{shown}:{line}: {text}"));
    let mut all = limited(text.collect());
    if !unsupported.is_empty() {
        let names = limited(unsupported.to_vec()).join(", ");
        all.push(format!(
            "{shown}: these options are not supported: {names}; --fio-ignore runs the jobs \
             without them"
        ));
    }
    all.join("\n")
}

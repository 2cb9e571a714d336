//! The results files that may be asked for, whether they have changed, and reading them, for one
//! page at a time.

use super::page::{Refusal, address};
use command_line::{Context, Failure, results};
use hyper::StatusCode;
use observations::{Recording, Tally, TrialStatus, number, order};
use report::Text;
use runner::{Outlook, outlook};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::Store;

/// File systems may give the same time to two changes that are no further apart than this.
const CLOCK_STEP: Duration = Duration::from_millis(50);

/// The results files that are served: one, or all in a folder, also those that come later.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    is_folder: bool,
}

/// A results file, and the name by which clients ask for it.
#[derive(Debug, Clone)]
pub struct File {
    /// The name without folder and ending, control characters spelled out.
    pub name: String,
    pub path: PathBuf,
}

impl Library {
    /// Resolves a name, a file or a folder; without one, the usual folder.
    pub fn open(name: Option<&str>) -> Result<Self, Failure> {
        let folder = name.map_or(Path::new(results::FOLDER), Path::new);
        let is_folder = name.is_none() || folder.is_dir();
        let path = if is_folder { folder.to_owned() } else { results::find(name)? };
        Ok(Self { path, is_folder })
    }

    /// The files by name.
    pub fn files(&self) -> Vec<File> {
        let mut files: Vec<File> = if self.is_folder {
            store::results_files(&self.path).map(File::new).collect()
        } else {
            vec![File::new(self.path.clone())]
        };
        order::sort(&mut files, &|a, b| a.name.cmp(&b.name));
        files
    }

    /// The file that a client names. Names are only compared with those of the list, never made
    /// into paths.
    pub fn file(&self, name: &str) -> Result<File, Refusal> {
        let found = self.files().into_iter().find(|file| file.name == name);
        found.ok_or_else(|| {
            Refusal::new(StatusCode::NOT_FOUND, format!("No results file {name} here."))
        })
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            if self.is_folder { "the results files in " } else { "" },
            self.path.display()
        )
    }
}

impl File {
    fn new(path: PathBuf) -> Self {
        let name = Text::from(path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
            .to_string();
        Self { name, path }
    }

    /// A text that is another one when a trial has been committed, or a run has begun or ended.
    ///
    /// Only looks at the file's time and size. (It must not be opened: closing any descriptor of a
    /// file releases all of this process's locks on it, those of a page that is being built
    /// included.)
    pub fn version(&self) -> String {
        let Ok(metadata) = self.path.metadata() else { return format!("{}:gone", self.name) };
        let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
        // What changed this moment may change again at the same time: asked later, the version is
        // another one.
        let fresh = SystemTime::now().duration_since(modified).is_ok_and(|age| age < CLOCK_STEP);
        let nanoseconds = modified.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let claimed = store::is_claimed(&self.path);
        let (length, mark) = (metadata.len(), if fresh { "~" } else { "" });
        format!("{}:{nanoseconds:x}.{length:x}.{claimed}{mark}", self.name)
    }
}

/// The versions of several files.
pub fn version(files: &[File]) -> String {
    files.iter().map(File::version).collect::<Vec<_>>().join(" ")
}

/// Where a page finds out whether these files have changed, and their version now: to be taken
/// before they are read.
pub fn live(files: &[File]) -> (String, String) {
    let names: Vec<(&str, &str)> = files.iter().map(|file| ("file", file.name.as_str())).collect();
    (address("/version", &names), version(files))
}

/// A run as it was read.
#[derive(Debug)]
pub struct Read {
    pub recording: Recording,
    /// The progress.
    pub progress: String,
}

/// Reads a run of a file, the latest one without a number.
pub fn read(
    context: &Context,
    file: &File,
    run: Option<i64>,
    read: results::Read,
) -> Result<Read, Refusal> {
    let store = results::open_file(context, &file.path)?;
    let Some(latest) = store.latest_run()?.map(|run| run.id) else {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            format!("{}: no recorded run.", file.name),
        ));
    };
    read_run(context, file, &store, run.unwrap_or(latest), latest, read)
}

/// Reads a run of an open file.
pub fn read_run(
    context: &Context,
    file: &File,
    store: &Store,
    run: i64,
    latest: i64,
    read: results::Read,
) -> Result<Read, Refusal> {
    let recording = read(store, run)?;
    let notes = progress(context, file, &recording, run == latest);
    Ok(Read { recording, progress: notes })
}

/// `running: 12 of 30 trials`. `latest`: whether it is the latest run of its file, the only one
/// that can be running.
fn progress(context: &Context, file: &File, recording: &Recording, latest: bool) -> String {
    let running = latest && store::is_claimed(&file.path);
    let failed = recording.trials.iter().filter(|trial| trial.status != TrialStatus::Done).count();
    let failed = match failed {
        0 => String::new(),
        n => format!(", {} failed", number::plural(n, "attempt")),
    };
    // The file of a run that another version made may be one that this version does not understand.
    let experiment = experiment::parse(&recording.run.source, &context.registry.catalog()).ok();
    let trials = |n: usize| number::plural(n, "trial");
    let designs = context.registry.designs;
    let text = match experiment.map(|experiment| outlook(&experiment, recording, designs)) {
        // After the last trial a run may still remove what it has made.
        Some(Outlook { tally, .. }) if running => {
            format!("running: {} of {}", tally.done + tally.failed, trials(tally.planned))
        }
        Some(Outlook { tally: Tally { done, failed: 1.., planned, .. }, complete: true }) => {
            let again =
                if latest { ", `steelbench run --retry-failed` repeats the others" } else { "" };
            format!("ended: {done} of {} done{again}", trials(planned))
        }
        Some(Outlook { tally: Tally { done, planned, .. }, complete: true }) => {
            format!("complete: {}", trials(done.min(planned)))
        }
        Some(Outlook { tally, .. }) => {
            let resumable = if latest { ", resume with `steelbench run`" } else { "" };
            format!(
                "stopped: {} of {}{resumable}",
                tally.done + tally.failed,
                trials(tally.planned)
            )
        }
        None if running => format!("running: {}", trials(recording.trials.len())),
        None => trials(recording.trials.len()),
    };
    text + &failed
}

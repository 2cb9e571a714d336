use crate::benchbase::{self, Conversion};
use crate::formats::{self, Options, Trial};
use crate::recording::{Run, recording};
use clap::Parser;
use command_line::ready::write_all;
use command_line::{Context, ExitCode, Failure, Tool, output, results};
use observations::Recording;
use std::path::{Path, PathBuf};
use store::Store;

/// Bytes of a file that are read at most: a log of 20 million transactions.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Import measurements of other tools, to compare and report them
///
/// Reads pgbench's output and transaction logs, sysbench's and HammerDB's output, fio's and
/// hyperfine's JSON, CSV of trials, and snapshots of sys.dm_os_wait_stats or
/// pg_wait_sampling_profile as CSV (BEFORE.csv,AFTER.csv). Runs are labelled as measured elsewhere.
/// A configuration of BenchBase (XML) becomes an experiment file with its scripts in this folder.
#[expect(clippy::doc_markdown, reason = "the help shows it as it is")]
#[derive(Debug, Parser)]
#[command(name = "import")]
pub struct Import {
    /// Files with measurements; files with the same label are repeats, in their order
    #[arg(required = true, value_name = "[LABEL=]FILE")]
    sources: Vec<String>,
    /// Name of the experiment
    #[arg(long, value_name = "NAME", default_value = "imported")]
    name: String,
    /// Name of what the labels are levels of; of CSV the columns that are factors
    #[arg(long = "factor", value_name = "NAME")]
    factors: Vec<String>,
    /// Responses of CSV of which more is better; by default rates and throughputs
    #[arg(long = "higher", value_name = "RESPONSE")]
    higher: Vec<String>,
    /// The response to compare by [default: the first]
    #[arg(long, value_name = "RESPONSE")]
    response: Option<String>,
    /// Seconds between two snapshots of waits
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// The results file [default: results/NAME.steelbench]
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
}

impl Tool for Import {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench import --factor shared_buffers 1GB=a1.txt 1GB=a2.txt 4GB=b1.txt 4GB=b2.txt",
        "steelbench import trials.csv --factor layout --factor sessions",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        if self.seconds.is_some_and(|seconds| !(seconds.is_finite() && seconds > 0.0)) {
            return Err(Failure::usage("--seconds: expected a number above 0"));
        }
        if let [source] = self.sources.as_slice() {
            let text = text(source).unwrap_or_default();
            if benchbase::is_xml(&text) {
                let converted = benchbase::convert(&text)
                    .map_err(|error| Failure::usage(format!("{source}: {error}")))?;
                return write(context, &converted);
            }
        }
        let options = Options {
            factors: &self.factors,
            higher: &self.higher,
            seconds: self.seconds,
            engines: context.registry.engines,
        };
        let mut trials = Vec::new();
        for source in &self.sources {
            trials.extend(read(source, &options)?);
            formats::check_rows(trials.len(), "trials")
                .map_err(|error| Failure::usage(format!("{source}: {error}")))?;
        }
        let run =
            Run { name: &self.name, response: self.response.as_deref(), files: &self.sources };
        let recording = recording(run, trials).map_err(Failure::usage)?;
        let path = results::path(self.results.as_ref(), &self.name);
        let id = record(&path, &recording)?;
        output::print(&format!(
            "{}: run {id} with {} trials of {} configurations, measured elsewhere\n",
            path.display(),
            recording.trials.len(),
            recording.configurations.len()
        ))
    }
}

/// Records a run in a results file; of a new file nothing stays if that fails.
fn record(path: &Path, recording: &Recording) -> Result<i64, Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    }
    let is_new = !path.exists();
    let mut store = Store::create_or_open(path)?;
    let lock = store.lock_for_run()?;
    let recorded = store.record_run(recording);
    if recorded.is_err() && is_new {
        drop((store, lock));
        let _ = std::fs::remove_file(path);
    }
    Ok(recorded?)
}

/// Writes the experiment file of a configuration and its scripts into the current folder.
fn write(context: &Context, converted: &Conversion) -> Result<ExitCode, Failure> {
    let file = format!("{}.toml", converted.name);
    let input = (file.as_str(), converted.text.as_str());
    let ready = context.ready.iter().find(|ready| Some(ready.name) == converted.scripts);
    match ready {
        Some(ready) => ready.write(Some(input))?,
        None => write_all(&[input])?,
    };
    let lacking = converted.lacking.iter().map(|part| format!("Without a counterpart: {part}.\n"));
    let with = if ready.is_some() { " and its scripts" } else { "" };
    output::print(&format!(
        "Wrote {file}{with}. Show its plan with `steelbench check {file}`.\n{}",
        lacking.collect::<String>()
    ))
}

fn text(file: &str) -> Result<String, Failure> {
    experiment::read_text(Path::new(file), FILE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("{file}: {error}")))
}

/// The trials in a source.
fn read(source: &str, options: &Options<'_>) -> Result<Vec<Trial>, Failure> {
    // A file may have such a sign in its name.
    let (label, files) = match source.split_once('=') {
        Some((label, files)) if !Path::new(source).exists() => (Some(label), files),
        _ => (None, source),
    };
    let (format, mut trials) = match files.split_once(',') {
        Some((before, after)) if !Path::new(files).exists() => {
            let trial = formats::waits::read(&text(before)?, &text(after)?, options);
            let trial = trial.map_err(|error| Failure::usage(format!("{files}: {error}")))?;
            ("snapshots of waits", vec![trial])
        }
        _ => formats::read(&text(files)?, options)
            .map_err(|error| Failure::usage(format!("{files}: {error}")))?,
    };
    let last = files.rsplit(',').next().unwrap_or(files);
    let stem = Path::new(last).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let factor = options.factors.first().map_or("configuration", String::as_str);
    for trial in &mut trials {
        trial.label(factor, label, &stem);
        trial.origin = format!("{format} in {files}");
    }
    Ok(trials)
}

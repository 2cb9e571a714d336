//! `steelbench compare`: two configurations of a run, or two runs: how they differ, and whether
//! that is within limits.

use crate::runs::{compare_sides, judge_sides};
use crate::{document, head_to_head};
use clap::Parser;
use command_line::arguments::GateOptions;
use command_line::output::{self, Form};
use command_line::select::cells;
use command_line::{Context, ExitCode, Failure, Place, Responses, Tool, Which, results};
use observations::Recording;
use report::json::object;
use serde_json::json;
use store::Store;

/// Compare configurations, or runs before and after a change
///
/// Explains the difference by waits, CPU time and code.
#[derive(Debug, Parser)]
#[command(
    name = "compare",
    override_usage = "steelbench compare [OPTIONS] [RUN] <A> <B>\n       \
                      steelbench compare [OPTIONS] --baseline <RUN>... --candidate <RUN>..."
)]
pub struct Compare {
    /// Two configurations, levels, runs or observations of a server
    ///
    /// Configurations (`data_files=1`, `data_files=1,log=synced`) and levels (`sync=on`: the mean
    /// over the other factors) may follow their run. A run is an experiment's name or a results
    /// file, optionally with `@3`, `@latest` or `@previous`. An observation is a file written by
    /// `waits --output`.
    #[arg(
        value_name = "A B",
        num_args = 2..=3,
        required_unless_present = "baseline",
        conflicts_with = "baseline",
    )]
    sides: Vec<String>,
    /// Several runs of one side: each counts once, so the intervals include the variation between
    /// runs
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "candidate")]
    baseline: Vec<String>,
    /// Several runs of the other side
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "baseline")]
    candidate: Vec<String>,
    /// Name of an experiment, or path of a results file, for configurations and for `@3` alone
    /// [default: the newest in results/]
    #[arg(long = "in", value_name = "NAME")]
    name: Option<String>,
    /// Run number for configurations [default: the latest]
    #[arg(long)]
    run: Option<i64>,
    /// For two runs: the response to compare [default: the first run's]
    #[arg(long, value_name = "NAME")]
    response: Option<String>,
    /// For two runs: compare every common response
    #[arg(long, conflicts_with = "response")]
    all: bool,
    /// For two configurations: print every response and the parts of the difference
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    gate: GateOptions,
    #[command(flatten)]
    form: Form,
}

impl Compare {
    /// Returns whether an option applies only to two runs.
    fn is_for_runs(&self) -> bool {
        self.response.is_some() || self.all
    }
}

impl Tool for Compare {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench compare random-insert data_files=1 data_files=4",
        "steelbench compare upgrade version=old version=new --fail-if slower:3%",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let (a, b) = match self.sides.as_slice() {
            [] => {
                let side =
                    |names: &[String]| names.iter().map(|text| run(self, context, text)).collect();
                let (from, to): (Result<Vec<_>, _>, Result<Vec<_>, _>) =
                    (side(&self.baseline), side(&self.candidate));
                return runs(self, &from?, &to?);
            }
            [of, a, b] => return configurations(self, &run(self, context, of)?, a, b),
            [a, rest @ ..] => (a, rest.last().unwrap_or(a)),
        };
        let default = self.name.as_deref();
        match (RunName::parse(a, default), RunName::parse(b, default)) {
            (Some(_), Some(_)) if self.run.is_some() => {
                Err(Failure::usage(format!("--run is for configurations; name a run as `{a}@1`")))
            }
            (Some(from), Some(to)) => match observations(self, context, &from, &to)? {
                Some(code) => Ok(code),
                None => runs(self, &[from.read(context)?], &[to.read(context)?]),
            },
            (None, None) => {
                let path = results::find(default)?;
                let store = results::open_file(context, &path)?;
                let recording = results::read_run(&store, self.run, Store::read_figures)?;
                configurations(self, &recording, a, b).map_err(|failure| failure.in_file(&path))
            }
            (Some(_), None) => Err(Failure::usage(format!("{a} is a run but {b} is not"))),
            (None, Some(_)) => Err(Failure::usage(format!("{b} is a run but {a} is not"))),
        }
    }
}

/// Compares what a tool recorded in files without runs; `None` where they have runs.
fn observations(
    arguments: &Compare,
    context: &Context,
    from: &RunName,
    to: &RunName,
) -> Result<Option<ExitCode>, Failure> {
    let stores = [results::open(context, from.file)?, results::open(context, to.file)?];
    let from = Place { store: &stores[0], which: from.which };
    let to = Place { store: &stores[1], which: to.which };
    for records in context.records {
        if arguments.is_for_runs() || arguments.gate.is_given() {
            if records.document(from)?.is_some() && records.document(to)?.is_some() {
                return Err(Failure::usage(
                    "--response, --all and --fail-if apply to runs; a comparison of observations \
                     shows every wait",
                ));
            }
        } else if let Some(code) = records.compare(from, to, arguments.form)? {
            return Ok(Some(code));
        }
    }
    Ok(None)
}

/// The run of this name, which can be nothing else.
fn run(arguments: &Compare, context: &Context, text: &str) -> Result<Recording, Failure> {
    let name = RunName::parse(text, arguments.name.as_deref());
    name.unwrap_or(RunName { file: Some(text), which: Which::Latest }).read(context)
}

/// Compares two configurations of a run, or two levels over those of the other factors.
fn configurations(
    arguments: &Compare,
    recording: &Recording,
    a: &str,
    b: &str,
) -> Result<ExitCode, Failure> {
    if arguments.is_for_runs() {
        return Err(Failure::usage(
            "--response and --all apply to two runs; a comparison of configurations shows every \
             response",
        ));
    }
    let (cells, [from, to]) = cells(recording, a, b)?;
    let compared = analysis::compare_over(recording, &cells)
        .ok_or_else(|| Failure::failed("neither configuration has a completed trial"))?;
    let limits = &arguments.gate.fail_if;
    let gate = (!limits.is_empty())
        .then(|| analysis::gate::judge(recording, &cells, limits))
        .transpose()
        .map_err(Failure::usage)?;
    let code = output::show(
        arguments.form,
        || head_to_head::json(&compared, &from, &to, gate.as_ref()),
        || {
            let all = arguments.full || arguments.form.md;
            let document = if all { head_to_head::document } else { head_to_head::screen };
            let mut document = document(&compared, &from, &to);
            document.sections.splice(..0, gate.as_ref().map(report::gate_section));
            document
        },
    )?;
    let name = &recording.run.name;
    gate.map_or(Ok(code), |gate| arguments.gate.conclude(&gate, name, arguments.form.json))
}

/// A run as it is named on the command line.
struct RunName<'a> {
    /// Name of an experiment, or path of a results file.
    file: Option<&'a str>,
    /// The chosen one of its runs or observations.
    which: Which,
}

impl<'a> RunName<'a> {
    /// The run that a text names: `None` when it names none and may be a configuration.
    ///
    /// `default` is the file of `@3`. A text that is not the name of a file, but can be nothing
    /// else, is taken for one, so that the complaint is about that.
    fn parse(text: &'a str, default: Option<&'a str>) -> Option<Self> {
        let exists = |name: &str| results::find(Some(name)).is_ok();
        let latest = Self { file: Some(text), which: Which::Latest };
        if exists(text) {
            return Some(latest);
        }
        let numbered = text.rsplit_once('@').and_then(|(file, number)| {
            Some((
                file,
                match number {
                    "latest" => Which::Latest,
                    "previous" => Which::Previous,
                    number => Which::Number(number.parse().ok()?),
                },
            ))
        });
        match numbered {
            Some(("", which)) => Some(Self { file: default, which }),
            Some((file, which)) if exists(file) || !text.contains('=') => {
                Some(Self { file: Some(file), which })
            }
            _ if text.contains('=') || !store::is_results_file(text.as_ref()) => None,
            _ => Some(latest),
        }
    }

    fn read(&self, context: &Context) -> Result<Recording, Failure> {
        let store = results::open(context, self.file)?;
        let run = match self.which {
            Which::Latest => None,
            Which::Previous => Some(previous(&store)?),
            Which::Number(number) => Some(number),
        };
        results::read_run(&store, run, Store::read_figures)
    }
}

/// The run of the latest run's experiment before that.
fn previous(store: &Store) -> Result<i64, Failure> {
    let mut runs = store.runs()?;
    let latest = runs.pop();
    let before = latest.and_then(|latest| runs.into_iter().rfind(|run| run.name == latest.name));
    before.map(|run| run.id).ok_or_else(|| {
        Failure::usage(format!("{}: no run before the latest", store.path().display()))
    })
}

/// Compares runs; the exit code says whether the limits are kept.
fn runs(arguments: &Compare, from: &[Recording], to: &[Recording]) -> Result<ExitCode, Failure> {
    // Times tell runs of different files apart, which may have the same number.
    let all: Vec<_> = from
        .iter()
        .chain(to)
        .map(|run| (run.run.id, run.run.started_ms, run.run.name.clone()))
        .collect();
    if let Some((run, _, name)) =
        (1..all.len()).find(|at| all[..*at].contains(&all[*at])).map(|at| &all[at])
    {
        return Err(Failure::usage(format!(
            "run {run} of {name} is given twice; compare different runs"
        )));
    }
    let which = match &arguments.response {
        Some(name) => Responses::Named(name),
        None if arguments.all => Responses::All,
        None => Responses::Primary,
    };
    let compared = compare_sides(from, to, which).map_err(Failure::usage)?;
    let limits = &arguments.gate.fail_if;
    let gate = (!limits.is_empty())
        .then(|| judge_sides(from, to, which, limits))
        .transpose()
        .map_err(Failure::usage)?;
    let code = output::show(
        arguments.form,
        || object("run_comparison", &compared, json!({ "gate": gate })),
        || document::runs(&compared, gate.as_ref()),
    )?;
    let name = &compared.to.name;
    gate.map_or(Ok(code), |gate| arguments.gate.conclude(&gate, name, arguments.form.json))
}

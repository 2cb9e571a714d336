//! `steelbench compare`: two configurations of a run, or two runs: how they differ, and whether
//! that is within limits.

use super::select::cells;
use super::waits;
use crate::args::Compare;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use analysis::runs::{Decision, Gate, Responses, compare_sides, judge_sides};
use observations::{ActivityRecord, Recording};
use store::Store;

/// Compares runs, or configurations of one.
pub fn compare(arguments: &Compare) -> Result<ExitCode, Failure> {
    let named = |text| RunName::of(text, arguments.name.as_deref());
    let (a, b) = match arguments.sides.as_slice() {
        [] => {
            let side = |names: &[String]| names.iter().map(|text| run(arguments, text)).collect();
            let (from, to): (Result<Vec<_>, _>, Result<Vec<_>, _>) =
                (side(&arguments.baseline), side(&arguments.candidate));
            return runs(arguments, &from?, &to?);
        }
        [of, a, b] => return configurations(arguments, &run(arguments, of)?, a, b),
        [a, rest @ ..] => (a, rest.last().unwrap_or(a)),
    };
    match (named(a), named(b)) {
        (Some(_), Some(_)) if arguments.run.is_some() => {
            Err(Failure::usage(format!("--run is for configurations; name a run as `{a}@1`")))
        }
        (Some(from), Some(to)) => match (from.observation()?, to.observation()?) {
            (Some(_), Some(_)) if arguments.is_for_runs() => Err(Failure::usage(
                "--response, --all and --fail-if are for runs; of observations every wait is shown",
            )),
            (Some(from), Some(to)) => waits::compare(&from, &to, arguments.form),
            _ => runs(arguments, &[from.read()?], &[to.read()?]),
        },
        (None, None) => {
            let store = results::open(arguments.name.as_deref())?;
            configurations(
                arguments,
                &results::read_run(&store, arguments.run, Store::read_figures)?,
                a,
                b,
            )
        }
        (Some(_), None) => Err(Failure::usage(format!("{a} is a run and {b} is none"))),
        (None, Some(_)) => Err(Failure::usage(format!("{b} is a run and {a} is none"))),
    }
}

/// The run of this name, which can be nothing else.
fn run(arguments: &Compare, text: &str) -> Result<Recording, Failure> {
    let name = RunName::of(text, arguments.name.as_deref());
    name.unwrap_or(RunName { file: Some(text), number: "latest" }).read()
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
            "--response, --all and --fail-if are for two runs; of two configurations every \
             response is shown",
        ));
    }
    let (cells, [from, to]) = cells(recording, a, b)?;
    let compared = analysis::compare_over(recording, &cells).ok_or_else(|| {
        Failure::failed("neither configuration has a trial that was measured to the end")
    })?;
    let json = || report::json::head_to_head(&compared, &from, &to);
    output::show(arguments.form, json, || report::head_to_head(&compared, &from, &to))
}

/// A run as it is named on the command line.
struct RunName<'a> {
    /// Name of an experiment, or path of a results file.
    file: Option<&'a str>,
    /// `latest`, `previous`, or the number of a run.
    number: &'a str,
}

impl<'a> RunName<'a> {
    /// The run that a text names: `None` when it names none and may be a configuration.
    ///
    /// `default` is the file of `@3`. A text that is not the name of a file, but can be nothing
    /// else, is taken for one, so that the complaint is about that.
    fn of(text: &'a str, default: Option<&'a str>) -> Option<Self> {
        let exists = |name: &str| results::find(Some(name)).is_ok();
        if exists(text) {
            return Some(Self { file: Some(text), number: "latest" });
        }
        let is_number = |number: &str| {
            ["latest", "previous"].contains(&number) || number.parse::<i64>().is_ok()
        };
        match text.rsplit_once('@').filter(|(_, number)| is_number(number)) {
            Some(("", number)) => Some(Self { file: default, number }),
            Some((file, number)) if exists(file) || !text.contains('=') => {
                Some(Self { file: Some(file), number })
            }
            _ if text.contains('=') || !store::is_results_file(text.as_ref()) => None,
            _ => Some(Self { file: Some(text), number: "latest" }),
        }
    }

    /// What it names in a file of observations.
    fn observation(&self) -> Result<Option<ActivityRecord>, Failure> {
        let store = results::open(self.file)?;
        let before_latest =
            || store.activities().map(|numbers| numbers.iter().rev().nth(1).copied());
        let number =
            if self.number == "previous" { before_latest()? } else { self.number.parse().ok() };
        results::only_activity(&store, number)
    }

    fn read(&self) -> Result<Recording, Failure> {
        let store = results::open(self.file)?;
        let run = if self.number == "previous" {
            Some(previous(&store)?)
        } else {
            self.number.parse().ok()
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
        Failure::usage(format!("{}: there is no run before the latest", store.path().display()))
    })
}

/// Compares runs; the exit code says whether the limits are kept.
fn runs(arguments: &Compare, from: &[Recording], to: &[Recording]) -> Result<ExitCode, Failure> {
    // Times tell runs of different files apart, which may have the same number.
    let key = |run: &Recording| (run.run.id, run.run.started_ms, run.run.name.clone());
    let all: Vec<_> = from.iter().chain(to).map(key).collect();
    if let Some((run, _, name)) =
        (1..all.len()).find(|at| all[..*at].contains(&all[*at])).map(|at| &all[at])
    {
        return Err(Failure::usage(format!(
            "run {run} of {name} is named twice; compare different runs"
        )));
    }
    let which = match &arguments.response {
        Some(name) => Responses::Named(name),
        None if arguments.all => Responses::All,
        None => Responses::Primary,
    };
    let compared = compare_sides(from, to, which).map_err(Failure::usage)?;
    let gate = if arguments.fail_if.is_empty() {
        None
    } else {
        Some(judge_sides(from, to, which, &arguments.fail_if).map_err(Failure::usage)?)
    };
    let json = || report::json::runs(&compared, gate.as_ref());
    output::show(arguments.form, json, || report::runs(&compared, gate.as_ref()))?;
    // The reason is for people, who read the log of what read the JSON.
    if let Some(gate) = gate.as_ref().filter(|_| arguments.form.json) {
        output::complain(report::gate(gate).as_str());
    }
    gate.map_or(Ok(ExitCode::Ok), |gate| exit_code(&gate, arguments.fail_if_unsure))
}

/// A gate that cannot judge must not look like one that was passed.
fn exit_code(gate: &Gate, fail_if_unsure: bool) -> Result<ExitCode, Failure> {
    match gate.decision {
        Decision::Broken => Ok(ExitCode::Failed),
        _ if gate.not_judged().next().is_some() => {
            let limits: Vec<String> = gate.not_judged().map(|it| it.limit.to_string()).collect();
            let limits = limits.join(", ");
            Err(Failure::usage(format!(
                "no configuration can be judged by {limits}: that takes two blocks in each run, \
                 or two runs a side, and values above 0"
            )))
        }
        Decision::Unsure if fail_if_unsure => Ok(ExitCode::Failed),
        Decision::Unsure | Decision::Kept => Ok(ExitCode::Ok),
    }
}

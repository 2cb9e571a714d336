//! `steelbench compare`: two configurations of a run, or two runs: how they differ, and whether that is within limits.

use super::select::find;
use super::waits;
use crate::args::Compare;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use analysis::Side;
use analysis::runs::{Decision, Gate, Responses, compare_runs, judge};
use observations::{ActivityRecord, Recording};
use store::Store;

/// Compares two runs, or two configurations of one.
pub fn compare(arguments: &Compare) -> Result<ExitCode, Failure> {
    let run = |text| RunName::of(text, arguments.name.as_deref());
    let (a, b) = (&arguments.a, &arguments.b);
    match (run(a), run(b)) {
        (Some(_), Some(_)) if arguments.run.is_some() => {
            Err(Failure::usage(format!("--run is for configurations; name a run as `{a}@1`")))
        }
        (Some(from), Some(to)) => match (from.observation()?, to.observation()?) {
            (Some(_), Some(_)) if arguments.is_for_runs() => Err(Failure::usage(
                "--response, --all and --fail-if are for runs; of observations every wait is shown",
            )),
            (Some(from), Some(to)) => waits::compare(&from, &to, arguments.form),
            _ => runs(arguments, &from, &to),
        },
        (None, None) if arguments.is_for_runs() => Err(Failure::usage(
            "--response, --all and --fail-if are for two runs; of two configurations every response is shown",
        )),
        (None, None) => configurations(arguments),
        (Some(_), None) => Err(Failure::usage(format!("{a} is a run and {b} is none"))),
        (None, Some(_)) => Err(Failure::usage(format!("{b} is a run and {a} is none"))),
    }
}

fn configurations(arguments: &Compare) -> Result<ExitCode, Failure> {
    let store = results::open(arguments.name.as_deref())?;
    let recording = results::read_run(&store, arguments.run)?;
    let side = |text: &str| -> Result<Side<'_>, Failure> {
        Ok(Side { recording: &recording, configuration: find(&recording, text)? })
    };
    let (a, b) = (side(&arguments.a)?, side(&arguments.b)?);
    let compared = analysis::compare(a, b)
        .ok_or_else(|| Failure::failed("neither configuration has a trial that was measured to the end"))?;
    let label = |side: Side<'_>| recording.configurations[side.configuration].label.clone();
    let (from, to) = (label(a), label(b));
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
    /// `default` is the file of `@3`. A text that is not the name of a file, but can be nothing else, is
    /// taken for one, so that the complaint is about that.
    fn of(text: &'a str, default: Option<&'a str>) -> Option<Self> {
        let exists = |name: &str| results::find(Some(name)).is_ok();
        if exists(text) {
            return Some(Self { file: Some(text), number: "latest" });
        }
        let is_number =
            |number: &str| ["latest", "previous"].contains(&number) || number.parse::<i64>().is_ok();
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
        let before_latest = || store.activities().map(|numbers| numbers.iter().rev().nth(1).copied());
        let number = if self.number == "previous" { before_latest()? } else { self.number.parse().ok() };
        results::only_activity(&store, number)
    }

    fn read(&self) -> Result<Recording, Failure> {
        let store = results::open(self.file)?;
        let run = if self.number == "previous" { Some(previous(&store)?) } else { self.number.parse().ok() };
        results::read_run(&store, run)
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

/// Compares two runs; the exit code says whether the limits are kept.
fn runs(arguments: &Compare, a: &RunName, b: &RunName) -> Result<ExitCode, Failure> {
    let (from, to) = (a.read()?, b.read()?);
    // Times tell runs of different files apart, which may have the same number.
    if (from.run.id, from.run.started_ms, &from.run.name) == (to.run.id, to.run.started_ms, &to.run.name) {
        let (name, run) = (&from.run.name, from.run.id);
        return Err(Failure::usage(format!("both are run {run} of {name}; compare two runs")));
    }
    let which = match &arguments.response {
        Some(name) => Responses::Named(name),
        None if arguments.all => Responses::All,
        None => Responses::Primary,
    };
    let compared = compare_runs(&from, &to, which).map_err(Failure::usage)?;
    let gate = if arguments.fail_if.is_empty() {
        None
    } else {
        Some(judge(&from, &to, which, &arguments.fail_if).map_err(Failure::usage)?)
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
                "no configuration can be judged by {limits}: that takes two blocks in each run, and values above 0"
            )))
        }
        Decision::Unsure if fail_if_unsure => Ok(ExitCode::Failed),
        Decision::Unsure | Decision::Kept => Ok(ExitCode::Ok),
    }
}

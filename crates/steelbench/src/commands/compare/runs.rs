//! Two runs: which ones, how they differ, and whether that is within limits.

use crate::args::Compare;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use analysis::runs::{Decision, Gate, Responses, compare_runs, judge};
use observations::Recording;
use store::Store;

/// A run as it is named on the command line.
pub struct RunName<'a> {
    /// Name of an experiment, or path of a results file.
    file: Option<&'a str>,
    number: Number,
}

#[derive(Clone, Copy)]
enum Number {
    Latest,
    Previous,
    Is(i64),
}

impl<'a> RunName<'a> {
    /// The run that a text names: `None` when it names none and may be a configuration.
    ///
    /// `default` is the file of `@3`. A text that is not the name of a file, but can be nothing else, is
    /// taken for one, so that the complaint is about that.
    pub fn of(text: &'a str, default: Option<&'a str>) -> Option<Self> {
        let exists = |name: &str| results::find(Some(name)).is_ok();
        if exists(text) {
            return Some(Self { file: Some(text), number: Number::Latest });
        }
        let numbered = text.rsplit_once('@').and_then(|(file, number)| Some((file, Number::of(number)?)));
        match numbered {
            Some(("", number)) => Some(Self { file: default, number }),
            Some((file, number)) if exists(file) || !text.contains('=') => {
                Some(Self { file: Some(file), number })
            }
            _ if text.contains('=') => None,
            _ => store::is_results_file(text.as_ref())
                .then_some(Self { file: Some(text), number: Number::Latest }),
        }
    }

    fn read(&self) -> Result<Recording, Failure> {
        let store = results::open(self.file)?;
        match self.number {
            Number::Latest => results::read_run(&store, None),
            Number::Is(run) => results::read_run(&store, Some(run)),
            Number::Previous => results::read_run(&store, Some(previous(&store)?)),
        }
    }
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        match text {
            "latest" => Some(Self::Latest),
            "previous" => Some(Self::Previous),
            number => number.parse().ok().map(Self::Is),
        }
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
pub fn compare(arguments: &Compare, a: &RunName, b: &RunName) -> Result<ExitCode, Failure> {
    let (from, to) = (a.read()?, b.read()?);
    // Times tell runs of different files apart, which may have the same number.
    if (from.run.id, from.run.started_ms, &from.run.name) == (to.run.id, to.run.started_ms, &to.run.name) {
        let (name, run) = (&from.run.name, from.run.id);
        return Err(Failure::usage(format!("both are run {run} of {name}; compare two runs")));
    }
    let options = &arguments.runs;
    let which = match &options.response {
        Some(name) => Responses::Named(name),
        None if options.all => Responses::All,
        None => Responses::Primary,
    };
    let compared = compare_runs(&from, &to, which).map_err(Failure::usage)?;
    let gate = if options.fail_if.is_empty() {
        None
    } else {
        Some(judge(&from, &to, which, &options.fail_if).map_err(Failure::usage)?)
    };
    let json = || report::json::runs(&compared, gate.as_ref());
    output::show(arguments.form, json, || report::runs(&compared, gate.as_ref()))?;
    // The reason is for people, who read the log of what read the JSON.
    if let Some(gate) = gate.as_ref().filter(|_| arguments.form.json) {
        output::complain(report::gate(gate).as_str());
    }
    gate.map_or(Ok(ExitCode::Ok), |gate| exit_code(&gate, options.fail_if_unsure))
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

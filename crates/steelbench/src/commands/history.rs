//! `steelbench history`

use crate::args::History;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use analysis::runs::Responses;
use observations::Recording;
use store::Store;

/// Shows how the runs of an experiment changed over time.
pub fn history(arguments: &History) -> Result<ExitCode, Failure> {
    let runs = read(arguments)?;
    let which = arguments.response.as_deref().map_or(Responses::Primary, Responses::Named);
    let history = analysis::history(&runs, which).map_err(Failure::usage)?;
    output::show(arguments.form, || report::json::history(&history), || report::history(&history))?;
    Ok(ExitCode::Ok)
}

/// The runs of one experiment in all files, oldest first: the experiment of the latest run.
fn read(arguments: &History) -> Result<Vec<Recording>, Failure> {
    let stores = if arguments.names.is_empty() {
        vec![results::open(None)?]
    } else {
        arguments.names.iter().map(|name| results::open(Some(name))).collect::<Result<Vec<Store>, _>>()?
    };
    let mut runs = Vec::new();
    for (at, store) in stores.iter().enumerate() {
        runs.extend(store.runs()?.into_iter().map(|run| (at, run)));
    }
    runs.sort_by_key(|(_, run)| run.started_ms);
    let Some(name) = runs.last().map(|(_, run)| run.name.clone()) else {
        return Err(Failure::usage(format!("{}: no run was recorded yet", stores[0].path().display())));
    };
    runs.retain(|(_, run)| run.name == name);
    let skipped = arguments.last.map_or(0, |last| runs.len().saturating_sub(last as usize));
    let wanted = runs.into_iter().skip(skipped);
    wanted.map(|(at, run)| Ok(figures_only(stores[at].read(run.id)?))).collect()
}

/// Keeps of each trial what a history shows, so that hundreds of runs fit into memory.
fn figures_only(mut run: Recording) -> Recording {
    for trial in &mut run.trials {
        trial.hooks = Vec::new();
        if let Some(observations) = &mut trial.observations {
            observations.series = Vec::new();
            observations.latencies = Vec::new();
            observations.waits = Vec::new();
            observations.operations = Vec::new();
        }
    }
    run
}

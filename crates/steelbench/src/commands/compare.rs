//! `steelbench compare`

mod runs;

use crate::args::Compare;
use crate::commands::show::has_level;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use analysis::Side;
use observations::Recording;
use runs::RunName;

/// Compares two runs, or two configurations of one.
pub fn compare(arguments: &Compare) -> Result<ExitCode, Failure> {
    let run = |text| RunName::of(text, arguments.name.as_deref());
    let (a, b) = (&arguments.a, &arguments.b);
    match (run(a), run(b)) {
        (Some(_), Some(_)) if arguments.run.is_some() => {
            Err(Failure::usage(format!("--run is for configurations; name a run as `{a}@1`")))
        }
        (Some(from), Some(to)) => runs::compare(arguments, &from, &to),
        (None, None) if arguments.runs.any() => Err(Failure::usage(
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
    output::show(
        arguments.form,
        || report::json::head_to_head(&compared, &from, &to),
        || report::head_to_head(&compared, &from, &to),
    )?;
    Ok(ExitCode::Ok)
}

/// Splits `data_files=1,log=wal, synced` at the commas that a level follows: labels may have commas.
fn levels(text: &str) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    for part in text.split(',') {
        match levels.last_mut() {
            Some(last) if !part.contains('=') => {
                last.push(',');
                last.push_str(part);
            }
            _ => levels.push(part.to_owned()),
        }
    }
    levels.iter().map(|level| level.trim().to_owned()).collect()
}

/// The one configuration that has these levels.
pub fn find(recording: &Recording, text: &str) -> Result<usize, Failure> {
    let levels = levels(text);
    let matching = recording.configurations.iter().enumerate().filter(|(_, configuration)| {
        configuration.label == text || levels.iter().all(|level| has_level(configuration, level))
    });
    let found: Vec<usize> = matching.map(|(position, _)| position).collect();
    let labels = |positions: &mut dyn Iterator<Item = usize>| {
        positions.map(|it| recording.configurations[it].label.clone()).collect::<Vec<_>>().join("\n  ")
    };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let all = labels(&mut (0..recording.configurations.len()));
            Err(Failure::usage(format!("no configuration is {text}; there are:\n  {all}")))
        }
        several => {
            let some = labels(&mut several.iter().copied());
            Err(Failure::usage(format!("several configurations are {text}; name one of:\n  {some}")))
        }
    }
}

//! The list of runs: an entry for each, which is kept until its file changes.

use super::library::{File, Read, read_run};
use super::page::{Refusal, run_address};
use command_line::{Context, results};
use observations::{RunRecord, TrialStatus};
use report::web::text;
use std::collections::HashMap;
use store::Store;

/// List entries of each file's runs, by its name.
pub type Lines = HashMap<String, Entry>;

/// List entry of a file.
#[derive(Debug)]
pub struct Entry {
    /// Version of the file that was read.
    version: String,
    pub lines: Result<Vec<(Key, String)>, Refusal>,
}

/// Key of a run's row: start, number, recorded trials, whether it is the latest of its file, and
/// whether it is in progress.
pub type Key = (i64, i64, usize, bool, bool);

/// The runs of a file. It is opened only if it has changed, and then once; only runs that have
/// changed are read.
pub fn listed(context: &Context, file: &File, known: Option<Entry>) -> Entry {
    // Taken before the file is read: a write during the read makes another version.
    let version = file.version();
    match known {
        Some(known) if known.version == version => known,
        known => {
            let known = known.and_then(|known| known.lines.ok()).unwrap_or_default();
            Entry { version, lines: lines(context, file, known) }
        }
    }
}

fn lines(
    context: &Context,
    file: &File,
    known: Vec<(Key, String)>,
) -> Result<Vec<(Key, String)>, Refusal> {
    let claimed = store::is_claimed(&file.path);
    let store = results::open_file(context, &file.path)?;
    let runs = store.runs()?;
    let latest = runs.iter().map(|run| run.id).max().unwrap_or_default();
    let mut known: HashMap<Key, String> = known.into_iter().collect();
    runs.iter()
        .map(|run| {
            let key = (
                run.started_ms,
                run.id,
                store.recorded_trials(run.id)?.len(),
                run.id == latest,
                claimed,
            );
            Ok((
                key,
                known.remove(&key).map_or_else(|| row(context, file, &store, run, latest), Ok)?,
            ))
        })
        .collect()
}

/// A row of the list.
fn row(
    context: &Context,
    file: &File,
    store: &Store,
    run: &RunRecord,
    latest: i64,
) -> Result<String, Refusal> {
    let Read { recording, progress: notes } =
        read_run(context, file, store, run.id, latest, Store::read_figures)?;
    // Without the disk runs of other files: the verdict does not depend on them.
    let summary = results::summary_alone(context, &recording);
    let headline = summary.headline();
    let question =
        run.question.as_deref().map(|question| format!("<br><small>{}</small>", text(question)));
    let done = recording.trials.iter().filter(|trial| trial.status == TrialStatus::Done).count();
    let failed = recording.trials.len() - done;
    let name = text(&format!("{}@{}", file.name, run.id));
    let pick = |side: &str, field: &str| {
        format!(
            "<td><input type=\"radio\" name=\"{field}\" value=\"{name}\" aria-label=\"{side}: \
             {name}\" required></td>"
        )
    };
    let origin = report::origin(run.label.as_deref(), run.git.as_ref());
    // A file may have been renamed, or hold runs of several experiments.
    let of_file = if file.name == run.name { String::new() } else { format!(" in {}", file.name) };
    Ok(format!(
        include_str!("assets/run_row.html"),
        pick_a = pick("A", "from"),
        pick_b = pick("B", "to"),
        link = text(&run_address(&file.name, run.id)),
        experiment = text(&run.name),
        run = run.id,
        file = text(&of_file),
        question = question.unwrap_or_default(),
        verdict = text(&headline.map_or_else(String::new, |finding| finding.text)),
        state = text(&notes),
        started = text(&report::utc(run.started_ms)),
        origin = origin
            .map_or_else(String::new, |origin| format!("<br><small>{}</small>", text(&origin))),
        done = done,
        failed_class = if failed > 0 { " bad" } else { "" },
        failed = failed,
    ))
}

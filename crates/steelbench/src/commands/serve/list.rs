//! The first page: all runs of all files, the newest first, two of which can be picked to compare.

use super::library::{File, Site, read_run};
use super::page::{NO_FIGURES, Page, Query, Refusal, address, live};
use analysis::FindingKind;
use observations::{RunRecord, TrialStatus};
use report::web::{Body, text};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::PoisonError;
use store::Store;

/// What the list says of the runs of each file, by its name.
pub type Lines = HashMap<String, Listed>;

/// What the list says of a file.
#[derive(Debug)]
pub struct Listed {
    /// Version of the file that was read.
    version: String,
    lines: Result<Vec<(Key, Line)>, String>,
}

/// What makes a run's line another one: its number, start and recorded trials, whether it is the latest of its file, and
/// whether one is in progress.
type Key = (i64, i64, usize, bool, bool);

/// What the list says of a run.
#[derive(Debug)]
pub struct Line {
    started_ms: i64,
    file: String,
    run: i64,
    experiment: String,
    done: usize,
    failed: usize,
    said: String,
    verdict: String,
}

/// `/`
#[expect(clippy::unnecessary_wraps, reason = "a `Build`, as every page")]
pub fn page(site: &Site, _: &Query) -> Result<Page, Refusal> {
    let files = site.library.files();
    let live = live(&files);
    let mut known = site.lines.lock().unwrap_or_else(PoisonError::into_inner);
    *known = files.iter().map(|file| (file.name.clone(), listed(file, known.remove(&file.name)))).collect();
    let mut lines: Vec<&Line> =
        known.values().flat_map(|file| file.lines.iter().flatten()).map(|(_, line)| line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse((line.started_ms, line.run)));
    let unreadable: Vec<String> = files
        .iter()
        .filter_map(|file| Some((file, known.get(&file.name)?.lines.as_ref().err()?)))
        .map(|(file, said)| format!("<p class=\"bad\">{}: {}</p>\n", text(&file.name), text(said)))
        .collect();
    let listed = if lines.is_empty() {
        format!(
            "<p>There is no run in {} yet; this page will show the first one.</p>\n",
            text(&site.library.to_string())
        )
    } else {
        table(&lines)
    };
    let sections = format!("<section>\n{}{listed}</section>\n", unreadable.concat());
    let body = Body { title: "Runs".into(), contents: String::new(), sections, island: NO_FIGURES.into() };
    Ok(Page { body, tools: String::new(), said: String::new(), live: Some(live) })
}

/// The runs of a file. It is opened only if it has changed, and then once; only runs that have changed are read.
fn listed(file: &File, known: Option<Listed>) -> Listed {
    // Taken before the file is read: what is written meanwhile makes another version.
    let version = file.version();
    match known {
        Some(known) if known.version == version => known,
        known => {
            let known = known.and_then(|known| known.lines.ok()).unwrap_or_default();
            Listed { version, lines: lines(file, known).map_err(|refusal| refusal.said) }
        }
    }
}

fn lines(file: &File, known: Vec<(Key, Line)>) -> Result<Vec<(Key, Line)>, Refusal> {
    let claimed = store::claimed_by(&file.path).is_some();
    let store = Store::open(&file.path)?;
    let runs = store.runs()?;
    let latest = runs.iter().map(|run| run.id).max().unwrap_or_default();
    let mut known: HashMap<Key, Line> = known.into_iter().collect();
    let mut lines = Vec::new();
    for run in &runs {
        let key = (run.id, run.started_ms, store.recorded_trials(run.id)?.len(), run.id == latest, claimed);
        let line = known.remove(&key).map_or_else(|| line(file, &store, run, latest), Ok)?;
        lines.push((key, line));
    }
    Ok(lines)
}

fn line(file: &File, store: &Store, run: &RunRecord, latest: i64) -> Result<Line, Refusal> {
    let read = read_run(file, store, run.id, latest)?;
    // Without the ceilings of other files' disk runs: the verdict does not depend on them.
    let summary = analysis::summarize(&read.recording);
    let verdict = summary.findings().into_iter().find(|finding| finding.kind == FindingKind::Verdict);
    let trials = &read.recording.trials;
    let done = trials.iter().filter(|trial| trial.status == TrialStatus::Done).count();
    Ok(Line {
        started_ms: run.started_ms,
        file: file.name.clone(),
        run: run.id,
        experiment: run.name.clone(),
        done,
        failed: trials.len() - done,
        said: read.said,
        verdict: verdict.map_or_else(String::new, |finding| finding.text),
    })
}

fn table(lines: &[&Line]) -> String {
    let mut out = "<form action=\"/runs\">\n<div class=\"scroll\" tabindex=\"0\"><table id=\"runs\">\n<thead><tr>\
         <th scope=\"col\">A</th><th scope=\"col\">B</th><th scope=\"col\">run</th><th scope=\"col\">verdict</th>\
         <th scope=\"col\">state</th><th scope=\"col\">started</th><th scope=\"col\" class=\"num\">done</th>\
         <th scope=\"col\" class=\"num\">failed</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for line in lines {
        row(&mut out, line);
    }
    out.push_str(
        "</tbody>\n</table></div>\n<p><button>Compare run A with run B</button> \
         <label><input type=\"checkbox\" name=\"all\" value=\"1\"> on every response</label></p>\n</form>\n",
    );
    out
}

fn row(out: &mut String, line: &Line) {
    let link = address("/run", &[("file", &line.file), ("run", &line.run.to_string())]);
    let name = format!("{}@{}", line.file, line.run);
    let pick = |side: &str, field: &str| {
        format!(
            "<td><input type=\"radio\" name=\"{field}\" value=\"{}\" aria-label=\"{side}: {}\" required></td>",
            text(&name),
            text(&name)
        )
    };
    let failed = if line.failed > 0 { " class=\"num bad\"" } else { " class=\"num\"" };
    // A file may have been renamed, or hold runs of several experiments.
    let file = if line.file == line.experiment { String::new() } else { format!(" in {}", line.file) };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<tr>{}{}<td><a href=\"{}\">{}, run {}</a>{}</td><td class=\"verdict\">{}</td><td>{}</td><td>{}</td>\
         <td class=\"num\">{}</td><td{failed}>{}</td></tr>",
        pick("A", "from"),
        pick("B", "to"),
        text(&link),
        text(&line.experiment),
        line.run,
        text(&file),
        text(&line.verdict),
        text(&line.said),
        text(&report::utc(line.started_ms)),
        line.done,
        line.failed,
    );
}

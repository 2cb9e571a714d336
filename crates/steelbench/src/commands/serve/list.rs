//! The first page: all runs of all files, the newest first, two of which can be picked to compare.

use super::library::File;
use super::page::{NO_FIGURES, Page, Refusal, live};
use super::query::{Query, address};
use super::site::{self, Site};
use crate::results;
use analysis::FindingKind;
use observations::{RunRecord, TrialStatus};
use report::web::{Body, text};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::PoisonError;
use store::Store;

/// What the list says of runs, by file, number, start, recorded trials and whether one is under way.
pub type Lines = HashMap<(String, i64, i64, usize, bool), Line>;

/// What the list says of a run.
#[derive(Debug, Clone)]
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
    let mut seen = Lines::new();
    let mut unreadable = Vec::new();
    for file in &files {
        if let Err(refusal) = lines(file, &known, &mut seen) {
            unreadable.push(format!("<p class=\"bad\">{}: {}</p>\n", text(&file.name), text(&refusal.said)));
        }
    }
    let mut lines: Vec<Line> = seen.values().cloned().collect();
    lines.sort_by_key(|line| std::cmp::Reverse((line.started_ms, line.run)));
    *known = seen;
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

/// The runs of a file; those that have not changed are not read again.
fn lines(file: &File, known: &Lines, seen: &mut Lines) -> Result<(), Refusal> {
    let claimed = store::claimed_by(&file.path).is_some();
    let store = Store::open(&file.path)?;
    let mut runs = Vec::new();
    for run in store.runs()? {
        let trials = store.recorded_trials(run.id)?.len();
        runs.push((run, trials));
    }
    // One descriptor of a file at a time.
    drop(store);
    for (run, trials) in runs {
        let key = (file.name.clone(), run.id, run.started_ms, trials, claimed);
        let line = known.get(&key).cloned().map_or_else(|| line(file, &run), Ok)?;
        seen.insert(key, line);
    }
    Ok(())
}

fn line(file: &File, run: &RunRecord) -> Result<Line, Refusal> {
    let read = site::read(file, Some(run.id))?;
    let summary = results::summary(&read.recording, &file.path);
    let verdict = summary.findings().into_iter().find(|finding| finding.kind == FindingKind::Verdict);
    let done = |status: &TrialStatus| *status == TrialStatus::Done;
    let trials = &read.recording.trials;
    let all_done = trials.iter().filter(|trial| done(&trial.status)).count();
    Ok(Line {
        started_ms: run.started_ms,
        file: file.name.clone(),
        run: run.id,
        experiment: run.name.clone(),
        done: all_done,
        failed: trials.len() - all_done,
        said: read.said,
        verdict: verdict.map_or_else(String::new, |finding| finding.text.clone()),
    })
}

fn table(lines: &[Line]) -> String {
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

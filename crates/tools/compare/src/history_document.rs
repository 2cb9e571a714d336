//! Many runs of one experiment over time.

use crate::document::{NOT_SET, changed};
use crate::history::{History, HistoryRun, HistorySeries};
use crate::runs::RunName;
use analysis::Verdict;
use command_line::HistoryPart;
use report::table::NOTHING;
use report::text::label;
use report::{
    Cell, Column, Columns, Document, Section, Tone, better, number, sparkline, text, tone,
};

/// Returns an experiment's results run after run, with changes of level.
pub fn history(history: &History, parts: Vec<HistoryPart>) -> Document {
    let mut sections = vec![introduction(history), overview(history)];
    sections.extend(changes(history));
    sections.extend(runs(history));
    sections.extend(parts.into_iter().filter_map(|part| part.section));
    sections.extend(surroundings(history));
    sections.extend(history.configurations.iter().map(|compared| configuration(history, compared)));
    let name = history.runs.last().map_or("", |run| run.run.name.as_str());
    Document { title: format!("{name}: history").into(), sections }
}

fn introduction(history: &History) -> Section {
    let mut section = Section::default();
    let better = better(history.response.direction);
    let time = |run: Option<&HistoryRun>| {
        run.map_or_else(String::new, |run| text::utc(run.run.started_ms))
    };
    let (name, unit) = (&history.response.name, &history.response.unit);
    let runs = number::plural(history.runs.len(), "run");
    let (first, last) = (time(history.runs.first()), time(history.runs.last()));
    section.note(format!("{runs}, {first} to {last}; {name} ({unit}, {better} is better)"));
    if history.runs.iter().any(|run| run.run.synthetic) {
        section.warn("Some values come from a scripted engine.");
    }
    section
}

fn overview(history: &History) -> Section {
    let mut section = Section::new("Configurations");
    let mut table = Columns::for_rows(&history.configurations);
    table.name("configuration", |row| label(&row.label));
    table.left("over time", |row| sparkline(&means(row)));
    table.left("first", |row| row.points.iter().flatten().next()).optional(1);
    table.left("latest", |row| row.points.iter().flatten().next_back());
    table.right("changes", |row| match row.changes.last() {
        None => Cell::new("none", Tone::Muted),
        Some(change) => Cell::from(row.changes.len()).toned(tone(change.verdict)),
    });
    section.table(table);
    section.note(
        "Over time: the axis spans the smallest to the largest mean, not zero. ± and [low, \
         high]: 95 % CI.",
    );
    if let Some(few) = &history.too_few {
        section.warn(format!("Runs without enough values have no point: {few}."));
    }
    if !history.gone.is_empty() {
        let gone = history.gone.join("; ");
        section.note(format!("Not shown, because the latest run lacks them: {gone}."));
    }
    section
}

fn changes(history: &History) -> Option<Section> {
    let mut section = Section::new("Changes of level");
    for configuration in &history.configurations {
        for change in &configuration.changes {
            let run = &history.runs[change.run].run;
            let (name, when) = (label(&configuration.label), text::utc(run.started_ms));
            let unit = &history.response.unit;
            let (before, after) =
                (number::quantity(change.before, unit), number::quantity(change.after, unit));
            let figure = number::comparison(&change.comparison, unit);
            let word = if change.verdict == Verdict::Better { "better" } else { "worse" };
            section.toned(
                format!("{name}: {word} since run {} ({when}), {before} -> {after}.", run.run),
                tone(change.verdict),
            );
            let p = number::p_value(change.p_value);
            section.detail(format!(
                "{figure} against earlier runs (above 1x is better); E-divisive, \
                                 {p}"
            ));
        }
    }
    let longest = history
        .configurations
        .iter()
        .map(|configuration| configuration.points.iter().flatten().count())
        .max();
    if section.blocks.is_empty() {
        section.line("None found.");
    }
    if longest.unwrap_or(0) < 8 {
        section.warn("At least 8 runs are needed to detect a change.");
    }
    section.note(
        "Detected by E-divisive on run means, allowing for correlation between consecutive runs; \
         at most 5 % of unchanged configurations are reported. The intervals take the position \
         of the change as known.",
    );
    (!history.configurations.is_empty()).then_some(section)
}

/// Labels and commits of the runs; `None` without any.
fn runs(history: &History) -> Option<Section> {
    let mut section = Section::new("Labels and commits");
    let rows = history.runs.iter().map(|run| &run.run);
    let rows: Vec<&RunName> = rows.filter(|run| run.label.is_some() || run.git.is_some()).collect();
    let is_empty = rows.is_empty();
    let mut table = Columns::for_rows(rows);
    table.right("run", |run| run.run);
    table.left("started", |run| text::utc(run.started_ms)).optional(1);
    table.name("label", |run| run.label.as_deref());
    table.left("commit", |run| text::origin(None, run.git.as_ref()));
    section.table(table);
    (!is_empty).then_some(section)
}

/// Changes in environment and settings, run by run; `None` without any.
fn surroundings(history: &History) -> Option<Section> {
    let mut section = Section::new("What changed between runs");
    let rows = history.runs.iter().flat_map(|run| {
        let environment = run.environment.iter().map(move |change| (run.run.run, change, NOTHING));
        let settings =
            run.settings.iter().map(move |setting| (run.run.run, &setting.change, NOT_SET));
        environment.chain(settings)
    });
    let mut table = Columns::for_rows(rows.clone());
    table.right("run", |(run, ..)| *run);
    table.name("environment or setting", |(_, change, _)| &change.what);
    table.name("before", |(_, change, absent)| changed(change, change.from.as_ref(), absent));
    table.name("since", |(_, change, absent)| changed(change, change.to.as_ref(), absent));
    section.table(table);
    (rows.count() > 0).then_some(section)
}

fn configuration(history: &History, history_series: &HistorySeries) -> Section {
    let mut section = Section::new(label(&history_series.label));
    let rows = history.runs.iter().zip(&history_series.points).enumerate();
    let mut table = Columns::for_rows(rows);
    table.right("run", |(_, (run, _))| run.run.run);
    table.left("started", |(_, (run, _))| text::utc(run.run.started_ms));
    table.right("n", |(_, (_, point))| point.as_ref().map_or(0, |point| point.n));
    table.left(&history.response.name, |(_, (_, point))| point.as_ref());
    table.with(Column::left("level"), |(at, _)| {
        match history_series
            .changes
            .iter()
            .find(|change| change.run == *at)
            .map(|change| change.verdict)
        {
            Some(Verdict::Better) => Cell::new("better from here", Tone::Good),
            Some(_) => Cell::new("worse from here", Tone::Bad),
            None => "".into(),
        }
    });
    table
        .left("environment and settings", |(_, (run, _))| {
            match run.environment.len() + run.settings.len() {
                0 => String::new(),
                changes => number::plural(changes, "difference"),
            }
        })
        .optional(1);
    section.table(table);
    section
}

fn means(history_series: &HistorySeries) -> Vec<Option<f64>> {
    history_series.points.iter().map(|point| point.as_ref().map(|point| point.mean)).collect()
}

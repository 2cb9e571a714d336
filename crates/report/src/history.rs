//! Many runs of one experiment over time.

use crate::model::{Cell, Column, Document, Section, Table, Tone};
use crate::names::label;
use crate::{number, runs, time};
use analysis::Estimate;
use analysis::runs::{Change, History, HistoryRun, HistorySeries, Verdict};
use observations::Direction;

/// Columns of a sparkline; longer series are drawn in means of neighbours.
const SPARKS: usize = 32;
/// Blocks that fill one to eight eighths of a line from below.
const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Where runs have no value.
const MISSING: char = '·';

/// What an experiment measured, run after run, and where it changed.
pub fn history(history: &History) -> Document {
    let mut sections = vec![introduction(history), overview(history)];
    sections.extend(changes(history));
    sections.extend(surroundings(history));
    sections.extend(history.configurations.iter().map(|own| configuration(history, own)));
    let name = history.runs.last().map_or("", |run| run.run.name.as_str());
    Document { title: format!("{name}: history").into(), sections }
}

fn introduction(history: &History) -> Section {
    let mut section = Section::default();
    let better = match history.response.direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
    };
    let time = |run: Option<&HistoryRun>| run.map_or_else(String::new, |run| time::utc(run.run.started_ms));
    let (name, unit) = (&history.response.name, &history.response.unit);
    let runs = number::plural(history.runs.len(), "run");
    let (first, last) = (time(history.runs.first()), time(history.runs.last()));
    section.toned(format!("{runs}, {first} to {last}; {name} ({unit}, {better} is better)"), Tone::Muted);
    if history.runs.iter().any(|run| run.run.synthetic) {
        section.toned("Figures of a scripted engine are among them.", Tone::Warning);
    }
    section
}

fn overview(history: &History) -> Section {
    let mut section = Section::new("Configurations");
    let row = |own: &HistorySeries| {
        let estimate =
            |it: Option<&Estimate>| Cell::plain(it.map_or_else(|| "-".to_owned(), number::estimate));
        let change = own.changes.last();
        let changed = match own.changes.len() {
            0 => Cell::new("none", Tone::Muted),
            n => Cell::new(n.to_string(), change.map_or(Tone::Plain, |it| tone(it.verdict))),
        };
        vec![
            Cell::plain(label(&own.label)),
            Cell::plain(sparkline(&own.points)),
            estimate(own.points.iter().flatten().next()),
            estimate(own.points.iter().flatten().next_back()),
            changed,
        ]
    };
    section.table(Table {
        columns: vec![
            Column::name("configuration"),
            Column::left("over time"),
            Column::left("first").optional(1),
            Column::left("latest"),
            Column::right("changes"),
        ],
        rows: history.configurations.iter().map(row).collect(),
        fixed: false,
    });
    section.toned(
        "Over time: from the smallest mean of a run to the largest, not from zero. ± and [low, high]: 95 % intervals.",
        Tone::Muted,
    );
    if !history.gone.is_empty() {
        let gone = history.gone.join("; ");
        section.toned(format!("Not in the latest run, and not shown: {gone}."), Tone::Muted);
    }
    section
}

fn changes(history: &History) -> Option<Section> {
    let mut section = Section::new("Changes of level");
    for own in &history.configurations {
        for change in &own.changes {
            let run = &history.runs[change.run].run;
            let (name, when) = (label(&own.label), time::utc(run.started_ms));
            let unit = &history.response.unit;
            let (before, after) =
                (number::quantity(change.before, unit), number::quantity(change.after, unit));
            let figure = number::comparison(&change.comparison, unit);
            let word = if change.verdict == Verdict::Better { "better" } else { "worse" };
            section.toned(
                format!("{name}: {word} from run {} ({when}) on, {before} -> {after}.", run.run),
                tone(change.verdict),
            );
            let p = change.p_value;
            section.detail(format!("{figure} as good as before; E-divisive, p = {p:.3}"));
        }
    }
    let longest = history.configurations.iter().map(|own| own.points.iter().flatten().count()).max();
    if section.blocks.is_empty() {
        section.line("None is found.");
    }
    if longest.unwrap_or(0) < 8 {
        section.toned("With fewer than 8 runs no change can be told from chance.", Tone::Warning);
    }
    section.toned(
        "Found by E-divisive over the means of runs: of configurations that never change, 5 % are said to. \
         An interval takes the place of the change as known.",
        Tone::Muted,
    );
    Some(section).filter(|_| !history.configurations.is_empty())
}

/// What changed in environment and settings, run by run; `None` when nothing did.
fn surroundings(history: &History) -> Option<Section> {
    let mut section = Section::new("What changed between runs");
    let rows = history.runs.iter().flat_map(|run| {
        let row = |change: &Change, absent: &str| {
            let mut row = vec![Cell::plain(run.run.run.to_string())];
            row.extend(runs::change_row(change, absent));
            row
        };
        let environment = run.environment.iter().map(|change| row(change, "-")).collect::<Vec<_>>();
        environment.into_iter().chain(run.settings.iter().map(move |it| row(&it.change, "not set")))
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let changed = !rows.is_empty();
    section.table(Table {
        columns: vec![
            Column::right("run"),
            Column::name("environment or setting"),
            Column::name("before"),
            Column::name("since"),
        ],
        rows,
        fixed: false,
    });
    changed.then_some(section)
}

fn configuration(history: &History, own: &HistorySeries) -> Section {
    let mut section = Section::new(label(&own.label));
    let rows = history.runs.iter().zip(&own.points).enumerate().map(|(at, (run, point))| {
        let change = own.changes.iter().find(|change| change.run == at);
        let (word, tone) = match change.map(|it| it.verdict) {
            Some(Verdict::Better) => ("better from here", Tone::Good),
            Some(_) => ("worse from here", Tone::Bad),
            None => ("", Tone::Plain),
        };
        let around = run.environment.len() + run.settings.len();
        let around = if around == 0 { String::new() } else { number::plural(around, "difference") };
        vec![
            Cell::plain(run.run.run.to_string()),
            Cell::plain(time::utc(run.run.started_ms)),
            Cell::plain(point.as_ref().map_or(0, |it| it.n).to_string()),
            Cell::plain(point.as_ref().map_or_else(|| "-".to_owned(), number::estimate)),
            Cell::new(word, tone),
            Cell::plain(around),
        ]
    });
    section.table(Table {
        columns: vec![
            Column::right("run"),
            Column::left("started"),
            Column::right("n"),
            Column::left(history.response.name.as_str()),
            Column::left("level"),
            Column::left("environment and settings").optional(1),
        ],
        rows: rows.collect(),
        fixed: false,
    });
    section
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::NotSeen | Verdict::Unknown => Tone::Plain,
    }
}

/// A line of bars between the smallest and the largest mean.
fn sparkline(points: &[Option<Estimate>]) -> String {
    let columns = points.len().min(SPARKS);
    let edge = |column: usize| column * points.len() / columns;
    let means: Vec<Option<f64>> = (0..columns)
        .map(|column| {
            let known: Vec<f64> =
                points[edge(column)..edge(column + 1)].iter().flatten().map(|it| it.mean).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        })
        .collect();
    let known = || means.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    // What differs by rounding only is drawn as equal.
    let range = if high - low > high.abs().max(low.abs()) * 1e-9 { high - low } else { f64::INFINITY };
    let spark = |mean: f64| EIGHTHS[(7.0 * (mean - low) / range).round() as usize];
    means.iter().map(|mean| mean.map_or(MISSING, spark)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(means: &[Option<f64>]) -> String {
        let point = |mean: f64| Estimate::of(&[mean], "s", Direction::LowerIsBetter);
        sparkline(&means.iter().map(|mean| mean.and_then(point)).collect::<Vec<_>>())
    }

    #[test]
    fn sparklines_go_from_the_smallest_to_the_largest() {
        assert_eq!(line(&[Some(1.0), Some(1.5), None, Some(2.0)]), "▁▅·█");
        assert_eq!(line(&[Some(3.0), Some(3.0)]), "▁▁");
        assert_eq!(line(&[]), "");
        let many: Vec<Option<f64>> = (0..320).map(|i| Some(f64::from(i / 160))).collect();
        assert_eq!(line(&many), format!("{}{}", "▁".repeat(16), "█".repeat(16)));
    }
}

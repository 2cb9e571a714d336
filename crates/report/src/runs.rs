//! Two runs against each other.

use crate::model::{Cell, Column, Document, Section, Table, Tone};
use crate::names::label;
use crate::{number, runs_gate, time};
use analysis::runs::Gate;
use analysis::runs::{
    Change, ConfigurationCompared, FactorChange, MatchedBy, ResponseCompared, RunName, RunsCompared, Verdict,
};
use analysis::{Comparison, Estimate, Scale};
use observations::Direction;

/// What is printed where there is nothing to print.
const NOTHING: &str = "-";

/// Two runs: how each configuration changed, and what else did.
pub fn runs(compared: &RunsCompared, gate: Option<&Gate>) -> Document {
    let mut sections = vec![introduction(compared, gate)];
    sections.extend(compared.responses.iter().map(response));
    sections.push(surroundings(compared));
    sections.extend(unmatched(compared));
    Document { title: format!("A: {}; B: {}", name(&compared.from), name(&compared.to)).into(), sections }
}

/// `random-insert, run 3`.
pub(crate) fn name(run: &RunName) -> String {
    format!("{}, run {}", run.name, run.run)
}

fn introduction(compared: &RunsCompared, gate: Option<&Gate>) -> Section {
    let mut section = Section::default();
    for (side, run) in [("A", &compared.from), ("B", &compared.to)] {
        let synthetic = if run.synthetic { ", of a scripted engine" } else { "" };
        let (started, version) = (time::utc(run.started_ms), &run.steelbench);
        section.toned(format!("{side}: {started}, Steelbench {version}{synthetic}"), Tone::Muted);
    }
    if let Some(gate) = gate {
        section.toned(runs_gate::line(gate), runs_gate::tone(gate.decision));
    }
    for response in &compared.responses {
        let (text, tone) = verdict(response);
        section.toned(text, tone);
    }
    section
}

/// `On elapsed, B is 1.10x [1.08, 1.12] as good as A over 4 configurations: better at 95 %.`
fn verdict(compared: &ResponseCompared) -> (String, Tone) {
    let name = &compared.response.name;
    let of = |verdict: Verdict| compared.configurations.iter().filter(|it| it.verdict == verdict).count();
    let counts = [
        (of(Verdict::Better), "better"),
        (of(Verdict::Worse), "worse"),
        (of(Verdict::NotSeen), "without a difference that can be seen"),
        (of(Verdict::Unknown), "that cannot be compared"),
    ];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let n = compared.configurations.len();
    let single = compared.configurations.first().filter(|_| n == 1).and_then(|it| it.comparison.as_ref());
    let over = if n == 1 { String::new() } else { " over all configurations (geometric mean)".to_owned() };
    match single.or(compared.overall.as_ref()) {
        Some(comparison) => {
            let figure = number::comparison(comparison, &compared.response.unit);
            let relation = match comparison.scale {
                Scale::Ratio => "as good as A (above 1 is better)",
                Scale::Difference => "better than A (below 0 is worse)",
            };
            let (word, tone) = supported(comparison);
            let counts = if n == 1 { String::new() } else { format!(" Of {n} configurations: {counts}.") };
            (format!("On {name}, B is {figure} {relation}{over}: {word}.{counts}"), tone)
        }
        None => (format!("On {name}, of {}: {counts}.", number::plural(n, "configuration")), Tone::Plain),
    }
}

fn supported(comparison: &Comparison) -> (&'static str, Tone) {
    match (comparison.p_value, comparison.supported()) {
        (_, true) if comparison.is_better() => ("better at 95 %", Tone::Good),
        (_, true) => ("worse at 95 %", Tone::Bad),
        (Some(_), false) => ("no difference that can be seen", Tone::Plain),
        (None, _) => ("too few blocks to tell", Tone::Warning),
    }
}

fn response(compared: &ResponseCompared) -> Section {
    let response = &compared.response;
    let better = match response.direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
    };
    let mut section = Section::new(format!("{} ({}, {better} is better)", response.name, response.unit));
    section.table(Table {
        columns: vec![
            Column::name("configuration"),
            Column::left("A"),
            Column::left("B"),
            Column::left("B vs A"),
            Column::left("verdict"),
            Column::right("n").optional(1),
            Column::right("could see").optional(2),
        ],
        rows: compared.configurations.iter().map(|own| row(own, &response.unit)).collect(),
        fixed: false,
    });
    section.toned(
        "B vs A: how many times as good, above 1 is better. Better and worse: supported at 95 % over all configurations (Holm). \
         Could see: the smallest difference found with a probability of 80 %. ± and [low, high]: 95 % intervals, of the spread within \
         a run: what makes a run as a whole differ from the next is not in them.",
        Tone::Muted,
    );
    section
}

fn row(own: &ConfigurationCompared, unit: &str) -> Vec<Cell> {
    let estimate =
        |it: Option<&Estimate>| Cell::plain(it.map_or_else(|| NOTHING.to_owned(), number::estimate));
    let n = |it: Option<&Estimate>| it.map_or(0, |it| it.n);
    let (word, tone) = match own.verdict {
        Verdict::Better => ("better", Tone::Good),
        Verdict::Worse => ("worse", Tone::Bad),
        Verdict::NotSeen => ("no difference seen", Tone::Plain),
        Verdict::Unknown => ("cannot be told", Tone::Warning),
    };
    let figure = own.comparison.as_ref().map(|it| number::comparison(it, unit));
    let both = format!("{}, {}", n(own.from.as_ref()), n(own.to.as_ref()));
    let detectable = own.detectable.map(|it| number::percent(it, usize::from(it < 0.0995)));
    vec![
        Cell::plain(labels(own)),
        estimate(own.from.as_ref()),
        estimate(own.to.as_ref()),
        Cell::new(figure.unwrap_or_else(|| NOTHING.to_owned()), tone),
        Cell::new(word, tone),
        Cell::plain(both),
        Cell::plain(detectable.unwrap_or_else(|| NOTHING.to_owned())),
    ]
}

/// The label, or both where they differ; a star where only the levels are the same.
fn labels(own: &ConfigurationCompared) -> String {
    let (from, to) = (label(&own.from_label), label(&own.to_label));
    let name = if from == to { from.to_owned() } else { format!("{from} / {to}") };
    if own.matched_by == MatchedBy::Levels { format!("{name} *") } else { name }
}

fn surroundings(compared: &RunsCompared) -> Section {
    let mut section = Section::new("What changed in environment and settings");
    if compared.environment.is_empty() {
        section.line("Environment: nothing that is recorded.");
    } else {
        let rows = compared.environment.iter().map(|change| change_row(change, NOTHING));
        section.table(change_table("environment", None, rows.collect()));
    }
    if compared.settings.is_empty() {
        section.line("Settings of the configurations compared: the same.");
    } else {
        let rows = compared.settings.iter().map(|setting| {
            let all = setting.configurations.is_empty();
            let labels = || setting.configurations.iter().map(|it| label(it)).collect::<Vec<_>>().join(", ");
            let mut row = change_row(&setting.change, "not set");
            row.push(Cell::plain(if all { "all".to_owned() } else { labels() }));
            row
        });
        section.table(change_table("setting", Some("configurations"), rows.collect()));
        let by_levels = |it: &ConfigurationCompared| it.matched_by == MatchedBy::Levels;
        if compared.responses.iter().flat_map(|it| &it.configurations).any(by_levels) {
            section.toned("*: the same levels, but these settings differ.", Tone::Warning);
        }
    }
    compared.factors.iter().for_each(|factor| section.line(factor_line(factor)));
    for (side, run) in [("A", &compared.from), ("B", &compared.to)] {
        if run.other_environments > 0 {
            let others = number::plural(run.other_environments, "other environment");
            section.toned(format!("{side} was resumed in {others}."), Tone::Warning);
        }
    }
    section
}

pub(crate) fn change_table(what: &str, more: Option<&str>, rows: Vec<Vec<Cell>>) -> Table {
    let columns = [Column::name(what), Column::name("A"), Column::name("B")];
    Table { columns: columns.into_iter().chain(more.map(Column::name)).collect(), rows, fixed: false }
}

pub(crate) fn change_row(change: &Change, absent: &str) -> Vec<Cell> {
    let value = |value: Option<&String>| match value {
        None => Cell::new(absent, Tone::Muted),
        Some(value) => Cell::plain(readable(&change.what, value)),
    };
    vec![Cell::plain(change.what.as_str()), value(change.from.as_ref()), value(change.to.as_ref())]
}

/// Bytes in units that people read, and long fractions without what rounding left at their end; a short one may
/// be a version.
fn readable(what: &str, value: &str) -> String {
    let rounded = |value: f64| format!("{value:.11e}").parse().map_or(value, |rounded: f64| rounded);
    let bytes = value.parse().ok().filter(|_| what.ends_with("_bytes")).map(number::bytes);
    let fraction = value
        .parse()
        .ok()
        .filter(|_| value.len() > 15 && value.contains('.'))
        .map(|it| rounded(it).to_string());
    bytes.or(fraction).unwrap_or_else(|| value.to_owned())
}

fn factor_line(change: &FactorChange) -> String {
    let name = &change.factor;
    let list = |levels: &[String]| levels.join(", ");
    match (&change.from, &change.to) {
        (None, Some(to)) => format!("Factor {name} is only in B: {}.", list(to)),
        (Some(from), None) => format!("Factor {name} is only in A: {}.", list(from)),
        (from, to) => {
            let levels = |of: &Option<Vec<String>>| of.as_deref().map(list).unwrap_or_default();
            format!("Factor {name} has other levels: {} in A, {} in B.", levels(from), levels(to))
        }
    }
}

fn unmatched(compared: &RunsCompared) -> Option<Section> {
    let mut section = Section::new("Not compared");
    for (side, labels) in [("A", &compared.only_from), ("B", &compared.only_to)] {
        if !labels.is_empty() {
            section.toned(format!("Only in {side}: {}.", labels.join("; ")), Tone::Warning);
        }
    }
    (!section.blocks.is_empty()).then_some(section)
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn recorded_values_are_made_readable() {
        for (what, value, text) in [
            ("target.delay", "0.0021999999999999997", "0.0022"),
            ("memory_bytes", "34359738368", "32.0 GiB"),
            ("engines.postgres.version", "15.10", "15.10"),
            ("engines.sqlite.version", "3.50.4", "3.50.4"),
            ("target.page_size", "4096", "4096"),
            ("target.journal", "\"wal\"", "\"wal\""),
        ] {
            assert_eq!(readable(what, value), text);
        }
    }
}

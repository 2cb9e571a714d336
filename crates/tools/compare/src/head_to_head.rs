//! Two configurations against each other, and what their difference is made of.

use analysis::gate::Gate;
use analysis::{
    Comparison, HeadToHead, Part, ResponseChange, ResponseChoice, WarningsCompared, wording,
};
use report::json::{RUN_SCHEMA, object};
use report::{
    Bar, BarGroup, Chart, ChartKind, Column, Columns, Document, Section, Text, Tone, WorkScale,
    code_changes, number, sentences, waterfall, waterfall_legend,
};
use serde_json::{Value, json};

/// Two configurations head to head: how much they differ, and why.
pub fn document(compared: &HeadToHead, from: &str, to: &str) -> Document {
    let mut sections = vec![verdict(compared, from, to)];
    sections.extend(compared_warnings(&compared.warnings));
    sections.extend(percentages(compared, usize::MAX));
    sections.extend(sentences(&compared.why));
    if let Some(decomposition) = &compared.decomposition {
        let mut drawn = Section::new("From A to B");
        drawn.chart(waterfall(decomposition, "A", "B"));
        drawn.note(waterfall_legend(decomposition));
        sections.push(drawn);
        let scale = WorkScale::for_decomposition(decomposition);
        for (by, of) in
            [("wait type", &decomposition.by_type), ("class of wait", &decomposition.by_class)]
        {
            let heading = format!("Session seconds per {} by {by}", scale.name);
            sections.push(parts(&heading, of, &decomposition.total, &scale));
        }
        sections.extend(code_changes(decomposition, "from A to B", ["A", "B"]));
    }
    Document { title: format!("A: {from}; B: {to}").into(), sections }
}

/// Two configurations for programs, with their labels, and `gate`, which is `null` where no limit
/// was given.
pub fn json(
    compared: &HeadToHead,
    from: &str,
    to: &str,
    gate: Option<&Gate>,
) -> serde_json::Result<Value> {
    object(
        "comparison",
        compared,
        json!({ "schema": RUN_SCHEMA, "from_label": from, "to_label": to, "gate": gate }),
    )
}

/// Responses that a screen has room for.
const RESPONSES: usize = 12;

/// Two configurations on one screen: the verdict, why, and the first responses.
pub fn screen(compared: &HeadToHead, from: &str, to: &str) -> Document {
    let mut sections = vec![verdict(compared, from, to)];
    if let Some(why) = compared.why.first() {
        sections[0].labelled("Why", why.brief(), Tone::Plain);
    }
    for row in &compared.warnings.kinds {
        let trials = number::plural(row.from + row.to, "trial");
        let text = format!("{} ({trials}): {}", row.kind.name(), row.detail);
        sections[0].labelled("Note", text, Tone::Warning);
    }
    sections.extend(percentages(compared, RESPONSES));
    let mut rest = Section::default();
    rest.labelled("More", "--full: every response, and the parts of the difference", Tone::Muted);
    sections.push(rest);
    Document { title: format!("A: {from}; B: {to}").into(), sections }
}

fn verdict(compared: &HeadToHead, from: &str, to: &str) -> Section {
    let mut section = Section::default();
    let response = &compared.response;
    let sides = [("A", from, &compared.from), ("B", to, &compared.to)];
    let mut table = Columns::for_rows(sides);
    table.left("", |(side, ..)| *side);
    table.name("configuration", |(_, name, _)| *name);
    table.right("n", |(.., estimate)| estimate.as_ref().map_or(0, |estimate| estimate.n));
    table.left(&response.name, |(.., estimate)| estimate.as_ref());
    section.table(table);
    compared.too_few.iter().for_each(|few| section.warn(format!("Not compared: {few}.")));
    let Some(comparison) = &compared.comparison else {
        if !compared.too_few.iter().any(|few| few.name == response.name) {
            section.warn("Not comparable: one side has no completed trial.");
        }
        return section;
    };
    let figure = against_first(comparison, response);
    let (tone, verdict) = match comparison.supported() {
        true if comparison.is_better() => (Tone::Good, "significantly better"),
        true => (Tone::Bad, "significantly worse"),
        false => (Tone::Plain, "no significant difference"),
    };
    let p = comparison.p_value.map_or_else(String::new, |p| format!(", {}", number::p_value(p)));
    let blocks = number::plural(comparison.blocks, "block");
    let name = &response.name;
    section.toned(format!("{name}: B is {figure}: {verdict} ({blocks}{p})."), tone);
    if compared.pairs > 1 {
        let pairs = number::plural(compared.pairs, "pair");
        section.note(format!(
            "Averaged over the other factors: {pairs} of configurations in each block."
        ));
    }
    if compared.unmatched > 0 {
        let left_out = number::plural(compared.unmatched, "configuration");
        section.note(format!("Not compared, because the other side lacks a match: {left_out}."));
    }
    section
}

/// The number of trials of each side that carry each warning; `None` without any.
pub fn compared_warnings(compared: &WarningsCompared) -> Option<Section> {
    let mut section = Section::new("Warnings of the trials compared");
    let count = |trials: usize, of: usize| format!("{trials} of {of}");
    let mut table = Columns::for_rows(&compared.kinds);
    table.name("warning", |row| row.kind.name());
    table.with(Column::right("A"), |row| count(row.from, compared.from_trials));
    table.with(Column::right("B"), |row| count(row.to, compared.to_trials));
    table.left("for example", |row| row.detail.as_str()).optional(1);
    section.table(table);
    (!compared.kinds.is_empty()).then_some(section)
}

/// `1.93x [1.88, 1.99] faster than A`; without a direction `1.00x [0.98, 1.02] against A (above 1
/// is better)`.
pub fn against_first(comparison: &Comparison, response: &ResponseChoice) -> String {
    let figure = wording::change(comparison, Some(response));
    let preposition = wording::preposition(&figure);
    let direction = if preposition == "against" { " (above 1 is better)" } else { "" };
    format!("{figure} {preposition} A{direction}")
}

/// The first responses as percentages of A; `None` without any.
fn percentages(compared: &HeadToHead, most: usize) -> Option<Section> {
    let streams = streams(&compared.responses);
    let mut groups: Vec<BarGroup> = Vec::new();
    for change in compared.responses.iter().take(most) {
        let Some(percent) = change.percent else { continue };
        let name = change.response.name.as_str();
        let stream = streams.iter().find(|stream| is_of(name, stream)).copied();
        let label: Text = stream.unwrap_or_default().into();
        let bar = Bar {
            label: stream.map_or(name, |stream| &name[stream.len() + 1..]).into(),
            value: percent.value,
            interval: percent.interval,
            note: Text::default(),
            tone: percentage_tone(change),
        };
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.bars.push(bar),
            None => groups.push(BarGroup { label, bars: vec![bar] }),
        }
    }
    let not_shown: Vec<&str> = compared
        .responses
        .iter()
        .filter(|c| c.percent.is_none())
        .map(|c| c.response.name.as_str())
        .collect();
    let mut section = Section::new("B against A");
    if most == usize::MAX {
        section.note(
            "Positive is better for every response: the sign is reversed where lower is better \
             (latency, time, cost). [ ]: 95 % CI.",
        );
    }
    section.chart(Chart {
        title: "Difference from A (positive is better)".into(),
        unit: "%".into(),
        kind: ChartKind::Diverging,
        groups,
    });
    if !not_shown.is_empty() {
        let names = not_shown.join(", ");
        section.note(format!("Not shown in percent (a value is zero or negative): {names}."));
    }
    (not_shown.len() < compared.responses.len()).then_some(section)
}

/// Names of streams: what goes before `.iops`.
fn streams(responses: &[ResponseChange]) -> Vec<&str> {
    responses.iter().filter_map(|change| change.response.name.strip_suffix(".iops")).collect()
}

fn is_of(name: &str, stream: &str) -> bool {
    name.strip_prefix(stream).is_some_and(|rest| rest.starts_with('.'))
}

/// Better or worse is said only of what is supported.
fn percentage_tone(change: &ResponseChange) -> Tone {
    match &change.comparison {
        Some(comparison) if comparison.supported() && comparison.is_better() => Tone::Good,
        Some(comparison) if comparison.supported() => Tone::Bad,
        _ => Tone::Muted,
    }
}

/// A decomposition as a table whose printed figures add up in every column and subtract in every
/// row.
///
/// For that, figures are moved by less than their last digit; intervals therefore have one digit
/// less.
fn parts(heading: &str, parts: &[Part], total: &Part, scale: &WorkScale) -> Section {
    let mut section = Section::new(heading);
    let largest = parts.iter().flat_map(|p| [p.from_s, p.to_s]).map(f64::abs).fold(0.0, f64::max);
    // A fourth digit, so that small parts are not rounded away.
    let decimals = number::places(largest * scale.units, 4);
    let column = |pick: fn(&Part) -> f64| {
        let values: Vec<f64> = parts.iter().map(|part| pick(part) * scale.units).collect();
        number::parts_that_add_up(&values, decimals)
    };
    let (from, from_total) = column(|part| part.from_s);
    let (to, to_total) = column(|part| part.to_s);
    let sides = from.into_iter().zip(to).chain([(from_total, to_total)]);
    let rows = parts.iter().chain([total]).zip(sides);
    section.table(scale.changes("part", ["A", "B"], rows.collect(), decimals));
    section
}

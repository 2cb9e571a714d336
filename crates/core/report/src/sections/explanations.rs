//! Why two sides differ, drawn: from one to the other, part by part.

use crate::figure::{coordinate, string, strings};
use crate::model::{Bar, BarGroup, Chart, ChartKind, Figure, Section, Tone};
use crate::work_scale::{WorkScale, name, tone};
use crate::{Text, number};
use analysis::{Decomposition, Explanation, Finding, Part, PartKind, Summary};
use observations::order;
use serde_json::{Value, json};

/// Changes that are drawn one by one; the rest is one bar.
const PARTS_MAX: usize = 8;
/// A change is drawn by itself if it is this share of the larger side, or of the whole change.
const VISIBLE: f64 = 0.02;

/// A waterfall for each difference that is explained. Texts show the last one, which is the larger
/// question: the best configuration where there are several factors.
pub(crate) fn sections(_: &Summary, explanations: &[Explanation]) -> Vec<Section> {
    let last = explanations.len().saturating_sub(1);
    explanations
        .iter()
        .enumerate()
        .map(|(position, explanation)| {
            let Explanation { from, to, decomposition, .. } = explanation;
            let heading = format!("Why: from {}", explanation.sides());
            let mut section =
                if position == last { Section::new(heading) } else { Section::page(heading) };
            section.chart(waterfall(decomposition, from, to));
            section.note(waterfall_legend(decomposition));
            section
        })
        .collect()
}

/// How to read a waterfall.
pub fn waterfall_legend(decomposition: &Decomposition) -> String {
    let blocks = number::plural(decomposition.blocks, "block");
    let [from, to] = decomposition.sessions.map(number::whole);
    let sessions =
        if from == to { format!("{from} on both sides") } else { format!("{from} and {to}") };
    format!(
        "Session time = sessions x elapsed; throughput = sessions ({sessions}) / session time \
         per unit of work. The changes add up; %: share of the total change. [ ]: 95 % t \
         intervals, {blocks}. Solid bars are significant (false discovery rate 5 %). Client time \
         is not counted as a cause."
    )
}

/// The explanation in words; `None` if nothing is significant.
pub fn sentences(findings: &[Finding]) -> Option<Section> {
    let mut section = Section::new("Why");
    for finding in findings {
        section.line(finding.text.as_str());
        section.detail(finding.evidence.as_str());
    }
    section.unless_empty()
}

/// Session time of some work on both sides, and between them the changes by wait type, the largest
/// first.
pub fn waterfall(decomposition: &Decomposition, from: &str, to: &str) -> Chart {
    let scale = WorkScale::for_decomposition(decomposition);
    let total = &decomposition.total;
    let largest = total.from_s.max(total.to_s);
    let (unit, unit_name) = number::common_unit(largest * scale.units, "s");
    let units = scale.units * unit;
    let (unaccounted, parts): (Vec<&Part>, Vec<&Part>) =
        decomposition.by_type.iter().partition(|part| part.kind == PartKind::Unaccounted);
    let (mut shown, small): (Vec<&Part>, Vec<&Part>) =
        parts.into_iter().partition(|part| is_visible(part, total));
    order::largest_first(&mut shown, &|row| row.change_s.abs());
    let small: f64 =
        small.iter().chain(&shown[shown.len().min(PARTS_MAX)..]).map(|part| part.change_s).sum();
    shown.truncate(PARTS_MAX);
    let mut changes: Vec<Bar> = shown.iter().map(|part| change(part, units)).collect();
    if small != 0.0 {
        changes.push(Bar { label: "other parts".into(), value: small * units, ..Bar::default() });
    }
    // However small it is, it says how far to trust the rest.
    changes.extend(unaccounted.into_iter().map(|part| change(part, units)));
    if goes_below_zero(total.from_s * units, &changes) {
        order::by_key(&mut changes, &|bar| bar.value < 0.0);
    }
    let whole = |label: &str, value: f64| Bar {
        label: label.into(),
        value: value * units,
        ..Bar::default()
    };
    let start = [whole(from, total.from_s)];
    let bars = start.into_iter().chain(changes).chain([whole(to, total.to_s)]);
    Chart {
        title: format!("Session time per {}", scale.name).into(),
        unit: unit_name.into(),
        kind: ChartKind::Waterfall,
        groups: vec![BarGroup { label: Text::default(), bars: that_add_up(bars.collect()) }],
    }
}

/// Parts are drawn that are this share of the larger side, or more.
const DRAWN_MIN: f64 = 0.01;

/// Session time of some work on both sides, each as a bar of CPU and classes of waits.
pub(crate) fn sides(explanation: &Explanation) -> Figure {
    let Explanation { from, to, decomposition, .. } = explanation;
    let scale = WorkScale::for_decomposition(decomposition);
    let total = &decomposition.total;
    let largest_s = total.from_s.max(total.to_s);
    let (unit, unit_name) = number::common_unit(largest_s * scale.units, "s");
    let units = scale.units * unit;
    let drawn = |part: &&Part| part.from_s.abs().max(part.to_s.abs()) >= DRAWN_MIN * largest_s;
    let parts: Vec<&Part> = decomposition.by_class.iter().filter(drawn).collect();
    let places = number::places(largest_s * units, 3);
    let side = |name: &str, total_s: f64, seconds: fn(&Part) -> f64| {
        let values: Vec<Value> =
            parts.iter().map(|part| coordinate(seconds(part) * units)).collect();
        let whole = format!("{} {unit_name}", number::figure(total_s * units));
        json!({ "name": string(name), "values": values, "total": whole })
    };
    let changes: Vec<String> = parts
        .iter()
        .map(|part| {
            let change = number::signed(part.change_s * units, places);
            format!("{} {change} {unit_name}", name(&part.kind))
        })
        .collect();
    let label = format!("session time per {} ({unit_name})", scale.name);
    Figure {
        spec: json!({
            "kind": "sides", "label": string(&label),
            "parts": parts.iter().map(|part| string(&name(&part.kind))).collect::<Vec<_>>(),
            "changes": strings(changes.iter().map(String::as_str)),
            "sides": [side(from, total.from_s, |part| part.from_s),
                side(to, total.to_s, |part| part.to_s)],
        }),
        caption: waterfall_legend(decomposition).into(),
        alternative: format!("Stacked bars of {label}, {from} and {to}. {}.", changes.join("; "))
            .into(),
        data: scale.table("part", [from, to], parts.iter().copied(), largest_s),
        data_heading: "Seconds of each part".into(),
        chart: None,
    }
}

/// Functions that are listed of a change.
const FUNCTIONS: usize = 10;

/// Processor time for the same work by function; `None` where trials were not profiled.
pub fn code_changes(
    decomposition: &Decomposition,
    between: &str,
    sides: [&str; 2],
) -> Option<Section> {
    let code = decomposition.code.as_ref()?;
    let scale = WorkScale::for_decomposition(decomposition);
    let mut section = Section::new(format!(
        "Code with the largest change, {between}: CPU seconds per {}",
        scale.name
    ));
    let largest = code.total.from_s.max(code.total.to_s);
    let (functions, rest) = code.parts.split_at(code.parts.len().saturating_sub(1));
    let shown = functions.iter().take(FUNCTIONS).chain(rest).chain([&code.total]);
    section.table(scale.table("function", sides, shown, largest));
    let [from, to] = code.samples;
    section.note(format!(
        "{} and {} samples of CPU time (user and kernel) of the load's processes and of a server \
         on this machine. Other code: functions below 1 % on both sides.",
        number::count(from),
        number::count(to)
    ));
    section.note_more(functions.len().saturating_sub(FUNCTIONS));
    Some(section)
}

fn is_visible(part: &Part, total: &Part) -> bool {
    let least = total.from_s.max(total.to_s).min(total.change_s.abs());
    part.change_s.abs() >= VISIBLE * least
}

fn change(part: &Part, units: f64) -> Bar {
    Bar {
        label: name(&part.kind).into(),
        value: part.change_s * units,
        interval: part.interval.map(|interval| interval.times(units)),
        note: part.share.map_or_else(String::new, |share| number::percent(share, 0)).into(),
        tone: Some(tone(part)).filter(|tone| *tone != Tone::Plain).unwrap_or(Tone::Muted),
    }
}

fn goes_below_zero(start: f64, changes: &[Bar]) -> bool {
    let mut at = start;
    changes.iter().any(|bar| {
        at += bar.value;
        at < 0.0
    })
}

/// Moves values by less than their last digit, so that the printed start and changes add up to the
/// printed end.
fn that_add_up(mut bars: Vec<Bar>) -> Vec<Bar> {
    let largest = bars.iter().map(|bar| bar.value.abs()).fold(0.0, f64::max);
    let Some((end, parts)) = bars.split_last_mut() else { return bars };
    let values: Vec<f64> = parts.iter().map(|bar| bar.value).collect();
    let (rounded, total) = number::parts_that_add_up(&values, number::places(largest, 4));
    for (bar, value) in parts.iter_mut().zip(rounded) {
        bar.value = value;
    }
    end.value = total;
    bars
}

use crate::model::{Bar, BarGroup, Cell, Chart, ChartKind, Column, Document, Section, Table, Tone};
use crate::{Text, number};
use analysis::{Decomposition, HeadToHead, Part, PartKind, ResponseChange, Scale};

/// Wait types that are listed below the decomposition.
const WAIT_TYPES: usize = 10;

/// Two configurations head to head: how much they differ, and why.
pub fn head_to_head(compared: &HeadToHead, from: &str, to: &str) -> Document {
    let mut sections = vec![verdict(compared, from, to)];
    sections.extend(percentages(compared));
    sections.extend(crate::sections::sentences(&compared.why));
    if let Some(decomposition) = &compared.decomposition {
        let mut drawn = Section::new("From A to B");
        drawn.chart(crate::sections::waterfall(decomposition, "A", "B"));
        sections.push(drawn);
        let scale = WorkScale::of(decomposition);
        let heading = format!("Elapsed seconds for {}", scale.name);
        sections.push(parts(&heading, &decomposition.elapsed, &decomposition.elapsed_total, &scale));
        let heading = format!("Session seconds for {}, summed over connections", scale.name);
        sections.push(parts(&heading, &decomposition.session, &decomposition.session_total, &scale));
        sections.extend(wait_types(decomposition, &scale));
        sections.extend(crate::sections::changes(decomposition, "from A to B", ["A", "B"]));
    }
    Document { title: format!("A: {from}; B: {to}").into(), sections }
}

fn verdict(compared: &HeadToHead, from: &str, to: &str) -> Section {
    let mut section = Section::default();
    let response = &compared.response;
    let row = |side: &str, name: &str, estimate: Option<&analysis::Estimate>| {
        vec![
            Cell::plain(side),
            Cell::plain(name),
            Cell::plain(estimate.map_or(0, |estimate| estimate.n).to_string()),
            Cell::plain(estimate.map_or_else(|| "-".to_owned(), number::estimate)),
        ]
    };
    section.table(Table {
        columns: vec![
            Column::left(""),
            Column::name("configuration"),
            Column::right("n"),
            Column::left(response.name.as_str()),
        ],
        rows: vec![row("A", from, compared.from.as_ref()), row("B", to, compared.to.as_ref())],
        fixed: false,
    });
    let Some(comparison) = &compared.comparison else {
        section.toned("They cannot be compared: one of them has no trial done.", Tone::Warning);
        return section;
    };
    let figure = number::comparison(comparison, &response.unit);
    let (equal, relation) = match comparison.scale {
        Scale::Ratio => (1.0, "as good as A (above 1 is better)"),
        Scale::Difference => (0.0, "better than A (below 0 is worse)"),
    };
    let (tone, verdict) = match comparison.supported() {
        true if comparison.value > equal => (Tone::Good, "better at 95 %"),
        true => (Tone::Bad, "worse at 95 %"),
        false => (Tone::Plain, "no difference is supported at 95 %"),
    };
    let p = comparison.p_value.map_or_else(String::new, |p| {
        if p < 0.001 { ", p < 0.001".to_owned() } else { format!(", p = {p:.3}") }
    });
    let blocks = number::plural(comparison.blocks, "block");
    let name = &response.name;
    section.toned(format!("On {name}, B is {figure} {relation}: {verdict} ({blocks}{p})."), tone);
    section
}

/// Every response as a percentage of A; `None` without any.
fn percentages(compared: &HeadToHead) -> Option<Section> {
    let streams = streams(&compared.responses);
    let mut groups: Vec<BarGroup> = Vec::new();
    for change in &compared.responses {
        let Some(percent) = change.percent else { continue };
        let name = change.response.name.as_str();
        let stream = streams.iter().find(|stream| is_of(name, stream)).copied();
        let label: Text = stream.unwrap_or_default().into();
        let bar = Bar {
            label: stream.map_or(name, |stream| &name[stream.len() + 1..]).into(),
            value: percent.value,
            interval: percent.interval.map(|interval| (interval.low, interval.high)),
            note: Text::default(),
            tone: percentage_tone(change),
        };
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.bars.push(bar),
            None => groups.push(BarGroup { label, bars: vec![bar] }),
        }
    }
    let not_shown: Vec<&str> =
        compared.responses.iter().filter(|c| c.percent.is_none()).map(|c| c.response.name.as_str()).collect();
    let mut section = Section::new("B against A");
    section.toned(
        "Above 0 is better for every response: where lower is better (latency, time, cost) the sign is turned. \
         [ ]: 95 % intervals.",
        Tone::Muted,
    );
    section.chart(Chart {
        title: "Difference from A, + is better".into(),
        unit: "%".into(),
        kind: ChartKind::Diverging,
        groups,
    });
    if !not_shown.is_empty() {
        let names = not_shown.join(", ");
        section.toned(format!("Not in percent, because a value is zero or negative: {names}."), Tone::Muted);
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

/// A decomposition as a table whose printed figures add up in every column and subtract in every row.
///
/// For that, figures are moved by less than their last digit; intervals therefore have one digit less.
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
    let rows = parts.iter().chain([total]).zip(sides).map(|(part, (from, to))| {
        let change = to - from;
        let share = part.share.filter(|_| part.kind != PartKind::Total);
        vec![
            Cell::plain(name(&part.kind)),
            Cell::plain(number::fixed(from, decimals)),
            Cell::plain(number::fixed(to, decimals)),
            Cell::new(number::signed(change, decimals), tone(part)),
            Cell::plain(interval(part, scale, decimals)),
            Cell::plain(share.map_or_else(String::new, |share| number::percent(share, 0))),
        ]
    });
    section.table(Table { columns: change_columns("part", ["A", "B"]), rows: rows.collect(), fixed: false });
    section
}

/// The wait types that changed most: detail of the parts above, with their signal waits.
fn wait_types(decomposition: &Decomposition, scale: &WorkScale) -> Option<Section> {
    let all = &decomposition.wait_types;
    let largest = all.iter().flat_map(|part| [part.from_s, part.to_s]).fold(0.0, f64::max);
    let decimals = number::places(largest * scale.units, 4);
    let visible = |part: &&Part| (part.change_s * scale.units * 10_f64.powi(decimals as i32)).abs() >= 0.5;
    let changed: Vec<&Part> = all.iter().filter(visible).take(WAIT_TYPES).collect();
    let rows = changed.iter().map(|part| change_row(part, scale, decimals));
    let mut section =
        Section::new(format!("Wait types that changed most, elapsed seconds for {}", scale.name));
    section.table(Table {
        columns: change_columns("wait type", ["A", "B"]),
        rows: rows.collect(),
        fixed: false,
    });
    section.toned(
        "Detail of the parts above, resource and signal wait together; not to be added to them.",
        Tone::Muted,
    );
    (!changed.is_empty()).then_some(section)
}

/// One part by itself: what else is in its table need not add up to it.
pub(crate) fn change_row(part: &Part, scale: &WorkScale, decimals: usize) -> Vec<Cell> {
    let seconds = |value: f64| number::fixed(value * scale.units, decimals);
    vec![
        Cell::plain(name(&part.kind)),
        Cell::plain(seconds(part.from_s)),
        Cell::plain(seconds(part.to_s)),
        Cell::new(number::signed(part.change_s * scale.units, decimals), tone(part)),
        Cell::plain(interval(part, scale, decimals)),
        Cell::plain(part.share.map_or_else(String::new, |share| number::percent(share, 0))),
    ]
}

pub(crate) fn change_columns(first: &str, [from, to]: [&str; 2]) -> Vec<Column> {
    vec![
        Column::name(first),
        Column::right(from),
        Column::right(to),
        Column::right("change"),
        Column::left("95 % interval").optional(1),
        Column::right("share of change").optional(2),
    ]
}

pub(crate) fn name(kind: &PartKind) -> String {
    match kind {
        PartKind::Cpu => "CPU".to_owned(),
        PartKind::Resource(class) => class.name().to_owned(),
        PartKind::Signal => "signal".to_owned(),
        PartKind::Client => "client".to_owned(),
        PartKind::Unaccounted => "unaccounted".to_owned(),
        PartKind::WaitType(name) => name.clone(),
        PartKind::Function { function, module } => format!("{function} ({module})"),
        PartKind::OtherCode => "other code".to_owned(),
        PartKind::Total => "total".to_owned(),
    }
}

/// Less time is better; said only of what is supported.
fn tone(part: &Part) -> Tone {
    match part.p_value {
        Some(p) if p < 0.05 && part.change_s < 0.0 => Tone::Good,
        Some(p) if p < 0.05 && part.change_s > 0.0 => Tone::Bad,
        _ => Tone::Plain,
    }
}

fn interval(part: &Part, scale: &WorkScale, decimals: usize) -> String {
    part.interval.map_or_else(String::new, |interval| {
        let end = |value: f64| number::signed(value * scale.units, decimals.saturating_sub(1));
        format!("[{}, {}]", end(interval.low), end(interval.high))
    })
}

/// For how many units of work seconds are shown, so that they are neither tiny nor huge; findings
/// choose likewise.
pub(crate) struct WorkScale {
    pub(crate) units: f64,
    pub(crate) name: String,
}

impl WorkScale {
    pub(crate) fn of(decomposition: &Decomposition) -> Self {
        let unit = if decomposition.unit.is_empty() { "unit" } else { &decomposition.unit };
        let (units, name) = match decomposition.work {
            work if work >= 1e6 => (1e6, format!("a million {unit}s")),
            work if work >= 1e3 => (1e3, format!("1,000 {unit}s")),
            _ => (1.0, format!("each {unit}")),
        };
        Self { units, name }
    }
}

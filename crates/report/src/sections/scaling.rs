//! How throughput goes with threads: the curves, what they leave on their way, and how they scale.

use crate::model::{Bar, BarGroup, Cell, Chart, ChartKind, Column, Section, Table, Tone};
use crate::number;
use analysis::scaling::{Curve, Edge, EdgeKind, FLAT_SHARE, LINEAR_EFFICIENCY, Scaled, SharedLine};
use analysis::{ScalingClass, ScalingSummary, Summary};

/// More curves than this are no picture any more.
const CURVES_MAX: usize = 16;

/// The section; `None` when the sync probe was not used.
pub(crate) fn section(_: &Summary, scaling: Option<&ScalingSummary>) -> Option<Section> {
    let scaling = scaling?;
    let mut section = Section::new("Scaling");
    if let Some(line) = &scaling.shared_line {
        shared_line(&mut section, line, &scaling.curves);
    }
    section.toned(legend(), Tone::Muted);
    section.table(table(&scaling.curves));
    let drawn: Vec<&Curve> = scaling.curves.iter().filter(|curve| curve.points.len() > 1).collect();
    if drawn.len() > CURVES_MAX {
        let text =
            format!("Drawn are {CURVES_MAX} of {}; the table has all.", number::plural(drawn.len(), "curve"));
        section.toned(text, Tone::Muted);
    }
    if !drawn.is_empty() {
        section.chart(chart(&drawn[..drawn.len().min(CURVES_MAX)]));
    }
    Some(section)
}

fn legend() -> String {
    let (flat, linear) = (number::percent(FLAT_SHARE, 0), number::percent(LINEAR_EFFICIENCY, 0));
    format!(
        "From the fewest threads to the most that each have a processor. Linear: the speed-up is at least {linear} of the number of \
         threads; flat: throughput changes by no more than {flat}; sub-linear between them; negative below. Two names: the 95 % \
         interval reaches from one to the other."
    )
}

/// The ceiling of one line, and what not sharing it makes of it.
fn shared_line(section: &mut Section, line: &SharedLine, curves: &[Curve]) {
    let ceiling = line.throughput.mean;
    section.line(format!(
        "One shared cache line tops out at {} ops/ms ({}, {} threads): {} for each addition, however many threads there are.",
        number::estimate_without_unit(&line.throughput),
        line.primitive,
        line.threads,
        number::quantity(1e6 / ceiling, "ns"),
    ));
    let tops = curves.iter().map(|curve| (curve, &curve.points[curve.peak]));
    let best = tops.max_by(|a, b| a.1.throughput.mean.total_cmp(&b.1.throughput.mean));
    if let Some((curve, peak)) = best.filter(|(_, peak)| peak.throughput.mean > ceiling) {
        section.detail(format!(
            "The most of all is {} ops/ms, {}x of that: {} with {}.",
            number::grouped(peak.throughput.mean),
            number::ratio(peak.throughput.mean / ceiling),
            named(curve),
            number::plural(peak.threads as usize, "thread"),
        ));
    }
}

fn named(curve: &Curve) -> &str {
    if curve.group.is_empty() { "the only one" } else { &curve.group }
}

fn table(curves: &[Curve]) -> Table {
    let columns = vec![
        Column::name("curve"),
        Column::left("scaling"),
        Column::right("threads"),
        Column::left("ops/ms"),
        Column::left("speed-up"),
        Column::right("efficiency").optional(2),
        Column::left("leaves").optional(1),
    ];
    let row = |curve: &Curve| {
        let first = &curve.points[0];
        let cells = match &curve.scaled {
            Some(scaled) => {
                let last = &curve.points[scaled.to];
                let from_to = |from: String, to: String| Cell::plain(format!("{from} -> {to}"));
                let rate = |mean| number::grouped(mean);
                vec![
                    Cell::new(class(scaled), tone(scaled.class)),
                    from_to(first.threads.to_string(), last.threads.to_string()),
                    from_to(rate(first.throughput.mean), rate(last.throughput.mean)),
                    Cell::plain(number::comparison(&scaled.speedup, "ops/ms")),
                    Cell::plain(number::percent(scaled.efficiency, 0)),
                ]
            }
            None => vec![
                Cell::plain("-"),
                Cell::plain(first.threads.to_string()),
                Cell::plain(number::estimate_without_unit(&first.throughput)),
                Cell::plain("-"),
                Cell::plain("-"),
            ],
        };
        let leaves: Vec<String> = curve.edges.iter().map(|edge| leaves(curve, edge)).collect();
        let name = std::iter::once(Cell::plain(named(curve)));
        name.chain(cells).chain([Cell::plain(leaves.join("; "))]).collect()
    };
    Table { columns, rows: curves.iter().map(row).collect(), fixed: false }
}

/// `flat`; `negative to flat` where the interval has both; nothing where it has all.
fn class(scaled: &Scaled) -> String {
    match scaled.between {
        Some((ScalingClass::Negative, ScalingClass::Linear)) => "cannot be told".to_owned(),
        Some((low, high)) if low != high => format!("{} to {}", low.name(), high.name()),
        _ => scaled.class.name().to_owned(),
    }
}

fn tone(class: ScalingClass) -> Tone {
    match class {
        ScalingClass::Linear => Tone::Good,
        ScalingClass::Negative => Tone::Bad,
        ScalingClass::Flat | ScalingClass::SubLinear => Tone::Plain,
    }
}

/// `the core at 2`
fn leaves(curve: &Curve, edge: &Edge) -> String {
    let threads = curve.points[edge.at].threads;
    let latest = if edge.pinned { "" } else { " at the latest" };
    format!("{} at {threads}{latest}", what(edge.kind))
}

fn what(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Core => "the core",
        EdgeKind::Node => "the memory node",
        EdgeKind::Socket => "the socket",
        EdgeKind::Processors => "a processor each",
    }
}

fn chart(curves: &[&Curve]) -> Chart {
    let bar = |curve: &Curve, at: usize| {
        let point = &curve.points[at];
        let notes = curve.edges.iter().filter(|edge| edge.at == at).map(|edge| {
            let latest = if edge.pinned { "" } else { " (at the latest)" };
            format!("beyond {}{latest}", what(edge.kind))
        });
        let interval = point.throughput.interval;
        Bar {
            label: number::plural(point.threads as usize, "thread").into(),
            value: point.throughput.mean,
            interval: interval.map(|interval| (interval.low, interval.high)),
            note: notes.collect::<Vec<_>>().join(", ").into(),
            tone: if at == curve.peak { Tone::Good } else { Tone::Plain },
        }
    };
    let group = |curve: &&Curve| BarGroup {
        label: curve.group.as_str().into(),
        bars: (0..curve.points.len()).map(|at| bar(curve, at)).collect(),
    };
    Chart {
        title: "Throughput by threads, higher is better".into(),
        unit: "ops/ms".into(),
        kind: ChartKind::Bars,
        groups: curves.iter().map(group).collect(),
    }
}

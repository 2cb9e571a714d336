//! How throughput goes with threads: the curves, what they leave on their way, and how they scale.

use crate::analysis::{Curve, Edge, EdgeKind, ScalingPoint, ScalingSummary, SharedLine};
use analysis::scaling::{FLAT_SHARE, LINEAR_EFFICIENCY};
use analysis::{ScalingClass, Summary};
use report::number;
use report::scaling::{class, efficiency};
use report::text::joined;
use report::{Bar, BarGroup, Cell, Chart, ChartKind, Column, Columns, Section, Tone};

/// Most curves of a readable figure.
const CURVES_MAX: usize = 16;

/// The section; `None` when the sync probe was not used.
pub fn section(_: &Summary, scaling: Option<&ScalingSummary>) -> Option<Section> {
    let scaling = scaling?;
    let mut section = Section::new("Scaling");
    if let Some(line) = &scaling.shared_line {
        shared_line(&mut section, line, &scaling.curves);
    }
    section.note(legend());
    section.table(table(&scaling.curves));
    let drawn: Vec<&Curve> = scaling.curves.iter().filter(|curve| curve.points.len() > 1).collect();
    if drawn.len() > CURVES_MAX {
        let text = format!(
            "The chart shows {CURVES_MAX} of {}; the table has all.",
            number::plural(drawn.len(), "curve")
        );
        section.note(text);
    }
    if !drawn.is_empty() {
        section.chart(chart(&drawn[..drawn.len().min(CURVES_MAX)]));
    }
    Some(section)
}

fn legend() -> String {
    let (flat, linear) = (number::percent(FLAT_SHARE, 0), number::percent(LINEAR_EFFICIENCY, 0));
    format!(
        "From the fewest threads to the most with one CPU each. Linear: the speed-up is at least \
         {linear} of the ratio of thread counts; flat: throughput changes by at most {flat}; \
         sub-linear: in between; negative: below. Two names: the 95 % interval covers both."
    )
}

/// The ceiling of one line, and what not sharing it makes of it.
fn shared_line(section: &mut Section, line: &SharedLine, curves: &[Curve]) {
    // Nanoseconds of what is counted by the millisecond: the ends change places.
    let ns = |rate: f64| number::figure(1e6 / rate);
    let ends = line.throughput.interval.filter(|interval| interval.low > 0.0);
    let ends = ends.map_or_else(String::new, |end| format!(" [{}, {}]", ns(end.high), ns(end.low)));
    section.line(format!(
        "One shared cache line is limited to {} ops/ms ({}, {} threads): {}{ends} ns per \
         addition, at any number of threads.",
        number::estimate_without_unit(&line.throughput),
        line.primitive,
        line.threads,
        ns(line.throughput.mean),
    ));
    if let Some((curve, comparison)) = &line.most {
        let curve = &curves[*curve];
        let peak = &curve.points[curve.peak];
        section.detail(format!(
            "The maximum is {} ops/ms, {} of that: {} with {}.",
            number::estimate_without_unit(&peak.throughput),
            number::comparison(comparison, "ops/ms"),
            name(curve),
            number::plural(peak.threads as usize, "thread"),
        ));
    }
}

fn name(curve: &Curve) -> &str {
    if curve.group.is_empty() { "single curve" } else { &curve.group }
}

fn table(curves: &[Curve]) -> Columns<'_, &Curve> {
    let mut table = Columns::for_rows(curves);
    // The ends that are compared; the first alone where there is nothing to compare it with.
    let ends = |curve: &&Curve, say: fn(&ScalingPoint) -> String| {
        let first = say(&curve.points[0]);
        curve.scaled.as_ref().map_or_else(
            || first.clone(),
            |scaled| format!("{first} -> {}", say(&curve.points[scaled.to])),
        )
    };
    table.name("curve", |curve| name(curve));
    table.left("scaling", |curve| {
        curve.scaled.as_ref().map(|scaled| {
            let name = scaled
                .between
                .map_or_else(|| scaled.class.name().to_owned(), |(low, high)| class(low, high));
            Cell::new(name, tone(scaled.class))
        })
    });
    table.with(Column::right("threads"), move |curve| {
        ends(curve, |point| point.threads.to_string())
    });
    table.with(Column::left("ops/ms"), move |curve| match curve.scaled {
        Some(_) => ends(curve, |point| number::grouped(point.throughput.mean)).into(),
        None => Cell::estimate_without_unit(&curve.points[0].throughput),
    });
    table.left("speed-up", move |curve| {
        curve.scaled.as_ref().map(|scaled| number::comparison(&scaled.speedup, "ops/ms"))
    });
    table
        .right("efficiency", |curve| {
            curve
                .scaled
                .as_ref()
                .map(|scaled| efficiency(scaled.efficiency, scaled.efficiency_interval))
        })
        .optional(2);
    table
        .left("leaves", |curve| joined(curve.edges.iter().map(|edge| leaves(curve, edge)), "; "))
        .optional(1);
    table
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
        EdgeKind::Node => "the NUMA node",
        EdgeKind::Socket => "the socket",
        EdgeKind::Processors => "one CPU per thread",
    }
}

fn chart(curves: &[&Curve]) -> Chart {
    Chart {
        title: "Throughput by threads, higher is better".into(),
        unit: "ops/ms".into(),
        kind: ChartKind::Bars,
        groups: curves
            .iter()
            .map(|curve| BarGroup {
                label: curve.group.as_str().into(),
                bars: (0..curve.points.len())
                    .map(|at| {
                        let point = &curve.points[at];
                        let notes = curve.edges.iter().filter(|edge| edge.at == at).map(|edge| {
                            let latest = if edge.pinned { "" } else { " (at the latest)" };
                            format!("beyond {}{latest}", what(edge.kind))
                        });
                        Bar {
                            label: number::plural(point.threads as usize, "thread").into(),
                            note: joined(notes, ", ").into(),
                            tone: if at == curve.peak { Tone::Good } else { Tone::Plain },
                            ..Bar::from_estimate(&point.throughput)
                        }
                    })
                    .collect(),
            })
            .collect(),
    }
}

//! Throughput over time, in a line each: whether it rises, falls or stalls.

use crate::model::{Bar, BarGroup, Chart, ChartKind, Section, Tone};
use crate::number;
use analysis::{Summary, Timeline};

/// With fewer intervals there is no trend to see.
const INTERVALS_MIN: usize = 8;
/// An interval with less than this share of the mean is a stall.
const STALL: f64 = 0.1;

/// The baseline and the best configuration; `None` when no trial was long enough to see anything.
pub(crate) fn section(summary: &Summary) -> Option<Section> {
    let first = summary.timelines.first()?;
    let long = |timeline: &Timeline| timeline.measured().len() >= INTERVALS_MIN;
    if !summary.timelines.iter().any(long) {
        return None;
    }
    let alike = |timeline: &&Timeline| {
        (&timeline.series.name, &timeline.series.unit) == (&first.series.name, &first.series.unit)
    };
    let shown: Vec<&Timeline> =
        summary.timelines.iter().filter(alike).filter(|timeline| !timeline.measured().is_empty()).collect();
    let mut section = Section::new(format!("{} over time", first.series.name));
    let intervals: Vec<String> = shown.iter().map(|t| number::seconds(t.series.interval_s)).collect();
    let every = intervals.first().map_or_else(String::new, |interval| format!(", a value each {interval}"));
    section.chart(Chart {
        title: format!("The median trial of each{every}").into(),
        unit: first.series.unit.as_str().into(),
        kind: ChartKind::OverTime,
        groups: shown.iter().map(|timeline| group(timeline)).collect(),
    });
    if shown.iter().any(|timeline| timeline.warm_up() > 0) {
        section.toned("Before the bar: warm-up.", Tone::Muted);
    }
    for timeline in shown {
        if let Some(stalls) = stalls(timeline) {
            section.toned(stalls, Tone::Warning);
        }
    }
    Some(section)
}

fn group(timeline: &Timeline) -> BarGroup {
    let warm_up = timeline.warm_up();
    let bar = |(i, value): (usize, &f64)| {
        let tone = if i < warm_up { Tone::Muted } else { Tone::Plain };
        Bar { value: *value, tone, ..Bar::default() }
    };
    BarGroup {
        label: format!("{} (block {})", timeline.configuration, timeline.block).into(),
        bars: timeline.series.values.iter().enumerate().map(bar).collect(),
    }
}

fn stalls(timeline: &Timeline) -> Option<String> {
    // The last interval is cut short: connections have ended in it.
    let measured = timeline.measured().split_last()?.1;
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    let mut stalled = measured.iter().enumerate().filter(|(_, value)| **value < STALL * mean).map(|(i, _)| i);
    let first = stalled.next()? as f64 * timeline.series.interval_s;
    let intervals = number::plural(1 + stalled.count(), "interval");
    Some(format!(
        "{} stalled: {intervals} of {} had less than a tenth of the mean, the first after {}.",
        timeline.configuration,
        number::count(measured.len() as u64),
        number::seconds(first)
    ))
}

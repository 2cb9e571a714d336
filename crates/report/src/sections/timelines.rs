//! Throughput and whatever else was recorded over time: whether it rises, falls or stalls.

mod series;

use crate::model::{Bar, BarGroup, Block, Chart, ChartKind, Line, Medium, Section, Tone};
use crate::number;
use analysis::{Summary, Timeline};

/// With fewer intervals there is no trend to see.
const INTERVALS_MIN: usize = 8;
/// An interval with less than this share of the mean is a stall.
const STALL: f64 = 0.1;

/// For texts the median trial of the baseline and of the best configuration, for pages every trial; of each the stalls.
pub(crate) fn sections(summary: &Summary, timelines: &[Timeline]) -> Vec<Section> {
    let mut sections: Vec<Section> = drawn(timelines).into_iter().collect();
    if summary.done() > 0 {
        sections.extend(series::sections(summary));
    }
    let mut stalled = Section::page("Over time: stalls");
    for line in sections.iter().flat_map(|section| &section.blocks) {
        if let Block::Line(Line { text, tone: Tone::Warning, .. }) = line {
            stalled.warn(text.clone());
        }
    }
    sections.extend(stalled.unless_empty());
    sections
}

/// `None` when no trial was long enough to see anything.
fn drawn(timelines: &[Timeline]) -> Option<Section> {
    let first = timelines.first()?;
    if timelines.iter().all(|timeline| timeline.measured().len() < INTERVALS_MIN) {
        return None;
    }
    let alike = |timeline: &&Timeline| {
        (&timeline.series.name, &timeline.series.unit) == (&first.series.name, &first.series.unit)
    };
    let shown: Vec<&Timeline> =
        timelines.iter().filter(alike).filter(|timeline| !timeline.measured().is_empty()).collect();
    let mut section =
        Section { medium: Medium::Text, ..Section::new(format!("{} over time", first.series.name)) };
    let interval = shown.first().map(|timeline| number::seconds(timeline.series.interval_s));
    let intervals = interval.map_or_else(String::new, |interval| format!(", {interval} intervals"));
    section.chart(Chart {
        title: format!("Median trial of each configuration{intervals}").into(),
        unit: first.series.unit.as_str().into(),
        kind: ChartKind::OverTime,
        groups: shown.iter().map(|timeline| group(timeline)).collect(),
    });
    if shown.iter().any(|timeline| timeline.warm_up() > 0) {
        section.note("Warm-up is left of the bar.");
    }
    for stalls in shown.into_iter().filter_map(stalls) {
        section.warn(stalls);
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

use crate::model::{Bar, BarGroup, Chart, ChartKind, Section, Tone};
use crate::names::label;
use crate::number;
use analysis::{DiskFigures, DiskRow, DiskSummary, Estimate, Standing, Summary};

/// More bars than this are no picture any more.
const BARS_MAX: usize = 32;

/// IOPS, bandwidth and latency; threads x queue depth are the lines within the other factors.
pub fn add(section: &mut Section, summary: &Summary, disk: &DiskSummary) {
    let groups = groups(disk);
    let drawn: usize = groups.iter().map(|(_, bars)| bars.len()).sum();
    if disk.groups.iter().any(|group| group.configurations.len() > 1) {
        section.note("Lines are threads x queue depth of each.");
    }
    if drawn < disk.rows.len() {
        let all = number::plural(disk.rows.len(), "configuration");
        section.note(format!("Drawn are {drawn} of {all}; the table below has all."));
    }
    let chart = |title: &str, unit: &str, bar: &dyn Fn(&DiskRow) -> Option<Bar>| Chart {
        title: title.into(),
        unit: unit.into(),
        kind: ChartKind::Bars,
        groups: groups
            .iter()
            .map(|(label, rows)| BarGroup {
                label: label.as_str().into(),
                bars: rows
                    .iter()
                    .filter_map(|(label, row)| Some(Bar { label: label.as_str().into(), ..bar(row)? }))
                    .collect(),
            })
            .filter(|group| !group.bars.is_empty())
            .collect(),
    };
    let tone = |row: &DiskRow| tone(summary, row);
    let charts = [
        chart("IOPS, higher is better", "I/Os/s", &|row| {
            Some(Bar { tone: tone(row), ..Bar::of(row.all.iops.as_ref()?) })
        }),
        chart("Bandwidth, higher is better", "MB/s", &|row| row.all.bandwidth.as_ref().map(Bar::of)),
        chart("Mean latency, lower is better", "us", &|row| latency(&row.all)),
    ];
    for chart in charts.into_iter().filter(|chart| !chart.groups.is_empty()) {
        section.chart(chart);
    }
}

fn latency(figures: &DiskFigures) -> Option<Bar> {
    let p99 = figures.latency_p99.as_ref().and_then(Estimate::mean_s);
    let note = p99.map_or_else(String::new, |seconds| format!("p99 {}", number::seconds(seconds)));
    Some(Bar { note: note.into(), ..Bar::of(figures.latency_mean.as_ref()?) })
}

/// Only where the configurations are compared on what is drawn.
fn tone(summary: &Summary, row: &DiskRow) -> Tone {
    let compared = summary.response.as_ref().is_some_and(|response| response.name == "iops");
    let standing = summary.configurations.get(row.configuration).map(|own| own.standing);
    match standing {
        Some(Standing::Best | Standing::AsGoodAsBest) if compared => Tone::Good,
        _ => Tone::Plain,
    }
}

/// A group's label and its lines, thinned so that all fit: evenly, the first and the last always.
fn groups<'s>(disk: &'s DiskSummary) -> Vec<(String, Vec<(String, &'s DiskRow)>)> {
    let rows_of = |configurations: &[usize]| -> Vec<&'s DiskRow> {
        let find = |c: &usize| disk.rows.iter().find(|row| row.configuration == *c);
        configurations.iter().filter_map(find).collect()
    };
    let all: Vec<(&str, Vec<&'s DiskRow>)> = disk
        .groups
        .iter()
        .map(|group| (group.label.as_str(), rows_of(&group.configurations)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if all.iter().all(|(_, rows)| rows.len() == 1) {
        // Nothing but the groups themselves differs: they are the lines.
        let lines = all.iter().map(|(_, rows)| (label(&rows[0].label).to_owned(), rows[0]));
        return vec![(String::new(), thinned(lines.collect(), BARS_MAX))];
    }
    let each = (BARS_MAX / all.len()).max(1);
    let lines = |rows: &[&'s DiskRow]| rows.iter().map(|row| (load(row), *row)).collect();
    let groups = all.iter().map(|(label, rows)| ((*label).to_owned(), thinned(lines(rows), each)));
    thinned(groups.collect(), BARS_MAX)
}

/// `4 x 8`
fn load(row: &DiskRow) -> String {
    match (row.threads, row.queue_depth) {
        (Some(threads), Some(depth)) => format!("{threads} x {depth}"),
        _ => label(&row.label).to_owned(),
    }
}

/// At most so many, evenly spread from the first to the last; of one the last.
fn thinned<T>(items: Vec<T>, most: usize) -> Vec<T> {
    let n = items.len();
    if n <= most {
        return items;
    }
    let steps = (most - 1).max(1);
    let kept: Vec<usize> =
        if most == 1 { vec![n - 1] } else { (0..most).map(|i| i * (n - 1) / steps).collect() };
    items.into_iter().enumerate().filter(|(i, _)| kept.contains(i)).map(|(_, item)| item).collect()
}

//! Results of the disk probe: charts, figures, Little's law, the knee.

use crate::analysis::{
    DiskFigures, DiskRow, DiskSummary, Knee, KneeInterval, KneePoint, LITTLE_TOLERANCE,
};
use analysis::{Estimate, Interval, Standing, Summary};
use report::number;
use report::text::label;
use report::{Bar, BarGroup, Cell, Chart, ChartKind, Column, Columns, Section, Tone};

/// Charts and figures, the knee; nothing when the disk probe was not used.
pub fn sections(summary: &Summary, disk: Option<&DiskSummary>) -> Vec<Section> {
    let Some(disk) = disk else { return Vec::new() };
    let mut section = Section::new("Disk");
    section.note(legend(disk));
    let streams = disk.rows.iter().flat_map(Row::streams);
    let mut tables = [None, None];
    if let [only] = &disk.rows[..] {
        // Bars of an only configuration compare nothing.
        let name = if only.streams.is_empty() { "" } else { "all" };
        section.table(table(streams.chain([Row::all(only, name)]).collect(), false));
    } else {
        charts(&mut section, summary, disk);
        let all = disk.rows.iter().map(|row| Row::all(row, ""));
        tables =
            [figures("Disk: figures", all.collect()), figures("Disk: streams", streams.collect())];
    }
    little(&mut section, &disk.rows);
    let tables = tables.into_iter().flatten();
    [section].into_iter().chain(tables).chain(knees(&disk.knees)).collect()
}

fn legend(disk: &DiskSummary) -> String {
    let trials = || disk.rows.iter().map(|row| row.trials);
    let (least, most) = (trials().min().unwrap_or(0), trials().max().unwrap_or(0));
    let trials = if least == most {
        number::plural(most, "trial")
    } else {
        format!("{least} to {}", number::plural(most, "trial"))
    };
    format!("Means of {trials} with 95 % intervals; MB/s are 10^6 bytes a second.")
}

/// Figures that agree this closely come from the same sums: that the law holds then says nothing.
const LITTLE_BY_CONSTRUCTION: f64 = 0.000_5;

/// A line when depth, rate and latency, measured apart, fit each other everywhere, else one for
/// each misfit.
fn little(section: &mut Section, rows: &[DiskRow]) {
    let known: Vec<_> = rows.iter().filter_map(|row| Some((row, row.little?))).collect();
    let worst = known.iter().map(|(_, little)| little.difference.abs()).fold(0.0, f64::max);
    if worst < LITTLE_BY_CONSTRUCTION {
        return;
    }
    if worst <= LITTLE_TOLERANCE {
        let text = "Little's law holds: I/Os in flight and IOPS x mean latency agree within";
        section.note(format!("{text} {}.", number::percent(worst, 1)));
        return;
    }
    for (row, little) in known.iter().filter(|(_, little)| !little.holds()) {
        let (product, depth) = (number::figure(little.product), number::figure(little.depth));
        let text = format!(
            "Little's law does not hold for {}: IOPS x mean latency is {product}, but {depth} \
             I/Os were in flight ({} difference, {}).",
            label(&row.label),
            number::percent(little.difference.abs(), 1),
            number::plural(little.trials, "trial"),
        );
        section.warn(text);
    }
}

/// A column of the table.
type Figure = fn(&DiskFigures) -> Option<&Estimate>;

/// Heading, which figure, and when it is left out for want of room.
const FIGURES: [(&str, Figure, u8); 6] = [
    ("IOPS", |figures| figures.iops.as_ref(), 0),
    ("MB/s", |figures| figures.bandwidth.as_ref(), 3),
    ("latency", |figures| figures.latency_mean.as_ref(), 0),
    ("p99", |figures| figures.latency_p99.as_ref(), 1),
    ("CPU us/I/O", |figures| figures.cpu.as_ref(), 4),
    ("sync", |figures| figures.sync_latency_mean.as_ref(), 2),
];

/// A line of a table of figures.
#[derive(Clone, Copy)]
struct Row<'a> {
    configuration: &'a DiskRow,
    stream: &'a str,
    figures: &'a DiskFigures,
}

impl<'a> Row<'a> {
    /// A line for all streams of a configuration together, under this name.
    fn all(configuration: &'a DiskRow, stream: &'a str) -> Self {
        Self { configuration, stream, figures: &configuration.all }
    }

    /// A line for each of several streams.
    fn streams(configuration: &'a DiskRow) -> impl Iterator<Item = Self> {
        configuration.streams.iter().map(move |stream| Self {
            configuration,
            stream: &stream.name,
            figures: &stream.figures,
        })
    }
}

/// A section with the figures of several configurations; `None` without any.
fn figures(heading: &str, rows: Vec<Row<'_>>) -> Option<Section> {
    let mut section = Section::new(heading);
    if !rows.is_empty() {
        section.table(table(rows, true));
    }
    section.unless_empty()
}

/// The figures that any line has. Times carry their unit, which depends on how long they are; the
/// rest is named by the heading.
fn table(rows: Vec<Row<'_>>, has_configurations: bool) -> Columns<'_, Row<'_>> {
    let has_streams = rows.iter().any(|row| !row.stream.is_empty());
    let shown = FIGURES.map(|(_, figure, _)| rows.iter().any(|row| figure(row.figures).is_some()));
    let mut table = Columns::for_rows(rows);
    if has_configurations {
        table.name("configuration", |row| label(&row.configuration.label));
    }
    if has_streams {
        table.name("stream", |row| row.stream);
    }
    table.right("n", |row| row.configuration.trials);
    for ((heading, figure, order), _) in FIGURES.into_iter().zip(shown).filter(|(_, shown)| *shown)
    {
        table
            .with(Column::left(heading), move |row: &Row| {
                let estimate = figure(row.figures)?;
                Some(match estimate.in_seconds() {
                    Some(seconds) => Cell::from(&seconds),
                    None => Cell::estimate_without_unit(estimate),
                })
            })
            .optional(order);
    }
    table
}

/// Most bars of a readable figure.
const BARS_MAX: usize = 32;

/// IOPS, bandwidth and latency; threads x queue depth are the lines within the other factors.
fn charts(section: &mut Section, summary: &Summary, disk: &DiskSummary) {
    let groups = chart_groups(disk);
    let drawn: usize = groups.iter().map(|(_, bars)| bars.len()).sum();
    if disk.groups.iter().any(|group| group.configurations.len() > 1) {
        section.note("Labels are threads x queue depth per thread.");
    }
    if drawn < disk.rows.len() {
        let all = number::plural(disk.rows.len(), "configuration");
        section.note(format!("The charts show {drawn} of {all}; the table below has all."));
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
                    .filter_map(|(label, row)| {
                        Some(Bar { label: label.as_str().into(), ..bar(row)? })
                    })
                    .collect(),
            })
            .filter(|group| !group.bars.is_empty())
            .collect(),
    };
    let charts = [
        chart("IOPS, higher is better", "I/Os/s", &|row| {
            Some(Bar { tone: tone(summary, row), ..Bar::from_estimate(row.all.iops.as_ref()?) })
        }),
        chart("Bandwidth, higher is better", "MB/s", &|row| {
            row.all.bandwidth.as_ref().map(Bar::from_estimate)
        }),
        chart("Mean latency, lower is better", "us", &|row| latency_bar(&row.all)),
    ];
    for chart in charts.into_iter().filter(|chart| !chart.groups.is_empty()) {
        section.chart(chart);
    }
}

fn latency_bar(figures: &DiskFigures) -> Option<Bar> {
    let p99 = figures.latency_p99.as_ref().and_then(Estimate::mean_s);
    let note = p99.map_or_else(String::new, |seconds| format!("p99 {}", number::seconds(seconds)));
    Some(Bar { note: note.into(), ..Bar::from_estimate(figures.latency_mean.as_ref()?) })
}

/// Only where the configurations are compared on what is drawn.
fn tone(summary: &Summary, row: &DiskRow) -> Tone {
    let compared = summary.response.as_ref().is_some_and(|response| response.name == "iops");
    let standing =
        summary.configurations.get(row.configuration).map(|configuration| configuration.standing);
    match standing {
        Some(Standing::Best | Standing::Equivalent) if compared => Tone::Good,
        _ => Tone::Plain,
    }
}

/// A group's label and its lines, thinned so that all fit: evenly, the first and the last always.
fn chart_groups<'s>(disk: &'s DiskSummary) -> Vec<(String, Vec<(String, &'s DiskRow)>)> {
    let all: Vec<(&str, Vec<&'s DiskRow>)> = disk
        .groups
        .iter()
        .map(|group| {
            let rows = group.configurations.iter().filter_map(|configuration| {
                disk.rows.iter().find(|row| row.configuration == *configuration)
            });
            (group.label.as_str(), rows.collect::<Vec<_>>())
        })
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if all.iter().all(|(_, rows)| rows.len() == 1) {
        // Nothing but the groups themselves differs: they are the lines.
        let lines = all.iter().map(|(_, rows)| (label(&rows[0].label).to_owned(), rows[0]));
        return vec![(String::new(), thinned(lines.collect(), BARS_MAX))];
    }
    let each = (BARS_MAX / all.len()).max(1);
    let groups = all.iter().map(|(label, rows)| {
        ((*label).to_owned(), thinned(rows.iter().map(|row| (load(row), *row)).collect(), each))
    });
    thinned(groups.collect(), BARS_MAX)
}

/// `4 x 8`
fn load(row: &DiskRow) -> String {
    match (row.threads, row.queue_depth) {
        (Some(threads), Some(depth)) => format!("{threads} x {depth}"),
        _ => label(&row.label).to_owned(),
    }
}

/// Returns at most `most` items, evenly spread from the first to the last; of one the last.
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

/// A sentence or two for each group; `None` when no knee was looked for.
fn knees(knees: &[Knee]) -> Option<Section> {
    let mut section = Section::new("Knee");
    for knee in knees {
        let (text, tone) = match knee.between {
            Some(KneeInterval { from, to: Some(to), gain_max }) => {
                (saturates(knee, &knee.points[from], &knee.points[to], gain_max), Tone::Plain)
            }
            Some(KneeInterval { from, to: None, .. }) => {
                (open(knee, &knee.points[from]), Tone::Warning)
            }
            None => (described(knee), Tone::Warning),
        };
        section.toned(knee.prefix() + &text, tone);
        section.detail(knee_detail(knee));
    }
    section.unless_empty()
}

/// The interval of the knee, and what more I/Os in flight than its upper end bring and cost.
fn saturates(knee: &Knee, from: &KneePoint, to: &KneePoint, gain_max: Option<f64>) -> String {
    let beyond = beyond(to, knee.points.last().unwrap_or(to), gain_max);
    let (range, threads) = (from.range(to), threads(to));
    format!("saturates {range} outstanding ({threads}): {} IOPS{beyond}.", with_n(&to.iops))
}

/// A knee without an upper end.
fn open(knee: &Knee, from: &KneePoint) -> String {
    let (top, most) = (&knee.points[knee.maximum], knee.points.last().unwrap_or(from));
    if from.outstanding == most.outstanding {
        return format!(
            "knee not reached: IOPS still rise at the largest load tried, {} at {}.",
            with_n(&top.iops),
            outstanding(top)
        );
    }
    let highest = knee.knee.map_or_else(String::new, |at| {
        format!(
            " By the means, IOPS come within 5 % of the highest at {}.",
            outstanding(&knee.points[at])
        )
    });
    format!(
        "{} are too few to locate the knee: it is at {} outstanding or more.{highest} More blocks \
         narrow this.",
        number::plural(top.iops.n, "block"),
        from.outstanding
    )
}

/// Describes the knee of a single block.
fn described(knee: &Knee) -> String {
    let top = &knee.points[knee.maximum];
    let text = match knee.knee {
        Some(at) => format!("IOPS reach 95 % of the highest at {}", outstanding(&knee.points[at])),
        None => format!(
            "IOPS still rise at the largest load tried, {} at {}",
            with_n(&top.iops),
            outstanding(top)
        ),
    };
    format!("{text}; one block gives no interval, so no knee is reported.")
}

fn beyond(at: &KneePoint, last: &KneePoint, gain_max: Option<f64>) -> String {
    let ends = |of: fn(&KneePoint) -> Option<&Estimate>| {
        let seconds = |point| of(point).and_then(Estimate::mean_s);
        seconds(at).zip(seconds(last)).filter(|(from, to)| from < to)
    };
    let p99 = ends(|point| point.latency_p99.as_ref()).map(|ends| ("p99", ends));
    let latency =
        p99.or_else(|| Some(("mean latency", ends(|point| point.latency_mean.as_ref())?)));
    // A gain that rounds to zero at one decimal is not shown.
    let gain = gain_max.filter(|gain| *gain >= 0.0005).map(|gain| number::percent(gain, 1));
    let grown = latency.map(|(name, (from, to))| {
        let (from, to) = (number::seconds(from), number::seconds(to));
        format!("{name} {from} -> {to} at {}", last.outstanding)
    });
    match (gain, grown) {
        (None, Some(grown)) => format!("; beyond that only latency grows: {grown}"),
        (Some(gain), Some(grown)) => {
            format!("; beyond that IOPS gain at most {gain} while latency grows: {grown}")
        }
        (Some(gain), None) => format!("; beyond that IOPS gain at most {gain}"),
        (None, None) => String::new(),
    }
}

/// The maximum, the asymptotic knee, and Little's law at both points.
fn knee_detail(knee: &Knee) -> String {
    let top = &knee.points[knee.maximum];
    let interval = |interval: Option<Interval>, say: fn(f64) -> String| {
        interval.map_or_else(String::new, |interval| {
            format!(" [{}, {}]", say(interval.low), say(interval.high))
        })
    };
    let maximum = interval(knee.maximum_interval, number::grouped);
    let corner = interval(knee.asymptotic_interval, number::figure);
    let (iops, n) = (number::grouped(top.iops.mean), top.iops.n);
    let mut parts = vec![format!("maximum {iops}{maximum} (n = {n}) IOPS at {}", outstanding(top))];
    parts.extend(top.latency_mean.as_ref().and_then(Estimate::mean_s).map(|mean| {
        let p99 = top.latency_p99.as_ref().and_then(Estimate::mean_s);
        let p99 = p99.map_or_else(String::new, |p99| format!(" (p99 {})", number::seconds(p99)));
        format!("mean latency at this point {}{p99}", number::seconds(mean))
    }));
    parts.extend(knee.asymptotic.map(|n| {
        format!(
            "asymptotic knee N* = maximum IOPS x lowest latency = {}{corner} outstanding",
            number::figure(n)
        )
    }));
    let points = knee.knee.map(|at| &knee.points[at]).into_iter().chain([top]);
    let worst =
        points.filter_map(|p| p.little).map(|little| little.difference.abs()).reduce(f64::max);
    let worst = worst.filter(|worst| *worst >= LITTLE_BY_CONSTRUCTION);
    parts.extend(worst.map(|worst| format!("Little's law within {}", number::percent(worst, 1))));
    format!("{}.", parts.join("; "))
}

/// `32 outstanding (2 threads x 16)`
fn outstanding(point: &KneePoint) -> String {
    format!("{} outstanding ({})", point.outstanding, threads(point))
}

/// `2 threads x 16`
fn threads(point: &KneePoint) -> String {
    format!("{} x {}", number::plural(point.threads as usize, "thread"), point.queue_depth)
}

/// `61,200 ± 1.2 % (n = 3)`
fn with_n(estimate: &Estimate) -> String {
    format!("{}{} (n = {})", number::grouped(estimate.mean), number::interval(estimate), estimate.n)
}

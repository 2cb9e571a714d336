//! What the disk probe measured: charts, figures, Little's law, the knee.

mod charts;
mod knee;

use crate::model::{Cell, Columns, Section};
use crate::names::label;
use crate::number;
use analysis::disk::LITTLE_TOLERANCE;
use analysis::{DiskFigures, DiskRow, DiskSummary, Estimate, Summary};

/// Charts and figures, the knee; nothing when the disk probe was not used.
pub(crate) fn sections(summary: &Summary, disk: Option<&DiskSummary>) -> Vec<Section> {
    let Some(disk) = disk else { return Vec::new() };
    let mut section = Section::new("Disk");
    section.note(legend(disk));
    charts::add(&mut section, summary, disk);
    little(&mut section, &disk.rows);
    let mut sections = vec![section, figures(disk)];
    sections.extend(streams(disk));
    sections.extend(knee::section(&disk.knees));
    sections
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

/// One line when depth, rate and latency fit each other everywhere, else one for each misfit.
fn little(section: &mut Section, rows: &[DiskRow]) {
    let known: Vec<_> = rows.iter().filter_map(|row| Some((row, row.little?))).collect();
    let worst = known.iter().map(|(_, little)| little.difference.abs()).fold(0.0, f64::max);
    if known.is_empty() {
        return;
    }
    if worst <= LITTLE_TOLERANCE {
        let one = "Little's law holds: I/Os in flight and IOPS x mean latency agree within";
        section.note(format!("{one} {}.", number::percent(worst, 1)));
        return;
    }
    for (row, little) in known.iter().filter(|(_, little)| !little.holds()) {
        let (product, depth) = (number::figure(little.product), number::figure(little.depth));
        let text = format!(
            "Little's law does not hold for {}: IOPS x mean latency is {product}, but {depth} I/Os were in flight \
             ({} of difference, {}).",
            label(&row.label),
            number::percent(little.difference.abs(), 1),
            number::plural(little.trials, "trial"),
        );
        section.warn(text);
    }
}

/// One of the figures.
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

/// A line of a table of figures: whose they are, of which stream, over how many trials.
type Row<'a> = (&'a str, &'a str, usize, &'a DiskFigures);

fn figures(disk: &DiskSummary) -> Section {
    let mut section = Section::new("Disk: figures");
    let rows = disk.rows.iter().map(|row| (label(&row.label), "", row.trials, &row.all));
    section.table(table(rows.collect()));
    section
}

/// Each of several streams; `None` where there is only one.
fn streams(disk: &DiskSummary) -> Option<Section> {
    let rows = disk.rows.iter().flat_map(|row| {
        row.streams.iter().map(|own| (label(&row.label), own.name.as_str(), row.trials, &own.figures))
    });
    let rows: Vec<Row> = rows.collect();
    let mut section = Section::new("Disk: streams");
    if !rows.is_empty() {
        section.table(table(rows));
    }
    section.unless_empty()
}

/// The figures that any line has. Times carry their unit, which depends on how long they are; the rest is named by the
/// heading.
fn table(rows: Vec<Row<'_>>) -> Columns<'_, Row<'_>> {
    let has_streams = rows.iter().any(|row| !row.1.is_empty());
    let shown = FIGURES.map(|(_, figure, _)| rows.iter().any(|row| figure(row.3).is_some()));
    let mut table = Columns::of(rows);
    table.name("configuration", |row| row.0);
    if has_streams {
        table.name("stream", |row| row.1);
    }
    table.right("n", |row| row.2);
    for ((heading, figure, order), _) in FIGURES.into_iter().zip(shown).filter(|(_, shown)| *shown) {
        let cell = move |row: &Row| {
            let estimate = figure(row.3)?;
            Some(match estimate.in_seconds() {
                Some(seconds) => Cell::from(&seconds),
                None => Cell::estimate_without_unit(estimate),
            })
        };
        table.left(heading, cell).optional(order);
    }
    table
}

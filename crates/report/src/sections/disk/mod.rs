//! What the disk probe measured: charts, figures, Little's law, the knee.

mod charts;
mod knee;

use crate::model::{Cell, Column, Section, Table, Tone};
use crate::names::label;
use crate::number;
use analysis::disk::LITTLE_TOLERANCE;
use analysis::{DiskFigures, DiskRow, DiskSummary, Estimate, Summary};

/// Charts and figures, the knee; nothing when the disk probe was not used.
pub(crate) fn sections(summary: &Summary, disk: Option<&DiskSummary>) -> Vec<Section> {
    let Some(disk) = disk else { return Vec::new() };
    let mut section = Section::new("Disk");
    section.toned(legend(disk), Tone::Muted);
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
        section.toned(format!("{one} {}.", number::percent(worst, 1)), Tone::Muted);
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
        section.toned(text, Tone::Warning);
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

fn figures(disk: &DiskSummary) -> Section {
    let mut section = Section::new("Disk: figures");
    let lines = disk.rows.iter().map(|row| (vec![label(&row.label).to_owned()], row.trials, &row.all));
    section.table(table(&["configuration"], &lines.collect::<Vec<_>>()));
    section
}

/// Each of several streams; `None` where there is only one.
fn streams(disk: &DiskSummary) -> Option<Section> {
    let line = |row: &DiskRow, name: &str| vec![label(&row.label).to_owned(), name.to_owned()];
    let lines: Vec<_> = disk
        .rows
        .iter()
        .flat_map(|row| row.streams.iter().map(move |own| (line(row, &own.name), row.trials, &own.figures)))
        .collect();
    let mut section = Section::new("Disk: streams");
    section.table(table(&["configuration", "stream"], &lines));
    (!lines.is_empty()).then_some(section)
}

/// The figures that any line has.
fn table(names: &[&str], lines: &[(Vec<String>, usize, &DiskFigures)]) -> Table {
    let shown: Vec<_> = FIGURES
        .iter()
        .filter(|(_, figure, _)| lines.iter().any(|(_, _, figures)| figure(figures).is_some()))
        .collect();
    let mut columns: Vec<Column> = names.iter().map(|name| Column::name(*name)).collect();
    columns.push(Column::right("n"));
    columns.extend(shown.iter().map(|(heading, _, order)| Column::left(*heading).optional(*order)));
    let rows = lines.iter().map(|(names, n, figures)| {
        let mut cells: Vec<Cell> = names.iter().map(|name| Cell::plain(name.as_str())).collect();
        cells.push(Cell::plain(n.to_string()));
        cells.extend(shown.iter().map(|(_, figure, _)| Cell::plain(said(figure(figures)))));
        cells
    });
    Table { columns, rows: rows.collect(), fixed: false }
}

/// Times carry their unit, which depends on how long they are; the rest is named by the heading.
fn said(estimate: Option<&Estimate>) -> String {
    let Some(estimate) = estimate else { return "-".to_owned() };
    match estimate.in_seconds() {
        Some(seconds) => number::estimate(&seconds),
        None => number::estimate_without_unit(estimate),
    }
}

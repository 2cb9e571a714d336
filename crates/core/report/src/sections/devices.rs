//! The kernel's counters of the block devices, next to the figures of the load.

use crate::model::{Cell, Column, Columns, Section};
use crate::{number, text};
use analysis::{ConfigurationDevices, DeviceFigures, Standing, Summary};

/// Most configurations that are shown; with more, only the baseline and the best are.
const CONFIGURATIONS_MAX: usize = 4;

/// `None` when no device was counted.
pub(crate) fn section(summary: &Summary, devices: &[ConfigurationDevices]) -> Option<Section> {
    let shown = baseline_and_best(summary, devices, |row| row.configuration);
    if shown.is_empty() {
        return None;
    }
    let mut section = Section::new("Devices");
    section.table(table(&shown));
    let trials = shown.iter().map(|row| row.trials).max().unwrap_or(0);
    let mut notes = vec![format!(
        "Means of {}, from the kernel's counters of all users of the device, after merging. \
         MB/s: 10^6 bytes per second; utilisation: share of time with I/O in flight; queue: I/Os \
         in flight.",
        number::plural(trials, "trial")
    )];
    if shown.len() < devices.len() {
        notes.push("The baseline and the best configuration are shown.".to_owned());
    }
    notes.extend(shown.iter().filter_map(|device_row| {
        let label = if device_row.label.is_empty() {
            "the load".to_owned()
        } else {
            device_row.label.clone()
        };
        device_row.write_copies.map(|n| {
            format!("{label}: the devices wrote {n} times as much as the load, as mirrors do.")
        })
    }));
    for note in notes {
        section.note(note);
    }
    Some(section)
}

/// Rows of configurations: all when they are few, else the baseline's and the best one's.
pub fn baseline_and_best<'s, T>(
    summary: &Summary,
    all: &'s [T],
    configuration: fn(&T) -> usize,
) -> Vec<&'s T> {
    let mut distinct: Vec<usize> = all.iter().map(configuration).collect();
    distinct.dedup();
    let few = distinct.len() <= CONFIGURATIONS_MAX;
    let shown = all.iter().filter(|device_row| {
        let row = summary.configurations.get(configuration(device_row));
        few || row.is_some_and(|row| row.baseline || row.standing == Standing::Best)
    });
    shown.collect()
}

/// Configuration, device, figures.
type Row<'a> = (&'a str, String, &'a DeviceFigures);

/// Heading, its figure, and when it is left out for want of room.
type Figure = (&'static str, fn(&DeviceFigures) -> Option<Cell>, u8);

const FIGURES: [Figure; 7] = [
    ("reads/s", |device_row| device_row.reads.as_ref().map(|reads| reads.mean.into()), 0),
    ("writes/s", |device_row| device_row.writes.as_ref().map(|writes| writes.mean.into()), 0),
    ("MB/s", |device_row| device_row.bytes.as_ref().map(|bytes| figure(bytes.mean / 1e6)), 0),
    (
        "read",
        |device_row| device_row.read_latency.as_ref().map(|latency| Cell::seconds(latency.mean)),
        0,
    ),
    (
        "write",
        |device_row| device_row.write_latency.as_ref().map(|latency| Cell::seconds(latency.mean)),
        0,
    ),
    (
        "utilisation",
        |device_row| device_row.utilisation.as_ref().map(|share| Cell::percent(share.mean, 0)),
        1,
    ),
    ("queue", |device_row| device_row.queue.as_ref().map(|queue| queue.mean.into()), 2),
];

fn figure(value: f64) -> Cell {
    Cell::from(value).shown(number::figure(value))
}

fn table<'a>(shown: &[&'a ConfigurationDevices]) -> Columns<'a, Row<'a>> {
    let rows = shown.iter().flat_map(|device_row| {
        let label = text::label(&device_row.label);
        let load = device_row
            .load
            .iter()
            .map(move |figures| (label, "the load itself".to_owned(), figures));
        let devices = device_row.devices.iter();
        load.chain(devices.map(move |device| {
            (label, format!("{} ({})", device.device, device.volume), &device.figures)
        }))
    });
    let mut table = Columns::for_rows(rows.collect::<Vec<Row>>());
    table.name("configuration", |row| row.0);
    table.name("device", |row| row.1.clone());
    for (heading, of, order) in FIGURES {
        table.with(Column::right(heading), move |row| of(row.2)).optional(order);
    }
    table
}

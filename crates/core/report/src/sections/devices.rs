//! The kernel's counters of the block devices, next to the figures of the load.

use crate::model::{Cell, Column, Columns, Section};
use crate::{number, text};
use analysis::{Ceiling, ConfigurationDevices, DeviceFigures, Limit, LimitUnit, Standing, Summary};

/// Most configurations that are shown; with more, only the baseline and the best are.
const CONFIGURATIONS_MAX: usize = 4;

/// `None` when no device was counted.
pub(crate) fn section(summary: &Summary, devices: &[ConfigurationDevices]) -> Option<Section> {
    let shown = shown(summary, devices, |summary| summary.configuration);
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

/// All when they are few, else the baseline's and the best one's.
fn shown<'s, T>(summary: &Summary, all: &'s [T], configuration: fn(&T) -> usize) -> Vec<&'s T> {
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

/// A sentence for each volume and direction; `None` when no ceiling was measured.
pub(crate) fn ceilings(summary: &Summary, ceilings: &[Ceiling]) -> Option<Section> {
    let shown = shown(summary, ceilings, |ceiling| ceiling.configuration);
    let mut section = Section::new("Storage ceiling");
    for ceiling in shown {
        section.line(sentence(ceiling));
        section.detail(evidence(ceiling));
    }
    section.unless_empty()
}

fn sentence(ceiling: &Ceiling) -> String {
    let label =
        if ceiling.label.is_empty() { String::new() } else { format!("{}: ", ceiling.label) };
    let decimals = usize::from(ceiling.share < 0.0995);
    let share = if ceiling.share < SHARE_MIN {
        format!("less than {}", number::percent(SHARE_MIN, 1))
    } else {
        number::percent(ceiling.share, decimals)
    };
    let interval = ceiling.interval.filter(|_| ceiling.share >= SHARE_MIN).map_or_else(
        String::new,
        |interval| {
            let end = |share: f64| number::fixed(100.0 * share, decimals);
            format!(" ({}-{} %)", end(interval.low), end(interval.high))
        },
    );
    let volumes = if ceiling.volume.are_several() { "volumes" } else { "volume" };
    let (limit, over) = limit(ceiling);
    let over = if ceiling.share > 1.0 { over } else { "" };
    format!(
        "{label}{volumes} {} ({}) did {share}{interval} of {limit}{over}.",
        ceiling.volume,
        ceiling.devices.join(", ")
    )
}

/// A share below this would be printed as 0.
const SHARE_MIN: f64 = 0.001;

/// The limit that the load is compared with, and a remark for loads above it.
fn limit(ceiling: &Ceiling) -> (String, &'static str) {
    match &ceiling.ceiling {
        Limit::Measured(measured) => {
            let interval = number::interval(&measured.iops);
            let limit = format!(
                "its measured {} {} {} ceiling (run {} of {}, {} IOPS{interval})",
                number::bytes(measured.block_bytes),
                if measured.random { "random" } else { "sequential" },
                ceiling.way.name(),
                measured.run,
                measured.experiment,
                number::grouped(measured.iops.mean),
            );
            let over = "; above the ceiling, because its I/Os are smaller or closer together, or \
                        more were in flight than in the measurement";
            (limit, over)
        }
        Limit::Throttle { throttle, unit } => {
            let (amount, unit) = match unit {
                LimitUnit::Iops => (number::grouped(*throttle), "IOPS"),
                LimitUnit::Bytes => (number::figure(throttle / 1e6), "MB/s"),
            };
            let limit = format!("its throttle of {amount} {unit} for {}s", ceiling.way.name());
            (
                limit,
                "; above the limit, because the kernel counts all users of the device and the \
                 throttle only the load",
            )
        }
    }
}

fn evidence(ceiling: &Ceiling) -> String {
    let held = match &ceiling.ceiling {
        Limit::Measured(measured) => {
            let by = if measured.label.is_empty() {
                String::new()
            } else {
                format!(" by {}", measured.label)
            };
            format!("ceiling{by} (n = {})", measured.iops.n)
        }
        Limit::Throttle { .. } => {
            "the disk probe did not measure it under this throttle".to_owned()
        }
    };
    let vague = if ceiling.interval.is_none() && ceiling.rate.n > 1 {
        " The interval of the share is too wide to print."
    } else {
        ""
    };
    format!(
        "{} from the kernel's counters of all processes, {} each on average (n = {}); \
         {held}.{vague}",
        number::estimate(&ceiling.rate),
        number::bytes(ceiling.mean_bytes as u64),
        ceiling.rate.n,
    )
}

//! Percentiles of every latency distribution.

use super::book::{Book, Size};
use super::cell::Value;
use super::columns::{Row, of_trials, seen};
use observations::{Histogram, Latency, Recording};
use rust_xlsxwriter::XlsxError;

const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// A distribution's figures, read once.
#[derive(Clone)]
struct Figures<'a> {
    name: &'a str,
    count: u64,
    min_mean_max_ns: (u64, f64, u64),
    percentiles_ns: [u64; PERCENTILES.len()],
}

impl<'a> Figures<'a> {
    fn of(latency: &'a Latency) -> Self {
        // A stored histogram is unpacked for each question; a sum of one is unpacked once.
        let mut open = Histogram::default();
        open.merge(&latency.histogram);
        Self {
            name: &latency.name,
            count: open.len(),
            min_mean_max_ns: open.min_mean_max_ns(),
            percentiles_ns: PERCENTILES.map(|percentile| open.percentile_ns(percentile)),
        }
    }
}

pub fn sheet(book: &mut Book, recording: &Recording) -> Result<(), XlsxError> {
    let figures: Vec<Row<'_, Figures<'_>>> = seen(recording)
        .flat_map(|Row { number, trial, part }| {
            let recorded = part.latencies.iter().filter(|latency| !latency.histogram.is_empty());
            recorded.map(move |latency| Row { number, trial, part: Figures::of(latency) })
        })
        .collect();
    let mut columns = of_trials::<&Figures<'_>>(recording);
    let ms = |ns: f64| Value::Number(ns / 1e6);
    columns.add("latency", |row| Value::text(row.part.name));
    columns.add("recorded", |row| Value::Count(row.part.count));
    columns.add("smallest (ms)", move |row| ms(row.part.min_mean_max_ns.0 as f64));
    columns.add("mean (ms)", move |row| ms(row.part.min_mean_max_ns.1));
    for (at, percentile) in PERCENTILES.into_iter().enumerate() {
        columns.add(format!("p{percentile} (ms)"), move |row| ms(row.part.percentiles_ns[at] as f64));
    }
    columns.add("largest (ms)", move |row| ms(row.part.min_mean_max_ns.2 as f64));
    let items = figures.iter().map(|Row { number, trial, part }| Row { number: *number, trial, part });
    book.table("Latency", Size::Large, &columns, items)
}

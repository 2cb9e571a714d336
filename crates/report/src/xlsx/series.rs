//! Figures over time: one row for each interval.

use super::book::{Book, Size};
use super::cell::Value;
use super::columns::{Row, of_trials, seen};
use observations::{Recording, Series};
use rust_xlsxwriter::XlsxError;

/// An interval of a series.
type Interval<'a> = (&'a Series, usize);

pub fn sheet(book: &mut Book, recording: &Recording) -> Result<(), XlsxError> {
    let start = |(series, at): Interval| series.start_s + at as f64 * series.interval_s;
    let mut columns = of_trials::<Interval<'_>>(recording);
    columns.add("series", |row| Value::text(&row.part.0.name));
    columns.add("unit", |row| Value::text(&row.part.0.unit));
    columns.add("from second", move |row| Value::Number(start(row.part)));
    columns.add("length (s)", |row| Value::Number(row.part.0.interval_s));
    columns.add("warm-up", move |row| Value::Bool(start(row.part) < 0.0));
    columns.add("value", |row| Value::number(row.part.0.values.get(row.part.1).copied()));
    let items = seen(recording).flat_map(|Row { number, trial, part }| {
        part.series.iter().flat_map(move |series| {
            (0..series.values.len()).map(move |at| Row { number, trial, part: (series, at) })
        })
    });
    book.table("Series", Size::Large, &columns, items)
}

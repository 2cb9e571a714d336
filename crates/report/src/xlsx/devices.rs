//! What the kernel counted of the block devices under every trial.

use super::book::{Book, Size};
use super::cell::Value;
use super::columns::{Row, of_trials, seen};
use observations::{DeviceUse, Recording};
use rust_xlsxwriter::XlsxError;

pub fn sheet(book: &mut Book, recording: &Recording) -> Result<(), XlsxError> {
    let mut columns = of_trials::<&DeviceUse>(recording);
    columns.add("volume", |row| Value::text(&row.part.volume));
    columns.add("device", |row| Value::text(&row.part.device));
    let mut figure = |heading: &str, figure: fn(&DeviceUse) -> Value<'static>| {
        columns.add(heading, move |row| figure(row.part));
    };
    figure("reads", |used| Value::Count(used.reads));
    figure("bytes read", |used| Value::Count(used.read_bytes));
    figure("writes", |used| Value::Count(used.writes));
    figure("bytes written", |used| Value::Count(used.write_bytes));
    figure("flushes", |used| Value::Count(used.flushes));
    figure("reads a second", |used| rate(used, used.reads as f64));
    figure("writes a second", |used| rate(used, used.writes as f64));
    figure("MB a second", |used| rate(used, (used.read_bytes as f64 + used.write_bytes as f64) / 1e6));
    figure("mean read (ms)", |used| mean_ms(used.read_s, used.reads));
    figure("mean write (ms)", |used| mean_ms(used.write_s, used.writes));
    figure("mean flush (ms)", |used| mean_ms(used.flush_s, used.flushes));
    figure("utilisation", |used| Value::share(per(used.busy_s, used.elapsed_s)));
    figure("mean queue", |used| Value::number(per(used.queue_s, used.elapsed_s)));
    figure("reads (s)", |used| Value::Number(used.read_s));
    figure("writes (s)", |used| Value::Number(used.write_s));
    figure("flushes (s)", |used| Value::Number(used.flush_s));
    figure("busy (s)", |used| Value::Number(used.busy_s));
    figure("queue (s)", |used| Value::Number(used.queue_s));
    figure("watched (s)", |used| Value::Number(used.elapsed_s));
    let items = seen(recording).flat_map(|Row { number, trial, part }| {
        part.devices.iter().map(move |device| Row { number, trial, part: device })
    });
    book.table("Devices", Size::Large, &columns, items)
}

fn rate(used: &DeviceUse, amount: f64) -> Value<'static> {
    Value::number(per(amount, used.elapsed_s))
}

fn mean_ms(seconds: f64, count: u64) -> Value<'static> {
    Value::number(per(seconds * 1e3, count as f64))
}

fn per(amount: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| amount / of)
}

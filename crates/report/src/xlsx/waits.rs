//! The nine columns of every trial.

use super::book::{Book, Size};
use super::cell::Value;
use super::columns::{Row, of_trials, seen};
use analysis::waits::HEADINGS;
use analysis::{WaitRow, WaitTable};
use observations::{Observations, Recording, WaitSource};
use rust_xlsxwriter::XlsxError;

/// A row of a trial's wait table.
struct Waited {
    row: WaitRow,
    /// The count of the row, which has it only as precise as means are.
    count: Option<u64>,
    /// Whether it is of those that make up the top 95 %.
    top: bool,
}

pub fn sheet(book: &mut Book, recording: &Recording) -> Result<(), XlsxError> {
    let mut columns = of_trials::<Waited>(recording);
    let figures: [fn(&Waited) -> Value<'static>; 9] = [
        |of| of.row.wait_type.clone().into(),
        |of| Value::Number(of.row.wait_s),
        |of| Value::Number(of.row.resource_s),
        |of| Value::Number(of.row.signal_s),
        |of| Value::count(of.count),
        |of| Value::Share(of.row.percentage / 100.0),
        |of| Value::number(of.row.average.map(|average| average.wait_s)),
        |of| Value::number(of.row.average.map(|average| average.resource_s)),
        |of| Value::number(of.row.average.map(|average| average.signal_s)),
    ];
    for (heading, figure) in HEADINGS.into_iter().zip(figures) {
        columns.add(heading, move |item: &Row<'_, Waited>| figure(&item.part));
    }
    columns.add("class", |item| Value::text(item.part.row.class.name()));
    columns.add("top 95 %", |item| Value::Bool(item.part.top));
    columns.add("sampled (Hz)", |item| match item.part.row.source {
        WaitSource::Counted => Value::Empty,
        WaitSource::Sampled { hz } => Value::Number(hz),
    });
    let items = seen(recording).flat_map(|Row { number, trial, part }| {
        let WaitTable { rows, top, .. } = WaitTable::of_trials([part]);
        let rows = (0..).zip(rows);
        rows.map(move |(at, row)| {
            let count = count(part, &row.wait_type);
            Row { number, trial, part: Waited { row, count, top: at < top } }
        })
    });
    book.table("Waits", Size::Large, &columns, items)
}

/// Number of waits of a type; `None` where the engine does not count them.
fn count(seen: &Observations, wait_type: &str) -> Option<u64> {
    let mut own = seen.waits.iter().filter(|wait| wait.wait_type == wait_type);
    own.try_fold(0_u64, |sum, wait| Some(sum.saturating_add(wait.count?)))
}

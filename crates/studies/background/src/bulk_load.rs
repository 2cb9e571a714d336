//! Loading rows into a table of its own beside a load, by the bulk path of the engine.

use crate::outcome::Outcome;
use datasets::{DataSet, Size};
use engine::EngineError;
use observe::CpuUse;
use probe::TrialContext;
use std::time::{Duration, Instant};
use work::{Rows, Work};

/// The table, which is in what the trial has made, and is removed with it.
const TABLE: &str = "steelbench_bulk_load";
/// The columns and rows.
const DATA: &str = "synthetic";
/// Rows from which the bytes of a row follow.
const SAMPLE_ROWS: u64 = 1000;

/// Makes the table and loads rows of this many bytes, no more than `rate` a second.
pub fn run(
    context: &TrialContext<'_>,
    bytes: u64,
    rate: Option<f64>,
) -> Result<Outcome, EngineError> {
    let data_set = |rows| DataSet::new(DATA, Size { rows, ..Size::default() });
    let row_bytes =
        data_set(SAMPLE_ROWS).map_or(1, |data_set| data_set.row_bytes() / SAMPLE_ROWS).max(1);
    let rows = (bytes / row_bytes).max(1);
    let set = data_set(rows)
        .ok_or(EngineError::Unsupported { engine: "the data set of a bulk load", what: "rows" })?;
    let (used, start, cancel) = (CpuUse::of_this_thread(), Instant::now(), context.cancel.clone());
    let mut tables = set.tables();
    for table in &mut tables {
        table.name = TABLE;
    }
    let mut fills = set.fills();
    for fill in &mut fills {
        let batches = std::mem::replace(&mut fill.batches, Box::new(std::iter::empty()));
        let (cancel, mut taken) = (cancel.clone(), 0);
        fill.batches = Box::new(batches.inspect(move |batch: &Rows| {
            if let Some(rate) = rate {
                cancel.wait_until(start + Duration::from_secs_f64(taken as f64 / rate));
            }
            taken += batch.count as u64 * row_bytes;
        }));
    }
    context.instance.create(Work { tables, fills, ..Work::default() })?;
    Ok(Outcome { cpu_s: Some(used.seconds()), bytes: Some(rows * row_bytes), backup: None })
}

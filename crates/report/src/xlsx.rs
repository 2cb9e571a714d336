//! A run as a workbook for spreadsheets and for programs that read their files.
//!
//! Each sheet is one table with a filter and a frozen heading; every figure is a number with the digits that
//! were recorded, shown with fewer. A string is always written as a string and never as a formula. The sheets that
//! grow with the number of trials pass through temporary files, so that memory does not grow with them.

mod book;
mod cell;
mod charts;
mod columns;
mod configurations;
mod devices;
mod latency;
mod pivot;
mod profile;
mod records;
mod series;
mod trials;
mod verdict;
mod waits;

use analysis::Summary;
use book::Book;
use observations::Recording;

/// The workbook could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the workbook: {0}; are there room and rights in the folder for temporary files?")]
pub struct WorkbookError(#[from] rust_xlsxwriter::XlsxError);

/// The bytes of an .xlsx file with all that was recorded of a run and what was found in it. The same run
/// gives the same bytes.
///
/// # Errors
/// When temporary files cannot be written.
pub fn xlsx(recording: &Recording, summary: &Summary) -> Result<Vec<u8>, WorkbookError> {
    let mut book = Book::new(recording.run.started_ms)?;
    verdict::sheet(&mut book, summary)?;
    pivot::sheet(&mut book, recording, summary)?;
    profile::sheet(&mut book, recording, summary)?;
    configurations::sheet(&mut book, recording, summary)?;
    trials::sheet(&mut book, recording)?;
    waits::sheet(&mut book, recording)?;
    latency::sheet(&mut book, recording)?;
    series::sheet(&mut book, recording)?;
    devices::sheet(&mut book, recording)?;
    records::settings(&mut book, recording)?;
    records::environment(&mut book, recording)?;
    records::experiment(&mut book, recording)?;
    Ok(book.finish()?)
}

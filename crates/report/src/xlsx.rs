//! A run as a workbook for spreadsheets and for programs that read their files.
//!
//! Each sheet is one table with a filter and a frozen heading; every figure is a number with the digits that
//! were recorded, shown with fewer. A string is always written as a string and never as a formula. The sheets that
//! grow with the number of trials pass through temporary files, so that memory does not grow with them.

mod book;
mod cell;
mod response;
mod summary;

use crate::data;
use analysis::Summary;
use book::{Book, Size};
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
    summary::verdict(&mut book, summary)?;
    response::sheet(&mut book, recording, summary)?;
    summary::profile(&mut book, recording, summary)?;
    summary::configurations(&mut book, recording, summary)?;
    for table in data::tables(recording) {
        book.table(Size::Large, &table)?;
    }
    book.table(Size::Large, &data::settings(recording))?;
    book.table(Size::Small, &data::environment(recording))?;
    book.table(Size::Large, &data::experiment(recording))?;
    Ok(book.finish()?)
}

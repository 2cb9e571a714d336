//! A run as a workbook for spreadsheets and for programs that read their files: a sheet for each
//! table, and one that is the report.
//!
//! Each sheet of a table has a filter and a frozen heading; every figure is a number with the
//! digits that were recorded, shown with fewer. A string is always written as a string and never as
//! a formula. The sheets that grow with the number of trials pass through temporary files, so that
//! memory does not grow with them.

mod sheet;

use crate::model::Medium;
use crate::ours::AUTHOR;
use crate::table::{Plot, PlotKind, Table};
use crate::{StudySections, recording, workbook};
use analysis::Summary;
use rust_xlsxwriter::{
    Chart, ChartErrorBars, ChartErrorBarsType, ChartRange, ChartType, DocProperties, ExcelDateTime,
    Workbook, Worksheet, XlsxError,
};
use sheet::Survey;
use std::io::Write;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::Builder;
use std::time::SystemTime;

/// Rows of a sheet below the heading (Excel's limit is 2^20 in all).
const ROWS_MAX: u64 = (1 << 20) - 1;
/// Compression level of the sheets: a fifth larger than at the usual level 6, in a third of its
/// time.
const COMPRESSION: u8 = 2;
/// Threads that must be available for each sheet: the kernel counts one that has ended for a moment
/// longer than its creator waits for it.
const THREADS_PER_SHEET: usize = 2;
/// Size of charts in pixels.
const CHART: (u32, u32) = (900, 480);

/// The workbook could not be made.
#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    /// The library or the file refuses it.
    #[error(
        "cannot write the workbook: {0}; check free space and rights there and in the folder for \
         temporary files"
    )]
    Content(#[from] XlsxError),
    /// The library assembles sheets in threads, and panics when one does not start.
    #[error(
        "cannot write the workbook: starting threads for its sheets: {0}; raise the limit of \
         processes (`ulimit -u`) or export as CSV"
    )]
    Threads(std::io::Error),
    /// The library panics at such a time of day.
    #[error(
        "cannot write the workbook: the clock of this machine is before 1970; set it or export as \
         CSV"
    )]
    Clock,
}

/// Writes an .xlsx file with all that was recorded of a run and what was found in it. The same run
/// gives the same bytes.
///
/// # Errors
/// When it or temporary files cannot be written.
pub fn xlsx(
    summary: &Summary,
    studies: StudySections<'_>,
    writer: &mut (dyn Write + Send),
) -> Result<(), WorkbookError> {
    let mut book = dated(summary.recording.run.started_ms)?;
    for table in workbook::tables(summary) {
        sheets(&mut book, &table, ROWS_MAX)?;
    }
    sheet::report(&mut book, &crate::run(summary, studies, Medium::Page))?;
    let recorded =
        [recording::settings, recording::environment, recording::experiment, recording::files];
    let recorded = recorded.into_iter().map(|table| table(summary.recording));
    for table in recording::tables(summary.recording).into_iter().chain(recorded) {
        sheets(&mut book, &table, ROWS_MAX)?;
    }
    save(&mut book, writer)
}

/// Writes an .xlsx file with a sheet for each table, dated with the time of its data.
///
/// # Errors
/// When it or temporary files cannot be written.
pub fn tables_xlsx<'t>(
    tables: impl IntoIterator<Item = Table<'t>>,
    taken_ms: i64,
    writer: &mut (dyn Write + Send),
) -> Result<(), WorkbookError> {
    let mut book = dated(taken_ms)?;
    for table in tables {
        sheets(&mut book, &table, ROWS_MAX)?;
    }
    save(&mut book, writer)
}

/// Saves a workbook if its library can start the threads that it does not check for.
fn save(book: &mut Workbook, writer: &mut (dyn Write + Send)) -> Result<(), WorkbookError> {
    can_start_threads(THREADS_PER_SHEET * book.worksheets().len())
        .map_err(WorkbookError::Threads)?;
    Ok(book.save_to_writer(writer)?)
}

/// Starts this many threads that exist simultaneously, and ends them.
fn can_start_threads(count: usize) -> std::io::Result<()> {
    let (hold, end) = mpsc::sync_channel::<()>(0);
    let end = Arc::new(Mutex::new(end));
    let started: std::io::Result<Vec<_>> = (0..count)
        .map(|_| {
            let end = Arc::clone(&end);
            Builder::new().name("sheet".into()).spawn(move || {
                // Fails when `hold` is dropped.
                let _ = end.lock().map(|end| end.recv());
            })
        })
        .collect();
    drop(hold);
    for thread in started? {
        // It cannot panic.
        let _ = thread.join();
    }
    Ok(())
}

/// An empty one. A file has a date; that of its data makes it the same each time.
fn dated(ms: i64) -> Result<Workbook, WorkbookError> {
    if SystemTime::now() < SystemTime::UNIX_EPOCH {
        return Err(WorkbookError::Clock);
    }
    let mut book = Workbook::new();
    book.set_zip_compression_level(COMPRESSION);
    let date = ExcelDateTime::from_timestamp(ms.div_euclid(1000).clamp(0, 253_402_300_799))?;
    book.set_properties(&DocProperties::new().set_author(AUTHOR).set_creation_datetime(&date));
    Ok(book)
}

/// A table on a sheet that is called like it, continued on further sheets; what a chart shows has
/// to stay in memory.
fn sheets(book: &mut Workbook, table: &Table, rows_max: u64) -> Result<(), XlsxError> {
    let survey = Survey::measure(table);
    let (first, rest) = table.name.split_at(1);
    let name = first.to_uppercase() + rest;
    let mut rows = table.rows();
    let mut left = survey.rows;
    for number in 1.. {
        let sheet = match table.plot {
            Some(_) => book.add_worksheet(),
            None => book.add_worksheet_with_low_memory()?,
        };
        sheet.set_name(if number == 1 { name.clone() } else { format!("{name} {number}") })?;
        let here = left.min(rows_max);
        let top = sheet::lines(sheet, &table.lines)?;
        survey.columns(sheet)?;
        survey.table(sheet, top, table, &mut rows, here, true)?;
        sheet.set_freeze_panes(top + 1, 0)?;
        if let Some(plot) = &table.plot {
            draw(sheet, plot, here as u32)?;
        }
        left -= here;
        if left == 0 {
            break;
        }
    }
    Ok(())
}

/// A chart below a table that begins at the top.
fn draw(sheet: &mut Worksheet, plot: &Plot, rows: u32) -> Result<(), XlsxError> {
    let name = sheet.name();
    let range =
        |column: usize| ChartRange::new_from_range(&name, 1, column as u16, rows, column as u16);
    let mut chart = Chart::new(match plot.kind {
        PlotKind::Lines => ChartType::Line,
        PlotKind::Columns => ChartType::Column,
        PlotKind::Stacked => ChartType::ColumnStacked,
    });
    for plotted in &plot.series {
        let series = chart.add_series().set_name(plotted.name.as_str());
        series.set_categories(&range(0)).set_values(&range(plotted.values));
        if let Some((above, below)) = plotted.reach {
            let bars = ChartErrorBarsType::Custom(range(above), range(below));
            series.set_y_error_bars(ChartErrorBars::new().set_type(bars));
        }
    }
    chart.title().set_name(plot.title.as_str());
    if plot.kind == PlotKind::Stacked {
        chart.y_axis().set_num_format("0%");
    } else {
        chart.x_axis().set_name(plot.x.as_str());
        chart.y_axis().set_name(plot.y.as_str()).set_min(0);
    }
    chart.set_width(CHART.0).set_height(CHART.1);
    sheet.insert_chart(rows + 3, 0, &chart)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Columns;

    #[test]
    fn continues_on_further_sheets() {
        for (rows, names) in [(0, vec!["N"]), (3, vec!["N"]), (7, vec!["N", "N 2", "N 3"])] {
            let mut columns = Columns::for_rows(0..rows);
            columns.add("n", "", |n: &u64| *n);
            let mut book = Workbook::new();
            sheets(&mut book, &columns.named("n"), 3).unwrap();
            let found: Vec<String> = book.worksheets().iter().map(Worksheet::name).collect();
            assert_eq!(found, names);
            assert_eq!(book.save_to_buffer().unwrap()[..2], *b"PK");
        }
    }
}

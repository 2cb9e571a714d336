use super::replace::{make_folder, replace_file};
use super::table::{Cell, Sink, Table};
use super::tables;
use crate::Result;
use observations::Recording;
use std::path::{Path, PathBuf};

/// Writes `trials.csv`, `waits.csv`, `latencies.csv`, `operations.csv`, `series.csv` and `devices.csv` to
/// a folder, which is made if need be, and returns their paths.
///
/// Every factor is a column in each; an empty cell means unknown. Times of day are milliseconds
/// since 1970 UTC; numbers are written so that they read back exactly.
///
/// # Errors
/// `Export` or `Io`; a file that could not be completed is left as it was.
pub fn export_csv(recording: &Recording, folder: &Path) -> Result<Vec<PathBuf>> {
    make_folder(folder)?;
    let mut sink = CsvFolder { folder, written: Vec::new() };
    tables::write_all(recording, &mut sink)?;
    Ok(sink.written)
}

struct CsvFolder<'f> {
    folder: &'f Path,
    written: Vec<PathBuf>,
}

impl Sink for CsvFolder<'_> {
    fn table<T>(&mut self, table: Table<'_, T>) -> Result<()> {
        let path = self.folder.join(format!("{}.csv", table.name));
        replace_file(&path, |file| -> Result<(), csv::Error> {
            let columns = &table.columns.0;
            let mut writer = csv::Writer::from_writer(file);
            writer.write_record(table.columns.names())?;
            for item in table.items {
                for column in columns {
                    writer.write_field(text(&(column.cell)(&item)))?;
                }
                writer.write_record(None::<&[u8]>)?;
            }
            Ok(writer.flush()?)
        })?;
        self.written.push(path);
        Ok(())
    }
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Text(text) => text.to_string(),
        Cell::Bool(value) => value.to_string(),
        Cell::Integer(value) | Cell::Time(value) => value.to_string(),
        Cell::Unsigned(value) => value.to_string(),
        // Exponents only where the digits would run on for long.
        Cell::Real(value) if *value != 0.0 && !(1e-6..1e16).contains(&value.abs()) => format!("{value:?}"),
        Cell::Real(value) => value.to_string(),
    }
}

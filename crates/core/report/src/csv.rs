//! A table as a CSV file.

use crate::table::{Datum, Table};
use std::io::{self, Write};

impl Table<'_> {
    /// Writes the table as CSV. An empty cell means unknown. Times of day are milliseconds since
    /// 1970 UTC; numbers are written so that they read back exactly.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn csv(&self, writer: impl Write) -> io::Result<()> {
        let mut writer = ::csv::Writer::from_writer(writer);
        writer.write_record(self.keys())?;
        for row in self.rows() {
            writer.write_record(row.iter().map(|cell| text(&cell.value)))?;
        }
        writer.flush()
    }
}

fn text(datum: &Datum) -> String {
    match datum {
        Datum::Empty => String::new(),
        Datum::Text(text) => text.clone(),
        Datum::Bool(value) => value.to_string(),
        Datum::Integer(value) | Datum::Time(value) => value.to_string(),
        Datum::Count(value) => value.to_string(),
        // Exponents only where the digits would run on for long.
        Datum::Number(value) | Datum::Share(value)
            if *value != 0.0 && !(1e-6..1e16).contains(&value.abs()) =>
        {
            format!("{value:?}")
        }
        Datum::Number(value) | Datum::Share(value) => value.to_string(),
    }
}

//! Data sets as files, a table each. A column that only fills pages is left out: its width is an
//! engine's to choose.

use csv::{QuoteStyle, WriterBuilder};
use std::io::{self, Write};
use work::Fill;

/// Writes the rows of a table as CSV, with the names of the columns in the first line; gives the
/// number of rows.
///
/// # Errors
/// Those of the writer.
pub fn csv(fill: Fill, writer: impl Write) -> io::Result<u64> {
    let mut writer = WriterBuilder::new().quote_style(QuoteStyle::Necessary).from_writer(writer);
    writer.write_record(&fill.columns)?;
    let (mut count, mut text) = (0, String::new());
    for rows in fill.batches {
        for row in 0..rows.count {
            for values in &rows.columns {
                text.clear();
                // Writing to memory cannot fail.
                let _ = values.write(row, &mut text);
                writer.write_field(&text)?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        count += rows.count as u64;
    }
    writer.flush()?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::csv;
    use crate::{DataSet, Size};

    #[test]
    fn rows_are_lines_with_the_names_of_the_columns_first() {
        let set = DataSet::new("region", Size::default()).unwrap();
        let mut file = Vec::new();
        assert_eq!(csv(set.fills().remove(0), &mut file).unwrap(), 5);
        let text = String::from_utf8(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[0], "r_regionkey,r_name,r_comment");
        assert!(lines[1].starts_with("0,AFRICA,"), "{}", lines[1]);
    }
}

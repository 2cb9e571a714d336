use super::cell::{Shown, Written, is_large, written};
use crate::Text;
use crate::data::{Column, Datum, Table};
use rust_xlsxwriter::{
    DocProperties, ExcelDateTime, Format, FormatAlign, TableColumn, TableStyle, Workbook, Worksheet,
    XlsxError,
};
use std::collections::HashSet;

/// Rows of a sheet below the heading (Excel's limit is 2^20 in all).
const ROWS_MAX: u64 = (1 << 20) - 1;
/// A heading holds no longer text than this (Excel's limit for columns of tables is 255 units).
const HEADING_MAX: usize = 100;
/// Widths of columns, in characters.
const WIDTHS: (usize, usize) = (9, 60);

/// A workbook in the making.
pub struct Book {
    workbook: Workbook,
}

/// How many rows a sheet may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// As many as a person reads; charts can show them.
    Small,
    /// As many as there are trials or more: kept in a temporary file, continued on further sheets.
    Large,
}

impl Book {
    /// A file has a date; the run's own makes it the same each time.
    pub fn new(started_ms: i64) -> Result<Self, XlsxError> {
        let mut workbook = Workbook::new();
        let started = ExcelDateTime::from_timestamp(started_ms.div_euclid(1000).clamp(0, 253_402_300_799))?;
        workbook
            .set_properties(&DocProperties::new().set_author("Steelbench").set_creation_datetime(&started));
        Ok(Self { workbook })
    }

    pub fn sheet(&mut self, name: &str) -> Result<&mut Worksheet, XlsxError> {
        self.workbook.worksheet_from_name(name)
    }

    pub fn finish(mut self) -> Result<Vec<u8>, XlsxError> {
        self.workbook.save_to_buffer()
    }

    /// A sheet that is one table, and is called like it.
    pub fn table(&mut self, size: Size, table: &Table) -> Result<(), XlsxError> {
        self.parts(size, table, ROWS_MAX)
    }

    /// A sheet with a few lines above a table of few rows.
    pub fn titled(&mut self, lines: &[String], table: &Table) -> Result<(), XlsxError> {
        let survey = Survey::of(table);
        let sheet = self.workbook.add_worksheet().set_name(sheet_name(table))?;
        for (row, line) in (0..).zip(lines) {
            let written = written(&line.as_str().into());
            Looks::new(0.0, false, row == 0).write(sheet, row, 0, &written)?;
        }
        part(sheet, lines.len() as u32 + 1, table, &survey, &mut table.rows(), survey.rows)
    }

    fn parts(&mut self, size: Size, table: &Table, rows_max: u64) -> Result<(), XlsxError> {
        let survey = Survey::of(table);
        let name = sheet_name(table);
        let mut rows = table.rows();
        let mut left = survey.rows;
        for number in 1.. {
            let sheet = match size {
                Size::Small => self.workbook.add_worksheet(),
                Size::Large => self.workbook.add_worksheet_with_low_memory()?,
            };
            sheet.set_name(if number == 1 { name.clone() } else { format!("{name} {number}") })?;
            let here = left.min(rows_max);
            part(sheet, 0, table, &survey, &mut rows, here)?;
            left -= here;
            if left == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// `Trials` of the table `trials`.
fn sheet_name(table: &Table) -> String {
    let (first, rest) = table.name.split_at(1);
    first.to_uppercase() + rest
}

/// What has to be known of all rows before the first is written.
struct Survey {
    rows: u64,
    columns: Vec<ColumnSurvey>,
}

/// What the cells of a column are like.
#[derive(Debug, Clone, Default)]
struct ColumnSurvey {
    /// Whether a count is too large for a number.
    large: bool,
    /// The number farthest from zero.
    most: f64,
    /// Characters of the longest text.
    longest: usize,
}

impl Survey {
    fn of(table: &Table) -> Self {
        let mut survey = Self { rows: 0, columns: vec![ColumnSurvey::default(); table.columns.len()] };
        for row in table.rows() {
            survey.rows += 1;
            for ((found, column), datum) in survey.columns.iter_mut().zip(&table.columns).zip(row) {
                found.see(&column.for_people(datum));
            }
        }
        survey
    }

    /// Headings for a table, in which each has to be another one whatever its case.
    fn headings(&self, columns: &[Column]) -> Vec<String> {
        let mut taken = HashSet::new();
        let one = |(column, found): (&Column, &ColumnSurvey)| {
            let mut heading: String =
                Text::from(column.heading()).as_str().chars().take(HEADING_MAX).collect();
            if found.large {
                heading.push_str(" (above 2^53 as text)");
            }
            let plain = heading.clone();
            let mut copy = 1;
            while heading.is_empty() || !taken.insert(heading.to_lowercase()) {
                copy += 1;
                heading = format!("{plain} ({copy})");
            }
            heading
        };
        columns.iter().zip(&self.columns).map(one).collect()
    }
}

impl ColumnSurvey {
    fn see(&mut self, datum: &Datum) {
        self.large |= is_large(datum);
        match datum {
            // The length as it will be written matters only for the width.
            Datum::Text(text) => self.longest = self.longest.max(text.chars().take(100).count()),
            other => {
                if let Written::Number(number, Shown::Number) = written(other) {
                    self.most = self.most.max(number.abs());
                }
            }
        }
    }
}

/// So many rows of a table, from a row of a sheet on.
fn part(
    sheet: &mut Worksheet,
    top: u32,
    table: &Table,
    survey: &Survey,
    rows: &mut dyn Iterator<Item = Vec<Datum<'_>>>,
    here: u64,
) -> Result<(), XlsxError> {
    let columns = &table.columns;
    let headings = survey.headings(columns);
    let table_columns: Vec<TableColumn> = headings.iter().map(|heading| table_column(heading)).collect();
    let range = rust_xlsxwriter::Table::new().set_style(TableStyle::Light9).set_columns(&table_columns);
    // A table without rows is none: it keeps an empty one.
    let last = (top + 1).max(top + here as u32);
    sheet.add_table(top, 0, last, columns.len() as u16 - 1, &range)?;
    sheet.set_freeze_panes(top + 1, 0)?;
    let looks: Vec<Looks> = columns
        .iter()
        .zip(&survey.columns)
        .map(|(column, found)| Looks::new(found.most, column.wrapped, false))
        .collect();
    for (row, cells) in (top + 1..).zip(rows.take(here as usize)) {
        for (index, ((column, looks), datum)) in (0..).zip(columns.iter().zip(&looks).zip(cells)) {
            looks.write(sheet, row, index, &written(&column.for_people(datum)))?;
        }
    }
    for (index, (heading, (column, found))) in
        (0..).zip(headings.iter().zip(columns.iter().zip(&survey.columns)))
    {
        sheet.set_column_width(index, width(heading, column.wrapped, found.longest))?;
    }
    Ok(())
}

fn table_column(heading: &str) -> TableColumn {
    let column = TableColumn::new().set_header(heading);
    if like_formula(heading) { column.set_header_format(Format::new().set_quote_prefix()) } else { column }
}

/// Whether a spreadsheet would take this for a formula if somebody typed it.
fn like_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@'])
}

/// Room for the heading with its button, and for text up to a limit.
fn width(heading: &str, wrapped: bool, longest: usize) -> u32 {
    let (least, most) = WIDTHS;
    let most = if wrapped { most + 20 } else { most };
    (heading.chars().count() + 3).max(longest + 1).clamp(least, most) as u32
}

/// The formats of a column.
struct Looks {
    number: Format,
    whole: Format,
    percent: Format,
    date: Format,
    text: Format,
    /// Text that begins like a formula: it stays text also when somebody edits it.
    quoted: Format,
}

impl Looks {
    fn new(most: f64, wrapped: bool, bold: bool) -> Self {
        let base = || {
            let base = Format::new().set_align(FormatAlign::Top);
            let base = if bold { base.set_bold().set_font_size(14) } else { base };
            if wrapped { base.set_text_wrap() } else { base }
        };
        // Enough digits to tell the column's figures apart; the cell holds them all.
        let digits = match most {
            most if most >= 1e4 => "#,##0",
            most if most >= 100.0 => "#,##0.00",
            most if most >= 0.1 => "0.0000",
            most if most > 1e-4 => "0.0000000",
            most if most > 0.0 => "0.000E+00",
            _ => "0",
        };
        Self {
            number: base().set_num_format(digits),
            whole: base().set_num_format("#,##0"),
            percent: base().set_num_format("0.00%"),
            date: base().set_num_format("yyyy-mm-dd hh:mm:ss"),
            text: base(),
            quoted: base().set_quote_prefix(),
        }
    }

    fn write(&self, sheet: &mut Worksheet, row: u32, column: u16, cell: &Written) -> Result<(), XlsxError> {
        match cell {
            Written::Empty => {}
            Written::Bool(value) => drop(sheet.write_boolean_with_format(row, column, *value, &self.text)?),
            Written::Text(text) => {
                let format = if like_formula(text) { &self.quoted } else { &self.text };
                sheet.write_string_with_format(row, column, text, format)?;
            }
            Written::Number(number, shown) => {
                let format = match shown {
                    Shown::Number => &self.number,
                    Shown::Whole => &self.whole,
                    Shown::Percent => &self.percent,
                    Shown::Date => &self.date,
                };
                sheet.write_number_with_format(row, column, *number, format)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Columns;

    #[test]
    fn continues_on_further_sheets() {
        for (rows, names) in [(0, vec!["N"]), (3, vec!["N"]), (7, vec!["N", "N 2", "N 3"])] {
            let mut columns: Columns<u64> = Columns::new();
            columns.add("n", "", |n| *n);
            let mut book = Book::new(0).unwrap();
            book.parts(Size::Large, &columns.table("n", || 0..rows), 3).unwrap();
            let found: Vec<String> = book.workbook.worksheets().iter().map(Worksheet::name).collect();
            assert_eq!(found, names);
            assert_eq!(book.finish().unwrap()[..2], *b"PK");
        }
    }
}

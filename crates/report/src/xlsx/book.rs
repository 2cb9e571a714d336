use super::cell::{Shown, Written};
use super::columns::{Column, Columns, Survey};
use rust_xlsxwriter::{
    DocProperties, ExcelDateTime, Format, FormatAlign, Table, TableColumn, TableStyle, Workbook, Worksheet,
    XlsxError,
};

/// Rows of a sheet below the heading (Excel's limit is 2^20 in all).
const ROWS_MAX: u64 = (1 << 20) - 1;
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

    /// A sheet that is one table.
    pub fn table<T>(
        &mut self,
        name: &str,
        size: Size,
        columns: &Columns<T>,
        items: impl Iterator<Item = T> + Clone,
    ) -> Result<(), XlsxError> {
        self.parts(name, size, columns, items, ROWS_MAX)
    }

    /// A sheet with a few lines above a table of few rows.
    pub fn titled<T>(
        &mut self,
        name: &str,
        lines: &[String],
        columns: &Columns<T>,
        items: impl Iterator<Item = T> + Clone,
    ) -> Result<(), XlsxError> {
        let survey = Survey::of(columns, items.clone());
        let sheet = self.workbook.add_worksheet().set_name(name)?;
        for (row, line) in (0..).zip(lines) {
            let written = super::cell::Value::text(line).written();
            Looks::new(0.0, false, row == 0).write(sheet, row, 0, &written)?;
        }
        part(sheet, lines.len() as u32 + 1, survey.rows, columns, &survey, items)
    }

    fn parts<T>(
        &mut self,
        name: &str,
        size: Size,
        columns: &Columns<T>,
        mut items: impl Iterator<Item = T> + Clone,
        rows_max: u64,
    ) -> Result<(), XlsxError> {
        let survey = Survey::of(columns, items.clone());
        let mut left = survey.rows;
        for number in 1.. {
            let sheet = match size {
                Size::Small => self.workbook.add_worksheet(),
                Size::Large => self.workbook.add_worksheet_with_low_memory()?,
            };
            sheet.set_name(if number == 1 { name.to_owned() } else { format!("{name} {number}") })?;
            let rows = left.min(rows_max);
            part(sheet, 0, rows, columns, &survey, items.by_ref().take(rows as usize))?;
            left -= rows;
            if left == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// A table from a row of a sheet on.
fn part<T>(
    sheet: &mut Worksheet,
    top: u32,
    rows: u64,
    columns: &Columns<T>,
    survey: &Survey,
    items: impl Iterator<Item = T>,
) -> Result<(), XlsxError> {
    let headings = survey.headings(columns);
    let table_columns: Vec<TableColumn> = headings.iter().map(|heading| table_column(heading)).collect();
    let table = Table::new().set_style(TableStyle::Light9).set_columns(&table_columns);
    // A table without rows is none: it keeps an empty one.
    let last = (top + 1).max(top + rows as u32);
    sheet.add_table(top, 0, last, columns.0.len() as u16 - 1, &table)?;
    sheet.set_freeze_panes(top + 1, 0)?;
    let looks: Vec<Looks> = columns
        .0
        .iter()
        .zip(&survey.columns)
        .map(|(column, found)| Looks::new(found.most, column.wrapped, false))
        .collect();
    for (row, item) in (top + 1..).zip(items) {
        for (index, (column, looks)) in (0..).zip(columns.0.iter().zip(&looks)) {
            looks.write(sheet, row, index, &column.value(&item).written())?;
        }
    }
    for (index, (heading, (column, found))) in
        (0..).zip(headings.iter().zip(columns.0.iter().zip(&survey.columns)))
    {
        sheet.set_column_width(index, width(heading, column, found.longest))?;
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
fn width<T>(heading: &str, column: &Column<T>, longest: usize) -> u32 {
    let (least, most) = WIDTHS;
    let most = if column.wrapped { most + 20 } else { most };
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
    use super::super::cell::Value;
    use super::*;

    #[test]
    fn continues_on_further_sheets() {
        let mut columns: Columns<u64> = Columns::new();
        columns.add("n", |n| Value::Count(*n));
        for (rows, names) in [(0, vec!["A"]), (3, vec!["A"]), (7, vec!["A", "A 2", "A 3"])] {
            let mut book = Book::new(0).unwrap();
            book.parts("A", Size::Large, &columns, 0..rows, 3).unwrap();
            let found: Vec<String> = book.workbook.worksheets().iter().map(Worksheet::name).collect();
            assert_eq!(found, names);
            assert_eq!(book.finish().unwrap()[..2], *b"PK");
        }
    }
}

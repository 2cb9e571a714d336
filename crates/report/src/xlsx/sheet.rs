//! A table on a sheet: numbers as numbers with the digits that suit their column, intervals and units in columns of
//! their own.

use super::cell::{Shown, Written, is_large, written};
use crate::Text;
use crate::table::{Cell, Column, Datum, Table};
use rust_xlsxwriter::{Format, FormatAlign, TableColumn, TableStyle, Worksheet, XlsxError};
use std::collections::HashSet;

/// A heading holds no longer text than this (Excel's limit for columns of tables is 255 units).
const HEADING_MAX: usize = 100;
/// Widths of columns, in characters.
const WIDTHS: (usize, usize) = (9, 60);

/// Lines from the top of a sheet, the first of them its title, and an empty one; returns where a table begins.
pub fn lines(sheet: &mut Worksheet, lines: &[Text]) -> Result<u32, XlsxError> {
    for (row, line) in (0..).zip(lines) {
        Looks::new(0.0, false, row == 0).write(sheet, row, 0, &written(&Datum::Text(line.to_string())))?;
    }
    Ok(if lines.is_empty() { 0 } else { lines.len() as u32 + 1 })
}

/// What has to be known of all rows before the first is written.
pub struct Survey {
    pub rows: u64,
    columns: Vec<WrittenColumn>,
}

/// A column as it is written.
struct WrittenColumn {
    heading: String,
    wrapped: bool,
    /// The column of the table, and what of its cells is written here.
    of: (usize, Part),
    /// The number farthest from zero.
    most: f64,
    /// Characters of the longest text.
    longest: usize,
}

/// What of a cell is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Value,
    Low,
    High,
    Unit,
}

/// What the cells of a column are like.
#[derive(Debug, Clone, Default)]
struct Seen {
    has_value: bool,
    has_interval: bool,
    /// The units in the cells; what they are is told only of the first two.
    units: Vec<String>,
    /// Whether a count is too large for a number.
    large: bool,
    most: f64,
    longest: usize,
}

impl Seen {
    fn see(&mut self, column: &Column, cell: &Cell) {
        let value = column.for_people(cell.value.clone());
        self.has_value |= value != Datum::Empty;
        self.has_interval |= cell.interval.is_some();
        if self.units.len() < 2 && value != Datum::Empty && !self.units.contains(&cell.unit) {
            self.units.push(cell.unit.clone());
        }
        self.large |= is_large(&value);
        match &value {
            // The length as it will be written matters only for the width.
            Datum::Text(text) => self.longest = self.longest.max(text.chars().take(100).count()),
            other => {
                if let Written::Number(number, Shown::Number) = written(other) {
                    self.most = self.most.max(number.abs());
                }
            }
        }
    }

    /// The columns that this one is written as. Where all cells have one unit the heading names it.
    fn written(&self, at: usize, column: &Column) -> impl Iterator<Item = WrittenColumn> {
        let name = column.heading();
        let unit = match self.units.as_slice() {
            [unit] if !unit.is_empty() => format!(" ({unit})"),
            _ => String::new(),
        };
        let large = if self.large { " (above 2^53 as text)" } else { "" };
        let parts = [
            (Part::Value, self.has_value || !self.has_interval, format!("{name}{unit}"), large),
            (Part::Low, self.has_interval, format!("{name}: low"), ""),
            (Part::High, self.has_interval, format!("{name}: high"), ""),
            (Part::Unit, self.units.len() > 1, format!("{name}: unit"), ""),
        ];
        let (wrapped, most, longest) = (column.wrapped, self.most, self.longest);
        parts.into_iter().filter(|(_, is_there, ..)| *is_there).map(move |(part, _, heading, note)| {
            let heading: String = Text::from(heading).chars().take(HEADING_MAX).collect();
            WrittenColumn { heading: heading + note, wrapped, of: (at, part), most, longest }
        })
    }
}

impl WrittenColumn {
    fn datum(&self, columns: &[Column], row: &[Cell]) -> Datum {
        let (at, part) = self.of;
        let cell = &row[at];
        let end = |end: f64| match cell.value {
            Datum::Share(_) => Datum::Share(end),
            _ => Datum::Number(end),
        };
        match part {
            Part::Value => columns[at].for_people(cell.value.clone()),
            Part::Low => cell.interval.map_or(Datum::Empty, |(low, _)| end(low)),
            Part::High => cell.interval.map_or(Datum::Empty, |(_, high)| end(high)),
            Part::Unit => Datum::Text(cell.unit.clone()),
        }
    }

    /// Room for the heading with its button, and for text up to a limit.
    fn width(&self) -> u32 {
        let (least, most) = WIDTHS;
        let most = if self.wrapped { most + 20 } else { most };
        (self.heading.chars().count() + 3).max(self.longest + 1).clamp(least, most) as u32
    }
}

impl Survey {
    pub fn of(table: &Table) -> Self {
        let mut rows = 0;
        let mut seen = vec![Seen::default(); table.columns.len()];
        for row in table.rows() {
            rows += 1;
            for ((seen, column), cell) in seen.iter_mut().zip(&table.columns).zip(&row) {
                seen.see(column, cell);
            }
        }
        let columns = seen.iter().zip(&table.columns).enumerate();
        let mut columns: Vec<_> = columns.flat_map(|(at, (seen, column))| seen.written(at, column)).collect();
        tell_apart(&mut columns);
        Self { rows, columns }
    }

    /// So many rows of the table, from a row of a sheet on; returns the row below it.
    pub fn table(
        &self,
        sheet: &mut Worksheet,
        top: u32,
        table: &Table,
        rows: &mut dyn Iterator<Item = Vec<Cell>>,
        here: u64,
    ) -> Result<u32, XlsxError> {
        let headings: Vec<TableColumn> = self.columns.iter().map(|own| table_column(&own.heading)).collect();
        let range = rust_xlsxwriter::Table::new().set_style(TableStyle::Light9).set_columns(&headings);
        // A table without rows is none: it keeps an empty one.
        let last = (top + 1).max(top + here as u32);
        sheet.add_table(top, 0, last, headings.len() as u16 - 1, &range)?;
        let looks: Vec<Looks> =
            self.columns.iter().map(|own| Looks::new(own.most, own.wrapped, false)).collect();
        for (row, cells) in (top + 1..).zip(rows.take(here as usize)) {
            for (at, (column, looks)) in (0..).zip(self.columns.iter().zip(&looks)) {
                looks.write(sheet, row, at, &written(&column.datum(&table.columns, &cells)))?;
            }
        }
        Ok(last + 1)
    }

    pub fn widths(&self, sheet: &mut Worksheet) -> Result<(), XlsxError> {
        for (at, column) in (0..).zip(&self.columns) {
            sheet.set_column_width(at, column.width())?;
        }
        Ok(())
    }
}

/// In a table each heading has to be another one whatever its case.
fn tell_apart(columns: &mut [WrittenColumn]) {
    let mut taken = HashSet::new();
    for column in columns {
        let plain = column.heading.clone();
        let mut copy = 1;
        while column.heading.is_empty() || !taken.insert(column.heading.to_lowercase()) {
            copy += 1;
            column.heading = format!("{plain} ({copy})");
        }
    }
}

fn table_column(heading: &str) -> TableColumn {
    let column = TableColumn::new().set_header(heading);
    if like_formula(heading) { column.set_header_format(Format::new().set_quote_prefix()) } else { column }
}

/// Whether a spreadsheet would take this for a formula if somebody typed it.
fn like_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@'])
}

/// The formats of a column.
pub struct Looks {
    number: Format,
    whole: Format,
    percent: Format,
    date: Format,
    text: Format,
    /// Text that begins like a formula: it stays text also when somebody edits it.
    quoted: Format,
}

impl Looks {
    pub fn new(most: f64, wrapped: bool, bold: bool) -> Self {
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

    pub fn write(
        &self,
        sheet: &mut Worksheet,
        row: u32,
        column: u16,
        cell: &Written,
    ) -> Result<(), XlsxError> {
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

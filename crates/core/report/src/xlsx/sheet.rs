//! A table on a sheet: numbers as numbers with the digits that suit their column, intervals and
//! units in columns of their own.

use crate::model::{Block, Medium};
use crate::table::{Cell, Column, Datum, Table};
use crate::{Document, Text, text};
use rust_xlsxwriter::{
    Format, FormatAlign, TableColumn, TableStyle, Workbook, Worksheet, XlsxError,
};
use std::borrow::Cow;
use std::collections::HashSet;

/// A heading holds no longer text than this (Excel's limit for columns of tables is 255 units).
const HEADING_MAX: usize = 100;
/// Widths of columns, in characters.
const WIDTHS: (usize, usize) = (9, 60);

/// Lines from the top of a sheet, the first of them its title, and an empty one; returns where a
/// table begins.
pub fn lines(sheet: &mut Worksheet, lines: &[Text]) -> Result<u32, XlsxError> {
    for (row, line) in (0..).zip(lines) {
        Looks::new(0.0, false, row == 0).write(
            sheet,
            row,
            0,
            &Datum::Text(line.to_string()),
            None,
        )?;
    }
    Ok(if lines.is_empty() { 0 } else { lines.len() as u32 + 1 })
}

/// Facts about all rows that are needed before the first is written.
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
    /// How its first value is shown.
    usual: Shown,
    /// Characters of the longest text.
    longest: usize,
}

/// The written part of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Value,
    Low,
    High,
    Unit,
}

/// Properties of a column's cells.
#[derive(Debug, Clone, Default)]
struct CellSummary {
    has_value: bool,
    has_interval: bool,
    /// The first two different units in the cells.
    units: Vec<String>,
    /// True if a count is too large for a number.
    large: bool,
    most: f64,
    /// How the first value is shown.
    usual: Option<Shown>,
    longest: usize,
}

impl CellSummary {
    fn see(&mut self, column: &Column, cell: &Cell) {
        self.has_value |= cell.value != Datum::Empty;
        self.has_interval |= cell.interval.is_some();
        if self.units.len() < 2 && cell.value != Datum::Empty && !self.units.contains(&cell.unit) {
            self.units.push(cell.unit.clone());
        }
        match &cell.value {
            Datum::Empty => {}
            // The length as it will be written matters only for the width.
            Datum::Text(text) if text.len() <= self.longest => {}
            Datum::Text(text) => self.longest = self.longest.max(text.chars().take(100).count()),
            other => {
                let value = column.for_people(other);
                self.large |= is_large(&value);
                if let Written::Number(number, shown) = written(&value) {
                    self.usual.get_or_insert(shown);
                    if shown == Shown::Number {
                        self.most = self.most.max(number.abs());
                    }
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
        let shown = self.usual.unwrap_or(Shown::Text);
        parts.into_iter().filter(|(_, is_there, ..)| *is_there).map(
            move |(part, _, heading, note)| {
                let heading: String = Text::from(heading).chars().take(HEADING_MAX).collect();
                let usual = if part == Part::Unit { Shown::Text } else { shown };
                WrittenColumn {
                    heading: heading + note,
                    wrapped,
                    of: (at, part),
                    most,
                    usual,
                    longest,
                }
            },
        )
    }
}

impl WrittenColumn {
    fn datum<'c>(&self, columns: &[Column], row: &'c [Cell]) -> Cow<'c, Datum> {
        let (at, part) = self.of;
        let cell = &row[at];
        let end = |end: f64| match cell.value {
            Datum::Share(_) => Datum::Share(end),
            _ => Datum::Number(end),
        };
        Cow::Owned(match part {
            Part::Value => return columns[at].for_people(&cell.value),
            Part::Low => cell.interval.map_or(Datum::Empty, |interval| end(interval.low)),
            Part::High => cell.interval.map_or(Datum::Empty, |interval| end(interval.high)),
            Part::Unit => Datum::Text(cell.unit.clone()),
        })
    }

    fn looks(&self) -> Looks {
        Looks::new(self.most, self.wrapped, false)
    }

    /// Room for the heading with its button, and for text up to a limit.
    fn width(&self) -> u32 {
        let (least, most) = WIDTHS;
        let most = if self.wrapped { most + 20 } else { most };
        (self.heading.chars().count() + 3).max(self.longest + 1).clamp(least, most) as u32
    }
}

impl Survey {
    pub fn measure(table: &Table) -> Self {
        let mut rows = 0;
        let mut summaries = vec![CellSummary::default(); table.columns.len()];
        for row in table.rows() {
            rows += 1;
            for ((summary, column), cell) in summaries.iter_mut().zip(&table.columns).zip(&row) {
                summary.see(column, cell);
            }
        }
        let columns = summaries.iter().zip(&table.columns).enumerate();
        let mut columns: Vec<_> =
            columns.flat_map(|(at, (summary, column))| summary.written(at, column)).collect();
        tell_apart(&mut columns);
        Self { rows, columns }
    }

    /// Writes rows of the table below a row of a sheet; returns the row after them. `alone`: the
    /// sheet has its [columns](Self::columns).
    pub fn table(
        &self,
        sheet: &mut Worksheet,
        top: u32,
        table: &Table,
        rows: &mut dyn Iterator<Item = Vec<Cell>>,
        here: u64,
        alone: bool,
    ) -> Result<u32, XlsxError> {
        let headings: Vec<TableColumn> =
            self.columns.iter().map(|column| table_column(&column.heading)).collect();
        let range =
            rust_xlsxwriter::Table::new().set_style(TableStyle::Light9).set_columns(&headings);
        // XLSX does not allow a table without rows: keep an empty one.
        let last = (top + 1).max(top + here as u32);
        sheet.add_table(top, 0, last, headings.len() as u16 - 1, &range)?;
        let looks: Vec<Looks> = self.columns.iter().map(WrittenColumn::looks).collect();
        for (row, cells) in (top + 1..).zip(rows.take(here as usize)) {
            for (at, (column, looks)) in (0..).zip(self.columns.iter().zip(&looks)) {
                let usual = alone.then_some(column.usual);
                looks.write(sheet, row, at, &column.datum(&table.columns, &cells), usual)?;
            }
        }
        Ok(last + 1)
    }

    /// Gives the columns of a sheet their widths, and the format that most cells of each have: to
    /// name a format with a cell takes longer than to write it.
    pub fn columns(&self, sheet: &mut Worksheet) -> Result<(), XlsxError> {
        for (at, column) in (0..).zip(&self.columns) {
            sheet.set_column_width(at, column.width())?;
            sheet.set_column_format(at, column.looks().format(column.usual))?;
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
    if like_formula(heading) {
        column.set_header_format(Format::new().set_quote_prefix())
    } else {
        column
    }
}

/// Returns whether a spreadsheet would take the text for a formula.
fn like_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@'])
}

/// The formats of a column, in the order of [`Shown`].
struct Looks([Format; 6]);

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
        let numbers = [digits, "#,##0", "0.00%", "yyyy-mm-dd hh:mm:ss"];
        let [number, whole, percent, date] = numbers.map(|format| base().set_num_format(format));
        Self([number, whole, percent, date, base(), base().set_quote_prefix()])
    }

    fn format(&self, shown: Shown) -> &Format {
        &self.0[shown as usize]
    }

    /// Writes a cell; what is shown as `usual` has the format of its column.
    fn write(
        &self,
        sheet: &mut Worksheet,
        row: u32,
        column: u16,
        datum: &Datum,
        usual: Option<Shown>,
    ) -> Result<(), XlsxError> {
        let format_of = |shown: Shown| (usual != Some(shown)).then(|| self.format(shown));
        match written(datum) {
            Written::Empty => return Ok(()),
            Written::Bool(value) => match format_of(Shown::Text) {
                Some(format) => sheet.write_boolean_with_format(row, column, value, format),
                None => sheet.write_boolean(row, column, value),
            },
            Written::Text(text) => {
                match format_of(if like_formula(&text) { Shown::Quoted } else { Shown::Text }) {
                    Some(format) => sheet.write_string_with_format(row, column, text, format),
                    None => sheet.write_string(row, column, text),
                }
            }
            Written::Number(number, shown) => match format_of(shown) {
                Some(format) => sheet.write_number_with_format(row, column, number, format),
                None => sheet.write_number(row, column, number),
            },
        }?;
        Ok(())
    }
}

/// Widths of the first column and of the others, in characters.
const REPORT_WIDTHS: (u32, u32) = (40, 14);
/// The last column of which the width is set.
const REPORT_COLUMNS: u16 = 30;

/// Writes the content of the report page, except parts with their own sheet.
pub fn report(book: &mut Workbook, document: &Document) -> Result<(), XlsxError> {
    let sheet = book.add_worksheet_with_low_memory()?;
    sheet.set_name("Report")?;
    sheet.set_column_width(0, REPORT_WIDTHS.0)?;
    for column in 1..REPORT_COLUMNS {
        sheet.set_column_width(column, REPORT_WIDTHS.1)?;
    }
    let mut next = text(sheet, 0, &document.title, true)?;
    for section in document.sections_for(Medium::Page) {
        let mut blocks = section.blocks.iter().filter(|block| is_written(block)).peekable();
        if blocks.peek().is_some() && !section.heading.is_empty() {
            next = text(sheet, next + 1, &section.heading, true)?;
        }
        for block in blocks {
            next = match block {
                Block::Line(line) => text(sheet, next, &line.text, false)?,
                Block::Table(table) => part(sheet, next, table)?,
                Block::Chart(chart) => {
                    let below = text(sheet, next, &chart.heading(), false)?;
                    part(sheet, below, &crate::chart::table(chart))?
                }
                Block::Figure(figure) => {
                    let below = text(sheet, next, &figure.data_heading, false)?;
                    part(sheet, below, &figure.data)?
                }
                Block::Picture(..) | Block::Listing(_) | Block::Fold(..) => next,
            };
        }
    }
    Ok(())
}

/// Returns whether a block is a sentence, or a table without its own sheet.
fn is_written(block: &Block) -> bool {
    match block {
        Block::Line(_) | Block::Chart(_) | Block::Figure(_) => true,
        Block::Table(table) => table.name.is_empty(),
        Block::Picture(..) | Block::Listing(_) | Block::Fold(..) => false,
    }
}

fn text(sheet: &mut Worksheet, row: u32, text: &str, bold: bool) -> Result<u32, XlsxError> {
    Looks::new(0.0, false, bold).write(sheet, row, 0, &Datum::Text(text.to_owned()), None)?;
    Ok(row + 1)
}

/// A table and an empty row below it.
fn part(sheet: &mut Worksheet, row: u32, table: &Table) -> Result<u32, XlsxError> {
    let survey = Survey::measure(table);
    Ok(survey.table(sheet, row, table, &mut table.rows(), survey.rows, false)? + 1)
}

/// Whole numbers up to here are exact in a spreadsheet, whose numbers are binary floating point.
const EXACT_MAX: u64 = 1 << 53;
/// A cell holds no longer text than this, in UTF-16 units (Excel's limit).
const TEXT_MAX: usize = 32_767;
/// Milliseconds from 1970 to the year 10000, where a spreadsheet's calendar ends.
const CALENDAR_END_MS: i64 = 253_402_300_800_000;
/// 1970-01-01 as a spreadsheet counts days.
const EPOCH_DAY: f64 = 25_569.0;

/// A cell as the file has it.
#[derive(Debug, Clone, PartialEq)]
enum Written {
    Empty,
    Text(String),
    Bool(bool),
    Number(f64, Shown),
}

/// The display of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// With the digits that suit the numbers of its column.
    Number,
    Whole,
    Percent,
    Date,
    Text,
    /// Text that begins like a formula: it stays text also when a user edits it.
    Quoted,
}

/// Returns whether a whole number is written as text, because a number would be inexact.
fn is_large(datum: &Datum) -> bool {
    match datum {
        Datum::Count(count) => *count > EXACT_MAX,
        Datum::Integer(integer) => integer.unsigned_abs() > EXACT_MAX,
        _ => false,
    }
}

/// Returns the written form; a number that is not finite has no cell.
fn written(datum: &Datum) -> Written {
    let number = |number: f64, shown| {
        if number.is_finite() { Written::Number(number, shown) } else { Written::Empty }
    };
    match datum {
        Datum::Empty => Written::Empty,
        Datum::Text(text) if text.is_empty() => Written::Empty,
        Datum::Text(text) => Written::Text(fitting(text)),
        Datum::Number(value) => number(*value, Shown::Number),
        Datum::Integer(value) if is_large(datum) => Written::Text(value.to_string()),
        Datum::Integer(value) => number(*value as f64, Shown::Whole),
        Datum::Count(count) if is_large(datum) => Written::Text(count.to_string()),
        Datum::Count(count) => number(*count as f64, Shown::Whole),
        Datum::Share(share) => number(*share, Shown::Percent),
        Datum::Bool(value) => Written::Bool(*value),
        Datum::Time(ms) if (0..CALENDAR_END_MS).contains(ms) => {
            number(EPOCH_DAY + *ms as f64 / 86_400_000.0, Shown::Date)
        }
        Datum::Time(ms) => Written::Text(text::utc(*ms)),
    }
}

/// With control characters spelled out; what is too long for a cell is cut, and says so.
fn fitting(raw: &str) -> String {
    let text = String::from(Text::from(raw));
    if text.len() <= TEXT_MAX || text.encode_utf16().count() <= TEXT_MAX {
        return text;
    }
    let note = format!("... (cut: {} characters in all)", text.chars().count());
    let mut left = TEXT_MAX - note.len();
    text.chars()
        .take_while(|character| {
            let enough = left >= character.len_utf16();
            left = left.saturating_sub(character.len_utf16());
            enough
        })
        .chain(note.chars())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact() {
        let exact = 1_u64 << 53;
        assert_eq!(written(&Datum::Count(exact)), Written::Number(exact as f64, Shown::Whole));
        assert_eq!(written(&Datum::Count(exact + 1)), Written::Text("9007199254740993".into()));
        assert_eq!(written(&Datum::Count(u64::MAX)), Written::Text("18446744073709551615".into()));
        assert_eq!(
            written(&Datum::Integer(-(1 << 53) - 1)),
            Written::Text("-9007199254740993".into())
        );
        assert_eq!(written(&Datum::Number(f64::NAN)), Written::Empty);
    }

    #[test]
    fn texts_fit() {
        assert_eq!(
            written(&Datum::Text("a\u{1b}[2Jb\n".to_owned())),
            Written::Text("a\\u{1b}[2Jb\\n".into())
        );
        let fits = "ä".repeat(TEXT_MAX);
        assert_eq!(fitting(&fits), fits);
        // Each is two units.
        let long = "\u{1f980}".repeat(20_000);
        let cut = fitting(&long);
        assert!(
            cut.encode_utf16().count() <= TEXT_MAX && cut.encode_utf16().count() > TEXT_MAX - 2
        );
        assert!(cut.ends_with("\u{1f980}... (cut: 20000 characters in all)"), "{cut}");
    }

    /// Expected: `date -u -d '2024-02-29 12:00' +%s`, and 45351.5 as spreadsheets number that day.
    #[test]
    fn dates() {
        let noon = Datum::Time(1_709_208_000_000);
        assert_eq!(written(&noon), Written::Number(45_351.5, Shown::Date));
        assert_eq!(written(&Datum::Time(-1)), Written::Text("1969-12-31 23:59 UTC".into()));
    }
}

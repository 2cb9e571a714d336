//! The report on one sheet: headings, sentences and tables one below another, with all figures as numbers.

use super::cell::written;
use super::sheet::{Looks, Survey};
use crate::Document;
use crate::model::{Block, Medium, Table};
use crate::table::Datum;
use rust_xlsxwriter::{Workbook, Worksheet, XlsxError};

/// Widths of the first column and of the others, in characters.
const WIDTHS: (u32, u32) = (40, 14);
/// The last column of which the width is set.
const COLUMNS: u16 = 30;

/// What a page of the report says, but for what has a sheet of its own.
pub fn sheet(book: &mut Workbook, document: &Document) -> Result<(), XlsxError> {
    let sheet = book.add_worksheet_with_low_memory()?;
    sheet.set_name("Report")?;
    sheet.set_column_width(0, WIDTHS.0)?;
    for column in 1..COLUMNS {
        sheet.set_column_width(column, WIDTHS.1)?;
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
                Block::Table(table) => self::table(sheet, next, table)?,
                Block::Chart(chart) => {
                    let below = text(sheet, next, &chart.heading(), false)?;
                    table(sheet, below, &crate::chart::table(chart))?
                }
                Block::Figure(figure) => {
                    let below = text(sheet, next, &figure.data_heading, false)?;
                    table(sheet, below, &figure.data)?
                }
                Block::Flame(_) | Block::Listing(_) | Block::Fold(..) => next,
            };
        }
    }
    Ok(())
}

/// Whether a block is a sentence or a table that is not a sheet already.
fn is_written(block: &Block) -> bool {
    match block {
        Block::Line(_) | Block::Chart(_) | Block::Figure(_) => true,
        Block::Table(table) => table.name.is_empty(),
        Block::Flame(_) | Block::Listing(_) | Block::Fold(..) => false,
    }
}

fn text(sheet: &mut Worksheet, row: u32, text: &str, bold: bool) -> Result<u32, XlsxError> {
    Looks::new(0.0, false, bold).write(sheet, row, 0, &written(&Datum::Text(text.to_owned())))?;
    Ok(row + 1)
}

/// A table and an empty row below it.
fn table(sheet: &mut Worksheet, row: u32, table: &Table) -> Result<u32, XlsxError> {
    let survey = Survey::of(table);
    Ok(survey.table(sheet, row, table, &mut table.rows(), survey.rows)? + 1)
}

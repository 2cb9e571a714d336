use crate::chart;
use crate::model::{Align, Block, Document, Table};
use std::fmt::Write;

/// The report as Markdown (with tables as GitHub and most others read them), for pasting.
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    heading(&mut out, "##", document.title.as_str());
    for section in &document.sections {
        heading(&mut out, "###", section.heading.as_str());
        let mut blocks = section.blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::Line(line) => {
                    // Detail follows its sentence in the same paragraph.
                    let next_is_detail = matches!(blocks.peek(), Some(Block::Line(next)) if next.indent > 0);
                    let end = if next_is_detail { "  \n" } else { "\n\n" };
                    out.push_str(&escape(line.text.as_str()));
                    out.push_str(end);
                }
                Block::Table(table) => markdown_table(&mut out, table),
                Block::Chart(chart) => {
                    let _ = write!(out, "**{}**\n\n", escape(chart.heading().as_str()));
                    markdown_table(&mut out, &chart::table(chart));
                }
            }
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn heading(out: &mut String, level: &str, text: &str) {
    if !text.is_empty() {
        // Writing to memory cannot fail.
        let _ = write!(out, "{level} {}\n\n", escape(text));
    }
}

fn markdown_table(out: &mut String, table: &Table) {
    let row =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    out.push_str(&row(&mut table.columns.iter().map(|column| escape(column.heading.as_str()))));
    out.push_str(&row(&mut table.columns.iter().map(|column| match column.align {
        Align::Left => ":--".to_owned(),
        Align::Right => "--:".to_owned(),
    })));
    for cells in &table.rows {
        out.push_str(&row(&mut cells.iter().map(|cell| escape(cell.text.as_str()))));
    }
    out.push('\n');
}

/// Keeps names from being read as markup or HTML, or from ending a cell.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut before = ' ';
    for (i, character) in text.char_indices() {
        let markup = match character {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '&' => true,
            // Inside a word an underscore is one; engines' wait types are full of them.
            '_' => !before.is_alphanumeric() || !text[i + 1..].starts_with(char::is_alphanumeric),
            '#' | '+' | '-' => i == 0,
            _ => false,
        };
        if markup {
            safe.push('\\');
        }
        safe.push(character);
        before = character;
    }
    safe
}

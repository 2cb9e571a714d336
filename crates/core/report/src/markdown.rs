use crate::model::{Align, Block, Chart, Document, Medium, Table};
use std::fmt::Write;

/// Tables with more rows are folded, so that what was found is not out of sight below them.
const OPEN_ROWS: usize = 30;

/// The report as Markdown (with tables as GitHub and most others read them), for pasting.
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    heading(&mut out, "##", document.title.as_str());
    for section in document.sections_for(Medium::Text) {
        heading(&mut out, "###", section.heading.as_str());
        let mut blocks = section.blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::Line(line) => {
                    // Detail follows its sentence in the same paragraph.
                    let next_is_detail =
                        matches!(blocks.peek(), Some(Block::Line(next)) if next.indent > 0);
                    let end = if next_is_detail { "  \n" } else { "\n\n" };
                    out.push_str(&escape(line.text.as_str()));
                    out.push_str(end);
                }
                Block::Table(table) => markdown_table(&mut out, table),
                Block::Chart(figure) => chart(&mut out, figure),
                Block::Figure(figure) => {
                    figure.chart.iter().for_each(|figure| chart(&mut out, figure));
                }
                Block::Picture(..) | Block::Listing(_) | Block::Fold(..) => {}
            }
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A chart by its figures.
fn chart(out: &mut String, chart: &Chart) {
    let _ = write!(out, "**{}**\n\n", escape(chart.heading().as_str()));
    markdown_table(out, &crate::chart::table(chart));
}

fn heading(out: &mut String, level: &str, text: &str) {
    if !text.is_empty() {
        // Writing to memory cannot fail.
        let _ = write!(out, "{level} {}\n\n", escape(text));
    }
}

fn markdown_table(out: &mut String, table: &Table) {
    let rows: Vec<_> = table.rows().collect();
    let is_folded = rows.len() > OPEN_ROWS;
    if is_folded {
        let _ = write!(out, "<details><summary>{} rows</summary>\n\n", rows.len());
    }
    let row = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    out.push_str(&row(&mut table.columns.iter().map(|column| escape(&column.heading()))));
    out.push_str(&row(&mut table.columns.iter().map(|column| match column.align {
        Align::Left => ":--".to_owned(),
        Align::Right => "--:".to_owned(),
    })));
    for cells in rows {
        out.push_str(&row(&mut cells.iter().map(|cell| escape(&cell.text()))));
    }
    out.push('\n');
    if is_folded {
        out.push_str("</details>\n\n");
    }
}

/// Keeps names from being read as markup, HTML or a formula, from ending a cell, and from calling a
/// person (`@name`) or naming an issue (`#12`) where they are pasted.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut before = ' ';
    for (i, character) in text.char_indices() {
        let markup = match character {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' => true,
            // Inside a word an underscore is one; engines' wait types are full of them.
            '_' => !before.is_alphanumeric() || !text[i + 1..].starts_with(char::is_alphanumeric),
            '#' | '+' | '-' => i == 0,
            _ => false,
        };
        if markup {
            safe.push('\\');
        }
        safe.push(character);
        let next = text[i + character.len_utf8()..].chars().next().unwrap_or(' ');
        let calls = match character {
            '@' => !before.is_alphanumeric() && next.is_alphanumeric(),
            '#' => next.is_ascii_digit(),
            _ => false,
        };
        if calls {
            // No backslash helps: references are looked for in what is rendered.
            safe.push_str("<!-- -->");
        }
        before = character;
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Columns, Section};

    #[test]
    fn names_stay_names() {
        for (raw, safe) in [
            ("WAL_SYNC and _em_", "WAL_SYNC and \\_em\\_"),
            ("a|b <b>&amp; `x` $y$", "a\\|b \\<b\\>\\&amp; \\`x\\` \\$y\\$"),
            (
                "ask @someone, not me@example.com or @ all",
                "ask @<!-- -->someone, not me@example.com or @ all",
            ),
            ("see #12 and x/y#3, not # or #a", "see #<!-- -->12 and x/y#<!-- -->3, not # or #a"),
            ("# 1", "\\# 1"),
        ] {
            assert_eq!(escape(raw), safe);
        }
    }

    #[test]
    fn long_tables_are_folded() {
        for (rows, folded) in [(OPEN_ROWS, false), (OPEN_ROWS + 1, true)] {
            let mut section = Section::new("Every response");
            let mut table = Columns::for_rows(0..rows);
            table.right("n", |n| *n);
            section.table(table);
            section.line("after");
            let text = markdown(&Document { title: "t".into(), sections: vec![section] });
            assert_eq!(text.contains("</summary>\n\n| n |\n| --: |\n| 0 |\n"), folded, "{text}");
            assert_eq!(text.contains("\n\n</details>\n\nafter\n"), folded, "{text}");
        }
    }
}

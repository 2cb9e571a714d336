//! How much of a document is printed: what fits a screen, or the sections that are asked for.

use crate::model::{Block, Document, Line, Medium, Section, Table, Tone};
use crate::number;
use crate::text::joined;

impl Document {
    /// The names of the sections of a text, each once, in their order.
    pub fn names(&self) -> Vec<&'static str> {
        let names = self.sections_for(Medium::Text).map(|section| section.name);
        let mut names: Vec<&'static str> = names.filter(|name| !name.is_empty()).collect();
        // Sections of one name are neighbours.
        names.dedup();
        names
    }

    /// The sections with these names.
    #[must_use]
    pub fn only(mut self, names: &[String]) -> Self {
        self.sections.retain(|section| names.iter().any(|name| name == section.name));
        self
    }

    /// The document on one screen: of a section with a name its most important entries, without
    /// notes and details, then the options that print the rest: `option` precedes the name of a
    /// section.
    #[must_use]
    pub fn screen(self, option: &str) -> Self {
        let names = self.names();
        let mut sections: Vec<Section> = Vec::new();
        for section in self.sections {
            if section.name.is_empty() {
                sections.push(section);
            } else if section.on_screen > 0 && section.medium != Medium::Page {
                sections.push(shortened(section, option));
            }
        }
        if !names.is_empty() {
            let mut more = Section::default();
            more.line("");
            let names = joined(names, " | ");
            more.labelled("More", format!("--full, or {option}{names}"), Tone::Muted);
            sections.push(more);
        }
        Self { title: self.title, sections }
    }
}

/// Lines below an entry that a screen has.
const DETAILS: usize = 3;

/// The first entries of a section: the rows of one table, or lines with what is indented below.
fn shortened(section: Section, option: &str) -> Section {
    let Section { name, on_screen: entries, blocks, heading, .. } = section;
    let mut short = Section { heading, ..Section::default() };
    let (mut lines, mut details, mut has_table) = (0, 0, false);
    for block in blocks {
        match block {
            Block::Line(Line { tone: Tone::Muted, .. }) => {}
            Block::Line(line) => {
                if line.indent == 0 {
                    (lines, details) = (lines + 1, 0);
                } else {
                    details += 1;
                }
                if lines <= entries && details <= DETAILS {
                    short.blocks.push(Block::Line(line));
                }
            }
            Block::Table(table) if !has_table => {
                has_table = true;
                short.beginning(&table, entries, &format!("{option}{name}"));
            }
            Block::Chart(_) => short.blocks.push(block),
            _ => {}
        }
    }
    if let Some(more @ 1..) = lines.checked_sub(entries) {
        short.note(format!("{} more: {option}{name}", number::count(more as u64)));
    }
    short
}

impl Section {
    /// Adds the first rows of a table, and where the others are.
    pub fn beginning(&mut self, table: &Table<'static>, rows: usize, others: &str) {
        let mut cells: Vec<_> = table.rows().collect();
        let left_out = cells.len().saturating_sub(rows);
        cells.truncate(rows);
        self.table(Table::new(table.columns.clone(), cells));
        if left_out > 0 {
            self.note(format!("{}: {others}", number::plural(left_out, "more row")));
        }
    }
}

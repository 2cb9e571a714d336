//! The body of the page while it is put together, and the figures in it.

use super::flame;
use super::markup::{escape, id};
use crate::Text;
use crate::model::{Align, Block, Column, Figure, Line, Section, Table, Tone};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The page so far.
#[derive(Default)]
pub struct Page {
    body: String,
    figures: Vec<Value>,
    /// Identifier and name of what can be jumped to.
    contents: Vec<(String, String)>,
    identifiers: BTreeSet<String>,
}

// Writing to a string cannot fail.
impl Page {
    /// A section of the report's document.
    pub fn section(&mut self, section: &Section) {
        self.open(&section.heading);
        self.blocks(&section.blocks);
        self.body.push_str("</section>\n");
    }

    fn blocks(&mut self, blocks: &[Block]) {
        let mut blocks = blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::Line(text_line) => {
                    line(&mut self.body, text_line);
                    // Detail belongs to the sentence above it.
                    while let Some(Block::Line(detail)) = blocks.next_if(|next| is_detail(next)) {
                        let (class, text) = (tone(detail.tone), escape(&detail.text));
                        let _ = write!(self.body, "\n<span class=\"detail{class}\">{text}</span>");
                    }
                    self.body.push_str("</p>\n");
                }
                Block::Table(content) => table(&mut self.body, content),
                Block::Chart(chart) => {
                    let _ = writeln!(self.body, "<h3>{}</h3>", escape(&chart.heading()));
                    self.draw(&chart.figure());
                }
                Block::Figure(figure) => self.draw(figure),
                Block::Flame(root) => self.body.push_str(&flame::section(root)),
                Block::Listing(lines) => {
                    let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
                    let _ = writeln!(self.body, "<pre tabindex=\"0\">{}</pre>", lines.join("\n"));
                }
                Block::Fold(heading, blocks) => {
                    let _ = writeln!(self.body, "<details><summary>{}</summary>", escape(heading));
                    self.blocks(blocks);
                    self.body.push_str("</details>\n");
                }
            }
        }
    }

    /// Links to the sections, of several with one name (`Waits: ...`) to the first.
    pub fn contents(&self) -> String {
        let links =
            self.contents.iter().map(|(id, name)| format!("<li><a href=\"#{id}\">{name}</a></li>"));
        links.collect::<Vec<_>>().join("\n")
    }

    /// The body, and what `report.js` draws in it.
    pub fn finish(self) -> (String, Value) {
        (self.body, json!({ "figures": self.figures }))
    }

    fn open(&mut self, heading: &Text) {
        if heading.is_empty() {
            self.body.push_str("<section>\n");
            return;
        }
        let mut id = id(heading);
        while id.is_empty() || !self.identifiers.insert(id.clone()) {
            id.push_str("-x");
        }
        let name = escape(heading.split(':').next().unwrap_or(heading));
        if !self.contents.iter().any(|(_, other)| *other == name) {
            self.contents.push((id.clone(), name));
        }
        let heading = escape(heading);
        let _ = writeln!(
            self.body,
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{heading}</h2>"
        );
    }

    fn draw(&mut self, figure: &Figure) {
        let number = self.figures.len();
        self.figures.push(figure.spec.clone());
        let (alternative, caption) = (escape(&figure.alternative), escape(&figure.caption));
        let _ = writeln!(
            self.body,
            "<figure>\n<div class=\"plot\" id=\"figure-{number}\" role=\"group\" \
             aria-label=\"{alternative}\"></div>\n<figcaption>{caption}</figcaption>\n<details \
             class=\"data\"><summary>{}</summary>",
            escape(&figure.data_heading)
        );
        table(&mut self.body, &figure.data);
        self.body.push_str("</details>\n</figure>\n");
    }
}

fn is_detail(block: &Block) -> bool {
    matches!(block, Block::Line(line) if line.indent > 0)
}

/// A paragraph without its end.
fn line(out: &mut String, line: &Line) {
    let class = tone(line.tone);
    let class =
        if class.is_empty() { String::new() } else { format!(" class=\"{}\"", class.trim_start()) };
    let _ = write!(out, "<p{class}>{}", escape(&line.text));
}

/// Class of a tone, with a blank before it.
fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => " good",
        Tone::Bad => " bad",
        Tone::Warning => " warning",
        Tone::Muted => " muted",
    }
}

/// A table that scrolls by itself where it is wider than the page. `report.js` sorts and filters
/// one that has a name.
fn table(out: &mut String, table: &Table) {
    let sorted = !table.name.is_empty();
    let class = |names: &str| match names.trim() {
        "" => String::new(),
        names => format!(" class=\"{names}\""),
    };
    let align = |column: &Column| if column.align == Align::Right { " num" } else { "" };
    if sorted {
        filters(out, table);
        let _ = write!(
            out,
            "<div class=\"scroll tall\" tabindex=\"0\"><table id=\"{}\">\n<thead><tr>",
            table.name
        );
    } else {
        let fixed = if table.fixed { " class=\"fixed\"" } else { "" };
        let _ = write!(out, "<div class=\"scroll\" tabindex=\"0\"><table{fixed}>\n<thead><tr>");
    }
    for column in &table.columns {
        let _ = write!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            class(align(column)),
            escape(&column.heading())
        );
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in table.rows() {
        let failed = sorted && row.iter().any(|cell| cell.tone == Tone::Bad);
        out.push_str(if failed { "<tr class=\"failed\">" } else { "<tr>" });
        for (column, cell) in table.columns.iter().zip(&row) {
            let names = class(&format!("{}{}", align(column), tone(cell.tone)));
            let exact =
                cell.number().filter(|_| sorted).map(|exact| format!(" data-value=\"{exact}\""));
            let _ = write!(
                out,
                "<td{names}{}>{}</td>",
                exact.unwrap_or_default(),
                escape(&cell.text())
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

/// A field for any text, and one for each column with levels.
fn filters(out: &mut String, table: &Table) {
    out.push_str(
        "<div class=\"filters\" hidden>\n<label>any column contains <input type=\"search\" \
         id=\"filter-text\"></label>\n",
    );
    for (at, column) in
        table.columns.iter().enumerate().filter(|(_, column)| !column.levels.is_empty())
    {
        let name = escape(&column.heading());
        let _ = write!(
            out,
            "<label>{name} <select data-column=\"{at}\"><option value=\"\">all</option>"
        );
        for level in &column.levels {
            let level = escape(level);
            let _ = write!(out, "<option value=\"{level}\">{level}</option>");
        }
        out.push_str("</select></label>\n");
    }
    out.push_str("<output id=\"filter-count\" aria-live=\"polite\"></output>\n</div>\n");
}

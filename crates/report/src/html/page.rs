//! The body of the page while it is put together, and the figures in it.

use super::flame;
use super::markup::{escape, id, text};
use crate::model::{Align, Block, Figure, Line, Section, Table, Tone};
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
        self.open(section.heading.as_str());
        let mut blocks = section.blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::Line(one) => {
                    line(&mut self.body, one);
                    // Detail belongs to the sentence above it.
                    while let Some(Block::Line(detail)) = blocks.next_if(|next| is_detail(next)) {
                        let (class, said) = (tone(detail.tone), escape(detail.text.as_str()));
                        let _ = write!(self.body, "\n<span class=\"detail{class}\">{said}</span>");
                    }
                    self.body.push_str("</p>\n");
                }
                Block::Table(one) => table(&mut self.body, one),
                Block::Chart(one) => {
                    let _ = writeln!(self.body, "<h3>{}</h3>", escape(one.heading().as_str()));
                    self.draw(&one.figure());
                }
                Block::Figure(figure) => self.draw(figure),
                Block::Flame(root) => self.body.push_str(&flame::section(root)),
            }
        }
        self.close();
    }

    /// A section with a heading and content that is HTML already.
    pub fn html(&mut self, heading: &str, html: &str) {
        self.open(heading);
        self.body.push_str(html);
        self.close();
    }

    /// Links to the sections, of several with one name (`Waits: ...`) to the first.
    pub fn contents(&self) -> String {
        let links = self.contents.iter().map(|(id, name)| format!("<li><a href=\"#{id}\">{name}</a></li>"));
        links.collect::<Vec<_>>().join("\n")
    }

    /// The body, and what `report.js` draws in it.
    pub fn finish(self) -> (String, Value) {
        (self.body, json!({ "figures": self.figures }))
    }

    fn open(&mut self, heading: &str) {
        if heading.is_empty() {
            self.body.push_str("<section>\n");
            return;
        }
        let mut own = id(heading);
        while own.is_empty() || !self.identifiers.insert(own.clone()) {
            own.push_str("-x");
        }
        let name = text(heading.split(':').next().unwrap_or(heading));
        if !self.contents.iter().any(|(_, other)| *other == name) {
            self.contents.push((own.clone(), name));
        }
        let heading = text(heading);
        let _ = writeln!(self.body, "<section aria-labelledby=\"{own}\">\n<h2 id=\"{own}\">{heading}</h2>");
    }

    fn close(&mut self) {
        self.body.push_str("</section>\n");
    }

    fn draw(&mut self, figure: &Figure) {
        let number = self.figures.len();
        self.figures.push(figure.spec.clone());
        let (alternative, caption) = (escape(figure.alternative.as_str()), escape(figure.caption.as_str()));
        let _ = writeln!(
            self.body,
            "<figure>\n<div class=\"plot\" id=\"figure-{number}\" role=\"group\" aria-label=\"{alternative}\"></div>\n\
             <figcaption>{caption}</figcaption>\n<details class=\"data\"><summary>{}</summary>",
            escape(figure.data_heading.as_str())
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
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{}\"", class.trim_start()) };
    let _ = write!(out, "<p{class}>{}", escape(line.text.as_str()));
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

/// A table that scrolls by itself where it is wider than the page.
pub fn table(out: &mut String, table: &Table) {
    let align = |column: usize| match table.columns.get(column).map(|column| column.align) {
        Some(Align::Right) => " num",
        _ => "",
    };
    let class = |names: &str| match names.trim() {
        "" => String::new(),
        names => format!(" class=\"{names}\""),
    };
    let fixed = if table.fixed { " class=\"fixed\"" } else { "" };
    let _ = write!(out, "<div class=\"scroll\" tabindex=\"0\"><table{fixed}>\n<thead><tr>");
    for (i, column) in table.columns.iter().enumerate() {
        let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(align(i)), escape(column.heading.as_str()));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            let names = class(&format!("{}{}", align(i), tone(cell.tone)));
            let _ = write!(out, "<td{names}>{}</td>", escape(cell.text.as_str()));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

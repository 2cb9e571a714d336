//! The body of the page while it is put together, and the figures in it.

use super::markup::{self, escape, id};
use crate::Text;
use crate::model::{Align, Block, Column, Document, Figure, Medium, Place, Section, Table, Tone};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::mem;

/// Sections that are open when a page is opened.
const OPEN: usize = 3;

/// A page without its frame, for a server of pages. All of it is HTML in which the data is escaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// The title.
    pub title: String,
    /// The answer, its figure, its cause and its limits; empty where a page has none.
    pub first: String,
    /// List items with links to the sections.
    pub contents: String,
    /// The sections.
    pub sections: String,
    /// JSON of the figures in the sections, for an element of type `application/json` with the
    /// identifier `report`.
    pub island: String,
}

/// The page so far.
#[derive(Default)]
pub struct Page {
    body: String,
    figures: Vec<Value>,
    /// Identifier and name of what can be jumped to.
    contents: Vec<(String, String)>,
    identifiers: BTreeSet<String>,
    /// Sections with a heading that opens them.
    folded: usize,
}

// Writing to a string cannot fail.
impl Page {
    /// The page of a document.
    pub fn build(document: &Document) -> Body {
        let mut page = Self::default();
        let sections: Vec<&Section> = document.sections_for(Medium::Page).collect();
        for (place, style) in Place::FIRST {
            for section in sections.iter().filter(|section| section.place == place) {
                page.first(section, style);
            }
        }
        let mut first = mem::take(&mut page.body);
        if !first.is_empty() {
            first = format!("<div class=\"first\">\n{first}</div>\n");
        }
        for section in sections.into_iter().filter(|section| section.place == Place::Below) {
            page.fold(section);
        }
        page.close();
        Body {
            title: escape(&document.title),
            first,
            contents: page.contents(),
            sections: page.body,
            island: markup::json(&json!({ "figures": page.figures })),
        }
    }

    /// A section of the first view: evidence and captions open by a click.
    fn first(&mut self, section: &Section, style: &str) {
        let _ = writeln!(self.body, "<section class=\"{style}\">");
        if !section.heading.is_empty() {
            let (id, heading) = (self.identifier(&section.heading), escape(&section.heading));
            let _ = writeln!(self.body, "<h2 id=\"{id}\">{heading}</h2>");
        }
        self.blocks(&section.blocks, true);
        self.body.push_str("</section>\n");
    }

    /// A section below the first view; one without a heading belongs to the section before.
    fn fold(&mut self, section: &Section) {
        let is_alone = section.heading.is_empty() && self.folded == 0;
        if is_alone {
            self.body.push_str("<section>\n");
        } else if !section.heading.is_empty() {
            self.close();
            self.open(&section.heading);
        }
        self.blocks(&section.blocks, false);
        if is_alone {
            self.body.push_str("</section>\n");
        }
    }

    fn open(&mut self, heading: &Text) {
        let id = self.identifier(heading);
        let name = escape(heading.split(':').next().unwrap_or(heading));
        if !self.contents.iter().any(|(_, other)| *other == name) {
            self.contents.push((id.clone(), name));
        }
        let (heading, open) = (escape(heading), if self.folded < OPEN { " open" } else { "" });
        self.folded += 1;
        let _ = writeln!(
            self.body,
            "<section aria-labelledby=\"{id}\">\n<details{open}><summary><h2 \
             id=\"{id}\">{heading}</h2></summary>"
        );
    }

    fn close(&mut self) {
        if self.folded > 0 {
            self.body.push_str("</details>\n</section>\n");
        }
    }

    fn identifier(&mut self, heading: &str) -> String {
        let mut id = id(heading);
        while id.is_empty() || !self.identifiers.insert(id.clone()) {
            id.push_str("-x");
        }
        id
    }

    /// Blocks; where they are brief, details of a sentence and captions open by a click.
    fn blocks(&mut self, blocks: &[Block], brief: bool) {
        let mut blocks = blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::Line(line) => {
                    // Detail belongs to the sentence above it.
                    let mut details = String::new();
                    while let Some(Block::Line(detail)) = blocks.next_if(|next| is_detail(next)) {
                        let (class, text) = (tone(detail.tone), escape(&detail.text));
                        let _ = write!(details, "\n<span class=\"detail{class}\">{text}</span>");
                    }
                    let (class, text) = (class(tone(line.tone)), escape(&line.text));
                    let _ = match details.as_str() {
                        details if brief && !details.is_empty() => writeln!(
                            self.body,
                            "<details class=\"finding\"><summary{class}>{text}</summary>\
                             {details}</details>"
                        ),
                        details => writeln!(self.body, "<p{class}>{text}{details}</p>"),
                    };
                }
                Block::Table(content) => table(&mut self.body, content),
                Block::Chart(chart) => {
                    let _ = writeln!(self.body, "<h3>{}</h3>", escape(&chart.heading()));
                    self.draw(&chart.figure(), brief);
                }
                Block::Figure(figure) => self.draw(figure, brief),
                Block::Picture(svg, caption) => {
                    let caption = escape(caption);
                    let _ = writeln!(
                        self.body,
                        "<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>"
                    );
                }
                Block::Listing(lines) => {
                    let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
                    let _ = writeln!(self.body, "<pre tabindex=\"0\">{}</pre>", lines.join("\n"));
                }
                Block::Fold(heading, blocks) => {
                    let _ = writeln!(self.body, "<details><summary>{}</summary>", escape(heading));
                    self.blocks(blocks, brief);
                    self.body.push_str("</details>\n");
                }
            }
        }
    }

    /// Links to the sections, of several with one name (`Waits: ...`) to the first.
    fn contents(&self) -> String {
        let links =
            self.contents.iter().map(|(id, name)| format!("<li><a href=\"#{id}\">{name}</a></li>"));
        links.collect::<Vec<_>>().join("\n")
    }

    fn draw(&mut self, figure: &Figure, brief: bool) {
        let number = self.figures.len();
        self.figures.push(figure.spec.clone());
        let caption = escape(&figure.caption);
        let (caption, explanation) = if brief {
            (String::new(), format!("<p>{caption}</p>\n"))
        } else {
            (format!("{caption}\n"), String::new())
        };
        let _ = writeln!(
            self.body,
            "<figure>\n<div class=\"plot\" id=\"figure-{number}\" role=\"group\" \
             aria-label=\"{}\"></div>\n<figcaption>{caption}<details \
             class=\"data\"><summary>{}</summary>\n{explanation}",
            escape(&figure.alternative),
            escape(&figure.data_heading)
        );
        table(&mut self.body, &figure.data);
        self.body.push_str("</details></figcaption>\n</figure>\n");
    }
}

fn is_detail(block: &Block) -> bool {
    matches!(block, Block::Line(line) if line.indent > 0)
}

/// A `class` attribute; none without names.
fn class(names: &str) -> String {
    match names.trim() {
        "" => String::new(),
        names => format!(" class=\"{names}\""),
    }
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

//! The sections and figures of reports without the file around them, for whoever serves pages.

use super::markup;
use super::page::Page;
use crate::Document;
use crate::model::Medium;

/// What `report.css` lays out.
pub const STYLE: &str = super::STYLE;
/// Draws the figures; needs [`LIBRARIES`] before it. On the document's event `steelbench:changed` it does so anew.
pub const SCRIPT: &str = super::SCRIPT;
/// Libraries of others, unchanged, in the order in which they are loaded.
pub const LIBRARIES: [&str; 2] = super::LIBRARIES;
/// Their licences.
pub const LICENSES: &str = super::LICENSES;

/// A page less its frame. All of it is HTML: nothing in the data is read as markup.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// What it is about.
    pub title: String,
    /// List items with links to the sections.
    pub contents: String,
    /// The sections.
    pub sections: String,
    /// JSON of the figures in the sections, for an element of type `application/json` with the identifier `report`.
    pub island: String,
}

/// A document, its charts as figures.
pub fn document(document: &Document) -> Body {
    let mut page = Page::default();
    document.sections_for(Medium::Page).for_each(|section| page.section(section));
    let (title, contents) = (markup::escape(&document.title), page.contents());
    let (sections, island) = page.finish();
    Body { title, contents, sections, island: markup::json(&island) }
}

/// Text for an element's content or an attribute in double quotes; control characters are spelled out.
pub fn text(raw: &str) -> String {
    markup::text(raw)
}

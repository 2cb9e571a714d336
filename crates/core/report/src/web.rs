//! The report as one HTML file: no network, no storage, readable without scripts.
//!
//! The page is the report's [`Document`], so that it never says less than the terminal. Figures are
//! drawn by `assets/report.js` with the libraries in `assets/vendor` from one JSON element; each
//! has its data as a table. Scripts are allowed by their hashes only, images only as `data:`, which
//! a figure passes through on its way to a clipboard.

pub(crate) mod markup;
mod page;

use crate::StudySections;
use crate::model::{Document, Medium};
use crate::ours::GENERATOR;
use analysis::Summary;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use page::Page;
use sha2::{Digest, Sha256};

pub use markup::text;
pub use page::Body;

/// The style sheet of a page.
pub const STYLE: &str = include_str!("../assets/report.css");
/// Draws the figures; needs [`LIBRARIES`] before it. Redraws them on the document's event
/// `steelbench:changed`.
pub const SCRIPT: &str = include_str!("../assets/report.js");
/// Third-party libraries, unchanged, in the order in which they are loaded.
pub const LIBRARIES: [&str; 2] =
    [include_str!("../assets/vendor/d3.min.js"), include_str!("../assets/vendor/plot.umd.min.js")];
/// Their licences.
pub const LICENSES: &str = include_str!("../assets/vendor/LICENSES.txt");

/// The page of the book that explains reports.
const READING: &str = include_str!("../../../../docs/reading-a-report.md");

/// A document, its charts as figures.
pub fn document(document: &Document) -> Body {
    Page::build(document)
}

/// A run as one self-contained HTML file.
pub fn html(summary: &Summary, studies: StudySections<'_>) -> String {
    page(&crate::run(summary, studies, Medium::Page))
}

/// A document as one self-contained HTML file.
pub fn page(shown: &Document) -> String {
    let Body { title, first, contents, sections, island } = document(shown);
    let scripts: Vec<&str> = LIBRARIES.into_iter().chain([SCRIPT]).collect();
    let hashes: Vec<String> =
        scripts.iter().map(|script| format!("'sha256-{}'", hash(script))).collect();
    let scripts: Vec<String> =
        scripts.iter().map(|script| format!("<script>{script}</script>\n")).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta \
         charset=\"utf-8\">\n{GENERATOR}\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src \
         {hashes}; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" \
         content=\"light dark\">\n<title>{title} \
         - Steelbench</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" \
         href=\"#main\">Skip to the report</a>\n<header><p class=\"brand\">Steelbench</p><button \
         type=\"button\" id=\"theme\" hidden>Dark</button></header>\n<main \
         id=\"main\">\n<h1>{title}</h1>\n<noscript><p class=\"warning\">Scripts are \
         disabled, so figures are not drawn; every figure has its data in a \
         table.</p></noscript>\n{first}<nav \
         aria-label=\"Contents\"><ul>\n{contents}\n</ul></nav>\n{sections}</main>\n\
         <footer><details><summary>Terms in this report</summary>\n<table>\n{terms}</table>\n\
         <p>docs/reading-a-report.md in Steelbench's source explains every \
         part.</p></details>\n<details><summary>Licences of the charting libraries in this \
         file</summary>\n<pre>{licenses}</pre></details></footer>\n<script \
         type=\"application/json\" id=\"report\">{island}</script>\n{scripts}</body>\n</html>\n",
        hashes = hashes.join(" "),
        scripts = scripts.concat(),
        licenses = markup::lines(LICENSES),
        terms = terms(),
    )
}

/// The terms of the statistical notes, as rows of a table.
fn terms() -> String {
    let lines = READING.lines().skip_while(|line| *line != "| term | meaning |").skip(2);
    let rows =
        lines.map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let mut table = String::new();
    for (term, meaning) in rows {
        let [term, meaning] = [term, meaning].map(|cell| markup::escape(&cell.replace('`', "")));
        table.extend(["<tr><th scope=\"row\">", &term, "</th><td>", &meaning, "</td></tr>\n"]);
    }
    table
}

/// Hash of an element's text as a content security policy wants it. Browsers normalise line ends
/// first; the assets have none but line feeds.
fn hash(script: &str) -> String {
    STANDARD.encode(Sha256::digest(script.as_bytes()))
}

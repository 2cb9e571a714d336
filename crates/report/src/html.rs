//! The report as one HTML file: no network, no storage, readable without scripts.
//!
//! The page is the report's [`Document`] with figures in addition, so that it never says less than
//! the terminal. Figures are drawn by `assets/report.js` with the libraries in `assets/vendor` from one
//! JSON element; each has its data as a table. Scripts are allowed by their hashes only.

mod figure;
pub mod flame;
mod latency;
mod markup;
mod page;
mod panels;
mod profile;
mod record;
mod response;
mod series;
mod trials;
mod waterfall;
pub mod web;

use crate::{Block, Document, Section, Tone};
use analysis::Summary;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use observations::Recording;
use page::Page;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");
const LIBRARIES: [&str; 2] =
    [include_str!("../assets/vendor/d3.min.js"), include_str!("../assets/vendor/plot.umd.min.js")];
const LICENSES: &str = include_str!("../assets/vendor/LICENSES.txt");

/// A run as one self-contained HTML file.
pub fn html(recording: &Recording, summary: &Summary) -> String {
    around(web::run(recording, summary))
}

/// Everything that the page of a run shows, and its title.
fn run(recording: &Recording, summary: &Summary) -> (Document, Page) {
    let document = crate::run::without_charts(summary);
    let mut page = Page::default();
    let (lead, rest) = split(&document);
    for section in lead {
        page.section(section);
    }
    figures(&mut page, recording, summary);
    for section in rest {
        page.section(section);
    }
    page.html("Every trial", &trials::table(recording));
    let mut recorded = record::experiment(recording);
    recorded.push_str(&record::environment(recording));
    page.html("Experiment file and environment", &recorded);
    if let Some(hooks) = record::hooks(recording) {
        page.html("Hooks", &hooks);
    }
    (document, page)
}

/// What is said before any figures: the question, the verdict, how sure it is.
fn split(document: &Document) -> (&[Section], &[Section]) {
    let words = |section: &Section| section.blocks.iter().all(|block| matches!(block, Block::Line(_)));
    let lead = document.sections.iter().take_while(|section| words(section)).count();
    document.sections.split_at(lead)
}

fn figures(page: &mut Page, recording: &Recording, summary: &Summary) {
    if summary.done == 0 {
        let why = "No trial was done: there is nothing to draw.".to_owned();
        page.figure("Figures", figure::Figure::Nothing(why));
        return;
    }
    let heading = match (&summary.response, summary.main_factor.and_then(|main| summary.factors.get(main))) {
        (Some(response), Some(factor)) => {
            let short = factor.factor.rsplit('.').next().unwrap_or_default();
            format!("Response: {} against {short}", response.name)
        }
        _ => "Response".to_owned(),
    };
    page.figure(&heading, response::figure(recording, summary));
    for (heading, figure) in waterfall::figures(summary) {
        page.figure(&heading, figure);
    }
    page.figure("Time: where it went", profile::figure(summary));
    for shown in crate::code::shown(summary) {
        if let Some(profile) = analysis::profile::of_configuration(recording, shown.index) {
            let flame = flame::section(&analysis::flame(&profile));
            page.html(&format!("Flame graph: {}", crate::configurations::label(&shown.label)), &flame);
        }
    }
    for (heading, figure) in latency::figures(recording, summary) {
        page.figure(&heading, figure);
    }
    for (heading, figure) in series::figures(recording, summary) {
        page.figure(&heading, figure);
    }
    if let Some(stalls) = stalls(summary) {
        page.section(&stalls);
    }
}

/// What the report's text warns of beside its own chart over time, which the figures stand for.
fn stalls(summary: &Summary) -> Option<Section> {
    let mut section = crate::timeline::section(summary)?;
    section.blocks.retain(|block| matches!(block, Block::Line(line) if line.tone == Tone::Warning));
    section.heading = "Over time: stalls".into();
    (!section.blocks.is_empty()).then_some(section)
}

/// The file around the body.
fn around(body: web::Body) -> String {
    let web::Body { title, contents, sections, island } = body;
    let scripts: Vec<&str> = LIBRARIES.into_iter().chain([SCRIPT]).collect();
    let hashes: Vec<String> = scripts.iter().map(|script| format!("'sha256-{}'", hash(script))).collect();
    let scripts: Vec<String> = scripts.iter().map(|script| format!("<script>{script}</script>\n")).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src {hashes}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} - Steelbench</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the report</a>\n\
         <header><p class=\"brand\">Steelbench</p><button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n\
         <main id=\"main\">\n<h1>{title}</h1>\n<noscript><p class=\"warning\">Figures are drawn by scripts, which are \
         switched off; every figure has its data in a table.</p></noscript>\n\
         <nav aria-label=\"Contents\"><ul>\n{contents}\n</ul></nav>\n{sections}</main>\n\
         <footer><details><summary>Licences of the charting libraries in this file</summary>\n<pre>{licenses}</pre>\
         </details></footer>\n\
         <script type=\"application/json\" id=\"report\">{island}</script>\n{scripts}</body>\n</html>\n",
        hashes = hashes.join(" "),
        scripts = scripts.concat(),
        licenses = markup::lines(LICENSES),
    )
}

/// Hash of an element's text as a content security policy wants it. Browsers normalise line ends first;
/// the assets have none but line feeds.
fn hash(script: &str) -> String {
    STANDARD.encode(Sha256::digest(script.as_bytes()))
}

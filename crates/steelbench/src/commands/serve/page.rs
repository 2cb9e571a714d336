//! What all pages have: the frame, the forms' place, the version of what they show; and refusals in plain words.

use super::assets;
use super::library::{self, File};
use super::query::address;
use crate::exit_code::Failure;
use axum::http::StatusCode;
use report::web::{Body, text};
use store::StoreError;

/// A page before it is put into its frame.
#[derive(Debug)]
pub struct Page {
    /// Title, sections and figures.
    pub body: Body,
    /// HTML below the title: forms and links.
    pub tools: String,
    /// How far a run is; empty where the page shows no run.
    pub said: String,
    /// Address that tells the version, and the version of what was read; `None`: the page never changes.
    pub live: Option<(String, String)>,
}

/// Why a request is not answered as asked.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    /// A sentence or a few.
    pub said: String,
}

impl Refusal {
    /// What was asked for is not here.
    pub fn nothing(said: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, said: said.into() }
    }

    /// The address asks for what makes no sense.
    pub fn wrong(said: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, said: said.into() }
    }

    /// It should have worked.
    pub fn failed(said: impl Into<String>) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, said: said.into() }
    }

    /// A page that says so.
    pub fn page(&self) -> String {
        let title = match self.status {
            StatusCode::NOT_FOUND => "Nothing here",
            StatusCode::INTERNAL_SERVER_ERROR => "This cannot be shown",
            _ => "This cannot be answered",
        };
        let lines: Vec<String> = self.said.lines().map(|line| format!("<p>{}</p>\n", text(line))).collect();
        let sections =
            format!("<section>\n{}<p><a href=\"/\">All runs</a></p>\n</section>\n", lines.concat());
        let body = Body { title: title.into(), contents: String::new(), sections, island: NO_FIGURES.into() };
        Page { body, tools: String::new(), said: String::new(), live: None }.html()
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing { .. } | StoreError::Empty { .. } | StoreError::NoRun { .. } => {
                Self::nothing(error.to_string())
            }
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<Failure> for Refusal {
    /// Failures of what pages share with commands are about what was asked for.
    fn from(failure: Failure) -> Self {
        Self::wrong(failure.message())
    }
}

/// The island of a page without figures.
pub const NO_FIGURES: &str = "{\"figures\":[]}";

/// Where a page finds out whether these files have changed, and their version now: to be taken before they are read.
pub fn live(files: &[File]) -> (String, String) {
    let names: Vec<(&str, &str)> = files.iter().map(|file| ("file", file.name.as_str())).collect();
    (address("/version", &names), library::version(files))
}

impl Page {
    /// The whole page.
    pub fn html(&self) -> String {
        let Body { title, contents, sections, island } = &self.body;
        let live = self.live.as_ref().map_or_else(String::new, |(address, version)| {
            format!(" data-live=\"{}\" data-version=\"{}\"", text(address), text(version))
        });
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"{live}>\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} - Steelbench</title>\n\
             {head}</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the report</a>\n\
             <header><p class=\"brand\"><a href=\"/\">Steelbench</a></p><p id=\"state\" role=\"status\">{said}</p>\
             <button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n\
             <main id=\"main\">\n<h1>{title}</h1>\n{tools}{nav}{sections}</main>\n\
             <footer><p class=\"muted\"><a href=\"/assets/licenses.txt\">Licences of the charting libraries</a></p></footer>\n\
             <script type=\"application/json\" id=\"report\">{island}</script>\n{scripts}</body>\n</html>\n",
            head = assets::head(),
            scripts = assets::scripts(),
            said = text(&self.said),
            tools = self.tools,
            nav = if contents.is_empty() { String::new() } else { nav(contents) },
        )
    }
}

fn nav(contents: &str) -> String {
    format!(
        "<noscript><p class=\"warning\">Figures are drawn by scripts, which are switched off; every figure has its data \
         in a table. Reload the page to see new trials.</p></noscript>\n\
         <nav aria-label=\"Contents\"><ul>\n{contents}\n</ul></nav>\n"
    )
}

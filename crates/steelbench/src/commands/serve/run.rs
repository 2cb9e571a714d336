//! The page of a run: the report, what can be picked, how far it is.

use super::forms;
use super::page::{Page, Refusal, live};
use super::query::{Query, address};
use super::site::{self, Site};
use crate::commands::show::keep_only;
use crate::results;
use report::web::{self, text};
use std::fmt::Write;
use std::slice;

/// `/run?file=NAME&run=3&only=data_files=4`
pub fn page(site: &Site, query: &Query) -> Result<Page, Refusal> {
    let file = site.library.file(query.need("file", "which results file to show")?)?;
    let live = live(slice::from_ref(&file));
    let mut read = site::read(&file, query.run()?)?;
    let recording = &mut read.recording;
    let only: Vec<String> = query.all("only").map(|asked| forms::level(recording, asked)).collect();
    let mut tools = forms::forms(&file, recording, &only);
    keep_only(recording, &only)?;
    if !only.is_empty() {
        let all = address("/run", &[("file", &file.name), ("run", &recording.run.id.to_string())]);
        // Writing to a string cannot fail.
        let _ = writeln!(
            tools,
            "<p class=\"warning\">Only configurations with {}. <a href=\"{}\">All configurations</a></p>",
            text(&only.join(" and ")),
            text(&all)
        );
    }
    let summary = results::summary(recording, &file.path);
    Ok(Page { body: web::run(&summary), tools, said: read.said, live: Some(live) })
}

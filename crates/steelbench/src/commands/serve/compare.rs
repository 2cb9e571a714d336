//! Two configurations, or two runs, as `steelbench compare` shows them.

use super::forms;
use super::page::{Page, Refusal, live};
use super::query::{Query, address};
use super::site::{self, Read, Site};
use crate::commands::compare::find;
use analysis::Side;
use analysis::runs::{Responses, compare_runs};
use report::web::{self, text};
use std::slice;

/// `/compare?file=NAME&run=3&a=data_files=1&b=data_files=4`
pub fn configurations(site: &Site, query: &Query) -> Result<Page, Refusal> {
    let file = site.library.file(query.need("file", "which results file to show")?)?;
    let a = query.need("a", "which configuration to compare")?;
    let b = query.need("b", "which configuration to compare with")?;
    let live = live(slice::from_ref(&file));
    let Read { recording, said } = site::read(&file, query.run()?)?;
    let side = |text: &str| -> Result<Side<'_>, Refusal> {
        let spelled = forms::configuration(&recording, text);
        Ok(Side { recording: &recording, configuration: spelled.map_or_else(|| find(&recording, text), Ok)? })
    };
    let (from, to) = (side(a)?, side(b)?);
    let label = |side: Side<'_>| recording.configurations[side.configuration].label.as_str();
    let (a, b) = (label(from), label(to));
    let compared = analysis::compare(from, to).ok_or_else(|| {
        Refusal::wrong("Neither configuration has a trial that was measured to the end; try again later.")
    })?;
    let run = recording.run.id.to_string();
    let of_run = [("file", file.name.as_str()), ("run", &run)];
    let swapped = address("/compare", &[of_run[0], of_run[1], ("a", b), ("b", a)]);
    let links = [
        (address("/run", &of_run), format!("Run {run} of {}", recording.run.name)),
        (swapped, SWAPPED.into()),
    ];
    Ok(Page {
        body: web::document(&report::head_to_head(&compared, a, b)),
        tools: links_html(&links)
            + "<div class=\"picks\">"
            + &forms::compare(&file, &recording, a, b)
            + "</div>\n",
        said,
        live: Some(live),
    })
}

/// `/runs?from=NAME@1&to=NAME@2`, with `all=1` every response, with `response=NAME` another one
pub fn runs(site: &Site, query: &Query) -> Result<Page, Refusal> {
    let (from, to) =
        (query.run_name("from", "which run to compare")?, query.run_name("to", "which run to compare with")?);
    let files = [site.library.file(from.file)?, site.library.file(to.file)?];
    let live = live(if files[0].name == files[1].name { &files[..1] } else { &files });
    let reads = [site::read(&files[0], Some(from.run))?, site::read(&files[1], Some(to.run))?];
    if (from.file, from.run) == (to.file, to.run) {
        return Err(Refusal::wrong(format!("Both are run {} of {}; pick two runs.", from.run, from.file)));
    }
    let which = match query.get("response") {
        Some(name) => Responses::Named(name),
        None if query.get("all").is_some() => Responses::All,
        None => Responses::Primary,
    };
    let [a, b] = &reads;
    let compared = compare_runs(&a.recording, &b.recording, which)
        .map_err(|error| Refusal::wrong(format!("These runs cannot be compared: {error}.")))?;
    let names = [format!("{}@{}", from.file, from.run), format!("{}@{}", to.file, to.run)];
    let with = |a: &str, b: &str, all: bool| {
        let mut parameters = vec![("from", a), ("to", b)];
        parameters.extend(all.then_some(("all", "1")));
        address("/runs", &parameters)
    };
    let all = which == Responses::All;
    let run = |file: &str, run: i64| address("/run", &[("file", file), ("run", &run.to_string())]);
    let links = [
        (run(from.file, from.run), format!("A: {}", names[0])),
        (run(to.file, to.run), format!("B: {}", names[1])),
        (with(&names[1], &names[0], all), SWAPPED.to_owned()),
        (with(&names[0], &names[1], !all), if all { ONE } else { EVERY }.to_owned()),
    ];
    Ok(Page {
        body: web::document(&report::runs(&compared, None)),
        tools: links_html(&links),
        said: String::new(),
        live: Some(live),
    })
}

const SWAPPED: &str = "Swap A and B";
const EVERY: &str = "Every response";
const ONE: &str = "Only the response on which the first run compares";

fn links_html(links: &[(String, String)]) -> String {
    let one = |(address, name): &(String, String)| {
        format!("<li><a href=\"{}\">{}</a></li>\n", text(address), text(name))
    };
    format!("<ul class=\"links\">\n{}</ul>\n", links.iter().map(one).collect::<Vec<_>>().concat())
}

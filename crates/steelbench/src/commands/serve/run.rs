//! The page of a run, with what can be picked on it; and two configurations, or two runs, as `steelbench compare` shows
//! them. What is picked is in plain forms, whose address can be kept.

use super::library::{self, File, Read, Site};
use super::page::{Page, Query, Refusal, address, live};
use crate::commands::select::{find, is_level, keep_only};
use crate::results;
use analysis::Side;
use analysis::runs::{Responses, compare_runs};
use observations::{FactorRecord, Recording};
use report::Text;
use report::web::{self, text};
use std::fmt::Write;
use std::slice;

/// `/run?file=NAME&run=3&only=data_files=4`
pub fn page(site: &Site, query: &Query) -> Result<Page, Refusal> {
    let file = site.library.file(query.need("file", "which results file to show")?)?;
    let live = live(slice::from_ref(&file));
    let mut read = library::read(&file, query.run()?)?;
    let recording = &mut read.recording;
    let only: Vec<String> = query.all("only").map(|asked| level(recording, asked)).collect();
    let mut tools = forms(&file, recording, &only);
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

/// `/compare?file=NAME&run=3&a=data_files=1&b=data_files=4`
pub fn configurations(site: &Site, query: &Query) -> Result<Page, Refusal> {
    let file = site.library.file(query.need("file", "which results file to show")?)?;
    let a = query.need("a", "which configuration to compare")?;
    let b = query.need("b", "which configuration to compare with")?;
    let live = live(slice::from_ref(&file));
    let Read { recording, said } = library::read(&file, query.run()?)?;
    let side = |text: &str| -> Result<Side<'_>, Refusal> {
        let spelled = configuration(&recording, text);
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
            + &compare_form(&file, &recording, a, b)
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
    let reads = [library::read(&files[0], Some(from.run))?, library::read(&files[1], Some(to.run))?];
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

/// The forms, folded away unless something is picked; empty when there is nothing to pick. `only`: the levels picked.
fn forms(file: &File, recording: &Recording, only: &[String]) -> String {
    let mut forms = filter(file, recording, only);
    if let [first, .., last] = recording.configurations.as_slice() {
        let a = recording.run.baseline.and_then(|it| recording.configurations.get(it)).unwrap_or(first);
        let b = if a.label == last.label { first } else { last };
        forms.push_str(&compare_form(file, recording, &a.label, &b.label));
    }
    if forms.is_empty() {
        return forms;
    }
    let open = if only.is_empty() { "" } else { " open" };
    format!("<details class=\"picks\"{open}><summary>Filter and compare</summary>\n{forms}</details>\n")
}

/// Levels of the factors; empty without any.
fn filter(file: &File, recording: &Recording, only: &[String]) -> String {
    let mut out = begin("/run", file, recording);
    for factor in &recording.factors {
        let _ = write!(out, "<label>{} <select name=\"only\">", text(short(recording, factor)));
        option(&mut out, "", "all", false);
        for level in &factor.levels {
            let value = format!("{}={level}", factor.name);
            option(&mut out, &value, level, only.iter().any(|own| is_level(&factor.name, level, own)));
        }
        out.push_str("</select></label>\n");
    }
    out.push_str("<button>Show</button>\n</form>\n");
    if recording.factors.is_empty() { String::new() } else { out }
}

/// The last part of a factor's name, where no other factor has the same.
fn short<'a>(recording: &Recording, factor: &'a FactorRecord) -> &'a str {
    let last = |name: &'a str| name.rsplit('.').next().unwrap_or(name);
    let own = last(&factor.name);
    let same = recording.factors.iter().filter(|other| other.name.rsplit('.').next() == Some(own)).count();
    if same > 1 { &factor.name } else { own }
}

/// A level as it is recorded, from one as a form spells it or a person types it.
fn level(recording: &Recording, asked: &str) -> String {
    let of = |factor: &FactorRecord| -> Vec<String> {
        factor.levels.iter().map(|level| format!("{}={level}", factor.name)).collect()
    };
    let known = recording.factors.iter().flat_map(of).find(|level| spelled(level) == asked);
    known.unwrap_or_else(|| asked.to_owned())
}

/// The configuration whose label a form spells like this.
fn configuration(recording: &Recording, asked: &str) -> Option<usize> {
    recording.configurations.iter().position(|configuration| spelled(&configuration.label) == asked)
}

fn spelled(raw: &str) -> String {
    Text::from(raw).to_string()
}

/// Two configurations of a run, of which two are picked already.
fn compare_form(file: &File, recording: &Recording, a: &str, b: &str) -> String {
    let mut out = begin("/compare", file, recording);
    for (name, picked) in [("a", a), ("b", b)] {
        let _ = write!(out, "<label>{} <select name=\"{name}\">", name.to_uppercase());
        for configuration in &recording.configurations {
            option(&mut out, &configuration.label, &configuration.label, configuration.label == picked);
        }
        out.push_str("</select></label>\n");
    }
    out.push_str("<button>Compare</button>\n</form>\n");
    out
}

// Writing to a string cannot fail.
fn begin(action: &str, file: &File, recording: &Recording) -> String {
    format!(
        "<form action=\"{action}\">\n<input type=\"hidden\" name=\"file\" value=\"{}\">\n\
         <input type=\"hidden\" name=\"run\" value=\"{}\">\n",
        text(&file.name),
        recording.run.id
    )
}

/// An option. What comes back is its value as it is shown, with control characters spelled out.
fn option(out: &mut String, value: &str, shown: &str, selected: bool) {
    let selected = if selected { " selected" } else { "" };
    let _ = write!(out, "<option value=\"{}\"{selected}>{}</option>", text(value), text(shown));
}

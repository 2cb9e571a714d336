//! The pages: the list of runs, a run, two configurations and two runs, as `steelbench show` and
//! `compare` show them. What can be picked on them is in plain forms, whose address can be kept.

use super::library::{self, File, Read, live};
use super::page::{Page, Query, Refusal, RunName, address, run_address, without_figures};
use super::run_list::{Key, listed};
use super::site::Site;
use command_line::select::{cells, is_level, keep_only};
use command_line::{Comparisons, Responses, results};
use observations::{Recording, order};
use report::web::{self, text};
use report::{Medium, Text};
use std::fmt::Write;
use std::slice;
use std::sync::PoisonError;
use store::Store;

/// `/`: all runs of all files, the newest first, two of which can be picked to compare
#[expect(clippy::unnecessary_wraps, reason = "a `Build`, as every page")]
pub fn list(site: &Site, _: &Query) -> Result<Page, Refusal> {
    let files = site.library.files();
    let live = live(&files);
    let mut known = site.lines.lock().unwrap_or_else(PoisonError::into_inner);
    *known = files
        .iter()
        .map(|file| (file.name.clone(), listed(&site.context, file, known.remove(&file.name))))
        .collect();
    let mut lines: Vec<&(Key, String)> =
        known.values().flat_map(|file| file.lines.iter().flatten()).collect();
    order::by_key(&mut lines, &|((started_ms, run, ..), _)| std::cmp::Reverse((*started_ms, *run)));
    let unreadable: String = files
        .iter()
        .filter_map(|file| {
            let lines = known.get(&file.name)?.lines.as_ref().err()?;
            Some(format!(
                "<p class=\"bad\">{}: {}</p>\n",
                text(&file.name),
                text(&lines.to_string())
            ))
        })
        .collect();
    let listed = if lines.is_empty() {
        let library = text(&site.library.to_string());
        format!("<p>No run in {library} yet; this page will show the first one.</p>\n")
    } else {
        let rows: String = lines.iter().map(|(_, row)| row.as_str()).collect();
        format!(include_str!("assets/runs.html"), rows = rows)
    };
    let body = without_figures("Runs", &(unreadable + &listed));
    Ok(Page { body, tools: String::new(), progress: String::new(), live: Some(live) })
}

/// `/run?file=NAME&run=3&only=data_files=4`
pub fn run(site: &Site, query: &Query) -> Result<Page, Refusal> {
    let file = site.library.file(query.need("file", "the results file")?)?;
    let live = live(slice::from_ref(&file));
    let mut read = library::read(&site.context, &file, query.run()?, Store::read)?;
    let recording = &mut read.recording;
    let only: Vec<String> = query.all("only").map(|text| level(recording, text)).collect();
    let mut tools = forms(&file, recording, &only);
    keep_only(recording, &only)?;
    if !only.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            tools,
            "<p class=\"warning\">Only configurations with {}. <a href=\"{}\">All \
             configurations</a></p>",
            text(&only.join(" and ")),
            text(&run_address(&file.name, recording.run.id))
        );
    }
    let summary = results::summary(&site.context, recording, &file.path);
    Ok(Page {
        body: web::document(&report::run(&summary, site.context.sections, Medium::Page)),
        tools,
        progress: read.progress,
        live: Some(live),
    })
}

/// `/compare?file=NAME&run=3&a=data_files=1&b=data_files=4`: two configurations, or two levels over
/// those of the other factors
pub fn configurations(site: &Site, query: &Query) -> Result<Page, Refusal> {
    let file = site.library.file(query.need("file", "the results file")?)?;
    let a = query.need("a", "the configuration to compare")?;
    let b = query.need("b", "the configuration to compare with")?;
    let live = live(slice::from_ref(&file));
    let Read { recording, progress: text } =
        library::read(&site.context, &file, query.run()?, Store::read_figures)?;
    let (cells, [a, b]) =
        cells(&recording, configuration(&recording, a), configuration(&recording, b))?;
    let compared = (comparisons(site)?.configurations)(&recording, &cells, [&a, &b]);
    let compared = compared.ok_or_else(|| {
        Refusal::wrong("Neither configuration has a completed trial; try again later.")
    })?;
    let run = recording.run.id;
    let swapped = [("file", file.name.as_str()), ("run", &run.to_string()), ("a", &b), ("b", &a)];
    let links = links_html(&[
        (run_address(&file.name, run), format!("Run {run} of {}", recording.run.name)),
        (address("/compare", &swapped), SWAPPED.into()),
    ]);
    let tools =
        format!("{links}<div class=\"picks\">{}</div>\n", compare_form(&file, &recording, &a, &b));
    Ok(Page { body: web::document(&compared), tools, progress: text, live: Some(live) })
}

/// `/runs?from=NAME@1&to=NAME@2`, `from` and `to` repeatable, with `all=1` every response, with
/// `response=NAME` another one
pub fn runs(site: &Site, query: &Query) -> Result<Page, Refusal> {
    let from = query.run_names("from", "the run to compare")?;
    let to = query.run_names("to", "the run to compare with")?;
    let named: Vec<RunName<'_>> = from.iter().chain(&to).copied().collect();
    if let Some(run) =
        (1..named.len()).find(|at| named[..*at].contains(&named[*at])).map(|at| named[at])
    {
        return Err(Refusal::wrong(format!("{run} is given twice; pick different runs.")));
    }
    let mut files: Vec<File> = Vec::new();
    for name in named {
        if files.iter().all(|file| file.name != name.file) {
            files.push(site.library.file(name.file)?);
        }
    }
    let live = live(&files);
    let side = |names: &[RunName<'_>]| {
        names
            .iter()
            .map(|name| {
                let file = site.library.file(name.file)?;
                library::read(&site.context, &file, Some(name.run), Store::read_figures)
                    .map(|read| read.recording)
            })
            .collect::<Result<Vec<Recording>, Refusal>>()
    };
    let which = match query.get("response") {
        Some(name) => Responses::Named(name),
        None if query.get("all").is_some() => Responses::All,
        None => Responses::Primary,
    };
    let compare = comparisons(site)?.runs;
    let compared = compare(&side(&from)?, &side(&to)?, which).map_err(|failure| {
        Refusal::wrong(format!("These runs cannot be compared: {}.", failure.message()))
    })?;
    let body = web::document(&compared);
    let tools = links_html(&run_links(&from, &to, which == Responses::All));
    Ok(Page { body, tools, progress: String::new(), live: Some(live) })
}

fn comparisons(site: &Site) -> Result<&Comparisons, Refusal> {
    let comparisons = site.context.comparisons.first();
    comparisons.ok_or_else(|| Refusal::wrong("This build does not compare runs."))
}

/// Links from the page that compares runs.
fn run_links(from: &[RunName<'_>], to: &[RunName<'_>], all: bool) -> Vec<(String, String)> {
    let with = |from: &[RunName<'_>], to: &[RunName<'_>], all: bool| {
        let side =
            |key, names: &[RunName<'_>]| names.iter().map(|name| (key, name.to_string())).collect();
        let sides: [Vec<(&str, String)>; 2] = [side("from", from), side("to", to)];
        let mut parameters: Vec<(&str, &str)> =
            sides.iter().flatten().map(|(key, name)| (*key, name.as_str())).collect();
        parameters.extend(all.then_some(("all", "1")));
        address("/runs", &parameters)
    };
    let run = |side: &str, name: &RunName<'_>| {
        (run_address(name.file, name.run), format!("{side}: {name}"))
    };
    let other = if all { "Only the primary response of the first run" } else { "Every response" };
    let runs = from.iter().map(|name| run("A", name)).chain(to.iter().map(|name| run("B", name)));
    runs.chain([(with(to, from, all), SWAPPED.into()), (with(from, to, !all), other.into())])
        .collect()
}

const SWAPPED: &str = "Swap A and B";

fn links_html(links: &[(String, String)]) -> String {
    let items = links.iter().map(|(address, name)| {
        format!("<li><a href=\"{}\">{}</a></li>\n", text(address), text(name))
    });
    format!("<ul class=\"links\">\n{}</ul>\n", items.collect::<String>())
}

/// The forms, folded away unless something is picked; empty when there is nothing to pick. `only`:
/// the levels picked.
fn forms(file: &File, recording: &Recording, only: &[String]) -> String {
    let mut forms = filter(file, recording, only);
    if let [first, .., last] = recording.configurations.as_slice() {
        let a = recording
            .run
            .baseline
            .and_then(|baseline| recording.configurations.get(baseline))
            .unwrap_or(first);
        let b = if a.label == last.label { first } else { last };
        forms.push_str(&compare_form(file, recording, &a.label, &b.label));
    }
    if forms.is_empty() {
        return forms;
    }
    let open = if only.is_empty() { "" } else { " open" };
    format!(
        "<details class=\"picks\"{open}><summary>Filter and compare</summary>\n{forms}</details>\n"
    )
}

/// Levels of the factors; empty without any.
fn filter(file: &File, recording: &Recording, only: &[String]) -> String {
    if recording.factors.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = recording.factors.iter().map(|factor| factor.name.as_str()).collect();
    form(
        "/run",
        file,
        recording,
        &recording
            .factors
            .iter()
            .map(|factor| {
                let all = (String::new(), "all", false);
                let levels = factor.levels.iter().map(|level| {
                    let level = level.as_str();

                    let is_picked = only.iter().any(|picked| is_level(&factor.name, level, picked));
                    (format!("{}={level}", factor.name), level, is_picked)
                });
                select(
                    report::short_name(&factor.name, &names),
                    "only",
                    std::iter::once(all).chain(levels),
                )
            })
            .collect::<String>(),
        "Show",
    )
}

/// A level as it is recorded, from one as a form spells it or a person types it.
fn level(recording: &Recording, text: &str) -> String {
    let known = recording
        .factors
        .iter()
        .flat_map(|factor| -> Vec<String> {
            factor.levels.iter().map(|level| format!("{}={level}", factor.name)).collect()
        })
        .find(|level| spelled(level) == text);
    known.unwrap_or_else(|| text.to_owned())
}

/// The label of a configuration that a form spells like this, or the levels that a person has
/// typed.
fn configuration<'t>(recording: &'t Recording, text: &'t str) -> &'t str {
    let mut labels =
        recording.configurations.iter().map(|configuration| configuration.label.as_str());
    labels.find(|label| spelled(label) == text).unwrap_or(text)
}

fn spelled(raw: &str) -> String {
    Text::from(raw).to_string()
}

/// Two configurations of a run, of which two are picked already.
fn compare_form(file: &File, recording: &Recording, a: &str, b: &str) -> String {
    let pick = |name: &str, picked: &str| {
        let labels =
            recording.configurations.iter().map(|configuration| configuration.label.as_str());
        let options = labels.map(|label| (label.to_owned(), label, label == picked));
        select(&name.to_uppercase(), name, options)
    };
    form("/compare", file, recording, &(pick("a", a) + &pick("b", b)), "Compare")
}

/// A form about a run.
fn form(action: &str, file: &File, recording: &Recording, fields: &str, button: &str) -> String {
    format!(
        "<form action=\"{action}\">\n<input type=\"hidden\" name=\"file\" value=\"{}\">\n<input \
         type=\"hidden\" name=\"run\" value=\"{}\">\n{fields}<button>{button}</button>\n</form>\n",
        text(&file.name),
        recording.run.id
    )
}

/// Options, each with its value, as it is shown, and whether it is picked. What comes back is the
/// value as it is shown, with control characters spelled out.
fn select<'a>(
    label: &str,
    name: &str,
    options: impl Iterator<Item = (String, &'a str, bool)>,
) -> String {
    let options = options.map(|(value, shown, is_picked)| {
        let selected = if is_picked { " selected" } else { "" };
        format!("<option value=\"{}\"{selected}>{}</option>", text(&value), text(shown))
    });
    let options: String = options.collect();
    format!("<label>{} <select name=\"{name}\">{options}</select></label>\n", text(label))
}

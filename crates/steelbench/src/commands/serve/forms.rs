//! What can be picked on the page of a run: levels, and two configurations to compare. Plain forms, whose address
//! can be kept.

use super::library::File;
use crate::commands::show::is_level;
use observations::{FactorRecord, Recording};
use report::Text;
use report::web::text;
use std::fmt::Write;

/// The forms, folded away unless something is picked; empty when there is nothing to pick. `only`: the levels picked.
pub fn forms(file: &File, recording: &Recording, only: &[String]) -> String {
    let mut forms = filter(file, recording, only);
    if let [first, .., last] = recording.configurations.as_slice() {
        let a = recording.run.baseline.and_then(|it| recording.configurations.get(it)).unwrap_or(first);
        let b = if a.label == last.label { first } else { last };
        forms.push_str(&compare(file, recording, &a.label, &b.label));
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
pub fn level(recording: &Recording, asked: &str) -> String {
    let of = |factor: &FactorRecord| -> Vec<String> {
        factor.levels.iter().map(|level| format!("{}={level}", factor.name)).collect()
    };
    let known = recording.factors.iter().flat_map(of).find(|level| spelled(level) == asked);
    known.unwrap_or_else(|| asked.to_owned())
}

/// The configuration whose label a form spells like this.
pub fn configuration(recording: &Recording, asked: &str) -> Option<usize> {
    recording.configurations.iter().position(|configuration| spelled(&configuration.label) == asked)
}

fn spelled(raw: &str) -> String {
    Text::from(raw).to_string()
}

/// Two configurations of a run, of which two are picked already.
pub fn compare(file: &File, recording: &Recording, a: &str, b: &str) -> String {
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

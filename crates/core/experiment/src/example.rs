//! A commented experiment file, made from the same tables that parse it.

use crate::catalog::owned;
use crate::configuration::names_volume;
use crate::file::{NETWORK, OBSERVE, SETTINGS};
use crate::{Catalog, Declaration, Example, ExampleLevels, Kind, Value};
use std::fmt::Write as _;

/// Columns of its comments.
const COLUMNS: usize = 100;

const ADAPTIVE: &str = "# Or as many as the spread of the first ones requires for every 95 % \
                        interval to be this narrow:
# blocks = { min = 5, max = 20, until = \"2%\" }
";

/// A commented experiment file for this engine and probe, which can be run as it is.
pub fn example(catalog: &Catalog, engine: &str, probe: &str) -> String {
    let mut text = String::from(
        "# An experiment: question, engine, workload and factors.\n# Lines after a # are \
         settings with their defaults. Counts, sizes and times can be written as\n# \"320k\", \
         \"4 GiB\", \"250 ms\".\n",
    );
    let engine_settings = owned(&catalog.engines, engine);
    let probe_settings = owned(&catalog.probes, probe);
    section(&mut text, "experiment", SETTINGS, &[]);
    section(&mut text, "target", engine_settings, &[("engine", engine)]);
    section(&mut text, "workload", probe_settings, &[("probe", probe)]);
    section(&mut text, "network", NETWORK, &[]);
    section(&mut text, "observe", OBSERVE, &[]);
    let example = catalog
        .examples
        .iter()
        .filter(|(of, _)| *of == probe || *of == engine)
        .map(|(_, example)| *example)
        .find(|example| probe_settings.iter().any(|setting| setting.path == example.path));
    let factor = example.or_else(|| engine_settings.iter().chain(probe_settings).find_map(doubled));
    if let Some(factor) = &factor {
        let _ = write!(text, "\n{}", factors(factor, engine_settings));
    }
    text.push_str(include_str!("example/volumes.toml"));
    for name in ["repeats", "order", "limits", "hooks", "report"] {
        section(&mut text, name, SETTINGS, &[]);
    }
    if let Some(ExampleLevels { path, levels: [first, ..] }) = factor {
        let _ = write!(
            text,
            "# The configuration to compare the others with.\nbaseline = {{ \"{path}\" = {first} \
             }}\n",
        );
    }
    text
}

/// A number that can be doubled twice makes a good factor.
fn doubled(setting: &Declaration) -> Option<ExampleLevels> {
    let Kind::Count { max, .. } = setting.kind else { return None };
    let Value::Integer(first) = setting.kind.read_text(setting.default?).ok()? else { return None };
    let levels = [first, first.checked_mul(2)?, first.checked_mul(4)?];
    (first > 0 && levels[2] <= max).then_some(ExampleLevels { path: setting.path, levels })
}

fn factors(factor: &ExampleLevels, settings: &[Declaration]) -> String {
    let ExampleLevels { path, levels: [first, second, third] } = factor;
    let choices = settings.iter().filter_map(|setting| match setting.kind {
        Kind::Choice(words) => Some(format!("\"{}\" = \"{}\"", setting.path, words.last()?)),
        _ => None,
    });
    let choices: Vec<String> = choices.collect();
    let linked =
        if choices.is_empty() { "{}".into() } else { format!("{{ {} }}", choices.join(", ")) };
    format!(
        include_str!("example/factors.toml"),
        path = path,
        first = first,
        second = second,
        third = third,
        linked = linked
    )
}

fn section(text: &mut String, name: &str, settings: &[Declaration], selected: &[(&str, &str)]) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n[{name}]");
    for (key, value) in selected {
        let _ = writeln!(text, "{key} = \"{value}\"");
    }
    for setting in settings.iter().filter(|setting| !setting.path.starts_with("repeats.blocks.")) {
        let Some(key) = setting.path.strip_prefix(name).and_then(|key| key.strip_prefix('.'))
        else {
            continue;
        };
        let key = key.replace('*', "NAME");
        text.extend(comment(setting.doc));
        let _ = match setting.example {
            Example::Value(value) => writeln!(text, "{key} = {value}"),
            Example::Shown(value) => writeln!(text, "# {key} = {value}"),
            Example::OfKind => writeln!(text, "# {key} = {}", placeholder(setting)),
        };
        if setting.path == "repeats.blocks" {
            text.push_str(ADAPTIVE);
        }
    }
}

/// A text in lines of a comment, broken at blanks.
fn comment(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < COLUMNS => line.extend([" ", word]),
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The default, or a value of the kind.
fn placeholder(setting: &Declaration) -> String {
    match (setting.default, setting.kind) {
        (Some(default), Kind::Bool | Kind::Number { .. }) => default.into(),
        (Some(default), Kind::Count { .. }) if default.parse::<i64>().is_ok() => default.into(),
        (Some(default), Kind::Choice(words)) => format!("\"{default}\"    # {}", words.join(" | ")),
        (Some(default), _) => format!("\"{default}\""),
        (None, Kind::Count { min, max }) => 1000.clamp(min, max).to_string(),
        (None, Kind::Size { min, max }) => (1_i64 << 20).clamp(min, max).to_string(),
        (None, Kind::Bandwidth) => "\"125 MB/s\"".into(),
        (None, Kind::Duration | Kind::PositiveDuration) => "\"10 s\"".into(),
        (None, Kind::Rate) => "\"100/s\"".into(),
        (None, Kind::Share) => "\"2%\"".into(),
        (None, Kind::Number { min, max }) => 1.0_f64.clamp(min, max).to_string(),
        (None, Kind::Bool) => "true".into(),
        (None, Kind::Choice(words)) => {
            format!("\"{}\"    # {}", words.first().unwrap_or(&""), words.join(" | "))
        }
        (None, Kind::Text | Kind::TextList) if names_volume(setting.path) => "\"fast\"".into(),
        (None, Kind::TextList | Kind::ScalarList) => "[\"...\"]".into(),
        (None, Kind::Text | Kind::MaybeEmptyText | Kind::Scalar) => "\"...\"".into(),
    }
}

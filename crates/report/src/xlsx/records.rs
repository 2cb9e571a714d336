//! What was set, where it ran, and the experiment file itself.

use super::book::{Book, Size};
use super::cell::Value;
use super::columns::Columns;
use observations::{ConfigurationRecord, Environment, Recording};
use rust_xlsxwriter::XlsxError;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// One row for each setting of each configuration.
pub fn settings(book: &mut Book, recording: &Recording) -> Result<(), XlsxError> {
    let mut values: BTreeMap<&str, Vec<&observations::Value>> = BTreeMap::new();
    let all = || recording.configurations.iter();
    for (name, value) in all().flat_map(|configuration| &configuration.settings) {
        values.entry(name).or_default().push(value);
    }
    let varies = |name: &str| {
        values.get(name).is_some_and(|own| {
            own.len() < recording.configurations.len() || own.windows(2).any(|pair| pair[0] != pair[1])
        })
    };
    let mut columns: Columns<'_, (&ConfigurationRecord, (&String, &observations::Value))> = Columns::new();
    columns.add("configuration", |(configuration, _)| Value::text(&configuration.label));
    columns.add("setting", |(_, (name, _))| Value::text(name));
    columns.add("varies", |(_, (name, _))| Value::Bool(varies(name)));
    columns.add("value", |(_, (_, value))| plain(&serde_json::json!(value)));
    let items = all()
        .flat_map(|configuration| configuration.settings.iter().map(move |setting| (configuration, setting)));
    book.table("Settings", Size::Large, &columns, items)
}

/// The run, then one row for each fact of each environment that a sitting found.
pub fn environment(book: &mut Book, recording: &Recording) -> Result<(), XlsxError> {
    let mut facts = run(recording);
    for (number, environment) in (1..).zip(&recording.environments) {
        facts.extend(of_environment(number, environment));
    }
    let mut columns: Columns<'_, &Fact> = Columns::new();
    columns.add("environment", |fact| Value::count(fact.environment));
    columns.add("fact", |fact| Value::text(&fact.name));
    columns.add("value", |fact| fact.value.clone());
    book.table("Environment", Size::Small, &columns, facts.iter())
}

/// The file as it was, line by line.
pub fn experiment(book: &mut Book, recording: &Recording) -> Result<(), XlsxError> {
    let mut columns: Columns<'_, (u64, &str)> = Columns::new();
    columns.add("line", |(number, _)| Value::Count(*number));
    columns.add("experiment file", |(_, line)| Value::text(line));
    book.table("Experiment", Size::Large, &columns, (1..).zip(recording.run.source.lines()))
}

struct Fact {
    /// From 1; `None` of the run itself.
    environment: Option<u64>,
    name: String,
    value: Value<'static>,
}

fn run(recording: &Recording) -> Vec<Fact> {
    let run = &recording.run;
    let fact = |name: &str, value: Value<'static>| Fact { environment: None, name: name.to_owned(), value };
    let text = |text: &str| Value::from(text.to_owned());
    vec![
        fact("run", Value::Number(run.id as f64)),
        fact("name", text(&run.name)),
        fact("question", run.question.as_deref().map_or(Value::Empty, text)),
        fact("started (UTC)", Value::Time(run.started_ms)),
        fact("seed", Value::Count(run.seed)),
        fact("response", run.response.as_deref().map_or(Value::Empty, text)),
        fact("recorded by Steelbench", text(&run.steelbench)),
    ]
}

fn of_environment(number: u64, environment: &Environment) -> Vec<Fact> {
    let mut facts = Vec::new();
    // Plain data with names of their own: this cannot fail.
    let json = serde_json::to_value(environment).unwrap_or_default();
    flatten(String::new(), &json, &mut |name, value| {
        facts.push(Fact { environment: Some(number), name, value });
    });
    facts
}

/// Every leaf with its path: `volumes.1.path`.
fn flatten(path: String, json: &Json, found: &mut impl FnMut(String, Value<'static>)) {
    let below = |part: &str| if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") };
    match json {
        Json::Object(fields) => fields.iter().for_each(|(name, value)| flatten(below(name), value, found)),
        Json::Array(items) => {
            (1..).zip(items).for_each(|(at, item): (u64, _)| flatten(below(&at.to_string()), item, found));
        }
        leaf => found(path, plain(leaf)),
    }
}

/// JSON as a cell: what is neither a number nor a word stays JSON.
fn plain(json: &Json) -> Value<'static> {
    match json {
        Json::Null => Value::Empty,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => text.clone().into(),
        Json::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(count), _) => Value::Count(count),
            // A negative number that a spreadsheet would round.
            (None, Some(value)) if number.is_f64() || value.abs() <= 9e15 => Value::Number(value),
            _ => number.to_string().into(),
        },
        other => other.to_string().into(),
    }
}

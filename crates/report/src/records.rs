//! What was set, where it ran, and the experiment file itself.

use crate::table::{Cell, Columns, Table, Time};
use observations::{Environment, Recording};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// One row for each setting of each configuration.
pub fn settings(recording: &Recording) -> Table<'_> {
    let mut values: BTreeMap<&str, Vec<&observations::Value>> = BTreeMap::new();
    let all = || recording.configurations.iter();
    for (name, value) in all().flat_map(|configuration| &configuration.settings) {
        values.entry(name).or_default().push(value);
    }
    let varies = move |name: &str| {
        values.get(name).is_some_and(|own| {
            own.len() < recording.configurations.len() || own.windows(2).any(|pair| pair[0] != pair[1])
        })
    };
    let rows = all().flat_map(|own| own.settings.iter().map(move |setting| (own, setting)));
    let mut columns = Columns::of(rows);
    columns.add("configuration", "", |(configuration, _)| configuration.label.as_str());
    columns.add("setting", "", |(_, (name, _))| name.as_str());
    columns.add("varies", "", move |(_, (name, _))| varies(name));
    columns.add("value", "", |(_, (_, value))| plain(&serde_json::json!(value)));
    columns.named("settings")
}

/// The file as it was, line by line.
pub fn experiment(recording: &Recording) -> Table<'_> {
    let mut columns = Columns::of((1_u64..).zip(recording.run.source.lines()));
    columns.add("line", "", |(number, _)| *number);
    columns.add("experiment_file", "", |(_, line)| *line);
    columns.named("experiment")
}

/// The run, then one row for each fact of each environment that a session of the run found.
pub fn environment(recording: &Recording) -> Table<'_> {
    let of_run = run(recording).map(|(name, value)| (None, name.to_owned(), value));
    let found = (1_u64..).zip(&recording.environments).flat_map(|(number, environment)| {
        facts(environment).into_iter().map(move |(name, value)| (Some(number), name, value))
    });
    let rows: Vec<_> = of_run.into_iter().chain(found).collect();
    let mut columns = Columns::of(rows);
    columns.add("environment", "", |row| row.0);
    columns.add("fact", "", |row| row.1.clone());
    columns.add("value", "", |row| row.2.clone());
    columns.named("environment")
}

fn run(recording: &Recording) -> [(&'static str, Cell); 7] {
    let run = &recording.run;
    [
        ("run", run.id.into()),
        ("name", Cell::from(&run.name)),
        ("question", run.question.clone().into()),
        ("started (UTC)", Time(run.started_ms).into()),
        ("seed", run.seed.into()),
        ("response", run.response.clone().into()),
        ("recorded by Steelbench", run.steelbench.clone().into()),
    ]
}

/// Everything that is known of an environment, each fact with its path: `volumes.1.path`.
pub fn facts(environment: &Environment) -> Vec<(String, Cell)> {
    let mut facts = Vec::new();
    // Plain data with names of their own: this cannot fail.
    flatten(String::new(), &serde_json::to_value(environment).unwrap_or_default(), &mut facts);
    facts
}

fn flatten(path: String, json: &Json, facts: &mut Vec<(String, Cell)>) {
    let below = |part: &str| if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") };
    match json {
        Json::Object(fields) => fields.iter().for_each(|(name, value)| flatten(below(name), value, facts)),
        Json::Array(items) if !items.is_empty() && items.iter().all(Json::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            facts.push((path, items.join(", ").into()));
        }
        Json::Array(items) => {
            (1..).zip(items).for_each(|(at, item): (u64, _)| flatten(below(&at.to_string()), item, facts));
        }
        leaf => facts.push((path, plain(leaf))),
    }
}

/// JSON as a cell: what is neither a number nor a word stays JSON.
fn plain(json: &Json) -> Cell {
    match json {
        Json::Null => Cell::default(),
        Json::Bool(value) => (*value).into(),
        Json::String(text) => text.clone().into(),
        Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(count), _, _) => count.into(),
            (None, Some(integer), _) => integer.into(),
            (None, None, number) => number.into(),
        },
        other => other.to_string().into(),
    }
}

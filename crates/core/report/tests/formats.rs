//! `docs/formats.md` names what the program writes: all of it, and nothing else.

use observations::{Event, FailureKind, HookOutput, Response, RunEnd, Tally, TrialRef};
use serde_json::Value;
use std::collections::BTreeSet;
use testing::sample;

const DOCUMENT: &str = include_str!("../../../../docs/formats.md");

/// Objects whose keys are names of the user's things.
const BY_NAME: [&str; 2] = ["environments[].engines", "configurations[].settings"];

/// Names in backticks that begin the rows of tables, under the headings that `heading` accepts,
/// each below the name that is the heading.
fn documented(section: &str, prefix: &str) -> BTreeSet<String> {
    let start = DOCUMENT
        .find(&format!("\n## {section}\n"))
        .unwrap_or_else(|| panic!("no section {section}"));
    let text = &DOCUMENT[start + 1..];
    let text = text.find("\n## ").map_or(text, |end| &text[..end]);
    let mut below = None;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            below = heading.trim_matches('`').strip_prefix(prefix).map(str::to_owned);
        }
        if let (Some(below), Some(row)) = (&below, line.strip_prefix("| `")) {
            let name = row.split('`').next().unwrap();
            let path = if below.is_empty() { name.to_owned() } else { format!("{below}.{name}") };
            assert!(found.insert(path.clone()), "{path} is there twice");
        }
    }
    found
}

fn walk(path: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = if BY_NAME.contains(&path) { "*" } else { name };
                let below =
                    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                found.insert(below.clone());
                walk(&below, value, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                walk(&format!("{path}[]"), item, found);
            }
        }
        _ => {}
    }
}

fn assert_same(documented: &BTreeSet<String>, written: &BTreeSet<String>) {
    let missing: Vec<_> = written.difference(documented).collect();
    let stale: Vec<_> = documented.difference(written).collect();
    assert!(missing.is_empty(), "written, but not in docs/formats.md: {missing:#?}");
    assert!(stale.is_empty(), "in docs/formats.md, but not written: {stale:#?}");
}

#[test]
fn every_field_of_the_json_is_documented() {
    let mut json = Vec::new();
    report::json::recording(&sample::recording(20), &mut json).unwrap();
    let mut written = BTreeSet::new();
    walk("", &serde_json::from_slice(&json).unwrap(), &mut written);
    assert!(written.len() > 100, "{written:?}");
    assert_same(&documented("JSON", "JSON: "), &written);
}

/// Each event once, and of each end of a run.
fn events() -> Vec<Event> {
    let (text, cause) = (String::new(), String::new());
    let trial = TrialRef { sequence: 1, block: 1, attempt: 1, configuration: String::new() };
    let tally = Tally { planned: 3, done: 1, failed: 1, timeouts: 1, futile: 0 };
    let hook = HookOutput {
        hook: String::new(),
        command: String::new(),
        exit_code: None,
        elapsed_s: 0.0,
        output: String::new(),
    };
    let ends = [
        RunEnd::Completed(tally),
        RunEnd::Failing { cause: cause.clone(), tally },
        RunEnd::Interrupted,
        RunEnd::ManualStep { text: text.clone() },
        RunEnd::Limit { text: text.clone() },
    ];
    let others = [
        Event::RunStarted { experiment: String::new(), configurations: 1, trials: 1, done: 0 },
        Event::Step { text: text.clone() },
        Event::Hook(hook),
        Event::TrialStarted { trial: trial.clone() },
        Event::Progress {
            elapsed_s: 0.0,
            fraction: 0.0,
            rate: 0.0,
            unit: String::new(),
            latency_p99_ms: None,
        },
        Event::TrialFinished {
            trial: trial.clone(),
            wall_s: 0.0,
            responses: vec![Response::lower("elapsed", "s", 1.0)],
            warnings: Vec::new(),
        },
        Event::TrialFailed { trial, wall_s: 0.0, cause, kind: FailureKind::Error, retry: false },
        Event::RepeatsEnough { trials: 1 },
        Event::BlockRepeated { block: 1, machine: String::new(), trials: 1 },
        Event::CandidateLeft { text: text.clone() },
        Event::ManualStep { text: text.clone() },
        Event::Warning { text },
    ];
    others.into_iter().chain(ends.map(Event::RunFinished)).collect()
}

/// Another event needs a line above and rows in the document.
fn is_known(event: &Event) -> bool {
    match event {
        Event::RunStarted { .. }
        | Event::Step { .. }
        | Event::Hook(_)
        | Event::TrialStarted { .. }
        | Event::Progress { .. }
        | Event::TrialFinished { .. }
        | Event::TrialFailed { .. }
        | Event::RepeatsEnough { .. }
        | Event::BlockRepeated { .. }
        | Event::CandidateLeft { .. }
        | Event::ManualStep { .. }
        | Event::Warning { .. }
        | Event::RunFinished(
            RunEnd::Completed(_)
            | RunEnd::Failing { .. }
            | RunEnd::Interrupted
            | RunEnd::ManualStep { .. }
            | RunEnd::Limit { .. },
        ) => true,
    }
}

#[test]
fn every_field_of_the_events_is_documented() {
    let mut written = BTreeSet::new();
    for event in events() {
        assert!(is_known(&event));
        let mut json = serde_json::to_value(&event).unwrap();
        let fields = json.as_object_mut().unwrap();
        let Some(Value::String(name)) = fields.remove("event") else { panic!("{event:?}") };
        if let Some(trial) = fields.get("trial") {
            walk("trial", trial, &mut written);
        }
        written.insert(name.clone());
        written.extend(fields.keys().map(|field| format!("{name}.{field}")));
    }
    assert_same(&documented("Events of a run", "Events: "), &written);
}

/// CSV and Parquet have the same columns.
#[test]
fn every_column_of_the_tables_is_documented() {
    let recording = sample::recording(20);
    let of_the_user: Vec<String> = recording
        .factors
        .iter()
        .map(|factor| factor.name.clone())
        .chain(sample_responses(&recording))
        .collect();
    let mut written = BTreeSet::new();
    for table in report::tables(&recording) {
        let mut file = Vec::new();
        table.csv(&mut file).unwrap();
        let (table, mut reader) = (table.name, csv::Reader::from_reader(file.as_slice()));
        for column in reader
            .headers()
            .unwrap()
            .iter()
            .filter(|name| !of_the_user.contains(&(*name).to_owned()))
        {
            written.insert(format!("{table}.{column}"));
        }
    }
    let mut documented = documented("CSV and Parquet", "Table ");
    // What all have is written down once.
    let common: Vec<String> =
        documented.iter().filter_map(|path| path.strip_prefix("all.").map(str::to_owned)).collect();
    documented.retain(|path| !path.starts_with("all."));
    for table in [
        "trials",
        "waits",
        "latencies",
        "statements",
        "operations",
        "series",
        "devices",
        "functions",
    ] {
        documented.extend(common.iter().map(|column| format!("{table}.{column}")));
    }
    assert_same(&documented, &written);
}

fn sample_responses(recording: &observations::Recording) -> impl Iterator<Item = String> {
    let (_, observations) = recording.done().next().unwrap();
    let facts = observations.facts.iter().map(|fact| fact.name.clone());
    observations
        .responses
        .iter()
        .map(|response| format!("{} ({})", response.name, response.unit))
        .chain(facts)
}

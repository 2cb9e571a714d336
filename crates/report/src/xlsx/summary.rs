//! What was found: the verdict, estimates of every configuration, and where the sessions' time went.

use super::book::{Book, Size};
use super::response;
use crate::data::{Columns, Share};
use crate::{number, time};
use analysis::{
    Accounting, Comparison, ConfigurationRow, Estimate, FindingKind, LevelWaits, ResponseChoice, Standing,
    Summary,
};
use observations::{Direction, Recording, Response, WaitClass};
use rust_xlsxwriter::XlsxError;
use std::collections::BTreeMap;

/// A finding with its evidence, or a cause of failure.
struct Said {
    kind: String,
    text: String,
    evidence: String,
}

pub fn verdict(book: &mut Book, summary: &Summary) -> Result<(), XlsxError> {
    let said = said(summary);
    let mut columns: Columns<'_, &Said> = Columns::new();
    columns.add("kind", "", |said| said.kind.as_str());
    columns.add("finding", "", |said| said.text.as_str()).wrapped = true;
    columns.add("evidence", "", |said| said.evidence.as_str()).wrapped = true;
    book.titled(&lines(summary), &columns.table("verdict", || said.iter()))
}

fn lines(summary: &Summary) -> Vec<String> {
    let run = &summary.recording.run;
    let done = format!(
        "Run {}, {}; {} done, {} failed",
        run.id,
        time::utc(run.started_ms),
        number::plural(summary.done(), "trial"),
        number::plural(summary.failed(), "attempt")
    );
    let compared = summary
        .response
        .as_ref()
        .map(|response| format!("Compared on {} ({})", response.name, response.unit));
    [Some(run.name.clone()), run.question.clone(), Some(done), compared].into_iter().flatten().collect()
}

fn said(summary: &Summary) -> Vec<Said> {
    let findings = summary.findings().into_iter().map(|finding| Said {
        kind: name(finding.kind),
        text: finding.text,
        evidence: finding.evidence,
    });
    let failures = summary.failures().into_iter().map(|failure| Said {
        kind: "failure".to_owned(),
        text: failure.cause,
        evidence: format!(
            "{}: {}",
            number::plural(failure.attempts, "attempt"),
            failure.configurations.join("; ")
        ),
    });
    findings.chain(failures).collect()
}

/// The name that programs read too.
fn name(kind: FindingKind) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// A response of a configuration.
struct Row<'a> {
    of: &'a ConfigurationRow,
    response: ResponseChoice,
    /// Whether configurations are compared on it.
    chosen: bool,
    estimate: Option<Estimate>,
}

pub fn configurations(book: &mut Book, recording: &Recording, summary: &Summary) -> Result<(), XlsxError> {
    let rows = rows(recording, summary);
    let mut columns: Columns<'_, &Row<'_>> = Columns::new();
    columns.add("configuration", "", |row| row.of.label.as_str());
    for factor in &recording.factors {
        columns.factor(factor, |row: &&Row<'_>| {
            let levels = &recording.configurations.get(row.of.index)?.levels;
            levels.iter().find(|level| level.factor == factor.name).map(|level| level.level.as_str())
        });
    }
    columns.add("baseline", "", |row| row.of.baseline);
    columns.add("response", "", |row| row.response.name.as_str());
    columns.add("unit", "", |row| row.response.unit.as_str());
    columns.add("better", "", |row| match row.response.direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
    });
    columns.add("n", "", |row| row.estimate.as_ref().map_or(0, |e| e.n));
    figures(&mut columns);
    compared(&mut columns);
    columns.add("failed attempts", "", |row| row.of.failed);
    book.table(Size::Large, &columns.table("configurations", || rows.iter()))
}

fn figures<'a>(columns: &mut Columns<'a, &'a Row<'a>>) {
    let mut figure = |heading: &str, figure: fn(&Estimate) -> Option<f64>| {
        columns.add(heading, "", move |row| row.estimate.as_ref().and_then(figure));
    };
    figure("mean", |e| Some(e.mean));
    figure("low (95 %)", |e| e.interval.map(|interval| interval.low));
    figure("high (95 %)", |e| e.interval.map(|interval| interval.high));
    figure("median", |e| Some(e.median));
    figure("smallest", |e| Some(e.min));
    figure("largest", |e| Some(e.max));
    figure("standard deviation", |e| e.sd);
    columns.add("CV", "", |row| row.estimate.as_ref().and_then(Estimate::cv).map(Share));
}

/// Against the baseline and the best, of the response on which configurations are compared.
fn compared<'a>(columns: &mut Columns<'a, &'a Row<'a>>) {
    let mut figure = |heading: &str, figure: fn(&Comparison) -> Option<f64>| {
        columns.add(heading, "", move |row: &&Row| {
            row.of.factor.as_ref().filter(|_| row.chosen).and_then(figure)
        });
    };
    figure("against baseline", |c| Some(c.value));
    figure("against baseline, low", |c| c.interval.map(|interval| interval.low));
    figure("against baseline, high", |c| c.interval.map(|interval| interval.high));
    figure("adjusted p", |c| c.adjusted_p);
    columns.add("standing", "", |row| match row.of.standing {
        _ if !row.chosen => None,
        Standing::Best => Some("best"),
        Standing::AsGoodAsBest => Some("as good as the best"),
        Standing::Worse => Some("worse"),
        Standing::Unknown => None,
    });
}

/// The response that matters first.
fn rows<'a>(recording: &Recording, summary: &'a Summary) -> Vec<Row<'a>> {
    let responses = responses(recording, summary);
    let mut rows = Vec::new();
    for (position, response) in responses.iter().enumerate() {
        let chosen = position == 0 && summary.response.is_some();
        let mut values: BTreeMap<usize, BTreeMap<u32, f64>> = BTreeMap::new();
        for (trial, seen) in recording.done() {
            if let Some(value) = response.value(seen) {
                values.entry(trial.configuration).or_default().insert(trial.block, value);
            }
        }
        for of in &summary.configurations {
            let own: Vec<f64> =
                values.get(&of.index).into_iter().flat_map(|blocks| blocks.values().copied()).collect();
            let estimate = Estimate::of(&own, &response.unit, response.direction);
            rows.push(Row { of, response: response.clone(), chosen, estimate });
        }
    }
    rows
}

/// Every response that a trial recorded, in the order of first appearance, after the one that configurations are
/// compared on.
fn responses(recording: &Recording, summary: &Summary) -> Vec<ResponseChoice> {
    let choice = |response: &Response| ResponseChoice {
        name: response.name.clone(),
        unit: response.unit.clone(),
        direction: response.direction,
        missing: None,
    };
    let mut found: Vec<ResponseChoice> = summary.response.iter().cloned().collect();
    for response in recording.done().flat_map(|(_, seen)| &seen.responses) {
        if !found.iter().any(|known| known.name == response.name) {
            found.push(choice(response));
        }
    }
    found
}

/// A part of the sessions' time: its name and its seconds.
type Part = (String, Box<dyn Fn(&Accounting) -> f64>);

/// Where the sessions' time went, by level of the main factor.
pub fn profile(book: &mut Book, recording: &Recording, summary: &Summary) -> Result<(), XlsxError> {
    let levels = summary.waits();
    let parts = parts(&levels);
    let mut columns: Columns<'_, &LevelWaits> = Columns::new();
    match summary.main_factor.and_then(|main| recording.factors.get(main)) {
        Some(factor) => drop(columns.factor(factor, |waits: &&LevelWaits| waits.level.as_deref())),
        None => drop(columns.add("level", "", |_| "all trials")),
    }
    columns.add("trials", "", |waits| waits.accounting.trials);
    columns.add("sessions", "s", |waits| waits.accounting.session_s);
    let first = columns.len() as u16;
    let shares: Vec<(u16, String)> = (first..).zip(parts.iter().map(|(name, _)| name.clone())).collect();
    for (name, seconds) in &parts {
        columns.add(name, "", move |waits| Share(waits.accounting.share(seconds(&waits.accounting))));
    }
    for (name, seconds) in &parts {
        columns.add(name, "s", move |waits| seconds(&waits.accounting));
    }
    book.table(Size::Small, &columns.table("profile", || levels.iter()))?;
    if levels.is_empty() {
        return Ok(());
    }
    response::stacked(book.sheet("Profile")?, "Where the sessions' time went", &shares, levels.len())
}

/// CPU, the classes of waits that occur, and the rest. They add up to the sessions' time.
fn parts(levels: &[LevelWaits]) -> Vec<Part> {
    let mut parts: Vec<Part> = vec![("CPU".to_owned(), Box::new(|a| a.cpu_s))];
    let occurs = |class: &WaitClass| levels.iter().any(|waits| waits.accounting.resource(*class) != 0.0);
    for class in WaitClass::ALL.into_iter().filter(occurs) {
        parts.push((format!("{class} wait"), Box::new(move |a| a.resource(class))));
    }
    parts.push(("wait for a processor".to_owned(), Box::new(|a| a.signal_s)));
    parts.push(("client".to_owned(), Box::new(|a| a.client_s)));
    parts.push(("unaccounted".to_owned(), Box::new(|a| a.unaccounted_s)));
    parts
}

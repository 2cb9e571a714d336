//! The tables that only a workbook has, each on a sheet of its own: the verdict, the response
//! against the main factor, where the sessions' time went, and every configuration with every
//! response.

use crate::model::{Column, Columns};
use crate::panels::places;
use crate::sections::{better, part, parts};
use crate::table::{Plot, PlotKind, PlotSeries, Share, Table};
use crate::{Text, number, text};
use analysis::{
    Accounting, Comparison, ConfigurationRow, Estimate, FindingKind, Standing, Summary,
};
use observations::{Direction, Response, WaitClass};
use std::collections::HashMap;

/// Most lines of a chart that are distinguishable. With more, the factor's main effect is drawn,
/// over all levels of the other factors.
const SERIES_MAX: usize = 8;

/// The tables in the order of their sheets.
pub fn tables<'a>(summary: &'a Summary<'a>) -> Vec<Table<'a>> {
    vec![verdict(summary), response(summary), profile(summary), configurations(summary)]
}

/// Findings with their evidence, then causes of failure, below the description of the run.
fn verdict<'a>(summary: &Summary<'a>) -> Table<'a> {
    let findings = summary
        .findings()
        .into_iter()
        .map(|finding| (name(finding.kind), finding.text, finding.evidence));
    let failures = summary.failures().into_iter().map(|failure| {
        let attempts = number::plural(failure.attempts, "attempt");
        (
            "failure".to_owned(),
            failure.cause,
            format!("{attempts}: {}", failure.configurations.join("; ")),
        )
    });
    let mut columns = Columns::for_rows(findings.chain(failures).collect::<Vec<_>>());
    columns.add("kind", "", |(kind, ..)| kind.clone());
    columns.add("finding", "", |(_, text, _)| text.clone()).wrapped = true;
    columns.add("evidence", "", |(.., evidence)| evidence.clone()).wrapped = true;
    let run = &summary.recording.run;
    let done = format!(
        "Run {}, {}; {} done, {} failed",
        run.id,
        text::utc(run.started_ms),
        number::plural(summary.done(), "trial"),
        number::plural(summary.failed(), "attempt")
    );
    let compared = summary
        .response
        .as_ref()
        .map(|response| format!("Compared on {} ({})", response.name, response.unit));
    let lines = [Some(run.name.clone()), run.question.clone(), Some(done), compared];
    let mut table = columns.named("verdict");
    table.lines = lines.into_iter().flatten().map(Text::from).collect();
    table
}

/// The name that programs read too.
fn name(kind: FindingKind) -> String {
    let name = serde_json::to_value(kind).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// Heading, and its figure.
type Figure<T> = (&'static str, fn(&T) -> Option<f64>);

/// The figures drawn for a line.
const LINE: [Figure<Estimate>; 5] = [
    ("mean", |e| Some(e.mean)),
    ("low", |e| e.interval.map(|i| i.low)),
    ("high", |e| e.interval.map(|i| i.high)),
    ("mean - low", |e| e.interval.map(|i| e.mean - i.low)),
    ("high - mean", |e| e.interval.map(|i| i.high - e.mean)),
];

/// A line: its name, and an estimate for each level of the main factor.
type Line<'a> = (String, Vec<Option<&'a Estimate>>);

/// The response against the main factor, one line for each combination of the others' levels;
/// without factors, of every configuration.
fn response<'a>(summary: &'a Summary<'a>) -> Table<'a> {
    let main = summary.main_factor.and_then(|main| summary.recording.factors.get(main));
    let unit = summary.unit();
    let rows = main.map_or(summary.configurations.len(), |factor| factor.levels.len());
    let mut columns = Columns::for_rows(0..rows);
    match main {
        Some(factor) => {
            columns.factor(factor, |at| factor.levels.get(*at).map(String::as_str));
        }
        None => {
            columns.with(Column::raw("configuration", ""), |at| {
                text::label(&summary.configurations[*at].label)
            });
        }
    }
    let mut series = Vec::new();
    for (name, estimates) in lines(summary) {
        let values = columns.len();
        series.push(PlotSeries {
            name: name.as_str().into(),
            values,
            reach: Some((values + 4, values + 3)),
        });
        for (heading, figure) in LINE {
            let heading =
                if heading == "mean" { format!("mean ({unit})") } else { heading.to_owned() };
            let estimates = estimates.clone();
            columns
                .with(Column::raw(format!("{name}: {heading}"), ""), move |at: &usize| {
                    estimates.get(*at).copied().flatten().and_then(figure)
                })
                .from_origin("response");
        }
    }
    let mut table = columns.named("response");
    table.plot = summary.response.as_ref().filter(|_| rows > 1).map(|response| Plot {
        // Levels without an order are not joined by a line.
        kind: if main.is_some() { PlotKind::Lines } else { PlotKind::Columns },
        title: format!(
            "{} ({unit}), {} is better; bars: 95 % intervals",
            response.name,
            better(response.direction)
        )
        .into(),
        x: main.map_or("configuration", |factor| &factor.name).into(),
        y: unit.into(),
        series,
    });
    table
}

fn lines<'a>(summary: &'a Summary<'a>) -> Vec<Line<'a>> {
    let name = || {
        summary
            .response
            .as_ref()
            .map_or_else(|| "response".to_owned(), |response| response.name.clone())
    };
    let Some(effect) = summary.main_effect() else {
        return vec![(
            name(),
            summary.configurations.iter().map(|row| row.response.as_ref()).collect(),
        )];
    };
    let labels: Vec<&str> = effect.levels.iter().map(|level| level.level.as_str()).collect();
    let places = places(&labels);
    let mut lines: Vec<Line> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for row in &summary.configurations {
        let level = row.level(&effect.factor);
        let Some(at) = level.and_then(|level| places.get(level).copied()) else { continue };
        let levels = row.levels.iter().filter(|level| level.factor != effect.factor);
        let levels: Vec<String> =
            levels.map(|level| format!("{}={}", level.factor, level.level)).collect();
        let others = if levels.is_empty() { name() } else { levels.join(" ") };
        let line = *known.entry(others).or_insert_with_key(|others| {
            lines.push((others.clone(), vec![None; effect.levels.len()]));
            lines.len() - 1
        });
        lines[line].1[at] = row.response.as_ref();
    }
    if lines.len() > SERIES_MAX {
        let estimates = effect.levels.iter().map(|level| level.response.as_ref()).collect();
        lines = vec![(format!("{} averaged over all other factors", name()), estimates)];
    }
    lines
}

/// A configuration and where its sessions' time went.
type Measured<'a> = (&'a ConfigurationRow, &'a Accounting);

/// Returns the use of the sessions' time, by configuration.
fn profile<'a>(summary: &'a Summary<'a>) -> Table<'a> {
    let measured: Vec<Measured> = summary
        .configurations
        .iter()
        .filter_map(|row| Some((row, row.accounting.as_ref()?)))
        .collect();
    let is_class = |name: &str| WaitClass::ALL.iter().any(|class| class.name() == name);
    let first = measured.first().map_or_else(Vec::new, |(_, accounting)| parts(accounting));
    let names: Vec<(&str, String)> = first
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| {
            !is_class(name) || measured.iter().any(|(_, accounting)| part(accounting, name) != 0.0)
        })
        .map(|name| match name {
            class if is_class(class) => (name, format!("{class} wait")),
            _ => (name, name.to_owned()),
        })
        .collect();
    let mut columns = Columns::for_rows(measured);
    columns.add("configuration", "", |(row, _)| text::label(&row.label));
    columns.add("trials", "", |(_, accounting)| accounting.trials);
    columns.add("sessions", "s", |(_, accounting)| accounting.session_s);
    let mut series = Vec::new();
    for (name, heading) in &names {
        series.push(PlotSeries { name: heading.into(), values: columns.len(), reach: None });
        let name = *name;
        columns.with(Column::raw(heading, ""), move |(_, accounting)| {
            Share(accounting.share(part(accounting, name)))
        });
    }
    for (name, heading) in names {
        columns.with(Column::raw(heading, "s"), move |(_, accounting)| part(accounting, name));
    }
    let mut table = columns.named("profile");
    let title = "Where the session time went".into();
    let (x, y) = (Text::default(), Text::default());
    table.plot =
        (!series.is_empty()).then_some(Plot { kind: PlotKind::Stacked, title, x, y, series });
    table
}

/// A response of a configuration.
#[derive(Clone)]
struct Row<'a> {
    of: &'a ConfigurationRow,
    name: &'a str,
    unit: &'a str,
    direction: Direction,
    /// True if configurations are compared on it.
    chosen: bool,
    estimate: Option<&'a Estimate>,
    /// Why there is no estimate of a percentile.
    too_few: Option<String>,
}

fn configurations<'a>(summary: &'a Summary<'a>) -> Table<'a> {
    let recording = summary.recording;
    let mut columns = Columns::for_rows(rows(summary));
    columns.add("configuration", "", |row| text::label(&row.of.label));
    for factor in &recording.factors {
        columns.factor(factor, |row| row.of.level(&factor.name));
    }
    columns.add("baseline", "", |row| row.of.baseline);
    columns.add("response", "", |row| row.name);
    columns.add("unit", "", |row| row.unit);
    columns.add("better", "", |row| better(row.direction));
    columns.add("n", "", |row| row.estimate.map_or(0, |e| e.n));
    let figures: [Figure<Estimate>; 7] = [
        ("mean", |e| Some(e.mean)),
        ("low (95 %)", |e| e.interval.map(|interval| interval.low)),
        ("high (95 %)", |e| e.interval.map(|interval| interval.high)),
        ("median", |e| Some(e.median)),
        ("smallest", |e| Some(e.min)),
        ("largest", |e| Some(e.max)),
        ("standard deviation", |e| e.sd),
    ];
    for (heading, figure) in figures {
        columns.with(Column::raw(heading, ""), move |row| row.estimate.and_then(figure));
    }
    columns.add("not estimated", "", |row| row.too_few.clone());
    columns.add("CV", "", |row| row.estimate.and_then(Estimate::cv).map(Share));
    let compared: [Figure<Comparison>; 4] = [
        ("against baseline", |c| Some(c.value)),
        ("against baseline, low", |c| c.interval.map(|interval| interval.low)),
        ("against baseline, high", |c| c.interval.map(|interval| interval.high)),
        ("adjusted p", |c| c.adjusted_p),
    ];
    for (heading, figure) in compared {
        columns.with(Column::raw(heading, ""), move |row| {
            row.of.factor.as_ref().filter(|_| row.chosen).and_then(figure)
        });
    }
    columns.add("against best", "", |row| match row.of.standing {
        Standing::Best if row.chosen => Some("best"),
        Standing::Equivalent if row.chosen => Some("equivalent"),
        Standing::NotDistinguished if row.chosen => Some("not significant"),
        Standing::Worse if row.chosen => Some("worse"),
        _ => None,
    });
    columns.add("failed attempts", "", |row| row.of.failed);
    columns.named("configurations")
}

/// Every response that a trial recorded, of every configuration; the response that matters first.
fn rows<'a>(summary: &'a Summary<'_>) -> Vec<Row<'a>> {
    let primary = summary
        .response
        .as_ref()
        .map(|response| (response.name.as_str(), response.unit.as_str(), response.direction));
    let mut responses: Vec<_> = primary.into_iter().collect();
    for Response { name, unit, direction, .. } in summary.recording.responses() {
        if !responses.iter().any(|(known, ..)| known == name) {
            responses.push((name, unit, *direction));
        }
    }
    let too_few = &summary.too_few();
    let rows = responses.into_iter().flat_map(|(name, unit, direction)| {
        summary.configurations.iter().map(move |of| {
            let chosen = primary.is_some_and(|(primary, ..)| primary == name);
            let estimate = if chosen {
                of.response.as_ref()
            } else {
                of.responses
                    .iter()
                    .find(|(response, _)| response == name)
                    .map(|(_, estimate)| estimate)
            };
            let few = too_few.iter().find(|reason| reason.name == name && estimate.is_none());
            let too_few = few.map(ToString::to_string);
            Row { of, name, unit, direction, chosen, estimate, too_few }
        })
    });
    rows.collect()
}

//! The use of the sessions' time, against the main factor.

use crate::figure::{coordinate, string, strings};
use crate::model::{Cell, Column, Columns, Figure, Section, Table};
use crate::panels::{Panels, Position};
use crate::text::joined;
use crate::{number, text};
use analysis::{Accounting, ConfigurationRow, Summary};
use observations::WaitClass;
use serde_json::{Value, json};

/// Most configurations that are described in words.
const DESCRIBED_MAX: usize = 12;
/// A configuration and where its time went.
type Measured<'s> = (&'s ConfigurationRow, &'s Accounting);
/// Time ready to run without a processor: the signal wait of all wait types.
pub(crate) const RUN_QUEUE: &str = "run queue";
/// Name of the part that completes the sum.
const UNACCOUNTED: &str = "unaccounted";

/// Share and seconds of CPU, each class of waits, and what is unaccounted for, stacked; for pages.
/// `None` where there is nothing to compare: the section on waits says where the time of one
/// configuration went.
pub(crate) fn section(summary: &Summary) -> Option<Section> {
    let rows = summary.configurations.iter();
    let measured: Vec<Measured> = rows
        .filter_map(|row| {
            Some((row, row.accounting.as_ref().filter(|accounting| accounting.session_s > 0.0)?))
        })
        .collect();
    let panels = Panels::without_series(summary).filter(|_| measured.len() > 1)?;
    let mut section = Section::page("Where the time went");
    section.figure(figure(&measured, &panels));
    Some(section)
}

fn figure(measured: &[Measured], panels: &Panels) -> Figure {
    let names = present(measured);
    let bars = measured.iter().filter_map(|(row, accounting)| {
        let Position { panel, level, .. } = panels.position(row)?;
        let values: Vec<Value> =
            names.iter().map(|name| coordinate(part(accounting, name))).collect();
        Some(json!([panel, level, coordinate(accounting.session_s), values]))
    });
    Figure {
        spec: json!({
            "kind": "profile",
            "x": panels.axis(),
            "parts": strings(names.iter().copied()),
            "panels": strings(panels.titles.iter().map(String::as_str)),
            "bars": bars.collect::<Vec<Value>>(),
            "unit": string("s"),
        }),
        caption: format!(
            "Session time (sessions x elapsed, mean per trial) against {}: above as a share, \
             below in seconds. Waits: suspended; run queue: ready to run, waiting for a CPU. \
             Unaccounted: the rest to the sum, may be negative; correction: subtracted from \
             sampled waits.",
            panels.factor
        )
        .into(),
        alternative: format!(
            "Stacked bars of session time against {}. {}.",
            panels.factor,
            joined(measured.iter().take(DESCRIBED_MAX).map(largest), "; ")
        )
        .into(),
        data: data(measured, &names),
        data_heading: "Seconds by part".into(),
        chart: None,
    }
}

/// The parts in the order in which they are stacked.
pub(crate) fn parts(accounting: &Accounting) -> Vec<(&'static str, f64)> {
    let mut parts = vec![("CPU", accounting.cpu_s)];
    parts
        .extend(WaitClass::ALL.into_iter().map(|class| (class.name(), accounting.resource(class))));
    parts.push((RUN_QUEUE, accounting.signal_s));
    // The class of waits for the client has no resource part of its own.
    parts.retain(|(name, _)| *name != WaitClass::Client.name());
    parts.push(("client", accounting.client_s));
    parts.push((UNACCOUNTED, accounting.unaccounted_s));
    parts
}

/// Names of the parts that any configuration has, if it is enough to be printed as 0.1 %; what is
/// unaccounted for is always said.
fn present(measured: &[Measured]) -> Vec<&'static str> {
    let any = |name: &str| {
        measured
            .iter()
            .any(|(_, accounting)| accounting.share(part(accounting, name)).abs() >= 0.0005)
    };
    let names = measured
        .first()
        .map(|(_, accounting)| parts(accounting))
        .unwrap_or_default()
        .into_iter()
        .map(|(name, _)| name);
    names.filter(|name| *name == UNACCOUNTED || any(name)).collect()
}

/// Seconds of a part.
pub(crate) fn part(accounting: &Accounting, name: &str) -> f64 {
    parts(accounting)
        .into_iter()
        .find(|(part_name, _)| *part_name == name)
        .map_or(0.0, |(_, seconds)| seconds)
}

/// `data_files=4: most is lock (61 %)`.
fn largest((row, accounting): &Measured) -> String {
    let largest =
        parts(accounting).into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    format!(
        "{}: most is {} ({})",
        text::label(&row.label),
        largest.0,
        number::percent(accounting.share(largest.1), 0)
    )
}

fn data(measured: &[Measured], names: &[&'static str]) -> Table<'static> {
    let mut table = Columns::for_rows(measured);
    table.name("configuration", |(row, _)| text::label(&row.label));
    table.right("session time", |(_, accounting)| Cell::seconds(accounting.session_s));
    for name in names {
        table.with(Column::right(*name), |(_, accounting)| {
            let seconds = part(accounting, name);
            let share = number::percent(accounting.share(seconds), 1);
            Cell::seconds(seconds).shown(format!("{} ({share})", number::seconds(seconds)))
        });
    }
    table.into()
}

/// Returns the use of the sessions' time, as a sum that is 100 %: `16 sessions x 78.4 s = CPU 31.0
/// % + log 2.1 % + run queue 60.1 % + client 6.0 % + unaccounted
/// 0.8 %`.
pub fn accounting(accounting: &Accounting) -> String {
    let parts = parts(accounting);
    let shares: Vec<f64> =
        parts.iter().map(|(_, seconds)| 100.0 * accounting.share(*seconds)).collect();
    let (shares, _) = number::parts_that_add_up(&shares, 1);
    let always = ["CPU", "client", UNACCOUNTED];
    let terms = parts
        .iter()
        .zip(shares)
        .filter(|((name, _), share)| always.contains(name) || share.abs() > 0.0);
    // Work takes CPU time: a figure of 0 was not measured.
    let terms = terms.map(|((name, seconds), share)| match *name {
        "CPU" if *seconds == 0.0 => "CPU unknown".to_owned(),
        _ => format!("{name} {} %", number::fixed(share, 1)),
    });
    let (sessions, elapsed) =
        (number::whole(accounting.connections), number::seconds(accounting.elapsed_s));
    let plural = if sessions == "1" { "" } else { "s" };
    format!("{sessions} session{plural} x {elapsed} = {}", joined(terms, " + "))
}

/// Describes the independent figures of samples and kernel: `On a CPU or in the run queue: 48.1 %
/// of session time by samples, 47.0 % by the kernel.`
pub fn check(accounting: &Accounting) -> Option<String> {
    let check = accounting.check?;
    let percent = |seconds: f64| number::percent(accounting.share(seconds), 1);
    Some(format!(
        "On a CPU or in the run queue: {} of session time by samples, {} by the kernel.",
        percent(check.samples_s),
        percent(check.kernel_s)
    ))
}

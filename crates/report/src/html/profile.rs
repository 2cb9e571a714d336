//! Where the sessions' time went, against the main factor.

use super::figure::{Drawing, Figure, coordinate, string, strings};
use super::panels::{Panels, named};
use crate::model::{Cell, Column, Table};
use crate::number;
use analysis::{Accounting, ConfigurationRow, Summary};
use observations::WaitClass;
use serde_json::{Value, json};

/// What closes the sum.
const UNACCOUNTED: &str = "unaccounted";

/// Share and seconds of CPU, each class of waits, and what is unaccounted for, stacked.
pub fn figure(summary: &Summary) -> Figure {
    let measured: Vec<(&ConfigurationRow, &Accounting)> = summary
        .configurations
        .iter()
        .filter_map(|row| Some((row, row.accounting.as_ref().filter(|a| a.session_s > 0.0)?)))
        .collect();
    let Some(panels) = Panels::without_series(summary).filter(|_| measured.len() > 1) else {
        return Figure::Nothing(match measured.as_slice() {
            [_] => "There is one configuration: the section on waits says where its time went.".to_owned(),
            _ => "No trial has recorded where its sessions' time went.".to_owned(),
        });
    };
    let names = present(&measured);
    let bars = measured.iter().filter_map(|(row, own)| {
        let place = panels.place(row)?;
        let values: Vec<Value> = names.iter().map(|name| coordinate(part(own, name))).collect();
        Some(json!([place.panel, place.level, coordinate(own.session_s), values]))
    });
    Figure::Drawn(Drawing {
        spec: json!({
            "kind": "profile",
            "x": panels.axis(),
            "parts": strings(names.iter().copied()),
            "panels": strings(panels.titles.iter().map(String::as_str)),
            "bars": bars.collect::<Vec<Value>>(),
            "unit": string("s"),
        }),
        caption: format!(
            "Use of the sessions' time (connections x elapsed, mean of a trial) against {}: above as a share, below in \
             seconds. Waits are of the time suspended; signal is time ready to run but waiting for a processor. What \
             is unaccounted for closes the sum and may be negative.",
            panels.factor
        ),
        alternative: format!(
            "Stacked bars of the sessions' time against {}. {}.",
            panels.factor,
            measured.iter().take(12).map(|(row, own)| largest(row, own)).collect::<Vec<_>>().join("; ")
        ),
        data: data(&measured, &names),
        data_heading: "Seconds of each part".to_owned(),
    })
}

/// The parts in the order in which they are stacked.
fn parts(accounting: &Accounting) -> Vec<(&'static str, f64)> {
    let mut parts = vec![("CPU", accounting.cpu_s)];
    parts.extend(WaitClass::ALL.into_iter().map(|class| (class.name(), accounting.resource(class))));
    parts.push(("signal", accounting.signal_s));
    // The class of waits for the client has no resource part of its own.
    parts.retain(|(name, _)| *name != WaitClass::Client.name());
    parts.push(("client", accounting.client_s));
    parts.push((UNACCOUNTED, accounting.unaccounted_s));
    parts
}

/// Names of the parts that any configuration has, if it is enough to be printed as 0.1 %; what is
/// unaccounted for is always said.
fn present(measured: &[(&ConfigurationRow, &Accounting)]) -> Vec<&'static str> {
    let visible = |own: &Accounting, name: &str| own.share(part(own, name)).abs() >= 0.0005;
    let any = |name: &str| measured.iter().any(|(_, own)| visible(own, name));
    let names =
        measured.first().map(|(_, own)| parts(own)).unwrap_or_default().into_iter().map(|(name, _)| name);
    names.filter(|name| *name == UNACCOUNTED || any(name)).collect()
}

/// Seconds of a part.
fn part(accounting: &Accounting, name: &str) -> f64 {
    parts(accounting).into_iter().find(|(own, _)| *own == name).map_or(0.0, |(_, seconds)| seconds)
}

/// `data_files=4: most is lock (61 %)`.
fn largest(row: &ConfigurationRow, own: &Accounting) -> String {
    let largest = parts(own).into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    format!("{}: most is {} ({})", named(row), largest.0, number::percent(own.share(largest.1), 0))
}

fn data(measured: &[(&ConfigurationRow, &Accounting)], names: &[&'static str]) -> Table {
    let mut columns = vec![Column::name("configuration"), Column::right("session time")];
    columns.extend(names.iter().map(|name| Column::right(*name)));
    let rows = measured.iter().map(|(row, own)| {
        let mut cells = vec![Cell::plain(named(row)), Cell::plain(number::seconds(own.session_s))];
        cells.extend(names.iter().map(|name| {
            let seconds = part(own, name);
            Cell::plain(format!("{} ({})", number::seconds(seconds), number::percent(own.share(seconds), 1)))
        }));
        cells
    });
    Table { columns, rows: rows.collect(), fixed: false }
}

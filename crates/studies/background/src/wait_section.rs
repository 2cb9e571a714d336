//! The section of reports with waits before, during and after the action.

use crate::analysis::ActionFigures;
use crate::wait_shares::{WaitRow, WaitShare};
use report::text::label;
use report::{Cell, Columns, Section, number};

/// The least share that is shown, in percent.
const SHOWN_MIN: f64 = 0.05;

/// A row of the table.
struct Row<'a> {
    configuration: &'a str,
    wait: &'a WaitRow,
}

/// Adds the table to a section.
pub fn table(section: &mut Section, all: &[ActionFigures]) {
    let rows: Vec<Row<'_>> = all
        .iter()
        .filter_map(|figures| Some((figures.configuration.as_str(), figures.waits.as_ref()?)))
        .flat_map(|(configuration, waits)| {
            let rows = waits.rows.iter().filter(|row| is_shown(row));
            rows.map(move |row| Row { configuration, wait: row })
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let has_after = rows.iter().any(|row| row.wait.after != WaitShare::default());
    let mut table = Columns::for_rows(&rows);
    table.name("configuration", |row| label(row.configuration).to_owned());
    table.left("time", |row| row.wait.class);
    table.right("before %", |row| share(&row.wait.before));
    table.right("during %", |row| share(&row.wait.during));
    if has_after {
        table.right("after %", |row| share(&row.wait.after));
    }
    table.left("change, points", |row| {
        row.wait.change.as_ref().map_or_else(Cell::default, Cell::estimate_without_unit)
    });
    section.table(table);
    section.note(
        "Shares of the sessions' time: those of a phase sum to 100 %, with classes below 0.05 % in \
         all phases, which are left out. A wait belongs to the phase \
         in which it was seen. Change: during the action less before it, by trials. Less than (<): \
         no sample saw it. A dash: the phase was not observed.",
    );
    for figures in all {
        let undivided = figures.waits.iter().flat_map(|waits| &waits.undivided);
        let named: Vec<String> = undivided
            .map(|wait| format!("{} {} s", wait.class, number::figure(wait.mean_s)))
            .collect();
        if !named.is_empty() {
            section.line(format!(
                "{}: the server counted waits that no sample saw; they are in no phase: {}.",
                label(&figures.configuration),
                named.join(", ")
            ));
        }
    }
}

/// Returns whether its share rounds to more than 0 in a phase.
fn is_shown(wait_row: &WaitRow) -> bool {
    let shares = [&wait_row.before, &wait_row.during, &wait_row.after];
    let mut means = shares.into_iter().filter_map(|share| share.share.as_ref());
    means.any(|mean| mean.mean.abs() >= SHOWN_MIN)
}

/// `12.3`, `<0.4` or nothing.
fn share(wait_share: &WaitShare) -> Option<String> {
    let fixed = wait_share.share.as_ref().map(|share| number::fixed(share.mean, 1));
    fixed.or_else(|| wait_share.below.map(|below| format!("<{}", number::figure(below))))
}

//! The cost of an index that is advised.

use inspection::statements::{Table, Upkeep};
use observations::number::{bytes, count};

/// The cost of an index: its size by the widths that the optimizer knows, at least 20 bytes an
/// entry, and the changes that it has to follow.
pub fn price(upkeep: Upkeep, table: &Table, columns: &[String]) -> String {
    let widths: Option<f64> = columns
        .iter()
        .map(|name| {
            let known =
                table.columns.iter().find(|column| column.name == *name && !column.is_unanalyzed);
            known.map(|column| column.width)
        })
        .sum();
    let size = widths.map(|width| {
        (table.rows.unwrap_or(0.0) * (12.0 + (width / 8.0).ceil() * 8.0) / 0.9) as u64
    });
    let size = size.map(|size| format!("About {} of space (estimate), and one", bytes(size)));
    let Upkeep { update, counted } = upkeep;
    let changes = table
        .index_changes()
        .map(|changes| format!(" ({} {counted} since the counters started)", count(changes)));
    format!(
        "{} more index to maintain on each insert, delete and {update}{}.",
        size.unwrap_or_else(|| "One".into()),
        changes.unwrap_or_default()
    )
}

//! The speed of each statement against the baseline.

use analysis::Summary;
use analysis::statement_gains::StatementGain;
use observations::order;
use report::model::{Column, Columns, Section};
use report::number;
use report::table::{Cell, Share};
use report::text::shortened;

/// Configurations that are shown; JSON has all.
const CONFIGURATIONS_MAX: usize = 4;
/// Statements that are shown of a configuration: of more, those that took the most time.
const STATEMENTS_MAX: usize = 16;

/// A table for each configuration that the verdict names.
pub fn sections(summary: &Summary, gains: &[StatementGain]) -> Vec<Section> {
    let configurations = gains.chunk_by(|a, b| a.index == b.index);
    let mut sections: Vec<Section> = configurations
        .take(CONFIGURATIONS_MAX)
        .map(|configuration| {
            section(configuration, summary.part_names(configuration[0].index).part)
        })
        .collect();
    if let Some(last) = sections.last_mut() {
        let family = number::plural(gains.len(), "comparison");
        last.note(format!(
            "Ratio: speed of the statement against {} (below 1x: slower), paired by block; 95 % CI \
             and verdict Holm-adjusted for {family}.",
            gains[0].reference
        ));
    }
    sections
}

fn section(gains: &[StatementGain], part: &'static str) -> Section {
    let (gain, mut shown) = (&gains[0], gains.iter().collect::<Vec<_>>());
    order::largest_first(&mut shown, &|row| row.share);
    shown.truncate(STATEMENTS_MAX);
    let mut section =
        Section::new(format!("Statements: {} against {}", gain.configuration, gain.reference));
    let several = gains.iter().any(|other| other.script != gain.script);
    let mut table = Columns::for_rows(shown);
    table.with(Column::statement("statement"), |gain| shortened(&gain.text));
    if several {
        table.name(part, |gain| &gain.script).optional(1);
    }
    table.right("share before", |gain| Share(gain.share)).optional(2);
    table.left("latency before", |gain| gain.reference_latency.as_ref());
    table.left("latency", |gain| gain.latency.as_ref());
    table.left("ratio", |gain| Cell::comparison(&gain.gain, "ms"));
    table.left("at 95 %", |gain| match gain.gain.supported() {
        false => "not significant",
        true if gain.gain.is_better() => "faster",
        true => "slower",
    });
    section.table(table);
    if let Some(more) = gains.len().checked_sub(STATEMENTS_MAX).filter(|more| *more > 0) {
        section.note(format!("{} more: see the JSON output.", number::plural(more, "statement")));
    }
    section
}

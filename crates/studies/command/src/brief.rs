//! The output of `steelbench time` without `--verbose`: a table and the verdict on a few lines.

use crate::hyperfine::CommandTimes;
use crate::probe::FACTOR;
use analysis::gate::Gate;
use analysis::{ConfigurationRow, Summary, wording};
use observations::number::{plural, seconds};
use report::{Column, Columns, Document, Section, Tone};

/// Commands that the table has room for.
const ROWS_MAX: usize = 4;

/// The commands with their times, how much slower or faster each is than the first, and whether
/// that is within limits.
pub fn document(
    summary: &Summary,
    times: &[(usize, CommandTimes)],
    judged: Option<&Gate>,
) -> Document {
    let rows: Vec<(&ConfigurationRow, &CommandTimes)> = times
        .iter()
        .take(ROWS_MAX)
        .map(|(position, times)| (&summary.configurations[*position], times))
        .collect();
    let mut section = Section::default();
    section.table(table(summary, rows));
    let blocks = summary.configurations.iter().map(|row| row.done).max().unwrap_or(0);
    let others = times.len().saturating_sub(ROWS_MAX);
    let more =
        if others > 0 { format!("{} more and ", plural(others, "command")) } else { String::new() };
    section.note(format!(
        "± and [ ]: 95 % CI over {}. {more}waits, devices and all responses: -v.",
        plural(blocks, "block")
    ));
    if let Some(first) = summary.findings().first()
        && times.len() > 1
    {
        section.line(first.text.as_str());
    }
    let warnings = summary.configurations.iter().flat_map(|row| &row.warnings);
    let mut kinds: Vec<&str> = warnings.map(|warning| warning.kind.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if !kinds.is_empty() {
        section.warn(format!("Warnings (-v explains): {}", kinds.join(", ")));
    }
    if let Some(judged) = judged {
        section.toned(report::gate(judged), report::gate_tone(judged));
    }
    Document { title: report::Text::default(), sections: vec![section] }
}

fn table<'s>(
    summary: &'s Summary,
    rows: Vec<(&'s ConfigurationRow, &'s CommandTimes)>,
) -> Columns<'s, (&'s ConfigurationRow, &'s CommandTimes)> {
    let has_baseline = rows.iter().any(|(row, _)| row.factor.is_some());
    let mut table = Columns::for_rows(rows);
    table.name("command", |(row, _)| match &row.levels[..] {
        [only] if only.factor == FACTOR => only.level.clone(),
        _ => row.label.clone(),
    });
    table.right("runs", |(_, times)| times.times.len());
    table.left("mean", |(row, _)| row.elapsed.as_ref());
    table.right("min", |(_, times)| seconds(times.min));
    table.right("max", |(_, times)| seconds(times.max)).optional(1);
    table.right("user", |(_, times)| seconds(times.user)).optional(2);
    table.right("system", |(_, times)| seconds(times.system)).optional(2);
    if has_baseline {
        table.with(Column::left("against the first"), |(row, _)| {
            let Some(comparison) = &row.factor else { return report::Cell::from("-") };
            let tone = match comparison.supported() {
                true if comparison.is_better() => Tone::Good,
                true => Tone::Bad,
                false => Tone::Plain,
            };
            let words = wording::change(comparison, summary.response.as_ref());
            report::Cell::from(words).toned(tone)
        });
    }
    table
}

//! How open loops kept their schedules.

use crate::model::{Columns, Section};
use crate::table::{Cell, Share, Tone};
use crate::{number, text};
use analysis::{OpenLoop, Summary};

/// A row for each configuration; `None` without an open loop.
pub(crate) fn section(_: &Summary, loops: &[OpenLoop]) -> Option<Section> {
    if loops.is_empty() {
        return None;
    }
    let mut section = Section::new("Open loop");
    let mut table = Columns::for_rows(loops);
    table.name("configuration", |row| text::label(&row.label));
    table.right("trials", |row| row.trials).optional(2);
    table.right("requested/s", |row| number::grouped(row.scheduled));
    table.right("achieved/s", |row| number::grouped(row.done));
    table.right("late", |row| Share(row.late));
    table.right("missed", |row| Share(row.missed));
    table.right("longest", |row| Cell::seconds(row.missed_s_max)).optional(1);
    table.left("overloaded", |row| match row.overloaded {
        0 => Cell::new("no", Tone::Muted),
        n => Cell::new(format!("{n} of {}", number::plural(row.trials, "trial")), Tone::Warning),
    });
    section.table(table);
    section.note(
        "Late: started more than 1 ms after the intended time because every connection was busy; \
         latency includes this delay. Missed: started late although a connection was free (delay \
         of the load generator); longest: the worst delay. Overloaded: no free connection for \
         any start in the second half of the schedule; estimates and comparisons leave out \
         latencies of such trials.",
    );
    Some(section)
}

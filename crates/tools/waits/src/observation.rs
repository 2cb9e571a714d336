//! An observation as people and programs see it, live and recorded alike.

use crate::document::{ActivityView, activity};
use crate::summary::{ActivitySummary, summarize};
use command_line::output::{self, Extent, Form};
use command_line::{ExitCode, Failure};
use observations::ActivityRecord;
use report::json::object;
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Returns true when nothing is cut: the reader is not a person at a terminal.
pub fn is_whole(form: Form) -> bool {
    form.md || !std::io::stdout().is_terminal()
}

/// Shows an observation.
pub fn show(
    record: ActivityRecord,
    view: ActivityView,
    form: Form,
    extent: &Extent,
) -> Result<ExitCode, Failure> {
    let (record, summary) = summarized(record);
    let json = || as_json(&record, &summary);
    output::show_part(form, extent, json, || activity(&record, &summary, view))
}

/// Takes the activity out of a record and sums it up.
pub fn summarized(mut record: ActivityRecord) -> (ActivityRecord, ActivitySummary) {
    let activity = std::mem::take(&mut record.activity);
    (record, summarize(activity))
}

/// An observation for programs; `record` says of which server, and when.
fn as_json(record: &ActivityRecord, summary: &ActivitySummary) -> serde_json::Result<Value> {
    let ActivityRecord { id, started_ms, steelbench, address, .. } = record;
    let origin =
        json!({ "id": id, "started_ms": started_ms, "steelbench": steelbench, "address": address });
    object("activity", summary, origin)
}

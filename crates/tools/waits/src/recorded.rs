//! Observations in results files, for `waits FILE`, `show`, `report` and `compare`.

use crate::document::{ActivityView, SECTIONS, activity, compared_activities};
use crate::observation::{is_whole, show, summarized};
use crate::summary::compare_activities;
use command_line::arguments::Between;
use command_line::output::{self, Extent, Form};
use command_line::{ExitCode, Failure, History, Place, Records, Which};
use observations::ActivityRecord;
use observations::number::seconds;
use report::json::object;
use report::{Document, Text};
use serde_json::Value;
use store::Store;

/// Observations that `waits --output` recorded.
pub struct Observations;

impl Records for Observations {
    fn list(&self, store: &Store) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        for number in store.activities()? {
            let observed = store.activity(number)?;
            let (server, started) =
                (Text::from(observed.address), report::utc(observed.started_ms));
            let elapsed = seconds(observed.activity.elapsed_s);
            lines.push(format!("observation {number}: {server}, {started}, {elapsed}\n"));
        }
        Ok(lines)
    }

    fn sections(&self) -> &'static [&'static str] {
        &SECTIONS
    }

    fn show(&self, at: Place, form: Form, extent: &Extent) -> Result<Option<ExitCode>, Failure> {
        let Some(record) = only_observation(at)? else { return Ok(None) };
        let view = ActivityView { whole: is_whole(form), ..ActivityView::default() };
        show(record, view, form, extent).map(Some)
    }

    fn document(&self, at: Place) -> Result<Option<Document>, Failure> {
        let Some(record) = only_observation(at)? else { return Ok(None) };
        let (record, summary) = summarized(record);
        let view = ActivityView { tasks: true, statements: true, whole: true };
        Ok(Some(activity(&record, &summary, view)))
    }

    fn compare(&self, from: Place, to: Place, form: Form) -> Result<Option<ExitCode>, Failure> {
        let (Some(from), Some(to)) = (only_observation(from)?, only_observation(to)?) else {
            return Ok(None);
        };
        if (from.id, from.started_ms) == (to.id, to.started_ms) {
            return Err(Failure::usage(format!(
                "both are observation {}; choose two different ones",
                from.id
            )));
        }
        let compared = compare_activities(&from, &to);
        output::show(
            form,
            || object("activity_comparison", &compared, Value::Null),
            || compared_activities(&compared),
        )
        .map(Some)
    }

    fn history(
        &self,
        _: &[Store],
        _: &Between,
        _: Option<u32>,
    ) -> Result<Option<History>, Failure> {
        Ok(None)
    }
}

/// Reads an observation.
pub fn read(store: &Store, which: Which) -> Result<ActivityRecord, Failure> {
    let numbers = store.activities()?;
    let mut latest_first = numbers.iter().rev().copied();
    let number = match which {
        Which::Latest => latest_first.next(),
        Which::Previous => latest_first.nth(1).or(numbers.last().copied()),
        Which::Number(number) => Some(number),
    };
    let none = "no recorded observation; record one with `steelbench waits URL --output FILE`";
    let number =
        number.ok_or_else(|| Failure::usage(format!("{}: {none}", store.path().display())))?;
    Ok(store.activity(number)?)
}

/// Reads an observation of a file that holds no run.
fn only_observation(at: Place) -> Result<Option<ActivityRecord>, Failure> {
    if at.store.activities()?.is_empty() || !at.store.runs()?.is_empty() {
        return Ok(None);
    }
    read(at.store, at.which).map(Some)
}

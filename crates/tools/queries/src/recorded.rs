//! Intervals in results files, for `history`.

use crate::history::StatementHistory;
use crate::{history_document, watch};
use command_line::arguments::Between;
use command_line::{Failure, History, Records};
use report::json::object;
use serde_json::Value;
use store::Store;

/// Intervals of statements that `queries --every` recorded.
pub struct Intervals;

impl Records for Intervals {
    fn history(
        &self,
        stores: &[Store],
        between: &Between,
        last: Option<u32>,
    ) -> Result<Option<History>, Failure> {
        for store in stores {
            if !store.runs()?.is_empty() {
                return Ok(None);
            }
        }
        let Some(intervals) = watch::recorded(stores, between)? else { return Ok(None) };
        let skipped = last.map_or(0, |last| intervals.len().saturating_sub(last as usize));
        let mut history = StatementHistory::default();
        for (at, interval) in intervals.into_iter().skip(skipped) {
            history.add(stores[at].with_statements(interval)?);
        }
        let history = history.with_changes();
        let json = object("statement_history", &history, Value::Null).map_err(Failure::failed)?;
        Ok(Some(History { document: history_document::statement_history(&history), json }))
    }
}

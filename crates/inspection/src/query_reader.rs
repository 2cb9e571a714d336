//! A server's counters of statements and indexes, and its plans.

use crate::statements::{
    Advice, Captured, Column, Hypothetical, Snapshot, Statement, StatementPlan,
};
use engine::server::MARK;
use engine::{NoPlan, Rows, ServerError};
use observations::Wait;
use report::text::joined;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};
use work::Stop;

/// Reads the statistics of a server's statements, tables and indexes. Changes nothing on the server
/// and does not execute the statements.
pub trait QueryReader {
    /// Reads the counters of the server.
    ///
    /// # Errors
    /// When the server is lost, or refuses so much that there is nothing to show.
    fn snapshot(&mut self) -> Result<Snapshot, ServerError>;
    /// Reads the statements that sessions run now, for the values that they run with, where the
    /// server tells them.
    ///
    /// # Errors
    /// When the server is lost.
    fn look(&mut self) -> Result<(), ServerError> {
        Ok(())
    }
    /// Takes the samples of all looks since they were taken last: what runs of statements waited
    /// for. Empty where the server does not say it.
    fn samples(&mut self) -> Vec<StatementSamples> {
        Vec::new()
    }
    /// Has the server make plans for the statements, in their order. The reason why one has
    /// none is noted with it. What was recorded has no further plans.
    fn explain(&mut self, _snapshot: &mut Snapshot) {}
    /// Reads the server's own counters of the first interval that began then or later and has
    /// ended; `None` where there is none, or the engine keeps none.
    ///
    /// # Errors
    /// When the server is lost, or refuses.
    fn stored_interval(&mut self, _after_ms: i64) -> Result<Option<Snapshot>, ServerError> {
        Ok(None)
    }
    /// Looks for what endangers the server: what only its engine knows. Parts that cannot be read
    /// are noted in the snapshot.
    fn health(&mut self, _snapshot: &mut Snapshot) -> Vec<Advice> {
        Vec::new()
    }
    /// The findings about a snapshot that were made with it; `None`: they have to be made.
    fn advised(&self, _snapshot: &Snapshot) -> Option<Vec<Advice>> {
        None
    }
    /// The waits of all sessions since the server began to count them; `None` where the engine
    /// counts none.
    ///
    /// # Errors
    /// When the server is lost, or refuses.
    fn waits(&mut self) -> Result<Option<Vec<Wait>>, ServerError> {
        Ok(None)
    }
    /// Asks the optimizer for the costs of a statement without and with an advised index; `None`
    /// where it cannot be asked.
    fn hypothetical(&mut self, _snapshot: &Snapshot, _advice: &Advice) -> Option<Hypothetical> {
        None
    }
}

/// Samples in which a statement ran and waited for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementSamples {
    /// The server's number of the statement.
    pub digest: String,
    /// The wait in the server's words; `CPU`: none.
    pub wait: String,
    /// Their number.
    pub samples: u64,
}

/// Samples of statements until they are taken.
#[derive(Debug, Default)]
pub struct SampleCounts(BTreeMap<(String, String), u64>);

impl SampleCounts {
    /// Adds a sample of a statement, by the server's number of it.
    pub fn add(&mut self, digest: String, wait: String) {
        *self.0.entry((digest, wait)).or_default() += 1;
    }

    /// Takes all of them.
    pub fn take(&mut self) -> Vec<StatementSamples> {
        let all = std::mem::take(&mut self.0).into_iter();
        all.map(|((digest, wait), samples)| StatementSamples { digest, wait, samples }).collect()
    }
}

/// Replays recorded statements.
impl QueryReader for Snapshot {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        Ok(self.clone())
    }
}

/// Replays a captured server: its answers then, and its plans.
impl QueryReader for Captured {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        Ok(self.last.clone())
    }

    fn advised(&self, snapshot: &Snapshot) -> Option<Vec<Advice>> {
        Captured::advised(self, snapshot)
    }

    fn hypothetical(&mut self, _snapshot: &Snapshot, advice: &Advice) -> Option<Hypothetical> {
        Captured::hypothetical(self, advice)
    }
}

/// Limits of a query report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// Statements for which plans are made.
    pub plans: usize,
    /// Databases that are looked into.
    pub databases: usize,
    /// True when their tables and indexes are read.
    pub tables: bool,
    /// The extent to which the optimizer's statistics and the server's files are read with them.
    pub storage: StorageDetail,
}

/// The extent to which the optimizer's statistics and files are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageDetail {
    /// Nothing.
    #[default]
    Nothing,
    /// Files, and statistics without the values in histograms.
    Figures,
    /// The values in histograms too, which are data of users.
    Values,
}

/// Statements of which a text with values is kept, before all of them make room: a server may be
/// watched for days.
const SEEN_MAX: usize = 10_000;

/// Characters that are read of a statement's text.
pub const TEXT_MAX: usize = work::sql::statement::TEXT_MAX;

/// Time for all plans together. The planner needs milliseconds for one; joins of many tables take
/// seconds.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Explains statements in their order, up to `plans` of them and as long as there is time, and
/// notes the reason where a statement has no plan.
pub fn explain_each(
    statements: &mut [Statement],
    plans: usize,
    stop: &Stop,
    mut explain: impl FnMut(&mut Statement) -> Result<Vec<StatementPlan>, NoPlan>,
) {
    let (begun, mut made) = (Instant::now(), 0);
    for statement in statements {
        let found = if !statement.can_be_explained() {
            Err(NoPlan::Command)
        } else if statement.text.chars().count() >= TEXT_MAX {
            Err(NoPlan::Truncated { characters: TEXT_MAX })
        } else if made == plans {
            Err(NoPlan::NotRequested)
        } else if begun.elapsed() > TIME_MAX || stop.is_asked() {
            Err(NoPlan::NoTime)
        } else {
            explain(statement)
        };
        match found {
            Ok(found) => {
                made += 1;
                // Those that were logged come last.
                statement.plans.splice(0..0, found);
            }
            Err(why) => {
                statement.is_denied = matches!(why, NoPlan::Denied { .. });
                statement.not_explained = Some(why.to_string());
            }
        }
    }
}

/// Rows of a table among which different values are counted.
pub const SAMPLED_ROWS: usize = 5_000;

/// The query that counts the first rows of a table, and the different values of columns in them.
pub fn distinct_query(table: &str, columns: &[String]) -> String {
    let counts = joined(columns.iter().map(|name| format!("count(DISTINCT {name})")), ", ");
    let columns = columns.join(", ");
    format!(
        "SELECT count(*) AS {MARK}, {counts} FROM (SELECT {columns} FROM {table} LIMIT \
         {SAMPLED_ROWS}) s"
    )
}

/// Adds the different values of columns, by the answer to [`distinct_query`].
pub fn counted_distinct(columns: &mut [&mut Column], answer: &Rows) {
    let Some(row) = answer.first() else { return };
    let Some(read) = row.parse(0).filter(|read| *read > 0.0) else { return };
    for (at, column) in (1..).zip(columns) {
        let distinct = row.parse(at);
        column.distinct = distinct.map_or(0.0, |distinct| Column::distinct_of(distinct, read));
    }
}

/// Keeps texts with values; the first of a statement stays, so that its plans differ by what the
/// server has changed.
#[expect(clippy::implicit_hasher, reason = "every caller has the standard hasher")]
pub fn remember(
    known: &mut HashMap<String, String>,
    found: impl Iterator<Item = (String, String)>,
) {
    if known.len() >= SEEN_MAX {
        known.clear();
    }
    for (statement, text) in found {
        known.entry(statement).or_insert(text);
    }
}

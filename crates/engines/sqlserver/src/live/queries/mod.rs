//! Statements and plans that the server keeps, tables, indexes and their use, of the database that
//! the URL names.
//!
//! Where the Query Store of that database counts, a statement's figures are its: they outlive
//! restarts, and plans that left the cache. What it has not captured, and statements of other
//! databases, are those of the cache. Where it is read-only it has only the statements that are no
//! longer in the cache. No server has been asked yet: tests work on rows as they are documented.

mod counters;
mod indexes;
mod storage;
pub mod views;

use super::answer::ask_with;
use super::client::Client;
use super::config::Config;
use super::delta::delta;
use super::identity::Identity;
use super::reading::without_benign;
use super::session::{LAST_ANSWERS, observing, read_view};
use super::views::View;
use counters::{Handle, Placed, merged, statements};
use engine::query_reader::{QueryLimits, QueryReader, StorageDetail, explain_each};
use engine::{NoPlan, Row, Rows, ServerError, while_doing};
use inspection::plans::Plan;
use inspection::sqlserver::{ENGINE, PLANS};
use inspection::statements::{self, Origin, Snapshot, Span, StatementPlan, TableStatistics};
use observations::Wait;
use std::collections::HashMap;
use std::time::SystemTime;
use views::{PAGE, STORED, STORED_END, STORED_INTERVAL, STORED_INTERVAL_END};
use work::Stop;

/// Plans of one statement that are read of the Query Store: those that took most time.
const PLANS_MAX: usize = 3;
/// Plans of the Query Store that are remembered.
const KNOWN_MAX: usize = 1_000;
/// `actual_state` of a Query Store that counts.
const READ_WRITE: i32 = 2;

/// A plan with the document that it was read from.
#[derive(Debug, Clone)]
struct ReadPlan {
    plan: Plan,
    text: String,
}

impl ReadPlan {
    fn with_origin(self, origin: Origin) -> StatementPlan {
        StatementPlan::new(origin, self.plan).with_text("sqlplan", self.text)
    }
}

/// Asks a server.
pub(super) struct Reader {
    client: Client,
    limits: QueryLimits,
    stop: Stop,
    /// Where the plans of statements are.
    handles: HashMap<String, Vec<Handle>>,
    /// Plans of the Query Store, by their number.
    known: HashMap<i64, ReadPlan>,
    /// The Query Store's counts before this interval, at our first reading: rows that it drops
    /// later do not count as unexecuted.
    closed: (Vec<Rows>, i64),
}

impl Reader {
    pub fn start(config: &Config, limits: QueryLimits, stop: &Stop) -> Result<Self, ServerError> {
        let client = observing(config, stop, LAST_ANSWERS)?;
        let (handles, known) = (HashMap::new(), HashMap::new());
        Ok(Self { client, limits, stop: stop.clone(), handles, known, closed: (Vec::new(), 0) })
    }

    fn empty(&mut self, span: Span) -> Result<Snapshot, ServerError> {
        let identity = Identity::read(&mut self.client)?;
        Ok(Snapshot::new(ENGINE, identity.shown(), span, PAGE))
    }

    fn rows(&mut self, what: &str, view: &View, to: &mut Snapshot) -> Result<Rows, ServerError> {
        Ok(read_view(&mut self.client, what, view, "", &mut to.unread)?.unwrap_or_default())
    }

    /// Statements of the Query Store in intervals, by their numbers.
    fn stored(
        &mut self,
        first: i64,
        last: i64,
        to: &mut Snapshot,
    ) -> Result<Option<Rows>, ServerError> {
        let end = format!("{first} AND {last}{STORED_END}");
        read_view(&mut self.client, "statements of the Query Store", &STORED, &end, &mut to.unread)
    }

    /// All statements of the Query Store, where it is on, and whether it counts.
    fn store(&mut self, to: &mut Snapshot) -> Result<(Placed, bool), ServerError> {
        let options = self.rows("the state of the Query Store", &views::STORE, to)?;
        let Some(options) = options.first() else { return Ok((Placed::new(), false)) };
        let state = options.parse::<i32>("state").unwrap_or(0);
        to.notes.push(note(state, options));
        let newest = options.parse::<i64>("newest").filter(|_| state != 0);
        let Some(newest) = newest else { return Ok((Placed::new(), false)) };
        if newest > self.closed.1 {
            let ended = self.stored(self.closed.1, newest - 1, to)?;
            let Some(ended) = ended else { return Ok((Placed::new(), false)) };
            self.closed.0.push(ended);
            self.closed.1 = newest;
        }
        let open = self.stored(self.closed.1, i64::MAX, to)?.unwrap_or_default();
        let rows = self.closed.0.iter().chain([&open]).flat_map(Rows::iter);
        Ok((statements(rows), state == READ_WRITE))
    }

    /// Remembers where the plans of statements are.
    fn place(&mut self, placed: Placed, to: &mut Snapshot) {
        self.handles.clear();
        for (statement, handles) in placed {
            self.handles.entry(statement.digest.clone()).or_insert(handles);
            to.statements.push(statement);
        }
    }

    fn tables(&mut self, to: &mut Snapshot) -> Result<(), ServerError> {
        let [indexes, columns, sizes, usage, changes, missed] = [
            ("tables and indexes", views::INDEXES),
            ("index columns", views::COLUMNS),
            ("table and index sizes", views::SIZES),
            ("index usage", views::USAGE),
            ("table changes", views::CHANGES),
            ("missing indexes", views::MISSED),
        ]
        .map(|(what, view)| self.rows(what, &view, to));
        let statistics = self.storage(to)?;
        let counted = [&sizes?, &usage?, &changes?, &missed?];
        to.tables = indexes::tables(&indexes?, &columns?, counted, statistics);
        Ok(())
    }

    /// Reads the files, and returns the statistics of tables, where they are asked for.
    fn storage(
        &mut self,
        to: &mut Snapshot,
    ) -> Result<HashMap<i32, Vec<TableStatistics>>, ServerError> {
        if self.limits.storage == StorageDetail::Nothing {
            return Ok(HashMap::new());
        }
        to.files = storage::files(&self.rows("files", &views::DATABASE_FILES, to)?);
        let properties = self.rows("statistics of tables", &views::STATISTICS, to)?;
        let columns = self.rows("columns of statistics", &views::STATISTICS_COLUMNS, to)?;
        let histograms = if self.limits.storage == StorageDetail::Values {
            self.rows("histograms", &views::HISTOGRAMS, to)?
        } else {
            Rows::default()
        };
        Ok(storage::statistics(&properties, &columns, &histograms))
    }

    /// The plans of a statement: that of the cache, or those of the Query Store that took most
    /// time.
    fn plans(&mut self, digest: &str) -> Result<Vec<StatementPlan>, NoPlan> {
        let handles = self.handles.get(digest).cloned().ok_or(NoPlan::Unnamed)?;
        let read: Vec<Result<StatementPlan, NoPlan>> = handles
            .into_iter()
            .take(PLANS_MAX)
            .map(|handle| match handle {
                Handle::Cached(handle, begins, ends) => {
                    let plan =
                        self.plan(&format!("{}({handle}, {begins}, {ends})", views::PLAN))?;
                    Ok(plan.with_origin(Origin::Cached))
                }
                Handle::Stored(number, runs, mean_ms) => {
                    let plan = self.stored_plan(number)?.with_origin(Origin::Stored);
                    Ok(StatementPlan { runs, mean_ms: Some(mean_ms), ..plan })
                }
            })
            .collect();
        match read.iter().find_map(|answer| answer.as_ref().err()) {
            Some(why) if read.iter().all(Result::is_err) => Err(why.clone()),
            _ => Ok(read.into_iter().flatten().collect()),
        }
    }

    fn stored_plan(&mut self, number: i64) -> Result<ReadPlan, NoPlan> {
        if let Some(plan) = self.known.get(&number) {
            return Ok(plan.clone());
        }
        let plan = self.plan(&format!("{}{number}", views::STORED_PLAN))?;
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        Ok(self.known.entry(number).or_insert(plan).clone())
    }

    fn plan(&mut self, sql: &str) -> Result<ReadPlan, NoPlan> {
        let text = self.client.cell(sql).map_err(NoPlan::refused)?.ok_or(NoPlan::Evicted)?;
        Ok(ReadPlan { plan: PLANS.read_one(&text).map_err(NoPlan::refused)?, text })
    }
}

/// Returns the note on statements for the state of the Query Store.
fn note(state: i32, options: Row<'_>) -> String {
    let cached = "statements whose plans are still cached (counted since each plan was compiled).";
    match state {
        0 => format!(
            "Includes {cached} The Query Store of this database is off; ALTER DATABASE CURRENT \
             SET QUERY_STORE = ON also keeps evicted statements."
        ),
        READ_WRITE => format!(
            "Includes statements in this database's Query Store since {} UTC, and other {cached}",
            options.get("since").unwrap_or("it is on")
        ),
        _ => format!(
            "Includes {cached} The Query Store of this database is not collecting data \
             (readonly_reason {}); statements evicted from the cache come from it.",
            options.get("reason").unwrap_or("unknown")
        ),
    }
}

impl QueryReader for Reader {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut snapshot = self.empty(Span { to_ms: now.as_millis() as i64, ..Span::default() })?;
        let cached = self.rows("statements", &views::STATEMENTS, &mut snapshot)?;
        snapshot.is_cut = cached.iter().count() >= views::ROWS_MAX;
        let (cached, (stored, counts)) = (statements(cached.iter()), self.store(&mut snapshot)?);
        let placed = if counts { merged(stored, cached) } else { merged(cached, stored) };
        self.place(placed, &mut snapshot);
        if self.limits.tables {
            self.tables(&mut snapshot)?;
        }
        Ok(snapshot)
    }

    fn look(&mut self) -> Result<(), ServerError> {
        Ok(())
    }

    fn explain(&mut self, snapshot: &mut Snapshot) {
        let (plans, stop) = (self.limits.plans, self.stop.clone());
        explain_each(&mut snapshot.statements, plans, &stop, |statement| {
            self.plans(&statement.digest)
        });
    }

    fn waits(&mut self) -> Result<Option<Vec<Wait>>, ServerError> {
        let identity = Identity::read(&mut self.client)?;
        let answer = ask_with(&mut self.client, identity.waits(), "")
            .map_err(while_doing("reading the waits"))?;
        let rows = answer.map_err(ServerError::new)?;
        let started = Ok(Rows::default());
        let delta =
            delta([&started, &started], [&Rows::default(), &rows]).map_err(ServerError::new)?;
        Ok(Some(delta.waits.into_iter().map(without_benign).collect()))
    }

    fn stored_interval(&mut self, after_ms: i64) -> Result<Option<Snapshot>, ServerError> {
        let end = format!("{after_ms}{STORED_INTERVAL_END}");
        let answer = ask_with(&mut self.client, &STORED_INTERVAL, &end)
            .map_err(while_doing("reading the intervals of the Query Store"))?;
        let rows = answer.map_err(ServerError::new)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let number = row.parse("number").unwrap_or(0);
        let span = Span {
            from_ms: row.parse("from_ms"),
            to_ms: row.parse("to_ms").unwrap_or(after_ms + 1),
            is_interval: true,
        };
        let mut snapshot = self.empty(span)?;
        let rows = self.stored(number, number, &mut snapshot)?;
        let rows = rows.ok_or_else(|| ServerError::new(snapshot.unread.remove(0).why))?;
        self.place(statements(rows.iter()), &mut snapshot);
        Ok(Some(snapshot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inspection::statements::{AdviceKind, Counter};
    use testing::rows::rows;

    /// The first statement has a plan that misses an index.
    fn snapshot(statements: Placed, tables: Vec<statements::Table>) -> Snapshot {
        let statements = statements.into_iter().map(|(statement, _)| statement).collect();
        let empty = Snapshot::new(ENGINE, String::new(), Span::default(), PAGE);
        let mut snapshot = Snapshot { statements, tables, ..empty };
        let plan = r#"<ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan"
            Version="1.564"><BatchSequence><Batch><Statements>
            <StmtSimple StatementText="SELECT 1" StatementType="SELECT" StatementSubTreeCost="1">
            <QueryPlan><MissingIndexes><MissingIndexGroup Impact="87.5">
            <MissingIndex Database="[shop]" Schema="[dbo]" Table="[Orders]">
            <ColumnGroup Usage="EQUALITY"><Column Name="[CustomerId]" ColumnId="2"/></ColumnGroup>
            </MissingIndex></MissingIndexGroup></MissingIndexes></QueryPlan></StmtSimple>
            </Statements></Batch></BatchSequence></ShowPlanXML>"#;
        let plan = StatementPlan::new(Origin::Cached, PLANS.read_one(plan).unwrap());
        snapshot.statements[0].plans.push(plan);
        snapshot
    }

    /// A table with four indexes, and what the server missed.
    fn orders() -> Vec<statements::Table> {
        indexes::tables(
            &rows(
                "database_name | schema_name | table_name | index_name | object_id | index_id | \
                 type_desc | is_unique | is_primary_key | is_unique_constraint | is_disabled | \
                 filter_definition
                 shop | dbo | Orders | PK | 5 | 1 | CLUSTERED | 1 | 1 | 0 | 0 | -
                 shop | dbo | Orders | IX_City | 5 | 2 | NONCLUSTERED | 0 | 0 | 0 | 0 | -
                 shop | dbo | Orders | IX_City_Name | 5 | 3 | NONCLUSTERED | 0 | 0 | 0 | 0 | -
                 shop | dbo | Orders | IX_Note | 5 | 4 | NONCLUSTERED | 0 | 0 | 0 | 0 | -",
            ),
            &rows(
                "object_id | index_id | column_name | is_descending_key | is_included_column
                 5 | 1 | Id | 0 | 0\n5 | 2 | City | 0 | 0\n5 | 3 | City | 0 | 0\n5 | 3 | Name | 1 \
                 | 0\n5 | 4 | Note | 0 | 0\n5 | 4 | Id | 0 | 1",
            ),
            [
                &rows(
                    "object_id | index_id | pages | row_count\n5 | 1 | 500 | 30000\n5 | 1 | 500 | \
                     30000\n5 | 4 | 300 | 60000",
                ),
                &rows(
                    "object_id | index_id | reads | scans\n5 | 1 | 70 | 20\n5 | 2 | 4 | 0\n5 | 3 \
                     | 5 | 0",
                ),
                &rows("object_id | index_id | inserts | updates | deletes\n5 | 1 | 60000 | 5 | 1"),
                &rows(
                    "object_id | equality_columns | inequality_columns | included_columns | uses \
                     | cost | impact
                     5 | [CustomerId] | - | [a]]b], [City] | 1200 | 12.5 | 87.5
                     5 | [Note] | [City] | - | 9 | 12.5 | 87.5
                     5 | [City] | [Name] | - | 500 | 2 | 50
                     5 | - | [Name] | - | 700 | 2.25 | 50",
                ),
            ],
            HashMap::new(),
        )
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
    fn rows_of_a_server_become_statements_indexes_and_advice() {
        let kept = rows(
            "digest | plan_handle | begins | ends | calls | elapsed_us | worker_us | min_us | \
             max_us | total_rows | logical_reads | physical_reads | spills | database_name | \
             statement_text
             0xA1 | 0x06 | 0 | -1 | 10 | 9000 | 5000 | 100 | 4000 | 60 | 4000 | 40 | 7 | - | \
             SELECT * FROM dbo.Orders WHERE CustomerId = @1
             0xA1 | 0x07 | 2 | 90 | 5 | 1000 | 900 | 50 | 300 | 30 | 20 | 0 | 0 | - | SELECT * \
             FROM dbo.Orders WHERE CustomerId = @1
             0xB2 | 0x08 | 0 | -1 | 1 | 10 | 9 | 10 | 10 | 1 | 3 | 0 | 0 | - | SELECT /* \
             steelbench_queries */ 1",
        );
        let statements = statements(kept.iter());
        assert_eq!(statements.len(), 1);
        let (statement, handles) = &statements[0];
        assert_eq!(statement.get(Counter::Calls), Some(15));
        assert_eq!(statement.get(Counter::TimeNs), Some(10_000_000));
        assert_eq!(
            (statement.get(Counter::SharedHitBlocks), statement.get(Counter::SharedReadBlocks)),
            (Some(3980), Some(40))
        );
        assert_eq!(statement.spread.unwrap().min_ms, Some(0.05));
        assert_eq!(handles, &[Handle::Cached("0x06".to_owned(), 0, -1)]);

        let found = orders();
        assert_eq!(
            (found.len(), found[0].rows, found[0].changes()),
            (1, Some(60_000.0), Some(60_006))
        );
        let note = &found[0].indexes[3];
        assert_eq!(
            (note.scans, note.bytes, note.included.as_slice()),
            (Some(0), Some(300 * PAGE), ["Id".to_owned()].as_slice())
        );
        assert!(found[0].indexes[0].is_needed && found[0].indexes[2].keys[1].descending);

        let found = queries::examine(snapshot(statements, found), &inspection::sqlserver::RULES);
        let advice: Vec<(AdviceKind, &str, Option<&str>)> = found
            .advice
            .iter()
            .map(|advice| (advice.kind, advice.subject.as_str(), advice.ddl.as_deref()))
            .collect();
        let expected = [
            (
                AdviceKind::MissingIndex,
                "Orders",
                Some(
                    "CREATE INDEX [Orders_CustomerId] ON [dbo].[Orders] ([CustomerId]) INCLUDE \
                     ([a]]b], [City])",
                ),
            ),
            (AdviceKind::Spill, "statement 1", None),
            (
                AdviceKind::MissingIndex,
                "Orders",
                Some("CREATE INDEX [Orders_Name] ON [dbo].[Orders] ([Name])"),
            ),
            (
                AdviceKind::RedundantIndex,
                "Orders (IX_City)",
                Some("DROP INDEX [IX_City] ON [dbo].[Orders]"),
            ),
            (
                AdviceKind::UnusedIndex,
                "Orders (IX_Note)",
                Some("DROP INDEX [IX_Note] ON [dbo].[Orders]"),
            ),
        ];
        assert_eq!(advice, expected);
        let evidence = [&found.advice[0].evidence, &found.advice[2].evidence];
        for part in [
            "estimates 88 % less cost (statement 1, 15 runs).",
            "reported it missing for 1,200 seeks",
            "mean cost of 12.5;",
            "the index would save 88 % of it",
        ] {
            assert!(evidence[0].contains(part), "{part}: {evidence:?}");
        }
        assert!(
            evidence[1].starts_with("Since the server started")
                && evidence[1].contains("700 seeks"),
            "{evidence:?}"
        );
    }

    const STORED: &str = "digest | database_name | plan_id | calls | errors | elapsed_us | \
                          worker_us | min_us | max_us | squares_us | total_rows | logical_reads | \
                          physical_reads | tempdb_pages | statement_text";

    /// Four runs of 1, 1, 3 and 3 ms by two plans in three intervals.
    #[test]
    fn statements_of_the_query_store_are_sums_over_plans_and_intervals() {
        let text = "(@1 int)SELECT * FROM Orders WHERE Id = @1";
        let stored = rows(&format!(
            "{STORED}
             0xA1 | shop | 7 | 1 | 0 | 1000 | 900 | 1000 | 1000 | 1000000 | 1 | 9 | 2 | 0 | {text}
             0xA1 | shop | 8 | 2 | 1 | 6000 | 900 | 3000 | 3000 | 18000000 | 1 | 90 | 2 | 600 | \
             {text}
             0xA1 | shop | 7 | 1 | 0 | 1000 | 900 | 1000 | 1000 | 1000000 | 1 | 9 | 2 | 0 | {text}"
        ));
        let stored = statements(stored.iter());
        let (statement, handles) = &stored[0];
        assert!(
            stored.len() == 1
                && statement.is_stored
                && statement.text == "SELECT * FROM Orders WHERE Id = @1"
        );
        let counted = [
            Counter::Calls,
            Counter::TimeNs,
            Counter::Errors,
            Counter::TempdbBlocks,
            Counter::SharedHitBlocks,
        ];
        assert_eq!(
            counted.map(|counter| statement.get(counter).unwrap()),
            [4, 8_000_000, 1, 600, 102]
        );
        let spread = statement.spread.unwrap();
        assert_eq!(
            (spread.min_ms, spread.max_ms, spread.stddev_ms),
            (Some(1.0), Some(3.0), Some(1.0))
        );
        assert_eq!(handles, &[Handle::Stored(8, 2, 3.0), Handle::Stored(7, 2, 1.0)]);
        // Of a statement in both, the first counts.
        let cached = rows(
            "digest | plan_handle | begins | ends | calls | elapsed_us | database_name | \
             statement_text
             0xA1 | 0x06 | 0 | -1 | 3 | 9000 | shop | SELECT * FROM Orders WHERE Id = @1
             0xA1 | 0x06 | 0 | -1 | 2 | 9000 | other | SELECT * FROM Orders WHERE Id = @1",
        );
        let calls = |placed: &Placed| -> Vec<(String, Option<u64>)> {
            placed
                .iter()
                .map(|(statement, _)| (statement.database.clone(), statement.get(Counter::Calls)))
                .collect()
        };
        let (shop, other) = ("shop".to_owned(), "other".to_owned());
        let both = merged(stored.clone(), statements(cached.iter()));
        assert_eq!(calls(&both), [(shop.clone(), Some(4)), (other.clone(), Some(2))]);
        assert_eq!(
            calls(&merged(statements(cached.iter()), stored)),
            [(shop, Some(3)), (other, Some(2))]
        );
    }
}

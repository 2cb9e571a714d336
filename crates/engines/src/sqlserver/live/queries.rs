//! Statements and plans that the server keeps, tables, indexes and their use, of the database that the URL names.
//!
//! <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-exec-query-stats-transact-sql>,
//! `sys-dm-db-index-usage-stats-transact-sql` and `sys-dm-db-index-operational-stats-transact-sql` there. No server has been asked
//! yet: tests work on rows as they are documented.

use super::client::Client;
use super::config::Config;
use super::reading::ask;
use super::rows::{Row, Rows};
use super::views::{self, View};
use super::{Identity, while_doing};
use crate::query_reader::{MARK, QueryLimits, QueryReader, explain_each, read_plan};
use crate::sqlserver::dialect::quote_name;
use crate::{ServerError, Stop};
use observations::Unread;
use plans::Engine;
use queries::{Counter, Index, Key, Origin, Snapshot, Span, Spread, Statement, Table};
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// Bytes of a page.
const PAGE: u64 = 8192;
/// How long it may take for what was counted until somebody asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// The statement of one plan in the cache.
macro_rules! statements {
    ($spills:literal) => {
        concat!(
            "SELECT TOP (20000) /* steelbench_queries */ CONVERT(nvarchar(34), s.query_hash, 1) AS digest, \
             CONVERT(nvarchar(130), s.plan_handle, 1) AS plan_handle, CAST(s.statement_start_offset AS int) AS begins, \
             CAST(s.statement_end_offset AS int) AS ends, CAST(s.execution_count AS bigint) AS calls, \
             CAST(s.total_elapsed_time AS bigint) AS elapsed_us, CAST(s.total_worker_time AS bigint) AS worker_us, \
             CAST(s.min_elapsed_time AS bigint) AS min_us, CAST(s.max_elapsed_time AS bigint) AS max_us, \
             CAST(s.total_rows AS bigint) AS total_rows, CAST(s.total_logical_reads AS bigint) AS logical_reads, \
             CAST(s.total_physical_reads AS bigint) AS physical_reads, ",
            $spills,
            "COALESCE(DB_NAME(t.dbid), N'') AS database_name, CAST(SUBSTRING(t.text, s.statement_start_offset / 2 + 1, \
             (CASE s.statement_end_offset WHEN -1 THEN DATALENGTH(t.text) ELSE s.statement_end_offset END \
             - s.statement_start_offset) / 2 + 1) AS nvarchar(4000)) AS statement_text \
             FROM sys.dm_exec_query_stats AS s CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t \
             ORDER BY s.total_elapsed_time DESC"
        )
    };
}

/// Statements that are in the plan cache. Spills are counted from 2016 on.
pub const STATEMENTS: View = View {
    name: "sys.dm_exec_query_stats",
    sql: statements!("CAST(s.total_spills AS bigint) AS spills, "),
    older: Some(statements!("")),
};

/// The plan of a statement, behind its handle and offsets.
pub const PLAN: &str = "SELECT /* steelbench_queries */ CAST(query_plan AS nvarchar(max)) AS query_plan FROM sys.dm_exec_text_query_plan";

/// Indexes, and heaps, which have number 0.
pub const INDEXES: View = View {
    name: "sys.indexes",
    sql: "SELECT /* steelbench_queries */ DB_NAME() AS database_name, s.name AS schema_name, o.name AS table_name, i.name AS index_name, \
          CAST(i.object_id AS int) AS object_id, CAST(i.index_id AS int) AS index_id, CAST(i.type_desc AS nvarchar(60)) AS type_desc, \
          CAST(i.is_unique AS int) AS is_unique, CAST(i.is_primary_key AS int) AS is_primary_key, \
          CAST(i.is_unique_constraint AS int) AS is_unique_constraint, CAST(i.is_disabled AS int) AS is_disabled, i.filter_definition \
          FROM sys.indexes AS i JOIN sys.tables AS o ON o.object_id = i.object_id JOIN sys.schemas AS s ON s.schema_id = o.schema_id \
          WHERE o.is_ms_shipped = 0 ORDER BY s.name, o.name, i.index_id",
    older: None,
};

/// Columns of indexes.
pub const COLUMNS: View = View {
    name: "sys.index_columns",
    sql: "SELECT /* steelbench_queries */ CAST(x.object_id AS int) AS object_id, CAST(x.index_id AS int) AS index_id, n.name AS column_name, \
          CAST(x.is_descending_key AS int) AS is_descending_key, CAST(x.is_included_column AS int) AS is_included_column \
          FROM sys.index_columns AS x JOIN sys.columns AS n ON n.object_id = x.object_id AND n.column_id = x.column_id \
          ORDER BY x.object_id, x.index_id, x.is_included_column, x.key_ordinal, x.index_column_id",
    older: None,
};

/// Pages and rows.
pub const SIZES: View = View {
    name: "sys.dm_db_partition_stats",
    sql: "SELECT /* steelbench_queries */ CAST(object_id AS int) AS object_id, CAST(index_id AS int) AS index_id, \
          CAST(used_page_count AS bigint) AS pages, CAST(row_count AS bigint) AS row_count FROM sys.dm_db_partition_stats",
    older: None,
};

/// How often indexes were read, since the server started.
pub const USAGE: View = View {
    name: "sys.dm_db_index_usage_stats",
    sql: "SELECT /* steelbench_queries */ CAST(object_id AS int) AS object_id, CAST(index_id AS int) AS index_id, \
          CAST(user_seeks + user_scans + user_lookups AS bigint) AS reads, CAST(user_scans AS bigint) AS scans \
          FROM sys.dm_db_index_usage_stats WHERE database_id = DB_ID()",
    older: None,
};

/// How many rows of tables were changed, since they are in memory.
pub const CHANGES: View = View {
    name: "sys.dm_db_index_operational_stats",
    sql: "SELECT /* steelbench_queries */ CAST(object_id AS int) AS object_id, CAST(index_id AS int) AS index_id, \
          CAST(leaf_insert_count AS bigint) AS inserts, CAST(leaf_update_count AS bigint) AS updates, \
          CAST(leaf_delete_count + leaf_ghost_count AS bigint) AS deletes \
          FROM sys.dm_db_index_operational_stats(DB_ID(), NULL, NULL, NULL)",
    older: None,
};

/// Where the plan of a statement is: handle and offsets.
type Handle = (String, i32, i32);

/// Asks a server.
pub(super) struct Reader {
    client: Client,
    limits: QueryLimits,
    stop: Stop,
    handles: HashMap<String, Handle>,
}

impl Reader {
    pub fn start(config: &Config, limits: QueryLimits, stop: &Stop) -> Result<Self, ServerError> {
        let mut client = Client::connect(config, stop, LAST_ANSWERS).map_err(while_doing("connecting"))?;
        client.query(views::SESSION).map_err(while_doing("preparing the connection"))?;
        Ok(Self { client, limits, stop: stop.clone(), handles: HashMap::new() })
    }

    /// What the server refuses is told, and has no rows.
    fn asked(&mut self, view: &View, unread: &mut Vec<Unread>) -> Result<Rows, ServerError> {
        let answer = ask(&mut self.client, view).map_err(while_doing("asking for its statistics"))?;
        Ok(answer.unwrap_or_else(|why| {
            unread.push(Unread { what: view.name.into(), why });
            Rows::default()
        }))
    }

    fn plan(&mut self, digest: &str) -> Result<plans::Plan, String> {
        let (handle, begins, ends) = self.handles.get(digest).ok_or("the server does not name its plan")?;
        let sql = format!("{PLAN}({handle}, {begins}, {ends})");
        let text = self.client.cell(&sql).map_err(|error| error.to_string())?;
        read_plan(&text.ok_or("the server no longer has its plan, or does not show it")?)
    }
}

impl QueryReader for Reader {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        let identity = Identity::of(&mut self.client)?;
        let mut unread = Vec::new();
        let rows = self.asked(&STATEMENTS, &mut unread)?;
        let (statements, handles) = statements(&rows);
        self.handles = handles;
        let indexes = self.asked(&INDEXES, &mut unread)?;
        let [columns, sizes, usage, changes] =
            [COLUMNS, SIZES, USAGE, CHANGES].map(|view| self.asked(&view, &mut unread));
        let tables = tables(&indexes, &columns?, [&sizes?, &usage?, &changes?]);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(Snapshot {
            engine: Engine::SqlServer,
            server: identity.shown(),
            span: Span { to_ms: now.as_millis() as i64, ..Span::default() },
            block_bytes: PAGE,
            evictions: None,
            statements,
            tables,
            notes: vec!["Statements are those whose plans are still in the cache, counted since each plan was compiled.".into()],
            unread,
        })
    }

    fn look(&mut self) -> Result<(), ServerError> {
        Ok(())
    }

    fn explain(&mut self, snapshot: &mut Snapshot) {
        let (plans, stop) = (self.limits.plans, self.stop.clone());
        explain_each(&mut snapshot.statements, plans, &stop, |statement| {
            Ok(vec![(Origin::Kept, self.plan(&statement.digest)?)])
        });
    }
}

/// Statements by the server's hash, over all of their plans; and where the plan that took most time is: it comes first.
fn statements(rows: &Rows) -> (Vec<Statement>, HashMap<String, Handle>) {
    let (mut all, mut at, mut handles) = (Vec::<Statement>::new(), HashMap::new(), HashMap::new());
    for row in rows.iter().filter(|row| !row.text("statement_text").contains(MARK)) {
        let (hash, database) = (row.text("digest"), row.text("database_name"));
        let number = *at.entry((hash.clone(), database.clone())).or_insert_with(|| {
            let whole = |column: &str| row.parse(column).unwrap_or(0);
            handles
                .entry(hash.clone())
                .or_insert_with(|| (row.text("plan_handle"), whole("begins"), whole("ends")));
            all.push(Statement {
                digest: hash,
                database,
                is_top: true,
                text: row.text("statement_text"),
                ..Statement::default()
            });
            all.len() - 1
        });
        add(&mut all[number], row);
    }
    (all, handles)
}

fn add(statement: &mut Statement, row: Row<'_>) {
    let counted = |column: &str| row.parse::<u64>(column);
    let reads = counted("logical_reads").zip(counted("physical_reads"));
    let values = [
        (Counter::Calls, counted("calls")),
        (Counter::TimeNs, counted("elapsed_us").map(|us| us * 1000)),
        (Counter::CpuNs, counted("worker_us").map(|us| us * 1000)),
        (Counter::Rows, counted("total_rows")),
        (Counter::SharedHitBlocks, reads.map(|(logical, physical)| logical.saturating_sub(physical))),
        (Counter::SharedReadBlocks, counted("physical_reads")),
        (Counter::TempWrittenBlocks, counted("spills")),
    ];
    for (counter, value) in values.into_iter().filter_map(|(counter, value)| Some((counter, value?))) {
        *statement.counters.entry(counter).or_default() += value;
    }
    let ms = |column: &str| row.parse::<f64>(column).map(|us| us / 1e3);
    let known = statement.spread.unwrap_or_default();
    let least = [known.min_ms, ms("min_us")].into_iter().flatten().reduce(f64::min);
    let most = [known.max_ms, ms("max_us")].into_iter().flatten().reduce(f64::max);
    statement.spread = Some(Spread { min_ms: least, max_ms: most, stddev_ms: None });
}

/// Rows by the numbers of table and index.
type ByIndex<'a> = HashMap<(i32, i32), Vec<Row<'a>>>;

fn by_index(rows: &Rows) -> ByIndex<'_> {
    let mut all = ByIndex::new();
    for (id, row) in rows.iter().filter_map(|row| Some((id(row)?, row))) {
        all.entry(id).or_default().push(row);
    }
    all
}

fn id(row: Row<'_>) -> Option<(i32, i32)> {
    row.parse("object_id").zip(row.parse("index_id"))
}

/// Tables with their indexes, and what was counted of them: sizes, reads, changes.
fn tables(indexes: &Rows, columns: &Rows, [sizes, usage, changes]: [&Rows; 3]) -> Vec<Table> {
    // What was never used has no row.
    let or_none = |rows: &Rows, value: Option<u64>| value.or((!rows.columns.is_empty()).then_some(0));
    let sum = |rows: &ByIndex<'_>, id, column: &str| -> Option<u64> {
        rows.get(&id)?.iter().filter_map(|row| row.parse::<u64>(column)).reduce(|a, b| a + b)
    };
    let columns = by_index(columns);
    let [sizes, used, changed] = [sizes, usage, changes].map(by_index);
    let mut all: Vec<Table> = Vec::new();
    for row in indexes.iter() {
        let Some(id) = id(row) else { continue };
        let (schema, name) = (row.text("schema_name"), row.text("table_name"));
        if all.last().is_none_or(|last| (&last.schema, &last.name) != (&schema, &name)) {
            let quoted = format!("{}.{}", quote_name(&schema), quote_name(&name));
            all.push(Table { database: row.text("database_name"), schema, name, quoted, ..Table::default() });
        }
        let Some(table) = all.last_mut() else { continue };
        if id.1 <= 1 {
            table.rows = sum(&sizes, id, "row_count").map(|rows| rows as f64);
            table.bytes = sum(&sizes, id, "pages").map(|pages| pages * PAGE);
            table.scans = or_none(usage, sum(&used, id, "scans"));
            table.inserts = or_none(changes, sum(&changed, id, "inserts"));
            table.updates = or_none(changes, sum(&changed, id, "updates"));
            table.deletes = or_none(changes, sum(&changed, id, "deletes"));
        }
        if id.1 > 0 {
            let mut index = index(row, columns.get(&id).map_or(&[], Vec::as_slice));
            index.bytes = sum(&sizes, id, "pages").map(|pages| pages * PAGE);
            index.entries = sum(&sizes, id, "row_count").map(|rows| rows as f64);
            index.scans = or_none(usage, sum(&used, id, "reads"));
            table.indexes.push(index);
        }
    }
    all
}

fn index(row: Row<'_>, columns: &[Row<'_>]) -> Index {
    let is = |row: Row<'_>, column: &str| row.get(column) == Some("1");
    let is_clustered = row.parse::<i32>("index_id") == Some(1);
    let (included, keys): (Vec<Row<'_>>, Vec<Row<'_>>) =
        columns.iter().partition(|one| is(**one, "is_included_column"));
    let key = |one: Row<'_>| Key {
        column: one.text("column_name"),
        descending: is(one, "is_descending_key"),
        ..Key::default()
    };
    let name = row.text("index_name");
    Index {
        quoted: quote_name(&name),
        name,
        method: match row.text("type_desc").as_str() {
            "CLUSTERED" | "NONCLUSTERED" => "btree".into(),
            other => other.to_lowercase(),
        },
        keys: keys.into_iter().map(key).collect(),
        included: included.into_iter().map(|one| one.text("column_name")).collect(),
        predicate: row.get("filter_definition").map(str::to_owned),
        is_unique: is(row, "is_unique"),
        // A clustered index is the table.
        is_needed: is_clustered || is(row, "is_primary_key") || is(row, "is_unique_constraint"),
        is_valid: !is(row, "is_disabled"),
        ..Index::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::rows;
    use super::*;
    use queries::AdviceKind;

    /// The first statement has a plan that misses an index.
    fn snapshot(statements: Vec<Statement>, tables: Vec<Table>) -> Snapshot {
        let mut snapshot = Snapshot {
            engine: Engine::SqlServer,
            server: String::new(),
            span: Span::default(),
            block_bytes: PAGE,
            evictions: None,
            statements,
            tables,
            notes: Vec::new(),
            unread: Vec::new(),
        };
        let plan = r#"<ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan" Version="1.564"><BatchSequence><Batch><Statements>
            <StmtSimple StatementText="SELECT 1" StatementType="SELECT" StatementSubTreeCost="1"><QueryPlan><MissingIndexes><MissingIndexGroup Impact="87.5">
            <MissingIndex Database="[shop]" Schema="[dbo]" Table="[Orders]"><ColumnGroup Usage="EQUALITY"><Column Name="[CustomerId]" ColumnId="2"/></ColumnGroup>
            </MissingIndex></MissingIndexGroup></MissingIndexes></QueryPlan></StmtSimple></Statements></Batch></BatchSequence></ShowPlanXML>"#;
        snapshot.statements[0].plans.push(queries::StatementPlan {
            origin: Origin::Kept,
            runs: 0,
            plan: read_plan(plan).unwrap(),
            sample: None,
        });
        snapshot
    }

    #[test]
    fn rows_of_a_server_become_statements_indexes_and_advice() {
        let kept = rows(
            "digest | plan_handle | begins | ends | calls | elapsed_us | worker_us | min_us | max_us | total_rows | logical_reads | physical_reads | spills | database_name | statement_text
             0xA1 | 0x06 | 0 | -1 | 10 | 9000 | 5000 | 100 | 4000 | 60 | 4000 | 40 | 7 | - | SELECT * FROM dbo.Orders WHERE CustomerId = @1
             0xA1 | 0x07 | 2 | 90 | 5 | 1000 | 900 | 50 | 300 | 30 | 20 | 0 | 0 | - | SELECT * FROM dbo.Orders WHERE CustomerId = @1
             0xB2 | 0x08 | 0 | -1 | 1 | 10 | 9 | 10 | 10 | 1 | 3 | 0 | 0 | - | SELECT /* steelbench_queries */ 1",
        );
        let (statements, handles) = statements(&kept);
        assert_eq!(statements.len(), 1);
        let statement = &statements[0];
        assert_eq!(statement.get(Counter::Calls), Some(15));
        assert_eq!(statement.get(Counter::TimeNs), Some(10_000_000));
        assert_eq!(
            (statement.get(Counter::SharedHitBlocks), statement.get(Counter::SharedReadBlocks)),
            (Some(3980), Some(40))
        );
        assert_eq!(statement.spread.unwrap().min_ms, Some(0.05));
        assert_eq!(handles["0xA1"], ("0x06".to_owned(), 0, -1));

        let found = tables(
            &rows(
                "database_name | schema_name | table_name | index_name | object_id | index_id | type_desc | is_unique | is_primary_key | is_unique_constraint | is_disabled | filter_definition
                 shop | dbo | Orders | PK | 5 | 1 | CLUSTERED | 1 | 1 | 0 | 0 | -
                 shop | dbo | Orders | IX_City | 5 | 2 | NONCLUSTERED | 0 | 0 | 0 | 0 | -
                 shop | dbo | Orders | IX_City_Name | 5 | 3 | NONCLUSTERED | 0 | 0 | 0 | 0 | -
                 shop | dbo | Orders | IX_Note | 5 | 4 | NONCLUSTERED | 0 | 0 | 0 | 0 | -",
            ),
            &rows(
                "object_id | index_id | column_name | is_descending_key | is_included_column
                 5 | 1 | Id | 0 | 0\n5 | 2 | City | 0 | 0\n5 | 3 | City | 0 | 0\n5 | 3 | Name | 1 | 0\n5 | 4 | Note | 0 | 0\n5 | 4 | Id | 0 | 1",
            ),
            [
                &rows("object_id | index_id | pages | row_count\n5 | 1 | 500 | 30000\n5 | 1 | 500 | 30000\n5 | 4 | 300 | 60000"),
                &rows("object_id | index_id | reads | scans\n5 | 1 | 70 | 20\n5 | 2 | 4 | 0\n5 | 3 | 5 | 0"),
                &rows("object_id | index_id | inserts | updates | deletes\n5 | 1 | 60000 | 5 | 1"),
            ],
        );
        assert_eq!((found.len(), found[0].rows, found[0].changes()), (1, Some(60_000.0), Some(60_006)));
        let note = &found[0].indexes[3];
        assert_eq!(
            (note.scans, note.bytes, note.included.as_slice()),
            (Some(0), Some(300 * PAGE), ["Id".to_owned()].as_slice())
        );
        assert!(found[0].indexes[0].is_needed && found[0].indexes[2].keys[1].descending);

        let found = queries::examine(snapshot(statements, found));
        let advice: Vec<(AdviceKind, &str, Option<&str>)> =
            found.advice.iter().map(|one| (one.kind, one.subject.as_str(), one.ddl.as_deref())).collect();
        let expected = [
            (
                AdviceKind::MissingIndex,
                "Orders",
                Some("CREATE INDEX [Orders_CustomerId] ON [dbo].[Orders] ([CustomerId])"),
            ),
            (AdviceKind::Spill, "statement 1", None),
            (AdviceKind::RedundantIndex, "Orders (IX_City)", Some("DROP INDEX [IX_City] ON [dbo].[Orders]")),
            (AdviceKind::UnusedIndex, "Orders (IX_Note)", Some("DROP INDEX [IX_Note] ON [dbo].[Orders]")),
        ];
        assert_eq!(advice, expected);
    }
}

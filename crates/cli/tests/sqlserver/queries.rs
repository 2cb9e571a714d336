//! `queries` of SQL Server: its cache, its Query Store, its indexes. Every statement has a fixture;
//! the report lists each that fails.

use super::{Mock, Tls, answer_survey};
use crate::common::Lab;
use crate::workbooks;
use inspection::sqlserver::queries::views as query_views;
use sqlserver::live::views as live_views;

/// A plan with one operator, for which an index is missing.
/// A plan in one line: answers are lines of cells.
fn show_plan(operator: &str, object: &str) -> String {
    let plan = format!(
        r#"<ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan"
            Version="1.564"><BatchSequence><Batch><Statements><StmtSimple StatementText="SELECT 1"
            StatementType="SELECT" StatementSubTreeCost="1"><QueryPlan><MissingIndexes>
            <MissingIndexGroup Impact="87.5"><MissingIndex Database="[shop]" Schema="[dbo]"
            Table="[Orders]"><ColumnGroup Usage="EQUALITY"><Column Name="[CustomerId]"
            ColumnId="2"/></ColumnGroup></MissingIndex></MissingIndexGroup></MissingIndexes>
            <RelOp NodeId="0" PhysicalOp="{operator}" LogicalOp="{operator}" EstimateRows="1"
            EstimatedTotalSubtreeCost="1"><IndexScan><Object {object}/></IndexScan></RelOp>
            </QueryPlan></StmtSimple></Statements></Batch></BatchSequence></ShowPlanXML>"#
    );
    plan.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn stored(first: i64, last: i64) -> String {
    format!("{} {first} AND {last}{}", query_views::STORED.sql(), query_views::STORED_END)
}

const ORDERS: &str = "SELECT * FROM dbo.Orders WHERE CustomerId = @1 AND Note = 'S3cret'";

/// Rows of the Query Store, from plan, number of runs of one statement, and microseconds of each.
fn runs(of: &[(i64, u64, u64)]) -> String {
    let row = |(plan, calls, us): &(i64, u64, u64)| {
        let (all, squares) = (calls * us, calls * us * us);
        format!(
            "0xA1 | shop | {plan} | {calls} | 0 | {all} | {all} | {us} | {us} | {squares} | \
             {calls} | 90 | 9 | 0 | (@1 int){ORDERS}\n"
        )
    };
    let head = "digest | database_name | plan_id | calls | errors | elapsed_us | worker_us | \
                min_us | max_us | squares_us | total_rows | logical_reads | physical_reads | \
                tempdb_pages | statement_text\n";
    format!("{head}{}", of.iter().map(row).collect::<String>())
}

/// A server with a table, and statements in its cache and, in this state, its Query Store.
fn answer_queries(mock: &Mock, state: i32) {
    let answer = |sql: &str, rows: &str| mock.answers.answer(sql, rows);
    answer(
        &query_views::STATEMENTS.sql(),
        &format!(
            "digest | plan_handle | begins | ends | calls | elapsed_us | worker_us | min_us | \
             max_us | total_rows | logical_reads | physical_reads | spills | database_name | \
             statement_text\n0xA1 | 0x06 | 0 | -1 | 3 | 9000 | 9000 | 10 | 4000 | 3 | 90 | 9 | 0 \
             | shop | {ORDERS}\n0xB2 | 0x07 | 0 | -1 | 5 | 800 | 800 | 10 | 400 | 5 | 90 | 9 | 0 \
             | - | SELECT @@VERSION"
        ),
    );
    answer(
        &query_views::STORE.sql(),
        &format!("state | reason | newest | since\n{state} | 65536 | 42 | 2026-10-24 08:00"),
    );
    answer(&stored(0, 41), &runs(&[(7, 40, 1000), (8, 2, 90_000)]));
    answer(&stored(42, i64::MAX), &runs(&[(7, 10, 1000)]));
    let (seek, scan) = (
        r#"Database="[shop]" Schema="[dbo]" Table="[Orders]" Index="[IX_Note]""#,
        r#"Table="[Orders]""#,
    );
    for (number, operator, object) in [(7, "Index Seek", seek), (8, "Table Scan", scan)] {
        answer(
            &format!("{}{number}", query_views::STORED_PLAN),
            &format!("query_plan\n{}", show_plan(operator, object)),
        );
    }
    for handle in ["0x06", "0x07"] {
        let sql = format!("{}({handle}, 0, -1)", query_views::PLAN);
        answer(&sql, &format!("query_plan\n{}", show_plan("Index Seek", seek)));
    }
    answer(
        &query_views::INDEXES.sql(),
        "database_name | schema_name | table_name | index_name | object_id | index_id | type_desc \
         | is_unique | is_primary_key | is_unique_constraint | is_disabled | \
         filter_definition\nshop | dbo | Orders | IX_Note | 5 | 2 | NONCLUSTERED | 0 | 0 | 0 | 0 \
         | -",
    );
    answer(
        &query_views::COLUMNS.sql(),
        "object_id | index_id | column_name | is_descending_key | is_included_column\n5 | 2 | \
         Note | 0 | 0",
    );
    answer(
        &query_views::SIZES.sql(),
        "object_id | index_id | pages | row_count\n5 | 0 | 500 | 60000\n5 | 2 | 50 | 60000",
    );
    answer(&query_views::USAGE.sql(), "object_id | index_id | reads | scans\n5 | 2 | 70 | 20");
    answer(
        &query_views::CHANGES.sql(),
        "object_id | index_id | inserts | updates | deletes\n5 | 0 | 60000 | 5 | 1",
    );
    answer(
        &query_views::MISSED.sql(),
        "object_id | equality_columns | inequality_columns | included_columns | uses | cost | \
         impact\n5 | [CustomerId] | - | [Note] | 1200 | 12.5 | 87.5",
    );
}

/// The statistics, files and waits.
fn answer_storage(mock: &Mock) {
    let answer = |sql: &str, rows: &str| mock.answers.answer(sql, rows);
    answer(
        &query_views::STATISTICS.sql(),
        "object_id | stats_id | statistics_name | row_count | rows_sampled | steps | changes | \
         gathered_s\n5 | 2 | IX_Note | 60000 | 15000 | 2 | 12 | 840000000",
    );
    answer(
        &query_views::STATISTICS_COLUMNS.sql(),
        "object_id | stats_id | column_name\n5 | 2 | Note",
    );
    answer(
        &query_views::HISTOGRAMS.sql(),
        "object_id | stats_id | value | range_rows | equal_rows | range_values\n5 | 2 | S3cret | \
         0 | 30000 | 0\n5 | 2 | z | 29000 | 1000 | 812",
    );
    answer(
        &query_views::DATABASE_FILES.sql(),
        "database_name | file_name | type_desc | pages | pages_max | growth | is_percent_growth | \
         reads | read_bytes | read_ms | writes | write_bytes | write_ms\nshop | /data/shop.mdf | \
         ROWS | 1024 | -1 | 8192 | 0 | 100 | 819200 | 250 | - | - | -\nshop | /data/shop.ldf | \
         LOG | 128 | 268435456 | 10 | 1 | 0 | 0 | 0 | 7 | 7168 | 21",
    );
    answer(
        &live_views::WAITS.sql(),
        "wait_type | waits | wait_ms | signal_ms\nPAGELATCH_UP | 4 | 3000 | 1000\nWRITELOG | 10 | \
         1000 | 0\nLAZYWRITER_SLEEP | 5 | 900000 | 1",
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of the figures of all sheets")]
fn a_workbook_has_the_sheets_of_a_server() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let url = mock.url("encrypt=optional");
    answer_queries(&mock, 0);
    answer_storage(&mock);
    answer_survey(&mock);
    let plan = show_plan("Index Seek", r#"Table="[Orders]" Index="[IX_Note]""#);
    let plan = plan
        .replace(
            "EstimatedTotalSubtreeCost",
            r#"EstimateCPU="0.25" EstimateIO="0.75" EstimatedTotalSubtreeCost"#,
        )
        .replace(
            "</QueryPlan>",
            r#"<ParameterList><ColumnReference Column="@1"
            ParameterCompiledValue="N'S3cret'" ParameterRuntimeValue="N'x'"/></ParameterList>
            </QueryPlan>"#,
        )
        .replace("SELECT 1", "SELECT 'S3cret' FROM Orders");
    let plan = plan.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let cached = |handle: &str| format!("{}({handle}, 0, -1)", query_views::PLAN);
    mock.answers.answer(&cached("0x06"), &format!("query_plan\n{plan}"));
    let found = queries_json(&lab, &[&url, "--workbook", "w.xlsx"]);
    assert_eq!(found["unread"], serde_json::json!([]), "{found:#}");
    let Some(book) = workbooks::sheets(&lab, "w.xlsx") else { return };
    workbooks::nowhere(&lab, "w.xlsx", "w-plans", "S3c", &book);
    workbooks::files_are_those_of_the_sheet(&lab, &book, "w-plans");
    let texts = workbooks::plans(&lab, "w-plans");
    assert_eq!(texts[0].0, "1.sqlplan");
    assert!(texts[0].1.contains(r#"StatementText="SELECT ? FROM Orders""#), "{}", texts[0].1);
    let plans = workbooks::rows(&book, "Plans");
    assert_eq!(
        (&plans[0]["CPU share of cost"], &plans[0]["I/O share of cost"]),
        (&0.25.into(), &0.75.into())
    );
    assert_eq!(plans[1]["CPU share of cost"], serde_json::Value::Null);
    let operator = &workbooks::rows(&book, "Operators")[0];
    assert_eq!(
        (&operator["CPU cost of a run"], &operator["I/O cost of a run"], &operator["I/O share"]),
        (&0.25.into(), &0.75.into(), &0.75.into())
    );
    let parameter = &workbooks::rows(&book, "Parameters")[0];
    assert_eq!(
        (&parameter["parameter"], &parameter["differs"]),
        (&"@1".into(), &true.into()),
        "{parameter}"
    );
    let note = &workbooks::rows(&book, "Statistics")[0];
    assert_eq!(
        (&note["columns"], &note["rows"], &note["sampled rows"], &note["sampled"]),
        (&"Note".into(), &60_000.into(), &15_000.into(), &0.25.into())
    );
    assert_eq!((&note["histogram steps"], &note["changes since"]), (&2.into(), &12.into()));
    // 946,684,800 + 840,000,000 s since 1970.
    assert_eq!(note["gathered (UTC)"], "2026-08-14 05:20:00");
    let [data, log] = workbooks::rows(&book, "Files") else { panic!("{book}") };
    assert_eq!(
        (&data["size (B)"], &data["growth"], &data["mean read (ms)"], &data["writes"]),
        (&8_388_608.into(), &"64.0 MiB".into(), &2.5.into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&log["growth"], &log["reads"], &log["mean read (ms)"], &log["mean write (ms)"]),
        (&"10 %".into(), &0.into(), &serde_json::Value::Null, &3.into())
    );
    let [latch, written] = workbooks::rows(&book, "Waits") else { panic!("{book}") };
    assert_eq!(
        (&latch["wait (s)"], &latch["resource (s)"], &latch["signal (s)"], &latch["share"]),
        (&3.into(), &2.into(), &1.into(), &0.75.into())
    );
    assert_eq!(
        (&written["wait type"], &written["mean wait (s)"]),
        (&"WRITELOG".into(), &0.1.into())
    );
    workbooks::row(&book, "Configuration", "setting", "max server memory (MB)");
    assert!(workbooks::rows(&book, "Histograms").is_empty(), "values were not asked for");
    let line = ["queries", &url, "--workbook", "v.xlsx", "--literals"];
    lab.steelbench(&line).expect(0);
    let book = workbooks::sheets(&lab, "v.xlsx").unwrap();
    let step = workbooks::row(&book, "Histograms", "value", "S3cret");
    assert_eq!((&step["step"], &step["rows with the value"]), (&1.into(), &0.5.into()));
}

/// A view of the workbook that is refused is named, and its sheet is empty.
#[test]
fn each_view_of_the_workbook_that_is_refused_is_told() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let url = mock.url("encrypt=optional");
    answer_survey(&mock);
    let older = query_views::DATABASE_FILES.older().unwrap();
    for (statements, what, sheet) in [
        (
            [&*query_views::DATABASE_FILES.sql(), &older],
            "Not read: files: sys.master_files",
            "Files",
        ),
        (
            [&*query_views::STATISTICS.sql(), ""],
            "Not read: statistics of tables: sys.dm_db_stats_properties",
            "Statistics",
        ),
        ([&*live_views::WAITS.sql(), ""], "not read: sys.dm_os_wait_stats", "Waits"),
    ] {
        answer_queries(&mock, 0);
        answer_storage(&mock);
        for sql in statements {
            mock.answers.refuse(sql, 300, "VIEW SERVER STATE permission was denied.");
        }
        lab.steelbench(&["queries", &url, "--workbook", "w.xlsx"]).expect(0);
        let Some(book) = workbooks::sheets(&lab, "w.xlsx") else { return };
        assert!(workbooks::rows(&book, sheet).is_empty(), "{book}");
        let notes = workbooks::rows(&book, "Notes");
        let is_told = |row: &serde_json::Value| row["note"].as_str().unwrap().starts_with(what);
        assert!(notes.iter().any(is_told), "{what}: {notes:#?}");
    }
}

fn queries_json(lab: &Lab, arguments: &[&str]) -> serde_json::Value {
    let ended = lab.steelbench(&[&["queries", "--json"], arguments].concat()).expect(0);
    assert!(!ended.stdout.contains("S3c"), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Text, runs and the origins of the plans of each statement.
fn counted(found: &serde_json::Value) -> Vec<(String, u64, Vec<String>)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let summary = |value: &serde_json::Value| {
        let plans =
            value["plans"].as_array().unwrap().iter().map(|plan| text(&plan["origin"])).collect();
        (text(&value["text"]), value["counters"]["calls"].as_u64().unwrap(), plans)
    };
    found["statements"].as_array().unwrap().iter().map(summary).collect()
}

#[test]
fn statements_are_those_of_the_query_store_where_it_counts() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let url = mock.url("encrypt=optional");
    let orders = "SELECT * FROM dbo.Orders WHERE CustomerId = @1 AND Note = ?";
    let plans = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for (state, calls, origins, note) in [
        (
            2,
            52,
            ["stored", "stored"].as_slice(),
            "in this database's Query Store since 2026-10-24 08:00 UTC",
        ),
        (1, 3, &["kept"], "is not collecting data (readonly_reason 65536)"),
        (0, 3, &["kept"], "The Query Store of this database is off"),
    ] {
        answer_queries(&mock, state);
        let found = queries_json(&lab, &[&url]);
        // What has no fixture would stand here.
        assert_eq!(found["unread"], serde_json::json!([]), "{found:#}");
        assert_eq!(
            counted(&found),
            [
                (orders.to_owned(), calls, plans(origins)),
                ("SELECT @@VERSION".to_owned(), 5, plans(&["kept"]))
            ]
        );
        assert!(found["notes"].to_string().contains(note), "{}", found["notes"]);
        let missing = &found["advice"][0];
        let ddl =
            "CREATE INDEX [Orders_CustomerId] ON [dbo].[Orders] ([CustomerId]) INCLUDE ([Note])";
        assert_eq!(
            (&missing["kind"], &missing["certainty"], &missing["ddl"]),
            (&"missing_index".into(), &"estimated".into(), &ddl.into())
        );
        let evidence = missing["evidence"].as_str().unwrap();
        assert!(evidence.contains("missing for 1,200 seeks and scans"), "{missing}");
        let mut advice = found["advice"].as_array().unwrap().iter();
        let several = advice.find(|advice| advice["kind"] == "several_plans");
        assert_eq!(several.is_some(), state == 2, "{found:#}");
        if let Some(several) = several {
            let evidence = "The Query Store has 2 plans for it: Table Scan Orders (2 runs, on \
                            average 90.0 ms); Index Seek Orders (IX_Note) (50 runs, on average \
                            1.00 ms).";
            assert_eq!(several["evidence"], evidence);
        }
    }
    // What is gone from the cache is in a Query Store that only keeps.
    answer_queries(&mock, 1);
    mock.answers.answer(
        &query_views::STATEMENTS.sql(),
        "digest | plan_handle | database_name | statement_text",
    );
    assert_eq!(
        counted(&queries_json(&lab, &[&url])),
        [(orders.to_owned(), 52, plans(&["stored", "stored"]))]
    );
    // An interval is what was counted in it, and a capture holds all.
    answer_queries(&mock, 2);
    answer_survey(&mock);
    answer_storage(&mock);
    lab.steelbench(&["capture", &url, "--seconds", "0.2", "-o", "c.json", "--statements"])
        .expect(0);
    let captured = queries_json(&lab, &["c.json"]);
    assert_eq!(counted(&captured)[0], (orders.to_owned(), 52, plans(&["stored", "stored"])));
    assert!(
        captured["advice"][0]["evidence"]
            .as_str()
            .unwrap()
            .contains("reported it missing for 1,200 seeks"),
        "{captured:#}"
    );
    assert_eq!(counted(&queries_json(&lab, &["c.json", "--interval"])), []);
}

/// Intervals of an hour; in the third another plan does the work.
#[test]
fn intervals_of_the_query_store_are_recorded_once_and_their_history_told() {
    const HOUR_MS: i64 = 3_600_000;
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let url = mock.url("encrypt=optional");
    answer_queries(&mock, 2);
    let at = |number: i64| 1_790_000_000_000 + number * HOUR_MS;
    let interval = |after: i64, rows: &str| {
        let sql = format!(
            "{} {after}{}",
            query_views::STORED_INTERVAL.sql(),
            query_views::STORED_INTERVAL_END
        );
        mock.answers.answer(&sql, &format!("number | from_ms | to_ms\n{rows}"));
    };
    for (number, after) in [(0, 0), (1, at(1)), (2, at(2))] {
        interval(after, &format!("{} | {} | {}", 40 + number, at(number), at(number + 1)));
        let plan = if number == 2 { (8, 12, 90_000) } else { (7, 30, 1000) };
        mock.answers.answer(&stored(40 + number, 40 + number), &runs(&[plan]));
    }
    interval(at(3), "");
    let record = ["queries", &url, "--query-store", "-o", "q.steelbench"];
    let ended = lab.steelbench(&record).expect(0);
    assert_eq!(ended.stdout.matches("interval ").count(), 3, "{ended:?}");
    // What the file has is not recorded again.
    lab.steelbench(&record).expect(0);
    let all = queries_json(&lab, &["q.steelbench"]);
    assert_eq!(counted(&all)[0].1, 72, "{all:#}");
    assert_eq!((&all["span"]["from_ms"], &all["span"]["to_ms"]), (&at(0).into(), &at(3).into()));
    let history = &lab.json(&["history", "q.steelbench"])[0];
    let change = &history["changes"][0];
    assert_eq!(
        (&change["since_ms"], &change["interval"]),
        (&at(2).into(), &2.into()),
        "{history:#}"
    );
    let shapes = history["plans"].to_string();
    assert!(
        shapes.contains("Index Seek Orders (IX_Note)") && shapes.contains("Table Scan Orders"),
        "{history:#}"
    );
    interval(0, "");
    let other = ["queries", &url, "--query-store", "-o", "none.steelbench"];
    lab.steelbench(&other).expect(1).says("the server has no completed interval");
    assert!(!lab.path("none.steelbench").exists(), "nothing was recorded");
}

/// Each unreadable view is named with a remedy, and the rest is shown.
#[test]
fn each_view_that_is_refused_is_told() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let url = mock.url("encrypt=optional");
    let stored_older =
        format!("{} 0 AND 41{}", query_views::STORED.older().unwrap(), query_views::STORED_END);
    let stored = stored(0, 41);
    let kept = query_views::STATEMENTS.older().unwrap();
    for (statements, view, what) in [
        ([&*query_views::STATEMENTS.sql(), &kept], "sys.dm_exec_query_stats", "statements"),
        (
            [&*query_views::STORE.sql(), ""],
            "sys.database_query_store_options",
            "the state of the Query Store",
        ),
        (
            [&stored, &stored_older],
            "sys.query_store_runtime_stats",
            "statements of the Query Store",
        ),
        ([&*query_views::INDEXES.sql(), ""], "sys.indexes", "tables and indexes"),
        ([&*query_views::COLUMNS.sql(), ""], "sys.index_columns", "index columns"),
        ([&*query_views::SIZES.sql(), ""], "sys.dm_db_partition_stats", "table and index sizes"),
        ([&*query_views::USAGE.sql(), ""], "sys.dm_db_index_usage_stats", "index usage"),
        ([&*query_views::CHANGES.sql(), ""], "sys.dm_db_index_operational_stats", "table changes"),
        (
            [&*query_views::MISSED.sql(), ""],
            "sys.dm_db_missing_index_group_stats",
            "missing indexes",
        ),
    ] {
        answer_queries(&mock, 2);
        for sql in statements {
            mock.answers.refuse(
                sql,
                300,
                "VIEW SERVER STATE permission was denied on object 'server'.",
            );
        }
        let found = queries_json(&lab, &[&url]);
        let unread = found["unread"].as_array().unwrap();
        assert_eq!((unread.len(), &unread[0]["what"]), (1, &what.into()), "{unread:#?}");
        let why = unread[0]["why"].as_str().unwrap();
        assert!(
            why.starts_with(view) && why.contains("GRANT VIEW SERVER STATE TO this login"),
            "{why}"
        );
        let statements = if what == "statements" { 1 } else { 2 };
        assert_eq!(counted(&found).len(), statements, "{what}: {found:#}");
    }
}

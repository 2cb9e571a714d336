//! `queries` of SQL Server: its cache, its Query Store, its indexes. Every statement has a fixture;
//! the report lists each that fails.

use super::{Mock, Tls, answer_survey};
use crate::common::Lab;
use sqlserver::live::query_views;

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
    format!("{}{first} AND {last}{}", query_views::STORED.sql, query_views::STORED_END)
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
        query_views::STATEMENTS.sql,
        &format!(
            "digest | plan_handle | begins | ends | calls | elapsed_us | worker_us | min_us | \
             max_us | total_rows | logical_reads | physical_reads | spills | database_name | \
             statement_text\n0xA1 | 0x06 | 0 | -1 | 3 | 9000 | 9000 | 10 | 4000 | 3 | 90 | 9 | 0 \
             | shop | {ORDERS}\n0xB2 | 0x07 | 0 | -1 | 5 | 800 | 800 | 10 | 400 | 5 | 90 | 9 | 0 \
             | - | SELECT @@VERSION"
        ),
    );
    answer(
        query_views::STORE.sql,
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
        query_views::INDEXES.sql,
        "database_name | schema_name | table_name | index_name | object_id | index_id | type_desc \
         | is_unique | is_primary_key | is_unique_constraint | is_disabled | \
         filter_definition\nshop | dbo | Orders | IX_Note | 5 | 2 | NONCLUSTERED | 0 | 0 | 0 | 0 \
         | -",
    );
    answer(
        query_views::COLUMNS.sql,
        "object_id | index_id | column_name | is_descending_key | is_included_column\n5 | 2 | \
         Note | 0 | 0",
    );
    answer(
        query_views::SIZES.sql,
        "object_id | index_id | pages | row_count\n5 | 0 | 500 | 60000\n5 | 2 | 50 | 60000",
    );
    answer(query_views::USAGE.sql, "object_id | index_id | reads | scans\n5 | 2 | 70 | 20");
    answer(
        query_views::CHANGES.sql,
        "object_id | index_id | inserts | updates | deletes\n5 | 0 | 60000 | 5 | 1",
    );
    answer(
        query_views::MISSED.sql,
        "object_id | equality_columns | inequality_columns | included_columns | uses | cost | \
         impact\n5 | [CustomerId] | - | [Note] | 1200 | 12.5 | 87.5",
    );
}

fn queries_json(lab: &Lab, arguments: &[&str]) -> serde_json::Value {
    let ended = lab.steelbench(&[&["queries", "--json"], arguments].concat()).expect(0);
    assert!(!ended.stdout.contains("S3c"), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Text, runs and the origins of the plans of each statement.
fn counted(found: &serde_json::Value) -> Vec<(String, u64, Vec<String>)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let one = |one: &serde_json::Value| {
        let plans =
            one["plans"].as_array().unwrap().iter().map(|plan| text(&plan["origin"])).collect();
        (text(&one["text"]), one["counters"]["calls"].as_u64().unwrap(), plans)
    };
    found["statements"].as_array().unwrap().iter().map(one).collect()
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
        let several =
            found["advice"].as_array().unwrap().iter().find(|one| one["kind"] == "several_plans");
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
        query_views::STATEMENTS.sql,
        "digest | plan_handle | database_name | statement_text",
    );
    assert_eq!(
        counted(&queries_json(&lab, &[&url])),
        [(orders.to_owned(), 52, plans(&["stored", "stored"]))]
    );
    // An interval is what was counted in it, and a capture holds all.
    answer_queries(&mock, 2);
    answer_survey(&mock);
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
            "{}{after}{}",
            query_views::STORED_INTERVAL.sql,
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
        format!("{}0 AND 41{}", query_views::STORED.older.unwrap(), query_views::STORED_END);
    let stored = stored(0, 41);
    let kept = query_views::STATEMENTS.older.unwrap();
    for (statements, view, what) in [
        ([query_views::STATEMENTS.sql, kept], "sys.dm_exec_query_stats", "statements"),
        (
            [query_views::STORE.sql, ""],
            "sys.database_query_store_options",
            "the state of the Query Store",
        ),
        (
            [&stored, &stored_older],
            "sys.query_store_runtime_stats",
            "statements of the Query Store",
        ),
        ([query_views::INDEXES.sql, ""], "sys.indexes", "tables and indexes"),
        ([query_views::COLUMNS.sql, ""], "sys.index_columns", "index columns"),
        ([query_views::SIZES.sql, ""], "sys.dm_db_partition_stats", "table and index sizes"),
        ([query_views::USAGE.sql, ""], "sys.dm_db_index_usage_stats", "index usage"),
        ([query_views::CHANGES.sql, ""], "sys.dm_db_index_operational_stats", "table changes"),
        ([query_views::MISSED.sql, ""], "sys.dm_db_missing_index_group_stats", "missing indexes"),
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

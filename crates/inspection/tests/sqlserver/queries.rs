//! Rows of a server as statements and indexes, and the advice on them.

use inspection::sqlserver::queries::views::PAGE;
use inspection::sqlserver::queries::{Handle, Placed, merged, statements, tables};
use inspection::sqlserver::{ENGINE, PLANS, RULES};
use inspection::statements::{self, AdviceKind, Counter, Origin, Snapshot, Span, StatementPlan};
use std::collections::HashMap;
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
    tables(
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
    assert_eq!((found.len(), found[0].rows, found[0].changes()), (1, Some(60_000.0), Some(60_006)));
    let note = &found[0].indexes[3];
    assert_eq!(
        (note.scans, note.bytes, note.included.as_slice()),
        (Some(0), Some(300 * PAGE), ["Id".to_owned()].as_slice())
    );
    assert!(found[0].indexes[0].is_needed && found[0].indexes[2].keys[1].descending);

    let found = queries::examine(snapshot(statements, found), Vec::new(), &RULES);
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
        evidence[1].starts_with("Since the server started") && evidence[1].contains("700 seeks"),
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
    assert_eq!(counted.map(|counter| statement.get(counter).unwrap()), [4, 8_000_000, 1, 600, 102]);
    let spread = statement.spread.unwrap();
    assert_eq!((spread.min_ms, spread.max_ms, spread.stddev_ms), (Some(1.0), Some(3.0), Some(1.0)));
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

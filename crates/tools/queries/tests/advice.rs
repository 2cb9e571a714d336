//! Advice on indexes whose definitions are close to each other.

use inspection::plans::{Access, Object, Operator, Plan};
use inspection::postgres::RULES;
use inspection::statements::{
    AdviceKind, Certainty, Column, ForeignKey, Index, Key, Origin, Snapshot, Span, Statement,
    StatementPlan, Table,
};
use queries::examine;

const DAY_MS: i64 = 86_400_000;

/// `name: a, b DESC`, a plain B-tree of 8 MiB that was read.
fn index(name: &str, columns: &str) -> Index {
    Index {
        name: name.into(),
        quoted: name.into(),
        method: "btree".into(),
        keys: columns
            .split(", ")
            .map(|text| {
                let (column, descending) =
                    text.strip_suffix(" DESC").map_or((text, false), |column| (column, true));
                Key { column: column.into(), descending, nulls_first: descending, ..Key::default() }
            })
            .collect(),
        is_valid: true,
        bytes: Some(8 << 20),
        scans: Some(1_000_000),
        ..Index::default()
    }
}

fn unique(index: Index) -> Index {
    Index { is_unique: true, ..index }
}

fn needed(index: Index) -> Index {
    Index { is_needed: true, ..unique(index) }
}

fn table(indexes: Vec<Index>) -> Table {
    Table {
        name: "t".into(),
        rows: Some(1e6),
        bytes: Some(1 << 30),
        since_ms: Some(0),
        scans: Some(1),
        inserts: Some(1_000_000),
        updates: Some(50_000),
        hot_updates: Some(20_000),
        deletes: Some(0),
        indexes,
        ..Table::default()
    }
}

fn claims(table: Table) -> Vec<(AdviceKind, String, Certainty)> {
    let all = examine(snapshot(table), Vec::new(), &RULES).advice;
    all.into_iter().map(|advice| (advice.kind, advice.subject, advice.certainty)).collect()
}

fn snapshot(table: Table) -> Snapshot {
    let span = Span { from_ms: Some(0), to_ms: 30 * DAY_MS, is_interval: false };
    Snapshot { tables: vec![table], ..Snapshot::new("postgres", "PostgreSQL".into(), span, 8192) }
}

#[track_caller]
fn redundant(indexes: Vec<Index>, expected: &[&str]) {
    let found: Vec<String> = claims(table(indexes)).into_iter().map(|claim| claim.1).collect();
    let expected: Vec<String> = expected.iter().map(|name| format!("t ({name})")).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_index_is_redundant_only_if_another_does_all_of_its_work() {
    redundant(vec![index("a", "x"), index("ab", "x, y")], &["a"]);
    redundant(vec![index("b", "y"), index("ab", "x, y")], &[]);
    redundant(vec![index("one", "x"), index("two", "x")], &["two"]);
    redundant(vec![needed(index("pk", "x")), index("two", "x")], &["two"]);
    redundant(vec![unique(index("u", "x")), index("ab", "x, y")], &[]);
    redundant(vec![unique(index("u", "x")), index("a", "x")], &["a"]);
    redundant(vec![needed(index("k1", "x")), needed(index("k2", "x"))], &[]);
    // Read backwards all directions are turned; some are another order.
    redundant(vec![index("up", "x, y"), index("down", "x DESC, y DESC")], &["down"]);
    redundant(vec![index("a", "x DESC"), index("ab", "x, y")], &["a"]);
    redundant(vec![index("up", "x, y"), index("mixed", "x, y DESC")], &["mixed"]);
    let including = |index: Index, column: &str| Index { included: vec![column.into()], ..index };
    redundant(vec![index("a", "x"), including(index("b", "x"), "z")], &["a"]);
    redundant(vec![including(index("a", "x"), "w"), including(index("b", "x"), "z")], &["b"]);
    redundant(vec![including(index("a", "x"), "y"), index("ab", "x, y")], &["a"]);
    redundant(vec![including(index("a", "x"), "z"), index("ab", "x, y")], &[]);
    let only = |index: Index| Index { predicate: Some("(x > 5)".into()), ..index };
    redundant(vec![only(index("a", "x")), index("ab", "x, y")], &[]);
    redundant(vec![only(index("a", "x")), only(index("ab", "x, y"))], &["a"]);
    let ruled = |index: Index| {
        let keys =
            index.keys.iter().map(|key| Key { rules: "text_pattern_ops".into(), ..key.clone() });
        Index { keys: keys.collect(), ..index }
    };
    redundant(vec![ruled(index("a", "x")), index("ab", "x, y")], &[]);
    let gin = |index: Index| Index { method: "gin".into(), ..index };
    redundant(vec![gin(index("a", "x")), gin(index("ab", "x, y"))], &[]);
    redundant(vec![gin(index("a", "x")), gin(index("b", "x"))], &["b"]);
    redundant(vec![index("a", "x"), index("ab", "x, y"), index("abc", "x, y, z")], &["a", "ab"]);
}

#[test]
fn unused_is_said_only_of_what_nothing_needs() {
    let unread = |index: Index| Index { scans: Some(0), ..index };
    let unused = |certainty| vec![(AdviceKind::UnusedIndex, "t (a)".to_owned(), certainty)];
    assert_eq!(claims(table(vec![unread(index("a", "x"))])), unused(Certainty::Counted));
    let short =
        Table { since_ms: Some(30 * DAY_MS - 1_000), ..table(vec![unread(index("a", "x"))]) };
    assert_eq!(claims(short), unused(Certainty::Possible));
    let key = ForeignKey { name: "t_x_fkey".into(), columns: vec!["x".into()], target: "u".into() };
    for table in [
        table(vec![unread(needed(index("a", "x")))]),
        table(vec![unread(unique(index("a", "x")))]),
        Table { foreign_keys: vec![key], ..table(vec![unread(index("a", "x"))]) },
        // The table is unused too.
        Table {
            scans: Some(0),
            inserts: Some(0),
            updates: Some(0),
            hot_updates: Some(0),
            ..table(vec![unread(index("a", "x"))])
        },
        // Too small to matter.
        Table {
            inserts: Some(9),
            updates: Some(0),
            hot_updates: Some(0),
            ..table(vec![Index { bytes: Some(8192), ..unread(index("a", "x")) }])
        },
        table(vec![Index { scans: None, ..index("a", "x") }]),
    ] {
        assert_eq!(claims(table), []);
    }
    // 30,000 changes beyond the rows that are there, for each of 20 reads 1,500.
    let rare = table(vec![Index { scans: Some(20), ..index("a", "x") }]);
    assert_eq!(claims(rare)[0].0, AdviceKind::RarelyUsedIndex);
    assert_eq!(claims(table(vec![Index { scans: Some(60), ..index("a", "x") }])), []);
    let invalid = table(vec![Index { is_valid: false, ..index("a", "x") }]);
    assert_eq!(claims(invalid)[0].0, AdviceKind::InvalidIndex);
}

/// A million entries of an integer of 4 bytes take 8 + 8 + 4 bytes each, 366 on a page of 8,192
/// bytes that is filled to 90 %: 2,733 pages. PostgreSQL 15 takes 2,745 for `CREATE INDEX` on
/// `generate_series(1, 1000000)`, with its inner pages.
#[test]
fn free_space_is_estimated_against_a_newly_built_index() {
    let columns = vec![Column { name: "x".into(), width: 4.0, ..Column::default() }];
    let sized =
        |pages: u64| Index { bytes: Some(pages * 8192), entries: Some(1e6), ..index("a", "x") };
    let free = sized(2745).bloat_bytes(&columns, 8192).unwrap();
    assert!(free < 2745 * 8192 / 100, "{free}");
    assert_eq!(sized(2 * 2733).bloat_bytes(&columns, 8192), Some(2733 * 8192));
    let bloated = |pages| Table { columns: columns.clone(), ..table(vec![sized(pages)]) };
    assert_eq!(claims(bloated(6000))[0].0, AdviceKind::BloatedIndex);
    assert_eq!(claims(bloated(4000)), []);
    assert_eq!(sized(2745).bloat_bytes(&[], 8192), None);
}

#[test]
fn statistics_are_old_when_autovacuum_should_have_gathered_them() {
    let changed = |rows: u64| Table { changed_since_analyze: Some(rows), ..table(Vec::new()) };
    assert_eq!(claims(changed(199_000)), []);
    assert_eq!(claims(changed(200_000))[0].0, AdviceKind::StaleStatistics);
}

/// A plan that reads an index.
fn plan(name: &str, access: Access) -> StatementPlan {
    let object = Object { table: "t".into(), index: Some(name.into()), ..Object::default() };
    let root = Operator { objects: vec![object], access: Some(access), ..Operator::default() };
    let plan = Plan { root: Some(root), ..Plan::default() };
    StatementPlan { runs: 1, ..StatementPlan::new(Origin::Logged, plan) }
}

#[test]
fn a_statement_is_named_once_whatever_number_of_its_plans_use_an_index() {
    let statement = Statement {
        plans: vec![plan("a", Access::Scan), plan("a", Access::Seek)],
        text: "SELECT 1".into(),
        ..Statement::default()
    };
    let snapshot = Snapshot {
        statements: vec![statement],
        ..snapshot(table(vec![index("a", "x"), index("ab", "x, y")]))
    };
    let found = examine(snapshot, Vec::new(), &RULES);
    assert_eq!(found.uses.len(), 2);
    let redundant = &found.advice[0];
    assert_eq!((redundant.kind, &redundant.statements), (AdviceKind::RedundantIndex, &vec![0]));
    assert!(redundant.evidence.contains("Plans of statement 1 use it"), "{}", redundant.evidence);
}

#[test]
fn a_statement_behind_a_comment_has_a_plan() {
    let has_plan =
        |text: &str| Statement { text: text.into(), ..Statement::default() }.can_be_explained();
    assert!(has_plan("/* app:shop */ SELECT 1"));
    assert!(has_plan("-- orm\n  (select 1)"));
    assert!(!has_plan("/* SELECT */ VACUUM"));
}

//! Differences of snapshots.

use inspection::statements::{
    CountedRow, Counter, Index, Overflow, Snapshot, Span, Spread, Statement, Table,
};
use observations::QueryInterval;
use queries::{between, joined, record};

fn statement(digest: &str, calls: u64, ms: f64) -> Statement {
    Statement {
        digest: digest.into(),
        is_top: true,
        text: format!("SELECT {digest}"),
        counters: [(Counter::Calls, calls), (Counter::TimeNs, (ms * 1e6) as u64)].into(),
        ..Statement::default()
    }
}

fn snapshot(from_ms: i64, to_ms: i64, statements: Vec<Statement>) -> Snapshot {
    let span = Span { from_ms: Some(from_ms), to_ms, is_interval: false };
    let empty = Snapshot::new("postgres", "PostgreSQL".into(), span, 8192);
    Snapshot { evictions: Some(3), statements, ..empty }
}

fn calls(snapshot: &Snapshot) -> Vec<(&str, u64, bool)> {
    let mut all: Vec<_> = snapshot
        .statements
        .iter()
        .map(|statement| {
            (statement.digest.clone(), statement.get(Counter::Calls).unwrap(), statement.is_partial)
        })
        .collect();
    all.sort();
    let name = |name: String| -> &str { name.leak() };
    all.into_iter().map(|(digest, calls, partial)| (name(digest), calls, partial)).collect()
}

#[test]
fn counters_are_subtracted_exactly_and_what_did_not_run_is_left_out() {
    let large = u64::MAX - 5;
    let first = snapshot(0, 1_000, vec![statement("a", large - 3, 10.0), statement("b", 7, 1.0)]);
    let last = snapshot(
        0,
        3_000,
        vec![statement("a", large, 40.0), statement("b", 7, 1.0), statement("new", 2, 1.0)],
    );
    let found = between(&first, last);
    assert_eq!(calls(&found), [("a", 3, false), ("new", 2, false)]);
    assert_eq!(found.span, Span { from_ms: Some(1_000), to_ms: 3_000, is_interval: true });
    assert_eq!(found.evictions, Some(0));
    assert!(found.notes.is_empty(), "{:?}", found.notes);
}

#[test]
fn a_reset_and_statements_that_went_and_came_back_are_told() {
    let first = snapshot(0, 1_000, vec![statement("a", 10, 10.0), statement("gone", 5, 1.0)]);
    let reset = between(&first, snapshot(2_000, 3_000, vec![statement("a", 4, 1.0)]));
    assert_eq!(calls(&reset), [("a", 4, true)]);
    assert_eq!(reset.span.from_ms, Some(2_000));
    assert!(reset.notes[0].contains("were reset"), "{:?}", reset.notes);

    let back = between(&first, snapshot(0, 3_000, vec![statement("a", 4, 1.0)]));
    assert_eq!(calls(&back), [("a", 4, true)]);
    let notes = back.notes.join("\n");
    assert!(notes.contains("1 statement: evicted or reset"), "{notes}");
    assert!(notes.contains("gone at the end"), "{notes}");
}

/// Runs of 1, 2 and 3 ms before, and of 10, 20 and 60 ms in the interval.
#[test]
fn the_deviation_of_the_interval_alone_is_computed() {
    let of = |times: &[f64]| {
        let (n, mean) = (times.len() as f64, times.iter().sum::<f64>() / times.len() as f64);
        let variance = times.iter().map(|ms| (ms - mean).powi(2)).sum::<f64>() / n;
        let spread =
            Spread { min_ms: Some(1.0), max_ms: Some(60.0), stddev_ms: Some(variance.sqrt()) };
        Statement { spread: Some(spread), ..statement("a", times.len() as u64, times.iter().sum()) }
    };
    let before = [1.0, 2.0, 3.0];
    let (inside, all) = ([10.0, 20.0, 60.0], [1.0, 2.0, 3.0, 10.0, 20.0, 60.0]);
    let found = between(&snapshot(0, 1, vec![of(&before)]), snapshot(0, 2, vec![of(&all)]));
    let spread = found.statements[0].spread.unwrap();
    let expected = of(&inside).spread.unwrap().stddev_ms.unwrap();
    assert!((spread.stddev_ms.unwrap() - expected).abs() < 1e-6, "{spread:?} {expected}");
    assert_eq!((spread.min_ms, spread.max_ms), (None, None));
}

#[test]
fn reads_of_indexes_are_told_for_the_interval_too() {
    let with = |scans: u64| Snapshot {
        tables: vec![Table {
            name: "t".into(),
            indexes: vec![Index { name: "i".into(), scans: Some(scans), ..Index::default() }],
            ..Table::default()
        }],
        ..snapshot(0, 1, Vec::new())
    };
    let index = |snapshot: &Snapshot| snapshot.tables[0].indexes[0].clone();
    let found = index(&between(&with(40), with(42)));
    assert_eq!((found.scans, found.interval_scans), (Some(42), Some(2)));
    assert_eq!(index(&between(&with(40), with(2))).interval_scans, None);
}

#[test]
fn recorded_intervals_put_together_are_the_whole_interval() {
    let large = u64::MAX / 2;
    let at = |ms: i64, calls: [u64; 2]| {
        snapshot(0, ms, vec![statement("a", calls[0], 1.0), statement("b", calls[1], 1.0)])
    };
    let snapshots = [
        at(1_000, [5, 0]),
        at(2_000, [7, large]),
        at(3_000, [7, large + 1]),
        at(9_000, [8, large + 2]),
    ];
    let recorded: Vec<_> = snapshots
        .windows(2)
        .map(|pair| record(&between(&pair[0], pair[1].clone()), "1", "host=h".into()))
        .collect();
    let whole = joined(recorded.clone()).unwrap();
    assert_eq!(calls(&whole), calls(&between(&snapshots[0], snapshots[3].clone())));
    assert_eq!(whole.span, Span { from_ms: Some(1_000), to_ms: 9_000, is_interval: true });
    assert!(whole.notes.is_empty());
    let gap = joined([recorded[0].clone(), recorded[2].clone()]).unwrap();
    assert_eq!(calls(&gap), [("a", 3, false), ("b", large + 1, false)]);
    assert_eq!(gap.notes, ["1.00 s between the recorded intervals were not observed."]);
    assert!(joined([]).is_none());
}

/// A file may be damaged, or written by another program.
#[test]
fn recorded_figures_that_cannot_be_do_not_end_the_program() {
    let mut record =
        record(&snapshot(0, 1_000, vec![statement("a", u64::MAX, 1.0)]), "1", String::new());
    record.statements[0].counters.insert("nobody_knows_it".into(), 1);
    let before = QueryInterval { from_ms: i64::MIN, to_ms: i64::MIN, ..record.clone() };
    let after = QueryInterval { from_ms: i64::MAX, to_ms: i64::MAX, ..record };
    let mut found = joined([before, after]).unwrap();
    assert_eq!(calls(&found), [("a", u64::MAX, false)]);
    queries::keep(&mut found, 0);
}

/// The Query Store removes old runs, so that its sums may fall; that is not a reset.
#[test]
fn what_the_query_store_forgets_by_age_is_not_what_ran_in_between() {
    let stored = |calls| Statement { is_stored: true, ..statement("a", calls, calls as f64) };
    let first = snapshot(0, 1_000, vec![stored(10), statement("b", 1, 1.0)]);
    let found = between(&first, snapshot(0, 3_000, vec![stored(7), statement("b", 2, 2.0)]));
    assert_eq!(calls(&found), [("b", 1, false)]);
    assert!(
        found.notes[0].contains("1 statement: the Query Store removed its old runs"),
        "{:?}",
        found.notes
    );
}

/// A row of a view, whose counters are the calls and 1 ms for each.
fn row(id: &str, since_ms: Option<i64>, calls: u64) -> CountedRow {
    let counters = [(Counter::Calls, calls), (Counter::TimeNs, calls * 1_000_000)].into();
    CountedRow { id: id.into(), since_ms, counters }
}

/// A statement that is the sum of rows.
fn counted(digest: &str, rows: Vec<CountedRow>) -> Statement {
    let calls = rows.iter().map(|row| row.counters[&Counter::Calls]).sum::<u64>();
    Statement { rows, ..statement(digest, calls, calls as f64) }
}

/// A statement ran 5 times in one database and 14 times in another; both were dropped, so that
/// nothing but the server's numbers tells them apart.
#[test]
fn dropped_databases_keep_their_statements_apart() {
    let at = |to_ms, calls: [u64; 2]| {
        let of = |id, calls| counted("a", vec![row(id, None, calls)]);
        snapshot(0, to_ms, vec![of("1/10", calls[0]), of("2/10", calls[1])])
    };
    let still = between(&at(1_000, [5, 14]), at(3_000, [5, 14]));
    assert!(calls(&still).is_empty() && still.notes.is_empty(), "{:?}", still.notes);
    let more = between(&at(1_000, [5, 14]), at(3_000, [6, 16]));
    assert_eq!(
        (calls(&more), more.notes.clone()),
        (vec![("a", 1, false), ("a", 2, false)], vec![])
    );
    // The name of a database is gone, its number is not.
    let mut named = at(1_000, [5, 14]);
    named.statements[0].database = "d1".into();
    assert_eq!(calls(&between(&named, at(3_000, [6, 16]))), calls(&more));
}

/// A file of an older version has names alone.
#[test]
fn captures_without_row_numbers_claim_nothing_of_what_names_do_not_tell_apart() {
    let old = |calls: [u64; 3]| {
        let [a, same, b] = calls.map(|calls| statement("a", calls, calls as f64));
        let b = Statement { digest: "b".into(), ..b };
        snapshot(0, 1_000, vec![a, same, b])
    };
    let found = between(&old([5, 14, 3]), old([6, 14, 7]));
    assert_eq!(calls(&found), [("b", 4, false)]);
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    assert!(
        found.notes[0].starts_with("2 statements: this capture has names only"),
        "{:?}",
        found.notes
    );
    // A new file after an old one is compared by names, too.
    let new = snapshot(0, 3_000, vec![counted("b", vec![row("1/10", None, 9)])]);
    let found = between(&old([5, 14, 3]), new);
    assert_eq!(calls(&found), [("b", 6, false)]);
}

#[test]
fn a_row_that_began_again_is_a_reset_though_no_counter_fell() {
    let at = |to_ms, since_ms, calls| {
        snapshot(0, to_ms, vec![counted("a", vec![row("1/10", Some(since_ms), calls)])])
    };
    let found = between(&at(1_000, 500, 5), at(3_000, 2_000, 8));
    assert_eq!(calls(&found), [("a", 8, true)]);
    assert!(found.notes[0].contains("1 statement: evicted or reset"), "{:?}", found.notes);
    let found = between(&at(1_000, 500, 5), at(3_000, 500, 3));
    assert_eq!(calls(&found), [("a", 3, true)]);
}

/// Plans of one statement come and go in SQL Server's cache.
#[test]
fn a_plan_that_left_the_cache_takes_no_runs_from_the_others() {
    let first = snapshot(
        0,
        10_000,
        vec![counted("a", vec![row("p1", Some(1), 100), row("p2", Some(1), 7)])],
    );
    let last = vec![counted("a", vec![row("p2", Some(1), 9), row("p3", Some(11_000), 120)])];
    let found = between(&first, snapshot(0, 20_000, last));
    assert_eq!(calls(&found), [("a", 122, true)]);
    assert!(found.notes[0].contains("1 statement: evicted or reset"), "{:?}", found.notes);
    // Figures of a row that the server derives may fall; its runs may not.
    let mut last = counted("a", vec![row("p1", Some(1), 101), row("p2", Some(1), 7)]);
    last.rows[1].counters.insert(Counter::TimeNs, 0);
    let found = between(&first, snapshot(0, 20_000, vec![last]));
    assert_eq!(calls(&found), [("a", 1, false)]);
    assert_eq!(found.statements[0].get(Counter::TimeNs), Some(1_000_000));
}

#[test]
fn what_was_there_and_not_read_is_not_work_of_the_interval() {
    let first = Snapshot { is_cut: true, ..snapshot(0, 10_000, Vec::new()) };
    let last = vec![
        counted("old", vec![row("p1", Some(1), 100)]),
        counted("new", vec![row("p2", Some(11_000), 3)]),
    ];
    let found = between(&first, snapshot(0, 20_000, last));
    assert_eq!(calls(&found), [("new", 3, false)]);
    assert!(found.notes[0].starts_with("1 statement: not among"), "{:?}", found.notes);
}

#[test]
fn totals_of_the_server_are_differences_too_and_never_wrap() {
    let at = |evictions, runs| Snapshot {
        evictions: Some(evictions),
        overflow: Some(Overflow { runs, why: "full".into() }),
        ..snapshot(0, 1_000, Vec::new())
    };
    let figures = |found: &Snapshot| (found.evictions, found.overflow.as_ref().unwrap().runs);
    let found = between(&at(3, 100), at(5, 140));
    assert_eq!(figures(&found), (Some(2), 40));
    let missing: Vec<_> = found.missing().map(|gap| gap.what).collect();
    assert_eq!(missing, ["40 executions of other statements"]);
    assert_eq!(between(&at(3, 100), at(3, 100)).missing().count(), 0);
    assert_eq!(figures(&between(&at(3, 100), at(2, 40))), (None, 40));
}

/// A server that has counted no statement yet does not say since when it counts.
#[test]
fn the_first_statement_is_no_reset() {
    let span = Span { from_ms: None, to_ms: 1_000, is_interval: false };
    let first = Snapshot { span, ..snapshot(0, 0, Vec::new()) };
    let found = between(&first, snapshot(2_000, 3_000, vec![statement("a", 4, 1.0)]));
    assert_eq!((calls(&found), found.notes.len()), (vec![("a", 4, false)], 0));
}

//! Findings about statements over many intervals, on series with known changes.

use analysis::Verdict;
use observations::{CountedStatement, QueryInterval};
use queries::{PlanWatch, SampledWait, StatementChange, StatementHistory};
use testing::recordings::Random;

/// The search for changes takes long in a build for tests.
const HISTORIES: usize = 50;

/// Mean of a run (ms) and the plan of each statement in an interval.
type Interval<'a> = Vec<Option<(f64, Option<&'a str>)>>;

/// Intervals of a second with 100 runs of each statement.
fn history<'a>(intervals: impl IntoIterator<Item = Interval<'a>>) -> StatementHistory {
    let mut history = StatementHistory::default();
    for (at, interval) in (0..).zip(intervals) {
        let statement = |(number, (ms, plan)): (usize, (f64, Option<&str>))| CountedStatement {
            digest: number.to_string(),
            text: format!("SELECT {number}"),
            counters: [("calls".to_owned(), 100), ("time_ns".to_owned(), (ms * 1e8) as u64)].into(),
            plan_hash: plan.map(str::to_owned),
            plan: plan.map(|plan| format!("plan {plan}")),
            ..CountedStatement::default()
        };
        let numbered = interval
            .into_iter()
            .enumerate()
            .filter_map(|(number, interval)| Some((number, interval?)));
        history.add(QueryInterval {
            from_ms: at * 1_000,
            to_ms: (at + 1) * 1_000,
            statements: numbered.map(statement).collect(),
            ..QueryInterval::default()
        });
    }
    history.with_changes()
}

/// Statement, interval, plans and verdict of a change.
type Claim<'a> = (&'a str, usize, Option<(&'a str, &'a str)>, Verdict);

fn changes(history: &StatementHistory) -> Vec<Claim<'_>> {
    let plan = |at: usize| history.plans[at].as_str();
    let of = |statement_change: &StatementChange| {
        let text = history.statements[statement_change.statement].text.as_str();
        (
            text,
            statement_change.interval,
            statement_change.plans.map(|(before, after)| (plan(before), plan(after))),
            statement_change.verdict,
        )
    };
    history.changes.iter().map(of).collect()
}

/// A spread of 5 % from interval to interval.
fn noisy(random: &mut Random, ms: f64) -> f64 {
    ms * (0.05 * random.normal()).exp()
}

#[test]
fn a_change_of_plan_is_told_with_its_time_and_the_interval_in_which_it_happened_is_left_out() {
    let mut random = Random::new(1);
    // In interval 5 half of the runs had the old plan.
    let level = [1.0, 1.0, 1.0, 1.0, 1.0, 5.5, 10.0, 10.0, 10.0, 10.0];
    let found = history((0..10).map(|at| {
        let plan = if at < 5 { "a" } else { "b" };
        vec![
            Some((noisy(&mut random, level[at]), Some(plan))),
            Some((noisy(&mut random, 3.0), Some("c"))),
        ]
    }));
    assert_eq!(changes(&found), [("SELECT 0", 5, Some(("plan a", "plan b")), Verdict::Worse)]);
    let change = &found.changes[0];
    let (before, after) = change.mean_s;
    assert!((before * 1e3 - 1.0).abs() < 0.1 && (after * 1e3 - 10.0).abs() < 1.0, "{change:?}");
    let interval = change.comparison.as_ref().unwrap().interval.unwrap();
    assert!(interval.low < 0.1 && 0.1 < interval.high, "{interval:?}");
    assert_eq!(change.since_ms, 5_000);
}

/// Intervals with one statement whose plan is another from interval 6 on.
fn watched(ms: [f64; 2], random: &mut Random) -> Vec<QueryInterval> {
    let intervals = (0..14).map(|at| {
        let (plan, ms) = if at < 6 { ("a", ms[0]) } else { ("b", ms[1]) };
        let mut counted_statement = CountedStatement {
            digest: "1".into(),
            text: "SELECT 1".into(),
            counters: [
                ("calls".to_owned(), 100),
                ("time_ns".to_owned(), (noisy(random, ms) * 1e8) as u64),
            ]
            .into(),
            plan_hash: Some(plan.to_owned()),
            plan: Some(format!("plan {plan}")),
            ..CountedStatement::default()
        };
        counted_statement.add_samples("CPU", 2);
        counted_statement.add_samples("IO:DataFileRead", if plan == "b" { 5 } else { 1 });
        QueryInterval {
            from_ms: at * 1_000,
            to_ms: (at + 1) * 1_000,
            statements: vec![counted_statement],
            ..QueryInterval::default()
        }
    });
    intervals.collect()
}

/// As intervals come, a statement that became slower with another plan is found, once, with both
/// plans and its waits; one that did not is not.
#[test]
fn a_watch_finds_what_became_slower_with_another_plan() {
    let mut random = Random::new(11);
    let mut watch = PlanWatch::default();
    let found: Vec<(usize, StatementHistory)> = watched([1.0, 4.0], &mut random)
        .into_iter()
        .enumerate()
        .filter_map(|(at, interval)| Some((at, watch.add(interval)?)))
        .collect();
    let [(at, found)] = &found[..] else { panic!("{found:#?}") };
    assert!((7..10).contains(at), "{at}");
    assert_eq!(changes(found), [("SELECT 1", 6, Some(("plan a", "plan b")), Verdict::Worse)]);
    let (before, since) = &found.changes[0].waits;
    let wait = |wait: &str, samples| SampledWait { wait: wait.into(), samples };
    assert_eq!(before[..], [wait("CPU", 12), wait("IO:DataFileRead", 6)]);
    // The interval of the change is left out.
    let rest = *at as u64 - 6;
    assert_eq!(since[..], [wait("IO:DataFileRead", 5 * rest), wait("CPU", 2 * rest)]);
    for ms in [[1.0, 1.0], [4.0, 1.0]] {
        let mut watch = PlanWatch::default();
        let mut all = watched(ms, &mut random).into_iter();
        assert!(all.all(|interval| watch.add(interval).is_none()), "{ms:?}");
    }
}

#[test]
fn plans_that_were_not_seen_in_between_are_no_change_and_a_return_is_one() {
    let plans = [Some("a"), None, Some("a"), None, Some("b"), Some("b"), Some("a")];
    let found = history(plans.map(|plan| vec![Some((1.0, plan))]));
    let mut at: Vec<usize> = found.changes.iter().map(|change| change.interval).collect();
    at.sort_unstable();
    assert_eq!(at, [4, 6]);
    assert!(found.changes.iter().all(|change| change.plans.is_some()));
    // One that is in few intervals has a change, and nothing can be said of its time.
    let found = history([vec![Some((1.0, Some("a")))], vec![None], vec![Some((9.0, Some("b")))]]);
    assert_eq!(changes(&found), [("SELECT 0", 2, Some(("plan a", "plan b")), Verdict::Unknown)]);
    assert!(history([]).changes.is_empty());
}

#[test]
fn a_change_of_time_alone_is_found_where_it_is() {
    let mut random = Random::new(2);
    let found = history((0..40).map(|at| {
        let slow = if at >= 25 { 2.0 } else { 1.0 };
        let mut series: Interval =
            (0..30).map(|_| Some((noisy(&mut random, 1.0), Some("p")))).collect();
        series[7] = Some((noisy(&mut random, slow), Some("p")));
        series
    }));
    assert_eq!(changes(&found), [("SELECT 7", 25, None, Verdict::Worse)]);
}

/// Series of days are looked at in means of neighbours.
#[test]
fn a_long_series_is_searched_too() {
    let mut random = Random::new(3);
    let level = |at: usize| if at >= 2_000 { 1.5 } else { 1.0 };
    let found = history((0..3_000).map(|at| vec![Some((noisy(&mut random, level(at)), None))]));
    let [change] = &found.changes[..] else { panic!("{:?}", found.changes) };
    assert!(
        change.interval.abs_diff(2_000) <= 12 && change.verdict == Verdict::Worse,
        "{change:?}"
    );
}

/// 10 statements in 24 intervals, with a change of plan that changes no time.
#[test]
fn where_nothing_changed_few_histories_name_anything() {
    let mut random = Random::new(4);
    let mut named = 0;
    for _ in 0..HISTORIES {
        let found = history((0..24).map(|at| {
            let plan = if at < 12 { "a" } else { "b" };
            (0..10).map(|_| Some(((0.1 * random.normal()).exp(), Some(plan)))).collect()
        }));
        assert_eq!(found.changes.iter().filter(|change| change.plans.is_some()).count(), 10);
        let is_claim = |verdict| matches!(verdict, Verdict::Worse | Verdict::Better);
        named += usize::from(found.changes.iter().any(|change| is_claim(change.verdict)));
    }
    // Of what plans and of what times alone have done at most 5 % each.
    assert!(named <= HISTORIES / 10, "{named} of {HISTORIES}");
}

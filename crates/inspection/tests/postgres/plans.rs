//! Plans of PostgreSQL in text and JSON, as clients print and people paste them.

use inspection::plans::{Kind, Operator, PlanError, Remark, Rule, Statement, Terms, remarks};
use inspection::postgres::PLANS;

const FILES: [(&str, &str, &str); 4] = [
    ("join", include_str!("plans/pg-join.txt"), include_str!("plans/pg-join.json")),
    ("sort", include_str!("plans/pg-sort.txt"), include_str!("plans/pg-sort.json")),
    ("update", include_str!("plans/pg-u.txt"), include_str!("plans/pg-u.json")),
    ("subqueries", include_str!("plans/pg-sub.txt"), include_str!("plans/pg-sub.json")),
];

fn read(text: &str) -> Result<Vec<Statement>, PlanError> {
    assert!((PLANS.recognise)(text));
    (PLANS.read)(text)
}

fn parse(text: &str) -> Statement {
    let mut all = read(text).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn operators(statement: &Statement) -> Vec<(usize, Operator)> {
    let plan = statement.plan.as_ref().unwrap();
    plan.operators().into_iter().map(|(depth, operator)| (depth, operator.clone())).collect()
}

#[test]
fn text_and_json_of_a_plan_are_the_same() {
    for (name, text, json) in FILES {
        let (text, json) = (parse(text), parse(json));
        assert_eq!(text.kind, json.kind, "{name}");
        let (left, right) = (operators(&text), operators(&json));
        assert_eq!(left.len(), right.len(), "{name}");
        for ((depth, left), (right_depth, right)) in left.iter().zip(&right) {
            let at = format!("{name}: {}", left.name);
            assert_eq!(
                (depth, &left.name, &left.detail),
                (right_depth, &right.name, &right.detail),
                "{at}"
            );
            assert_eq!((left.kind, left.access), (right.kind, right.access), "{at}");
            assert_eq!(
                left.objects.first().map(|object| (&object.table, &object.index)),
                right.objects.first().map(|object| (&object.table, &object.index)),
                "{at}"
            );
            assert_eq!(
                (left.cost, left.rows, left.executions),
                (right.cost, right.rows, right.executions),
                "{at}"
            );
            assert_eq!(left.predicates, right.predicates, "{at}");
            assert_eq!(left.is_parallel, right.is_parallel, "{at}");
            assert_eq!(left.warnings.len(), right.warnings.len(), "{at}");
            if left.pages.is_some() {
                assert_eq!(left.pages, right.pages, "{at}");
            }
        }
    }
}

#[test]
fn figures_of_loops_and_workers_are_those_of_all() {
    let join = parse(FILES[0].1);
    let plan = join.plan.as_ref().unwrap();
    assert_eq!(
        (plan.cost, plan.elapsed_ms, plan.planning_ms),
        (Some(5779.74), Some(142.942), Some(0.563))
    );
    assert_eq!(plan.degree, Some(2));
    let all = plan.operators();
    let scan = all
        .iter()
        .find(|(_, operator)| operator.objects.first().is_some_and(|object| object.table == "l"))
        .unwrap()
        .1;
    // 100,000 rows in each of two loops, which ran at the same time.
    assert_eq!(scan.rows.actual, Some(200_000.0));
    assert_eq!(scan.elapsed_ms, Some(22.794));
    assert!(scan.is_parallel);
    assert_eq!(scan.kind, Kind::TableScan);
    // In 6 loops one after the other.
    let subqueries = parse(FILES[3].1);
    let last = operators(&subqueries).pop().unwrap().1;
    assert_eq!((last.rows.actual, last.rows.estimated), (Some(60.0), Some(60.0)));
    assert!((last.elapsed_ms.unwrap() - 6.0 * 0.009).abs() < 1e-12);
}

#[test]
fn a_sort_that_spills_is_remarked_and_one_in_memory_is_not() {
    let remarks_of = |text: &str| remarks(parse(text).plan.as_ref().unwrap(), &Terms::NONE);
    for format in [FILES[1].1, FILES[1].2] {
        let remarks = remarks_of(format);
        let is_spill = |remark: &Remark| {
            (remark.rule, remark.operator) == (Rule::Warning, Some(1))
                && remark.text.contains("Spill")
        };
        assert!(remarks.iter().any(is_spill), "{remarks:?}");
    }
    assert_eq!(remarks_of(FILES[0].1), []);
}

#[test]
fn the_log_of_auto_explain_is_read() {
    let log = include_str!("plans/pg-auto-explain.log");
    let all = read(log).unwrap();
    assert_eq!(all.len(), 3);
    let texts: Vec<&str> = all.iter().map(|statement| statement.text.as_str()).collect();
    assert!(texts[0].starts_with("select count(*) from o"), "{texts:?}");
    assert_eq!(texts[1], texts[2], "as JSON and as text");
    assert_eq!(operators(&all[1]).len(), operators(&all[2]).len());
    assert!(all.iter().all(|statement| statement.plan.as_ref().unwrap().elapsed_ms.is_some()));
}

/// A statement of the issue that reported wrong trees: the subquery belongs to the join.
const SUBPLAN: &str = "\
Nested Loop  (cost=0.00..100.00 rows=10 width=12) (actual time=1.0..50.0 rows=10 loops=1)
  Join Filter: (t.bid = c.bid)
  InitPlan 1 (returns $0)
    ->  Aggregate  (cost=0.00..5.00 rows=1 width=4) (actual time=4.0..4.0 rows=1 loops=1)
          ->  Seq Scan on d  (cost=0.00..4.00 rows=9 width=4) (actual time=0.1..3.0 rows=9 loops=1)
  ->  Seq Scan on t  (cost=0.00..1.00 rows=10 width=8) (actual time=0.1..6.0 rows=10 loops=1)
        Filter: (x > $0)
  ->  Seq Scan on c  (cost=0.00..1.00 rows=1 width=4) (actual time=0.1..0.2 rows=1 loops=10)
  SubPlan 2
    ->  Aggregate  (cost=0.00..9.00 rows=1 width=4) (actual time=3.9..4.0 rows=1 loops=10)
          ->  Seq Scan on a  (cost=0.00..8.00 rows=9 width=4) (actual time=0.1..3.0 rows=9 loops=10)
Planning Time: 0.300 ms
Execution Time: 51.000 ms
";

#[test]
fn subqueries_belong_to_their_node_and_count_once() {
    let statement = parse(SUBPLAN);
    let plan = statement.plan.as_ref().unwrap();
    let shape: Vec<(usize, Option<&str>)> = plan
        .operators()
        .iter()
        .map(|(depth, operator)| (*depth, operator.part.as_deref()))
        .collect();
    let expected = [
        (0, None),
        (1, Some("InitPlan 1 (returns $0)")),
        (2, None),
        (1, None),
        (1, None),
        (1, Some("SubPlan 2")),
        (2, None),
    ];
    assert_eq!(shape, expected);
    let ms: Vec<f64> = plan.net_costs().iter().map(|times| times.ms.unwrap()).collect();
    // The scan of t waited for the InitPlan: 4 of its 6 ms.
    for (ms, expected) in ms.iter().zip([2.0, 1.0, 3.0, 2.0, 2.0, 10.0, 30.0]) {
        assert!((ms - expected).abs() < 1e-9, "{ms} instead of {expected}");
    }
    assert!((ms.iter().sum::<f64>() - 50.0).abs() < 1e-9);
}

#[test]
fn pasted_plans_keep_their_figures() {
    let figures = |statement: &Statement| {
        let plan = statement.plan.as_ref().unwrap();
        (plan.operators().len(), plan.cost, plan.elapsed_ms, plan.planning_ms)
    };
    let expected = figures(&parse(SUBPLAN));
    assert_eq!(expected, (7, Some(100.0), Some(51.0), Some(0.3)));
    let each = |before: &str, after: &str| -> String {
        let line = |line: &str| [before, line, after, "\n"].concat();
        SUBPLAN.lines().map(line).collect()
    };
    for (name, text) in [
        ("mail", each("> ", "")),
        ("pgAdmin", each("\"", "\"")),
        ("comments", each("-- ", "")),
        ("psql -t", each(" ", "")),
        ("a cut first line", each(" ", "").trim().to_owned()),
        ("tabs", each("\t\t", "")),
        ("a page", SUBPLAN.replace('>', "&gt;")),
        ("Execution time", SUBPLAN.replace("Time:", "time:")),
        ("the statement", format!("-- slow\nEXPLAIN ANALYZE SELECT 1;\n{SUBPLAN}")),
        ("prose behind it", format!("{SUBPLAN}\nIt is slow.")),
    ] {
        assert_eq!(figures(&parse(&text)), expected, "{name}: {text}");
    }
    let old =
        SUBPLAN.replace("Planning Time: 0.300 ms\n", "").replace("Execution Time", "Total runtime");
    assert_eq!(figures(&parse(&old)), (7, Some(100.0), Some(51.0), None));
    let statement =
        parse(&format!("db=# EXPLAIN ANALYZE SELECT 7;\nQUERY PLAN\n---\n{SUBPLAN}(13 rows)"));
    assert_eq!(statement.text, "SELECT 7");
    let without_costs = "Limit (actual rows=1 loops=1)\n  ->  Seq Scan on t (never executed)\n";
    let plan = parse(without_costs).plan.unwrap();
    assert_eq!(plan.root.unwrap().rows.actual, Some(1.0));
}

#[test]
fn several_plans_are_apart() {
    let other = SUBPLAN.replace("51.000", "77.000");
    for between in ["", "\n", "(13 rows)\n\ndb=# explain analyze select 2;\n"] {
        let all = read(&format!("{SUBPLAN}{between}{other}")).unwrap();
        let times: Vec<_> =
            all.iter().map(|statement| statement.plan.as_ref().unwrap().elapsed_ms).collect();
        assert_eq!(times, [Some(51.0), Some(77.0)], "{between}");
    }
}

#[test]
fn damaged_text_is_refused_with_its_line() {
    let lines: Vec<&str> = SUBPLAN.lines().collect();
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat().join("\n");
    for (text, line) in [
        (SUBPLAN.replacen(" (actual", "\n(actual", 1), 1),
        (SUBPLAN.replacen("rows=9 width=4) (actual", "rows=9\nwidth=4) (actual", 1), 5),
        (SUBPLAN.replace(" (actual time=0.1..6.0 rows=10 loops=1)", ""), 6),
        (SUBPLAN.replace("1.00 rows=10", "1.O0 rows=10"), 6),
        (lines[..4].join("\n"), 4),
        (without(3), 4),
        (lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n"), 4),
        (SUBPLAN.replace("  SubPlan 2", "  ..."), 9),
    ] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(&format!("line {line}: ")), "{error}: {text}");
    }
}

#[test]
fn a_parallel_estimate_is_that_of_all_processes() {
    let text = "Gather  (cost=1.00..9.00 rows=200000 width=8)\n  Workers Planned: 1\n  ->  \
                Parallel Seq Scan on l  (cost=0.00..8.00 rows=117647 width=8)\n";
    let scan = operators(&parse(text)).pop().unwrap().1;
    assert_eq!(scan.rows.estimated.map(f64::round), Some(200_000.0));
    let never = parse(
        "Limit  (cost=0.00..1.00 rows=1 width=4) (actual time=0.1..0.1 rows=0 loops=1)\n  ->  \
                     Seq Scan on t  (cost=0.00..9.00 rows=42 width=4) (never executed)\n",
    );
    assert_eq!(operators(&never)[1].1.rows.estimated, Some(42.0));
}

#[test]
fn a_bitmap_of_many_runs_is_not_a_lookup_of_single_rows() {
    let text = "\
Nested Loop  (cost=0.00..9.00 rows=5000 width=4) (actual time=0.1..9.0 rows=5000 loops=1)
  ->  Seq Scan on t  (cost=0.00..1.00 rows=5000 width=4) (actual time=0.1..1.0 rows=5000 loops=1)
  ->  Bitmap Heap Scan on u  (cost=0.00..1.00 rows=1 width=4) \
(actual time=0.001..0.001 rows=1 loops=5000)
        Recheck Cond: (a = t.a)
        ->  Bitmap Index Scan on i  (cost=0.00..1.00 rows=1 width=0) \
(actual time=0.001..0.001 rows=1 loops=5000)
              Index Cond: (a = t.a)
";
    assert_eq!(remarks(parse(text).plan.as_ref().unwrap(), &Terms::NONE), []);
}

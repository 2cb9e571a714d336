//! Plans of PostgreSQL as text and as JSON, which give the same model.

use ::plans::{Kind, Operator, PlanError, Remark, Statement, Terms, remarks};
use engine::Engine as _;
use postgres::Postgres;

const FILES: [(&str, &str, &str); 4] = [
    ("join", include_str!("plans/pg-join.txt"), include_str!("plans/pg-join.json")),
    ("sort", include_str!("plans/pg-sort.txt"), include_str!("plans/pg-sort.json")),
    ("update", include_str!("plans/pg-u.txt"), include_str!("plans/pg-u.json")),
    ("subqueries", include_str!("plans/pg-sub.txt"), include_str!("plans/pg-sub.json")),
];

fn read(text: &str) -> Result<Vec<Statement>, PlanError> {
    let plans = Postgres.plans().unwrap();
    assert!(plans.recognises(text));
    plans.read(text)
}

fn one(text: &str) -> Statement {
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
        let (text, json) = (one(text), one(json));
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
                left.objects.first().map(|one| (&one.table, &one.index)),
                right.objects.first().map(|one| (&one.table, &one.index)),
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
    let join = one(FILES[0].1);
    let plan = join.plan.as_ref().unwrap();
    assert_eq!(
        (plan.cost, plan.elapsed_ms, plan.planning_ms),
        (Some(5779.74), Some(142.942), Some(0.563))
    );
    assert_eq!(plan.degree, Some(2));
    let all = plan.operators();
    let scan = all
        .iter()
        .find(|(_, one)| one.objects.first().is_some_and(|object| object.table == "l"))
        .unwrap()
        .1;
    // 100,000 rows in each of two loops, which ran at the same time.
    assert_eq!(scan.rows.actual, Some(200_000.0));
    assert_eq!(scan.elapsed_ms, Some(22.794));
    assert!(scan.is_parallel);
    assert_eq!(scan.kind, Kind::TableScan);
    // In 6 loops one after the other.
    let subqueries = one(FILES[3].1);
    let last = operators(&subqueries).pop().unwrap().1;
    assert_eq!((last.rows.actual, last.rows.estimated), (Some(60.0), Some(60.0)));
    assert!((last.elapsed_ms.unwrap() - 6.0 * 0.009).abs() < 1e-12);
}

#[test]
fn a_sort_that_spills_is_remarked_and_one_in_memory_is_not() {
    let remarks_of = |text: &str| remarks(one(text).plan.as_ref().unwrap(), &Terms::NONE);
    for format in [FILES[1].1, FILES[1].2] {
        let said = remarks_of(format);
        assert!(
            said.iter().any(
                |one| matches!(one, Remark::Operator { name, operator: 1, .. } if name == "Spill")
            ),
            "{said:?}"
        );
    }
    assert_eq!(remarks_of(FILES[0].1), []);
}

#[test]
fn the_log_of_auto_explain_is_read() {
    let log = include_str!("plans/pg-auto-explain.log");
    let all = read(log).unwrap();
    assert_eq!(all.len(), 3);
    let texts: Vec<&str> = all.iter().map(|one| one.text.as_str()).collect();
    assert!(texts[0].starts_with("select count(*) from o"), "{texts:?}");
    assert_eq!(texts[1], texts[2], "as JSON and as text");
    assert_eq!(operators(&all[1]).len(), operators(&all[2]).len());
    assert!(all.iter().all(|one| one.plan.as_ref().unwrap().elapsed_ms.is_some()));
}

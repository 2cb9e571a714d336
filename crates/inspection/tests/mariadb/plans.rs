//! Plans of MariaDB 10.11 and MySQL 9.7.

use inspection::mariadb::PLANS;
use inspection::plans::{Access, Kind, Operator, Plan, PlanError, Statement, index_uses};

fn read(text: &str) -> Result<Vec<Statement>, PlanError> {
    assert!((PLANS.recognise)(text));
    (PLANS.read)(text)
}

fn plan(text: &str) -> Plan {
    let mut all = read(text).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0).plan.unwrap()
}

fn shape(plan: &Plan) -> Vec<String> {
    let line = |(depth, operator): (usize, &Operator)| {
        let object = operator
            .objects
            .first()
            .map(|object| format!(" {}", object.label()))
            .unwrap_or_default();
        format!("{}{}{object}", " ".repeat(depth), operator.name)
    };
    plan.operators().into_iter().map(line).collect()
}

#[test]
fn loops_are_multiplied_and_times_are_summed() {
    let plan = plan(include_str!("plans/ma-join.json"));
    assert_eq!(
        shape(&plan),
        ["Sort", " Temporary table", "  Nested loops", "   Table: ALL o", "   Table: ref l (l_o)"]
    );
    assert_eq!((plan.elapsed_ms, plan.planning_ms), (Some(219.7463652), Some(0.235457209)));
    let all = plan.operators();
    let (o, l) = (all[3].1, all[4].1);
    assert_eq!((o.rows_read.actual, o.rows.actual), (Some(20_000.0), Some(10_000.0)));
    assert_eq!((l.rows_read.actual, l.rows_read.estimated), (Some(50_000.0), Some(20_000.0)));
    assert_eq!((o.kind, l.kind), (Kind::TableScan, Kind::IndexSeek));
    assert_eq!(l.pages, Some((120_113.0, 0.0)));
    let join = all[2].1;
    assert!(
        (join.elapsed_ms.unwrap() - (1.691903231 + 17.21313941 + 137.9230247 + 62.84510456)).abs()
            < 1e-9
    );
}

#[test]
fn unions_and_results_of_subqueries_are_kept_and_are_no_tables() {
    let text = include_str!("plans/ma-union.json");
    let union = plan(text);
    assert_eq!(
        shape(&union),
        [
            "Union",
            " Query block",
            "  Nested loops",
            "   Table: ALL <subquery2>",
            "    Materialize",
            "     Query block",
            "      Table: range l (PRIMARY)",
            "   Table: eq_ref o (PRIMARY)",
            " Query block",
            "  Table: ALL o",
        ]
    );
    let uses = index_uses(&read(text).unwrap());
    let uses: Vec<_> =
        uses.iter().map(|index_use| (index_use.object.label(), index_use.uses[0].access)).collect();
    assert_eq!(
        uses,
        [
            ("l (PRIMARY)".to_owned(), Access::Seek),
            ("o".to_owned(), Access::Scan),
            ("o (PRIMARY)".to_owned(), Access::Seek)
        ]
    );
    let derived = plan(include_str!("plans/ma-derived.json"));
    assert_eq!(derived.unknown, Vec::<String>::new());
    assert!(shape(&derived).iter().any(|line| line.trim() == "Window"), "{:?}", shape(&derived));
}

#[test]
fn a_change_is_told_from_reading_also_in_vertical_output() {
    let plan = plan(include_str!("plans/ma-update.txt"));
    let root = plan.root.as_ref().unwrap();
    assert_eq!(
        (root.name.as_str(), root.kind, root.access),
        ("Update", Kind::Modify, Some(Access::Change))
    );
    assert_eq!(root.objects[0].label(), "o (PRIMARY)");
    assert_eq!(root.rows.actual, Some(46.0));
}

#[test]
fn what_is_not_known_is_named_and_what_is_in_it_is_read() {
    let text = r#"{"query_block": {"select_id": 1, "quantum_join": {"nested_loop": [{"table":
        {"table_name": "t", "access_type": "ALL", "rows": 7, "filtered": 100}}]}}}"#;
    let plan = plan(text);
    assert_eq!(plan.unknown, ["quantum_join"]);
    assert_eq!(shape(&plan), ["Table: ALL t"]);
}

#[test]
fn mysql_writes_costs_as_texts() {
    // By the example of MySQL's documentation of EXPLAIN's output.
    let text = r#"{"query_block": {"select_id": 1, "cost_info": {"query_cost": "2.40"},
        "ordering_operation":
        {"using_filesort": true, "table": {"table_name": "t1", "access_type": "range", "key": "idx",
        "used_key_parts": ["i1"], "rows_examined_per_scan": 8, "rows_produced_per_join": 4,
        "filtered": "50.00",
        "cost_info": {"read_cost": "1.60", "eval_cost": "0.80", "prefix_cost": "2.40"}}}}}"#;
    let plan = plan(text);
    assert_eq!(plan.cost, Some(2.4));
    let table = plan.operators()[1].1.clone();
    assert!((table.cost.unwrap() - 2.4).abs() < 1e-12);
    assert_eq!((table.rows_read.estimated, table.rows.estimated), (Some(8.0), Some(4.0)));
}

/// The second version of MySQL's format.
#[test]
fn mysqls_tree_has_its_operators_without_constants_in_their_names() {
    let estimated = plan(include_str!("plans/my-join.json"));
    assert_eq!(
        shape(&estimated),
        [
            "Limit",
            " Sort",
            "  Stream results",
            "   Nested loop inner join",
            "    Index lookup customers (city)",
            "    Filter",
            "     Index lookup orders (customer)",
        ]
    );
    assert_eq!(estimated.cost, Some(12.0));
    let all = estimated.operators();
    // The inner input is read for each of the 20 rows of the outer one.
    assert_eq!(
        (all[4].1.rows_read.estimated, all[6].1.rows_read.estimated),
        (Some(20.0), Some(20.0))
    );
    assert_eq!(all[4].1.predicates[0].text, "city = 'c7'");
    let sum: f64 = estimated.net_costs().iter().filter_map(|share| share.cost).sum();
    assert!((sum - 12.0).abs() < 1e-9, "costs of all operators add up: {sum}");

    let text = include_str!("plans/my-analyze.json");
    let run = plan(text);
    let all = run.operators();
    let kinds: Vec<Kind> = all.iter().map(|(_, operator)| operator.kind).collect();
    assert_eq!(
        kinds,
        [
            Kind::TableScan,
            Kind::HashAggregate,
            Kind::NestedLoops,
            Kind::Filter,
            Kind::TableScan,
            Kind::IndexSeek
        ]
    );
    assert_eq!((all[4].1.rows_read.actual, all[3].1.rows.actual), (Some(1000.0), Some(264.0)));
    assert_eq!((all[5].1.executions, all[5].1.rows.actual), (Some(264.0), Some(264.0)));
    assert_eq!(run.elapsed_ms, Some(14.301671));
    // The temporary table of the groups is not an object of the database.
    let uses: Vec<String> =
        index_uses(&read(text).unwrap()).iter().map(|index_use| index_use.object.label()).collect();
    assert_eq!(uses, ["customers (PRIMARY)", "orders"]);
    // A change of one table has no plan in this version.
    let none = r#"{"query_plan": {"operation": "<not executable by iterator executor>"},
        "query_type": "update"}"#;
    let read = read(none).unwrap();
    assert!(read[0].plan.is_none() && read[0].kind == "CHANGE");
}

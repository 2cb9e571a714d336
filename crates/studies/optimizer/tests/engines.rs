//! Trials on real engines: alternatives are used, estimates have the errors that the data dictates,
//! and what is not a template is refused.

use experiment::Value;
use observations::Observations;
use optimizer::OptimizerProbe;
use optimizer::facts::{
    ANALYZED, APPENDED_ESTIMATED, APPENDED_ROWS, BY_FORMULAS, BY_PLANS, CANCELLED, DIAGRAM_COLUMNS,
    DIAGRAM_PLANS, DIAGRAM_ROWS, ESTIMATED, FIRST_PLAN, FORCED, PLAN_CHANGES, Q_ERRORS,
    REDUCED_ROWS, SELECTED, SELECTED_SECOND,
};
use std::collections::BTreeSet;
use testing::trials::{Bench, TestEngine, installed, text};

/// PostgreSQL, where it is installed; the search says so where it is not.
pub fn postgres() -> Option<TestEngine> {
    installed().into_iter().find(|installation| installation.name.starts_with("postgres"))
}

/// A trial with a small table.
fn run(engine: &TestEngine, settings: &[(&'static str, Value)]) -> Observations {
    run_on(&mut engine.bench(), settings)
}

/// A trial with a small table on an engine that may have run others.
pub fn run_on(bench: &mut Bench<'_>, settings: &[(&'static str, Value)]) -> Observations {
    let rows = [("workload.rows", Value::Integer(20_000)), ("workload.runs", Value::Integer(2))];
    let rows: Vec<_> = rows.into_iter().chain(settings.iter().cloned()).collect();
    let mut found = None;
    let name = bench.name().to_owned();
    let removed = bench.measured(&OptimizerProbe, &rows, |_, result| {
        found = Some(result.unwrap_or_else(|error| panic!("{name}: {error}")));
    });
    removed.unwrap();
    found.unwrap()
}

/// Alternatives run by the plan that was asked for, and select the same rows.
#[test]
fn alternatives_are_forced_on_every_engine() {
    for engine in &installed() {
        let Some(rules) = optimizer::for_engine(engine.engine.name) else { continue };
        // A small table has no parallel plan: those have tests of their own.
        let all = rules.alternatives.iter().filter(|alternative| alternative.needed.is_empty());
        for alternative in all {
            // At 1 % a scan is not the choice, and at 60 % an index is not.
            let share = if alternative.is_scan { 0.01 } else { 0.6 };
            let settings = [
                ("workload.alternative", text(alternative.name)),
                ("workload.selectivity", Value::Float(share)),
            ];
            let observations = run(engine, &settings);
            let name = format!("{} {}", engine.name, alternative.name);
            println!("{name}: {}", observations.plans[0].text);
            assert_eq!(
                FORCED.read(&observations),
                Some(1.0),
                "{name}: {:?}",
                observations.warnings
            );
            assert_eq!(SELECTED.read(&observations), Some(20_000.0 * share), "{name}");
            assert_eq!(CANCELLED.read(&observations), Some(0.0), "{name}");
            assert!(observations.response("query_time").unwrap() > 0.0, "{name}");
            assert_eq!(observations.work.amount, 2, "{name}");
        }
    }
}

/// The plan is found on every engine; SQLite without statistics of values keeps to its index.
#[test]
fn changes_of_the_plan_are_found_without_execution() {
    for engine in
        installed().iter().filter(|installation| !installation.name.starts_with("postgres"))
    {
        if optimizer::for_engine(engine.engine.name).is_none() {
            continue;
        }
        let observations = run(engine, &[]);
        let first: Vec<(&str, f64)> = FIRST_PLAN.members(&observations).collect();
        let changes: Vec<(&str, f64)> = PLAN_CHANGES.members(&observations).collect();
        println!("{}: {first:?} {changes:?}", engine.name);
        if engine.name == "sqlite" {
            assert_eq!((first[0].0, changes.len()), ("SEARCH dials (a_dials)", 0));
            continue;
        }
        if engine.name == "duckdb" {
            // An index serves at most 2,048 rows by default.
            let change = ("1: Index Scan dials -> Sequential Scan dials", 2_049.0 / 20_000.0);
            assert_eq!((first[0].0, changes[0]), ("Index Scan dials", change));
            // It answers for all rows from its statistics.
            assert!(changes[1..].iter().all(|(_, share)| share.total_cmp(&1.0).is_eq()));
            let constants = ["index_scan_max_count = 2048", "index_scan_max_count = 8192"];
            for (constant, rows) in constants.into_iter().zip([2_049.0, 8_193.0]) {
                assert_eq!(BY_FORMULAS.read(constant, &observations), Some(rows / 20_000.0));
                assert_eq!(BY_PLANS.read(constant, &observations), Some(rows / 20_000.0));
            }
            continue;
        }
        assert_eq!(first[0].0, "Table: range dials (a_dials)", "{}", engine.name);
        let (change, share) = changes.last().unwrap();
        assert!(change.ends_with("-> Table: ALL dials"), "{changes:?}");
        assert!((0.01..0.9).contains(share), "{changes:?}");
        let estimated = ESTIMATED.read(&observations).unwrap();
        assert!((100.0..400.0).contains(&estimated), "{estimated} of 200 rows");
    }
}

/// The largest q-error of operators that read the table.
fn q_error(observations: &Observations) -> f64 {
    let members =
        Q_ERRORS.members(observations).filter(|(member, _)| member.contains("Scan dials"));
    members.map(|(_, error)| error).fold(0.0, f64::max)
}

/// With d values, a = 7 AND b = 7 where b = a: the planner multiplies 1/d by 1/d. PostgreSQL reads
/// all of so small a table for its statistics, so that nothing else errs.
#[test]
fn a_dependency_has_the_q_error_of_its_values_and_extended_statistics_have_none() {
    let Some(engine) = postgres() else { return };
    let dependent = |extended: &[&str]| {
        let columns = extended.iter().map(|column| text(*column)).collect();
        let query = "SELECT count(*) FROM dials WHERE a = 7 AND b = 7 AND id :varies";
        let settings = [
            ("workload.query", text(query)),
            ("workload.selectivity", Value::Float(1.0)),
            ("workload.distinct", Value::Integer(100)),
            ("workload.correlation", Value::Float(1.0)),
            ("workload.estimates", Value::Bool(true)),
            ("workload.extended_statistics", Value::List(columns)),
        ];
        run(&engine, &settings)
    };
    let plain = q_error(&dependent(&[]));
    assert!((plain - 100.0).abs() < 1.0, "{plain}");
    let extended = q_error(&dependent(&["a", "b"]));
    assert!((extended - 1.0).abs() < 0.01, "{extended}");
}

#[test]
fn independent_uniform_columns_are_estimated_well_and_small_samples_vary() {
    let Some(engine) = postgres() else { return };
    let settings = [
        ("workload.query", text("SELECT count(*) FROM dials WHERE c < 50 AND a :varies")),
        ("workload.selectivity", Value::Float(0.3)),
        ("workload.distinct", Value::Integer(100)),
        ("workload.estimates", Value::Bool(true)),
    ];
    let error = q_error(&run(&engine, &settings));
    // 3,000 rows with a standard deviation of 46.
    assert!((1.0..1.1).contains(&error), "{error}");
    // Without an index the planner knows the largest value from its sample alone.
    let settings = [
        ("workload.query", text("SELECT count(*) FROM dials WHERE c :varies")),
        ("workload.sample", Value::Integer(1)),
        ("workload.analyzes", Value::Integer(8)),
        ("workload.selectivity", Value::Float(0.1)),
    ];
    let observations = run(&engine, &settings);
    let [least, most] = ["min", "max"].map(|member| ANALYZED.read(member, &observations).unwrap());
    println!("estimates of 2,000 rows by samples of 300: {least} to {most}");
    assert!(least < most && most < 20_000.0);
    assert!(observations.response("analyze_time").unwrap() > 0.0);
}

#[test]
fn what_cannot_be_studied_is_refused_before_anything_runs() {
    for engine in installed() {
        let refused = |settings: &[(&'static str, Value)]| {
            engine.objections(&OptimizerProbe, &engine.configuration(settings))
        };
        if optimizer::for_engine(engine.engine.name).is_none() {
            assert_eq!(refused(&[]), ["workload.probe"], "{}", engine.name);
            continue;
        }
        assert_eq!(refused(&[]), [""; 0], "{}", engine.name);
        for query in [
            "SELECT a FROM dials WHERE a < 3",
            "DELETE FROM dials WHERE a :varies",
            "SELECT a FROM dials WHERE a :varies FOR UPDATE",
        ] {
            assert_eq!(refused(&[("workload.query", text(query))]), ["workload.query"]);
        }
        let few = ("workload.distinct", Value::Integer(10));
        let rare = ("workload.selectivity", Value::Float(0.001));
        assert_eq!(refused(&[few, rare]), ["workload.selectivity"]);
        let settings = [
            ("workload.data", text("own")),
            ("workload.query", text("SELECT a FROM t WHERE a :varies")),
            ("workload.selectivity", Value::Float(0.0)),
        ];
        assert_eq!(refused(&settings), ["workload.selectivity"]);
        let unknown = ("workload.alternative", text("hash"));
        assert_eq!(refused(&[unknown]), ["workload.alternative"]);
        if engine.name.starts_with("postgres") {
            let parallel = ("workload.alternative", text("parallel"));
            let degree = ("workload.degree", Value::Integer(1));
            assert_eq!(refused(&[parallel, degree]), ["workload.alternative"]);
        }
        let size = ("workload.parallel_size", Value::Bool(true));
        if engine.name.starts_with("postgres") {
            assert_eq!(refused(std::slice::from_ref(&size)), [""; 0]);
            let degree = ("workload.degree", Value::Integer(2));
            for other in [degree, ("workload.data", text("own"))] {
                assert_eq!(refused(&[size.clone(), other]), ["workload.parallel_size"]);
            }
        } else {
            assert_eq!(refused(&[size]), ["workload.parallel_size"], "{}", engine.name);
            let hints = ("workload.forcing", text("hints"));
            assert_eq!(refused(&[hints]), ["workload.forcing"], "{}", engine.name);
        }
        let partners = ("workload.join_correlation", Value::Float(0.5));
        let many = ("workload.rows", Value::Integer(11_000_000));
        let once = ("workload.distinct", Value::Integer(11_000_000));
        assert_eq!(refused(&[partners.clone(), many, once]), ["workload.join_correlation"]);
        let own_data = ("workload.data", text("own"));
        assert_eq!(refused(&[partners, own_data]), ["workload.join_correlation"]);
        let by_rows = refused(&[("workload.sampling", text("rows"))]);
        let expected: &[&str] =
            if engine.name.starts_with("mariadb") { &[] } else { &["workload.sampling"] };
        assert_eq!(by_rows, expected, "{}", engine.name);
    }
}

/// Statistics that were gathered before do not know appended values; the planner looks for the
/// largest one in an index, and of a column without one it expects nearly none.
#[test]
fn appended_values_are_unknown_to_the_statistics() {
    for engine in installed()
        .iter()
        .filter(|installation| optimizer::for_engine(installation.engine.name).is_some())
    {
        let observations = run(engine, &[("workload.appended", Value::Float(0.1))]);
        assert_eq!(APPENDED_ROWS.read(&observations), Some(2_000.0), "{}", engine.name);
        let estimated: Vec<(&str, f64)> = APPENDED_ESTIMATED.members(&observations).collect();
        println!("{}: {estimated:?} of 2,000 rows", engine.name);
        if engine.name.starts_with("postgres") {
            let [indexed, plain] =
                ["a", "c"].map(|text| APPENDED_ESTIMATED.read(text, &observations).unwrap());
            assert!(plain < 20.0 && indexed > plain, "{estimated:?}");
            assert!(observations.response("appended_q_error").unwrap() > 100.0);
        }
        if engine.name.starts_with("mariadb") {
            // It counts the entries of the index itself.
            let indexed = APPENDED_ESTIMATED.read("a", &observations).unwrap();
            assert!((1_800.0..2_300.0).contains(&indexed), "{estimated:?}");
        }
    }
}

/// Rows from the same page repeat their value where the table is in its order, so that the sample
/// has fewer distinct values and the estimate of one value is larger.
#[test]
fn samples_of_pages_mislead_where_values_lie_together() {
    let Some(engine) = postgres() else { return };
    let median = |clustering: f64| {
        let settings = [
            ("workload.query", text("SELECT count(*) FROM dials WHERE b = 77 AND id :varies")),
            ("workload.selectivity", Value::Float(1.0)),
            ("workload.rows", Value::Integer(60_000)),
            ("workload.distinct", Value::Integer(1_200)),
            ("workload.correlation", Value::Float(1.0)),
            ("workload.clustering", Value::Float(clustering)),
            ("workload.sample", Value::Integer(1)),
            ("workload.analyzes", Value::Integer(9)),
        ];
        let observations = run(&engine, &settings);
        assert_eq!(ANALYZED.read("counted", &observations), Some(50.0));
        let all = ["min", "quarter", "median", "three_quarters", "max"];
        let all = all.map(|member| ANALYZED.read(member, &observations).unwrap());
        assert!(all.is_sorted(), "{all:?}");
        println!("clustering {clustering}: {all:?} of 50 rows");
        all[2]
    };
    let [shuffled, clustered] = [0.0, 1.0].map(median);
    assert!((25.0..100.0).contains(&shuffled), "{shuffled}");
    assert!(clustered > 1.5 * shuffled, "{clustered} {shuffled}");
}

/// A diagram over two predicates has the plan of every point, and its reduction fewer plans.
#[test]
fn a_diagram_has_the_plans_of_both_selectivities() {
    for engine in installed()
        .iter()
        .filter(|installation| optimizer::for_engine(installation.engine.name).is_some())
    {
        let query = "SELECT count(*), max(d.c) FROM dials d JOIN dials e ON e.id = d.b WHERE d.a \
                     :varies AND e.a :varies";
        let settings = [
            ("workload.query", text(query)),
            ("workload.second_selectivity", Value::Float(0.05)),
            ("workload.grid", Value::Integer(6)),
        ];
        let observations = run(engine, &settings);
        let selected = (SELECTED.read(&observations), SELECTED_SECOND.read(&observations));
        assert_eq!(selected, (Some(200.0), Some(1_000.0)), "{}", engine.name);
        let rows: Vec<(&str, f64)> = DIAGRAM_ROWS.members(&observations).collect();
        let plans: Vec<(&str, f64)> = DIAGRAM_PLANS.members(&observations).collect();
        println!("{}: {rows:?} {plans:?}", engine.name);
        assert!(rows.len() == 6 && rows.iter().all(|(row, _)| row.len() == "001: ".len() + 6));
        assert_eq!((rows[0].1, rows[5].1), (1.0 / 20_000.0, 1.0));
        assert_eq!(DIAGRAM_COLUMNS.members(&observations).count(), 6);
        let shares: f64 = plans.iter().map(|(_, share)| share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{plans:?}");
        if engine.name.starts_with("postgres") {
            let kinds = |all: &mut dyn Iterator<Item = (&str, f64)>| {
                let signs: BTreeSet<char> = all.flat_map(|row| row.0[5..].chars()).collect();
                signs.len()
            };
            let reduced = kinds(&mut REDUCED_ROWS.members(&observations));
            assert!(plans.len() >= 3, "{plans:?}");
            assert!((1..plans.len()).contains(&reduced), "{reduced} of {}", plans.len());
        }
    }
}

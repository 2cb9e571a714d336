//! Alternatives of PostgreSQL are forced by hints of `pg_hint_plan` where the server has it, and by
//! settings of the session otherwise; the trial says which.

use crate::engines::{postgres, run_on};
use experiment::Value;
use observations::Observations;
use optimizer::OptimizerProbe;
use optimizer::facts::{FORCED, FORCED_BY};
use testing::trials::{Bench, ask, text};
use work::Statement;

const JOIN: &str = "SELECT count(*), max(d.c) FROM dials AS d JOIN dials e ON e.id = d.b WHERE d.a \
                    :varies AND e.a < 50";

fn settings(forcing: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("workload.query", text(JOIN)),
        ("workload.selectivity", Value::Float(0.01)),
        ("workload.alternative", text("scan")),
        ("workload.forcing", text(forcing)),
    ]
}

fn ways(observations: &Observations) -> Vec<&str> {
    FORCED_BY.members(observations).map(|(way, _)| way).collect()
}

/// Returns whether the server has the extension.
fn has_hints(bench: &mut Bench<'_>) -> bool {
    let mut found = false;
    let removed = bench.measured(&OptimizerProbe, &settings("settings"), |context, result| {
        assert_eq!(ways(&result.unwrap()), ["settings of the session"]);
        let sql = "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_hint_plan'";
        found = ask(context, Statement::Text(sql)).unwrap().last[0].as_deref() == Some("1");
    });
    removed.unwrap();
    found
}

#[test]
fn hints_force_one_table_where_the_server_has_them() {
    let Some(engine) = postgres() else { return };
    let bench = &mut engine.bench();
    let has_hints = has_hints(bench);
    let automatic = run_on(bench, &settings("automatic"));
    println!("{:?}: {}", ways(&automatic), automatic.plans[0].text);
    assert_eq!(FORCED.read(&automatic), Some(1.0));
    if !has_hints {
        assert_eq!(ways(&automatic), ["settings of the session"]);
        // Settings force the scan of every table.
        assert_eq!(automatic.plans[0].text.matches("Seq Scan dials").count(), 2);
        let removed = bench.measured(&OptimizerProbe, &settings("hints"), |_, result| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("the server has no pg_hint_plan"), "{error}");
        });
        removed.unwrap();
        return;
    }
    assert_eq!(ways(&automatic), ["pg_hint_plan"]);
    // The other table keeps the optimizer's choice.
    let plan = &automatic.plans[0].text;
    assert!(plan.contains("Seq Scan dials") && plan.contains("a_dials"), "{plan}");
    for (alternative, operator) in [("index", "Index"), ("bitmap", "Bitmap Heap Scan dials")] {
        let settings = [
            ("workload.query", text("SELECT count(*), max(c) FROM dials WHERE a :varies")),
            ("workload.selectivity", Value::Float(0.6)),
            ("workload.alternative", text(alternative)),
            ("workload.forcing", text("hints")),
        ];
        let observations = run_on(bench, &settings);
        println!("{alternative}: {}", observations.plans[0].text);
        assert_eq!(
            (FORCED.read(&observations), ways(&observations)),
            (Some(1.0), vec!["pg_hint_plan"])
        );
        assert!(observations.plans[0].text.contains(operator), "{}", observations.plans[0].text);
    }
    // A kind of join has no table, and stays a setting.
    let mut joins = settings("automatic");
    joins.retain(|(path, _)| *path != "workload.alternative");
    joins.push(("workload.alternative", text("no-hashjoin")));
    assert_eq!(ways(&run_on(bench, &joins)), ["settings of the session"]);
}

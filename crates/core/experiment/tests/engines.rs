//! Engines and probes as factors: a setting that two of them read in different ways.

use crate::common::{experiment, parse};
use experiment::Value;

/// Two engines and one probe; `file_growth` is a size to one engine and a share to the other.
fn engines(file_growth: &str, order: &str) -> String {
    format!(
        "experiment.name = \"engines\"
target.file_growth = {file_growth}
workload.probe = \"insert\"
factors.target.engine = {order}
"
    )
}

/// A value that only one engine accepts is an error of that engine, not of its kind.
#[test]
fn every_engine_must_take_the_value() {
    for order in ["[\"sqlite\", \"server\"]", "[\"server\", \"sqlite\"]"] {
        for (value, message) in [
            (
                "\"4 MiB\"",
                "in configuration engine=server: `4194304` is not allowed; expected a share such \
                 as \"2%\", or a number from 0 to 1",
            ),
            ("\"10%\"", "in configuration engine=sqlite: `0.1` is not allowed; expected a size"),
        ] {
            let source = engines(value, order);
            let found = parse(&source).expect_err("one engine does not accept it").errors;
            assert_eq!(found.len(), 1, "{found:?}");
            let error = &found[0];
            assert_eq!((error.line, error.column, error.length), (2, 22, value.len()));
            assert_eq!(error.path, "target.file_growth");
            assert!(error.message.starts_with(message), "{}", error.message);
        }
    }
}

/// A value that both accept is read in each engine's own way, in either order.
#[test]
fn each_engine_reads_the_value_in_its_way() {
    for order in ["[\"sqlite\", \"server\"]", "[\"server\", \"sqlite\"]"] {
        let experiment = experiment(&engines("1", order));
        let value_of = |engine: &str| {
            let mut all = experiment.configurations.iter();
            all.find(|configuration| configuration.get(experiment::common::ENGINE) == engine)
                .unwrap()
                .value("target.file_growth")
                .cloned()
        };
        assert_eq!(value_of("sqlite"), Some(Value::Integer(1)));
        assert_eq!(value_of("server"), Some(Value::Float(1.0)));
    }
}

/// Linked levels give each engine its own.
#[test]
fn linked_levels_give_each_engine_its_own() {
    let source = "
        experiment.name = \"engines\"
        workload.probe = \"insert\"
        [[level]]
        factor = \"system\"
        name = \"ours\"
        set = { \"target.engine\" = \"sqlite\", \"target.file_growth\" = \"4 MiB\" }
        [[level]]
        factor = \"system\"
        name = \"theirs\"
        set = { \"target.engine\" = \"server\", \"target.file_growth\" = \"10%\" }
    ";
    let experiment = experiment(source);
    let [ours, theirs] = &experiment.configurations[..] else { panic!("two configurations") };
    assert_eq!(ours.value("target.file_growth"), Some(&Value::Integer(4 << 20)));
    assert_eq!(theirs.value("target.file_growth"), Some(&Value::Float(0.1)));
}

/// The bounds of a setting are those of its own probe: one of these takes a duration of 0.
#[test]
fn each_probe_has_its_own_bounds() {
    let source = "experiment.name = \"probes\"
target.engine = \"sqlite\"
workload.duration = 0
factors.workload.probe = [\"insert\", \"scan\"]
";
    let found = parse(source).expect_err("a scan takes time").errors;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].line, found[0].column), (3, 21));
    assert!(
        found[0].message.starts_with("in configuration probe=scan: `0` is not allowed"),
        "{}",
        found[0].message
    );
    assert!(parse(&source.replace("= 0\n", "= \"1 s\"\n")).is_ok());
}

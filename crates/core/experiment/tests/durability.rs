//! A durability for engines that spell it differently.

use crate::common::catalog;
use experiment::durability::DURABILITY;
use experiment::{
    Catalog, Declaration, DurabilityRule, Experiment, FileErrors, Risk, Value, parse,
};

const SQLITE: &[Declaration] = &[
    DURABILITY.declaration,
    experiment::Setting::<Option<Value>>::new(
        "target.settings.*",
        experiment::Kind::Scalar,
        None,
        "Settings.",
    )
    .declaration,
];
const RULES: [&[DurabilityRule]; 2] = [
    &[DurabilityRule {
        path: "target.settings.synchronous",
        risk: Risk::Commits,
        keeps: &["full"],
        applied: [Some("full"), Some("normal")],
    }],
    &[DurabilityRule {
        path: "target.settings.flush_log",
        risk: Risk::Commits,
        keeps: &["1"],
        applied: [Some("1"), Some("2")],
    }],
];

fn read(target: &str) -> Result<Experiment, FileErrors> {
    let source = format!(
        "[experiment]\nname = \"engines\"\n[target]\n{target}\n[workload]\nprobe = \"insert\"\n\
         rows = 1000\n[factors]\n\"target.engine\" = [\"sqlite\", \"server\"]\n"
    );
    let catalog = Catalog {
        engines: vec![("sqlite", SQLITE), ("server", SQLITE)],
        durability: vec![("sqlite", RULES[0]), ("server", RULES[1])],
        ..catalog()
    };
    parse(&source, &catalog)
}

#[test]
fn each_engine_gets_its_own_setting() {
    for (text, values) in [
        ("full", [Value::Text("full".into()), Value::Integer(1)]),
        ("relaxed", [Value::Text("normal".into()), Value::Integer(2)]),
    ] {
        let experiment = read(&format!("durability = \"{text}\"")).unwrap();
        for ((configuration, rules), value) in
            experiment.configurations.iter().zip(RULES).zip(values)
        {
            assert_eq!(configuration.value(rules[0].path), Some(&value));
            assert_eq!(rules[0].weakened(&configuration.settings).is_some(), text == "relaxed");
        }
    }
    let unasked = read("").unwrap();
    assert!(
        unasked
            .configurations
            .iter()
            .all(|configuration| configuration.value(RULES[0][0].path).is_none())
    );
}

#[test]
fn a_setting_that_contradicts_it_is_an_error() {
    let error = read("durability = \"full\"\nsettings = { synchronous = \"off\" }").unwrap_err();
    let text = error.render("test.toml", "");
    assert!(text.contains("synchronous = off contradicts durability = \"full\""), "{text}");
    assert!(read("durability = \"full\"\nsettings = { synchronous = \"full\" }").is_ok());
}

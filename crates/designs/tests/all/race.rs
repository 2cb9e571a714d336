//! Races in the file.

use crate::files::{experiment, parse};
use designs::race::settings::RACE_FIRST;
use experiment::{design_kind, value_in_source};

const RACE: &str = r#"
[experiment]
name = "race"
[target]
engine = "sqlite"
[workload]
probe = "insert"
rows = 1000
[design]
kind = "race"
[factors]
"target.data_files" = [1, 4, 16]
"workload.key" = ["random", "sequential"]
[repeats]
blocks = 20
"#;

#[test]
fn candidates_are_a_grid_or_a_list() {
    let race = experiment(RACE);
    assert_eq!((race.design.as_ref().unwrap().kind, race.get(RACE_FIRST)), ("race", 5));
    assert_eq!((race.configurations.len(), value_in_source(RACE, RACE_FIRST)), (6, 5));
    let three = RACE.replace("\"race\"\n[factors]", "\"race\"\nfirst = 3\n[factors]");
    assert_eq!(experiment(&three).get(RACE_FIRST), 3);
    assert_eq!(value_in_source(&three, RACE_FIRST), 3);
    assert_eq!(design_kind(&three), "race");
    let without = "[[exclude]]\n\"target.data_files\" = 16\n[repeats]";
    assert_eq!(experiment(&RACE.replace("[repeats]", without)).configurations.len(), 4);
}

#[track_caller]
fn wrong(old: &str, new: &str, line: &str, part: &str) {
    assert!(RACE.contains(old));
    let source = RACE.replacen(old, new, 1);
    let errors = parse(&source).expect_err("the file is wrong");
    let rendered = errors.render("test.toml", &source);
    assert_eq!(errors.errors.len(), 1, "{rendered}");
    let at = source.lines().nth(errors.errors[0].line - 1).unwrap_or_default();
    assert_eq!(at, line, "{rendered}");
    assert!(rendered.contains(part), "{part} is missing in\n{rendered}");
}

#[test]
fn contradictions_are_errors() {
    wrong("blocks = 20", "blocks = 4", "blocks = 4", "fewer than the first 5 of the race");
    wrong(
        "blocks = 20",
        "blocks = { min = 5, max = 20, until = \"2%\" }",
        "blocks = { min = 5, max = 20, until = \"2%\" }",
        "give repeats.blocks as a number",
    );
    wrong(
        "[repeats]",
        "[order]\nhard_to_change = [\"workload.key\"]\n[repeats]",
        "\"workload.key\" = [\"random\", \"sequential\"]",
        "remove it from order.hard_to_change",
    );
    wrong(
        "\"race\"\n[factors]\n\"target.data_files\" = [1, 4, 16]\n\"workload.key\" = \
         [\"random\", \"sequential\"]",
        "\"race\"\n[factors]\n\"target.data_files\" = [1]",
        "[design]",
        "a race needs two candidates or more",
    );
    wrong(
        "kind = \"race\"",
        "kind = \"race\"\nruns = 8",
        "[design]",
        "a race design has no runs; remove it, or add kind = \"screening\"",
    );
    wrong(
        "kind = \"race\"",
        "first = 5",
        "[design]",
        "a grid design has no first; remove it, or add kind = \"race\"",
    );
    wrong("kind = \"race\"", "kind = \"race\"\nfirst = 1", "first = 1", "2");
}

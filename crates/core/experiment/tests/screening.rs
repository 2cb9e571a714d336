//! Screening designs in the file.

use crate::common::{experiment, parse};
use experiment::{Design, DesignKind, Plan};

const SCREENING: &str = r#"
[experiment]
name = "screening"
[target]
engine = "sqlite"
[workload]
probe = "insert"
rows = 1000
[design]
kind = "screening"
resolution = "IV"
[factors]
"target.data_files" = [1, 4]
"target.open" = ["separate", "attached"]
"target.final_checkpoint" = [true, false]
"target.settings.synchronous" = ["normal", "full"]
"target.settings.journal_mode" = ["wal", "delete"]
"workload.key" = ["random", "sequential"]
"workload.connections" = [1, 16]
[repeats]
blocks = 2
"#;

#[test]
fn runs_a_fraction_of_the_combinations_in_blocks() {
    let own = experiment(SCREENING);
    let Design::Screening(design) = &own.design else { panic!("{:?}", own.design) };
    assert_eq!((design.runs(), design.resolution()), (16, Some(4)));
    assert_eq!(own.configurations.len(), 16);
    assert_eq!(Plan::new(&own).len(), 32);
    for (position, factor) in own.factors.iter().enumerate() {
        let first = own
            .configurations
            .iter()
            .filter(|configuration| configuration.levels[position].label == factor.levels[0].label);
        assert_eq!(first.count(), 8, "{}", factor.name);
    }
    assert_eq!(DesignKind::from_source(SCREENING), DesignKind::Screening);
    let pb = experiment(&SCREENING.replace("resolution = \"IV\"", "runs = 12"));
    assert_eq!(pb.configurations.len(), 12);
    let grid = SCREENING.replace("kind = \"screening\"\nresolution = \"IV\"", "kind = \"grid\"");
    assert_eq!(experiment(&grid).configurations.len(), 128);
    assert_eq!(DesignKind::from_source(&grid), DesignKind::Grid);
}

/// More combinations than a grid may have.
#[test]
fn factors_may_be_many() {
    let many: Vec<String> =
        (0..20).map(|i| format!("\"target.settings.p{i}\" = [1, 2]\n")).collect();
    let many = many.concat();
    let many = SCREENING.replace("[factors]\n", &format!("[factors]\n{many}"));
    let own = experiment(&many.replace("\"IV\"", "\"III\""));
    assert_eq!((own.factors.len(), own.configurations.len()), (27, 32));
}

#[test]
fn hard_to_change_factors_form_whole_plots() {
    let own = experiment(&SCREENING.replace(
        "[repeats]",
        "[order]\nhard_to_change = [\"workload.key\", \"workload.connections\"]\n[repeats]",
    ));
    let plan = Plan::new(&own);
    assert_eq!(plan.groups(), 4);
    assert!((0..4).all(|group| plan.group(group).len() == 4));
}

#[track_caller]
fn wrong(old: &str, new: &str, line: &str, parts: &[&str]) {
    assert!(SCREENING.contains(old));
    let source = SCREENING.replacen(old, new, 1);
    let errors = parse(&source).expect_err("the file is wrong");
    let rendered = errors.render("test.toml", &source);
    assert_eq!(errors.errors.len(), 1, "{rendered}");
    let at = source.lines().nth(errors.errors[0].line - 1).unwrap_or_default();
    assert_eq!(at, line, "{rendered}");
    for part in parts {
        assert!(rendered.contains(part), "{part} is missing in\n{rendered}");
    }
}

#[test]
fn impossible_designs_name_place_cause_and_remedy() {
    wrong(
        "[1, 4]",
        "[1, 4, 8]",
        "\"target.data_files\" = [1, 4, 8]",
        &["3 levels in a screening design", "give a low and a high level"],
    );
    wrong("[1, 4]", "[1]", "\"target.data_files\" = [1]", &["1 level in a screening design"]);
    wrong("\"IV\"", "\"VI\"", "resolution = \"VI\"", &["III, IV, V"]);
    wrong(
        "resolution = \"IV\"",
        "runs = 14",
        "runs = 14",
        &["no screening design has 14 runs", "12, 20 or 24"],
    );
    wrong("resolution = \"IV\"", "runs = 4", "runs = 4", &["4 runs have room for 3 factors"]);
    wrong("resolution = \"IV\"", "", "[design]", &["needs a resolution or a number of runs"]);
    wrong(
        "resolution = \"IV\"",
        "resolution = \"IV\"\nruns = 16",
        "[design]",
        &["give either resolution or runs"],
    );
    wrong("kind = \"screening\"", "", "[design]", &["add kind = \"screening\""]);
    wrong(
        "[repeats]",
        "[[exclude]]\n\"target.data_files\" = 4\n[repeats]",
        "[[exclude]]",
        &["remove [[exclude]]"],
    );
    wrong(
        "[repeats]",
        "[report]\nbaseline = { \"target.data_files\" = 4 }\n[repeats]",
        "baseline = { \"target.data_files\" = 4 }",
        &["not a run of the design"],
    );
    let nine = "\"target.settings.a\" = [1, 2]\n\"target.settings.b\" = [1, 2]\n[repeats]";
    let source = SCREENING.replace("[repeats]", nine).replace("\"IV\"", "\"V\"");
    let rendered = parse(&source).expect_err("wrong").render("test.toml", &source);
    assert!(rendered.contains("no fraction of 9 factors in up to 64 runs has resolution V"));
    assert!(rendered.contains("resolution IV takes 32 runs"), "{rendered}");
}

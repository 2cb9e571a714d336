//! Screening designs in the file.

use crate::files::{changes, experiment, parse};
use designs::extension::{Extension, Step};
use designs::screening::file::ScreeningRuns;
use experiment::{Plan, design_kind};

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
    let screening = experiment(SCREENING);
    let design = ScreeningRuns::for_experiment(&screening).unwrap();
    assert_eq!((design.design.runs(), design.design.resolution), (16, Some(4)));
    assert_eq!(screening.configurations.len(), 16);
    assert_eq!(Plan::new(&screening).len(), 32);
    for (position, factor) in screening.factors.iter().enumerate() {
        let first = screening
            .configurations
            .iter()
            .filter(|configuration| configuration.levels[position].label == factor.levels[0].label);
        assert_eq!(first.count(), 8, "{}", factor.name);
    }
    assert_eq!(design_kind(SCREENING), "screening");
    let pb = experiment(&SCREENING.replace("resolution = \"IV\"", "runs = 12"));
    assert_eq!(pb.configurations.len(), 12);
    let grid = SCREENING.replace("kind = \"screening\"\nresolution = \"IV\"", "kind = \"grid\"");
    assert_eq!(experiment(&grid).configurations.len(), 128);
    assert_eq!(design_kind(&grid), "grid");
}

/// More combinations than a grid may have.
#[test]
fn factors_may_be_many() {
    let factors: Vec<String> =
        (0..20).map(|i| format!("\"target.settings.p{i}\" = [1, 2]\n")).collect();
    let many = SCREENING.replace("[factors]\n", &format!("[factors]\n{}", factors.concat()));
    let experiment = experiment(&many.replace("\"IV\"", "\"III\""));
    assert_eq!((experiment.factors.len(), experiment.configurations.len()), (27, 32));
}

#[test]
fn hard_to_change_factors_form_whole_plots() {
    let experiment = experiment(&SCREENING.replace(
        "[repeats]",
        "[order]\nhard_to_change = [\"workload.key\", \"workload.connections\"]\n[repeats]",
    ));
    let plan = Plan::new(&experiment);
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

/// Seven numeric factors, of which five are enough for a fold-over to matter.
const NUMERIC: &str = r#"
[experiment]
name = "numeric"
[target]
engine = "sqlite"
[workload]
probe = "insert"
rows = 1000
[design]
kind = "screening"
resolution = "III"
[factors]
"target.data_files" = [1, 5]
"workload.connections" = [1, 16]
"workload.rows_per_transaction" = [10, 1000]
"target.settings.a" = [1, 3]
"target.settings.b" = [0.5, 1.5]
[repeats]
blocks = 2
"#;

fn extended(source: &str, step: Step, blocks: u32) -> String {
    Extension { step, blocks: Some(blocks) }.append_to(source)
}

#[test]
fn centre_points_follow_the_runs() {
    let source = NUMERIC.replace(
        "resolution = \"III\"",
        "resolution = \"III\"\ncentre_points = 3\nlog_scale = [\"workload.connections\"]",
    );
    let experiment = experiment(&source);
    assert_eq!(experiment.configurations.len(), 8 + 3);
    assert_eq!(
        experiment.configurations[8].label(),
        "data_files=3 connections=4 rows_per_transaction=505 a=2 b=1"
    );
    assert!(experiment.configurations[10].label().ends_with(" run=3"));
    assert_eq!(experiment.factors[1].levels[2].label, "4");
    for (old, new, part) in [
        ("[1, 5]", "[1, 2]", "two levels of the design are rounded to 2"),
        ("[1, 5]", "[5, 1]", "give the low level first"),
        (
            "\"target.settings.a\" = [1, 3]",
            "\"workload.key\" = [\"random\", \"sequential\"]",
            "is not a number",
        ),
        (
            "[repeats]",
            "[order]\nhard_to_change = [\"target.data_files\"]\n[repeats]",
            "centre points set this factor to a third level",
        ),
    ] {
        let wrong = source.replacen(old, new, 1);
        let errors = parse(&wrong).expect_err(part).render("test.toml", &wrong);
        assert!(errors.contains(part), "{part} is missing in\n{errors}");
    }
}

/// Planned runs stay in their place; each extension has blocks of its own after it.
#[test]
fn extensions_follow_the_plan() {
    let base = experiment(NUMERIC);
    let folded = extended(NUMERIC, Step::Fold(None), 2);
    let runs = vec![vec![1, 1, 1, 1, 1], vec![-1, -1, -1, -1, -1]];
    let confirm = Step::Confirm { runs, effects: vec!["A".into()] };
    let source = extended(&folded, confirm, 5);
    let source = extended(&source, Step::Surface { centre: vec![0, 0, -1, 1, -1] }, 2);
    let screening = experiment(&source);
    assert_eq!(screening.configurations.len(), 8 + 8 + 2 + 4 + 3);
    let blocks: Vec<_> = screening.stages.iter().map(|stage| stage.blocks.clone()).collect();
    assert_eq!(blocks, [3..=4, 5..=9, 10..=11]);
    let before: Vec<_> = Plan::new(&base).trials().collect();
    let after: Vec<_> = Plan::new(&screening).trials().collect();
    assert_eq!(after[..16], before);
    assert_eq!(after.len(), 16 + 16 + 10 + 14);
    let sequence: Vec<u32> = after.iter().map(|trial| trial.sequence).collect();
    assert_eq!(sequence, (1..=56).collect::<Vec<u32>>());
    for stage in &screening.stages {
        for block in stage.blocks.clone() {
            let mut runs: Vec<usize> = after
                .iter()
                .filter(|trial| trial.block == block)
                .map(|trial| trial.configuration)
                .collect();
            runs.sort_unstable();
            assert_eq!(runs, stage.configurations.clone().collect::<Vec<_>>());
        }
    }
    // The reverse of the first run.
    let level =
        |run: usize, factor: usize| screening.configurations[run].levels[factor].label.as_str();
    assert!((0..5).all(|factor| level(0, factor) != level(8, factor)));
    assert!(screening.configurations[8].label().ends_with(" stage=fold"));
    assert!(screening.configurations[22].label().ends_with(" stage=surface"));
    assert!(screening.configurations[23].label().ends_with(" stage=surface run=2"));
    assert_eq!((level(18, 0), level(19, 0), level(20, 0), level(18, 2)), ("1", "5", "3", "10"));

    // A run can continue with more extensions, not with fewer or others.
    assert!(changes(&base, &screening).resumable());
    assert!(changes(&experiment(&folded), &screening).resumable());
    let shorter = changes(&screening, &experiment(&folded));
    assert_eq!(
        shorter.incompatible,
        ["extensions: fold, confirm, surface after 2 blocks -> fold after 2 blocks"]
    );
    let more = experiment(&folded.replace("[repeats]\nblocks = 2", "[repeats]\nblocks = 3"));
    assert!(!changes(&experiment(&folded), &more).resumable());
    // Other differences prevent it as before.
    let other = experiment(&source.replace("rows = 1000", "rows = 2000"));
    assert!(!changes(&base, &other).resumable());
}

#[test]
fn set_ups_continue_in_extensions() {
    let hard = NUMERIC.replace(
        "[repeats]\nblocks = 2",
        "[order]\nhard_to_change = [\"target.data_files\"]\n[repeats]\nblocks = 4\nsetups = 2",
    );
    let source = extended(&hard, Step::Fold(None), 4);
    let runs = vec![vec![1, 1, 1, 1, 1], vec![-1, -1, -1, -1, -1]];
    let confirm = Step::Confirm { runs, effects: vec!["A".into()] };
    let experiment = experiment(&extended(&source, confirm, 3));
    let mut setups: Vec<u32> = Plan::new(&experiment).trials().map(|trial| trial.setup).collect();
    setups.dedup();
    // Each level of the factor once in each set-up; a block of the confirmation is one.
    assert_eq!(setups, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn impossible_extensions_name_cause_and_remedy() {
    let wrong = |source: &str, step: Step, parts: &[&str]| {
        let source = extended(source, step, 2);
        let rendered = parse(&source).expect_err("wrong").render("test.toml", &source);
        for part in parts {
            assert!(rendered.contains(part), "{part} is missing in\n{rendered}");
        }
    };
    let fold = |name: &str| Step::Fold(Some(name.to_owned()));
    let full = NUMERIC.replace("resolution = \"III\"", "runs = 32");
    wrong(&full, Step::Fold(None), &["all combinations", "no effects are aliased"]);
    let four = NUMERIC.replace("resolution = \"III\"", "runs = 16");
    // Of resolution V: ABCDE.
    assert!(parse(&extended(&four, Step::Fold(None), 2)).is_ok());
    let even = SCREENING;
    wrong(even, Step::Fold(None), &["repeats the same runs", "fold on one factor: "]);
    wrong(NUMERIC, fold("target.data_file"), &["unknown factor", "target.data_files"]);
    let grid = NUMERIC.replace("kind = \"screening\"\nresolution = \"III\"", "kind = \"grid\"");
    wrong(&grid, Step::Fold(None), &["only a screening design has extensions"]);
    let adaptive = NUMERIC.replace("blocks = 2", "blocks = { min = 2, max = 9, until = \"1%\" }");
    wrong(&adaptive, Step::Fold(None), &["give repeats.blocks as the number that was run"]);
    wrong(&extended(NUMERIC, Step::Fold(None), 2), fold("target.settings.a"), &["second one"]);
    wrong(NUMERIC, Step::Surface { centre: vec![0, -1, -1, -1, -1] }, &["two or more are 0"]);
    // Five factors in eight runs: BC = DE. With axial points A and BD differ.
    wrong(
        NUMERIC,
        Step::Surface { centre: vec![0; 5] },
        &["do not determine a surface", "fold the screening first"],
    );
    let word = extended(NUMERIC, Step::Fold(None), 2).replace("\"fold\"", "\"mirror\"");
    let rendered = parse(&word).expect_err("wrong").render("test.toml", &word);
    assert!(rendered.contains("fold, confirm, surface"), "{rendered}");
    let none = Step::Confirm { runs: vec![vec![1; 4]], effects: vec!["A".into()] };
    wrong(NUMERIC, none, &["a run has 4 levels, but the file has 5 factors"]);
}

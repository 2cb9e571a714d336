//! Response surfaces in the file.

use crate::files::{experiment, parse};
use designs::surface::runs::SurfaceRuns;
use experiment::{Plan, design_kind};

const SURFACE: &str = r#"
[experiment]
name = "surface"
[target]
engine = "sqlite"
[workload]
probe = "insert"
rows = 1000
[design]
kind = "response-surface"
[factors]
"target.data_files" = [4, 12]
"workload.rows_per_transaction" = [10, 1000]
[repeats]
blocks = 2
"#;

fn levels(source: &str, factor: usize) -> Vec<String> {
    experiment(source).factors[factor].levels.iter().map(|level| level.label.clone()).collect()
}

#[test]
fn levels_lie_between_and_beyond_those_of_the_file() {
    let surface = experiment(SURFACE);
    let runs = SurfaceRuns::for_experiment(&surface).unwrap();
    assert_eq!(design_kind(SURFACE), "response-surface");
    // Four corners, four points on axes, three times the centre.
    assert_eq!((surface.configurations.len(), Plan::new(&surface).len()), (11, 22));
    assert_eq!(levels(SURFACE, 0), ["4", "8", "12"]);
    assert_eq!(levels(SURFACE, 1), ["10", "505", "1000"]);
    assert_eq!(surface.configurations[9].label(), "data_files=8 rows_per_transaction=10");
    let centres = surface
        .configurations
        .iter()
        .filter(|configuration| configuration.label().contains("run="))
        .count();
    assert_eq!(centres, 2);
    let kind = "kind = \"response-surface\"";
    let rotatable = SURFACE.replace(kind, &format!("{kind}\naxial = \"rotatable\""));
    let rotatable = rotatable.replace("[10, 1000]", "[1000, 3000]");
    // 8 - 4 sqrt(2) is 2.34: rounded before it is coded.
    assert_eq!(levels(&rotatable, 0), ["2", "4", "8", "12", "14"]);
    let rotatable = experiment(&rotatable);
    let runs_beyond = SurfaceRuns::for_experiment(&rotatable).unwrap();
    let coded = runs_beyond.coded(&rotatable.factors);
    let lowest = coded.iter().map(|run| run[0]).fold(f64::INFINITY, f64::min);
    assert!((lowest - -1.5).abs() < 1e-12, "{lowest}");
    let log =
        SURFACE.replace(kind, &format!("{kind}\nlog_scale = [\"workload.rows_per_transaction\"]"));
    assert_eq!(levels(&log, 1), ["10", "100", "1000"]);
    assert_eq!(runs.coded(&surface.factors).len(), 11);
}

#[test]
fn orthogonal_blocks_alternate() {
    let kind = "kind = \"response-surface\"";
    let surface = SURFACE.replace(kind, &format!("{kind}\naxial = \"orthogonal-blocks\""));
    let experiment = experiment(&surface.replace("[10, 1000]", "[1000, 3000]"));
    let plan = Plan::new(&experiment);
    // Four corners or four axial points, each with three centre points, in each of two repeats.
    assert_eq!((experiment.configurations.len(), plan.len()), (14, 28));
    let of_block = |block: u32| {
        let mut runs: Vec<usize> = plan
            .trials()
            .filter(|trial| trial.block == block)
            .map(|trial| trial.configuration)
            .collect();
        runs.sort_unstable();
        runs
    };
    assert_eq!(of_block(1), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(of_block(2), [7, 8, 9, 10, 11, 12, 13]);
    assert_eq!((of_block(3), of_block(4)), (of_block(1), of_block(2)));
    let sequence: Vec<u32> = plan.trials().map(|trial| trial.sequence).collect();
    assert_eq!(sequence, (1..=28).collect::<Vec<u32>>());
}

#[test]
fn box_behnken_has_no_corners() {
    let kind = "kind = \"response-surface\"";
    let surface = SURFACE
        .replace(kind, &format!("{kind}\nsurface = \"box-behnken\""))
        .replace("[repeats]", "\"workload.connections\" = [1, 9]\n[repeats]");
    let experiment = experiment(&surface);
    assert_eq!(experiment.configurations.len(), 12 + 3);
    let runs = SurfaceRuns::for_experiment(&experiment).unwrap();
    for run in runs.coded(&experiment.factors) {
        assert!(run.contains(&0.0), "{run:?}");
    }
}

#[track_caller]
fn wrong(old: &str, new: &str, line: &str, part: &str) {
    assert!(SURFACE.contains(old));
    let source = SURFACE.replacen(old, new, 1);
    let errors = parse(&source).expect_err("the file is wrong");
    let rendered = errors.render("test.toml", &source);
    assert_eq!(errors.errors.len(), 1, "{rendered}");
    let at = source.lines().nth(errors.errors[0].line - 1).unwrap_or_default();
    assert_eq!(at, line, "{rendered}");
    assert!(rendered.contains(part), "{part} is missing in\n{rendered}");
}

#[test]
fn contradictions_are_errors() {
    let files = "\"target.data_files\" = [4, 12]";
    wrong(
        files,
        "\"target.data_files\" = [4, 8, 12]",
        "\"target.data_files\" = [4, 8, 12]",
        "3 levels in a response surface, which takes a low and a high one",
    );
    wrong(
        files,
        "\"workload.key\" = [\"random\", \"sequential\"]",
        "\"workload.key\" = [\"random\", \"sequential\"]",
        "`random` is not a number",
    );
    wrong(
        files,
        "\"target.data_files\" = [12, 4]",
        "\"target.data_files\" = [12, 4]",
        "low level first",
    );
    wrong(files, "\"target.data_files\" = [1, 2]", "\"target.data_files\" = [1, 2]", "too close");
    wrong(files, "", "[design]", "2 to 8 factors, not 1");
    let kind = "kind = \"response-surface\"";
    wrong(
        kind,
        "kind = \"response-surface\"\nsurface = \"box-behnken\"",
        "surface = \"box-behnken\"",
        "takes 3 to 7 factors, not 2",
    );
    wrong(
        kind,
        "kind = \"response-surface\"\nlog_scale = [\"target.data_file\"]",
        "log_scale = [\"target.data_file\"]",
        "did you mean",
    );
    // Beyond the cube: -485 rows.
    wrong(
        kind,
        "kind = \"response-surface\"\naxial = \"rotatable\"",
        "\"workload.rows_per_transaction\" = [10, 1000]",
        "the design needs the level -195",
    );
    wrong(
        "[repeats]",
        "[order]\nhard_to_change = [\"target.data_files\"]\n[repeats]",
        files,
        "changes each factor from run to run",
    );
    wrong(
        "[repeats]",
        "[[exclude]]\n\"target.data_files\" = 4\n[repeats]",
        "[[exclude]]",
        "remove [[exclude]]",
    );
    wrong(
        kind,
        "kind = \"response-surface\"\nresolution = \"IV\"",
        "[design]",
        "has no resolution",
    );
    wrong(kind, "axial = \"faced\"", "[design]", "add kind = \"response-surface\"");
}

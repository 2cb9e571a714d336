//! The contents of scripts and hook programs are part of an experiment.

use crate::common::{Exit, Lab};

const SCRIPT: &str = "\\set n random(1, 10)\nSELECT :n;\n";

/// Transactions of `r.sql` on SQLite, and sections more.
fn file(blocks: u32, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n\n[target]\nengine = \"sqlite\"\n\n[workload]\nprobe = \
         \"script\"\nscript = \"r.sql\"\nconnections = 1\ntransactions = 20\n\n[repeats]\nblocks \
         = {blocks}\n\n{more}"
    )
}

fn lab(blocks: u32, more: &str) -> Lab {
    let lab = Lab::with(&file(blocks, more));
    lab.write("r.sql", SCRIPT);
    lab
}

#[test]
fn every_trial_of_a_session_runs_what_a_script_held_at_its_beginning() {
    let lab = lab(2, "[hooks]\nbefore_trial = \"echo 'SELECT broken FROM nowhere;' > r.sql\"\n");
    lab.run(0).says(
        "workload.script: r.sql has changed; all trials of this session used its initial \
               content",
    );
    assert_eq!(lab.rows("t", "SELECT status, transactions FROM trials"), ["done|20", "done|20"]);
    assert_eq!(
        lab.rows("t", "SELECT named_by, path, content FROM files"),
        [format!("workload.script|r.sql|{SCRIPT}")]
    );
}

#[test]
fn a_run_goes_on_with_the_script_that_it_was_begun_with_and_no_other() {
    let lab = lab(1, "");
    lab.run(0);
    lab.write("r.sql", &SCRIPT.replace(":n;", ":n + 1;"));
    // The file is the same, and another version of it that is harmless by itself changes nothing.
    for blocks in [1, 2] {
        lab.write("e.toml", &file(blocks, ""));
        lab.run(2).says("workload.script: r.sql differs from line 2 on").says("--fresh");
    }
    assert_eq!(lab.trials("t"), 1);
    lab.write("r.sql", SCRIPT);
    lab.run(0).says("2 trials, 1 already recorded");
}

#[test]
fn runs_with_other_scripts_are_told_apart() {
    let lab = lab(2, "");
    lab.run(0);
    lab.write("r.sql", &SCRIPT.replace("10", "1000"));
    lab.run_with(&["--fresh"], 0);
    let sums = String::from_utf8(
        std::process::Command::new("sha256sum").arg(lab.path("r.sql")).output().unwrap().stdout,
    )
    .unwrap();
    let sum = sums.split_whitespace().next().unwrap();
    assert_eq!(lab.rows("t", "SELECT sha256 FROM files WHERE run = 2"), [sum]);
    assert_eq!(lab.rows("t", "SELECT count(DISTINCT key) FROM configurations"), ["2"]);
    let compared = lab.steelbench(&["compare", "@1", "@2", "--in", "t"]).expect(0);
    let compared = compared.shows("workload.script.r.sql").shows(&sum[..16]);
    assert!(!compared.stdout.contains("the same."), "{}", compared.stdout);
    let history = lab.steelbench(&["history", "t"]).expect(0);
    history.shows("workload.script.r.sql");
    let shown = lab.steelbench(&["show", "t", "--run", "1", "--source"]).expect(0);
    shown
        .shows("script = \"r.sql\"")
        .shows("# workload.script: r.sql (SHA-256 ")
        .shows("random(1, 10)");
    let json = lab.json(&["show", "t", "--source"]);
    assert_eq!(json[0]["files"][0]["sha256"], sum);
    let exported = lab.steelbench(&["export", "t", "--format", "json"]).expect(0);
    let exported: serde_json::Value = serde_json::from_str(&exported.stdout).unwrap();
    assert!(exported["files"][0]["content"].as_str().unwrap().contains("random(1, 1000)"));
    assert!(lab.read("results/t.html").contains("random(1, 1000)"));
}

#[test]
fn programs_that_hooks_run_do_not_change_under_a_run() {
    let hooks = "[hooks]\nbefore_trial = \"sh prepare.sh > log\"\n";
    let lab = lab(2, hooks);
    lab.write("prepare.sh", "echo 'echo other' >> prepare.sh\n");
    lab.run(1).says(
        "hooks.before_trial: prepare.sh has changed since the run started; restore the \
               original file",
    );
    assert_eq!(lab.trials("t"), 1);
    lab.run(2).says("hooks.before_trial: prepare.sh differs from line 2 on");
    lab.write("prepare.sh", "true\n");
    lab.run(2).says("hooks.before_trial: prepare.sh differs from line 1 on");
    lab.run_with(&["--fresh"], 0);
    assert_eq!(lab.rows("t", "SELECT run, count(*) FROM trials GROUP BY run"), ["1|1", "2|2"]);
}

#[test]
fn a_run_of_a_version_that_kept_no_scripts_goes_on_and_says_what_is_not_known() {
    let lab = lab(1, "");
    lab.run(0);
    let old = lab.results("t");
    old.execute_batch(
        "DELETE FROM files; DELETE FROM settings WHERE path LIKE 'workload.script.%'",
    )
    .unwrap();
    drop(old);
    lab.write("e.toml", &file(2, ""));
    lab.run(0).says("workload.script: r.sql may have changed since the run began");
    assert_eq!(lab.trials("t"), 2);
    // What it is now is kept from now on.
    assert!(!lab.run(0).stderr.contains("unknown if"));
    lab.write("r.sql", "SELECT 1;\n");
    lab.run(2).says("workload.script: r.sql differs from line 1 on");
}

#[test]
fn scripts_lie_beside_the_file_that_names_them_wherever_steelbench_runs() {
    let lab = lab(1, "");
    std::fs::create_dir(lab.path("elsewhere")).unwrap();
    let elsewhere = |arguments: &[&str]| -> Exit {
        lab.command(arguments).current_dir(lab.path("elsewhere")).output().unwrap().into()
    };
    elsewhere(&["check", "../e.toml"]).expect(0);
    elsewhere(&["run", "../e.toml", "--results", "../results/t.steelbench"]).expect(0);
    // It is the same run from here.
    lab.run(0).says("1 trial, 1 already recorded");
    lab.write("e.toml", &file(1, "").replace("r.sql", "gone.sql"));
    for command in ["check", "run"] {
        let place = "../gone.sql: No such file or directory";
        let ended = elsewhere(&[command, "../e.toml"]).expect(2).says(place);
        ended.says("relative paths start at the experiment file's folder");
    }
}

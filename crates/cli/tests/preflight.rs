//! Preflight problems are reported by `check` and by `run` before the first trial.

use crate::common::{Lab, scripted};

fn file(engine: &str, target: &str, workload: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \
         \"{engine}\"\n{target}\n[workload]\n{workload}\n[repeats]\nblocks = 4\n{more}"
    )
}

/// `check` says so and finds nothing wrong with the file, `run` stops before it records a trial.
#[track_caller]
fn is_not_ready(file: &str, why: &str) {
    let lab = Lab::with(file);
    lab.steelbench(&["check", "e.toml"]).expect(0).shows("not ready yet: ").shows(why);
    lab.run(1).says(why);
    assert_eq!((lab.trials("t"), lab.work_folders().len()), (0, 0));
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let disk = "probe = \"disk\"\nduration = \"100 ms\"";
    is_not_ready(&file("files", "file_size = \"500 TiB\"", disk, ""), "a trial needs 500 TiB, ");
    // Together they do not fit, and the log is only made where a stream works on it.
    let many = "data_files = 1000\nfile_size = \"500 GiB\"\nlog_size = \"1000 TiB\"";
    is_not_ready(&file("files", many, disk, ""), "a trial needs 488 TiB, ");
    let lab = Lab::with(&file("files", "file_size = \"1 MiB\"", disk, ""));
    lab.steelbench(&["check", "e.toml"]).expect(0).shows("/results: a trial needs 1.00 MiB, ");
    lab.run(0);
}

#[test]
fn rows_that_do_not_fit_are_refused_by_an_estimate() {
    let rows = "probe = \"insert\"\nconnections = 1\nrows = \"1000000 million\"";
    // 151 bytes of a row of MyBigTable: 16 + 8 + 111 + 4 + 4 + 8.
    let why = "a trial needs 137 TiB or more (estimate from its rows alone), ";
    is_not_ready(&file("sqlite", "", rows, ""), why);
    let scale = "probe = \"script\"\nbuiltin = \"tpcb-like\"\nscale = 100000\ntransactions = \
                 1\nconnections = 1";
    let lab = Lab::with(&file("sqlite", "", scale, ""));
    // 100 bytes of an account with a bigint as its key, 100,000 of them for each of scale.
    lab.steelbench(&["check", "e.toml"])
        .expect(0)
        .shows("/results: a trial needs 931 GiB or more (estimate");
}

/// 68.6 MB of rows for each warehouse, and procedures that SQLite does not have.
#[test]
fn order_entry_is_refused_before_anything_is_loaded() {
    let work = |more| format!("probe = \"order-entry\"\nconnections = 1\ntransactions = 1\n{more}");
    let many = work("warehouses = 100000");
    let why = "a trial needs 6.24 TiB or more (estimate from its rows alone), ";
    is_not_ready(&file("sqlite", "", &many, ""), why);
    let lab = Lab::with(&file("sqlite", "", &work("logic = \"procedures\""), ""));
    let why = "workload.logic: this engine has no stored procedures for order entry";
    lab.steelbench(&["check", "e.toml"]).expect(2).says(why);
    lab.run(2).says(why);
    assert_eq!((lab.trials("t"), lab.work_folders().len()), (0, 0));
}

#[test]
fn programs_that_are_not_there_are_refused() {
    let hook = |hook: &str| scripted(4, "", &format!("[hooks]\n{hook}\n"));
    is_not_ready(
        &hook("after_trial = \"./gone.sh now\""),
        "hooks.after_trial: no such program ./gone.sh",
    );
    is_not_ready(
        &hook("before_trial = \"sh gone.sh\""),
        "hooks.before_trial: no such program gone.sh; commands run in /",
    );
    // What the run itself makes first is there.
    let lab =
        Lab::with(&hook("before_run = \"echo true > made.sh\"\nbefore_trial = \"sh made.sh\""));
    lab.steelbench(&["check", "e.toml"])
        .expect(0)
        .shows("hooks.before_trial: no such program made.sh");
    lab.run(0);
}

#[test]
fn existing_files_that_are_written_to_must_be_named() {
    let disk = |pattern: &str| {
        let disk = format!(
            "probe = \"disk\"\npattern = \"{pattern}\"\ndirect = false\nduration = \"100 ms\""
        );
        file("files", "paths = \"mine\"", &disk, "")
    };
    is_not_ready(&disk("random-read"), "mine: No such file");
    let lab = Lab::with(&disk("random-write"));
    lab.write("mine", &"x".repeat(1 << 20));
    lab.run(1).says("allow it with --overwrite mine");
    assert_eq!(lab.trials("t"), 0);
    lab.run_with(&["--overwrite", "mine"], 0);
    lab.write("e.toml", &disk("random-read"));
    lab.run_with(&["--fresh"], 0);
}

#[test]
fn a_setting_that_sqlite_does_not_take_is_found_where_it_stands() {
    let inserts = "probe = \"insert\"\nconnections = 1\nrows = 100";
    let levels = "[factors]\n\"target.settings.page_size\" = [4096, 1000]\n";
    let lab = Lab::with(&file("sqlite", "", inserts, levels));
    let why = "target.settings.page_size: SQLite does not accept 1000: it reports 4096";
    lab.steelbench(&["check", "e.toml"]).expect(2).says(why).says("--> e.toml:13:");
    lab.run(2).says(why);
    assert_eq!(lab.trials("t"), 0);
}

/// A command before the trials may fix the problem: then preflight only warns.
#[test]
fn what_a_command_may_mend_is_a_warning() {
    let disk = "probe = \"disk\"\npattern = \"random-read\"\ndirect = false\nduration = \"100 ms\"";
    let hooks = "[hooks]\nbefore_trial = \"head -c 1000000 /dev/zero > mine\"\n";
    let lab = Lab::with(&file("files", "paths = \"mine\"", disk, hooks));
    lab.steelbench(&["check", "e.toml"]).expect(0).shows("not ready yet: mine: No such file");
    lab.run(0).says("warning: mine: No such file");
}

//! Trials that fail, and limits.

use crate::common::{Exit, Lab, limited_memory_to, scripted};

/// Two configurations of which one has these settings.
fn one_of_two(blocks: u32, settings: &str, more: &str) -> String {
    let file = scripted(blocks, "", "").replace("[factors]\n\"target.data_files\" = [1, 2]\n", "");
    format!(
        "{file}\n[[level]]\nfactor = \"kind\"\nname = \"good\"\nset = {{}}\n[[level]]\nfactor = \
         \"kind\"\nname = \"bad\"\nset = {{ {settings} }}\n{more}"
    )
}

const BY_LEVEL: &str = "SELECT c.label, t.status, count(*) FROM trials t JOIN configurations c ON \
                        c.id = t.configuration
     GROUP BY 1, 2 ORDER BY 1, 2";

#[test]
fn a_failed_trial_is_recorded_and_does_not_stop_the_rest() {
    let file = one_of_two(3, "\"target.fail_while_exists\" = \"broken\"", "");
    let lab = Lab::with(&file);
    lab.write("broken", "");
    let again = "3 of 6 trials done, 3 failed: `steelbench run --retry-failed e.toml` reruns them.";
    lab.run(1).says("FAILED").says(again).shows("Failed trials");
    assert_eq!(lab.rows("t", BY_LEVEL), ["kind=bad|failed|3", "kind=good|done|3"]);
    let causes = lab.rows("t", "SELECT DISTINCT cause FROM trials WHERE status = 'failed'");
    assert_eq!(causes.len(), 1);
    assert!(causes[0].contains("scripted failure while broken exists"), "{causes:?}");
    assert_eq!(lab.work_folders().len(), 0);
    // Nothing is tried again unless the file says so.
    let ended =
        lab.run(1).says("nothing to run: every remaining trial has failed before").says(again);
    assert!(
        !ended.stderr.contains("complete") && !ended.stderr.contains("start a new one"),
        "{ended:?}"
    );
    // More retries, and the reason is gone.
    std::fs::remove_file(lab.path("broken")).unwrap();
    lab.write("e.toml", &file.replace("blocks = 3", "blocks = 3\nretries = 1"));
    lab.run(0);
    assert_eq!(
        lab.rows("t", BY_LEVEL),
        ["kind=bad|done|3", "kind=bad|failed|3", "kind=good|done|3"]
    );
}

#[test]
fn a_failed_trial_is_tried_again_as_often_as_the_file_says() {
    let file = one_of_two(2, "\"target.fail_while_exists\" = \"broken\"", "");
    let lab = Lab::with(&file.replace("blocks = 2", "blocks = 2\nretries = 2"));
    lab.write("broken", "");
    let ended = lab.run(1).says("(retrying)");
    assert_eq!(ended.stderr.matches("(retrying)").count(), 4, "{}", ended.stderr);
    let attempts = "SELECT block, attempt, status FROM trials t JOIN configurations c ON c.id = \
                    t.configuration
                    WHERE c.label = 'kind=bad' ORDER BY t.id";
    assert_eq!(
        lab.rows("t", attempts),
        ["1|1|failed", "1|2|failed", "1|3|failed", "2|1|failed", "2|2|failed", "2|3|failed"]
    );
}

#[test]
fn a_retry_that_succeeds_makes_the_run_succeed() {
    let hooks = "[hooks]\nbefore_trial = 'if test -e seen; then rm -f broken; fi; touch seen'\n";
    let lab = Lab::with(
        &scripted(1, "fail_while_exists = \"broken\"", hooks)
            .replace("blocks = 1", "blocks = 1\nretries = 1"),
    );
    lab.write("broken", "");
    lab.run(0);
    assert_eq!(
        lab.rows("t", "SELECT sequence, attempt, status FROM trials ORDER BY id"),
        ["1|1|failed", "1|2|done", "2|1|done"]
    );
}

#[test]
fn a_trial_that_takes_too_long_has_failed() {
    let limits = "[limits]\ntrial_time = \"1 s\"\n";
    let lab = Lab::with(&one_of_two(2, "\"target.real_delay\" = \"100 s\"", limits));
    lab.run(1).says("limits.trial_time");
    assert_eq!(lab.rows("t", BY_LEVEL), ["kind=bad|failed|2", "kind=good|done|2"]);
}

#[test]
fn a_run_that_takes_too_long_stops_and_can_go_on() {
    // Six trials sleep for half a second each.
    let file = scripted(3, "real_delay = \"50 ms\"", "[limits]\nrun_time = \"1 s\"\n");
    let lab = Lab::with(&file);
    lab.run(1).says("Stopped: limits.run_time reached. Resume with `steelbench run e.toml`");
    let before = lab.trials("t");
    assert!(before < 6);
    assert_eq!(lab.rows("t", "SELECT count(*) FROM trials WHERE status = 'failed'"), ["0"]);
    lab.write("e.toml", &file.replace("1 s", "100 s"));
    lab.run(0).says(&format!("{before} already recorded"));
    assert_eq!(lab.trials("t"), 6);
}

#[test]
fn a_missing_volume_is_found_before_anything_is_recorded() {
    let volume = "[[volume]]\nname = \"fast\"\npath = \"nowhere\"\n";
    let lab = Lab::with(&scripted(1, "volume = \"fast\"", volume));
    lab.steelbench(&["check", "e.toml"]).expect(0).shows("volume fast: nowhere does not exist yet");
    lab.run(2).says("volume fast: nowhere does not exist");
    assert_eq!(lab.trials("t"), 0);
    std::fs::create_dir(lab.path("nowhere")).unwrap();
    lab.run(0);
    assert_eq!((lab.trials("t"), lab.work_folders().len()), (2, 0));
}

#[test]
fn a_run_that_may_need_more_space_than_there_is_does_not_begin() {
    let lab = Lab::with(&scripted(1, "", "[limits]\ndisk_space = \"4000000 TiB\"\n"));
    lab.run(1).says(" (limits.disk_space) plus 64.0 MiB; free some space or lower the limit");
    assert_eq!(lab.trials("t"), 0);
}

#[test]
fn failed_trials_are_run_again_when_that_is_asked_for() {
    let file = one_of_two(2, "\"target.fail_while_exists\" = \"broken\"", "");
    let lab = Lab::with(&file.replace("blocks = 2", "blocks = 2\nretries = 1"));
    lab.write("broken", "");
    lab.run(1);
    let attempts = "SELECT c.label, block, attempt, status FROM trials t JOIN configurations c ON \
                    c.id = t.configuration
                    ORDER BY c.label, block, attempt";
    let before = lab.rows("t", attempts);
    assert_eq!(before.len(), 6);
    // They fail again, as often as the file says, and nothing else is run.
    let events = lab.json(&["run", "e.toml", "--retry-failed"]);
    assert_eq!(events.iter().find(|event| event["event"] == "run_finished").unwrap()["failed"], 2);
    let retried: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "trial_failed")
        .map(|event| event["retry"].clone())
        .collect();
    assert_eq!(retried, [true, false, true, false]);
    // The reason is gone: once is enough.
    std::fs::remove_file(lab.path("broken")).unwrap();
    lab.run_with(&["--retry-failed"], 0).says("2 already recorded");
    let bad = |block: u32| {
        let failed = (1..5).map(move |attempt| format!("kind=bad|{block}|{attempt}|failed"));
        failed.chain([format!("kind=bad|{block}|5|done")])
    };
    let good = ["kind=good|1|1|done", "kind=good|2|1|done"].map(str::to_owned);
    assert_eq!(lab.rows("t", attempts), bad(1).chain(bad(2)).chain(good).collect::<Vec<_>>());
    lab.run_with(&["--retry-failed"], 0).says("the run is complete");
    lab.steelbench(&["run", "e.toml", "--retry-failed", "--fresh"]).expect(2);
}

/// A configuration in `blocks` blocks, on an engine that fails while there is a file `broken`.
fn failing_lab(blocks: u32, more: &str) -> Lab {
    let file = scripted(blocks, "fail_while_exists = \"broken\"", more);
    let lab = Lab::with(&file.replace("[factors]\n\"target.data_files\" = [1, 2]\n", ""));
    lab.write("broken", "");
    lab
}

#[test]
fn a_run_of_which_all_fails_stops_and_can_go_on() {
    let lab = failing_lab(8, "");
    let ended = lab
        .run(1)
        .says("Stopped: every configuration fails. 0 of 8 trials done, 3 failed, 5 not run.");
    assert!(!ended.stderr.contains("complete"), "{ended:?}");
    ended
        .says("Last cause: ")
        .says("scripted failure")
        .says("`steelbench run --retry-failed e.toml` runs the failed");
    assert_eq!(lab.trials("t"), 3);
    // The same again: what failed is kept, and more is not tried in vain.
    lab.run(1).says("0 of 8 trials done, 6 failed, 2 not run");
    std::fs::remove_file(lab.path("broken")).unwrap();
    lab.run(1)
        .says("2 of 8 trials done, 6 failed: `steelbench run --retry-failed e.toml` reruns them.");
    lab.run_with(&["--retry-failed"], 0);
    assert_eq!(lab.rows("t", "SELECT count(*) FROM trials WHERE status = 'done'"), ["8"]);
    lab.run(0).says("the run is complete; start a new one with --fresh");
}

#[test]
fn all_configurations_that_fail_alike_are_all() {
    let lab =
        Lab::with(&scripted(5, "", "[hooks]\nbefore_trial = \"echo no server 1234$$; exit 1\"\n"));
    lab.run(1)
        .says("Stopped: every configuration fails. 0 of 10 trials done, 3 failed, 7 not run.");
}

#[test]
fn a_configuration_that_fails_again_and_again_is_left_out_and_the_others_go_on() {
    let lab = Lab::with(&one_of_two(6, "\"target.fail_while_exists\" = \"broken\"", ""));
    lab.write("broken", "");
    let ended = lab.run(1).says(
        "kind=bad: 3 consecutive trials failed for the same cause \
               (limits.identical_failures)",
    );
    ended.says(
        "6 of 12 trials done, 3 failed, 3 not run: `steelbench run --retry-failed e.toml` reruns \
         them.",
    );
    assert_eq!(lab.rows("t", BY_LEVEL), ["kind=bad|failed|3", "kind=good|done|6"]);
    std::fs::remove_file(lab.path("broken")).unwrap();
    lab.run_with(&["--retry-failed"], 0);
    assert_eq!(
        lab.rows("t", BY_LEVEL),
        ["kind=bad|done|6", "kind=bad|failed|3", "kind=good|done|6"]
    );
}

#[test]
fn how_often_is_enough_is_a_setting_and_other_causes_do_not_add_up() {
    let lab = failing_lab(6, "[limits]\nidentical_failures = 0\n");
    lab.run(1).says("0 of 6 trials done, 6 failed: ");
    let lab = failing_lab(6, "[limits]\nidentical_failures = 1\n");
    lab.run(1).says("0 of 6 trials done, 1 failed, 5 not run");
    let differs = "[hooks]\nbefore_trial = \"date +%s%N | tr 0-9 a-j; exit 1\"\n";
    let lab = Lab::with(&scripted(3, "", differs));
    lab.run(1).says("0 of 6 trials done, 6 failed: ");
}

#[test]
fn trials_that_are_too_slow_are_results_and_do_not_stop_a_run() {
    let limits = "[limits]\ntrial_time = \"1 s\"\nidentical_failures = 1\n";
    let file = scripted(3, "real_delay = \"100 s\"", limits);
    let lab = Lab::with(&file.replace("[factors]\n\"target.data_files\" = [1, 2]\n", ""));
    let ended = lab.run(1).says("0 of 3 trials done, 3 failed, 3 of them at limits.trial_time.");
    assert!(!ended.stderr.contains("--retry-failed"), "{ended:?}");
}

/// Rust aborts where memory for something small cannot be had. The program says so and ends with a
/// code.
#[test]
fn memory_that_runs_out_ends_with_a_message_and_a_code() {
    let lab = Lab::with(&format!("{}{}", scripted(1, "", ""), "# a comment\n".repeat(1 << 20)));
    let mut refused = 0;
    // With less, the system cannot load the program.
    for megabytes in (120..400).step_by(20) {
        let mut command = lab.command(&["check", "e.toml"]);
        let ended = Exit::from(limited_memory_to(&mut command, megabytes << 20).output().unwrap());
        assert!(matches!(ended.code, Some(0..=2)), "{megabytes} MB: {ended:?}");
        if ended.stderr.contains("memory allocation of") {
            refused += 1;
            ended.expect(1).says("recorded trials are kept");
        }
    }
    assert!(refused > 0, "there was memory enough");
}

//! Runs that are stopped and gone on with.

use crate::common::{Lab, end, scripted, signal, wait_until};
use std::time::Duration;

const ORDER: &str =
    "SELECT configuration, block, sequence, attempt, status FROM trials ORDER BY id";

#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    let file = scripted(4, "real_delay = \"10 ms\"", "");
    let whole = Lab::with(&file);
    whole.run(0);

    let lab = Lab::with(&file);
    for recorded in [1, 3] {
        let child = lab.start();
        wait_until("a trial is recorded", || lab.trials("t") >= recorded);
        signal(&child, libc::SIGINT);
        end(child).expect(130).says("Interrupted. Resume with `steelbench run e.toml`.");
        assert_eq!(lab.work_folders(), Vec::<std::path::PathBuf>::new());
    }
    let before = lab.trials("t");
    assert!(before < 8, "the run was over before it was interrupted");
    lab.run(0).says(&format!("8 trials, {before} already recorded"));
    assert_eq!(lab.rows("t", ORDER), whole.rows("t", ORDER));
}

#[test]
fn the_trial_in_flight_is_not_recorded() {
    let lab = Lab::with(&scripted(1, "real_delay = \"100 s\"", ""));
    let child = lab.start();
    wait_until("a trial runs", || !lab.work_folders().is_empty());
    signal(&child, libc::SIGTERM);
    end(child).expect(130);
    assert_eq!((lab.trials("t"), lab.work_folders().len()), (0, 0));
    // Where nothing is recorded, another version of the file needs no --fresh.
    lab.write("e.toml", &scripted(1, "", ""));
    lab.run(0);
    assert_eq!(lab.rows("t", "SELECT run, count(*) FROM trials GROUP BY run"), ["2|2"]);
}

#[test]
fn a_second_interruption_ends_at_once() {
    // A command after a trial is not interrupted: without the second signal the run would wait.
    let hooks = "[hooks]\nafter_trial = 'test -e go || { touch begun; sleep 20; touch ended; }'\n";
    let lab = Lab::with(&scripted(1, "", hooks));
    let mut child = lab.start();
    wait_until("the hook has begun", || lab.path("begun").exists());
    signal(&child, libc::SIGINT);
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "the first one waits for the hook");
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    assert!(!lab.path("ended").exists());
    lab.write("go", "");
    lab.run(0);
    assert_eq!((lab.trials("t"), lab.work_folders().len()), (2, 0));
}

#[test]
fn a_harmless_change_goes_on_with_a_warning() {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    lab.write("e.toml", &scripted(2, "", "[report]\nbaseline = { \"target.data_files\" = 2 }\n"));
    lab.run(0)
        .says("warning: the experiment file has changed: repeats.blocks: 1 -> 2")
        .says("4 trials, 2 already recorded");
    assert_eq!(lab.rows("t", "SELECT run, count(*) FROM trials GROUP BY run"), ["1|4"]);
    // From now on the run is that of the new version: its baseline counts, and nothing has changed.
    assert_eq!(lab.rows("t", "SELECT baseline FROM runs"), ["1"]);
    let again = lab.run(0);
    assert!(!again.stderr.contains("has changed"), "{}", again.stderr);
    // With fewer blocks than are recorded, nothing is left to run.
    lab.write("e.toml", &scripted(1, "", ""));
    lab.run(0).says("2 trials, 2 already recorded");
}

#[test]
fn an_incompatible_change_needs_a_fresh_run() {
    let lab = Lab::with(&scripted(1, "delay = \"1 ms\"", ""));
    let first = lab.run(0).stdout;
    lab.write("e.toml", &scripted(1, "delay = \"2 ms\"", ""));
    lab.run(2).says("target.delay: 0.001 -> 0.002").says("--fresh");
    assert_eq!(lab.trials("t"), 2);
    lab.run_with(&["--fresh"], 0).shows("Run 2").shows("20.0");
    let old = lab.steelbench(&["show", "t", "--run", "1", "--full"]).expect(0).stdout;
    let end = "Results: results/t.steelbench\nReport:  results/t.html\n";
    assert_eq!(first, format!("{old}\n{end}"));
    let runs = lab.steelbench(&["show", "t", "--runs"]).expect(0);
    let runs: Vec<&str> = runs.stdout.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(runs, ["run 1", "run 2"]);
    lab.steelbench(&["show", "t", "--run", "3"]).expect(2).says("has no run 3");
}

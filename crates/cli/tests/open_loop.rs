//! Open loops end to end: one schedule for a block, what is compared, and loads that ask for more
//! than can be done.

use crate::common::Lab;

/// Transactions that take 5 ms of sleep and next to nothing else: a connection does fewer than 200
/// a second on any machine.
fn lab(workload: &str, factors: &str, blocks: u32) -> Lab {
    let lab = Lab::with(&format!(
        "[experiment]\nname = \"t\"\n\n[target]\nengine = \"sqlite\"\n\n[workload]\nprobe = \
         \"script\"\nscript = \"s.sql\"\n{workload}\n\n[factors]\n{factors}\n\n[repeats]\nblocks \
         = {blocks}\n"
    ));
    lab.write("s.sql", "\\sleep 5 ms\nSELECT 1;\n");
    lab
}

#[test]
fn all_configurations_of_a_block_have_one_schedule() {
    let lab =
        lab("rate = \"200/s\"\nduration = \"500 ms\"", "\"workload.connections\" = [2, 5, 16]", 3);
    lab.run(0);
    let schedules = "SELECT block, count(*), count(DISTINCT sends_intended), count(DISTINCT \
                     schedule_s)
                     FROM load_health JOIN trials ON id = trial GROUP BY block";
    assert_eq!(lab.rows("t", schedules), ["1|3|1|1", "2|3|1|1", "3|3|1|1"]);
    let between = "SELECT count(DISTINCT schedule_s) FROM load_health";
    assert_eq!(lab.rows("t", between), ["3"], "each block has its own");
    // The schedule sets the throughput, so it is not a sign of drift.
    let shown = lab.steelbench(&["show", "t", "--full"]).expect(0);
    let shown = shown.shows("compared on latency_p50 (ms, lower is better)").shows("Open loop");
    // About 100 transactions a trial.
    let findings = lab.json(&["show", "t"])[0]["findings"].to_string();
    assert!(
        findings.contains("latency_p99 needs 1,000 values in each trial")
            && findings.contains("latency_p50 is the highest percentile available"),
        "{findings}"
    );
    assert!(!shown.stdout.contains("Blocks differ in throughput"), "{}", shown.stdout);
    let drift = &lab.json(&["show", "t"])[0]["drift"]["response"];
    assert!(drift.is_null() || drift == "service_mean", "{drift}");
}

#[test]
fn a_number_of_transactions_ends_an_open_loop_whatever_the_connections_have_done() {
    let lab = lab("rate = \"300/s\"\ntransactions = 100", "\"workload.connections\" = [3, 7]", 1);
    lab.run(0);
    let work = "SELECT transactions, sends_intended, sends_missed + sends_late <= sends_intended
                FROM trials JOIN load_health ON id = trial";
    assert_eq!(lab.rows("t", work), ["100|100|1", "100|100|1"]);
}

#[test]
fn latencies_of_an_overloaded_loop_decide_nothing() {
    let factors = "\"workload.rate\" = [\"100/s\", \"4000/s\"]";
    let lab = lab("connections = 2\nduration = \"500 ms\"", factors, 2);
    lab.run(0);
    let warned = "SELECT DISTINCT label, warnings.kind FROM trials JOIN configurations c ON c.id \
                  = configuration
                  LEFT JOIN warnings ON trial = trials.id AND kind = 'overloaded' ORDER BY 1 DESC";
    assert_eq!(lab.rows("t", warned), ["rate=4000/s|overloaded", "rate=100/s|null"]);
    let late = "SELECT max(sends_late > 0.9 * sends_intended) FROM load_health JOIN warnings \
                USING (trial)
                WHERE kind = 'overloaded'";
    assert_eq!(lab.rows("t", late), ["1"]);
    let summary = &lab.json(&["show", "t"])[0];
    // Its 50 transactions have a median and no 99th percentile.
    assert_eq!(summary["overview"]["response"]["name"], "latency_p50");
    let [slow, fast] = [0, 1].map(|at| &summary["configurations"][at]);
    assert!(slow["response"]["mean"].as_f64().unwrap() >= 5.0, "{slow:#}");
    assert!(
        fast["response"].is_null()
            && fast["standing"] == "unknown"
            && fast["against_best"].is_null(),
        "{fast:#}"
    );
    lab.steelbench(&["show", "t", "--full"])
        .expect(0)
        .shows("In 2 of 2 trials of rate=4000/s the load could not keep the requested rate")
        .shows("these latencies are left out");
    // What was measured stays in the recording.
    let kept = "SELECT count(*) FROM responses WHERE name = 'latency_p99'";
    assert_eq!(lab.rows("t", kept), ["4"]);
}

#[test]
fn loads_that_are_all_overloaded_are_compared_on_what_was_done() {
    let lab =
        lab("rate = \"4000/s\"\nduration = \"200 ms\"", "\"workload.connections\" = [1, 4]", 2);
    lab.run(0).shows("compared on throughput").shows("4 of 4 trials");
    let summary = &lab.json(&["show", "t"])[0];
    let done = |at: usize| summary["configurations"][at]["response"]["mean"].as_f64().unwrap();
    assert!(done(0) < 200.0 && done(1) < 800.0, "{} {}", done(0), done(1));
}

/// A disk with a rate beyond any device is named.
#[test]
fn a_disk_that_cannot_keep_up_is_named() {
    let lab = Lab::with(
        "[experiment]\nname = \"t\"\n\n[target]\nengine = \"files\"\nfile_size = \"8 \
         MiB\"\n\n[workload]\nprobe = \"disk\"\npattern = \"random-read\"\ndirect = \
         false\nthreads = 1\nqueue_depth = 1\nduration = \"500 \
         ms\"\n\n[factors]\n\"workload.rate\" = [\"50/s\", \"20000000/s\"]\n\n[repeats]\nblocks = \
         2\n",
    );
    lab.run(0);
    let warned = "SELECT DISTINCT label, warnings.kind FROM trials JOIN configurations c ON c.id \
                  = configuration
                  LEFT JOIN warnings ON trial = trials.id AND kind = 'overloaded' ORDER BY 1 DESC";
    assert_eq!(lab.rows("t", warned), ["rate=50/s|null", "rate=20000000/s|overloaded"]);
    let shown = lab
        .steelbench(&["show", "t", "--full"])
        .expect(0)
        .shows("Open loop")
        .shows("I/Os/s, achieved");
    let row = shown
        .stdout
        .lines()
        .find(|line| line.contains("rate=20000000/s") && line.contains("2 of 2 trials"));
    assert!(row.is_some(), "{}", shown.stdout);
}

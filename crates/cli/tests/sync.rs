//! `steelbench sync` from end to end.

use crate::common::Lab;

const SHORT: [&str; 6] = ["--duration", "60ms", "--warmup", "0", "--blocks", "2"];

#[test]
fn primitives_by_threads_are_measured_and_shown() {
    let lab = Lab::new();
    let lists = ["sync", "--primitive", "mutex-map,atomic-shared", "--threads", "1,2", "--full"];
    lab.steelbench(&[&lists[..], &SHORT].concat())
        .expect(0)
        .shows("8 trials done")
        .shows("ops/ms")
        .shows("One shared cache line is limited to")
        .shows("Scaling");
    let first = "SELECT DISTINCT name FROM responses WHERE name IN ('throughput', \
                 'fairness_jain', 'acquire_mean') ORDER BY name";
    assert_eq!(lab.rows("sync", first), ["acquire_mean", "fairness_jain", "throughput"]);
    // Another use of the command is another run of the same experiment.
    lab.steelbench(&[&["sync", "--primitive", "cas", "--threads", "2"][..], &SHORT].concat())
        .expect(0)
        .shows("run 2");
}

#[test]
fn what_is_printed_is_an_experiment_that_runs() {
    let lab = Lab::new();
    let printed = [
        "sync",
        "--print",
        "--primitive",
        "mutex-map,atomic",
        "--padding",
        "none,line",
        "--threads",
        "2",
    ];
    let printed = lab.steelbench(&[&printed[..], &SHORT].concat()).expect(0);
    std::fs::write(lab.path("own.toml"), printed.stdout).unwrap();
    lab.steelbench(&["run", "own.toml", "--full"])
        .expect(0)
        .shows("6 trials done")
        .shows("atomic/line");
}

#[test]
fn what_is_not_there_is_named() {
    let lab = Lab::new();
    lab.steelbench(&["sync", "--primitive", "mutex-mop"]).expect(2).says("mutex-map");
    lab.steelbench(&["sync", "--primitive", "per-core", "--padding", "line"])
        .expect(2)
        .says("workload.padding");
}

//! What recording a latency costs, beside other recorders.

use super::median_and_range;
use super::run::Bench;
use crate::process::{cargo, output, succeed, target};
use std::process::Command;

const RECORDERS: [&str; 5] = ["ours", "mutex", "sync", "metrics", "prometheus"];
const THREADS: [usize; 4] = [1, 2, 4, 8];
const RECORDS: &str = "1000000";
const ROUNDS: usize = 7;

/// Nanoseconds a record on 1 to 8 threads: ours, an `HdrHistogram` under a mutex, its `SyncHistogram`, the `metrics`
/// crate and `prometheus-client`; and microseconds to read the distributions of 64 threads.
pub fn costs(_: &Bench) -> Result<(), String> {
    succeed(&mut cargo(&["build", "--quiet", "--release", "-p", "recorder", "--example", "record"]))?;
    let run = |which: &str, threads: usize| -> Result<f64, String> {
        let mut example = Command::new(target().join("release/examples/record"));
        let printed = output(example.args([which, &threads.to_string(), RECORDS]))?;
        printed.trim().parse().map_err(|error| format!("record printed {printed:?}: {error}"))
    };
    for threads in THREADS {
        let mut figures = vec![Vec::new(); RECORDERS.len()];
        for _ in 0..ROUNDS {
            // What the loop around it costs is taken off.
            let loop_ns = run("none", threads)?;
            for (which, figures) in RECORDERS.iter().zip(&mut figures) {
                figures.push(run(which, threads)? - loop_ns);
            }
        }
        for (which, figures) in RECORDERS.iter().zip(&figures) {
            let (median, low, high) = median_and_range(figures);
            println!(
                "{threads} threads, {which}: median {median:.1} ns a record (range {low:.1} to {high:.1}, {ROUNDS} rounds)"
            );
        }
    }
    for (which, of) in
        [("snapshot", "4,096 latencies each"), ("snapshot-every", "every latency from 1 us to 8 ms")]
    {
        let snapshots = (0..ROUNDS).map(|_| run(which, 64)).collect::<Result<Vec<f64>, String>>()?;
        let (median, low, high) = median_and_range(&snapshots);
        println!(
            "reading 64 threads while two record, {of}: median {median:.0} us (range {low:.0} to {high:.0} us)"
        );
    }
    Ok(())
}

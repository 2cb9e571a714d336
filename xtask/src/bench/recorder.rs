//! What recording a latency costs, beside other recorders and beside none; what profiling costs.

use super::run::{Bench, Trial};
use super::{mean_and_interval, median_and_range};
use crate::process::{cargo, output, succeed, target};
use std::process::Command;

const RECORDERS: [&str; 5] = ["ours", "mutex", "sync", "metrics", "prometheus"];
const THREADS: [usize; 4] = [1, 2, 4, 8];
const RECORDS: &str = "1000000";
const ROUNDS: usize = 7;

/// Nanoseconds a record on 1 to 8 threads: ours, an `HdrHistogram` under a mutex, its `SyncHistogram`, the `metrics`
/// crate and `prometheus-client`; and microseconds to read the distributions of 64 threads.
pub fn costs(_: &Bench) -> Result<(), String> {
    succeed(&mut cargo(&["build", "--quiet", "--release", "-p", "conductor", "--example", "record"]))?;
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

/// Blocks of one trial with and one without.
const BLOCKS: u64 = 60;

/// Throughput with latencies recorded against not: as many transactions as SQLite can do, and in memory.
pub fn recording(bench: &Bench) -> Result<(), String> {
    with_and_without(bench, "observe.latencies", "rows_per_transaction = 1")
}

/// Throughput with the load profiled against not.
pub fn profiling(bench: &Bench) -> Result<(), String> {
    with_and_without(bench, "observe.profile", "rows_per_transaction = 100")
}

fn with_and_without(bench: &Bench, setting: &str, transactions: &str) -> Result<(), String> {
    for connections in [1, 2] {
        let text = format!(
            "[target]\nengine = \"sqlite\"\ndata_files = {connections}\n\
             settings = {{ journal_mode = \"wal\", synchronous = \"off\" }}\n\
             [workload]\nprobe = \"insert\"\nconnections = {connections}\nduration = \"1 s\"\n{transactions}\n\
             [factors]\n\"{setting}\" = [true, false]\n[repeats]\nblocks = {BLOCKS}\n"
        );
        let trials = bench.experiment("bench-recording", &text)?;
        let throughput = |block: u64, level: &str| {
            let matches = |trial: &&Trial| trial.block == block && trial.configuration.ends_with(level);
            trials.iter().find(matches).and_then(|trial| trial.response("throughput").ok())
        };
        let ratios: Vec<f64> = (1..=BLOCKS)
            .filter_map(|block| Some(throughput(block, "=true")? / throughput(block, "=false")?))
            .collect();
        let (median, low, high) = median_and_range(&ratios);
        let (mean, from, to) = mean_and_interval(&ratios);
        println!(
            "{connections} connections, {transactions}: throughput with / without median {median:.4} (range {low:.3} to \
             {high:.3}, {} pairs); geometric mean {mean:.4} [{from:.4}, {to:.4}]",
            ratios.len()
        );
    }
    Ok(())
}

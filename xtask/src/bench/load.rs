//! Cost of our insert load against the same inserts without us, and the cost of instruments.

use super::figures::{pairs, print, print_ratios, ratios};
use super::run::{Bench, example};
use crate::process::output;
use std::process::Command;

/// Rounds of A and B.
const ROUNDS: u64 = 25;

/// Connections, data files and rows: alone, and one connection a core.
const LOADS: [(u32, u32, u32); 2] = [(1, 1, 100_000), (2, 2, 200_000)];

fn load(connections: u32, files: u32, synchronous: &str, rest: &str) -> String {
    format!(
        "[target]\nengine = \"sqlite\"\ndata_files = {files}\nsettings = {{ journal_mode = \
         \"wal\", synchronous = \"{synchronous}\" }}\n[workload]\nprobe = \"insert\"\nconnections \
         = {connections}\n{rest}"
    )
}

/// Throughput of our load, instruments on, against a straight loop on SQLite's C interface: the
/// same threads, files and transactions.
pub fn against_straight_loop(bench: &Bench) -> Result<(), String> {
    let straight_insert = example("sqlite", "straight_insert")?;
    for (connections, files, rows) in LOADS {
        let straight = |_| {
            let numbers = [files, connections, rows, 1000].map(|number| number.to_string());
            number(Command::new(&straight_insert).arg(&bench.folder).args(numbers))
        };
        let ours = |round| {
            let rest = format!("rows = {rows}\n[repeats]\nblocks = 1\nseed = {round}\n");
            let text = load(connections, files, "normal", &rest);
            bench.experiment("bench-insert", &text, &[])?.trial()?.response("elapsed")
        };
        let what =
            format!("{connections} connections, {files} data files, {rows} rows: throughput");
        print_ratios(
            &format!("{what} ours / straight loop"),
            &ratios(&pairs(ROUNDS, straight, ours)?),
        );
    }
    Ok(())
}

/// Throughput with the wait instruments on against off, in random order within blocks.
pub fn instruments_on_and_off(bench: &Bench) -> Result<(), String> {
    for (connections, files, rows) in LOADS {
        let text = load(connections, files, "normal", &format!("rows = {rows}\n"));
        on_and_off(
            bench,
            &text,
            "observe.waits",
            ROUNDS,
            &format!("{connections} connections, {rows} rows"),
        )?;
    }
    Ok(())
}

/// Throughput with latencies recorded against not: as many transactions as SQLite can do, and in
/// memory.
pub fn recording(bench: &Bench) -> Result<(), String> {
    for_a_second(bench, "observe.latencies", "rows_per_transaction = 1")
}

/// Throughput with the load profiled against not.
pub fn profiling(bench: &Bench) -> Result<(), String> {
    for_a_second(bench, "observe.profile", "rows_per_transaction = 100")
}

fn for_a_second(bench: &Bench, setting: &str, transactions: &str) -> Result<(), String> {
    for connections in [1, 2] {
        let rest = format!("duration = \"1 s\"\n{transactions}\n");
        let text = load(connections, connections, "off", &rest);
        on_and_off(
            bench,
            &text,
            setting,
            60,
            &format!("{connections} connections, {transactions}"),
        )?;
    }
    Ok(())
}

/// Throughput with a setting on against off, in random order within blocks.
fn on_and_off(
    bench: &Bench,
    load: &str,
    setting: &str,
    blocks: u64,
    what: &str,
) -> Result<(), String> {
    let text =
        format!("{load}[factors]\n\"{setting}\" = [true, false]\n[repeats]\nblocks = {blocks}\n");
    let throughput = bench.experiment("bench-on-and-off", &text, &[])?.on_and_off("throughput");
    print_ratios(&format!("{what}: throughput with / without {setting}"), &ratios(&throughput));
    Ok(())
}

/// Nanoseconds a record on 1 to 8 threads: ours, an `HdrHistogram` under a mutex, its
/// `SyncHistogram`, the `metrics` crate and `prometheus-client`; and microseconds to read the
/// distributions of 64 threads.
pub fn recorders(_: &Bench) -> Result<(), String> {
    const RECORDERS: [&str; 5] = ["ours", "mutex", "sync", "metrics", "prometheus"];
    const ROUNDS: usize = 7;
    let record = example("conductor", "record")?;
    let run = |which: &str, threads: usize| {
        number(Command::new(&record).args([which, &threads.to_string(), "1000000"]))
    };
    for threads in [1, 2, 4, 8] {
        let mut figures = [const { Vec::new() }; RECORDERS.len()];
        for _ in 0..ROUNDS {
            // What the loop around it costs is taken off.
            let loop_ns = run("none", threads)?;
            for (which, figures) in RECORDERS.iter().zip(&mut figures) {
                figures.push(run(which, threads)? - loop_ns);
            }
        }
        for (which, figures) in RECORDERS.iter().zip(&figures) {
            print(&format!("{threads} threads, {which}, a record"), figures, 1, " ns");
        }
    }
    for (which, of) in [
        ("snapshot", "4,096 latencies each"),
        ("snapshot-every", "every latency from 1 us to 8 ms"),
    ] {
        let snapshots =
            (0..ROUNDS).map(|_| run(which, 64)).collect::<Result<Vec<f64>, String>>()?;
        print(&format!("reading 64 threads while two record, {of}"), &snapshots, 0, " us");
    }
    Ok(())
}

/// The number that a program prints.
fn number(command: &mut Command) -> Result<f64, String> {
    let printed = output(command)?;
    printed.trim().parse().map_err(|error| format!("{command:?} printed {printed:?}: {error}"))
}

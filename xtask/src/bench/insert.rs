//! What our insert load costs beside the same inserts without us.

use super::median_and_range;
use super::run::{Bench, Trial};
use crate::process::output;
use std::process::Command;

/// Rounds of A and B.
const ROUNDS: u64 = 25;

/// Connections, data files and rows: alone, and one connection a core.
const LOADS: [(u32, u32, u32); 2] = [(1, 1, 100_000), (2, 2, 200_000)];

fn load(connections: u32, files: u32, rows: u32, rest: &str) -> String {
    format!(
        "[target]\nengine = \"sqlite\"\ndata_files = {files}\n\
         settings = {{ journal_mode = \"wal\", synchronous = \"normal\" }}\n\
         [workload]\nprobe = \"insert\"\nconnections = {connections}\nrows = {rows}\n{rest}"
    )
}

/// Throughput of our load, instruments on, against a straight loop on SQLite's C interface: the
/// same threads, files and transactions.
pub fn against_straight_loop(bench: &Bench) -> Result<(), String> {
    for (connections, files, rows) in LOADS {
        let mut ratios = Vec::new();
        for round in 0..ROUNDS {
            let ours = || -> Result<f64, String> {
                let text =
                    load(connections, files, rows, &format!("[repeats]\nblocks = 1\nseed = {round}\n"));
                let trials = bench.experiment("bench-insert", &text)?;
                trials.first().map(|trial| trial.elapsed_s).ok_or_else(|| "no trial was finished".into())
            };
            let straight = || -> Result<f64, String> {
                let numbers = [files, connections, rows, 1000].map(|number| number.to_string());
                let mut peer = Command::new(&bench.straight_insert);
                let printed = output(peer.arg(&bench.folder).args(numbers))?;
                printed
                    .trim()
                    .parse()
                    .map_err(|error| format!("straight_insert printed {printed:?}: {error}"))
            };
            let (ours_s, straight_s) = if round % 2 == 0 {
                let ours_s = ours()?;
                (ours_s, straight()?)
            } else {
                let straight_s = straight()?;
                (ours()?, straight_s)
            };
            ratios.push(straight_s / ours_s);
        }
        let (median, low, high) = median_and_range(&ratios);
        println!(
            "{connections} connections, {files} data files, {rows} rows: throughput ours / straight loop \
             median {median:.3} (range {low:.3} to {high:.3}, {ROUNDS} pairs)"
        );
    }
    Ok(())
}

/// Throughput with the wait instruments on against off, in random order within blocks.
pub fn instruments_on_and_off(bench: &Bench) -> Result<(), String> {
    for (connections, files, rows) in LOADS {
        let factors = format!("[factors]\n\"observe.waits\" = [true, false]\n[repeats]\nblocks = {ROUNDS}\n");
        let trials = bench.experiment("bench-instruments", &load(connections, files, rows, &factors))?;
        let elapsed = |block: u64, level: &str| {
            let matches = |trial: &&Trial| trial.block == block && trial.configuration.ends_with(level);
            trials.iter().find(matches).map(|trial| trial.elapsed_s)
        };
        let ratios: Vec<f64> = (1..=ROUNDS)
            .filter_map(|block| Some(elapsed(block, "=false")? / elapsed(block, "=true")?))
            .collect();
        let (median, low, high) = median_and_range(&ratios);
        println!(
            "{connections} connections, {files} data files, {rows} rows: throughput on / off \
             median {median:.3} (range {low:.3} to {high:.3}, {} pairs)",
            ratios.len()
        );
    }
    Ok(())
}

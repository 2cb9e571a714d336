//! What the program costs around the measurements.

use super::median_and_range;
use super::run::{Bench, Trial};
use crate::process::{output, root};
use std::process::Command;
use std::time::Instant;

const RUNS: usize = 21;

/// Wall time of a run that is not a measurement, at trials of five seconds.
pub fn overhead(bench: &Bench) -> Result<(), String> {
    let text = "[target]\nengine = \"sqlite\"\nsettings = { journal_mode = \"wal\", synchronous = \"normal\" }\n\
                [workload]\nprobe = \"insert\"\nconnections = 2\nduration = \"5 s\"\n\
                [factors]\n\"target.data_files\" = [1, 2]\n[repeats]\nblocks = 3\n";
    let start = Instant::now();
    let trials = bench.experiment("bench-overhead", text)?;
    let wall_s = start.elapsed().as_secs_f64();
    let measured_s: f64 = trials.iter().map(|trial| trial.elapsed_s).sum();
    let between: Vec<f64> = trials.iter().map(|trial: &Trial| trial.wall_s - trial.elapsed_s).collect();
    let (median, low, high) = median_and_range(&between);
    println!(
        "{} trials: {wall_s:.2} s in all, {measured_s:.2} s measured: overhead {:.2} %; \
         a trial's own median {:.0} ms (range {:.0} to {:.0} ms)",
        trials.len(),
        100.0 * (wall_s - measured_s) / measured_s,
        median * 1e3,
        low * 1e3,
        high * 1e3
    );
    Ok(())
}

/// Time of the whole process of commands that people wait for.
pub fn start_up(bench: &Bench) -> Result<(), String> {
    let file = root().join("experiments/random-insert-data-files.toml");
    let file = file.to_string_lossy();
    for arguments in [vec!["--help"], vec!["check", &file]] {
        let times = time(bench, &arguments)?;
        let (median, low, high) = median_and_range(&times);
        println!("{}: median {median:.1} ms (range {low:.1} to {high:.1} ms, {RUNS} runs)", arguments[0]);
    }
    Ok(())
}

/// The tables of a results file with 10,000 trials of the scripted engine.
pub fn report(bench: &Bench) -> Result<(), String> {
    let text = "[target]\nengine = \"null\"\n[workload]\nprobe = \"insert\"\nconnections = 1\nrows = 10\n\
                [factors]\n\"target.data_files\" = [1, 2, 4, 8]\n[repeats]\nblocks = 2500\n";
    let results = bench.folder.join("results/bench-report.steelbench");
    if !results.exists() {
        bench.experiment("bench-report", text)?;
    }
    let times = time(bench, &["show", "bench-report"])?;
    let (median, low, high) = median_and_range(&times);
    println!("show of 10,000 trials: median {median:.0} ms (range {low:.0} to {high:.0} ms, {RUNS} runs)");
    Ok(())
}

fn time(bench: &Bench, arguments: &[&str]) -> Result<Vec<f64>, String> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let start = Instant::now();
        output(Command::new(&bench.steelbench).args(arguments).current_dir(&bench.folder))?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

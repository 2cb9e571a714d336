//! `steelbench time` beside hyperfine: the same command, the same number of runs, one after the other.

use super::figures::{median, pairs, print, print_ratios, ratios};
use super::run::Bench;
use crate::process::output;
use serde_json::Value;
use std::process::Command;
use std::time::Instant;

/// Rounds of A and B.
const ROUNDS: u64 = 10;

/// What one program made of a command.
struct Timed {
    /// Mean of its runs.
    mean_s: f64,
    /// What the program took besides, for each run.
    overhead_ms: f64,
}

/// Mean and overhead of a command that takes a known time, of a short one, and of one in a shell.
pub fn against_hyperfine(bench: &Bench) -> Result<(), String> {
    for (command, runs, shell) in [("sleep 0.1", 50, "none"), ("true", 500, "none"), ("true", 500, "default")]
    {
        let number = runs.to_string();
        let arguments = ["-S", shell, "-r", &number, command];
        let ours = |_| {
            let mut time = bench.command(&["time", "--export-json", "time.json"]);
            timed(bench, time.args(arguments), runs)
        };
        let theirs = |_| {
            let mut hyperfine = Command::new("hyperfine");
            hyperfine.args(["--style", "none", "--export-json", "time.json"]).current_dir(&bench.folder);
            timed(bench, hyperfine.args(arguments), runs)
        };
        let pairs = pairs(ROUNDS, ours, theirs)?;
        let both = |of: fn(&Timed) -> f64| pairs.iter().map(|(a, b)| (of(a), of(b))).collect::<Vec<_>>();
        let means = both(|timed| timed.mean_s * 1e3);
        let (ours, theirs): (Vec<f64>, Vec<f64>) = means.iter().copied().unzip();
        let what = format!(
            "{command}, shell {shell}, {runs} runs: mean, ours / hyperfine (medians {:.3} and {:.3} ms)",
            median(&ours),
            median(&theirs)
        );
        print_ratios(&what, &ratios(&means));
        let (ours, theirs): (Vec<f64>, Vec<f64>) = both(|timed| timed.overhead_ms).into_iter().unzip();
        print("  besides the runs, for each of them, ours", &ours, 3, " ms");
        print("  and hyperfine", &theirs, 3, " ms");
    }
    Ok(())
}

/// Runs either program and reads what it wrote.
fn timed(bench: &Bench, command: &mut Command, runs: u32) -> Result<Timed, String> {
    let start = Instant::now();
    output(command)?;
    let wall_s = start.elapsed().as_secs_f64();
    let path = bench.folder.join("time.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let json: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let result = &json["results"][0];
    let times = result["times"].as_array().ok_or("no times were written")?;
    let sum_s: f64 = times.iter().filter_map(Value::as_f64).sum();
    if times.len() != runs as usize {
        return Err(format!("{} times instead of {runs}", times.len()));
    }
    let mean_s = result["mean"].as_f64().ok_or("no mean was written")?;
    Ok(Timed { mean_s, overhead_ms: (wall_s - sum_s) * 1e3 / f64::from(runs) })
}

//! `steelbench time` beside hyperfine: the same command, the same number of runs, in turn.

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
    /// What the program took besides them.
    besides_s: f64,
}

/// Means of a command that takes a known time, of a short one, and of one in a shell; and what is taken besides the
/// runs: by a call, and by each run.
pub fn against_hyperfine(bench: &Bench) -> Result<(), String> {
    for (command, shell, runs) in [("sleep 0.1", "none", 50), ("true", "none", 500), ("true", "default", 500)]
    {
        let means =
            pairs(ROUNDS, |_| ours(bench, command, shell, runs), |_| theirs(bench, command, shell, runs))?;
        let means: Vec<(f64, f64)> = means.iter().map(|(a, b)| (a.mean_s * 1e3, b.mean_s * 1e3)).collect();
        let (ours, theirs): (Vec<f64>, Vec<f64>) = means.iter().copied().unzip();
        let what = format!(
            "{command}, shell {shell}, {runs} runs: mean, ours / hyperfine (medians {:.3} and {:.3} ms)",
            median(&ours),
            median(&theirs)
        );
        print_ratios(&what, &ratios(&means));
    }
    let besides = pairs(
        ROUNDS,
        |_| besides(|runs| ours(bench, "true", "none", runs)),
        |_| besides(|runs| theirs(bench, "true", "none", runs)),
    )?;
    let (ours, theirs): (Vec<_>, Vec<_>) = besides.into_iter().unzip();
    for (who, of) in [("ours", ours), ("hyperfine", theirs)] {
        let (calls, runs): (Vec<f64>, Vec<f64>) = of.into_iter().unzip();
        print(&format!("besides the runs, {who}: a call"), &calls, 1, " ms");
        print("  and each run", &runs, 1, " us");
    }
    Ok(())
}

/// Milliseconds that a call takes besides its runs, and microseconds that each run adds: a line through two numbers of
/// runs.
fn besides(timed: impl Fn(u32) -> Result<Timed, String>) -> Result<(f64, f64), String> {
    let (few, many) = (500, 5000);
    let (short, long) = (timed(few)?.besides_s, timed(many)?.besides_s);
    let of_a_run = (long - short) / f64::from(many - few);
    Ok(((short - of_a_run * f64::from(few)) * 1e3, of_a_run * 1e6))
}

fn ours(bench: &Bench, command: &str, shell: &str, runs: u32) -> Result<Timed, String> {
    timed(bench, &mut bench.command(&["time", "--export-json", "time.json"]), command, shell, runs)
}

fn theirs(bench: &Bench, command: &str, shell: &str, runs: u32) -> Result<Timed, String> {
    let mut hyperfine = Command::new("hyperfine");
    hyperfine.args(["--style", "none", "--export-json", "time.json"]).current_dir(&bench.folder);
    timed(bench, &mut hyperfine, command, shell, runs)
}

/// Runs either program and reads what it wrote.
fn timed(
    bench: &Bench,
    program: &mut Command,
    command: &str,
    shell: &str,
    runs: u32,
) -> Result<Timed, String> {
    let start = Instant::now();
    output(program.args(["-S", shell, "-r", &runs.to_string(), command]))?;
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
    Ok(Timed { mean_s, besides_s: wall_s - sum_s })
}

//! `steelbench time` beside hyperfine: the same command, the same number of runs, in turn.

use super::figures::{median, pairs, print, print_ratios, ratios};
use super::run::Bench;
use crate::process::output;
use serde_json::Value;
use std::process::Command;
use std::time::Instant;

/// Rounds of A and B.
const ROUNDS: u64 = 10;

/// One program's times for a command.
struct Timed {
    /// Mean of its runs.
    mean_s: f64,
    /// Elapsed time of the program.
    wall_s: f64,
    /// The part without the runs.
    overhead_s: f64,
}

/// Costs of a program, by a line through two numbers of runs: seconds per call, and seconds per run
/// in all.
struct Costs {
    call_s: f64,
    overhead_run_s: f64,
    run_s: f64,
}

/// Compares the means of a command with a known time, of a short one, and of one in a shell, then
/// the overhead of a call and of each run, and the total time of a run.
pub fn against_hyperfine(bench: &Bench) -> Result<(), String> {
    for (command, shell, runs) in
        [("sleep 0.1", "none", 50), ("true", "none", 500), ("true", "default", 500)]
    {
        let means = pairs(
            ROUNDS,
            |_| ours(bench, command, shell, runs),
            |_| theirs(bench, command, shell, runs),
        )?;
        let means: Vec<(f64, f64)> =
            means.iter().map(|(a, b)| (a.mean_s * 1e3, b.mean_s * 1e3)).collect();
        let (ours, theirs): (Vec<f64>, Vec<f64>) = means.iter().copied().unzip();
        let what = format!(
            "{command}, shell {shell}, {runs} runs: mean, ours / hyperfine (medians {:.3} and \
             {:.3} ms)",
            median(&ours),
            median(&theirs)
        );
        print_ratios(&what, &ratios(&means));
    }
    let all = pairs(
        ROUNDS,
        |_| costs(|runs| ours(bench, "true", "none", runs)),
        |_| costs(|runs| theirs(bench, "true", "none", runs)),
    )?;
    let (ours, theirs): (Vec<Costs>, Vec<Costs>) = all.into_iter().unzip();
    let runs: Vec<(f64, f64)> = ours.iter().zip(&theirs).map(|(a, b)| (a.run_s, b.run_s)).collect();
    for (who, of) in [("ours", ours), ("hyperfine", theirs)] {
        let (calls, runs): (Vec<f64>, Vec<f64>) =
            of.iter().map(|costs| (costs.call_s * 1e3, costs.overhead_run_s * 1e6)).unzip();
        print(&format!("overhead, {who}: a call"), &calls, 1, " ms");
        print("  and each run", &runs, 1, " us");
    }
    print_ratios("a run of true in all, ours / hyperfine", &ratios(&runs));
    Ok(())
}

fn costs(timed: impl Fn(u32) -> Result<Timed, String>) -> Result<Costs, String> {
    let (few, many) = (500, 5000);
    let (short, long) = (timed(few)?, timed(many)?);
    let of_a_run = |short: f64, long: f64| (long - short) / f64::from(many - few);
    let overhead_run_s = of_a_run(short.overhead_s, long.overhead_s);
    let call_s = short.overhead_s - overhead_run_s * f64::from(few);
    Ok(Costs { call_s, overhead_run_s, run_s: of_a_run(short.wall_s, long.wall_s) })
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
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let json: Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let result = &json["results"][0];
    let times = result["times"].as_array().ok_or("no times were written")?;
    let sum_s: f64 = times.iter().filter_map(Value::as_f64).sum();
    if times.len() != runs as usize {
        return Err(format!("{} times instead of {runs}", times.len()));
    }
    let mean_s = result["mean"].as_f64().ok_or("no mean was written")?;
    Ok(Timed { mean_s, wall_s, overhead_s: wall_s - sum_s })
}

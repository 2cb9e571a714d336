//! Cost of the program around the measurements, and its rate of false findings.

use super::figures::{pairs, print, print_goal, print_ratios};
use super::run::{Bench, Used, used};
use crate::process::{output, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Wall time of a run that is not a measurement, at trials of five seconds.
pub fn overhead(bench: &Bench) -> Result<(), String> {
    let text = "[target]\nengine = \"sqlite\"\nsettings = { journal_mode = \"wal\", synchronous = \
                \"normal\" }\n[workload]\nprobe = \"insert\"\nconnections = 2\nduration = \"5 \
                s\"\n[factors]\n\"target.data_files\" = [1, 2]\n[repeats]\nblocks = 3\n";
    let start = Instant::now();
    let trials = bench.experiment("bench-overhead", text, &[])?.trials;
    let wall_s = start.elapsed().as_secs_f64();
    let (mut measured_s, mut between_ms) = (0.0, Vec::new());
    for trial in &trials {
        let elapsed_s = trial.response("elapsed")?;
        measured_s += elapsed_s;
        between_ms.push((trial.wall_s - elapsed_s) * 1e3);
    }
    let overhead = 100.0 * (wall_s - measured_s) / measured_s;
    println!(
        "{} trials: {wall_s:.2} s in all, {measured_s:.2} s measured: overhead {overhead:.2} %",
        trials.len()
    );
    print("a trial's own", &between_ms, 0, " ms");
    Ok(())
}

/// Time of the whole process of commands that people wait for.
pub fn start_up(bench: &Bench) -> Result<(), String> {
    let file = root().join("experiments/random-insert-data-files.toml");
    time(bench, &["--help"])?;
    time(bench, &["check", &file.to_string_lossy()])
}

/// Reads every row of every table, which is the least that a report has to do.
const READ: &str = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\nfor (name,) in \
                    db.execute(\"SELECT name FROM sqlite_master WHERE type = \
                    'table'\").fetchall():\n    for row in db.execute(f'SELECT * FROM {name}'): \
                    pass\n";

/// The most that a command should take: seconds of processor time, megabytes of memory, and of what
/// it writes.
type Goal = (f64, f64, f64);
const SHOW: Goal = (1.0, 200.0, f64::INFINITY);
const PAGE: Goal = (3.0, 500.0, 8.0);
const WORKBOOK: Goal = (8.0, 500.0, f64::INFINITY);

/// Report on 10,000 trials with four histograms each, in four configurations, in 5,000, and in
/// 5,000 with connections as a factor, which have models: CPU time next to a plain read of the same
/// file, and peak memory. Then the pages of a server of these files.
pub fn report(bench: &Bench) -> Result<(), String> {
    let bench = Bench {
        folder: bench.folder.join("report"),
        steelbench: bench.steelbench.clone(),
        ..*bench
    };
    let clear = || {
        std::fs::remove_dir_all(&bench.folder)
            .map_err(|error| format!("{}: {error}", bench.folder.display()))
    };
    // A measurement that was cut off leaves its results file, to which a run would be added.
    if bench.folder.exists() {
        clear()?;
    }
    let levels = |n: u32| (1..=n).map(|level| level.to_string()).collect::<Vec<_>>().join(", ");
    let rows = |n: u32| format!("\"workload.rows_per_transaction\" = [{}]\n", levels(n));
    let files = |n: u32| format!("\"target.data_files\" = [{}]\n", levels(n));
    let connections = format!("\"workload.connections\" = [1, 2, 4, 8, 16]\n{}", rows(1000));
    let grid = files(50) + &rows(100);
    for (name, factors, blocks) in [
        ("4-configurations", files(4), 2500),
        ("5000-configurations", grid, 2),
        ("models", connections, 2),
    ] {
        let results = recorded(&bench, name, &factors, blocks)?;
        let (page, book) =
            (bench.folder.join(format!("{name}.html")), bench.folder.join(format!("{name}.xlsx")));
        let export = ["export", name, "--format", "xlsx", "--output"];
        beside_a_read(bench.command(&["show", name]), None, &results, SHOW)?;
        beside_a_read(bench.command(&["report", name, "--output"]), Some(&page), &results, PAGE)?;
        beside_a_read(bench.command(&export), Some(&book), &results, WORKBOOK)?;
    }
    println!("serve:");
    let visit = root().join("xtask/src/bench/visit.py");
    let mut served = Command::new("python3");
    served.arg(visit).arg(&bench.steelbench).arg(bench.folder.join("results"));
    print!("{}", output(&mut served)?);
    clear()
}

/// A results file with trials of each configuration in `blocks` blocks: copies of one that ran.
fn recorded(bench: &Bench, name: &str, factors: &str, blocks: u32) -> Result<PathBuf, String> {
    let text = if factors.contains("connections") { "" } else { "connections = 1\n" };
    let text = format!(
        "[experiment]\nname = \"{name}\"\n[target]\nengine = \"sqlite\"\nsettings = {{ \
         synchronous = \"off\" }}\n[workload]\nprobe = \"insert\"\n{text}duration = \"1 \
         s\"\n[limits]\nrun_time = \"5 s\"\n[factors]\n{factors}"
    );
    let file = bench.folder.join(format!("{name}.toml"));
    let written = std::fs::create_dir_all(&bench.folder).and_then(|()| std::fs::write(&file, text));
    written.map_err(|error| format!("{}: {error}", file.display()))?;
    // It ends at the limit, which is a failure of its own.
    let ran = bench.command(&["run", "--fresh", "--json"]).arg(&file).output();
    ran.map_err(|error| format!("{}: {error}", bench.steelbench.display()))?;
    let results = bench.folder.join(format!("results/{name}.steelbench"));
    let multiply = root().join("xtask/src/bench/multiply.py");
    output(Command::new("python3").arg(multiply).arg(&results).arg(blocks.to_string()))?;
    Ok(results)
}

/// A command, to which the path of its output is added, and a read of the results file in turn.
fn beside_a_read(
    mut command: Command,
    output: Option<&PathBuf>,
    results: &Path,
    goal: Goal,
) -> Result<(), String> {
    let arguments: Vec<_> =
        command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
    println!("{}:", arguments.join(" "));
    command.args(output);
    let mut read = Command::new("python3");
    read.args(["-c", READ]).arg(results);
    let pairs = pairs(3, |_| used(&command), |_| used(&read))?;
    let ratios: Vec<f64> = pairs.iter().map(|(ours, read)| ours.cpu_s / read.cpu_s).collect();
    let column =
        |of: fn(&Used) -> f64| pairs.iter().map(|(ours, _)| of(ours)).collect::<Vec<f64>>();
    print_goal("  processor time", &column(|used| used.cpu_s), 2, " s", goal.0);
    print_ratios("  the same against a plain read", &ratios);
    print_goal("  most memory", &column(|used| used.peak_mb), 0, " MB", goal.1);
    if let Some(page) = output {
        let bytes = page.metadata().map_err(|error| format!("{}: {error}", page.display()))?.len();
        print_goal("  output", &[bytes as f64 / 1e6], 1, " MB", goal.2);
    }
    Ok(())
}

fn time(bench: &Bench, arguments: &[&str]) -> Result<(), String> {
    let times = (0..21)
        .map(|_| {
            let start = Instant::now();
            output(&mut bench.command(arguments)).map(|_| start.elapsed().as_secs_f64() * 1e3)
        })
        .collect::<Result<Vec<f64>, String>>()?;
    print(&arguments.join(" "), &times, 1, " ms");
    Ok(())
}

/// Runs experiments whose levels differ in name only and counts the comparisons with the baseline
/// that come out different at 95 %. About one in twenty is what 95 % means.
pub fn identical_configurations(bench: &Bench) -> Result<(), String> {
    const RUNS: u64 = 6;
    let (mut compared, mut different, mut claims) = (0, 0, 0);
    for seed in 1..=RUNS {
        let level = |level: u32| format!("[[level]]\nfactor = \"same\"\nname = \"{level}\"\n");
        let text = format!(
            "[target]\nengine = \"sqlite\"\ndata_files = 2\n[workload]\nprobe = \
             \"insert\"\nconnections = 2\nrows = 20000\n[repeats]\nblocks = 8\nseed = {seed}\n{}",
            (1..=8).map(level).collect::<String>()
        );
        bench.experiment("bench-a-a", &text, &[])?;
        let shown = output(&mut bench.command(&["show", "bench-a-a", "--json"]))?;
        let summary: Value =
            serde_json::from_str(&shown).map_err(|error| format!("show --json: {error}"))?;
        let rows =
            summary["configurations"].as_array().ok_or("show --json has no configurations")?;
        let p_values = |name: &str| {
            rows.iter().filter_map(|row| row["factor"][name].as_f64()).collect::<Vec<_>>()
        };
        compared += p_values("p_value").len();
        different += p_values("p_value").iter().filter(|p| **p < 0.05).count();
        claims += usize::from(p_values("adjusted_p").iter().any(|p| *p < 0.05));
    }
    println!(
        "{RUNS} runs of 8 identical levels, 8 blocks: {different} of {compared} single \
         comparisons called different at 95 %; after Holm {claims} of {RUNS} runs claim a \
         difference"
    );
    Ok(())
}

//! How well models predict levels that they have not seen, on experiments run here: the table of docs/models.md.

use super::figures::median;
use super::run::Bench;
use crate::process::output;
use serde_json::Value;

/// What is run: name, the file after `[experiment]`, and whether it needs PostgreSQL or the right to throttle.
const EXPERIMENTS: [(&str, &str); 7] = [
    (
        "models-sqlite-insert",
        "[target]\nengine = \"sqlite\"\nsettings = { journal_mode = \"wal\", synchronous = \"normal\" }\n\
         [workload]\nprobe = \"insert\"\nrows_per_transaction = 100\nduration = \"1 s\"\n\
         [factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32]\n\"target.data_files\" = [1, 4]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-sqlite-lookup",
        "[target]\nengine = \"sqlite\"\n[workload]\nprobe = \"script\"\nbuiltin = \"select-only\"\nduration = \"1 s\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-postgres-select",
        "[target]\nengine = \"postgres\"\n[workload]\nprobe = \"script\"\nbuiltin = \"select-only\"\nscale = 2\nduration = \"2 s\"\nwarmup = \"500 ms\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32, 64]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-postgres-update",
        "[target]\nengine = \"postgres\"\n[workload]\nprobe = \"script\"\nbuiltin = \"simple-update\"\nscale = 5\nduration = \"2 s\"\nwarmup = \"500 ms\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32, 64]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-postgres-insert",
        "[target]\nengine = \"postgres\"\n[workload]\nprobe = \"insert\"\nrows_per_transaction = 10\nduration = \"2 s\"\nwarmup = \"500 ms\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32, 64]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-disk",
        "[target]\nengine = \"files\"\nfile_size = \"256 MiB\"\n[workload]\nprobe = \"disk\"\npattern = \"random-read\"\nduration = \"1 s\"\n[factors]\n\"workload.queue_depth\" = [1, 2, 4, 8, 16, 32]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-throttled",
        "[target]\nengine = \"files\"\nfile_size = \"64 MiB\"\nvolume = \"slow\"\n[[volume]]\nname = \"slow\"\npath = \".\"\nthrottle = { read_iops = 2000, write_iops = 2000 }\n[workload]\nprobe = \"disk\"\npattern = \"random-read\"\nduration = \"2 s\"\n[factors]\n\"workload.queue_depth\" = [1, 2, 4, 8, 16, 32]\n[repeats]\nblocks = 3\n",
    ),
];

/// Runs each experiment and prints predicted, interval, measured and error of the levels that its model has not seen.
pub fn run(bench: &Bench) -> Result<(), String> {
    let (mut errors, mut held, mut all) = (Vec::new(), 0, 0);
    println!(
        "| experiment | model | level | predicted | 95 % interval | measured | error |\n|---|---|---|---|---|---|---|"
    );
    for (name, text) in EXPERIMENTS {
        if let Err(why) = bench.experiment(name, text, &[]) {
            println!("SKIPPED: {name}: {}", why.lines().last().unwrap_or_default());
            continue;
        }
        let shown = output(&mut bench.command(&["show", name, "--json"]))?;
        let summary: Value = serde_json::from_str(&shown).map_err(|error| format!("{name}: {error}"))?;
        for model in summary["models"].as_array().into_iter().flatten() {
            let best = &model["candidates"][0];
            for own in best["tested"].as_array().into_iter().flatten() {
                let number = |key: &str| own[key].as_f64().unwrap_or(f64::NAN);
                let (low, high) = (own["interval"]["low"].as_f64(), own["interval"]["high"].as_f64());
                let covered = own["covered"].as_bool() == Some(true);
                println!(
                    "| {name} | {} | {} | {:.0} | {:.0} to {:.0}{} | {:.0} | {:+.1} % |",
                    best["model"].as_str().unwrap_or_default(),
                    number("n"),
                    number("predicted"),
                    low.unwrap_or(f64::NAN),
                    high.unwrap_or(f64::NAN),
                    if covered { "" } else { " (missed)" },
                    number("measured"),
                    100.0 * number("error")
                );
                errors.push(number("error").abs());
                held += usize::from(covered);
                all += 1;
            }
        }
    }
    println!("median error {:.1} %, intervals hold {held} of {all}", 100.0 * median(&errors));
    Ok(())
}

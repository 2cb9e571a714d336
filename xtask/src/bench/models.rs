//! The fit of models at levels that they have not seen, on experiments run here: the table of
//! docs/models.md.

use super::figures::median;
use super::run::Bench;
use crate::process::output;
use serde_json::Value;
use std::process::Command;

/// Experiments: name, the file after `[experiment]`, and whether it needs PostgreSQL or the right
/// to throttle.
const EXPERIMENTS: [(&str, &str); 8] = [
    (
        "models-sqlite-insert",
        "[target]\nengine = \"sqlite\"\nsettings = { journal_mode = \"wal\", synchronous = \
         \"normal\" }\n[workload]\nprobe = \"insert\"\nrows_per_transaction = 100\nduration = \"1 \
         s\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32]\n\"target.data_files\" = \
         [1, 4]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-sqlite-lookup",
        "[target]\nengine = \"sqlite\"\n[workload]\nprobe = \"script\"\nbuiltin = \
         \"select-only\"\nduration = \"1 s\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, \
         16, 32]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-postgres-select",
        "[target]\nengine = \"postgres\"\n[workload]\nprobe = \"script\"\nbuiltin = \
         \"select-only\"\nscale = 2\nduration = \"2 s\"\nwarmup = \"500 \
         ms\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32, 64]\n[repeats]\nblocks \
         = 3\n",
    ),
    (
        "models-postgres-update",
        "[target]\nengine = \"postgres\"\n[workload]\nprobe = \"script\"\nbuiltin = \
         \"simple-update\"\nscale = 5\nduration = \"2 s\"\nwarmup = \"500 \
         ms\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32, 64]\n[repeats]\nblocks \
         = 3\n",
    ),
    (
        "models-postgres-insert",
        "[target]\nengine = \"postgres\"\n[workload]\nprobe = \"insert\"\nrows_per_transaction = \
         10\nduration = \"2 s\"\nwarmup = \"500 ms\"\n[factors]\n\"workload.connections\" = [1, \
         2, 4, 8, 16, 32, 64]\n[repeats]\nblocks = 3\n",
    ),
    (
        MIX,
        "[target]\nengine = \"postgres\"\n[workload]\nprobe = \"script\"\nbuiltin = \
         [\"select-only@3\", \"simple-update\"]\nscale = 5\nduration = \"1 s\"\nwarmup = \"500 \
         ms\"\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16, 32]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-disk",
        "[target]\nengine = \"files\"\nfile_size = \"256 MiB\"\n[workload]\nprobe = \
         \"disk\"\npattern = \"random-read\"\nduration = \"1 \
         s\"\n[factors]\n\"workload.queue_depth\" = [1, 2, 4, 8, 16, 32]\n[repeats]\nblocks = 3\n",
    ),
    (
        "models-throttled",
        "[target]\nengine = \"files\"\nfile_size = \"64 MiB\"\nvolume = \
         \"slow\"\n[[volume]]\nname = \"slow\"\npath = \".\"\nthrottle = { read_iops = 2000, \
         write_iops = 2000 }\n[workload]\nprobe = \"disk\"\npattern = \"random-read\"\nduration = \
         \"2 s\"\n[factors]\n\"workload.queue_depth\" = [1, 2, 4, 8, 16, 32]\n[repeats]\nblocks = \
         3\n",
    ),
];

/// The one that runs two scripts.
const MIX: &str = "models-postgres-mix";

/// A change that is made in earnest after its prediction.
struct Change {
    /// The experiment above.
    name: &'static str,
    /// The requested predictions.
    asked: &'static [&'static str],
    /// Replacement in its file.
    replaced: Option<(&'static str, &'static str)>,
    /// The levels that are run.
    factors: &'static str,
    /// True for a run on one CPU.
    on_one: bool,
}

const CHANGES: [Change; 4] = [
    Change {
        name: "models-postgres-select",
        asked: &["connections=8", "cpus=1"],
        replaced: None,
        factors: "\"workload.connections\" = [8]",
        on_one: true,
    },
    Change {
        name: "models-postgres-update",
        asked: &["connections=8", "cpus=1"],
        replaced: None,
        factors: "\"workload.connections\" = [8]",
        on_one: true,
    },
    Change {
        name: "models-throttled",
        asked: &["queue_depth=8", "device.slow.latency=0.5x"],
        replaced: Some(("read_iops = 2000", "read_iops = 4000")),
        factors: "\"workload.queue_depth\" = [8]",
        on_one: false,
    },
    Change {
        name: "models-sqlite-insert",
        asked: &["connections=4", "data_files=1", "waits.WRITER_LOCK=0"],
        replaced: None,
        factors: "\"workload.connections\" = [4]\n\"target.data_files\" = [4]",
        on_one: false,
    },
];

/// Runs each experiment and prints predicted, interval, measured and error of the levels that its
/// model has not seen.
pub fn run(bench: &Bench) -> Result<(), String> {
    let (mut errors, mut factors, mut held) = (Vec::new(), Vec::new(), 0);
    println!(
        "| experiment | model | level | predicted | 95 % interval | measured | error \
         |\n|---|---|---|---|---|---|---|"
    );
    for (name, text) in EXPERIMENTS {
        if let Err(why) = bench.experiment(name, text, &[]) {
            println!("SKIPPED: {name}: {}", why.lines().last().unwrap_or_default());
            continue;
        }
        let shown = output(&mut bench.command(&["show", name, "--json"]))?;
        let summary: Value =
            serde_json::from_str(&shown).map_err(|error| format!("{name}: {error}"))?;
        for model in summary["models"].as_array().into_iter().flatten() {
            let best = &model["candidates"][0];
            for array in best["tested"].as_array().into_iter().flatten() {
                let number = |key: &str| array[key].as_f64().unwrap_or(f64::NAN);
                let (low, high) =
                    (array["interval"]["low"].as_f64(), array["interval"]["high"].as_f64());
                let covered = array["covered"].as_bool() == Some(true);
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
                factors.push(high.unwrap_or(f64::NAN) / low.unwrap_or(f64::NAN));
            }
        }
    }
    println!(
        "median error {:.1} %, intervals hold {held} of {}, median factor between their ends {:.2}",
        100.0 * median(&errors),
        factors.len(),
        median(&factors)
    );
    by_script(bench)?;
    what_if(bench)
}

/// Measures the errors of latencies by script at levels that the model has not seen.
fn by_script(bench: &Bench) -> Result<(), String> {
    let Ok(printed) =
        output(&mut bench.command(&["predict", MIX, "--set", "connections=32", "--json"]))
    else {
        println!("SKIPPED: {MIX}: there is nothing to predict from");
        return Ok(());
    };
    let answer: Value =
        serde_json::from_str(&printed).map_err(|error| format!("{MIX}: {error}"))?;
    let error = answer["by_script"]["error_median"].as_f64().unwrap_or(f64::NAN);
    println!("{MIX}: median error of the latencies of scripts {:.1} %", 100.0 * error);
    Ok(())
}

/// Asks for changes and then makes them.
fn what_if(bench: &Bench) -> Result<(), String> {
    println!(
        "\n| experiment | change | predicted | 95 % interval | measured | error \
         |\n|---|---|---|---|---|---|"
    );
    for Change { name, asked: questions, replaced, factors, on_one } in CHANGES {
        let Some((_, text)) = EXPERIMENTS.iter().find(|(file, _)| *file == name) else { continue };
        let mut predict = bench.command(&["predict", name, "--json"]);
        predict.args(questions.iter().flat_map(|change| ["--set", change]));
        let Ok(printed) = output(&mut predict) else {
            println!("SKIPPED: {name}: there is nothing to predict from");
            continue;
        };
        let answer: Value =
            serde_json::from_str(&printed).map_err(|error| format!("{name}: {error}"))?;
        let (begin, rest) = text.split_once("[factors]").unwrap_or((text, ""));
        let repeats = rest.find("[repeats]").map_or("", |at| &rest[at..]);
        let begin = replaced
            .map_or_else(|| begin.to_owned(), |(before, after)| begin.replace(before, after));
        let changed = format!("{begin}[factors]\n{factors}\n{repeats}");
        let run = || bench.experiment(&format!("{name}-changed"), &changed, &[]);
        let ran = if on_one { on_one_processor(run) } else { run() }?;
        let measured: Vec<f64> = ran
            .trials
            .iter()
            .map(|trial| trial.response("throughput").or_else(|_| trial.response("iops")))
            .collect::<Result<_, _>>()?;
        let measured = measured.iter().sum::<f64>() / measured.len() as f64;
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let (low, high) = (number(&answer["interval"]["low"]), number(&answer["interval"]["high"]));
        let predicted = number(&answer["throughput"]);
        println!(
            "| {name} | {} | {predicted:.0} | {low:.0} to {high:.0}{} | {measured:.0} | {:+.1} % |",
            questions.join(", "),
            if (low..=high).contains(&measured) { "" } else { " (missed)" },
            100.0 * (predicted / measured - 1.0)
        );
    }
    Ok(())
}

/// Does something while we, and what we start, may use the first processor only.
fn on_one_processor<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let id = std::process::id().to_string();
    let pin = |list: &str| output(Command::new("taskset").args(["-apc", list, &id]));
    // `pid 4711's current affinity list: 0,1`
    let before = output(Command::new("taskset").args(["-pc", &id]))?;
    let before = before.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    pin("0")?;
    let done = work();
    pin(&before)?;
    done
}

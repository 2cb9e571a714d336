//! Identical configurations on the real engine: how often are they called different?

use super::run::Bench;
use crate::process::output;
use serde_json::Value;
use std::fmt::Write as _;
use std::process::Command;

const RUNS: u64 = 6;
const LEVELS: u32 = 8;
const BLOCKS: u32 = 8;

/// Runs experiments whose levels differ in name only and counts the comparisons with the baseline
/// that come out different at 95 %. About one in twenty is what 95 % means.
pub fn identical_configurations(bench: &Bench) -> Result<(), String> {
    let (mut compared, mut different, mut claims) = (0, 0, 0);
    for seed in 1..=RUNS {
        let mut text = format!(
            "[target]\nengine = \"sqlite\"\ndata_files = 2\n[workload]\nprobe = \"insert\"\nconnections = 2\n\
             rows = 20000\n[repeats]\nblocks = {BLOCKS}\nseed = {seed}\n"
        );
        for level in 1..=LEVELS {
            // Writing to a string cannot fail.
            let _ = write!(text, "[[level]]\nfactor = \"same\"\nname = \"{level}\"\n");
        }
        bench.experiment("bench-a-a", &text)?;
        let mut show = Command::new(&bench.steelbench);
        let shown = output(show.args(["show", "bench-a-a", "--json"]).current_dir(&bench.folder))?;
        let summary: Value = serde_json::from_str(&shown).map_err(|error| format!("show --json: {error}"))?;
        let rows = summary["configurations"].as_array().ok_or("show --json has no configurations")?;
        let p_values =
            |name: &str| rows.iter().filter_map(|row| row["factor"][name].as_f64()).collect::<Vec<_>>();
        compared += p_values("p_value").len();
        different += p_values("p_value").iter().filter(|p| **p < 0.05).count();
        claims += usize::from(p_values("adjusted_p").iter().any(|p| *p < 0.05));
    }
    println!(
        "{RUNS} runs of {LEVELS} identical levels, {BLOCKS} blocks: {different} of {compared} single comparisons \
         called different at 95 %; after Holm {claims} of {RUNS} runs claim a difference"
    );
    Ok(())
}

//! The disk probe beside fio: the same file, the same settings, one after the other.

use super::run::Bench;
use super::{mean_and_interval, median_and_range};
use crate::process::output;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Rounds of A and B: many short ones, because the disk varies more from one to the next than within one.
const ROUNDS: u64 = 15;
/// Seconds of each.
const SECONDS: u64 = 3;
/// Of the file. It fits in memory, for the page cache.
const FILE_MIB: u64 = 1024;

/// One setting of both programs.
struct Setting {
    pattern: &'static str,
    fio: &'static str,
    block_kib: u64,
    depth: u32,
    /// I/Os that are begun and waited for together.
    batch: u32,
    /// How many ended I/Os fio takes at once at most, 1 by default: those that wait to be taken count as in flight.
    /// We take all that there are.
    fio_takes: u32,
    direct: bool,
}

/// Names as we call them; times in us. fio's latency begins when the I/O is made, and its completion latency
/// (`clat`) when the call that submits has returned; ours begins just before that call.
const FIGURES: [&str; 7] =
    ["iops", "bandwidth", "latency_mean", CLAT_MEAN, "latency_p50", "latency_p99", "cpu"];

/// Our mean latency, beside fio's completion latency.
const CLAT_MEAN: &str = "latency_mean (fio: clat)";

type Figures = [f64; FIGURES.len()];

/// IOPS, bandwidth and latency of direct 8 KiB I/O, against fio's.
pub fn against_fio(bench: &Bench) -> Result<(), String> {
    for (pattern, fio) in [("random-read", "randread"), ("random-write", "randwrite")] {
        for depth in [1, 32] {
            let (block_kib, batch, fio_takes, direct) = (8, 1, depth, true);
            let setting = Setting { pattern, fio, block_kib, depth, batch, fio_takes, direct };
            pairs(bench, &setting, &FIGURES)?;
        }
    }
    Ok(())
}

/// CPU of an I/O against fio's `io_uring` engine: one by one, and in batches.
pub fn cpu(bench: &Bench) -> Result<(), String> {
    for batch in [1, 8] {
        let (pattern, fio) = ("random-read", "randread");
        let (block_kib, depth, fio_takes, direct) = (8, 32, batch, true);
        let setting = Setting { pattern, fio, block_kib, depth, batch, fio_takes, direct };
        pairs(bench, &setting, &["cpu", "iops", "latency_mean"])?;
    }
    Ok(())
}

/// I/Os a second of one thread on a file in the page cache.
pub fn page_cache(bench: &Bench) -> Result<(), String> {
    let (pattern, fio) = ("random-read", "randread");
    let (block_kib, depth, batch, fio_takes, direct) = (4, 32, 1, 1, false);
    let setting = Setting { pattern, fio, block_kib, depth, batch, fio_takes, direct };
    pairs(bench, &setting, &["iops", "cpu"])
}

/// Runs pairs in turn and prints the ratios of these figures.
fn pairs(bench: &Bench, setting: &Setting, shown: &[&str]) -> Result<(), String> {
    let file = file(bench)?;
    let (mut all_ours, mut all_theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            all_ours.push(ours(bench, &file, setting, round)?);
            all_theirs.push(theirs(&file, setting)?);
        } else {
            all_theirs.push(theirs(&file, setting)?);
            all_ours.push(ours(bench, &file, setting, round)?);
        }
    }
    println!(
        "{} {} KiB, depth {}, batches of {}, {}: ours / fio, {ROUNDS} pairs of {SECONDS} s",
        setting.pattern,
        setting.block_kib,
        setting.depth,
        setting.batch,
        if setting.direct { "direct" } else { "in the page cache" }
    );
    for (position, name) in FIGURES.iter().enumerate().filter(|(_, name)| shown.contains(name)) {
        let of = |all: &[Figures]| all.iter().map(|figures| figures[position]).collect::<Vec<f64>>();
        let (ours, theirs) = (of(&all_ours), of(&all_theirs));
        let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
        let (mean, low, high) = mean_and_interval(&ratios);
        let (median, smallest, largest) = median_and_range(&ratios);
        println!(
            "  {name}: {mean:.3} (95 % interval {low:.3} to {high:.3}; median {median:.3}, range {smallest:.3} to {largest:.3}); \
             medians {:.1} and {:.1}",
            median_and_range(&ours).0,
            median_and_range(&theirs).0
        );
    }
    Ok(())
}

/// The file that both work on, written in full.
fn file(bench: &Bench) -> Result<PathBuf, String> {
    let path = bench.folder.join("disk.data");
    let full = path.metadata().is_ok_and(|file| file.len() == FILE_MIB << 20);
    if !full {
        let mut fio = Command::new("fio");
        fio.args(["--name=fill", "--rw=write", "--bs=1M", "--refill_buffers", "--end_fsync=1"]);
        output(fio.arg(format!("--size={FILE_MIB}M")).arg(format!("--filename={}", path.display())))?;
    }
    Ok(path)
}

fn ours(bench: &Bench, file: &std::path::Path, setting: &Setting, seed: u64) -> Result<Figures, String> {
    let path = file.display().to_string();
    // Read once before, a file of the page cache is in it.
    let cache = if setting.direct { "warm" } else { "hot" };
    let text = format!(
        "[target]\nengine = \"files\"\npaths = [{path:?}]\ncache = \"{cache}\"\n\
         [workload]\nprobe = \"disk\"\npattern = \"{}\"\nblock_size = \"{} KiB\"\nqueue_depth = {}\nbatch = {}\n\
         direct = {}\nduration = \"{SECONDS} s\"\nwarmup = \"500 ms\"\n[repeats]\nblocks = 1\nseed = {seed}\n",
        setting.pattern, setting.block_kib, setting.depth, setting.batch, setting.direct
    );
    let trials = bench.experiment_with("bench-disk", &text, &["--overwrite", &path])?;
    let trial = trials.first().ok_or("no trial was finished")?;
    let mut figures = [0.0; FIGURES.len()];
    for (figure, name) in figures.iter_mut().zip(FIGURES) {
        *figure = trial.response(if name == CLAT_MEAN { "latency_mean" } else { name })?;
    }
    Ok(figures)
}

fn theirs(file: &std::path::Path, setting: &Setting) -> Result<Figures, String> {
    let mut fio = Command::new("fio");
    fio.args(["--name=bench", "--ioengine=io_uring", "--registerfiles", "--fixedbufs", "--time_based"])
        .args(["--ramp_time=500ms", "--norandommap", "--randrepeat=0", "--invalidate=0"])
        .args([
            "--lat_percentiles=1",
            "--clat_percentiles=0",
            "--percentile_list=50:99",
            "--output-format=json",
        ])
        .arg(format!("--filename={}", file.display()))
        .arg(format!("--rw={}", setting.fio))
        .arg(format!("--bs={}k", setting.block_kib))
        .arg(format!("--iodepth={}", setting.depth))
        .arg(format!("--iodepth_batch={}", setting.batch))
        .arg(format!("--iodepth_batch_complete_min={}", setting.batch))
        .arg(format!("--iodepth_batch_complete_max={}", setting.fio_takes))
        .arg(format!("--direct={}", u8::from(setting.direct)))
        .arg(format!("--runtime={SECONDS}"));
    let text = output(&mut fio)?;
    // Warnings can stand before the JSON.
    let json: Value = serde_json::from_str(&text[text.find('{').unwrap_or(0)..])
        .map_err(|error| format!("fio printed no JSON: {error}"))?;
    let job = &json["jobs"][0];
    let side = &job[if setting.fio == "randwrite" { "write" } else { "read" }];
    let number = |value: &Value| value.as_f64().ok_or("fio left a figure out");
    let latency = &side["lat_ns"];
    let ios = number(&side["total_ios"])?;
    let cpu_s =
        (number(&job["usr_cpu"])? + number(&job["sys_cpu"])?) / 100.0 * number(&job["job_runtime"])? / 1e3;
    Ok([
        number(&side["iops"])?,
        number(&side["bw_bytes"])? / 1e6,
        number(&latency["mean"])? / 1e3,
        number(&side["clat_ns"]["mean"])? / 1e3,
        number(&latency["percentile"]["50.000000"])? / 1e3,
        number(&latency["percentile"]["99.000000"])? / 1e3,
        cpu_s * 1e6 / ios,
    ])
}

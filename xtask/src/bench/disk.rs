//! The disk probe beside fio: the same file, the same settings, one after the other.

use super::figures::{median, pairs, print_ratios, ratios};
use super::run::Bench;
use crate::process::output;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rounds of A and B: many short ones, because the disk varies more from one to the next than
/// within one.
const ROUNDS: u64 = 15;
/// Seconds of each.
const SECONDS: u64 = 3;
/// Size of the file. It fits in memory, for the page cache.
const FILE_MIB: u64 = 1024;

/// A setting of both programs.
struct Setting {
    pattern: &'static str,
    fio: &'static str,
    block_kib: u64,
    depth: u32,
    /// I/Os that are begun and waited for together.
    batch: u32,
    /// The most ended I/Os that fio takes at once, 1 by default: those that wait to be taken count
    /// as in flight. We take all that there are.
    fio_takes: u32,
    direct: bool,
}

/// Names as we call them; times in us. fio's latency begins when the I/O is made, and its
/// completion latency (`clat`) when the call that submits has returned; ours begins just before
/// that call.
const FIGURES: [&str; 7] =
    ["iops", "bandwidth", "latency_mean", CLAT_MEAN, "latency_p50", "latency_p99", "cpu"];

/// Our mean latency, beside fio's completion latency.
const CLAT_MEAN: &str = "latency_mean (fio: clat)";

type Figures = [f64; FIGURES.len()];

/// One thread that reads at random and keeps 32 I/Os of 8 KiB in flight, direct.
const RANDOM_READ: Setting = Setting {
    pattern: "random-read",
    fio: "randread",
    block_kib: 8,
    depth: 32,
    batch: 1,
    fio_takes: 1,
    direct: true,
};

/// IOPS, bandwidth and latency of direct 8 KiB I/O, against fio's.
pub fn against_fio(bench: &Bench) -> Result<(), String> {
    for (pattern, fio) in [("random-read", "randread"), ("random-write", "randwrite")] {
        for depth in [1, 32] {
            compare(
                bench,
                &Setting { pattern, fio, depth, fio_takes: depth, ..RANDOM_READ },
                &FIGURES,
            )?;
        }
    }
    Ok(())
}

/// CPU of an I/O against fio's `io_uring` engine: one by one, and in batches.
pub fn cpu(bench: &Bench) -> Result<(), String> {
    for batch in [1, 8] {
        let setting = Setting { batch, fio_takes: batch, ..RANDOM_READ };
        compare(bench, &setting, &["cpu", "iops", "latency_mean"])?;
    }
    Ok(())
}

/// I/Os a second of one thread on a file in the page cache.
pub fn page_cache(bench: &Bench) -> Result<(), String> {
    compare(bench, &Setting { block_kib: 4, direct: false, ..RANDOM_READ }, &["iops", "cpu"])
}

/// Runs pairs in turn and prints the ratios of these figures.
fn compare(bench: &Bench, setting: &Setting, shown: &[&str]) -> Result<(), String> {
    let file = file(bench)?;
    let pairs =
        pairs(ROUNDS, |round| ours(bench, &file, setting, round), |_| theirs(&file, setting))?;
    let Setting { pattern, block_kib, depth, batch, direct, .. } = setting;
    let how = if *direct { "direct" } else { "in the page cache" };
    println!(
        "{pattern} {block_kib} KiB, depth {depth}, batches of {batch}, {how}: ours / fio, \
         {ROUNDS} pairs of {SECONDS} s"
    );
    for (position, name) in FIGURES.iter().enumerate().filter(|(_, name)| shown.contains(name)) {
        let figures: Vec<(f64, f64)> =
            pairs.iter().map(|(ours, theirs)| (ours[position], theirs[position])).collect();
        let (ours, theirs): (Vec<f64>, Vec<f64>) = figures.iter().copied().unzip();
        let what = format!("  {name} (medians {:.1} and {:.1})", median(&ours), median(&theirs));
        print_ratios(&what, &ratios(&figures));
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
        output(
            fio.arg(format!("--size={FILE_MIB}M")).arg(format!("--filename={}", path.display())),
        )?;
    }
    Ok(path)
}

fn ours(bench: &Bench, file: &Path, setting: &Setting, seed: u64) -> Result<Figures, String> {
    let path = file.display().to_string();
    // Read once before, a file of the page cache is in it.
    let cache = if setting.direct { "warm" } else { "hot" };
    let text = format!(
        "[target]\nengine = \"files\"\npaths = [{path:?}]\ncache = \"{cache}\"\n[workload]\nprobe \
         = \"disk\"\npattern = \"{}\"\nblock_size = \"{} KiB\"\nqueue_depth = {}\nbatch = \
         {}\ndirect = {}\nduration = \"{SECONDS} s\"\nwarmup = \"500 ms\"\n[repeats]\nblocks = \
         1\nseed = {seed}\n",
        setting.pattern, setting.block_kib, setting.depth, setting.batch, setting.direct
    );
    let ran = bench.experiment("bench-disk", &text, &["--overwrite", &path])?;
    let mut figures = [0.0; FIGURES.len()];
    for (figure, name) in figures.iter_mut().zip(FIGURES) {
        *figure = ran.trial()?.response(if name == CLAT_MEAN { "latency_mean" } else { name })?;
    }
    Ok(figures)
}

fn theirs(file: &Path, setting: &Setting) -> Result<Figures, String> {
    let Setting { fio: pattern, block_kib, depth, batch, fio_takes, direct, .. } = *setting;
    let options = format!(
        "--name=bench --ioengine=io_uring --registerfiles --fixedbufs --time_based \
         --ramp_time=500ms --norandommap --randrepeat=0 --invalidate=0 --lat_percentiles=1 \
         --clat_percentiles=0 --percentile_list=50:99 --output-format=json --rw={pattern} \
         --bs={block_kib}k --iodepth={depth} --iodepth_batch={batch} \
         --iodepth_batch_complete_min={batch} --iodepth_batch_complete_max={fio_takes} \
         --direct={} --runtime={SECONDS}",
        u8::from(direct)
    );
    let mut fio = Command::new("fio");
    fio.args(options.split(' ')).arg(format!("--filename={}", file.display()));
    let text = output(&mut fio)?;
    // Warnings can stand before the JSON.
    let json: Value = serde_json::from_str(&text[text.find('{').unwrap_or(0)..])
        .map_err(|error| format!("fio printed no JSON: {error}"))?;
    let job = &json["jobs"][0];
    let side = &job[if pattern == "randwrite" { "write" } else { "read" }];
    let number = |value: &Value| value.as_f64().ok_or("fio left a figure out");
    let latency = &side["lat_ns"];
    let ios = number(&side["total_ios"])?;
    let cpu_s = (number(&job["usr_cpu"])? + number(&job["sys_cpu"])?) / 100.0
        * number(&job["job_runtime"])?
        / 1e3;
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

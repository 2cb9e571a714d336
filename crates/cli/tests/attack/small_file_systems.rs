//! File systems of several kinds and block sizes that another program fills while a run writes to
//! them: under the results, the data, or both. Needs root.

use crate::attack::arena::{Arena, Limits, Tries, USUAL, campaign};
use crate::common::skipped;
use crate::servers::installed;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testing::block_disk::BlockDisk;

/// Commands that make file systems, and the size that each needs.
const MAKERS: [(&[&str], u64); 5] = [
    (&["mkfs.ext4", "-q", "-F", "-b", "1024"], 110 << 20),
    (&["mkfs.ext4", "-q", "-F", "-b", "4096"], 110 << 20),
    (&["mkfs.xfs", "-q"], 340 << 20),
    (&["mkfs.btrfs", "-q"], 200 << 20),
    (&["mkfs.ext4", "-q", "-F", "-b", "2048", "-O", "^has_journal"], 110 << 20),
];
/// More than a run needs to begin.
const FREE_BYTES_MIN: u64 = 65 << 20;
const MODES: [&str; 4] = ["wal", "delete", "persist", "memory"];

/// Ends the filling when dropped, also by a panic: the scope waits for its thread.
struct Filling<'a>(&'a AtomicBool);

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Fills a file system, from now and then a file of another size, until it shall stop.
fn fill(folder: &Path, delay: Duration, left: u64, stop: &AtomicBool) {
    std::thread::sleep(delay);
    let path = folder.join("filler");
    let mut file = File::create(&path).unwrap();
    let block = vec![1; 64 << 10];
    let mut written = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        // The last blocks one by one: writing 64 KiB may leave some.
        if file.write_all(&block).is_ok() || file.write_all(&block[..512]).is_ok() {
            written += 1;
        } else if written > 0 {
            // Full: leaves a little, which the run uses up, and fills again later.
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            let _ = file.set_len(length.saturating_sub(left));
            written = 0;
            std::thread::sleep(Duration::from_millis(20));
        } else {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Bytes that others than root may still write to the file system of a folder.
fn free_bytes(folder: &Path) -> u64 {
    let output = Command::new("df").args(["--output=avail", "-B1"]).arg(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().nth(1).and_then(|line| line.trim().parse().ok()).unwrap_or(0)
}

/// A run whose engine works on the disk, its results, or both.
fn file(engine: &str, on_volume: bool) -> String {
    let volume = if on_volume { "volume = \"small\"\n" } else { "" };
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{engine}\n{volume}[workload]\nprobe = \
         \"insert\"\nconnections = 2\nduration = \"700 ms\"\nrows_per_transaction = \
         20\n[repeats]\nblocks = 2\n[limits]\ntrial_time = \"40 s\"\n[[volume]]\nname = \
         \"small\"\npath = \"small\"\n"
    )
}

/// Waits until a removed file's space is free. btrfs frees it later, and reports none as long as
/// its own structures have no room: what is full for good cannot be resumed on.
fn is_freed(folder: &Path) -> bool {
    for _ in 0..50 {
        Command::new("sync").arg("-f").arg(folder).status().unwrap();
        if free_bytes(folder) > FREE_BYTES_MIN {
            return true;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    false
}

/// Causes that name the full disk.
const CAUSES: [&str; 8] = [
    "No space left",
    "no space left",
    "disk is full",
    "nearly full",
    "free, but a run needs",
    "disk I/O error",
    "full",
    "free space",
];

fn attack(kind: &str, tries: Tries, engines: &[String]) {
    campaign(kind, tries, |random| {
        let arena = Arena::new();
        let (maker, bytes) = *random.in_turn(&MAKERS);
        std::fs::create_dir(arena.path("small")).unwrap();
        let Some(disk) = BlockDisk::make(&arena.path("small"), bytes, maker)? else {
            return Ok(());
        };
        let (on_results, on_volume) = *random.pick(&[(true, true), (true, false), (false, true)]);
        let engine = random.pick(engines);
        let text = file(engine, on_volume);
        arena.write("e.toml", text.as_bytes());
        let results = if on_results { "small/t.steelbench" } else { "results/t.steelbench" };
        let arguments = ["run", "e.toml", "--retry-failed", "--results", results];
        let stop = AtomicBool::new(false);
        let delay = Duration::from_millis(random.below(2500) as u64);
        let left = random.below(64 << 10) as u64;
        let text = format!("{maker:?}, {engine}, results {on_results}, data {on_volume}");
        let failure = |why: String| format!("{text}, {delay:?}, {left}: {why}");
        let folder: PathBuf = arena.path("small");
        let scope = std::thread::scope(|scope| {
            let _filling = Filling(&stop);
            scope.spawn(|| fill(&folder, delay, left, &stop));
            arena.run(&arguments, LONG)
        })
        .map_err(failure)?;
        if !scope.status.success() && !CAUSES.iter().any(|cause| scope.text().contains(cause)) {
            return Err(failure(scope.text()));
        }
        std::fs::remove_file(folder.join("filler")).unwrap();
        if !is_freed(&folder) {
            return Ok(());
        }
        let last = arena.run(&arguments, LONG).map_err(failure)?;
        if !last.status.success() {
            return Err(failure(format!("does not resume: {}", last.text())));
        }
        drop(disk);
        arena.is_clean().map_err(failure)
    });
}

const LONG: Limits = Limits { time: Duration::from_secs(120), bytes: 8 << 30, ..USUAL };

#[test]
fn small_file_systems() {
    if !crate::common::is_root() {
        skipped("mounting file systems needs root");
        return;
    }
    let engines =
        MODES.map(|mode| format!("engine = \"sqlite\"\nsettings.journal_mode = \"{mode}\""));
    let more = ["wal_autocheckpoint = 10", "mmap_size = 100000000", "page_size = 1024"]
        .map(|setting| format!("{}\nsettings.{setting}", engines[0]));
    attack("small_file_systems", Tries { short: 2, full: 200 }, &[&engines[..], &more].concat());
}

#[test]
fn small_file_systems_duckdb() {
    if !crate::common::is_root() {
        skipped("mounting file systems needs root");
        return;
    }
    let engine = |path: Option<String>| {
        let library = path.map_or(String::new(), |path| format!("\nlibrary = \"{path}\""));
        format!("engine = \"duckdb\"{library}")
    };
    let engines: Vec<String> = installed::duckdb_libraries().into_iter().map(engine).collect();
    if !engines.is_empty() {
        attack("small_file_systems_duckdb", Tries { short: 1, full: 100 }, &engines);
    }
}

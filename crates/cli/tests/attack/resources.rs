//! A process that may have little of what it needs: a trial fails with its cause, and the run comes
//! to its end.

use crate::attack::arena::{Arena, Exit, Limits, Tries, USUAL, campaign};
use crate::common::{NOBODY, SmallDisk, is_root, skipped};
use std::os::unix::fs::chown;
use std::os::unix::process::ExitStatusExt;

/// Kilobytes of the disk that fills: more than the space that a run keeps free.
const DISK_KB: usize = 80 << 10;

/// A disk that a hook fills but for some kilobytes, before the second trial: under the results, or
/// under the data alone.
#[test]
fn full_disk() {
    let arena = Arena::new();
    let volume = "[[volume]]\nname = \"small\"\npath = \"small\"\n";
    let on_volume = file()
        .replace("engine = \"sqlite\"\n", "engine = \"sqlite\"\nvolume = \"small\"\n")
        + volume;
    campaign("full_disk", Tries { short: 2, full: 200 }, |random| {
        let _ = std::fs::remove_dir_all(arena.path("results"));
        let (text, folder) =
            if random.below(2) == 0 { (&on_volume, "small") } else { (&file(), "results") };
        let left = random.below(2000);
        let fill = format!(
            "if test $STEELBENCH_BLOCK = 2; then cat /dev/zero > {folder}/filler; truncate -s \
             -{left}K {folder}/filler; fi; true"
        );
        let text =
            text.replace("blocks = 1", "blocks = 3").replace("= \"true\"", &format!("= '{fill}'"));
        arena.write("e.toml", text.as_bytes());
        std::fs::create_dir_all(arena.path(folder)).unwrap();
        let size = format!("size={DISK_KB}k");
        let Some(disk) = SmallDisk::mount(arena.path(folder), &size) else { return Ok(()) };
        let outcome = arena.run(&["run", "e.toml"], USUAL)?;
        let messages = [
            "No space left",
            "no space left",
            "disk is full",
            "nearly full",
            "bytes are free",
            "disk I/O error",
        ];
        if !outcome.status.success() && !messages.iter().any(|part| outcome.text().contains(part)) {
            return Err(outcome.text());
        }
        // Recorded data is readable while the disk is full, and the run resumes when there is space
        // again.
        let shown = arena.run(&["show", "t"], USUAL)?;
        std::fs::remove_file(arena.path(folder).join("filler"))
            .map_err(|error| error.to_string())?;
        arena.write("e.toml", text.replace("= 2; then", "= 9; then").as_bytes());
        let last = arena.run(&["run", "--retry-failed", "e.toml"], USUAL)?;
        drop(disk);
        // With another hook it is another experiment, which the error says.
        if !shown.text().contains("trial") || !matches!(last.status.code(), Some(0 | 2)) {
            return Err(format!("{} {}", shown.text(), last.text()));
        }
        arena.is_clean()
    });
}

/// Threads of the load.
const THREADS: usize = 40;

fn file() -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n[workload]\nprobe = \
         \"insert\"\nconnections = {THREADS}\nrows = 400\nrows_per_transaction = \
         10\n[repeats]\nblocks = 1\n[limits]\ntrial_time = \"40 s\"\n[hooks]\nbefore_trial = \
         \"true\"\n"
    )
}

/// It ended well, or said of its trial why it failed.
fn says_why(outcome: &Exit) -> Result<(), String> {
    let messages = [
        "cannot be started",
        "starting a thread",
        "cannot start",
        "too many",
        "Too many",
        "ulimit",
        "unable to open",
    ];
    let text = outcome.text();
    if outcome.status.success() || messages.iter().any(|part| text.contains(part)) {
        Ok(())
    } else {
        Err(text)
    }
}

#[test]
fn few_threads() {
    if !is_root() {
        skipped("becoming a user whose threads are counted needs root");
        return;
    }
    let arena = Arena::new();
    arena.write("e.toml", file().as_bytes());
    chown(arena.path(""), Some(NOBODY), Some(NOBODY)).unwrap();
    campaign("few_threads", Tries { short: 3, full: 200 }, |random| {
        let _ = std::fs::remove_dir_all(arena.path("results"));
        let some = 4 + random.below(THREADS + 4) as u64;
        let threads = Some(*random.pick(&[1, 2, 3, some, some]));
        let command = arena.lab.unprivileged(&["run", "e.toml"]);
        says_why(&arena.run_command(command, Limits { threads, ..USUAL })?)?;
        arena.is_clean()
    });
}

#[test]
fn few_files() {
    let arena = Arena::new();
    arena.write("e.toml", file().as_bytes());
    campaign("few_files", Tries { short: 2, full: 200 }, |random| {
        let _ = std::fs::remove_dir_all(arena.path("results"));
        let files = [64, 16, 8 + random.below(100) as u64][random.below(3)];
        let outcome = arena.run(&["run", "e.toml"], Limits { files, ..USUAL })?;
        says_why(&outcome)
            .or_else(|why| if why.contains("os error 24") { Ok(()) } else { Err(why) })?;
        arena.is_clean()
    });
}

#[test]
fn little_memory() {
    let arena = Arena::new();
    arena.write("e.toml", file().as_bytes());
    // The kernel kills a process that has less than its executable and libraries need.
    let least = std::fs::metadata(env!("CARGO_BIN_EXE_steelbench")).unwrap().len() + (8 << 20);
    campaign("little_memory", Tries { short: 2, full: 200 }, |random| {
        let _ = std::fs::remove_dir_all(arena.path("results"));
        let bytes = least + (random.below(400 << 10) as u64) * 1024;
        let outcome = arena.run(&["run", "e.toml"], Limits { bytes, ..USUAL })?;
        let memory =
            ["memory allocation of", "out of memory", "Out of memory", "Cannot allocate memory"];
        says_why(&outcome).or_else(|why| {
            if memory.iter().any(|part| why.contains(part)) { Ok(()) } else { Err(why) }
        })?;
        let last = arena.run(&["run", "e.toml"], USUAL)?;
        if last.status.signal().is_some() {
            return Err(last.text());
        }
        arena.is_clean()
    });
}

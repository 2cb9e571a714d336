//! A process that may have little of what it needs: a trial fails with its cause, and the run comes to its end.

use crate::arena::{Arena, Limits, Seen, USUAL, campaign};
use crate::common::skipped;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;

/// Threads of the load.
const THREADS: usize = 40;

fn file() -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n[workload]\nprobe = \"insert\"\n\
         connections = {THREADS}\nrows = 400\nrows_per_transaction = 10\n[repeats]\nblocks = 1\n\
         [limits]\ntrial_time = \"40 s\"\n[hooks]\nbefore_trial = \"true\"\n"
    )
}

/// It ended well, or said of its trial why it failed.
fn says_why(seen: &Seen) -> Result<(), String> {
    let told = [
        "cannot be started",
        "starting a thread",
        "cannot start",
        "too many",
        "Too many",
        "ulimit",
        "unable to open",
    ];
    let text = seen.text();
    if seen.status.success() || told.iter().any(|part| text.contains(part)) { Ok(()) } else { Err(text) }
}

#[test]
fn few_threads() {
    // SAFETY: cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        skipped("becoming a user whose threads are counted needs root");
        return;
    }
    let arena = Arena::new();
    // The unprivileged user must reach the program and write in the folder.
    let program = arena.path("program");
    std::fs::copy(env!("CARGO_BIN_EXE_steelbench"), &program).unwrap();
    for folder in [arena.lab.path(""), arena.path("")] {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    arena.write("e.toml", file().as_bytes());
    chown(arena.path(""), Some(65534), Some(65534)).unwrap();
    campaign("few_threads", 6, |random| {
        let _ = std::fs::remove_dir_all(arena.path("results"));
        let some = 4 + random.below(THREADS + 4) as u64;
        let threads = Some(*random.of(&[1, 2, 3, some, some]));
        let mut command = std::process::Command::new(&program);
        command.args(["run", "e.toml"]).stdin(std::process::Stdio::null());
        says_why(&arena.run_command(command, Limits { threads, ..USUAL })?)?;
        arena.is_clean()
    });
}

#[test]
fn few_files() {
    let arena = Arena::new();
    arena.write("e.toml", file().as_bytes());
    campaign("few_files", 4, |random| {
        let _ = std::fs::remove_dir_all(arena.path("results"));
        let files = [64, 16, 8 + random.below(100) as u64][random.below(3)];
        let seen = arena.run(&["run", "e.toml"], Limits { files, ..USUAL })?;
        says_why(&seen).or_else(|why| if why.contains("os error 24") { Ok(()) } else { Err(why) })?;
        arena.is_clean()
    });
}

#[test]
fn little_memory() {
    let arena = Arena::new();
    arena.write("e.toml", file().as_bytes());
    campaign("little_memory", 4, |random| {
        let _ = std::fs::remove_dir_all(arena.path("results"));
        let bytes = (60 + random.below(400) as u64) << 20;
        match arena.run(&["run", "e.toml"], Limits { bytes, ..USUAL }) {
            Ok(seen) => says_why(&seen)?,
            // Memory that cannot be had for a few bytes ends a process at once; the next run goes on.
            Err(why) if why.contains("memory allocation of") || why.contains("out of memory") => {}
            Err(why) => return Err(why),
        }
        let last = arena.run(&["run", "e.toml"], USUAL)?;
        if last.status.signal().is_some() {
            return Err(last.text());
        }
        arena.is_clean()
    });
}

//! Database files of DuckDB that were damaged between two runs: the files with the data that runs
//! copy.

use crate::attack::arena::{Arena, Limits, Tries, USUAL, campaign};
use crate::servers::installed;
use std::path::{Path, PathBuf};

/// Regular files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(
            |entry| {
                if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] }
            },
        )
        .collect()
}

#[test]
fn damaged_duckdb() {
    let libraries = installed::duckdb_libraries();
    if libraries.is_empty() {
        return;
    }
    campaign("damaged_duckdb", Tries { short: 2, full: 200 }, |random| {
        let library = random.in_turn(&libraries).clone();
        let library = library.map_or(String::new(), |path| format!("library = \"{path}\"\n"));
        let probe = *random.pick(&["scan\"\nscans = 3", "lookup\"\nlookups = 50"]);
        let file = format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"duckdb\"\n{library}[workload]\n\
             probe = \"{probe}\nrows = 3000\nconnections = 1\n[repeats]\nblocks = \
             1\n[limits]\ntrial_time = \"30 s\"\n"
        );
        let arena = Arena::new();
        arena.write("e.toml", file.as_bytes());
        let limits = Limits { bytes: 16 << 30, ..USUAL };
        let run = |arguments: &[&str]| {
            let mut command = arena.lab.command(arguments);
            command.env("XDG_CACHE_HOME", arena.path("cache"));
            arena.run_command(command, limits)
        };
        let first = run(&["run", "e.toml"])?;
        let kept = files(&arena.path("cache"));
        if !first.status.success() || kept.is_empty() {
            return Err(format!("keeps no data: {}", first.text()));
        }
        for path in kept {
            let mut bytes = std::fs::read(&path).unwrap();
            for _ in 0..=random.below(30) {
                let (any, at) = (random.below(256) as u8, random.below(bytes.len()));
                // The head of the file, or anywhere.
                let at = if random.below(3) == 0 { at % 12_288 } else { at };
                bytes[at] = any;
            }
            match random.below(5) {
                0 => bytes.truncate(random.below(bytes.len())),
                1 => bytes.extend(vec![0; random.below(300_000)]),
                2 => bytes.clear(),
                _ => {}
            }
            std::fs::write(path, bytes).unwrap();
        }
        let outcome = run(&["run", "e.toml", "--fresh"])?;
        if !matches!(outcome.status.code(), Some(0 | 1)) {
            return Err(outcome.text());
        }
        arena.is_clean()
    });
}

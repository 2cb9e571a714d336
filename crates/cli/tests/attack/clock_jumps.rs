//! A time of day that jumps while the program runs: forward, backward, before 1970. A library that
//! is loaded before all others shifts it, so that nothing else on the machine notices.

use crate::attack::arena::{Arena, Tries, USUAL, campaign};
use crate::common::{scripted, skipped};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::Command;

const HOUR: i64 = 3600;
const YEAR: i64 = 365 * 24 * HOUR;
/// Shifts in seconds.
const SHIFTS: [i64; 9] = [0, 1, -1, HOUR, -HOUR, YEAR, -YEAR, 50 * YEAR, -100 * YEAR];
/// Seconds that no trial of these experiments takes; an hour is the smallest large jump.
const SECONDS_MAX: f64 = 600.0;

/// Builds the library; `None`, with a word about it, without a C compiler.
fn library(folder: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attack/clock_jumps.c");
    let path = folder.join("clock_jumps.so");
    let mut build = Command::new("cc");
    build.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&path).arg(source);
    match build.output() {
        Ok(output) if output.status.success() => Some(path),
        output => {
            skipped(&format!("building a library with cc: {output:?}"));
            None
        }
    }
}

/// Commands that read what was recorded.
const READERS: [&[&str]; 8] = [
    &["show", "t"],
    &["show", "t", "--runs"],
    &["history", "t"],
    &["report", "t"],
    &["compare", "t@1", "t@2"],
    &["export", "t", "--format", "xlsx"],
    &["export", "t", "--format", "parquet"],
    &["export", "t", "--format", "json"],
];

#[test]
fn clock_jumps() {
    let place = tempfile::tempdir().unwrap();
    let Some(library) = library(place.path()) else { return };
    let sqlite = "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n[workload]\nprobe = \
                  \"insert\"\nconnections = 2\nduration = \"100 ms\"\nwarmup = \"20 \
                  ms\"\nrows_per_transaction = 5\n[repeats]\nblocks = 3\n";
    let files = [sqlite.to_owned(), scripted(3, "", "")];
    campaign("clock_jumps", Tries { short: 2, full: 300 }, |random| {
        let arena = Arena::new();
        arena.write("e.toml", random.in_turn(&files).as_bytes());
        let shifts: Vec<String> =
            (0..2 + random.below(6)).map(|_| random.pick(&SHIFTS).to_string()).collect();
        let jumps = format!("{} {}", 1 + random.below(40), shifts.join(" "));
        // The workbook's library panics before 1970: a jump between our look at the clock and its
        // own is left out.
        let at_rest = format!("1000000 {}", random.pick(&SHIFTS));
        let jumping = |arguments: &[&str]| {
            let is_workbook = arguments.contains(&"xlsx");
            let jumps = if is_workbook { &at_rest } else { &jumps };
            let mut command = arena.lab.command(arguments);
            command.env("LD_PRELOAD", &library).env("CLOCK_JUMPS", jumps);
            let outcome = arena.run_command(command, USUAL)?;
            match outcome.status.code() {
                Some(0) => Ok(()),
                Some(1) if is_workbook && outcome.text().contains("before 1970") => Ok(()),
                _ => Err(format!("{arguments:?}: {}: {}", outcome.status, outcome.text())),
            }
        };
        let all = || {
            jumping(&["run", "e.toml"])?;
            jumping(&["run", "e.toml", "--fresh"])?;
            let file = Connection::open(arena.path("results/t.steelbench"))
                .map_err(|error| error.to_string())?;
            let wrong = "SELECT count(*) FROM trials WHERE status != 'done' OR NOT elapsed_s \
                         BETWEEN 0 AND ?1";
            let wrong: i64 = file
                .query_row(wrong, [SECONDS_MAX], |row| row.get(0))
                .map_err(|error| error.to_string())?;
            drop(file);
            if wrong > 0 {
                return Err(format!("{wrong} trials have a wrong length or failed"));
            }
            READERS.iter().try_for_each(|reader| jumping(reader))?;
            arena.is_clean()
        };
        all().map_err(|why: String| format!("{jumps}: {why}"))
    });
}

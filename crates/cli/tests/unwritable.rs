//! Folders without write permission, and a full disk: the error names the place, and no partial
//! file is left.

use crate::common::{Exit, Lab, NOBODY, SmallDisk, end, is_root, scripted, signal, wait_until};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

/// All files and folders below one.
fn all(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| {
            if path.is_dir() { all(&path) } else { BTreeSet::new() }.into_iter().chain([path])
        })
        .collect()
}

fn allow(lab: &Lab, name: &str, mode: u32) {
    std::fs::set_permissions(lab.path(name), Permissions::from_mode(mode)).unwrap();
}

fn unprivileged(lab: &Lab, arguments: &[&str]) -> Exit {
    let mut command = lab.unprivileged(arguments);
    if !is_root() {
        allow(lab, "", 0o555);
    }
    Exit::from(command.env("XDG_CACHE_HOME", lab.path("cache")).output().unwrap())
}

/// Fails with this code, these words, and nothing left.
#[track_caller]
fn refused(lab: &Lab, arguments: &[&str], code: i32, words: &[&str]) {
    let before = all(&lab.path(""));
    let ended = unprivileged(lab, arguments).expect(code);
    for word in words {
        assert!(ended.stderr.contains(word), "{word:?} is not in {ended:#?}");
    }
    assert_eq!(all(&lab.path("")), before, "{arguments:?}");
}

const DENIED: &str = "Permission denied";

#[test]
fn a_folder_for_results_that_may_not_be_made_or_written_is_named() {
    let lab = Lab::with(&scripted(1, "", ""));
    refused(&lab, &["run", "e.toml"], 1, &["results: cannot create it", DENIED]);
    refused(&lab, &["time", "-r", "1", "true"], 1, &["results: cannot create it", DENIED]);
    allow(&lab, "", 0o755);
    std::fs::create_dir(lab.path("results")).unwrap();
    allow(&lab, "results", 0o555);
    refused(&lab, &["run", "e.toml"], 1, &["results/t.steelbench"]);
    refused(
        &lab,
        &["run", "e.toml", "--results", "other/t"],
        1,
        &["other: cannot create it", DENIED],
    );
    // A file that is there and may not be written.
    allow(&lab, "results", 0o755);
    lab.run(0);
    allow(&lab, "results/t.steelbench", 0o444);
    refused(&lab, &["run", "e.toml", "--fresh"], 1, &["results/t.steelbench"]);
    // Reading needs no more than reading.
    unprivileged(&lab, &["show", "t", "--full"]).expect(0).shows("2 trials done");
    allow(&lab, "", 0o755);
}

#[test]
fn what_commands_write_elsewhere_is_named_and_not_begun() {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    for (arguments, place) in [
        (&["report", "t"][..], "results/t.html"),
        (&["report", "t", "--output", "mine.html"], "mine.html"),
        (&["export", "t", "--format", "xlsx"], "t.xlsx"),
        (&["export", "t", "--format", "csv"], "t-export"),
        (&["export", "t", "--format", "parquet", "--output", "sheets/new"], "sheets/new"),
        (&["export", "t", "--format", "json", "--output", "none/t.json"], "none/t.json"),
        (&["data", "nation", "--output", "d"], "d: cannot create it"),
        (&["data", "nation", "--output", "."], "nation.csv"),
        (&["init", "new.toml"], "new.toml"),
        (&["survey", "--volume", ".", "--output", "inventory"], "inventory"),
    ] {
        refused(&lab, arguments, 1, &[place]);
    }
    allow(&lab, "", 0o755);
}

/// A template cache in an unwritable home fails the trial.
#[test]
fn a_cache_that_may_not_be_written_fails_the_trial_that_needs_it() {
    let scan = "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\n[workload]\nprobe = \
                \"scan\"\nrows = 100\nscans = 1\n[repeats]\nblocks = 1\n";
    let lab = Lab::with(scan);
    std::fs::create_dir(lab.path("results")).unwrap();
    std::fs::create_dir(lab.path("cache")).unwrap();
    allow(&lab, "results", 0o777);
    if is_root() {
        // A folder that its user closed; others' folders are no caches.
        chown(lab.path("cache"), Some(NOBODY), None).unwrap();
    }
    allow(&lab, "cache", 0o555);
    unprivileged(&lab, &["run", "e.toml"]).expect(1).says("cache/steelbench").says(DENIED);
    assert_eq!((lab.trials("t"), lab.work_folders().len()), (1, 0));
    allow(&lab, "cache", 0o755);
    unprivileged(&lab, &["run", "e.toml", "--retry-failed"]).expect(0);
    assert_eq!(lab.rows("t", "SELECT status FROM trials ORDER BY id"), ["failed", "done"]);
    allow(&lab, "", 0o755);
}

/// A disk with no room for what is written.
#[test]
fn on_a_full_disk_nothing_half_written_stays() {
    let lab = Lab::with(&scripted(3, "", ""));
    lab.run(0);
    std::fs::create_dir(lab.path("small")).unwrap();
    let Some(disk) = SmallDisk::mount(lab.path("small"), "size=4k") else { return };
    for (arguments, place) in [
        (&["report", "t", "--output", "small/t.html"][..], "small/t.html"),
        (&["export", "t", "--format", "xlsx", "--output", "small/t.xlsx"], "small/t.xlsx"),
        (&["export", "t", "--format", "json", "--output", "small/t.json"], "small/t.json"),
        (&["data", "customer", "--scale", "0.01", "--output", "small"], "small/customer.csv"),
        (
            &["data", "customer", "--scale", "0.01", "--format", "parquet", "--output", "small"],
            "customer.parquet",
        ),
    ] {
        lab.steelbench(arguments).expect(1).says(place).says("No space left");
        assert_eq!(all(&lab.path("small")), BTreeSet::new(), "{arguments:?}");
    }
    std::fs::write(lab.path("small/filler"), vec![0; 4 << 10]).unwrap();
    lab.steelbench(&["init", "small/new.toml"])
        .expect(1)
        .says("small/new.toml")
        .says("No space left");
    assert!(!lab.path("small/new.toml").exists());
    drop(disk);
}

#[test]
fn a_data_set_that_is_interrupted_is_not_there() {
    let lab = Lab::new();
    let child = lab.start_with(&["data", "lineitem", "--scale", "1", "--output", "d"]);
    wait_until("it is being written", || {
        all(&lab.path("")).iter().any(|path| path.to_string_lossy().contains("unfinished"))
    });
    signal(&child, libc::SIGINT);
    end(child).expect(130).says("d/lineitem.csv was not written");
    assert_eq!(all(&lab.path("d")), BTreeSet::new());
}

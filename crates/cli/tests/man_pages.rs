//! The manual pages that the program writes.

use crate::common::{self, Lab};
use std::process::Command;

/// A page for each command, and one of the experiment file; `mandoc` finds no fault in them.
#[test]
fn manual_pages_are_complete_and_without_faults() {
    let lab = Lab::new();
    lab.steelbench(&["man", "pages"]).expect(0);
    for page in ["steelbench.1", "steelbench-run.1", "steelbench-queries-try.1"] {
        assert!(lab.path("pages").join(page).exists(), "{page}");
    }
    let experiment = lab.read("pages/steelbench-experiment.5");
    for part in ["repeats.blocks", "target.engine", "workload.probe", "Used by: ", "Default: "] {
        let escaped = part.replace('-', "\\-");
        assert!(experiment.contains(&escaped), "{part}: {experiment}");
    }
    if Command::new("mandoc").arg("-V").output().is_err() {
        return common::skipped("mandoc is not installed");
    }
    let entries = std::fs::read_dir(lab.path("pages")).unwrap().flatten();
    let pages: Vec<_> = entries.map(|entry| entry.path()).collect();
    let linted =
        Command::new("mandoc").args(["-Tlint", "-W", "all"]).args(&pages).output().unwrap();
    let faults = String::from_utf8_lossy(&linted.stdout).into_owned();
    assert!(linted.status.success() && faults.is_empty(), "{faults}");
}

#[test]
fn the_date_of_pages_can_be_fixed() {
    let lab = Lab::new();
    let mut command = lab.command(&["man", "pages"]);
    let ended = command.env("SOURCE_DATE_EPOCH", "86400").output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let page = lab.read("pages/steelbench-run.1");
    assert!(page.contains("1970\\-01\\-02") || page.contains("1970-01-02"), "{page}");
}

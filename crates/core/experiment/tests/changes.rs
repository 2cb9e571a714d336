//! Differences between two versions of a file, and whether a run can continue.

use crate::common::{DESIGN, EVERYTHING, catalog, experiment};
use experiment::{Changes, changes, describe};

fn compare(old: &str, new: &str) -> Changes {
    changes(&experiment(old), &experiment(new), &catalog())
}

#[track_caller]
fn changed(source: &str, old: &str, new: &str) -> Changes {
    assert!(source.contains(old), "{old} is in the file");
    compare(source, &source.replacen(old, new, 1))
}

#[track_caller]
fn harmless(source: &str, old: &str, new: &str, expected: &[&str]) {
    let changes = changed(source, old, new);
    assert_eq!((changes.harmless, changes.incompatible), (strings(expected), Vec::new()));
}

#[track_caller]
fn incompatible(source: &str, old: &str, new: &str, expected: &[&str]) {
    let changes = changed(source, old, new);
    assert!(!changes.resumable());
    assert_eq!(changes.incompatible, strings(expected));
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn layout_and_comments_do_not_count() {
    let other = DESIGN.replace("\n\n", "\n# A comment.\n").replace("\"320k\"", "320_000");
    assert_eq!(compare(DESIGN, &other), Changes::default());
    assert_eq!(compare(EVERYTHING, EVERYTHING), Changes::default());
}

#[test]
fn a_run_can_go_on_after_harmless_changes() {
    harmless(DESIGN, "blocks = 5", "blocks = 7", &["repeats.blocks: 5 -> 7"]);
    harmless(
        DESIGN,
        "blocks = 5",
        "blocks = { min = 3, max = 9, until = \"1%\" }",
        &["repeats.blocks: 5 -> 3 to 9 until 1 %"],
    );
    // Groups of hard-to-change levels are gone through again for the new blocks.
    harmless(
        EVERYTHING,
        "max = 20",
        "max = 30",
        &["repeats.blocks: 3 to 20 until 2 % -> 3 to 30 until 2 %"],
    );
    harmless(
        DESIGN,
        "name = \"random-insert-data-files\"",
        "name = \"other\"",
        &["experiment.name: \"random-insert-data-files\" -> \"other\""],
    );
    harmless(
        EVERYTHING,
        "question = \"Does all of it work?\"\n",
        "",
        &["experiment.question: \"Does all of it work?\" -> none"],
    );
    harmless(EVERYTHING, "retries = 2", "retries = 3", &["repeats.retries: 2 -> 3"]);
    harmless(
        EVERYTHING,
        "trial_time = \"10 min\"",
        "trial_time = \"20 min\"",
        &["limits.trial_time: 600 s -> 1200 s"],
    );
    harmless(
        EVERYTHING,
        "disk_space = \"4 GiB\"\n",
        "",
        &["limits.disk_space: 4294967296 B -> none"],
    );
    harmless(
        DESIGN,
        "baseline = { \"target.data_files\" = 1 }",
        "baseline = { \"target.data_files\" = 4 }",
        &["report.baseline: data_files=1 synchronous=normal -> data_files=4 synchronous=normal"],
    );
}

#[test]
fn a_run_cannot_go_on_after_others() {
    incompatible(DESIGN, "seed = 1", "seed = 2", &["repeats.seed: 1 -> 2"]);
    incompatible(
        DESIGN,
        "[1, 2, 4, 8, 16]",
        "[1, 2, 4, 8, 16, 32]",
        &["factor target.data_files: levels added 32"],
    );
    incompatible(
        DESIGN,
        "[1, 2, 4, 8, 16]",
        "[1, 3, 4, 5]",
        &[
            "factor target.data_files: levels added 3, 5",
            "factor target.data_files: levels removed 2, 8, 16",
        ],
    );
    incompatible(
        DESIGN,
        "[1, 2, 4, 8, 16]",
        "[1, 2, 4, 16, 8]",
        &["factor target.data_files: order changed"],
    );
    incompatible(
        DESIGN,
        "\"target.settings.synchronous\" =",
        "\"target.settings.journal\" =",
        &[
            "factor target.settings.synchronous was removed",
            "factor target.settings.journal was \
                                                             added",
        ],
    );
    incompatible(
        DESIGN,
        "rows_per_transaction = 1000",
        "rows_per_transaction = 500",
        &["workload.rows_per_transaction: 1000 -> 500"],
    );
    incompatible(
        DESIGN,
        "rows_per_transaction = 1000",
        "rate = \"10/s\"",
        &["workload.rate: none -> 10"],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn nor_after_changes_of_what_surrounds_the_trials() {
    incompatible(
        EVERYTHING,
        "before_trial = \"sync\"",
        "before_trial = \"true\"",
        &["hooks.before_trial: \"sync\" -> \"true\""],
    );
    incompatible(
        EVERYTHING,
        "timeout = \"20 s\"",
        "timeout = \"30 s\"",
        &["hooks.timeout: 20 s -> 30 s"],
    );
    incompatible(
        EVERYTHING,
        "path = \"/mnt/slow\"",
        "path = \"/mnt/other\"",
        &["volume slow: path: \"/mnt/slow\" -> \"/mnt/other\""],
    );
    incompatible(
        EVERYTHING,
        "{ read_iops = \"3k\", write_iops = 1500,",
        "{ write_iops = 1000,",
        &["volume slow: throttle: reads 3000 IOPS, writes 1500 IOPS, reads 125000000 bytes/s, \
           writes 67108864 bytes/s -> writes 1000 IOPS, reads 125000000 bytes/s, writes 67108864 \
           bytes/s"],
    );
    // The same limits, written in another way.
    harmless(EVERYTHING, "read_iops = \"3k\"", "read_iops = 3000", &[]);
    incompatible(
        EVERYTHING,
        "\"delete\"",
        "\"truncate\"",
        &["factor log: settings changed in level rollback"],
    );
    incompatible(
        EVERYTHING,
        "log = \"wal, synced\"\n\n[[volume]]",
        "log = \"rollback\"\narray = \"raid-0\"\n\"target.volume\" = \"fast\"\n\n[[volume]]",
        &[
            "configuration data_files=2 volume=fast log=wal, synced array=raid-0 is no longer \
             excluded",
            "configuration data_files=2 volume=fast log=wal, synced array=raid-1 is no longer \
             excluded",
            "configuration data_files=2 volume=fast+slow log=wal, synced array=raid-0 is no \
             longer excluded",
            "configuration data_files=2 volume=fast+slow log=wal, synced array=raid-1 is no \
             longer excluded",
            "configuration data_files=4 volume=fast log=wal, synced array=raid-0 is no longer \
             excluded",
            "configuration data_files=4 volume=fast log=wal, synced array=raid-1 is no longer \
             excluded",
            "configuration data_files=4 volume=fast+slow log=wal, synced array=raid-0 is no \
             longer excluded",
            "configuration data_files=4 volume=fast+slow log=wal, synced array=raid-1 is no \
             longer excluded",
            "configuration data_files=2 volume=fast log=rollback array=raid-0 is now excluded",
            "configuration data_files=4 volume=fast log=rollback array=raid-0 is now excluded",
        ],
    );
    incompatible(
        EVERYTHING,
        "hard_to_change = [\"target.volume\"]",
        "hard_to_change = [\"target.volume\", \"log\"]",
        &["order.hard_to_change: array, target.volume -> array, target.volume, log"],
    );
    incompatible(
        EVERYTHING,
        "Rebuild the array as {level}, then continue.",
        "Rebuild.",
        &["factor array: manual step: \"Rebuild the array as {level}, then continue.\" -> \
           \"Rebuild.\""],
    );
}

#[test]
fn sources_are_described() {
    let new = DESIGN.replace("blocks = 5", "blocks = 7").replace("16]", "16, 32]");
    assert_eq!(
        describe(DESIGN, &new, &catalog()).unwrap(),
        ["factor target.data_files: levels added 32", "repeats.blocks: 5 -> 7"]
    );
    assert!(describe(DESIGN, "not a file", &catalog()).is_err());
}

/// Blocks of further set-ups may follow, but no block moves from one to another.
#[test]
fn set_ups_can_be_added() {
    let hard = "[order]\nhard_to_change = [\"target.data_files\"]\n[repeats]\nsetups = 1";
    let source = DESIGN.replace("[repeats]", hard);
    let both = |from: &str, to: &str| {
        let with = |repeats: &str| experiment(&source.replace("setups = 1\nblocks = 5", repeats));
        let changes = changes(&with(from), &with(to), &catalog());
        (changes.harmless, changes.incompatible)
    };
    assert_eq!(
        both("setups = 1\nblocks = 5", "setups = 2\nblocks = 10"),
        (strings(&["repeats.blocks: 5 -> 10", "repeats.setups: 1 -> 2"]), Vec::new())
    );
    assert_eq!(
        both("setups = 1\nblocks = 6", "setups = 3\nblocks = 6").1,
        ["repeats.setups: block 3 would move from set-up 1 to set-up 2"]
    );
    assert_eq!(
        both("setups = 2\nblocks = 6", "setups = 2\nblocks = 8").1,
        ["repeats.setups: block 4 would move from set-up 2 to set-up 1"]
    );
}

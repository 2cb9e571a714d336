//! Engines and probes to write experiments for, and the file of the design document.
#![allow(dead_code, reason = "each test file uses its own part")]

use experiment::{Catalog, Declaration, Experiment, FileErrors, Kind, Setting, Value};

const fn setting(path: &'static str, kind: Kind, default: Option<&'static str>) -> Declaration {
    Setting::<Option<Value>>::new(path, kind, default, "What it is for.").declaration
}

const FILES: &[Declaration] = &[
    setting("target.data_files", Kind::Count { min: 1, max: 126 }, Some("1")),
    setting("target.volume", Kind::TextList, None),
    setting("target.open", Kind::Choice(&["separate", "attached"]), Some("separate")),
    setting("target.settings.*", Kind::Scalar, None),
    setting("target.busy_timeout", Kind::Duration, Some("60 s")),
    setting("target.file_growth", Kind::Size { min: 0, max: 1 << 40 }, Some("0")),
    setting("target.final_checkpoint", Kind::Bool, Some("true")),
];

const SERVER: &[Declaration] = &[
    setting("target.data_files", Kind::Count { min: 1, max: 126 }, Some("1")),
    setting("target.url", Kind::Text, None),
    setting("target.log_volume", Kind::Text, None),
    // The other engine reads this as a number of bytes.
    setting("target.file_growth", Kind::Share, Some("10%")),
];

const INSERT: &[Declaration] = &[
    setting("workload.key", Kind::Choice(&["random", "sequential"]), Some("random")),
    setting("workload.connections", Kind::Count { min: 1, max: 4096 }, Some("16")),
    setting("workload.rows", Kind::Count { min: 1, max: 1_000_000_000_000 }, None),
    setting("workload.duration", Kind::Duration, None),
    setting("workload.rows_per_transaction", Kind::Count { min: 1, max: 10_000_000 }, Some("1000")),
    setting("workload.rate", Kind::Rate, None),
];

const SCAN: &[Declaration] = &[
    setting("workload.duration", Kind::PositiveDuration, None),
    setting("workload.share", Kind::Share, Some("100%")),
];

pub fn catalog() -> Catalog {
    Catalog {
        engines: vec![("sqlite", FILES), ("server", SERVER)],
        probes: vec![("insert", INSERT), ("scan", SCAN)],
        ..Catalog::default()
    }
}

pub fn parse(source: &str) -> Result<Experiment, FileErrors> {
    experiment::parse(source, &catalog())
}

/// The experiment of a file that is right.
#[track_caller]
pub fn experiment(source: &str) -> Experiment {
    parse(source).unwrap_or_else(|errors| panic!("{}", errors.render("test.toml", source)))
}

/// The file of the design document, as it stands there.
pub const DESIGN: &str = r#"
[experiment]
name = "random-insert-data-files"
question = "How many data files does a random-key insert load want on this machine?"

[target]
engine = "sqlite"            # sqlite | postgres | sqlserver | mariadb
settings = { synchronous = "normal" }

[workload]
probe = "insert"
key = "random"               # random | sequential
connections = 16
rows = "320k"
rows_per_transaction = 1000

[factors]
"target.data_files" = [1, 2, 4, 8, 16]
"target.settings.synchronous" = ["normal", "full"]

[repeats]
blocks = 5
# Or { min = 3, max = 20, until = "2%" }: stop when the 95 % interval is this narrow.
seed = 1

[report]
baseline = { "target.data_files" = 1 }
"#;

/// A file with everything that a file can have.
pub const EVERYTHING: &str = concat!(
    r#"
[experiment]
name = "everything"
question = "Does all of it work?"
description = "A file with every section."
response = "rows"

[target]
engine = "sqlite"
volume = "fast"
settings = { synchronous = "normal" }

[workload]
probe = "insert"
rows = "2 million"
duration = "2 min"
rate = "5k/s"

[observe]
waits = true
interval = "500 ms"

[factors]
"target.data_files" = [1, 2, 4]
"target.volume" = ["fast", ["fast", "slow"]]

[[level]]
factor = "log"
name = "wal, synced"
set = { "target.settings.journal_mode" = "wal", "target.settings.wal_autocheckpoint" = 1000 }

[[level]]
factor = "log"
name = "rollback"
set = { "target.settings.journal_mode" = "delete" }

[[level]]
factor = "array"
name = "raid-0"

[[level]]
factor = "array"
name = "raid-1"
set = {}

[[exclude]]
"target.data_files" = [2, 4]
log = "wal, synced"

[[volume]]
name = "fast"
path = "/mnt/fast"
prepare = "mount /mnt/fast"
cleanup = "umount /mnt/fast"
hook_timeout = "1 min"

[[volume]]
name = "slow"
path = "/mnt/slow"
throttle = { read_iops = "3k", write_iops = 1500, bandwidth = "125 MB/s", "#,
    r#"write_bandwidth = "64 MiB/s" }

[[manual]]
factor = "array"
text = "Rebuild the array as {level}, then continue."

[hooks]
before_trial = "sync"
after_trial = "true"
before_run = "true"
after_run = "true"
timeout = "20 s"

[order]
hard_to_change = ["target.volume"]

[repeats]
blocks = { min = 3, max = 20, until = "2%" }
seed = 7
retries = 2

[limits]
trial_time = "10 min"
run_time = "8 h"
disk_space = "4 GiB"

[report]
baseline = { "target.data_files" = 1, "log" = "rollback" }
"#
);

//! The data files of live sessions and other programs: locks that hold, and files that are taken
//! away.
#![allow(clippy::unwrap_used, reason = "a test")]

use engine::{CacheState, ConnectionSet, EngineError, Folders, Instance, Permits};
use experiment::{Configuration, Value};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use testing::block_disk::BlockDisk;
use work::{Cancel, Column, DataType, DefaultValue, Key, Operation, Request, Storage, Table, Work};

/// A data file with a log, and a session that has written to it.
fn live() -> (TempDir, Box<dyn Instance>, Box<dyn ConnectionSet>) {
    live_with(vec![("journal_mode", Value::Text("wal".into()))])
}

/// A data file with these settings, and a session that has written to it.
fn live_with(settings: Vec<(&str, Value)>) -> (TempDir, Box<dyn Instance>, Box<dyn ConnectionSet>) {
    let folder = tempfile::tempdir().unwrap();
    let (instance, session) = live_in(folder.path(), settings);
    (folder, instance, session)
}

/// Makes them in this folder.
fn live_in(
    folder: &Path,
    settings: Vec<(&str, Value)>,
) -> (Box<dyn Instance>, Box<dyn ConnectionSet>) {
    let place = Folders {
        directory: folder.into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let settings =
        settings.into_iter().map(|(name, value)| (format!("target.settings.{name}"), value));
    let configuration = Configuration { settings: settings.collect(), ..Configuration::default() };
    let engine = testing::engine("sqlite");
    let instance = (engine.host)(place).prepare(&configuration, 1, &Cancel::new()).unwrap();
    let columns = vec![
        Column::new("id", DataType::BigInt),
        Column::new("amount", DataType::Int).default(DefaultValue::Integer(2)),
    ];
    let table = Table { name: "orders", columns, key: &["id"], storage: Storage::default() };
    let operations = vec![Operation::Insert { table: 0, columns: vec!["id"] }];
    instance.create(Work { tables: vec![table], operations, ..Work::default() }).unwrap();
    let mut session = instance.connect(1).unwrap();
    write(session.as_mut(), 0);
    (instance, session)
}

fn write(session: &mut dyn ConnectionSet, first: u128) {
    try_write(session, first).unwrap();
}

fn try_write(session: &mut dyn ConnectionSet, first: u128) -> Result<(), EngineError> {
    let keys: Vec<Key> = (first..first + 10).map(Key).collect();
    session
        .send(0, &Request::Batch { operation: 0, file: 0, keys: &keys, pipelined: false })
        .unwrap();
    let mut answers = Vec::new();
    session.wait(None, &mut answers).unwrap();
    answers.remove(0).result.map(drop)
}

fn files(folder: &Path) -> [PathBuf; 3] {
    ["data-0.db", "data-0.db-wal", "data-0.db-shm"].map(|name| folder.join(name))
}

fn inodes(folder: &Path) -> [Option<u64>; 3] {
    files(folder).map(|path| path.metadata().ok().map(|file| file.ino()))
}

/// Returns whether this process has a lock on the data file (proc(5)): `2: POSIX ADVISORY READ 4711
/// fe:00:1234 ...`.
///
/// By several looks: one can miss a lock, or see it twice, while other processes take and release
/// theirs.
fn is_locked(folder: &Path) -> bool {
    let process = format!(" {} ", std::process::id());
    let inode = format!(":{} ", inodes(folder)[0].unwrap());
    let look = |_: i32| {
        let all = std::fs::read_to_string("/proc/locks").unwrap();
        all.lines().any(|lock| lock.contains(&process) && lock.contains(&inode))
    };
    (0..20).any(look)
}

/// Another program that closes a database removes its log, unless it finds the lock of a process
/// that has it open.
#[test]
fn looking_at_files_keeps_the_locks_of_sessions() {
    let (folder, instance, mut session) = live();
    for (round, cache) in (1..).zip([CacheState::Warm, CacheState::Hot, CacheState::Cold]) {
        assert!(is_locked(folder.path()), "before {cache:?}");
        instance.settle(cache).unwrap();
        assert!(instance.space_bytes().unwrap() > 0);
        assert!(is_locked(folder.path()), "after {cache:?}");
        write(session.as_mut(), round * 10);
    }
    let mut collector = instance.wait_collector().unwrap();
    collector.start().unwrap();
    collector.stop().unwrap();
    drop(session);
    assert!(!is_locked(folder.path()));
}

/// Settings stored in the file are read from its header by our own code
/// (<https://www.sqlite.org/fileformat.html>, 1.3).
#[test]
fn the_size_of_pages_and_auto_vacuum_take_in_every_journal_mode() {
    for mode in ["delete", "truncate", "persist", "memory", "wal", "off"] {
        for page_size in [512, 1024, 4096, 8192, 65536] {
            let (folder, _instance, session) = live_with(vec![
                ("journal_mode", Value::Text(mode.into())),
                ("page_size", Value::Integer(page_size)),
                ("auto_vacuum", Value::Text("full".into())),
            ]);
            drop(session);
            let header = std::fs::read(folder.path().join("data-0.db")).unwrap();
            let size = match u16::from_be_bytes([header[16], header[17]]) {
                1 => 65536,
                size => i64::from(size),
            };
            assert_eq!(size, page_size, "{mode}");
            // The largest root page: not 0 in files that are vacuumed.
            assert_ne!(header[52..56], [0; 4], "{mode} {page_size}");
        }
    }
}

#[test]
fn a_trial_whose_files_were_taken_away_fails() {
    for file in 0..3 {
        for replace in [false, true] {
            let (folder, instance, _session) = live();
            let mut collector = instance.wait_collector().unwrap();
            collector.start().unwrap();
            let path = &files(folder.path())[file];
            let kept = folder.path().join("kept");
            std::fs::rename(path, &kept).unwrap();
            if replace {
                std::fs::copy(&kept, path).unwrap();
            }
            std::fs::remove_file(&kept).unwrap();
            let error = collector.stop().unwrap_err().to_string();
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(error.contains(name) && error.contains("removed or replaced"), "{error}");
        }
    }
}

/// SQLite extends its shared memory by one byte for each 4 KiB; writing to a page whose blocks a
/// full file system cannot allocate would end the process by SIGBUS.
#[test]
fn a_full_disk_does_not_end_the_process() {
    for (maker, bytes) in [
        (&["mkfs.ext4", "-q", "-F", "-b", "1024"][..], 64 << 20),
        (&["mkfs.ext4", "-q", "-F", "-b", "4096"], 64 << 20),
        (&["mkfs.xfs", "-q"], 340 << 20),
    ] {
        let place = tempfile::tempdir().unwrap();
        let Some(disk) = BlockDisk::make(place.path(), bytes, maker).unwrap() else { continue };
        let settings = vec![("journal_mode", Value::Text("wal".into()))];
        let (_instance, mut session) = live_in(place.path(), settings);
        // Room in the log, and none elsewhere.
        let log = std::fs::File::options().append(true).open(&files(place.path())[1]).unwrap();
        (&log).write_all(&vec![0; 16 << 20]).unwrap();
        log.sync_all().unwrap();
        let mut filler = std::fs::File::create(place.path().join("filler")).unwrap();
        for size in [1 << 20, 4096, 1] {
            while filler.write_all(&vec![1; size]).is_ok() {}
        }
        filler.sync_all().unwrap_or_default();
        for round in 1..2000 {
            if try_write(session.as_mut(), round * 10).is_err() {
                break;
            }
        }
        drop((session, disk));
    }
}

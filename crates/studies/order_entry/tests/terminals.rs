//! Terminals are data: ten thousand of them need neither threads nor much memory.

use crate::support::{installed, measured};
use engine::Ability;
use experiment::Value;
use std::fs::{read_dir, read_to_string};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const TERMINALS: i64 = 10_000;
const CONNECTIONS: usize = 4;

/// Most memory that the client may have at once. A stack for each terminal alone takes more.
const MEMORY_MAX_KB: u64 = 300_000;

/// Threads of the load in this process.
fn load_threads() -> usize {
    let tasks = read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("load")).count()
}

/// The most memory that this process had so far.
fn peak_kb() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn ten_thousand_terminals_share_a_few_threads_and_little_memory() {
    for installation in installed().iter().filter(|installation| installation.name != "duckdb") {
        let embedded = installation.engine.abilities.contains(&Ability::Embedded);
        let settings = [
            ("workload.duration", Value::Float(3.0)),
            ("workload.connections", Value::Integer(CONNECTIONS as i64)),
            ("workload.terminals", Value::Integer(TERMINALS)),
            ("workload.pace", Value::Float(1.0)),
        ];
        let is_over = AtomicBool::new(false);
        let most = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut most = 0;
                while !is_over.load(Ordering::Relaxed) {
                    most = most.max(load_threads());
                    std::thread::sleep(Duration::from_millis(20));
                }
                most
            });
            measured(installation, &settings, |_, observations| {
                let observations =
                    observations.unwrap_or_else(|error| panic!("{}: {error}", installation.name));
                assert!(observations.load.sends_intended > 0, "{}", installation.name);
                assert_eq!(observations.connections as usize, CONNECTIONS, "{}", installation.name);
            });
            is_over.store(true, Ordering::Relaxed);
            watcher.join().unwrap()
        });
        let threads = if embedded { CONNECTIONS } else { 1 };
        assert!((1..=threads).contains(&most), "{}: {most} threads", installation.name);
        let peak_kb = peak_kb();
        assert!(peak_kb < MEMORY_MAX_KB, "{}: {peak_kb} kB", installation.name);
    }
}

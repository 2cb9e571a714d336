//! kill -9 at random moments: what was committed stays, and the file holds whole trials only.

use crate::integrity;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use store::{Fault, Store, StoreError, is_claimed};
use testing::sample;

/// Tells the child, which is this very program, that it is one.
const CHILD: &str = "STORE_KILL_TEST_FILE";
const KILLS: usize = 20;

/// The writer. Run as a test by hand it does nothing.
#[test]
#[ignore = "the child process of `killed_writers_leave_whole_trials`"]
fn child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let mut store = Store::create_or_open(&path).unwrap();
    let _lock = store.lock_for_run().unwrap();
    let run = store
        .latest_run()
        .unwrap()
        .map_or_else(|| store.begin_run(&sample::plan()).unwrap(), |run| run.id);
    for i in store.recorded_trials(run).unwrap().len().. {
        store.record_trial(run, &sample::trial(i)).unwrap();
        println!("committed {i}");
    }
}

fn spawn(path: &Path) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["--ignored", "--exact", "kill::child", "--nocapture"]).env(CHILD, path);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn killed_writers_leave_whole_trials() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.steelbench");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let (mut committed, mut hot) = (0, 0);
    for kill in 0..KILLS {
        let mut child = spawn(&path);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut numbers =
            lines.filter_map(|line| line.strip_prefix("committed ")?.parse::<usize>().ok());
        // Half of them may die while the file is created or opened, the others die while they write
        // trials.
        let first = if kill % 2 == 0 { None } else { numbers.next() };
        sleep(Duration::from_micros(random.random_range(0..150_000)));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "the writer must not end by itself");
        let announced = numbers.last().or(first);
        committed = announced.map_or(committed, |i| i + 1);
        hot += usize::from(folder.path().join("results.steelbench-journal").exists());

        let trials = whole_trials(&path);
        // One more may be on disk than was announced, never fewer.
        assert!(
            (committed..=committed + 1).contains(&trials),
            "kill {kill}: {trials} of {committed}"
        );
        committed = trials;
    }
    println!("{committed} trials over {KILLS} kills, {hot} of them in the middle of a transaction");
    assert!(committed > 0, "every writer was killed before it had written anything");
}

/// The number of trials in the file, every one of which equals what was written.
fn whole_trials(path: &Path) -> usize {
    let store = match Store::open(path) {
        Ok(store) => store,
        Err(StoreError { fault: Fault::Missing | Fault::Empty, .. }) => return 0,
        Err(error) => panic!("{error}"),
    };
    integrity::check_integrity(store.path()).unwrap();
    let Some(latest) = store.latest_run().unwrap() else { return 0 };
    let recording = store.read(latest.id).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
    assert_eq!(recording, sample::recording(recording.trials.len()));
    recording.trials.len()
}

#[test]
fn two_runs_on_one_file_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.steelbench");
    let mut child = spawn(&path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.find(|line| line.as_ref().unwrap().starts_with("committed")).unwrap().unwrap();

    let store = Store::create_or_open(&path).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let hard_link = folder.path().join("hard-link");
    fs::hard_link(&path, &hard_link).unwrap();
    for name in [&path, &link, &hard_link] {
        assert!(is_claimed(name));
        let error = Store::create_or_open(name).unwrap().lock_for_run().unwrap_err();
        assert!(matches!(error.fault, Fault::InUse(pid) if pid == Some(child.id())), "{error:?}");
        assert!(error.to_string().contains(&child.id().to_string()));
    }
    // Readers do not care.
    let reader = Store::open(&path).unwrap();
    reader.read(reader.latest_run().unwrap().unwrap().id).unwrap();

    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!is_claimed(&path));
    let lock = store.lock_for_run().expect("the kernel released the dead run's lock");
    assert!(matches!(store.lock_for_run(), Err(StoreError { fault: Fault::InUse(_), .. })));
    drop(lock);
    store.lock_for_run().unwrap();
    assert!(!folder.path().join("results.steelbench.lock").exists());
}

//! Failures are reported and stay local.

use super::support::{
    LoopDevice, MIB, Mount, command, file, folder, go, go_with, load, stream, whole,
};
use disk_io::{Backend, DiskError, Outcome};
use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;
use work::conductor::LoadProgress;

const BACKENDS: [Backend; 2] = [Backend::IoUring, Backend::Blocking];

fn truncate(path: &Path) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(0).unwrap();
}

/// Runs on two files for a second and breaks the first one on the way.
fn with_broken(
    first: &Path,
    second: &Path,
    backend: Backend,
    breaks: &(dyn Fn() + Sync),
) -> Outcome {
    let regions = vec![whole(first, 8 * MIB), whole(second, 8 * MIB)];
    let mut both = load(2, 4, vec![stream(regions), stream(vec![whole(first, 8 * MIB)])]);
    (both.backend, both.duration) = (Some(backend), Some(Duration::from_secs(1)));
    let progress = |progress: LoadProgress| {
        if progress.elapsed_s >= 0.1 {
            breaks();
        }
    };
    go_with(&both, progress).unwrap()
}

#[test]
fn a_truncated_file_fails_and_the_others_go_on() {
    for backend in BACKENDS {
        let folder = folder();
        let (first, second) = (file(&folder, "first", 8 * MIB), file(&folder, "second", 8 * MIB));
        let outcome = with_broken(&first, &second, backend, &|| truncate(&first));
        let ios_afterwards = outcome.streams.iter().map(|stream| {
            let [failure] = &stream.failures[..] else { panic!("{:?}", stream.failures) };
            assert_eq!((&failure.path, failure.doing, failure.errno), (&first, "read", None));
            assert!(failure.message.contains("the file ends"), "{}", failure.message);
            assert!(failure.at_s > 0.0 && failure.length == 8192, "{failure:?}");
            let intervals_before = (failure.at_s * 10.0) as usize + 1;
            stream.ios_by_interval.iter().skip(intervals_before).sum::<u64>()
        });
        // The first stream has another file, the second has not: only what it had in flight.
        let ios_afterwards: Vec<u64> = ios_afterwards.collect();
        assert!(ios_afterwards[0] > 8 && ios_afterwards[1] <= 8, "{ios_afterwards:?}");
        assert!(outcome.elapsed_s >= 1.0 && outcome.streams[0].elapsed_s >= 1.0);
    }
}

#[test]
fn a_device_that_loses_its_backing_fails_and_the_others_go_on() {
    for backend in BACKENDS {
        let folder = folder();
        let (image, second) = (file(&folder, "image", 8 * MIB), file(&folder, "second", 8 * MIB));
        let Some(device) = LoopDevice::on(&image) else { return };
        let outcome = with_broken(&device.path, &second, backend, &|| truncate(&image));
        let [failure] = &outcome.streams[0].failures[..] else {
            panic!("{:?}", outcome.streams[0].failures)
        };
        assert_eq!((&failure.path, failure.errno), (&device.path, Some(libc::EIO)));
        let intervals_before = (failure.at_s * 10.0) as usize + 1;
        assert!(outcome.streams[0].ios_by_interval[intervals_before..].iter().any(|ios| *ios > 0));
        assert_eq!(outcome.streams[1].failures.len(), 1);
    }
}

#[test]
fn a_full_file_system_fails_writes() {
    let folder = folder();
    let Some(mounted) = Mount::ext4(&folder, 16 * MIB) else { return };
    let path = mounted.at.path().join("sparse");
    std::fs::File::create(&path).unwrap().set_len(64 * MIB).unwrap();
    for backend in BACKENDS {
        let mut writes = stream(vec![whole(&path, 64 * MIB)]);
        writes.read_percent = 0;
        let mut load = load(1, 4, vec![writes]);
        (load.backend, load.duration) = (Some(backend), Some(Duration::from_secs(60)));
        let outcome = go(&load).unwrap();
        let [failure] = &outcome.streams[0].failures[..] else { panic!("{outcome:?}") };
        assert_eq!((failure.doing, failure.errno), ("write", Some(libc::ENOSPC)));
        assert!(outcome.elapsed_s < 60.0);
    }
}

/// Refused before anything runs, with these words.
fn refused(load: &disk_io::Load, words: &[&str]) {
    let error = go(load).unwrap_err().to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn settings_that_do_not_fit_are_refused_with_advice() {
    let folder = folder();
    let path = file(&folder, "data", MIB);
    let reads = |length| stream(vec![whole(&path, length)]);
    refused(&load(1, 1, vec![reads(2 * MIB)]), &["data", "its size is 1048576 bytes", "larger"]);
    refused(
        &load(1, 1, vec![reads(4096)]),
        &["the block size of 8192 bytes", "the region of 4096 bytes"],
    );
    let mut odd = reads(MIB);
    odd.align = Some(100);
    refused(&load(1, 1, vec![odd.clone()]), &["the alignment is 100", "multiple"]);
    odd.direct = false;
    assert_eq!(go(&load(1, 1, vec![odd])).unwrap().streams[0].failures, []);
    let mut odd = reads(MIB);
    odd.block.min = 1000;
    refused(&load(1, 1, vec![odd]), &["the block size is 1000"]);
    refused(&load(1, 40_000, vec![reads(MIB)]), &["40000", "32768", "more threads"]);
    let mut endless = load(1, 1, vec![reads(MIB)]);
    endless.duration = None;
    refused(&endless, &["needs a duration or a number of bytes"]);
    let missing = stream(vec![whole(&folder.path().join("missing"), MIB)]);
    let error = go(&load(1, 1, vec![missing])).unwrap_err();
    assert!(
        matches!(&error,
            DiskError::File { source, .. } if source.raw_os_error() == Some(libc::ENOENT)),
        "{error}"
    );
    refused(&load(1, 1, vec![stream(vec![whole(folder.path(), MIB)])]), &["neither a file nor"]);
}

#[test]
fn direct_io_in_memory_is_refused() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        println!("SKIPPED: no tmpfs at /dev/shm");
        return;
    };
    let path = file(&folder, "data", MIB);
    let mut reads = stream(vec![whole(&path, MIB)]);
    refused(&load(1, 1, vec![reads.clone()]), &["data", "direct", "buffered I/O"]);
    reads.direct = false;
    assert!(go(&load(1, 4, vec![reads])).unwrap().streams[0].reads.bytes > 0);
}

#[test]
fn sectors_of_the_device_are_respected() {
    let folder = folder();
    let image = file(&folder, "image", MIB);
    let Some(device) = LoopDevice::on(&image) else { return };
    if !command(&format!("losetup --sector-size 4096 {}", device.path.display())) {
        println!("SKIPPED: losetup cannot set the sector size");
        return;
    }
    let mut log = stream(vec![whole(&device.path, MIB)]);
    log.block.min = 512;
    refused(&load(1, 1, vec![log.clone()]), &["multiples of 4096", "block size is 512"]);
    log.block.min = 4096;
    assert_eq!(go(&load(1, 1, vec![log])).unwrap().streams[0].failures, []);
}

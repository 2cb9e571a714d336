//! Syncs are made when they should be, and reach the device.

use super::support::{LoopDevice, MIB, file, folder, go, load, stream, whole};
use disk_io::{Access, Arrivals, Backend, BlockSize, Durability, Stream};
use std::path::Path;
use std::time::Duration;

fn writes(path: &Path, durability: Durability) -> Stream {
    let mut writes = stream(vec![whole(path, 16 * MIB)]);
    writes.read_percent = 0;
    writes.block = BlockSize { min: 4096, max: 4096 };
    (writes.durability, writes.bytes) = (durability, Some(100 * 4096));
    writes
}

#[test]
fn a_sync_comes_after_every_so_many_writes_and_flushes_the_device() {
    let folder = folder();
    let Some(device) = LoopDevice::on(&file(&folder, "image", 16 * MIB)) else { return };
    for (backend, direct, depth) in
        [(Backend::IoUring, true, 4), (Backend::IoUring, false, 1), (Backend::Blocking, true, 1)]
    {
        for data_only in [true, false] {
            let mut log = writes(&device.path, Durability::Sync { every: 10, data_only });
            (log.direct, log.access) = (direct, Access::Sequential);
            let mut load = load(1, depth, vec![log]);
            (load.backend, load.duration) = (Some(backend), None);
            let before = device.counters();
            let outcome = go(&load).unwrap();
            let [_, _, _, sectors, flushes] = device.since(before);
            let stream = &outcome.streams[0];
            assert_eq!(
                (stream.writes.latency.len(), stream.syncs.latency.len()),
                (100, 10),
                "{backend:?}"
            );
            assert_eq!((stream.failures.len(), stream.syncs.bytes), (0, 0));
            assert_eq!(flushes, 10, "{backend:?} direct {direct}");
            assert_eq!(sectors * 512, stream.writes.bytes);
        }
    }
}

#[test]
fn each_file_that_was_written_is_synced() {
    let folder = folder();
    let regions = ["a", "b", "c"].map(|name| whole(&file(&folder, name, MIB), MIB));
    let mut log = stream(regions.to_vec());
    (log.read_percent, log.access, log.bytes) = (0, Access::Sequential, Some(3 * MIB));
    log.durability = Durability::Sync { every: 384, data_only: true };
    let mut load = load(1, 8, vec![log]);
    load.duration = None;
    let outcome = go(&load).unwrap();
    assert_eq!(outcome.streams[0].writes.latency.len(), 384);
    assert_eq!(outcome.streams[0].syncs.latency.len(), 3);
}

#[test]
fn durable_writes_flush_each_by_itself() {
    let folder = folder();
    let Some(device) = LoopDevice::on(&file(&folder, "image", 16 * MIB)) else { return };
    for backend in [Backend::IoUring, Backend::Blocking] {
        let mut load = load(1, 1, vec![writes(&device.path, Durability::EachWrite)]);
        (load.backend, load.duration) = (Some(backend), None);
        let before = device.counters();
        let outcome = go(&load).unwrap();
        let stream = &outcome.streams[0];
        assert_eq!((stream.writes.latency.len(), stream.syncs.latency.len()), (100, 0));
        // A loop device cannot write durably by itself (FUA), so that each write is followed by a
        // flush; pwrite on a device makes another one as it returns.
        let flushes = device.since(before)[4];
        assert!(
            flushes == 100 || flushes == 200 && backend == Backend::Blocking,
            "{backend:?}: {flushes}"
        );
    }
}

#[test]
fn a_burst_ends_with_a_sync() {
    let folder = folder();
    let path = file(&folder, "data", 16 * MIB);
    let mut checkpoint = writes(&path, Durability::Sync { every: 1_000, data_only: true });
    (checkpoint.bytes, checkpoint.direct) = (None, false);
    checkpoint.arrivals = Arrivals::Burst { count: 50, every: Duration::from_millis(200) };
    let mut load = load(1, 8, vec![checkpoint]);
    load.duration = Some(Duration::from_millis(500));
    let outcome = go(&load).unwrap();
    assert_eq!(outcome.streams[0].writes.latency.len(), 150);
    assert_eq!(outcome.streams[0].syncs.latency.len(), 3);
}

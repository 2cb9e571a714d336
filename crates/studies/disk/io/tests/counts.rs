//! Reported I/Os were really done.

use super::support::{Directions, LoopDevice, MIB, file, folder, go, load, stream, whole};
use disk_io::{
    Access, Arrivals, Backend, BlockSize, DiskError, Group, Outcome, Stream, StreamOutcome, run,
};
use std::time::Duration;
use work::conductor::LoadError;

const BACKENDS: [Backend; 2] = [Backend::IoUring, Backend::Blocking];

fn ios(stream: &StreamOutcome) -> u64 {
    stream.reads.latency.len() + stream.writes.latency.len()
}

/// Identities of every outcome without failures.
fn is_consistent(outcome: &Outcome) {
    for stream in &outcome.streams {
        assert_eq!(stream.failures, []);
        assert_eq!(stream.ios_by_interval.iter().sum::<u64>(), ios(stream));
        assert_eq!(
            stream.bytes_by_interval.iter().sum::<u64>(),
            stream.reads.bytes + stream.writes.bytes
        );
    }
}

#[test]
fn the_kernel_counts_the_same_ios_and_bytes_of_a_device() {
    let folder = folder();
    let Some(device) = LoopDevice::on(&file(&folder, "image", 64 * MIB)) else { return };
    for backend in BACKENDS {
        let mut mixed = stream(vec![whole(&device.path, 64 * MIB)]);
        mixed.read_percent = 70;
        let mut load = load(2, 4, vec![mixed]);
        load.backend = Some(backend);
        let before = device.counters();
        let outcome = go(&load).unwrap();
        let [reads, read_sectors, writes, write_sectors, flushes] = device.since(before);
        is_consistent(&outcome);
        let stream = &outcome.streams[0];
        assert_eq!(outcome.backend, backend);
        assert_eq!(outcome.threads.len(), if backend == Backend::IoUring { 2 } else { 8 });
        assert!(ios(stream) > 100, "{}", ios(stream));
        assert_eq!(
            (read_sectors * 512, write_sectors * 512),
            (stream.reads.bytes, stream.writes.bytes)
        );
        // Neighbours in flight at once may have been merged.
        assert!(
            reads <= stream.reads.latency.len() && reads * 100 >= stream.reads.latency.len() * 97,
            "{reads}"
        );
        assert!(
            writes <= stream.writes.latency.len()
                && writes * 100 >= stream.writes.latency.len() * 97
        );
        assert_eq!(flushes, 0);
        // Shares are drawn: six deviations of a binomial.
        let share = stream.reads.latency.len() as f64 / ios(stream) as f64;
        let deviation = (0.7 * 0.3 / ios(stream) as f64).sqrt();
        assert!((share - 0.7).abs() < 6.0 * deviation, "{backend:?}: {share}");
    }
}

#[test]
fn depth_is_rate_times_latency() {
    let folder = folder();
    let path = file(&folder, "data", 32 * MIB);
    for backend in BACKENDS {
        let mut load = load(2, 3, vec![stream(vec![whole(&path, 32 * MIB)])]);
        load.backend = Some(backend);
        let outcome = go(&load).unwrap();
        let stream = &outcome.streams[0];
        let (_, mean_ns, _) = stream.reads.latency.min_mean_max_ns();
        let littles = ios(stream) as f64 / outcome.elapsed_s * mean_ns / 1e9;
        // The histogram keeps three digits.
        assert!(
            (littles / stream.depth_mean - 1.0).abs() < 0.01,
            "{littles} and {}",
            stream.depth_mean
        );
        assert!(stream.depth_mean <= 6.0 && stream.depth_mean > 1.0, "{}", stream.depth_mean);
    }
}

#[test]
fn a_sequential_stream_writes_every_byte_once() {
    for (backend, direct) in
        [(Backend::IoUring, true), (Backend::Blocking, true), (Backend::IoUring, false)]
    {
        let folder = folder();
        let paths = [file(&folder, "a", 3 * MIB), file(&folder, "b", MIB)];
        let mut log = stream(vec![whole(&paths[0], 3 * MIB), whole(&paths[1], MIB)]);
        (log.access, log.read_percent, log.bytes, log.direct) =
            (Access::Sequential, 0, Some(4 * MIB), direct);
        log.block = BlockSize { min: 4096, max: 4096 };
        let mut load = load(3, 4, vec![log]);
        (load.backend, load.duration) = (Some(backend), None);
        let outcome = go(&load).unwrap();
        is_consistent(&outcome);
        assert!((outcome.streams[0].elapsed_s - outcome.elapsed_s).abs() < 1e-9);
        assert_eq!(outcome.streams[0].writes.bytes, 4 * MIB);
        assert_eq!(ios(&outcome.streams[0]), 1024);
        // As many I/Os as blocks, and no block left out: each one once. No two blocks are alike.
        let mut blocks: Vec<Vec<u8>> = Vec::new();
        for path in &paths {
            blocks.extend(std::fs::read(path).unwrap().chunks(4096).map(<[u8]>::to_vec));
        }
        assert!(blocks.iter().all(|block| block.iter().any(|byte| *byte != 0)));
        blocks.sort();
        blocks.dedup();
        assert_eq!(blocks.len(), 1024);
    }
}

#[test]
fn nothing_outside_of_the_region_is_written() {
    let folder = folder();
    let path = file(&folder, "data", 4 * MIB);
    let mut writes = stream(vec![disk_io::Region { path: path.clone(), start: MIB, length: MIB }]);
    (writes.read_percent, writes.block.max) = (0, 64 << 10);
    (writes.align, writes.compress_percent) = (Some(32 << 10), 50);
    let outcome = go(&load(1, 8, vec![writes])).unwrap();
    is_consistent(&outcome);
    let contents = std::fs::read(&path).unwrap();
    let outside = contents[..MIB as usize].iter().chain(&contents[2 * MIB as usize..]);
    assert!(outside.copied().all(|byte| byte == 0));
    let pages: Vec<&[u8]> = contents[MIB as usize..2 * MIB as usize].chunks(4096).collect();
    // Every write begins at a multiple of 32 KiB: those pages are all hit.
    assert!(pages.iter().step_by(8).all(|page| page.iter().any(|byte| *byte != 0)));
    for page in pages.iter().filter(|page| page.iter().any(|byte| *byte != 0)) {
        assert!(page[2048..].iter().all(|byte| *byte == 0), "half of each page is zeros");
    }
}

#[test]
fn a_rate_is_kept_and_its_lateness_counted_from_the_intended_start() {
    let folder = folder();
    let path = file(&folder, "data", 8 * MIB);
    for (backend, threads) in [(Backend::IoUring, 2), (Backend::Blocking, 1)] {
        let mut steady = stream(vec![whole(&path, 8 * MIB)]);
        (steady.arrivals, steady.direct) = (Arrivals::Rate(500.0), false);
        let mut load = load(threads, 4, vec![steady]);
        (load.backend, load.duration) = (Some(backend), Some(Duration::from_secs(1)));
        let outcome = go(&load).unwrap();
        is_consistent(&outcome);
        let stream = &outcome.streams[0];
        let sends = stream.sends.unwrap();
        // Poisson: 500 with a deviation of 22.
        assert!((370..=630).contains(&sends.intended), "{}", sends.intended);
        assert!(sends.intended - ios(stream) <= 8, "{} of {}", ios(stream), sends.intended);
        let service = stream.reads.service.as_ref().unwrap();
        assert_eq!(service.len(), ios(stream));
        assert!(stream.reads.latency.min_mean_max_ns().1 >= service.min_mean_max_ns().1);
        assert!(outcome.elapsed_s >= 1.0);
        assert!(
            sends.free_until_ns > 900_000_000
                && (900_000_000..1_100_000_000).contains(&sends.schedule_ns),
            "{sends:?}"
        );
    }
}

#[test]
fn an_overloaded_open_loop_tells_what_was_never_begun() {
    let folder = folder();
    let path = file(&folder, "data", 8 * MIB);
    let mut flood = stream(vec![whole(&path, 8 * MIB)]);
    flood.arrivals = Arrivals::Rate(20e6);
    let outcome = go(&load(1, 1, vec![flood])).unwrap();
    let stream = &outcome.streams[0];
    let sends = stream.sends.unwrap();
    assert!(sends.intended > 5_000_000 && ios(stream) < sends.intended / 2, "{}", ios(stream));
    let service = stream.reads.service.as_ref().unwrap();
    assert!(stream.reads.latency.percentile_ns(50.0) > 10 * service.percentile_ns(50.0));
    assert!(sends.free_until_ns < sends.schedule_ns / 2, "{sends:?}");
    assert!(sends.late >= sends.intended - ios(stream), "what was never begun is late");
}

#[test]
fn bursts_have_their_count_and_come_on_time() {
    let folder = folder();
    let path = file(&folder, "data", 8 * MIB);
    let mut bursts = stream(vec![whole(&path, 8 * MIB)]);
    (bursts.read_percent, bursts.direct) = (0, false);
    bursts.arrivals = Arrivals::Burst { count: 101, every: Duration::from_millis(200) };
    let mut load = load(2, 16, vec![bursts]);
    (load.duration, load.interval) =
        (Some(Duration::from_millis(1100)), Duration::from_millis(200));
    let outcome = go(&load).unwrap();
    is_consistent(&outcome);
    // At 0, 200, ... 1000 ms.
    assert_eq!(ios(&outcome.streams[0]), 6 * 101);
    assert!(outcome.threads.iter().all(|thread| thread.idle_s > 0.0));
}

#[test]
fn streams_of_one_group_share_its_queue_by_weight() {
    let folder = folder();
    let path = file(&folder, "data", 8 * MIB);
    let reads = stream(vec![whole(&path, 4 * MIB)]);
    let mut writes = stream(vec![disk_io::Region { path, start: 4 * MIB, length: 4 * MIB }]);
    (writes.read_percent, writes.access, writes.name) = (0, Access::Sequential, "log".into());
    let mut load = load(1, 8, vec![reads.clone()]);
    load.groups = vec![Group {
        threads: 1,
        queue_depth: 8,
        batch: 1,
        streams: vec![Stream { weight: 3, ..reads }, writes],
    }];
    let outcome = go(&load).unwrap();
    is_consistent(&outcome);
    let [reads, writes] = &outcome.streams[..] else { panic!("{outcome:?}") };
    let total = (ios(reads) + ios(writes)) as f64;
    let share = ios(reads) as f64 / total;
    assert!((share - 0.75).abs() < 6.0 * (0.75 * 0.25 / total).sqrt(), "{share} of {total}");
    assert!(reads.depth_mean + writes.depth_mean <= 8.0);
    assert_eq!((reads.writes.bytes, writes.reads.bytes), (0, 0));
}

#[test]
fn the_warm_up_is_apart_and_go_comes_when_nothing_is_in_flight() {
    let folder = folder();
    let Some(device) = LoopDevice::on(&file(&folder, "image", 16 * MIB)) else { return };
    let mut load = load(2, 4, vec![stream(vec![whole(&device.path, 16 * MIB)])]);
    load.warmup = Duration::from_millis(200);
    let (before, mut at_go) = (device.counters(), [0; 5]);
    let mut progress = Vec::new();
    let outcome = run(
        &load,
        &mut Directions(
            || {
                at_go = device.counters();
                true
            },
            |now| {
                progress.push(now);
                true
            },
        ),
    )
    .unwrap();
    is_consistent(&outcome);
    let stream = &outcome.streams[0];
    let warm: u64 = stream.warmup_bytes_by_interval.iter().sum();
    assert_eq!((at_go[1] - before[1]) * 512, warm);
    assert_eq!(device.since(at_go)[1] * 512, stream.reads.bytes);
    assert!(warm > 0 && stream.warmup_ios_by_interval.len() >= 2);
    assert!(
        progress.iter().any(|progress| progress.elapsed_s < 0.0)
            && progress.iter().any(|progress| progress.elapsed_s > 0.0)
    );
}

#[test]
fn the_bytes_of_a_stream_are_those_of_the_measurement() {
    let folder = folder();
    let path = file(&folder, "data", 4 * MIB);
    let mut reads = stream(vec![whole(&path, 4 * MIB)]);
    reads.bytes = Some(80 << 10);
    let mut load = load(2, 4, vec![reads]);
    load.warmup = Duration::from_millis(100);
    let stream = &go(&load).unwrap().streams[0];
    assert_eq!((stream.reads.bytes, ios(stream)), (80 << 10, 10));
    assert!(stream.warmup_bytes_by_interval.iter().sum::<u64>() > 80 << 10);
    assert!(stream.elapsed_s < 0.3, "{}", stream.elapsed_s);
}

#[test]
fn a_run_can_be_stopped_and_go_can_fail() {
    let folder = folder();
    let path = file(&folder, "data", MIB);
    let mut load = load(2, 4, vec![stream(vec![whole(&path, MIB)])]);
    load.duration = Some(Duration::from_secs(3600));
    let stopped = run(&load, &mut Directions(|| true, |_| false));
    assert!(matches!(stopped, Err(DiskError::Load(LoadError::Stopped))), "{stopped:?}");
    let failed = run(&load, &mut Directions(|| false, |_| true));
    assert!(matches!(failed, Err(DiskError::Load(LoadError::Stopped))), "{failed:?}");
}

#[test]
fn a_batch_is_waited_for_together() {
    let folder = folder();
    let path = file(&folder, "data", 8 * MIB);
    let mut load = load(1, 8, vec![stream(vec![whole(&path, 8 * MIB)])]);
    load.groups[0].batch = 4;
    load.backend = Some(disk_io::Backend::IoUring);
    let outcome = go(&load).unwrap();
    is_consistent(&outcome);
    let waits = outcome.threads[0].io_waits;
    // Those that are in flight at the end are waited for by fewer.
    assert!(waits <= ios(&outcome.streams[0]) / 4 + 8, "{waits} waits");
}

//! Cost of a record, in ns per thread, with other recorders running. Run by `cargo xtask bench
//! recorder`.
//!
//!     record WHICH THREADS RECORDS      prints nanoseconds a record
//!     record snapshot THREADS RECORDS   prints microseconds to read all threads' distributions
//! while they record;                                       snapshot-every: distributions as wide
//! and dense as they can be
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example that a bench runs")]

use hdrhistogram::Histogram;
use metrics_util::registry::{AtomicStorage, Registry};
use prometheus_client::metrics::histogram::{Histogram as Prometheus, exponential_buckets};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Instant;
use work::conductor::{Reader, Recorder};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [which, threads, records] = &arguments[..] else { panic!("record WHICH THREADS RECORDS") };
    let (threads, records) = (threads.parse().unwrap(), records.parse().unwrap());
    let figure = match which.as_str() {
        "none" => each(threads, records, || {
            |value: u64| {
                std::hint::black_box(value);
            }
        }),
        "ours" => each(threads, records, || {
            let mut recorder = Recorder::default();
            move |value| recorder.record(value)
        }),
        "mutex" => {
            let shared =
                Mutex::new(Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap());
            each(threads, records, || |value| shared.lock().unwrap().saturating_record(value))
        }
        "sync" => {
            let mut shared =
                Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap().into_sync();
            let recorders = Mutex::new((0..threads).map(|_| shared.recorder()).collect::<Vec<_>>());
            let figure = each(threads, records, || {
                let mut recorder = recorders.lock().unwrap().pop().unwrap();
                move |value| recorder.saturating_record(value)
            });
            drop(recorders);
            shared.refresh();
            figure
        }
        "metrics" => {
            let registry = Registry::new(AtomicStorage);
            let key = metrics::Key::from_name("latency");
            each(threads, records, || {
                let handle = registry.get_or_create_histogram(&key, Clone::clone);
                move |value| metrics::HistogramFn::record(&*handle, value as f64)
            })
        }
        "prometheus" => {
            let shared = Prometheus::new(exponential_buckets(1e-9, 2.0, 42));
            each(threads, records, || |value| shared.observe(value as f64 / 1e9))
        }
        "snapshot" => snapshot(threads, records, false),
        "snapshot-every" => snapshot(threads, records, true),
        other => panic!("{other} is not known"),
    };
    println!("{figure:.3}");
}

/// Latencies as a disk and a network have them: from 1 us to 8 ms.
fn latencies(seed: u64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..4096).map(|_| 1_000 << (random.next_u64() % 13) | (random.next_u64() % 1_000)).collect()
}

/// Runs `records` records on each thread; the mean time of one, of the slowest thread.
fn each<R: FnMut(u64)>(threads: usize, records: usize, recorder: impl Fn() -> R + Sync) -> f64 {
    let together = Barrier::new(threads);
    let run = |seed: usize| {
        let (values, mut record) = (latencies(seed as u64), recorder());
        together.wait();
        let start = Instant::now();
        for index in 0..records {
            record(values[index % values.len()]);
        }
        start.elapsed().as_nanos() as f64 / records as f64
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|seed| scope.spawn(move || run(seed))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).fold(0.0, f64::max)
    })
}

/// Time to add up the distributions of all threads, of which two go on recording. The worst case is
/// `every` latency between 1 us and 8 ms: hardly a counter stays empty.
fn snapshot(threads: usize, records: usize, every: bool) -> f64 {
    let mut recorders: Vec<Recorder> = (0..threads).map(|_| Recorder::default()).collect();
    for (seed, recorder) in recorders.iter_mut().enumerate() {
        if every {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed as u64);
            for _ in 0..records {
                let shortest = 1_000 << (random.next_u64() % 13);
                recorder.record(shortest + random.next_u64() % shortest);
            }
        } else {
            let values = latencies(seed as u64);
            (0..records).for_each(|index| recorder.record(values[index % values.len()]));
        }
    }
    let readers: Vec<_> = recorders.iter().map(Recorder::reader).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for recorder in recorders.iter_mut().take(2) {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    recorder.record(5_000);
                }
            });
        }
        let start = Instant::now();
        let all = Reader::sum(&readers);
        let taken_us = start.elapsed().as_nanos() as f64 / 1e3;
        done.store(true, Ordering::Relaxed);
        std::hint::black_box(all.len());
        taken_us
    })
}

//! The engine by itself, for comparisons: `random_read PATH BLOCK DEPTH direct|buffered SECONDS`.
#![allow(clippy::print_stdout, reason = "an example")]

use disk_io::{Access, Arrivals, BlockSize, Durability, Group, Load, Region, Stream, run};
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, block, depth, cache, seconds] = &arguments[..] else {
        return Err("usage: random_read PATH BLOCK DEPTH direct|buffered SECONDS".into());
    };
    let block = block.parse()?;
    let length = std::fs::metadata(path)?.len();
    let stream = Stream {
        name: "reads".into(),
        weight: 1,
        regions: vec![Region { path: path.into(), start: 0, length }],
        access: Access::Random,
        read_percent: 100,
        block: BlockSize { min: block, max: block },
        align: None,
        direct: cache == "direct",
        durability: Durability::Never,
        arrivals: Arrivals::Closed,
        compress_percent: 0,
        bytes: None,
    };
    let group = Group { threads: 1, queue_depth: depth.parse()?, batch: 1, streams: vec![stream] };
    let load = Load {
        groups: vec![group],
        backend: None,
        duration: Some(Duration::from_secs_f64(seconds.parse()?)),
        warmup: Duration::from_millis(200),
        interval: Duration::from_secs(1),
        seed: 1,
    };
    let outcome = run(&load, &mut ())?;
    let reads = &outcome.streams[0].reads;
    let ios = reads.latency.len();
    let cpu_ns: u64 = outcome.threads.iter().map(|thread| thread.used.times.cpu_ns).sum();
    println!("backend {:?}, notes {:?}", outcome.backend, outcome.notes);
    println!("iops {:.0}", ios as f64 / outcome.elapsed_s);
    println!("cpu_us_per_io {:.3}", cpu_ns as f64 / 1e3 / ios as f64);
    println!("latency_us_mean {:.2}", reads.latency.min_mean_max_ns().1 / 1e3);
    println!("latency_us_p50 {:.2}", reads.latency.percentile_ns(50.0) as f64 / 1e3);
    println!("latency_us_p99 {:.2}", reads.latency.percentile_ns(99.0) as f64 / 1e3);
    println!("depth {:.2}, waits per I/O {:.3}", outcome.streams[0].depth_mean, {
        outcome.threads.iter().map(|thread| thread.io_waits).sum::<u64>() as f64 / ios as f64
    });
    Ok(())
}

//! The figures of streams, one by one and all together.

use disk_io::{Direction, StreamOutcome};
use observations::{Histogram, Response};

/// What one stream did, or several together.
#[derive(Debug, Default)]
pub struct Done {
    pub reads: Direction,
    pub writes: Direction,
    pub syncs: Direction,
    pub depth_mean: f64,
}

impl Done {
    /// All these streams together.
    pub fn of<'a>(streams: impl Iterator<Item = &'a StreamOutcome>) -> Self {
        streams.fold(Self::default(), |mut sum, stream| {
            sum.reads.add(&stream.reads);
            sum.writes.add(&stream.writes);
            sum.syncs.add(&stream.syncs);
            sum.depth_mean += stream.depth_mean;
            sum
        })
    }

    /// Number of reads and writes.
    pub fn ios(&self) -> u64 {
        self.reads.latency.len() + self.writes.latency.len()
    }

    /// Bytes that they moved.
    pub fn bytes(&self) -> u64 {
        self.reads.bytes + self.writes.bytes
    }

    /// Latency of reads and writes.
    pub fn latency(&self) -> Histogram {
        let mut all = self.reads.latency.clone();
        all.merge(&self.writes.latency);
        all
    }

    /// Time from begin to end of reads and writes, where they had an intended start.
    pub fn service(&self) -> Option<Histogram> {
        let parts = [&self.reads.service, &self.writes.service];
        parts.into_iter().flatten().cloned().reduce(|mut all, part| {
            all.merge(&part);
            all
        })
    }

    /// The responses, their names behind this prefix.
    pub fn responses(&self, prefix: &str, elapsed_s: f64, cpu_s: Option<f64>) -> Vec<Response> {
        let named = |name: &str| format!("{prefix}{name}");
        let rate = |amount: f64| if elapsed_s > 0.0 { amount / elapsed_s } else { 0.0 };
        let higher = |name: &str, unit, value| Response::higher(&named(name), unit, value);
        let mut all = vec![
            higher("iops", "I/Os/s", rate(self.ios() as f64)),
            higher("bandwidth", "MB/s", rate(self.bytes() as f64) / 1e6),
        ];
        all.extend(latencies(&named("latency"), &self.latency()));
        let cpu_s = cpu_s.filter(|_| self.ios() > 0);
        all.extend(cpu_s.map(|s| Response::lower(&named("cpu"), "us/I/O", s * 1e6 / self.ios() as f64)));
        all.push(higher("depth", "I/Os", self.depth_mean));
        all.push(Response::lower(&named("elapsed"), "s", elapsed_s));
        let mixed = !self.reads.latency.is_empty() && !self.writes.latency.is_empty();
        for (name, direction) in [("read", &self.reads), ("write", &self.writes)] {
            if mixed {
                all.push(higher(&format!("{name}_iops"), "I/Os/s", rate(direction.latency.len() as f64)));
                all.extend(mean_and_p99(&named(&format!("{name}_latency")), &direction.latency));
            }
        }
        if !self.syncs.latency.is_empty() {
            all.push(higher("syncs", "syncs/s", rate(self.syncs.latency.len() as f64)));
            all.extend(mean_and_p99(&named("sync_latency"), &self.syncs.latency));
        }
        all
    }
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// All figures of a distribution; none of an empty one.
fn latencies(name: &str, latency: &Histogram) -> Vec<Response> {
    if latency.is_empty() {
        return Vec::new();
    }
    let (min_ns, mean_ns, max_ns) = latency.min_mean_max_ns();
    let lower = |part: &str, value| Response::lower(&format!("{name}_{part}"), "us", value);
    let mut all = vec![lower("mean", mean_ns / 1e3), lower("min", us(min_ns))];
    for (part, percentile) in [("p50", 50.0), ("p95", 95.0), ("p99", 99.0), ("p99.9", 99.9)] {
        all.push(lower(part, us(latency.percentile_ns(percentile))));
    }
    all.push(lower("max", us(max_ns)));
    all
}

fn mean_and_p99(name: &str, latency: &Histogram) -> Vec<Response> {
    let wanted = [format!("{name}_mean"), format!("{name}_p99")];
    latencies(name, latency).into_iter().filter(|response| wanted.contains(&response.name)).collect()
}

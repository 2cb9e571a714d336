//! Recordings of the disk probe made by hand: a closed queueing network, the published study.

use super::{done, observed, plan};
use observations::{
    DeviceUse, Environment, Histogram, Latency, Observations, Recording, Response, Value,
    VolumeEnvironment, Work,
};
use std::collections::BTreeMap;

/// A device of one server with a service time and a delay without queueing. With N I/Os in flight
/// X(N) = min(N / (service + delay), 1 / service), the asymptotes of a closed network, and N* =
/// (service + delay) / service.
#[derive(Clone, Copy)]
pub struct Device {
    pub service_s: f64,
    pub delay_s: f64,
}

impl Device {
    pub fn iops(self, outstanding: f64) -> f64 {
        (outstanding / (self.service_s + self.delay_s)).min(1.0 / self.service_s)
    }
}

/// A trial with all responses; `read` is its direction.
pub fn disk_observed(iops: f64, depth: f64, block_bytes: f64, read: bool) -> Observations {
    let latency_s = depth / iops;
    let mut histogram = Histogram::default();
    for _ in 0..100 {
        histogram.record((latency_s * 1e9) as u64);
    }
    let name = if read { "read" } else { "write" };
    Observations {
        elapsed_s: 10.0,
        connections: 1,
        work: Work { unit: "I/O".into(), amount: (iops * 10.0) as u64, ..Work::default() },
        responses: vec![
            Response::higher("iops", "I/Os/s", iops),
            Response::higher("bandwidth", "MB/s", iops * block_bytes / 1e6),
            Response::lower("latency_mean", "us", latency_s * 1e6),
            Response::lower("latency_p99", "us", latency_s * 2e6),
            Response::lower("cpu", "us/I/O", 3.0),
            Response::higher("depth", "I/Os", depth),
        ],
        latencies: vec![Latency { name: name.into(), histogram }],
        ..Observations::default()
    }
}

/// Gives every configuration the settings of the disk probe that its levels do not.
pub fn with_settings(recording: &mut Recording, defaults: &[(&str, &str)]) {
    for configuration in &mut recording.configurations {
        let mut settings: BTreeMap<String, Value> = defaults
            .iter()
            .filter(|(path, _)| !configuration.levels.iter().any(|level| level.factor == *path))
            .map(|(path, json)| ((*path).into(), Value::from_json(json).unwrap()))
            .collect();
        settings.extend(configuration.levels.iter().map(|level| {
            let json = match level.level.parse::<u64>() {
                Ok(number) => number.to_string(),
                Err(_) => serde_json::to_string(&level.level).unwrap(),
            };
            (level.factor.clone(), Value::from_json(&json).unwrap())
        }));
        configuration.settings = settings;
    }
}

pub const DISK: [(&str, &str); 6] = [
    ("workload.probe", "\"disk\""),
    ("workload.pattern", "\"random-read\""),
    ("workload.block_size", "8192"),
    ("workload.threads", "1"),
    ("workload.queue_depth", "1"),
    ("workload.direct", "true"),
];

/// Threads x queue depth on this device, three blocks that differ by 1 %.
pub fn saturation(device: Device, threads: &[&str], depths: &[&str]) -> Recording {
    let mut recording = plan(&[("workload.threads", threads), ("workload.queue_depth", depths)]);
    with_settings(&mut recording, &DISK);
    recording.run.name = "disk-ssd".into();
    recording.run.question = None;
    for (position, configuration) in recording.configurations.clone().iter().enumerate() {
        let levels = configuration.levels.iter().map(|level| level.level.parse::<f64>().unwrap());
        let outstanding: f64 = levels.product();
        for (block, noise) in [(1, 0.99), (2, 1.0), (3, 1.01)] {
            let observations =
                disk_observed(device.iops(outstanding) * noise, outstanding, 8192.0, true);
            recording.trials.push(done(position, block, observations));
        }
    }
    recording
}

/// A volume on a device of this host, as an environment has it.
pub fn on_volume(recording: &mut Recording, volume: &str, throttle: Option<&str>) {
    recording.environments = vec![Environment {
        host: Some("bench".into()),
        volumes: vec![VolumeEnvironment {
            name: volume.into(),
            path: format!("/mnt/{volume}"),
            device: Some("/dev/vdb".into()),
            file_system: Some("ext4".into()),
            size_bytes: Some(1 << 30),
            throttle: throttle.map(|limits| limits.parse().expect("limits")),
            ..VolumeEnvironment::default()
        }],
        ..Environment::default()
    }];
}

/// Returns the kernel's counters for this rate of I/Os of this size over ten seconds.
pub fn device_use(volume: &str, reads_per_s: f64, writes_per_s: f64, bytes: f64) -> DeviceUse {
    DeviceUse {
        volume: volume.into(),
        device: "vdb".into(),
        reads: (reads_per_s * 10.0) as u64,
        read_bytes: (reads_per_s * 10.0 * bytes) as u64,
        read_s: reads_per_s * 10.0 * 0.000_25,
        writes: (writes_per_s * 10.0) as u64,
        write_bytes: (writes_per_s * 10.0 * bytes) as u64,
        write_s: writes_per_s * 10.0 * 0.000_5,
        busy_s: 8.0,
        queue_s: 45.0,
        elapsed_s: 10.0,
        ..DeviceUse::default()
    }
}

/// Disk runs on volume `ssd`: 8 KiB at 52,300 writes/s, 64 KiB at 9,000, sequential at 70,000.
pub fn disk_run(throttle: Option<&str>) -> Recording {
    let mut run = plan(&[
        ("workload.pattern", &["random-write", "sequential-write"]),
        ("workload.block_size", &["8192", "65536"]),
    ]);
    with_settings(&mut run, &[&DISK[..], &[("target.volume", "\"ssd\"")]].concat());
    run.run.id = 3;
    run.run.name = "disk-ssd".into();
    on_volume(&mut run, "ssd", throttle);
    for (configuration, iops) in [52_300.0, 9000.0, 70_000.0, 30_000.0].into_iter().enumerate() {
        for block in 1..=3 {
            let mut observations =
                disk_observed(iops * (0.99 + 0.005 * f64::from(block)), 32.0, 8192.0, false);
            // The work directory is watched too.
            observations.devices = vec![
                device_use("ssd", 0.0, iops, 8192.0),
                DeviceUse { device: "vda".into(), ..device_use("default", 1.0, 1.0, 4096.0) },
            ];
            run.trials.push(done(configuration, block, observations));
        }
    }
    run
}

/// A database with `writes` writes a second of `size` bytes on volume `ssd`.
pub fn database(writes: f64, size: f64, throttle: Option<&str>) -> Recording {
    let mut run = plan(&[("target.data_files", &["1"])]);
    on_volume(&mut run, "ssd", throttle);
    for block in 1..=3 {
        let mut observations = observed(10.0);
        observations.devices =
            vec![device_use("ssd", 0.1, writes * (0.99 + 0.005 * f64::from(block)), size)];
        run.trials.push(done(0, block, observations));
    }
    run
}

//! fio's JSON (`--output-format=json`), of version 2 and 3
//! (<https://fio.readthedocs.io/en/latest/fio_doc.html#json-output>).

use super::trial::{Trial, observed};
use observations::{LevelRecord, Response};
use serde_json::Value;

/// A trial for each job; `None` of another document.
pub fn read(document: &Value) -> Option<Vec<Trial>> {
    document.get("fio version")?;
    let jobs = document["jobs"].as_array()?;
    let trials: Vec<Trial> = jobs.iter().filter_map(|job| trial(job, jobs.len() > 1)).collect();
    (!trials.is_empty()).then_some(trials)
}

fn trial(job: &Value, is_named: bool) -> Option<Trial> {
    let mut responses = Vec::new();
    let mut elapsed_ms: f64 = 0.0;
    for direction in ["read", "write", "trim"] {
        let figures = &job[direction];
        if figures["total_ios"].as_f64().unwrap_or(0.0) <= 0.0 {
            continue;
        }
        elapsed_ms = elapsed_ms.max(figures["runtime"].as_f64().unwrap_or(0.0));
        let of = |name: &str| format!("{direction}_{name}");
        responses.push(Response::higher(&of("iops"), "I/O/s", figures["iops"].as_f64()?));
        // `bw` is in KiB/s in all versions.
        let bytes = figures["bw"].as_f64().map(|kib| kib * 1024.0);
        let mb = figures["bw_bytes"].as_f64().or(bytes).map(|bytes| bytes / 1e6);
        responses.extend(mb.map(|mb| Response::higher(&of("throughput"), "MB/s", mb)));
        let latencies = [("clat_ns", 1e3), ("clat", 1.0)];
        let found = latencies.iter().find(|(key, _)| figures[*key]["mean"].is_number());
        let Some((key, per_us)) = found else { continue };
        let latency = &figures[*key];
        let us = |value: &Value| value.as_f64().map(|value| value / per_us);
        let all = [
            ("latency_mean", us(&latency["mean"])),
            ("latency_p99", us(&latency["percentile"]["99.000000"])),
        ];
        for (name, value) in all {
            responses.extend(value.map(|value| Response::lower(&of(name), "us", value)));
        }
    }
    let job_name = job["jobname"].as_str().unwrap_or_default();
    let level = LevelRecord { factor: "configuration".into(), level: job_name.into() };
    (!responses.is_empty()).then(|| Trial {
        levels: if is_named { vec![level] } else { Vec::new() },
        observations: observed(elapsed_ms / 1e3, 0, responses),
        ..Trial::default()
    })
}

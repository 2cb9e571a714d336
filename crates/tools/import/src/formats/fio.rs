//! fio's JSON (`--output-format=json`), of version 2 and 3
//! (<https://fio.readthedocs.io/en/latest/fio_doc.html#json-output>).

use super::trial::{FormatError, Trial, check_rows, observed};
use observations::{LevelRecord, Response};
use serde::Deserialize;

/// A job.
#[derive(Deserialize)]
pub struct Job {
    #[serde(default)]
    jobname: String,
    read: Option<Figures>,
    write: Option<Figures>,
    trim: Option<Figures>,
}

/// The I/Os of a job in a direction.
#[derive(Deserialize)]
struct Figures {
    #[serde(default)]
    total_ios: f64,
    #[serde(default)]
    runtime: f64,
    iops: Option<f64>,
    bw: Option<f64>,
    bw_bytes: Option<f64>,
    clat_ns: Option<Latency>,
    clat: Option<Latency>,
}

#[derive(Deserialize)]
struct Latency {
    mean: Option<f64>,
    percentile: Option<Percentiles>,
}

#[derive(Deserialize)]
struct Percentiles {
    #[serde(rename = "99.000000")]
    p99: Option<f64>,
}

/// A trial for each job with I/Os.
pub fn read(jobs: &[Job]) -> Result<Vec<Trial>, FormatError> {
    check_rows(jobs.len(), "trials")?;
    let trials = jobs.iter().filter_map(|job| trial(job, jobs.len() > 1).transpose());
    let trials = trials.collect::<Result<Vec<_>, _>>()?;
    if trials.is_empty() { Err(FormatError::Unknown) } else { Ok(trials) }
}

fn trial(job: &Job, is_named: bool) -> Result<Option<Trial>, FormatError> {
    let mut responses = Vec::new();
    let mut elapsed_ms: f64 = 0.0;
    for (direction, figures) in [("read", &job.read), ("write", &job.write), ("trim", &job.trim)] {
        let Some(figures) = figures.as_ref().filter(|figures| figures.total_ios > 0.0) else {
            continue;
        };
        elapsed_ms = elapsed_ms.max(figures.runtime);
        let name = |name: &str| format!("{direction}_{name}");
        let Some(iops) = figures.iops else { return Ok(None) };
        responses.push(Response::higher(&name("iops"), "I/O/s", iops));
        // `bw` is in KiB/s in all versions.
        let bytes = figures.bw_bytes.or(figures.bw.map(|kib| kib * 1024.0));
        let rate = bytes.map(|bytes| Response::higher(&name("throughput"), "MB/s", bytes / 1e6));
        responses.extend(rate);
        let latencies = [(&figures.clat_ns, 1e3), (&figures.clat, 1.0)].into_iter();
        let mut known = latencies.filter_map(|(latency, per_us)| Some((latency.as_ref()?, per_us)));
        let Some((latency, per_us)) = known.find(|(latency, _)| latency.mean.is_some()) else {
            continue;
        };
        let p99 = latency.percentile.as_ref().and_then(|percentiles| percentiles.p99);
        for (response, value) in [("latency_mean", latency.mean), ("latency_p99", p99)] {
            let us = value.map(|value| value / per_us);
            responses.extend(us.map(|us| Response::lower(&name(response), "us", us)));
        }
    }
    if responses.is_empty() {
        return Ok(None);
    }
    let level = LevelRecord { factor: "configuration".into(), level: job.jobname.clone() };
    Ok(Some(Trial {
        levels: if is_named { vec![level] } else { Vec::new() },
        observations: observed(elapsed_ms / 1e3, 0.0, responses)?,
        ..Trial::default()
    }))
}

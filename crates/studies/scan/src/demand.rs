//! The bandwidth that scans demanded: bytes of their table that they read each second, in all and
//! from storage (S3b: the rate that memory, storage and links have to deliver).

use crate::probe::{SCANS_DONE, Scan};
use analysis::{Estimate, Finding, FindingKind, Summary, wording};
use observations::{Direction, Observations};
use probe::Probe;
use probe::data::{CPU_S, PAGE_BYTES, PAGES_DISK, PAGES_HIT, PAGES_READ, TABLE_PAGES};
use serde::Serialize;

/// Bytes of a GB.
const GB: f64 = 1e9;

/// The demand of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScanDemand {
    /// Label of the configuration.
    pub label: String,
    /// GB of the table that all sessions read each second.
    pub bandwidth: Estimate,
    /// GB a second of them from storage; `None` where that is not known.
    pub storage: Option<Estimate>,
    /// CPUs busy on average; `None` where CPU time is not known.
    pub busy: Option<Estimate>,
    /// GB for each second of CPU time: what one CPU demands while it works.
    pub per_cpu: Option<Estimate>,
}

/// The demand of each configuration of the scan probe, in the order of the file.
pub fn demands(summary: &Summary) -> Vec<ScanDemand> {
    (0..summary.configurations.len()).filter_map(|index| demand(summary, index)).collect()
}

fn demand(summary: &Summary, configuration: usize) -> Option<ScanDemand> {
    summary.study(configuration).filter(|study| study.probe == Some(Scan.declarations().name))?;
    let trials = summary.grid.trials(configuration);
    let estimate = |unit: &str, figure: fn(&Observations) -> Option<f64>| {
        let values: Vec<f64> = trials.iter().filter_map(|trial| figure(trial)).collect();
        // A mean over some of the trials would be that of another configuration.
        let is_known = values.len() == trials.len();
        Estimate::from_amounts(&values, unit, Direction::HigherIsBetter).filter(|_| is_known)
    };
    Some(ScanDemand {
        label: summary.recording.configurations[configuration].label.clone(),
        bandwidth: estimate("GB/s", |text| Some(table_bytes(text)? * scans_s(text)? / GB))?,
        storage: estimate("GB/s", |text| {
            Some(PAGES_DISK.read(text)? * PAGE_BYTES.read(text)? * scans_s(text)? / GB)
        }),
        busy: estimate("CPUs", |text| Some(CPU_S.read(text)? * scans_s(text)?)),
        per_cpu: estimate("GB/s", |text| {
            let cpu_s = CPU_S.read(text).filter(|cpu_s| *cpu_s > 0.0)?;
            Some(table_bytes(text)? / cpu_s / GB)
        }),
    })
}

/// Scans a second, of all sessions.
fn scans_s(observations: &Observations) -> Option<f64> {
    let is_timed = observations.elapsed_s > 0.0 && !observations.timed_out();
    SCANS_DONE.read(observations).filter(|_| is_timed).map(|scans| scans / observations.elapsed_s)
}

/// Bytes of the table that a scan read. An engine that answers from an index or from statistics
/// reads fewer pages than the table has.
fn table_bytes(observations: &Observations) -> Option<f64> {
    let pages = TABLE_PAGES.read(observations).filter(|pages| *pages > 0.0)?;
    let counted = PAGES_HIT
        .read(observations)
        .zip(PAGES_READ.read(observations))
        .map(|(hit, read)| hit + read);
    Some(counted.map_or(pages, |counted| counted.min(pages)) * PAGE_BYTES.read(observations)?)
}

/// The scan that demanded most.
pub fn findings(summary: &Summary) -> Vec<Finding> {
    let all = demands(summary);
    let largest =
        all.iter().max_by(|a, b| a.bandwidth.mean.total_cmp(&b.bandwidth.mean)).map(finding);
    largest.into_iter().collect()
}

fn finding(scan_demand: &ScanDemand) -> Finding {
    let figure =
        |estimate: &Estimate| wording::within(estimate.mean, estimate.interval, &estimate.unit);
    let storage = scan_demand.storage.as_ref().filter(|storage| storage.mean > 0.0);
    let storage = storage.map(|storage| format!(", {} of it from storage", figure(storage)));
    let cpu =
        scan_demand.per_cpu.as_ref().map(|rate| format!("; a busy CPU demands {}", figure(rate)));
    let with = wording::in_brackets(&scan_demand.label);
    Finding::new(
        FindingKind::Responses,
        format!(
            "The most demanding scan{with} read {} of its table{}{}.",
            figure(&scan_demand.bandwidth),
            storage.unwrap_or_default(),
            cpu.unwrap_or_default()
        ),
        format!(
            "mean over {}; intervals are not adjusted for naming the largest",
            wording::count(scan_demand.bandwidth.n, "block")
        ),
    )
}

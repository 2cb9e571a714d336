//! The bandwidth of a scan, against the figures of the published study (S3b): 8 KiB pages of which
//! one takes 2 us in memory are 4 GB/s, and LINEITEM at 5.8 us a page is 1.41 GB/s.

use analysis::{FindingKind, Summary, summarize_with};
use observations::{Fact, Observations, Recording};
use scan::demand::{ScanDemand, demands};
use testing::recordings::{done, recording};

const PAGE_BYTES: f64 = 8192.0;
/// LINEITEM at scale factor 10.
const PAGES: f64 = 1_127_206.0;

fn fact(name: &str, value: f64) -> Fact {
    Fact { name: name.to_owned(), unit: String::new(), value }
}

/// Scans by one session, with microseconds of each page and the part of the pages from storage.
fn recorded(levels: &[(f64, f64)], more: &[(&str, f64)]) -> Recording {
    let names: Vec<String> = levels.iter().map(|(us, _)| us.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut recording = recording(&[("workload.rows_per_page", &names)]);
    for configuration in &mut recording.configurations {
        configuration.settings.insert("workload.probe".to_owned(), "scan".to_owned().into());
    }
    for block in 1..=3 {
        for (configuration, (us, disk)) in levels.iter().enumerate() {
            // The blocks differ by a hundredth, symmetrically.
            let scan_s = PAGES * us / 1e6 * (1.0 + 0.01 * (f64::from(block) - 2.0));
            let mut facts = vec![
                fact("table_pages", PAGES),
                fact("page_bytes", PAGE_BYTES),
                fact("scans", 2.0),
                fact("cpu_s", scan_s / 2.0),
                fact("pages_disk", PAGES * disk),
            ];
            facts.extend(more.iter().map(|(name, value)| fact(name, *value)));
            let observations = Observations {
                elapsed_s: 2.0 * scan_s,
                connections: 1,
                facts,
                ..Observations::default()
            };
            recording.trials.push(done(configuration, block, observations));
        }
    }
    recording
}

fn found(recording: &Recording) -> (Vec<ScanDemand>, Vec<String>) {
    let summary: Summary = summarize_with(recording, &[&scan::STUDY], Vec::new());
    let texts =
        summary.findings().into_iter().filter(|finding| finding.kind == FindingKind::Responses);
    (demands(&summary), texts.map(|text| text.text).collect())
}

#[test]
fn published_times_of_a_page_are_published_bandwidths() {
    let recording = recorded(&[(2.0, 0.0), (5.8, 0.0), (6.3, 1.0)], &[]);
    let (all, texts) = found(&recording);
    let close = |ours: f64, published: f64| (ours / published - 1.0).abs() < 2e-3;
    assert!(close(all[0].bandwidth.mean, 4.096), "{:?}", all[0].bandwidth);
    assert!(close(all[1].bandwidth.mean, 1.412), "{:?}", all[1].bandwidth);
    // 2 us and 4.3 us from disk: the study prints 1.2 GB/s.
    let disk = all[2].storage.as_ref().unwrap();
    assert!(close(disk.mean, 1.300), "{disk:?}");
    assert!(close(all[2].busy.as_ref().unwrap().mean, 0.5));
    assert!(close(all[2].per_cpu.as_ref().unwrap().mean, 2.6));
    let interval = all[0].bandwidth.interval.unwrap();
    assert!(interval.low < 4.096 && interval.high > 4.096, "{interval:?}");
    let text = texts.last().unwrap();
    assert!(text.starts_with("The most demanding scan (rows_per_page=2) read 4.10 "), "{text}");
    assert!(text.contains(" of its table; a busy CPU demands 8.19 "), "{text}");
}

/// A count from an index reads fewer pages than the table has, and no other figure stands for
/// pages that are not known.
#[test]
fn pages_that_were_not_read_demand_nothing() {
    let counted = [("pages_hit", 1000.0), ("pages_read", 127.206)];
    let (all, _) = found(&recorded(&[(2.0, 0.0)], &counted));
    assert!((all[0].bandwidth.mean / 0.004_096 - 1.0).abs() < 2e-3, "{:?}", all[0]);
    let mut recording = recorded(&[(2.0, 0.0)], &[]);
    for trial in &mut recording.trials {
        let observations = trial.observations.as_mut().unwrap();
        observations.facts.retain(|fact| !["table_pages", "cpu_s"].contains(&fact.name.as_str()));
    }
    assert_eq!(found(&recording), (Vec::new(), Vec::new()));
}

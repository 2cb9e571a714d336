//! The cost model of scans: recovers the constants that trials were made with, and those of a published study (S3b).

mod common;

use analysis::summarize;
use common::{Random, done, recording};
use observations::{Fact, Observations, Recording, TimeUse, UnmeasuredTable};

/// Costs of S3b in microseconds: of a page, of a row, of a row of which something is summed, of each sum, of a page from disk.
const PUBLISHED: [f64; 5] = [1.0, 0.05, 0.15, 0.05, 4.3];

struct Scan {
    pages: f64,
    rows_per_page: f64,
    sums: f64,
    disk_pages: f64,
}

impl Scan {
    fn us(&self) -> f64 {
        let rows = self.pages * self.rows_per_page;
        let any = f64::from(self.sums > 0.0);
        let [page, row, first, sum, disk] = PUBLISHED;
        self.pages * page + rows * (row + any * first + self.sums * sum) + self.disk_pages * disk
    }
}

/// The tables of S3b: 1 to 323 rows a page, COUNT(*) and up to 4 sums, from memory and from disk.
fn published_scans() -> Vec<Scan> {
    let mut scans = Vec::new();
    for rows_per_page in [1.0, 8.0, 20.0, 57.0, 157.0, 323.0] {
        for (sums, from_disk) in [(0.0, 0.0), (1.0, 0.0), (4.0, 0.0), (0.0, 1.0)] {
            let pages = if sums > 1.0 { 20_000.0 } else { 10_000.0 };
            scans.push(Scan { pages, rows_per_page, sums, disk_pages: pages * from_disk });
        }
    }
    scans
}

/// A recording of these scans, each in so many blocks; `cost` gives the measured microseconds.
fn recorded(scans: &[Scan], blocks: u32, mut cost: impl FnMut(usize, &Scan) -> f64) -> Recording {
    let levels: Vec<String> = (0..scans.len()).map(|scan| scan.to_string()).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let mut recording = recording(&[("workload.rows_per_page", &levels)]);
    for configuration in &mut recording.configurations {
        configuration.settings.insert("workload.probe".to_owned(), "scan".to_owned().into());
    }
    for block in 1..=blocks {
        for (configuration, scan) in scans.iter().enumerate() {
            let fact = |name: &str, value: f64| Fact { name: name.to_owned(), unit: String::new(), value };
            let cpu_s = cost(configuration, scan) / 1e6;
            let observations = Observations {
                elapsed_s: cpu_s,
                connections: 1,
                facts: vec![
                    fact("table_pages", scan.pages),
                    fact("table_rows", scan.pages * scan.rows_per_page),
                    fact("cpu_s", cpu_s),
                    fact("agg_columns", scan.sums),
                    fact("agg_sum", scan.sums),
                    fact("pages_disk", scan.disk_pages),
                ],
                time: TimeUse { session_s: cpu_s, cpu_s, ..TimeUse::default() },
                ..Observations::default()
            };
            recording.trials.push(done(configuration, block, observations));
        }
    }
    recording
}

#[test]
fn published_costs_come_back() {
    let recorded = recorded(&published_scans(), 2, |_, scan| scan.us());
    let models = summarize(&recorded).costs();
    let [model] = &models[..] else { panic!("{} models", models.len()) };
    // And what costs nothing in the study: a page of which columns are read, a scan whatever its size.
    assert!(model.terms[PUBLISHED.len()..].iter().all(|term| term.cost_us < 1e-6));
    assert_eq!(model.terms.len(), PUBLISHED.len() + 2);
    for (term, published) in model.terms.iter().zip(PUBLISHED) {
        assert!((term.cost_us / published - 1.0).abs() < 1e-6, "{}: {}", term.name, term.cost_us);
    }
    assert!(model.error_median.unwrap() < 1e-6);
    assert!(model.not_told.is_empty());
}

/// LINEITEM SF 10 has 53.2 rows a page, for which the published costs give 3.66 us a page where 5.8 were observed.
#[test]
fn the_published_misfit_is_told() {
    let mut scans = published_scans();
    scans.push(Scan {
        pages: 1_127_206.0,
        rows_per_page: 59_986_052.0 / 1_127_206.0,
        sums: 0.0,
        disk_pages: 0.0,
    });
    let lineitem = scans.len() - 1;
    let observed = |at: usize, scan: &Scan| if at == lineitem { 5.8 * scan.pages } else { scan.us() };
    let recorded = recorded(&scans, 2, observed);
    let model = summarize(&recorded).costs().remove(0);
    let row = &model.rows[lineitem];
    assert!((row.predicted_ms.unwrap() * 1e3 / 1_127_206.0 - 3.66).abs() < 0.005);
    assert!((row.error.unwrap() - (3.66 / 5.8 - 1.0)).abs() < 0.002);
    assert_eq!(model.worst, Some(lineitem));
}

/// Intervals over blocks hold the costs as often as they promise.
#[test]
fn costs_are_recovered_from_noise() {
    const EXPERIMENTS: usize = 200;
    let (mut random, mut held, mut intervals) = (Random::new(14), 0_u32, 0_u32);
    for _ in 0..EXPERIMENTS {
        let recorded = recorded(&published_scans(), 5, |_, scan| scan.us() * (0.03 * random.normal()).exp());
        let model = summarize(&recorded).costs().remove(0);
        for (term, published) in model.terms.iter().zip(PUBLISHED) {
            intervals += 1;
            held += u32::from(term.interval.unwrap().contains(published));
        }
        assert!(model.error_median.unwrap() < 0.05);
    }
    let share = f64::from(held) / f64::from(intervals);
    println!("{held} of {intervals} intervals hold the cost: {share:.3}");
    assert!((0.92..=0.98).contains(&share));
}

/// With the same rows a page everywhere, costs of pages and rows are one.
#[test]
fn what_was_not_varied_is_not_told_apart() {
    let mut scans = published_scans();
    scans.retain(|scan| (scan.rows_per_page - 20.0).abs() < 0.5);
    scans.push(Scan { pages: 10_000.0, rows_per_page: 20.0, sums: 2.0, disk_pages: 0.0 });
    let model = summarize(&recorded(&scans, 3, |_, scan| scan.us())).costs().remove(0);
    assert!(model.not_told.contains(&"row"), "{:?}", model.not_told);
    assert!((model.terms[0].cost_us - 2.0).abs() < 1e-6, "1 us a page and 20 rows of 0.05 us");
}

/// LINEITEM SF 10 by the published costs: 3.66 us a page for COUNT(*), as the study computes it.
#[test]
fn a_table_that_was_not_measured_is_predicted_or_said_not_to_be() {
    let table = |aggregate: &str, rows_per_page: f64, cold: bool| UnmeasuredTable {
        name: "lineitem".into(),
        rows: 59_986_052,
        rows_per_page,
        aggregate: aggregate.into(),
        columns: 3,
        cold,
    };
    let recorded = recorded(&published_scans(), 3, |_, scan| scan.us());
    let mut summary = summarize(&recorded);
    let pages = 1_127_206.0;
    let per_page = 59_986_052.0 / pages;
    summary.predict = vec![
        table("count", per_page, false),
        table("sum", per_page, true),
        table("max", per_page, false),
        table("count", 500.0, false),
    ];
    let predictions = summary.costs().remove(0).predictions;
    let us_a_page = |at: usize| predictions[at].ms.unwrap() * 1e3 / pages;
    assert!((us_a_page(0) - 3.66).abs() < 0.005);
    // The first sum and two more, and all pages from disk.
    let summed = 3.66 + 4.3 + per_page * (0.15 + 3.0 * 0.05);
    assert!((us_a_page(1) - summed).abs() < 0.005, "{} of {summed}", us_a_page(1));
    // What MAX costs was not measured, and 500 rows a page are more than any table had.
    assert_eq!(
        (predictions[2].ms, predictions[2].lacks.as_slice()),
        (None, &["row, with any MIN or MAX", "row and MAX"][..])
    );
    let outside: Vec<bool> = predictions.iter().map(|own| own.outside.is_some()).collect();
    assert_eq!(outside, [false, false, false, true]);
    // The pages of the study have no size.
    assert!(predictions.iter().all(|own| own.larger_than_bytes.is_none()));
    let (low, high) = predictions[3].outside.unwrap();
    assert!((low - 1.0).abs() < 1e-9 && (high - 323.0).abs() < 1e-9);
}

/// What a prediction's interval promises: it holds what the table costs, as often as it says.
#[test]
fn predictions_have_intervals_that_hold() {
    const EXPERIMENTS: usize = 200;
    let (mut random, mut held) = (Random::new(15), 0_u32);
    for _ in 0..EXPERIMENTS {
        let recorded = recorded(&published_scans(), 5, |_, scan| scan.us() * (0.03 * random.normal()).exp());
        let mut summary = summarize(&recorded);
        let scan = Scan { pages: 2_000_000.0, rows_per_page: 53.2, sums: 2.0, disk_pages: 0.0 };
        summary.predict = vec![UnmeasuredTable {
            name: "own".into(),
            rows: (scan.pages * scan.rows_per_page) as u64,
            rows_per_page: scan.rows_per_page,
            aggregate: "sum".into(),
            columns: 2,
            cold: false,
        }];
        let interval = summary.costs().remove(0).predictions[0].interval.unwrap();
        held += u32::from(interval.contains(scan.us() / 1e3));
    }
    let share = f64::from(held) / EXPERIMENTS as f64;
    println!("{held} of {EXPERIMENTS} intervals hold the prediction: {share:.3}");
    assert!((0.90..=0.99).contains(&share));
}

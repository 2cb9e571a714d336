//! The published insert studies S1a to S1d: the factors, averages and percentages that they print.
//!
//! The studies published bests, factors and averages, not every trial. Each data set below
//! is the smallest that has the published figures; times that were not published are built from
//! these and are marked so.

use analysis::gains::GainColumn;
use analysis::{Summary, summarize};
use testing::recordings::{Factor, done, observed, recording};

/// A trial of each configuration, the last factor fastest.
fn study(factors: &[Factor], elapsed_s: impl IntoIterator<Item = f64>) -> Summary<'static> {
    let mut recording = recording(factors);
    for (configuration, elapsed_s) in elapsed_s.into_iter().enumerate() {
        recording.trials.push(done(configuration, 1, observed(elapsed_s)));
    }
    assert_eq!(recording.trials.len(), recording.configurations.len());
    summarize(Box::leak(Box::new(recording)))
}

fn average(column: &GainColumn) -> f64 {
    column.average.as_ref().unwrap().mean
}

fn factors(column: &GainColumn) -> Vec<String> {
    column.by_row.iter().map(|gain| format!("{:.2}", gain.as_ref().unwrap().value)).collect()
}

/// S1a: for the log, SSD RAID-1 is 2.04 % and RAID-0 4.25 % better than the array, on average of
/// nine log settings. Published are the averages; the nine times on the array and how gains spread
/// around the averages are built.
#[test]
fn log_placement_averages() {
    let settings =
        ["256/50", "256/256", "256/512", "1/50", "1/256", "1/512", "8/50", "8/256", "8/512"];
    let devices = ["raid10-array", "raid1-ssd", "raid0-ssd"];
    let times = (0..9).flat_map(|setting| {
        let array_s = 9000.0 + 150.0 * f64::from(setting);
        let around = 0.004 * f64::from(setting - 4);
        [array_s, array_s / (1.0204 + around), array_s / (1.0425 - around)]
    });
    let summary = study(&[("log", &settings), ("device", &devices)], times);
    let [table] = &summary.factors.gains[..] else { panic!("one table") };
    let averages: Vec<String> =
        table.columns.iter().map(|column| format!("{:.2}", average(column))).collect();
    assert_eq!(averages, ["2.04", "4.25"]);
}

/// S1b: best on spinning disks 1755 s with 8 files, best on SSD 909 s with 16: 1.93x. The other two
/// times are built.
#[test]
fn sequential_insert_bests() {
    let summary = study(
        &[("device", &["spinning", "ssd"]), ("target.data_files", &["8", "16"])],
        [1755.0, 1800.0, 1000.0, 909.0],
    );
    let devices = &summary.factors.effects[0].levels;
    let best = |level: usize| {
        let best = devices[level].best.as_ref().unwrap();
        (summary.configurations[best.configuration].label.as_str(), best.response.mean)
    };
    assert_eq!(best(0), ("device=spinning data_files=8", 1755.0));
    assert_eq!(best(1), ("device=ssd data_files=16", 909.0));
    assert_eq!(devices[0].best.as_ref().unwrap().factor, None);
    assert_eq!(format!("{:.2}", devices[1].best.as_ref().unwrap().factor.unwrap()), "1.93");
}

/// S1c: SSD against spinning disks by number of files; best on spinning disks 1595 s with 2 files,
/// the best SSD layout 4.96x faster. That gives both times with 2 files and the best SSD time, here
/// taken to be that of 16 files; the times of 1, 4 and 8 files are built from one SSD time.
#[test]
fn random_insert_factors_by_number_of_files() {
    let published = [7.25, 4.74, 6.81, 7.64, 9.03];
    let best_s = 1595.0 / 4.96;
    let ssd_s = [340.0, 1595.0 / 4.74, 340.0, 340.0, best_s];
    let times = published.iter().zip(ssd_s).flat_map(|(factor, ssd_s)| [factor * ssd_s, ssd_s]);
    let files: Factor = ("target.data_files", &["1", "2", "4", "8", "16"]);
    let summary = study(&[files, ("device", &["spinning", "ssd"])], times);
    let [table] = &summary.factors.gains[..] else { panic!("one table") };
    assert_eq!((table.rows, table.factor, table.columns.len()), (0, 1, 1));
    assert_eq!(factors(&table.columns[0]), ["7.25", "4.74", "6.81", "7.64", "9.03"]);
    let devices = &summary.factors.effects[1].levels;
    let best = devices.iter().map(|level| level.best.as_ref().unwrap()).collect::<Vec<_>>();
    assert_eq!(format!("{:.0}", best[0].response.mean), "1595");
    assert_eq!(summary.configurations[best[0].configuration].label, "data_files=2 device=spinning");
    assert_eq!(format!("{:.2}", best[1].factor.unwrap()), "4.96");
}

/// S1d: best with the old driver 3580 s (4 files), with the new 2993 s (8 files); new over old 20.5
/// % on average and 24 % for the basic format; 4 KB sectors within 0.5 %. The published bests are
/// those of the improved format here; the rest is built so that its averages are the published
/// ones.
#[test]
fn random_insert_driver_and_sector() {
    let drivers: Factor = ("driver", &["1.2.7", "2.2.3"]);
    let formats: Factor = ("format", &["basic", "improved", "maximum"]);
    let files: Factor = ("target.data_files", &["4", "8"]);
    let gains = [[0.24, 0.24], [0.17, 0.205], [0.1875, 0.1875]];
    let old_s = [[3900.0, 3950.0], [3580.0, 2993.0 * 1.205], [3700.0, 3750.0]];
    let new_s = |format: usize, files: usize| old_s[format][files] / (1.0 + gains[format][files]);
    let times = old_s.into_iter().flatten().chain((0..3).flat_map(|f| [new_s(f, 0), new_s(f, 1)]));
    let summary = study(&[drivers, formats, files], times);
    let driver = summary.factors.gains.iter().find(|table| table.factor == 0).unwrap();
    assert_eq!(format!("{:.1}", average(&driver.columns[0])), "20.5");
    let best = |level: usize| summary.factors.effects[0].levels[level].best.clone().unwrap();
    assert_eq!((best(0).response.mean, best(1).response.mean), (3580.0, 2993.0));
    assert_eq!(
        summary.configurations[best(0).configuration].label,
        "driver=1.2.7 format=improved data_files=4"
    );
    assert_eq!(
        summary.configurations[best(1).configuration].label,
        "driver=2.2.3 format=improved data_files=8"
    );
    // Of the basic format alone.
    let basic = study(&[drivers, files], old_s[0].into_iter().chain([new_s(0, 0), new_s(0, 1)]));
    assert_eq!(format!("{:.1}", average(&basic.factors.gains[0].columns[0])), "24.0");
    // 4 KB sectors: half a percent better and worse cancel out on average.
    let sectors = study(
        &[("sector", &["512", "4096"]), ("format", &["basic", "improved"])],
        [3000.0, 3000.0, 3000.0 / 1.005, 3000.0 / 0.995],
    );
    let column = &sectors.factors.gains[0].columns[0];
    assert!(average(column).abs() < 0.5);
    // A single trial of each: figures, but no claim.
    assert!(summary.findings().iter().all(|finding| !finding.text.contains("sweet spot")));
}

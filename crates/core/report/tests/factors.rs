//! Sections on factors, outliers and power, for figures with known results.

use analysis::summarize;
use observations::Recording;
use report::{Medium, Style, terminal};
use testing::reports::{data_files, done, observed, plan};

fn plain(recording: &Recording, width: usize) -> String {
    terminal(&report::run(&summarize(recording), &[], Medium::Any), width, Style::Plain)
}

/// Words with one space between them, wherever lines and columns end.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Study S1c: SSD over spinning disks by number of files. Published are the factors, 1595 s on
/// spinning disks with 2 files and 4.96x between the bests; the other times are built from them.
fn random_insert() -> Recording {
    let mut recording = plan(&[
        ("target.data_files", &["1", "2", "4", "8", "16"]),
        ("device", &["spinning", "ssd"]),
    ]);
    let factors = [7.25, 4.74, 6.81, 7.64, 9.03];
    let ssd_s = [340.0, 1595.0 / 4.74, 340.0, 340.0, 1595.0 / 4.96];
    for (files, (factor, ssd_s)) in factors.iter().zip(ssd_s).enumerate() {
        for block in 1..=3 {
            let machine = 1.0 + 0.001 * (f64::from(block) - 2.0);
            recording.trials.push(done(2 * files, block, observed(factor * ssd_s * machine)));
            recording.trials.push(done(2 * files + 1, block, observed(ssd_s * machine)));
        }
    }
    recording
}

/// More levels than columns can be read, or counted by a byte.
#[test]
fn hundreds_of_levels() {
    let names: Vec<String> = (1..=300).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut recording = plan(&[("target.data_files", &["1", "2"]), ("rows", &names)]);
    for configuration in 0..600 {
        for block in 1..=2 {
            let elapsed_s = 1.0 + 0.01 * f64::from(block) + 0.001 * configuration as f64;
            recording.trials.push(done(configuration, block, observed(elapsed_s)));
        }
    }
    let text = words(&plain(&recording, 10_000));
    assert!(text.contains("rows = 33") && !text.contains("rows = 34"), "{text}");
    assert!(text.contains("The first 32 of 299 levels; `show --json` has all."), "{text}");
}

#[test]
fn the_tables_of_the_studies() {
    let text = plain(&random_insert(), 120);
    let gains = "
Gain over device = spinning, by data_files
Gain: factor by which the response is better; average: arithmetic mean over all other factors.
data_files  device = ssd
1           7.25x [7.25, 7.25]
2           4.74x [4.74, 4.74]
4           6.81x [6.81, 6.81]
8           7.64x [7.64, 7.64]
16          9.03x [9.03, 9.03]
average     7.09x [7.09, 7.09]
";
    assert!(text.contains(gains), "{text}");
    let best = |level: &str| {
        text.lines().find(|line| line.starts_with(level) && line.contains(" with ")).unwrap()
    };
    assert!(best("spinning ").ends_with("1595 s with data_files=2"), "{text}");
    assert!(best("ssd ").ends_with("322 s with data_files=16 (4.96x)"), "{text}");
    let row = text.lines().find(|line| line.starts_with("data_files by device")).unwrap();
    for part in ["7.64x", "9.03x", "< 0.001"] {
        assert!(text.contains(part), "{row}");
    }
}

/// The expected differences were computed with scipy: noncentral t at 5 % / 1 comparison, 5 blocks.
#[test]
fn power_and_outliers_are_said_below_the_configurations() {
    let steady = [10.0, 10.1, 9.9, 10.05, 9.95];
    let outlying = [8.0, 8.05, 7.95, 12.0, 8.02];
    let text = words(&plain(&data_files(&["1", "4"], &[&steady, &outlying]), 100));
    assert!(
        text.contains(
            "Outlier (included in all figures): data_files=4 in block 4: 12.0 s, expected 8.02 s \
             (modified z "
        ),
        "{text}"
    );
    let even = data_files(&["1", "4"], &[&steady, &[8.1, 8.0, 8.05, 7.95, 7.9]]);
    let text = words(&plain(&even, 100));
    assert!(!text.contains("Outlier"), "{text}");
    assert!(
        text.contains(
            "Power: 5 blocks detect a difference of 2.3 % between two configurations with \
             80 % power"
        ),
        "{text}"
    );
}

#[test]
fn every_response_has_its_median_and_spread() {
    let text = plain(&data_files(&["1", "4"], &[&[10.0, 11.0, 15.0], &[8.0, 8.0, 8.0]]), 100);
    let text = words(&text);
    assert!(
        text.contains("elapsed, lower is better configuration n mean median CV vs best"),
        "{text}"
    );
    // Mean 12, sd sqrt((4 + 1 + 9) / 2) = 2.646; the other has no spread.
    assert!(text.contains("data_files=1 3 12.0 ± 6.6 s 11.0 s 22.0 %"), "{text}");
    assert!(text.contains("data_files=4 3 8.00 ± 0.00 s 8.00 s 0.0 % best"), "{text}");
    assert!(
        text.contains(
            "throughput, higher is better configuration throughput data_files=1 27.5k ± 13.7k \
             rows/s data_files=4 40.0k"
        ),
        "{text}"
    );
}

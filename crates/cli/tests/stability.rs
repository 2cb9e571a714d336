//! The stability of repeats: the line in every report, and `show --stability`.

use crate::common::Lab;
use serde_json::Value;

/// TPC-C on `PostgreSQL`, 23 configurations on 10 machines (TUNA, `EuroSys` 2025, MIT licence);
/// 0 is a failure.
const TUNA: &str =
    include_str!("../../core/analysis/tests/data/tuna-10-blocks-23-configurations.csv");

/// The recorded blocks as lines of a trial each.
fn trials(blocks: usize) -> String {
    let mut lines = TUNA.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').skip(1).collect();
    let mut csv = "configuration,block,throughput (transactions/s)\n".to_owned();
    for (block, line) in (1..).zip(lines.take(blocks)) {
        for (name, value) in names.iter().zip(line.split(',').skip(1)) {
            if value != "0.0" {
                csv.extend([*name, ",", block.to_string().as_str(), ",", value, "\n"]);
            }
        }
    }
    csv
}

fn imported(blocks: usize) -> Lab {
    let lab = Lab::new();
    lab.write("t.csv", &trials(blocks));
    lab.steelbench(&["import", "t.csv", "--factor", "configuration", "--name", "tuna"]).expect(0);
    lab
}

#[test]
fn configurations_with_two_regimes_are_found_in_recorded_blocks() {
    let lab = imported(10);
    let shown = lab.steelbench(&["show", "tuna", "--stability"]).expect(0).stdout;
    assert!(shown.contains("Regimes of configuration=s271"), "{shown}");
    let json = lab.steelbench(&["show", "tuna", "--stability", "--json"]).expect(0).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["kind"], "stability");
    let rows = json["stability"]["configurations"].as_array().unwrap();
    let with_regimes: Vec<&Value> =
        rows.iter().filter(|row| !row["regimes"].as_array().unwrap().is_empty()).collect();
    // The mean of s271 is 2,654, its standard deviation 918.
    let regime = with_regimes.iter().find(|row| row["label"] == "configuration=s271").unwrap();
    assert!((regime["estimate"]["mean"].as_f64().unwrap() - 2_654.0).abs() < 1.0, "{regime}");
    assert!((regime["cv"].as_f64().unwrap() - 918.0 / 2_654.0).abs() < 0.001, "{regime}");
    let regimes = regime["regimes"].as_array().unwrap();
    assert_eq!(regimes[0]["blocks"], serde_json::json!([1, 2]), "{regime}");
    assert!(regime["ratio"].as_f64().unwrap() > 2.0, "{regime}");
    // Those that vary by no more than 5 % have one regime.
    let steady = rows.iter().filter(|row| row["cv"].as_f64().unwrap() < 0.05);
    assert_eq!(steady.count(), 15);
    assert!(with_regimes.iter().all(|row| row["cv"].as_f64().unwrap() > 0.05));
    // Every report has the line, and JSON the same facts.
    let report = lab.steelbench(&["show", "tuna", "--full"]).expect(0).stdout;
    assert!(report.contains("Stability in 10 blocks: CV 0.6 % to 34.6 %"), "{report}");
    assert!(report.contains("fall into regimes"), "{report}");
    let summary = lab.steelbench(&["show", "tuna", "--json"]).expect(0).stdout;
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["stability"], json["stability"]);
}

#[test]
fn few_blocks_have_no_line_and_say_what_to_do() {
    let lab = imported(4);
    let report = lab.steelbench(&["show", "tuna", "--full"]).expect(0).stdout;
    assert!(!report.contains("Stability in"), "{report}");
    let shown = lab.steelbench(&["show", "tuna", "--stability"]).expect(0).stdout;
    assert!(shown.contains("Raise repeats.blocks to 5"), "{shown}");
    lab.steelbench(&["show", "tuna", "--stability", "--runs"]).expect(2);
}

//! Exports read back, by readers that are not ours where there are some.

use observations::{Histogram, Latency, Observations, Recording, Roles, TrialStatus};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use testing::sample;

const TABLES: [&str; 8] =
    ["trials", "waits", "latencies", "statements", "operations", "series", "devices", "functions"];

/// Rows of a CSV file as column name to text.
fn csv_rows(path: &Path) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn parquet_rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect()
}

fn field(row: &Row, name: &str) -> Field {
    let found = row.get_column_iter().find(|(column, _)| *column == name);
    found.unwrap_or_else(|| panic!("no column {name}")).1.clone()
}

fn rows_expected(recording: &Recording, table: &str) -> usize {
    let observations = recording.trials.iter().filter_map(|trial| trial.observations.as_ref());
    match table {
        "trials" => recording.trials.len(),
        "waits" => observations.map(|observation| observation.waits.len()).sum(),
        "latencies" => observations.map(|observation| observation.latencies.len()).sum(),
        "statements" => observations.map(|observation| observation.statements.len()).sum(),
        "operations" => observations.map(|observation| observation.operations.len()).sum(),
        "devices" => observations.map(|observation| observation.devices.len()).sum(),
        "functions" => observations
            .filter_map(|observation| observation.profile.as_ref())
            .map(|profile| profile.frames.len())
            .sum(),
        _ => observations
            .flat_map(|observation| &observation.series)
            .map(|series| series.values.len())
            .sum(),
    }
}

fn write(recording: &Recording, folder: &Path, ending: &str) {
    fs::create_dir_all(folder).unwrap();
    for table in report::tables(recording) {
        let file = File::create(folder.join(format!("{}.{ending}", table.name))).unwrap();
        if ending == "csv" { table.csv(file).unwrap() } else { table.parquet(file).unwrap() }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn csv_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/on demand");
    let recording = sample::recording(20);
    write(&recording, &folder, "csv");
    assert_eq!(names(&folder).len(), TABLES.len());

    for table in TABLES {
        let rows = csv_rows(&folder.join(format!("{table}.csv")));
        assert_eq!(rows.len(), rows_expected(&recording, table), "{table}");
        for row in &rows {
            let trial = &recording.trials[row["trial"].parse::<usize>().unwrap() - 1];
            let level = &recording.configurations[trial.configuration].levels;
            assert_eq!(row["target.data_files"], level[0].level);
            assert_eq!(row["layout"], "data + \"log\", apart", "quotes and commas survive");
            assert_eq!(
                row["status"],
                if trial.status == TrialStatus::Done { "done" } else { "failed" }
            );
        }
    }
    for (row, trial) in csv_rows(&folder.join("trials.csv")).iter().zip(&recording.trials) {
        assert_eq!(row["wall_s"].parse::<f64>().unwrap(), trial.wall_s);
        match &trial.status {
            TrialStatus::Done => assert_eq!(row["cause"], ""),
            TrialStatus::Failed { cause, .. } => assert_eq!(&row["cause"], cause),
        }
        let Some(observations) = &trial.observations else {
            assert_eq!((row["elapsed_s"].as_str(), row["rate_1 (rows/s)"].as_str()), ("", ""));
            continue;
        };
        assert_eq!(row["work_amount"], i64::MAX.to_string());
        assert_eq!(row["machine_steal_s"].parse::<f64>().unwrap(), 1e-300);
        for fact in &observations.facts {
            assert_eq!(row[&fact.name].parse::<f64>().unwrap(), fact.value);
        }
        for response in &observations.responses {
            let text = &row[&format!("{} ({})", response.name, response.unit)];
            assert_eq!(text.parse::<f64>().unwrap(), response.value);
        }
    }
    let waits: Vec<_> = recording
        .trials
        .iter()
        .filter_map(|t| t.observations.as_ref())
        .flat_map(|s| &s.waits)
        .collect();
    for (row, wait) in csv_rows(&folder.join("waits.csv")).iter().zip(waits) {
        assert_eq!(row["wait_count"], wait.count.map_or(String::new(), |count| count.to_string()));
        assert_eq!(row["signal_s"].parse::<f64>().unwrap(), wait.signal_s);
        assert_eq!(
            (&row["wait_type"], row["class"].as_str()),
            (&wait.wait_type, wait.class.name())
        );
    }
    let devices = recording
        .trials
        .iter()
        .filter_map(|t| t.observations.as_ref())
        .flat_map(|observation| &observation.devices);
    for (row, used) in csv_rows(&folder.join("devices.csv")).iter().zip(devices) {
        assert_eq!((&row["volume"], &row["device"]), (&used.volume.to_string(), &used.device));
        assert_eq!(row["write_bytes"], used.write_bytes.to_string());
        assert_eq!(row["queue_s"].parse::<f64>().unwrap(), used.queue_s);
    }
    // Counted by hand: a function that calls itself counts once for each sample.
    let expected = [
        ("main", "false", "4", "64"),
        ("step, \"two\"", "false", "20", "60"),
        ("vfs_read", "true", "40", "40"),
    ];
    for (row, (function, kernel, self_samples, total)) in
        csv_rows(&folder.join("functions.csv")).iter().zip(expected)
    {
        assert_eq!((row["function"].as_str(), row["kernel"].as_str()), (function, kernel));
        assert_eq!(
            (row["self_samples"].as_str(), row["total_samples"].as_str()),
            (self_samples, total)
        );
        assert_eq!(row["total_s"].parse::<f64>().unwrap(), total.parse::<f64>().unwrap() / 99.0);
    }
}

#[test]
fn parquet_reads_back_with_types() {
    let folder = tempfile::tempdir().unwrap();
    let recording = sample::recording(20);
    write(&recording, folder.path(), "parquet");
    assert_eq!(names(folder.path()).len(), TABLES.len());
    for table in TABLES {
        let rows = parquet_rows(&folder.path().join(format!("{table}.parquet")));
        assert_eq!(rows.len(), rows_expected(&recording, table), "{table}");
    }
    for (row, trial) in
        parquet_rows(&folder.path().join("trials.parquet")).iter().zip(&recording.trials)
    {
        let level: i64 =
            recording.configurations[trial.configuration].levels[0].level.parse().unwrap();
        assert_eq!(field(row, "target.data_files"), Field::Long(level));
        assert_eq!(field(row, "started"), Field::TimestampMillis(trial.started_ms));
        assert_eq!(field(row, "wall_s"), Field::Double(trial.wall_s));
        match &trial.observations {
            None => assert_eq!(field(row, "work_amount"), Field::Null),
            Some(observations) => {
                assert_eq!(field(row, "work_amount"), Field::ULong(i64::MAX as u64));
                assert_eq!(
                    field(row, "cpu_user_s"),
                    observations.time.cpu_user_s.map_or(Field::Null, Field::Double)
                );
                assert_eq!(field(row, "synthetic"), Field::Bool(observations.synthetic));
                assert_eq!(
                    field(row, "time_0 (s)"),
                    Field::Double(observations.responses[0].value)
                );
            }
        }
    }
    let latencies: Vec<&Latency> = recording
        .trials
        .iter()
        .filter_map(|t| t.observations.as_ref())
        .flat_map(|s| &s.latencies)
        .collect();
    for (row, latency) in
        parquet_rows(&folder.path().join("latencies.parquet")).iter().zip(latencies)
    {
        assert_eq!(field(row, "latency"), Field::Str(latency.name.clone()));
        assert_eq!(field(row, "p999_ns"), Field::ULong(latency.histogram.percentile_ns(99.9)));
        assert_eq!(field(row, "count"), Field::ULong(320));
    }
}

/// Reads every Parquet file with Apache Arrow and prints shapes, types and sums.
const ARROW: &str = r#"
import sys, pyarrow.parquet as pq, pyarrow.compute as pc
folder = sys.argv[1]
for name in ["trials", "waits", "latencies", "statements", "operations", "series", "devices",
             "functions"]:
    t = pq.read_table(f"{folder}/{name}.parquet")
    print(name, t.num_rows, t.schema.field("target.data_files").type, t.schema.field("layout").type)
t = pq.read_table(f"{folder}/trials.parquet")
print("types", t.schema.field("started").type, t.schema.field("work_amount").type,
      t.schema.field("wall_s").type)
print("max", pc.max(t["work_amount"]), "nulls", t["work_amount"].null_count)
print("sum", repr(sum(t["wall_s"].to_pylist())))
"#;

#[test]
fn parquet_is_what_arrow_reads() {
    if !Command::new("python3")
        .args(["-c", "import pyarrow"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!(
            "SKIPPED: python3 with pyarrow is not installed, so only the Rust reader checked the \
             files"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let recording = sample::recording(20);
    write(&recording, folder.path(), "parquet");
    let output = Command::new("python3").args(["-c", ARROW]).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let mut expected: Vec<String> = TABLES
        .map(|table| format!("{table} {} int64 string", rows_expected(&recording, table)))
        .to_vec();
    expected.push("types timestamp[ms, tz=UTC] uint64 double".into());
    let unseen = recording.trials.iter().filter(|trial| trial.observations.is_none()).count();
    expected.push(format!("max {} nulls {unseen}", i64::MAX));
    let sum: f64 = recording.trials.iter().fold(0.0, |sum, trial| sum + trial.wall_s);
    expected.push(format!("sum {sum:?}"));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn json_reads_back_equal() {
    let recording = sample::recording(20);
    let mut json = Vec::new();
    report::json::recording(&recording, &mut json).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(value["schema"], "steelbench/2");
    assert_eq!(value["run"]["seed"], u64::MAX, "large integers are exact");
    // Roles follow from the declarations and are not exported.
    let exported = Recording { roles: Roles::default(), ..recording };
    assert_eq!(serde_json::from_slice::<Recording>(&json).unwrap(), exported);
}

#[test]
fn odd_recordings_are_exported_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut odd = sample::recording(2);
    // A factor and a response with the names of built-in columns, and figures that are not finite.
    odd.factors[1].name = "block".into();
    for configuration in &mut odd.configurations {
        configuration.levels[1].factor = "block".into();
    }
    odd.factors[0].numeric = Some(vec![1.5, 4.0, 16.0]);
    let observations = odd.trials[0].observations.as_mut().unwrap();
    observations.elapsed_s = f64::NAN;
    observations.latencies = vec![Latency { name: "none".into(), histogram: Histogram::default() }];
    let all_failed = Recording { trials: vec![sample::trial(8)], ..sample::plan() };
    let unplanned = Recording {
        trials: vec![observations::TrialRecord {
            observations: Some(Observations::default()),
            ..sample::trial(7)
        }],
        ..Recording::default()
    };
    for (i, recording) in
        [odd, all_failed, unplanned, sample::plan(), Recording::default()].iter().enumerate()
    {
        let folder = folder.path().join(i.to_string());
        write(recording, &folder, "csv");
        write(recording, &folder, "parquet");
        for table in TABLES {
            let expected = rows_expected(recording, table);
            assert_eq!(csv_rows(&folder.join(format!("{table}.csv"))).len(), expected);
            assert_eq!(parquet_rows(&folder.join(format!("{table}.parquet"))).len(), expected);
        }
        report::json::recording(recording, &mut std::io::sink()).unwrap();
    }
    let row = &csv_rows(&folder.path().join("0/trials.csv"))[0];
    assert_eq!(
        (row["factor.block"].as_str(), row["target.data_files"].as_str()),
        ("data + \"log\", apart", "1.5")
    );
    assert_eq!((row["block"].as_str(), row["elapsed_s"].as_str()), ("1", "NaN"));
}

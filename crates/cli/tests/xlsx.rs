//! The workbook, read back by another program.

use crate::common::{Lab, scripted};
use observations::{Histogram, Recording, Value};
use std::process::Command;
use store::Store;
use testing::sample;

const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/xlsx_reader.py");

/// Exports a results file and holds every figure of the workbook against the JSON.
fn held(lab: &Lab, results: &str) {
    let path = |name: &str| lab.path(name).to_str().unwrap().to_owned();
    let export = |format: &str, to: &str| {
        lab.steelbench(&["export", results, "--format", format, "--output", &path(to)]).expect(0);
    };
    export("xlsx", "book.xlsx");
    export("json", "recording.json");
    lab.write("summary.json", &lab.steelbench(&["show", results, "--json"]).expect(0).stdout);
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).output();
    if !python(&["-c", "import openpyxl"]).is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: python3 with openpyxl is not installed");
        return;
    }
    let output =
        python(&[READER, &path("book.xlsx"), &path("recording.json"), &path("summary.json")])
            .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let cells: usize =
        text.trim().strip_prefix("held ").unwrap().strip_suffix(" cells").unwrap().parse().unwrap();
    assert!(cells > 500, "{text}");
}

/// Stores a recording that no probe made.
fn store(lab: &Lab, recording: &Recording) -> String {
    let path = lab.path("made.steelbench");
    let mut store = Store::create_or_open(&path).unwrap();
    let run = store.begin_run(recording).unwrap();
    for trial in &recording.trials {
        store.record_trial(run, trial).unwrap();
    }
    path.to_str().unwrap().to_owned()
}

/// So that sums over devices and trials stay within 64 bits.
fn limit_bytes(recording: &mut Recording, most: u64) {
    let observations = recording.trials.iter_mut().filter_map(|trial| trial.observations.as_mut());
    observations
        .flat_map(|observation| &mut observation.devices)
        .for_each(|used| used.write_bytes = used.write_bytes.min(most));
}

#[test]
fn a_run_reads_back() {
    let levels = "[[level]]\nfactor = \"log\"\nname = \"wal, synced\"\nset = { \"target.delay\" = \
                  \"4 ms\" }\n[[level]]\nfactor = \"log\"\nname = \"wal\"\nset = { \
                  \"target.delay\" = \"2 ms\" }\n";
    let lab = Lab::with(&scripted(3, "waits = [\"LOG_WRITE log 0.4 0.1\"]", levels));
    lab.run(0);
    held(&lab, "t");
    // The name is that of the experiment where none is given, and the same run makes the same file.
    lab.steelbench(&["export", "t", "--format", "xlsx"]).expect(0).shows("t.xlsx");
    assert!(
        std::fs::read(lab.path("t.xlsx")).unwrap() == std::fs::read(lab.path("book.xlsx")).unwrap()
    );
}

/// Counts above 2^53, failures, waits that are not counted, gaps: something in every field.
#[test]
fn figures_of_every_kind_read_back() {
    let lab = Lab::new();
    let mut recording = sample::recording(30);
    limit_bytes(&mut recording, (1 << 53) + 1);
    held(&lab, &store(&lab, &recording));
}

#[test]
fn hostile_text_stays_text() {
    const HOSTILE: [&str; 10] = [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "@SUM(A1)",
        "-2+3",
        "a\0b\u{1b}]0;title\u{7}\r\n\tc\u{9b}31m\u{202e}",
        "</t><f>1+1</f>&amp;\"'",
        "_x0041_ and \u{fffd}\u{fffe}",
        "http://example.com/",
        "{=SUM(1)}",
        "  spaces  ",
    ];
    let mut next = HOSTILE.iter().cycle().map(|text| (*text).to_owned());
    let mut hostile = || next.next().unwrap();
    let mut recording = sample::recording(12);
    limit_bytes(&mut recording, 1 << 40);
    recording.run.question = Some(hostile());
    recording.run.name = hostile();
    recording.run.source = HOSTILE.map(|text| text.replace('\n', "")).join("\n") + "\n";
    recording.environments[0].host = Some(hostile());
    for (name, factor) in ["Trial", "=1+1"].into_iter().zip(0..) {
        recording.factors[factor].name = name.to_owned();
        recording
            .configurations
            .iter_mut()
            .for_each(|configuration| configuration.levels[factor].factor = name.to_owned());
    }
    let label = "@".to_owned() + &"\u{1f980}long ".repeat(9_000);
    for (number, configuration) in recording.configurations.iter_mut().enumerate() {
        configuration.label = format!("={number}{label}");
        configuration.settings.insert(format!("={}", hostile()), Value::Text(hostile()));
    }
    for trial in &mut recording.trials {
        if let observations::TrialStatus::Failed { cause, .. } = &mut trial.status {
            *cause = hostile();
        }
        let Some(observations) = &mut trial.observations else { continue };
        observations.work.unit = hostile();
        observations.series[0].unit = hostile();
        observations.warnings[0].detail = hostile();
        observations.responses[1].unit = "=1+1".to_owned();
        observations.responses[2].name = "-2+3 <b>".to_owned();
        observations.devices.iter_mut().for_each(|device| device.volume = hostile().into());
        for (wait, text) in observations.waits.iter_mut().zip(HOSTILE) {
            wait.wait_type = text.to_owned();
        }
    }
    let lab = Lab::new();
    held(&lab, &store(&lab, &recording));
}

/// The sheets that grow with trials do not stay in memory.
#[test]
fn thousands_of_trials() {
    let trials = if testing::lane::is_all() { 10_000 } else { 2_000 };
    let mut recording = sample::recording(3);
    limit_bytes(&mut recording, 1 << 40);
    let mut first = recording.trials.swap_remove(0);
    let observations = first.observations.as_mut().unwrap();
    observations.latencies.truncate(1);
    for latency in &mut observations.latencies {
        // As it is read from a results file.
        latency.histogram = Histogram::from_bytes(&latency.histogram.to_bytes()).unwrap();
    }
    recording.trials = (0..trials)
        .map(|number| {
            let mut trial = first.clone();
            (trial.configuration, trial.block) = (number % 3, number as u32 / 3 + 1);
            trial
        })
        .collect();
    let summary = analysis::summarize(&recording);
    let before = peak_kib();
    let mut book = Vec::new();
    report::xlsx(&summary, &[], &mut book).unwrap();
    assert_eq!(book[..2], *b"PK");
    let grown = peak_kib() - before;
    let cells = trials * (15 + 1 + 8 + 2) * 20;
    assert!(
        grown * 1024 / cells < 96,
        "{grown} KiB for some {cells} cells: a cell in memory takes more"
    );
}

/// The most memory that this process has had.
fn peak_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

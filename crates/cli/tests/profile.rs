//! `steelbench profile` on real programs.

use crate::common;
use crate::common::{Exit, Lab, signal, skipped, wait_until};
use serde_json::{Value, json};
use std::process::Stdio;

/// Burns a second of processor time in a shell, on any machine: the kernel ends the inner one.
const BURN: [&str; 3] =
    ["sh", "-c", "ulimit -c 0; ulimit -t 1; (while :; do :; done) 2>/dev/null; true"];

/// Runs `profile`; `None` where the system does not permit it.
fn profile(lab: &Lab, options: &[&str]) -> Option<Exit> {
    let ended = lab.steelbench(&[&["profile"], options].concat());
    if ended.stderr.contains("does not permit sampling")
        || ended.stderr.contains("cannot sample processes")
    {
        skipped(ended.stderr.trim());
        return None;
    }
    Some(ended)
}

fn saved(lab: &Lab, file: &str) -> Value {
    serde_json::from_str(&lab.read(file)).unwrap()
}

fn samples(profile: &Value) -> u64 {
    profile["stacks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stack| stack["samples"].as_u64().unwrap())
        .sum()
}

/// A saved profile with `copies` samples in the function `copy`.
fn written(copies: u64) -> String {
    json!({
        "schema": "steelbench/1", "kind": "samples", "target": "db", "elapsed_s": 10.0,
        "hz": 100.0, "threads": 1,
        "lost": 0, "profiler_cpu_s": 0.0, "modules": ["/bin/db"], "missing": [],
        "frames": [
            { "function": "parse", "module": 0, "kernel": false },
            { "function": "copy", "module": 0, "kernel": false },
        ],
        "stacks": [{ "frames": [0], "samples": 400 }, { "frames": [0, 1], "samples": copies }],
    })
    .to_string()
}

#[test]
fn a_command_is_sampled_and_saved_in_three_formats() {
    let lab = Lab::new();
    let command = [&["--rate", "500", "--output", "a.json", "--"][..], &BURN].concat();
    let Some(ended) = profile(&lab, &command) else { return };
    let ended =
        ended.expect(0).shows("By module").shows("By function").shows("Most frequent stacks");
    let a = saved(&lab, "a.json");
    assert!(samples(&a) > 100, "{}", ended.stdout);
    assert_eq!((a["kind"].as_str(), a["hz"].as_f64()), (Some("samples"), Some(500.0)));
    assert!(a["target"].as_str().unwrap().starts_with("sh -c"), "{a}");
    // Compared with itself, nothing differs.
    let compared = &lab.json(&["profile", "compare", "a.json", "a.json"])[0];
    assert_eq!(compared["kind"], "profile_comparison");
    let changes = compared["functions"].as_array().unwrap();
    assert!(!changes.is_empty());
    assert!(changes.iter().all(|change| change["seconds"]["is_beyond"] == false), "{compared}");

    let command = [&["--output", "a.folded", "--md", "--"][..], &BURN].concat();
    profile(&lab, &command).unwrap().expect(0).shows("## By function");
    let folded = lab.read("a.folded");
    assert!(folded.lines().count() > 0);
    for line in folded.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        assert!(!stack.is_empty() && count.parse::<u64>().unwrap() > 0, "{line}");
    }
    let command = [&["--output", "a.svg", "--json", "--"][..], &BURN].concat();
    let summary: Value =
        serde_json::from_str(&profile(&lab, &command).unwrap().expect(0).stdout).unwrap();
    assert_eq!(summary["kind"], "profile");
    let shares: f64 = summary["modules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["own"]["share"].as_f64().unwrap())
        .sum();
    assert!((shares - 1.0).abs() < 1e-9);
    assert!(lab.read("a.svg").starts_with("<svg "));
}

/// Waits until this profiler has its perf events and the process has since been on a processor for
/// a second, or until the profiler has ended.
fn wait_for_samples(sampling: &mut std::process::Child, busy: u32) {
    let fds = format!("/proc/{}/fd", sampling.id());
    let is_event = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_link(entry.unwrap().path())
            .is_ok_and(|target| target.to_string_lossy().contains("perf_event"))
    };
    let has_events = || std::fs::read_dir(&fds).is_ok_and(|mut entries| entries.any(is_event));
    let mut has_ended = || sampling.try_wait().unwrap().is_some();
    wait_until("it samples", || has_ended() || has_events());
    let used_ns = || observe::ProcessTimes::read(busy as i32).unwrap().cpu_ns;
    let end_ns = used_ns() + 1_000_000_000;
    wait_until("the process works", || has_ended() || used_ns() > end_ns);
}

#[test]
fn a_process_is_sampled_until_a_signal_or_its_end() {
    let lab = Lab::new();
    let mut busy =
        std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let pid = busy.id().to_string();
    let mut command = lab.command(&["profile", "-p", &pid, "--seconds", "600", "--json"]);
    let mut sampling = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_samples(&mut sampling, busy.id());
    signal(&sampling, libc::SIGINT);
    let ended: Exit = sampling.wait_with_output().unwrap().into();
    let mut command = lab.command(&["profile", "-p", &pid, "--seconds", "600", "--json"]);
    let mut sampling = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_samples(&mut sampling, busy.id());
    busy.kill().unwrap();
    busy.wait().unwrap();
    let gone: Exit = sampling.wait_with_output().unwrap().into();
    if ended.stderr.contains("does not permit sampling") {
        return skipped(ended.stderr.trim());
    }
    let summary: Value = serde_json::from_str(&ended.expect(0).stdout).unwrap();
    assert!(summary["all"]["samples"].as_u64().unwrap() > 0, "{summary}");
    gone.expect(0);
    let ended = lab.steelbench(&["profile", "-p", &pid]).expect(2);
    assert!(ended.stderr.contains(&format!("pid {pid}: no such process")), "{ended:?}");
}

#[test]
fn a_command_that_fails_is_shown_and_its_failure_is_said() {
    let lab = Lab::new();
    let Some(ended) = profile(&lab, &["--", "sh", "-c", "exit 3"]) else { return };
    ended.expect(1).says("warning: the command ended with exit status: 3");
    profile(&lab, &["--", "/no/such/program"])
        .unwrap()
        .expect(2)
        .says("cannot start /no/such/program");
}

#[test]
fn two_saved_profiles_of_a_known_difference_are_compared() {
    let lab = Lab::new();
    lab.write("a.json", &written(100));
    lab.write("b.json", &written(400));
    let ended = lab.steelbench(&["profile", "compare", "a.json", "b.json"]).expect(0);
    let copy = ended.stdout.lines().find(|line| line.contains(" copy ")).unwrap_or_default();
    assert!(
        copy.contains("+3.00 [2.56, 3.44] s") && copy.contains("time, share"),
        "{}",
        ended.stdout
    );
    let md = lab.steelbench(&["profile", "compare", "a.json", "b.json", "--md"]).expect(0);
    assert!(md.stdout.contains("| copy |"), "{}", md.stdout);
}

#[test]
fn what_is_no_profile_is_refused() {
    let lab = Lab::new();
    lab.write("good.json", &written(1));
    for (text, says) in [
        ("{", "not a profile"),
        ("{}", "the file is of another kind"),
        (&written(1).replace("[0,1]", "[0,9]"), "its stacks refer to missing functions"),
        (&written(1).replace("100.0", "0.0"), "its rate of samples is not above 0"),
        (&written(1).replace("\"threads\":1", "\"threads\":-1"), "not a profile"),
    ] {
        lab.write("bad.json", text);
        lab.steelbench(&["profile", "compare", "good.json", "bad.json"]).expect(2).says(says);
    }
    lab.steelbench(&["profile", "compare", "good.json", "none.json"]).expect(2).says("none.json: ");
    for arguments in
        [&["profile"][..], &["profile", "-p", "0"], &["profile", "--rate", "5000", "--", "true"]]
    {
        lab.steelbench(arguments).expect(2);
    }
    lab.steelbench(&["profile", "-p", "1", "--", "true"]).expect(2);
}

/// Inserts into SQLite by two connections, with these lines in `[observe]`.
fn inserts(observe: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\nsettings = {{ synchronous = \
         \"off\" }}\n[workload]\nprobe = \"insert\"\nconnections = 2\nduration = \"2 \
         s\"\n[factors]\n\"workload.rows_per_transaction\" = [10, 100]\n[repeats]\nblocks = \
         1\n[observe]\n{observe}\n"
    )
}

/// Returns whether trials may be sampled here; prints a note otherwise.
fn is_permitted(lab: &Lab) -> bool {
    let unseen = lab.rows(
        "t",
        "SELECT detail FROM warnings WHERE kind = 'not-observed' AND detail LIKE 'a profile:%'",
    );
    unseen.first().inspect(|why| skipped(why)).is_none()
}

#[test]
fn trials_are_sampled_and_the_report_names_their_code() {
    let lab = Lab::with(&inserts("profile = true"));
    let ended = lab.run(0);
    if !is_permitted(&lab) {
        return;
    }
    ended.shows("Code: rows_per_transaction=10").shows("With callees");
    // As many samples as the kernel counted processor time, within four standard deviations of
    // chance.
    let sql = "SELECT 99 * own_s, samples FROM profiles JOIN machine_load USING (trial)";
    let rows = lab.rows("t", sql);
    assert_eq!(rows.len(), 2);
    for row in rows {
        let (expected, samples) = row.split_once('|').unwrap();
        let (expected, samples): (f64, f64) = (expected.parse().unwrap(), samples.parse().unwrap());
        assert!(
            expected > 20.0 && (samples - expected).abs() < 4.0 * expected.sqrt() + 0.05 * expected,
            "{row}"
        );
    }
    let modules = lab.json(&["show", "t"])[0]["profiles"][0]["profile"]["modules"].clone();
    let is_ours = |module: &Value| module["module"].as_str().unwrap().ends_with("/steelbench");
    assert!(modules.as_array().unwrap().iter().any(is_ours), "{modules}");
    let page = lab.read("results/t.html");
    assert!(
        page.contains("Flame graph: rows_per_transaction=10")
            && page.contains("aria-label=\"Flame graph of ")
            && page.contains("/steelbench): ")
    );
    lab.steelbench(&["compare", "rows_per_transaction=10", "rows_per_transaction=100", "--full"])
        .expect(0)
        .shows("Code with the largest change, from A to B")
        .shows("other code");
}

#[test]
fn latencies_are_recorded_unless_they_are_switched_off() {
    for (observe, latencies) in [("", "2"), ("latencies = true", "2"), ("latencies = false", "0")] {
        let lab = Lab::with(&inserts(observe));
        lab.run(0);
        let named = "SELECT count(*) FROM responses WHERE name = 'latency_p99'";
        assert_eq!(lab.rows("t", named), [latencies], "{observe}");
        let kept = "SELECT count(*) FROM latencies WHERE name = 'transaction'";
        assert_eq!(lab.rows("t", kept), [latencies], "{observe}");
        assert_eq!(
            lab.rows("t", "SELECT count(*) FROM responses WHERE name = 'throughput' AND value > 0"),
            ["2"]
        );
    }
}

#[test]
fn a_synthetic_engine_has_no_profile_and_says_so() {
    let lab = Lab::with(&common::scripted(1, "", "[observe]\nprofile = true\n"));
    lab.run(0).shows("not-observed");
    assert_eq!(lab.rows("t", "SELECT count(*) FROM profiles"), ["0"]);
}

#[test]
fn disks_and_locks_are_sampled_too() {
    let disk = "[target]\nengine = \"files\"\n[workload]\nprobe = \"disk\"\npattern = \
                \"random-read\"\nworking_set = \"16 MiB\"\ndirect = false\nduration = \"1 s\"\n";
    let sync = "[target]\nengine = \"none\"\n[workload]\nprobe = \"sync\"\nprimitive = \
                \"mutex-array\"\nthreads = 2\nduration = \"1 s\"\n";
    for (probe, function) in [(disk, ""), (sync, "primitives::")] {
        let file = format!(
            "[experiment]\nname = \"t\"\n{probe}[observe]\nprofile = true\n[repeats]\nblocks = 1\n"
        );
        let lab = Lab::with(&file);
        lab.run(0);
        if !is_permitted(&lab) {
            return;
        }
        let samples: f64 = lab.rows("t", "SELECT samples FROM profiles")[0].parse().unwrap();
        assert!(samples > 0.0, "{samples}: {probe}");
        let json = lab.json(&["show", "t"])[0]["profiles"].to_string();
        assert!(json.contains(function), "{json}");
    }
}

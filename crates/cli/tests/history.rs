//! Many runs of an experiment, end to end.

use crate::common::{Lab, scripted};
use serde_json::Value;

/// Runs with these delays, in milliseconds; the other configuration is not changed.
fn history(delays: &[u32]) -> Lab {
    let lab = Lab::new();
    for delay in delays {
        let levels = format!(
            "[[level]]\nfactor = \"engine\"\nname = \"ours\"\nset = {{ \"target.delay\" = \
             \"{delay} ms\" }}\n[[level]]\nfactor = \"engine\"\nname = \"theirs\"\nset = {{ \
             \"target.delay\" = \"5 ms\" }}\n"
        );
        let file =
            scripted(2, "", &levels).replace("[factors]\n\"target.data_files\" = [1, 2]\n", "");
        lab.write("e.toml", &file);
        lab.run_with(&["--fresh"], 0);
    }
    lab
}

#[test]
fn a_change_is_found_in_the_run_that_made_it() {
    let lab = history(&[2, 2, 2, 2, 2, 4, 4, 4, 4, 4]);
    let lines = lab.json(&["history", "t"]);
    let json = &lines[0];
    assert_eq!(
        (json["kind"].as_str(), json["runs"].as_array().unwrap().len()),
        (Some("history"), 10)
    );
    let changes = |at: usize| json["configurations"][at]["changes"].as_array().unwrap();
    assert_eq!(changes(1).len(), 0);
    let [change] = &changes(0)[..] else { panic!("{json}") };
    assert_eq!((change["run"].as_u64(), change["verdict"].as_str()), (Some(5), Some("worse")));
    assert!((change["comparison"]["value"].as_f64().unwrap() - 0.5).abs() < 1e-9);
    // The setting that did it is listed with the run, and with no other.
    let with_settings: Vec<usize> =
        (0..10).filter(|at| !json["runs"][at]["settings"].as_array().unwrap().is_empty()).collect();
    assert_eq!(with_settings, [5]);

    let text = lab.steelbench(&["history"]).expect(0).stdout;
    for part in [
        "▁▁▁▁▁█████",
        "engine=ours: worse since run 6",
        "20.0 ms -> 40.0 ms",
        "target.delay",
        "worse from here",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let markdown =
        lab.steelbench(&["history", "t", "--md", "--response", "throughput"]).expect(0).stdout;
    assert!(
        markdown.contains("█████▁▁▁▁▁") && markdown.contains("engine=ours: worse since run 6"),
        "{markdown}"
    );
}

#[test]
fn runs_of_several_files_are_one_history() {
    let lab = history(&[2, 2]);
    std::fs::rename(lab.path("results/t.steelbench"), lab.path("first.steelbench")).unwrap();
    lab.run(0);
    let starts = |arguments: &[&str]| -> Vec<i64> {
        let json: Value = lab.json(arguments).remove(0);
        json["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["run"]["started_ms"].as_i64().unwrap())
            .collect()
    };
    let all = starts(&["history", "t", "first.steelbench"]);
    assert_eq!((all.len(), all.is_sorted()), (3, true));
    assert_eq!(starts(&["history", "t", "first.steelbench", "--last", "2"]), all[1..]);
    lab.steelbench(&["history", "t"]).expect(0).shows("At least 8 runs");
}

#[test]
fn a_copied_run_counts_once() {
    let lab = history(&[2]);
    std::fs::copy(lab.path("results/t.steelbench"), lab.path("results/copy.steelbench")).unwrap();
    lab.run_with(&["--fresh"], 0);
    let runs = |arguments: &[&str]| lab.json(arguments)[0]["runs"].as_array().unwrap().len();
    assert_eq!(runs(&["history", "t", "results/copy.steelbench", "t"]), 2);
    let ended = lab.steelbench(&["history", "results/copy.steelbench", "t"]).expect(0);
    ended.says("note: the run of ").says("results/copy.steelbench").says("counted once");
}

#[test]
fn wrong_arguments_are_explained() {
    let lab = history(&[2]);
    lab.steelbench(&["history", "none"]).expect(2).says("no results file none");
    lab.steelbench(&["history", "t", "--response", "iops"])
        .expect(2)
        .says("no comparable response iops");
    lab.steelbench(&["history", "t", "--last", "0"]).expect(2).says("--last");
    let failed = Lab::with(&scripted(1, "fail_while_exists = \"e.toml\"", ""));
    failed.run(1);
    failed.steelbench(&["history", "t"]).expect(2).says("no completed trial");
    failed.steelbench(&["compare", "t@1", "t"]).expect(2);
}

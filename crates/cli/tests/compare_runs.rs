//! Two runs against each other, and the gate, end to end.

use crate::common::{Exit, Lab, scripted};

fn delay(delay: &str) -> String {
    scripted(3, &format!("delay = \"{delay}\"\nspread = 0.01"), "")
}

/// Run 1 takes 2 ms for each of 10 transactions, run 2 twice as long.
fn two_runs() -> Lab {
    let lab = Lab::with(&delay("2 ms"));
    lab.run(0);
    lab.write("e.toml", &delay("4 ms"));
    lab.run_with(&["--fresh"], 0);
    lab
}

impl Lab {
    fn compare(&self, arguments: &[&str]) -> Exit {
        self.steelbench(&[&["compare"], arguments].concat())
    }
}

#[test]
fn every_way_to_name_runs_means_the_same() {
    let lab = two_runs();
    std::fs::copy(lab.path("results/t.steelbench"), lab.path("copy.steelbench")).unwrap();
    let expected = lab.compare(&["t@1", "t@2"]).expect(0).stdout;
    assert!(expected.contains("A: t, run 1; B: t, run 2"), "{expected}");
    // Half as good, to the last digit: the engine's clock is virtual.
    assert!(expected.contains("elapsed: B is 2.00x"), "{expected}");
    assert!(expected.contains("2 worse"), "{expected}");
    for names in [
        ["t@previous", "t@latest"],
        ["t@previous", "t"],
        ["@1", "@2"],
        ["@previous", "@latest"],
        ["results/t.steelbench@1", "copy.steelbench"],
        ["copy.steelbench@previous", "copy.steelbench@2"],
    ] {
        assert_eq!(lab.compare(&names).expect(0).stdout, expected, "{names:?}");
    }
    assert_eq!(lab.compare(&["@1", "@2", "--in", "copy.steelbench"]).expect(0).stdout, expected);
    // Configurations are compared as ever, also of an earlier run.
    lab.compare(&["data_files=1", "data_files=2", "--run", "1"]).expect(0).shows("A: data_files=1");
}

#[test]
fn what_changed_is_listed() {
    let lab = two_runs();
    let text = lab.compare(&["t@1", "t@2"]).expect(0).stdout;
    let row = text.lines().find(|line| line.starts_with("target.delay")).unwrap();
    assert!(row.contains('2') && row.contains('4') && row.ends_with("all"), "{row}");
    assert!(
        text.contains("data_files=1 *") && text.contains("Environment: no recorded change"),
        "{text}"
    );
    // A factor that has the old value among its levels: the settings are the same, the label is
    // not.
    let file =
        delay("2 ms").replace("[factors]", "[factors]\n\"target.delay\" = [\"2 ms\", \"6 ms\"]");
    lab.write("e.toml", &file.replace("delay = \"2 ms\"\n", ""));
    lab.run_with(&["--fresh"], 0);
    let text = lab.compare(&["t@1", "t@3"]).expect(0).stdout;
    assert!(text.contains("Factor target.delay is only in B"), "{text}");
    assert!(text.contains("Settings of the compared configurations: no change"), "{text}");
    assert!(text.contains("Only in B: ") && text.contains("1.00x"), "{text}");
}

/// A gate is never passed silently with trials that there is a reason to trust less.
#[test]
fn warnings_of_trials_are_shown_and_change_no_decision() {
    let lab = two_runs();
    let plain = lab.compare(&["t@1", "t@2", "--fail-if", "slower:150%"]).expect(0).stdout;
    assert!(plain.contains("Gate passed") && !plain.contains("Warnings"), "{plain}");
    let sql = "INSERT INTO warnings SELECT id, 90, 'other_load', 'others used 40 %' FROM trials
               WHERE run = 2 AND block < 3 UNION ALL
               SELECT id, 91, 'steal', 'stolen' FROM trials WHERE run = 1 AND block = 1";
    lab.results("t").execute_batch(sql).unwrap();
    let line = "Warnings: steal on 2 of 6 trials of A and 0 of 6 of B, other-load on 0 of 6 \
                trials of A and 4 of 6 of B.";
    for (limit, code) in [("slower:150%", 0), ("slower:3%", 1)] {
        let text = lab.compare(&["t@1", "t@2", "--fail-if", limit]).expect(code).stdout;
        assert!(text.replace('\n', " ").contains(line), "{text}");
        let row = text.lines().find(|line| line.starts_with("other-load  ")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells[..7], ["other-load", "0", "of", "6", "4", "of", "6"], "{row}");
        let ended = lab.compare(&["t@1", "t@2", "--json", "--fail-if", limit]).expect(code);
        assert!(ended.stderr.contains(line), "{}", ended.stderr);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(json["gate"]["warnings"]["kinds"][1]["to"], 4, "{json}");
    }
    let sides = ["data_files=1", "data_files=2", "--run", "2"];
    lab.compare(&sides).expect(0).shows("other-load (4 trials)");
    let text = lab.compare(&[&sides[..], &["--full"]].concat()).expect(0).stdout;
    assert!(text.contains("Warnings of the trials compared") && text.contains("2 of 3"), "{text}");
}

#[test]
fn the_exit_code_is_the_gates() {
    let lab = two_runs();
    let gate = |limits: &[&str], code: i32| {
        let flags: Vec<&str> = limits.iter().flat_map(|limit| ["--fail-if", *limit]).collect();
        lab.compare(&[&["t@1", "t@2"], &flags[..]].concat()).expect(code)
    };
    gate(&["slower:3%"], 1).shows("Gate failed: elapsed of data_files=").shows("rose by 100.0 %");
    gate(&["slower:150%"], 0);
    gate(&["throughput:150%"], 2).says("throughput:150% can never be exceeded");
    gate(&["elapsed:+150%"], 0).shows("Gate passed: every configuration is within elapsed:+150%");
    gate(&["elapsed:+150%", "throughput:-3%"], 1)
        .shows("throughput of data_files=")
        .shows("fell by 50.0 %");
    gate(&["faster:3%"], 0);
    lab.compare(&["t@2", "t@1", "--fail-if", "faster:3%"]).expect(1);
    lab.compare(&["t@2", "t@1", "--fail-if", "slower:3%", "--fail-if-unsure"]).expect(0);
    // With JSON the reason is on standard error, in one line.
    let ended = lab
        .compare(&["t@1", "t@2", "--fail-if", "slower:3%", "--json"])
        .expect(1)
        .says("Gate failed");
    assert_eq!(ended.stderr.trim_end().lines().count(), 1);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (json["kind"].as_str(), json["gate"]["decision"].as_str()),
        (Some("run_comparison"), Some("broken"))
    );
    assert!(
        (json["responses"][0]["configurations"][0]["comparison"]["value"].as_f64().unwrap() - 0.5)
            .abs()
            < 0.02
    );
}

/// The blocks of one run hold both sides.
#[test]
fn levels_of_one_run_pass_a_gate_or_do_not() {
    let levels = "[[level]]\nfactor = \"version\"\nname = \"old\"\nset = { \"target.delay\" = \"2 \
                  ms\" }\n[[level]]\nfactor = \"version\"\nname = \"new\"\nset = { \
                  \"target.delay\" = \"3 ms\" }\n";
    let lab = Lab::with(&scripted(4, "", levels));
    lab.run(0);
    let sides = ["version=old", "version=new"];
    let gate = |more: &[&str], code: i32| lab.compare(&[&sides[..], more].concat()).expect(code);
    // Each of two configurations is half as slow again.
    let broken = gate(&["--fail-if", "slower:30%"], 1);
    let stdout = broken.stdout.replace('\n', " ");
    assert!(
        stdout.contains("Gate failed: elapsed of ") && stdout.contains("(2 of 2 conf"),
        "{stdout}"
    );
    assert!(!stdout.contains("One run per side"), "{stdout}");
    gate(&["--fail-if", "slower:70%"], 0).shows("Gate passed");
    gate(&["--fail-if", "throughput:-20%", "--fail-if", "slower:70%"], 1);
    lab.compare(&["version=new", "version=old", "--fail-if", "slower:3%"]).expect(0);
    let annotated = gate(&["--fail-if", "slower:30%", "--github", "--junit", "gate.xml"], 1);
    let note = annotated.stdout.lines().last().unwrap();
    assert!(note.starts_with("::error title=Steelbench::Gate failed: ") && note.contains("%25"));
    let xml = lab.read("gate.xml");
    assert!(xml.contains("<testsuites tests=\"2\" failures=\"2\" skipped=\"0\""), "{xml}");
    assert_eq!(xml.matches("<failure message=\"elapsed of ").count(), 2, "{xml}");
    let json = gate(&["--fail-if", "slower:30%", "--json"], 1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["gate"]["spread"], "interleaved");
    let judged = &json["gate"]["limits"][0]["configurations"][0];
    assert_eq!((&judged["repeats"], &judged["decision"]), (&4.into(), &"broken".into()));
    assert!((judged["change"].as_f64().unwrap() - 0.5).abs() < 0.05, "{judged}");
    // Without any limit there is nothing to tell anybody.
    lab.compare(&[&sides[..], &["--github"]].concat()).expect(2);
}

#[test]
fn wrong_arguments_are_explained() {
    let lab = two_runs();
    for (arguments, says) in [
        (&["t@1", "t@1"][..], "run 1 of t is given twice"),
        (&["t@1", "t@9"], "9"),
        (&["t@1", "data_files=1"], "data_files=1 is not"),
        (&["none.steelbench", "t@1"], "no results file none.steelbench"),
        (&["none@2", "t@1"], "no results file none "),
        (&["t@1", "t@2", "--run", "1"], "--run is for configurations"),
        (&["t@1", "t@2", "--response", "iops"], "elapsed, throughput"),
        (&["t@1", "t@2", "--fail-if", "iops:3%"], "no comparable response iops"),
        (&["t@1", "t@2", "--fail-if", "slower"], "`slower` is not a limit"),
        (&["t@1", "t@2", "--fail-if-unsure"], "--fail-if"),
        (&["data_files=1", "data_files=2", "--response", "iops"], "apply to two runs"),
        (&["data_files=1", "data_files=2", "--fail-if", "iops:3%"], "no comparable response iops"),
    ] {
        lab.compare(arguments).expect(2).says(says);
    }
    let single = Lab::with(&delay("2 ms").replace("blocks = 3", "blocks = 1"));
    single.run(0);
    single.compare(&["t@previous", "t@latest"]).expect(2).says("no run before the latest");
    single.run_with(&["--fresh"], 0);
    let gate = single.compare(&["t@1", "t@2", "--fail-if", "slower:3%"]).expect(2);
    gate.says("cannot judge any configuration by slower:3%").shows("Gate inconclusive");
    single.compare(&["t@1", "t@2"]).expect(0).shows(": too few blocks.");
}

#[test]
fn all_responses_and_markdown() {
    let lab = two_runs();
    let all = lab.compare(&["t@1", "t@2", "--all", "--md"]).expect(0).stdout;
    assert!(all.contains("### elapsed (s, lower is better)"), "{all}");
    assert!(all.contains("### throughput (rows/s, higher is better)"), "{all}");
    let stdout = lab.compare(&["t@1", "t@2", "--response", "throughput", "--md"]).expect(0).stdout;
    assert!(
        stdout.contains("throughput: B is 2.00x") && !stdout.contains("### elapsed"),
        "{stdout}"
    );
}

/// Three runs a side: runs of 2 ms against runs of 4 ms.
#[test]
fn a_gate_takes_several_runs_a_side() {
    let lab = Lab::new();
    for (name, delays) in [("2 ms", 3), ("4 ms", 3)] {
        lab.write("e.toml", &delay(name));
        (0..delays).for_each(|_| drop(lab.run_with(&["--fresh"], 0)));
    }
    let gate = [
        "--baseline",
        "t@1",
        "t@2",
        "t@3",
        "--candidate",
        "t@4",
        "t@5",
        "t@6",
        "--fail-if",
        "slower:3%",
    ];
    let text = lab.compare(&gate).expect(1).stdout;
    assert!(text.contains("A: t, runs 1, 2, 3; B: t, runs 4, 5, 6"), "{text}");
    assert!(
        text.contains("Gate failed")
            && text.contains("B is 2.00x")
            && text.contains("between runs"),
        "{text}"
    );
    let same = ["--baseline", "t@1", "t@2", "--candidate", "t@3", "t@1"];
    lab.compare(&same).expect(2).says("run 1 of t is given twice");
    lab.compare(&["--baseline", "t@1", "--candidate", "t@4", "t@5"])
        .expect(2)
        .says("two runs per side");
    lab.compare(&["--baseline", "t@1"]).expect(2).says("--candidate");
    let json = &lab.json(&["compare", "--baseline", "t@1", "t@2", "--candidate", "t@4", "t@5"])[0];
    assert_eq!(
        (json["more_from"][0]["run"].as_i64(), json["to"]["run"].as_i64()),
        (Some(2), Some(4))
    );
}

#[test]
fn levels_are_compared_over_the_other_factors() {
    let file =
        delay("2 ms").replace("[factors]", "[factors]\n\"target.delay\" = [\"2 ms\", \"4 ms\"]");
    let lab = Lab::with(&file.replace("delay = \"2 ms\"\n", ""));
    lab.run(0);
    let text = lab.compare(&["delay=2 ms", "delay=4 ms"]).expect(0).stdout;
    assert!(text.contains("elapsed: B is 2.00x"), "{text}");
    assert!(
        text.contains("Averaged over the other factors: 2 pairs of configurations in each block."),
        "{text}"
    );
    for named in [["t", "delay=2 ms", "delay=4 ms"], ["t@1", "delay=2 ms", "delay=4 ms"]] {
        assert_eq!(lab.compare(&named).expect(0).stdout, text);
    }
    let stdout = lab.compare(&["delay=2 ms,data_files=1", "delay=4 ms"]).expect(0).stdout;
    assert!(
        stdout.contains("Not compared, because the other side lacks a match: 1 configuration."),
        "{stdout}"
    );
    assert!(stdout.contains("B  delay=4 ms data_files=1"), "{stdout}");
    lab.compare(&["delay=2 ms", "data_files=1"]).expect(2).says("levels of the same");
    let json = &lab.json(&["compare", "delay=2 ms", "delay=4 ms"])[0];
    assert_eq!((json["pairs"].as_i64(), json["unmatched"].as_i64()), (Some(2), Some(0)));
}

//! Experiment files that are wrong: exit code 2, every error with its place, nothing run.

use crate::common;
use crate::common::{Lab, scripted};
use std::process::Stdio;

/// Both `check` and `run` refuse the file with all of these words.
#[track_caller]
fn refused(file: &str, words: &[&str]) {
    let lab = Lab::with(file);
    for command in ["check", "run"] {
        let ended = lab.steelbench(&[command, "e.toml"]).expect(2);
        for word in words {
            assert!(ended.stderr.contains(word), "{word:?} is not in {}", ended.stderr);
        }
        assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    }
    assert!(!lab.path("results").exists(), "something was run");
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let file = scripted(1, "", "").replace("connections = 1", "conections = 1");
    refused(
        &file,
        &[
            "unknown setting `workload.conections`",
            "did you mean `workload.connections`?",
            "--> e.toml:8:1",
        ],
    );
    refused(&scripted(1, "", "[repeat]\nblocks = 2\n"), &["repeat", "repeats", "--> e.toml:"]);
}

#[test]
fn a_factor_that_names_nothing_is_refused() {
    let file = scripted(1, "", "").replace("target.data_files", "target.data_file");
    refused(
        &file,
        &[
            "unknown setting `target.data_file`",
            "did you mean `target.data_files`?",
            "--> e.toml:12:1",
        ],
    );
}

#[test]
fn zero_negative_and_empty_are_refused() {
    for (right, wrong, place) in [
        ("connections = 1", "connections = 0", "--> e.toml:8:15"),
        ("rows = 10\n", "rows = -5\n", "--> e.toml:9:8"),
        ("blocks = 1", "blocks = 0", "--> e.toml:14:10"),
        ("[1, 2]", "[1, 0]", "--> e.toml:12:27"),
        ("[1, 2]", "[]", "--> e.toml:12:"),
        ("[1, 2]", "[1, 1]", "--> e.toml:12:"),
    ] {
        refused(&scripted(1, "", "").replace(right, wrong), &[place]);
    }
}

#[test]
fn a_billion_configurations_are_refused_at_once() {
    let levels: Vec<String> = (1..=1000).map(|level| level.to_string()).collect();
    let levels = levels.join(", ");
    let file = scripted(1, "", "").replace(
        "\"target.data_files\" = [1, 2]",
        &format!(
            "\"target.data_files\" = [{levels}]\n\"workload.initial_rows\" = \
             [{levels}]\n\"target.delay\" = [{levels}]"
        ),
    );
    refused(&file, &["1000000000 configurations"]);
}

#[test]
fn a_syntax_error_has_its_place() {
    refused("[experiment]\nname = \n", &["--> e.toml:2:"]);
    refused(&scripted(1, "", "[limits\n"), &["--> e.toml:15:"]);
}

#[test]
fn all_errors_are_told_at_once() {
    let file = scripted(1, "delay = \"soon\"", "[limits]\ntrial_tim = \"1 s\"\n")
        .replace("connections = 1", "connections = 0")
        .replace("[1, 2]", "[1, \"two\"]");
    refused(&file, &["target.delay", "trial_tim", "workload.connections", "`two`"]);
}

#[test]
fn engines_and_probes_object_at_the_place_of_the_setting() {
    let file = scripted(1, "waits = [\"LOG_WRITE log 0.9 0.2\"]", "")
        .replace("rows = 10\n", "rows = 10\nduration = \"1 s\"\n");
    refused(
        &file,
        &[
            "the shares add up to more than 1",
            "--> e.toml:5:9",
            "give one of them",
            "--> e.toml:10:12",
        ],
    );
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let lab = Lab::with(&scripted(1, "", "").replace(
        "name = \"t\"",
        "name = \"t\"\nquestion = \"a\\u001b[31mb\"\nx = \"\\u001b]0;\\u0007\"",
    ));
    let ended = lab.steelbench(&["check", "e.toml"]).expect(2);
    assert!(!ended.stderr.contains(['\u{1b}', '\u{7}']), "{ended:?}");
}

/// The errors of one line are limited, however long it is.
#[test]
fn a_long_line_of_errors_is_cut() {
    let levels: Vec<String> = (0..12_000).map(|level| format!("\"bad {level} größe\"")).collect();
    let file = scripted(1, "", "").replace("[1, 2]", &format!("[{}]", levels.join(", ")));
    let ended = Lab::with(&file).steelbench(&["check", "e.toml"]).expect(2);
    assert!(ended.stderr.len() < 20_000, "{} bytes", ended.stderr.len());
    assert!(
        ended.stderr.contains("`bad 3 größe`") && ended.stderr.contains("more errors"),
        "{}",
        ended.stderr
    );
    // The only error of the line lies beyond column 65,536: the carets point to it all the same.
    let mut levels: Vec<String> = (1..=30_000).map(|level| level.to_string()).collect();
    levels[20_000] = "\"größe\"".to_owned();
    let file = scripted(1, "", "").replace("[1, 2]", &format!("[{}]", levels.join(",")));
    let ended = Lab::with(&file).steelbench(&["check", "e.toml"]).expect(2);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let carets = lines.iter().rposition(|line| line.ends_with("^^^^^^^")).unwrap();
    let column = lines[carets].chars().position(|c| c == '^').unwrap();
    let marked: String = lines[carets - 1].chars().skip(column).take(7).collect();
    assert_eq!(marked, "\"größe\"", "{}", ended.stderr);
}

/// An endless device, a pipe without a writer and a sparse file of 5 GB are not read to the end.
#[test]
fn what_is_too_large_or_no_regular_file_is_refused_at_once() {
    let lab = Lab::with(&scripted(1, "", ""));
    std::fs::File::create(lab.path("huge")).unwrap().set_len(5 << 30).unwrap();
    let pipe = |name: &str| {
        assert!(
            std::process::Command::new("mkfifo").arg(lab.path(name)).status().unwrap().success()
        );
    };
    pipe("pipe");
    for (file, why) in [
        ("huge", "larger than"),
        ("/dev/zero", "not a regular file"),
        ("pipe", "not a regular file"),
    ] {
        lab.write("script.toml", &scripted_by(file));
        for arguments in [
            &["check", file][..],
            &["run", file],
            &["disk", "--fio", file],
            &["check", "script.toml"],
            &["survey", "merge", file],
            &["profile", "compare", file, file],
            &["size", file],
            &["pg", "--engine", "sqlite", "-t", "1", "-f", file],
            &["sort-order", file],
        ] {
            let mut command = lab.command(arguments);
            let child =
                common::limited_memory(&mut command).stdout(Stdio::piped()).stderr(Stdio::piped());
            let ended = common::end(child.spawn().unwrap()).expect(2);
            // `sort-order` reads only the last bytes of the large file, which are not Parquet's.
            let why =
                if arguments[0] == "sort-order" && file == "huge" { "as Parquet: " } else { why };
            assert!(ended.stderr.contains(why), "{arguments:?}: {ended:?}");
        }
    }
}

/// An experiment whose load is this script.
fn scripted_by(script: &str) -> String {
    scripted(1, "", "")
        .replace("insert", "script")
        .replace("rows = 10\nrows_per_transaction = 1", &format!("script = \"{script}\""))
}

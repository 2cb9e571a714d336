//! `steelbench time` and experiments with commands from end to end, beside hyperfine.

use crate::common::{Exit, Lab, at_home, signal, skipped, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

fn json(lab: &Lab, file: &str) -> Value {
    serde_json::from_str(&lab.read(file)).unwrap()
}

#[test]
fn commands_take_turns_and_the_faster_one_is_named() {
    let lab = Lab::new();
    lab.steelbench(&["time", "-N", "-v", "-r", "6", "sleep 0.02", "sleep 0.2"])
        .expect(0)
        .shows("12 trials done")
        .shows("compared on elapsed (s, lower is better)")
        .shows("command=sleep 0.02")
        .shows("baseline");
    // Every block has both, and not always in the same order.
    let order = lab.rows(
        "time",
        "SELECT group_concat(position, '') FROM (SELECT t.block, c.position FROM trials t JOIN \
         configurations c ON c.id = t.configuration ORDER BY t.sequence) GROUP BY block",
    );
    assert_eq!(order.len(), 6);
    assert_eq!(
        order.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        BTreeSet::from(["01", "10"])
    );
    lab.steelbench(&["time", "-N", "-v", "-r", "1", "true"]).expect(0).shows("Run 2");
}

/// It has lost its parent and its environment.
#[test]
fn a_daemon_that_clears_its_environment_does_not_outlive_its_trial() {
    let daemon = "env -i setsid --wait sh -c '/bin/sleep 1234.7 > /dev/null 2>&1 & exit 0'";
    Lab::new()
        .steelbench(&["time", "-N", "-r", "1", "--full", daemon])
        .expect(0)
        .shows("still running at the end of the trial: sleep (pid ");
    let running = std::fs::read_dir("/proc").unwrap().flatten().filter(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.ends_with(b"sleep\x001234.7\0")
    });
    assert_eq!(running.count(), 0);
}

#[test]
fn a_screen_of_fifteen_lines_is_enough() {
    let lab = Lab::new();
    let commands: Vec<String> = (0..9).map(|n| format!("sleep 0.0{n}")).collect();
    let many = ["time", "-N", "-r", "5"].into_iter().chain(commands.iter().map(String::as_str));
    for arguments in [
        many.collect::<Vec<_>>(),
        vec!["time", "-N", "-r", "6", "--fail-if", "slower:3%", "sleep 0.02", "sleep 0.2"],
    ] {
        let code = i32::from(arguments.contains(&"--fail-if"));
        let output = lab.command(&arguments).env("COLUMNS", "80").output().unwrap();
        let ended = Exit::from(output).expect(code);
        assert!(ended.stdout.lines().count() <= 15, "{}", ended.stdout);
        assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ended.stdout);
        assert!(ended.stdout.contains("slower"), "{}", ended.stdout);
    }
}

/// The reference is the first command; each other one must keep to the limit.
#[test]
fn a_limit_fails_the_slower_command() {
    let lab = Lab::new();
    let time = |commands: [&str; 2], code: i32| {
        let options = ["time", "-N", "-r", "6", "--fail-if", "slower:50%", "--json"];
        let ended = lab.steelbench(&[&options[..], &commands[..]].concat()).expect(code);
        let last = ended.stdout.lines().last().unwrap().to_owned();
        serde_json::from_str::<Value>(&last).unwrap()["gate"].clone()
    };
    let broken = time(["sleep 0.02", "sleep 0.2"], 1);
    assert_eq!((&broken["decision"], &broken["spread"]), (&"broken".into(), &"interleaved".into()));
    let kept = time(["sleep 0.2", "sleep 0.02"], 0);
    assert_eq!(kept["decision"], "kept");
    lab.steelbench(&["time", "true", "--junit", "t.xml"]).expect(2).says("--fail-if");
}

#[test]
fn what_is_printed_is_an_experiment_that_runs() {
    let lab = Lab::new();
    let line = [
        "time",
        "--print",
        "-L",
        "n",
        "1,2",
        "-p",
        "true",
        "-w",
        "1",
        "-r",
        "4",
        "-i=3",
        "exit $(({n} + 1))",
    ];
    let printed = lab.steelbench(&line).expect(0);
    lab.write("own.toml", &printed.stdout);
    let check =
        lab.steelbench(&["check", "own.toml"]).expect(0).shows("2 configurations x 4 blocks");
    // A single command is not a factor beside its parameters.
    assert!(!check.stdout.contains("factor command"), "{}", check.stdout);
    check.shows("How long does `exit $(({n} + 1))` take?").shows("1. n=1 (baseline)");
    // Exit code 2 is not ignored.
    lab.steelbench(&["run", "own.toml", "--full"])
        .expect(1)
        .shows("4 trials done")
        .shows("ended with exit code 2");
}

/// The keys and types of a value, arrays by their first element.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            object.iter().map(|(key, value)| (key.clone(), shape(value))).collect()
        }
        Value::Array(array) => {
            array.first().map(|first| Value::Array(vec![shape(first)])).unwrap_or_default()
        }
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
        other => other.clone(),
    }
}

#[test]
fn exports_have_the_form_of_hyperfines() {
    let lab = Lab::new();
    let options = [
        "-N",
        "-r",
        "3",
        "-i",
        "-n",
        "fails {code}",
        "-L",
        "code",
        "0,3",
        "--export-json",
        "NAME.json",
        "--export-csv",
        "NAME.csv",
        "--export-markdown",
        "NAME.md",
        "sh -c 'sleep 0.01; exit {code}'",
    ];
    let named = |name: &str| options.map(|option| option.replace("NAME", name));
    let ours = named("ours");
    let ours: Vec<&str> = std::iter::once("time").chain(ours.iter().map(String::as_str)).collect();
    lab.steelbench(&ours).expect(0);
    let results = json(&lab, "ours.json");
    let codes: Vec<&Value> =
        results["results"].as_array().unwrap().iter().map(|array| &array["exit_codes"]).collect();
    assert_eq!(codes, [&serde_json::json!([0, 0, 0]), &serde_json::json!([3, 3, 3])]);
    let first = &results["results"][0];
    let times: Vec<f64> =
        first["times"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    assert!((first["mean"].as_f64().unwrap() - times.iter().sum::<f64>() / 3.0).abs() < 1e-12);
    let mut peer = Command::new("hyperfine");
    let Ok(peer) = peer.args(named("peer")).current_dir(lab.path(".")).output() else {
        println!("SKIPPED: hyperfine is not installed");
        return;
    };
    assert!(peer.status.success(), "{peer:?}");
    let theirs = json(&lab, "peer.json");
    for (ours, theirs) in
        results["results"].as_array().unwrap().iter().zip(theirs["results"].as_array().unwrap())
    {
        let (mut shape, mut their) = (shape(ours), shape(theirs));
        // hyperfine has it since 1.19; we leave it out where it is not known.
        for shape in [&mut shape, &mut their] {
            shape.as_object_mut().unwrap().remove("memory_usage_byte");
        }
        assert_eq!(shape, their);
        for same in ["command", "exit_codes", "parameters"] {
            assert_eq!(ours[same], theirs[same]);
        }
    }
    let lines = |file: &str| lab.read(file).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines("ours.csv")[0], lines("peer.csv")[0]);
    assert_eq!(lines("ours.md")[..2], lines("peer.md")[..2]);
    let column = |line: &String| line.split('|').nth(1).unwrap().to_owned();
    assert_eq!(
        lines("ours.md").iter().map(column).collect::<Vec<_>>(),
        lines("peer.md").iter().map(column).collect::<Vec<_>>()
    );
}

#[test]
fn failures_are_told_with_the_end_of_the_output() {
    let lab = Lab::new();
    lab.steelbench(&[
        "time",
        "-r",
        "1",
        "echo it went wrong >&2; exit 9",
        "true",
        "--export-json",
        "t.json",
    ])
    .expect(1)
    .shows("ended with exit code 9")
    .shows("it went wrong");
    assert_eq!(json(&lab, "t.json")["results"].as_array().unwrap().len(), 1);
    for (line, cause) in [
        (&["-N", "no-such-program"][..], "cannot find the program `no-such-program`"),
        (&["-p", "a", "-p", "b", "c", "d", "e"], "--prepare: give it once, or once per command"),
        (&["-n", "a", "-n", "b", "c"], "more names than commands"),
        (&["-P", "n", "3", "1", "echo {n}"], "MAX must be at least MIN"),
        (&["-L", "n", "1,1", "echo {n}"], "given twice"),
        (&[""], "a value is required"),
        (&["-r", "0", "true"], "0 is not in 1"),
        (&["-i=x", "true"], "exit codes from 0 to 255"),
    ] {
        lab.steelbench(&[&["time"], line].concat()).expect(2).says(cause);
    }
}

/// `check` reports the place of an error in a response before anything runs.
#[test]
fn check_names_the_line_of_a_wrong_expression() {
    let lab = Lab::with(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe = \
         \"command\"\ncommand = \"true\"\n[workload.responses.tps]\nregex = \"tps = \
         (\"\ndirection = \"higher\"\n",
    );
    let refused = lab.steelbench(&["check", "e.toml"]).expect(2);
    refused.says("e.toml:9:9").says("open group without closing");
    lab.write("e.toml", &lab.read("e.toml").replace("regex =", "regexp ="));
    lab.steelbench(&["check", "e.toml"]).expect(2).says("workload.responses.tps.regexp");
}

#[test]
fn a_trial_that_takes_too_long_is_killed_with_all_that_it_started() {
    let lab = Lab::with(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe = \
         \"command\"\ncommand = \"sleep 4321.5 & sleep 4321.5\"\n[repeats]\nblocks = \
         1\n[limits]\ntrial_time = \"500 ms\"\n",
    );
    lab.run(1).shows("limits.trial_time");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    assert_eq!(lines.filter(|line| String::from_utf8_lossy(line).contains("4321.5")).count(), 0);
}

#[test]
fn the_profile_is_that_of_the_command() {
    let lab = Lab::new();
    let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let ended = lab.steelbench(&["time", "-r", "1", "--profile", burn]).expect(0);
    let rows = lab.rows("time", "SELECT count(*) FROM profiles");
    if rows == ["0"] {
        let warned =
            lab.rows("time", "SELECT count(*) FROM warnings WHERE detail LIKE 'a profile:%'");
        assert_eq!(warned, ["1"], "{}", ended.stdout);
        println!("SKIPPED, cannot be here: the kernel permits no profile");
        return;
    }
    ended.shows("Code");
}

/// Runs of `sleep` with this argument that are alive.
fn sleepers(seconds: &str) -> usize {
    let line = format!("sleep\0{seconds}\0");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|row| row == line.as_bytes()).count()
}

/// In the group of the command, in a session of its own, and as the work of a hook.
#[test]
fn nothing_of_a_command_outlives_a_kill_of_ours() {
    let lab = Lab::new();
    let command = "setsid sleep 4321.7 & sleep 4321.7 & sleep 4321.7";
    let mut child =
        lab.start_with(&["time", "-r", "1", "--setup", "sleep 4321.7 > /dev/null 2>&1 &", command]);
    wait_until("the command and its children run", || sleepers("4321.7") == 4);
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    wait_until("nothing of it is left", || sleepers("4321.7") == 0);
}

/// The lines of a log, those that follow each other and are equal as one.
fn lines(lab: &Lab, file: &str) -> Vec<String> {
    let mut lines: Vec<String> = lab.read(file).lines().map(str::to_owned).collect();
    lines.dedup();
    lines
}

#[test]
fn a_setup_that_commands_have_in_common_runs_once() {
    let lab = Lab::new();
    let options = [
        "-r",
        "6",
        "-s",
        "echo setup >> log",
        "-p",
        "echo prepare >> log",
        "-c",
        "echo cleanup >> log",
    ];
    let commands = ["-L", "n", "1,2", "true", "echo {n}"];
    lab.steelbench(&[&["time", "-v"], &options[..], &commands[..]].concat())
        .expect(0)
        .shows("24 trials done");
    assert_eq!(lines(&lab, "log"), ["setup", "prepare", "cleanup"]);
    // Before every run of every command.
    assert_eq!(lab.read("log").lines().filter(|line| *line == "prepare").count(), 4 * 6);
}

#[test]
fn what_another_setup_has_changed_is_set_up_again() {
    let lab = Lab::new();
    let options = [
        "-r",
        "5",
        "-L",
        "n",
        "1,2",
        "-s",
        "echo setup $n >> log",
        "-c",
        "echo cleanup {n} >> log",
    ];
    let command = ["echo run {n} >> log"];
    lab.steelbench(&[&["time"], &options[..], &command[..]].concat()).expect(0);
    let series = |lines: &[String]| {
        let numbers =
            lines.chunks(3).map(|lines| lines[0].replace("setup ", "")).collect::<Vec<_>>();
        for (lines, n) in lines.chunks(3).zip(&numbers) {
            assert_eq!(lines, [format!("setup {n}"), format!("run {n}"), format!("cleanup {n}")]);
        }
        numbers
    };
    let numbers = series(&lines(&lab, "log"));
    // Not needlessly: between two of them another was set up.
    assert!(numbers.len() > 2 && numbers.windows(2).all(|pair| pair[0] != pair[1]), "{numbers:?}");
    // One series each, as with hyperfine.
    std::fs::remove_file(lab.path("log")).unwrap();
    let blocks = ["--blocks", "1"];
    lab.steelbench(&[&["time"], &options[..], &blocks[..], &command[..]].concat()).expect(0);
    assert_eq!(series(&lines(&lab, "log")).len(), 2);
}

#[test]
fn what_a_failure_may_have_spoilt_is_set_up_again_and_so_it_is_when_a_run_goes_on() {
    let file = "[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe = \
                \"command\"\ncommand = \"test ! -e broken\"\nsetup = \"echo setup >> \
                log\"\ncleanup = \"echo cleanup >> log\"\n[repeats]\nblocks = 3\nretries = 0\n";
    let lab = Lab::with(file);
    lab.write("broken", "");
    lab.run(1).shows("3 attempts failed");
    assert_eq!(lab.read("log").lines().collect::<Vec<_>>(), ["setup", "cleanup"].repeat(3));
    std::fs::remove_file(lab.path("broken")).unwrap();
    lab.write("log", "");
    lab.run_with(&["--retry-failed"], 0);
    assert_eq!(lines(&lab, "log"), ["setup", "cleanup"]);
}

#[test]
fn a_setup_that_fails_fails_the_trial_and_a_cleanup_that_fails_is_told() {
    let lab = Lab::new();
    lab.steelbench(&["time", "-r", "1", "-s", "echo it is not there >&2; false", "true"])
        .expect(1)
        .shows("the setup command")
        .shows("it is not there");
    let cleaned = lab.steelbench(&["time", "-r", "2", "-c", "exit 7", "true"]).expect(0);
    assert_eq!(cleaned.stderr.matches("ended with exit code 7").count(), 1, "{cleaned:#?}");
}

/// The lines in which strace tells of these system calls of a command and all that it starts;
/// `None`, with a word about it, where there is no strace.
fn traced(lab: &Lab, calls: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let command = lab.command(arguments);
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "-qq",
        "-e",
        "signal=none",
        "-e",
        &format!("trace={calls}"),
        "-o",
        "calls.txt",
    ]);
    strace.arg(command.get_program()).args(command.get_args());
    strace.current_dir(lab.path("")).stdin(Stdio::null()).stdout(Stdio::null());
    at_home(&mut strace, &lab.path(""));
    let Ok(status) = strace.status() else {
        skipped("there is no strace");
        return None;
    };
    assert!(status.success(), "{}", lab.read("calls.txt"));
    Some(lab.read("calls.txt").lines().map(str::to_owned).collect())
}

/// The common preparation of a trial's runs is done once.
#[test]
fn more_runs_open_nothing_but_what_tells_of_each() {
    let lab = Lab::new();
    let opened = |runs: &str| {
        let lines =
            traced(&lab, "openat,pipe2", &["time", "-N", "--blocks", "1", "-r", runs, "true"])?;
        let count = |parts: &[&str]| {
            lines.iter().filter(|line| parts.iter().any(|part| line.contains(part))).count()
        };
        Some((count(&["/schedstat"]), count(&["/dev/null", "pipe2("])))
    };
    let Some(few) = opened("2") else { return };
    assert_eq!(opened("12"), Some((few.0 + 10, few.1)));
}

/// Three syncs record a trial that could be repeated in less time, five a longer one; the other
/// syncs of a call do not depend on its trials.
#[test]
fn a_short_trial_is_recorded_with_fewer_syncs() {
    let lab = Lab::new();
    let syncs = |arguments: &[&str]| {
        let lines = traced(&lab, "fsync,fdatasync", &[&["time", "-N"], arguments].concat())?;
        Some(lines.iter().filter(|line| line.contains("sync(")).count())
    };
    // The first one creates the file.
    if syncs(&["-r", "1", "true"]).is_none() {
        return;
    }
    let of_trials = |run: u32| {
        let sql = format!(
            "SELECT sum(CASE WHEN wall_s < 1 THEN 3 ELSE 5 END) FROM trials WHERE run = {run}"
        );
        lab.rows("time", &sql)[0].parse::<usize>().unwrap()
    };
    let others = [
        &["-r", "10", "true"][..],
        &["-r", "20", "--blocks", "20", "true"],
        &["-r", "1", "sleep 1"],
    ]
    .iter()
    .zip(2..)
    .map(|(arguments, run)| syncs(arguments).unwrap() - of_trials(run))
    .collect::<Vec<_>>();
    assert!(others.iter().all(|other| *other == others[0]), "{others:?}");
    assert_eq!(
        lab.rows("time", "SELECT count(*) FROM trials WHERE run = 4 AND wall_s >= 1"),
        ["1"]
    );
}

/// Between the start of a process and its end the thread that takes the time sets it up and waits
/// for it, and does nothing else.
#[test]
fn while_the_time_of_a_run_is_taken_nothing_else_is_done() {
    let lab = Lab::new();
    let Some(lines) = traced(&lab, "all", &["time", "-N", "-r", "10", "--blocks", "1", "true"])
    else {
        return;
    };
    let (mut measured, mut inside) = (0, BTreeSet::new());
    let mut lines = lines.iter().map(|line| line.split_once(' ').unwrap());
    // Programs are started for other reasons, too.
    let of_load = lines.clone().find(|(_, call)| call.contains("\"command-1\"")).unwrap().0;
    // From the start of each run: a thread of its own waits until the child has executed its
    // program.
    while let Some((thread, call)) = lines.next() {
        if thread != of_load
            || !(call.contains("CLONE_VFORK") && call.contains("exit_signal=SIGCHLD"))
        {
            continue;
        }
        let rest =
            lines.clone().filter(|(other, _)| *other == thread).map(|(_, call)| call.trim_start());
        let names =
            rest.map(|call| call.trim_start_matches("<... ").split(['(', ' ']).next().unwrap());
        let until_read: Vec<&str> = names.take_while(|name| *name != "openat").collect();
        if until_read.contains(&"pidfd_open") {
            measured += 1;
            inside.extend(until_read);
        }
    }
    let known =
        ["clone3", "munmap", "rt_sigprocmask", "close", "pidfd_open", "poll", "restart_syscall"];
    assert!(inside.iter().all(|name| known.contains(name)), "{inside:?}");
    assert_eq!(measured, 10);
}

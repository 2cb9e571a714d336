//! Commands, hooks and set-up programs that print without end, stop, daemonize or ignore signals.

use crate::common;
use crate::common::{Lab, end, limited_memory, signal, wait_until};
use crate::servers;
use std::process::Stdio;

fn file(workload: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe = \
         \"command\"\n{workload}\n[repeats]\nblocks = 1\n[limits]\ntrial_time = \"3 s\"\n{more}"
    )
}

/// Finds the response `n`.
const NUMBER: &str = "\n[workload.responses.n]\nregex = \"n=([0-9]+)\"\ndirection = \"lower\"";

/// A trial with little memory; how it ends, and that nothing of it is left.
#[track_caller]
fn ends(workload: &str, code: i32, cause: &str) -> Lab {
    // Who has to come to an end may be slow at it.
    let time = if cause == "limits.trial_time" { "3 s" } else { "60 s" };
    let lab = Lab::with(&file(workload, "").replace("3 s", time));
    let mut command = lab.command(&["run", "e.toml"]);
    limited_memory(&mut command);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let ended = end(child.unwrap()).expect(code);
    let causes = servers::causes(&lab);
    assert!(
        causes.iter().any(|text| text.contains(cause)) || (code == 0 && causes.is_empty()),
        "{causes:?}"
    );
    assert!(causes.iter().all(|cause| cause.len() < 10_000), "{causes:.200?}");
    assert!(!format!("{}{}", ended.stdout, ended.stderr).contains('\u{1b}'), "{ended:?}");
    // A killed process needs a moment to end.
    wait_until("no process is left", || servers::processes(&lab).is_empty());
    servers::nothing_is_left(&lab);
    lab
}

#[test]
fn an_expression_that_takes_for_ever_is_stopped() {
    // For each of three million letters the rest of the line is searched.
    let print = "command = \"head -c 3000000 /dev/zero | tr '\\\\0' A\"";
    let response = "\n[workload.responses.n]\nregex = \".*[^A-Z]|[A-Z]\"\ndirection = \"lower\"";
    ends(&format!("{print}{response}"), 1, "limits.trial_time");
}

#[test]
fn output_without_end_or_in_one_line_takes_little_memory() {
    let lab =
        ends(&format!("command = \"head -c 1500000000 /dev/zero; echo; echo n=7\"{NUMBER}"), 0, "");
    assert_eq!(lab.rows("t", "SELECT value FROM responses WHERE name = 'n'"), ["7"]);
    ends(&format!("command = \"yes\"{NUMBER}"), 1, "limits.trial_time");
    ends("command = \"yes >&2\"", 1, "limits.trial_time");
    ends(
        &format!("command = \"head -c 9000000 /dev/zero | tr '\\\\0' A\"{NUMBER}"),
        1,
        "no output matches",
    );
    ends(
        "command = \"head -c 9000000 /dev/zero | tr '\\\\0' A >&2; exit 3\"",
        1,
        "ended with exit code 3",
    );
    let json = "\n[workload.responses.n]\npointer = \"/n\"\ndirection = \"lower\"";
    let long =
        r#"command = '''printf '{"n": "'; head -c 1000000 /dev/zero | tr '\0' A; printf '"}' '''"#;
    ends(&format!("{long}{json}"), 1, "AAA...` is not a number");
    ends(
        &format!("command = \"head -c 300000 /dev/zero | tr '\\\\0' '['\"{json}"),
        1,
        "not a JSON document",
    );
}

#[test]
fn who_closes_its_output_flees_stops_or_ignores_signals_is_ended() {
    ends(&format!("command = \"echo n=1; exec >&- 2>&-; sleep 0.2\"{NUMBER}"), 0, "");
    // A daemon holds the pipe, and another one prints to it.
    ends(&format!("command = \"echo n=1; setsid sleep 1000 & sleep 0.1\"{NUMBER}"), 0, "");
    ends(&format!("command = \"setsid yes n=2 & sleep 0.1; echo n=1\"{NUMBER}"), 0, "");
    ends(
        "command = \"printf '\\\\033]0;owned\\\\007\\\\033[2J\\\\302\\\\233' >&2; exit 1\"",
        1,
        "ended with exit code 1",
    );
    ends("command = \"kill -SEGV $$\"", 1, "was killed by a signal: 11");
    ends("command = \"kill -STOP $$\"", 1, "limits.trial_time");
    ends("command = \"trap '' TERM INT HUP; while :; do sleep 0.1; done\"", 1, "limits.trial_time");
    ends(
        "command = \"true\"\nprepare = \"kill -STOP $$\"\nhook_timeout = \"1 s\"",
        1,
        "workload.hook_timeout",
    );
    // Also when Steelbench receives a signal to end.
    let lab = Lab::with(
        &file("command = \"touch begun; trap '' TERM INT; while :; do sleep 0.1; done\"", "")
            .replace("3 s", "600 s"),
    );
    let child = lab.start();
    wait_until("it runs", || lab.path("begun").exists());
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    servers::nothing_is_left(&lab);
}

#[test]
fn a_pipe_in_place_of_a_file_keeps_nobody_waiting() {
    for (setting, code, cause) in
        [("input", 0, ""), ("output", 1, "cannot open ./pipe: No such device or address")]
    {
        let lab = Lab::with(&file(&format!("command = \"cat\"\n{setting} = \"./pipe\""), ""));
        assert!(
            std::process::Command::new("mkfifo").arg(lab.path("pipe")).status().unwrap().success()
        );
        end(lab.start()).expect(code);
        assert!(
            servers::causes(&lab).iter().all(|text| text.contains(cause)),
            "{:?}",
            servers::causes(&lab)
        );
    }
}

#[test]
fn a_hook_that_leaves_somebody_who_prints_for_ever_has_ended() {
    let lab =
        Lab::with(&common::scripted(1, "", "[hooks]\nbefore_trial = 'yes & echo $! > pid'\n"));
    end(lab.start()).expect(0);
    // No process reads its output any more.
    let pid: i32 = lab.read("pid").trim().parse().unwrap();
    wait_until("it has ended", || !servers::installed::is_alive(pid));
}

#[test]
fn psql_that_prints_without_end_is_killed() {
    for installation in servers::installed::installations() {
        let version = installation.version.major;
        let lab = servers::lab(&format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nversion = \
             {version}\nsetup.sql = \"schema.sql\"\n[workload]\nprobe = \"script\"\nscript = \
             \"s.sql\"\nconnections = 1\ntransactions = 1\n[repeats]\nblocks = 1\n"
        ));
        lab.write("schema.sql", "\\! cat /dev/zero\n");
        lab.write("s.sql", "SELECT 1;\n");
        let mut command = lab.command(&["run", "e.toml"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        end(limited_memory(&mut command).spawn().unwrap()).expect(1);
        let cause = servers::causes(&lab).remove(0);
        assert!(cause.contains("killed after printing 64 MiB"), "{cause}");
        servers::nothing_is_left(&lab);
    }
}

//! A password is planted wherever one can stand. It is then in no output, no results file and no title of a process.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Ended, Lab, end, scripted, wait_until};
use std::path::Path;

/// Its parts are searched for too: errors cut texts at signs.
const SECRET: &str = "Zq7vSECRETx9";

/// All bytes of all files below a folder, but for the inputs.
fn written(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name();
        if entry.path().is_dir() {
            all.extend(written(&entry.path()));
        } else if !["e.toml", ".pgpass", "hook.sh", "script.sql"].iter().any(|input| name == *input) {
            all.extend(std::fs::read(entry.path()).unwrap_or_default());
        }
    }
    all
}

/// Nothing that was said or written has the secret in it.
#[track_caller]
fn kept(lab: &Lab, ended: &Ended, what: &str) {
    let said = format!("{}{}", ended.stdout, ended.stderr);
    let all = [said.into_bytes(), written(&lab.path(""))].concat();
    let leak = all.windows(6).position(|window| window == b"SECRET");
    let context =
        leak.map(|at| String::from_utf8_lossy(&all[at.saturating_sub(200)..(at + 60).min(all.len())]));
    assert_eq!(context, None, "{what}");
    assert!(!ended.stderr.contains("panicked"), "{what}: {ended:?}");
}

/// Connection strings with the secret in them that nobody can connect with.
fn connection_strings() -> Vec<String> {
    let near = |text: &str| text.replace("PW", SECRET);
    [
        "postgres://u:PW@127.0.0.1:1/d",
        "postgresql://u:PW@127.0.0.1:1/d?connect_timeout=1",
        "POSTGRES://u:PW@h",
        " postgres://u:PW@h",
        "\tpostgres://u:PW@h/d?sslmode=disable",
        "postgres:/u:PW@h",
        "postgres//u:PW@h",
        "jdbc:postgresql://u:PW@h",
        "mysql://u:PW@",
        "mysql://root:PW@h/d",
        "mongodb+srv://u:PW@h",
        "u:PW@h",
        "u:PW@h:5432/d",
        ":PW@h",
        "u:PW@",
        "postgres://u:a?PW@h",
        "postgres://u:a/PW@h",
        "postgres://u:a#PW@h",
        "postgres://u:PW",
        "postgres://u:a@PW@h",
        "postgres://u:%PW@h",
        "postgres://u:a@[PW@h",
        "postgres://u:PW@[h",
        "postgres://u:PW@h:x/d",
        "postgres://h/d?password=PW",
        "postgres://h/d?passwd=PW",
        "postgres://h/d?pass%77ord=PW",
        "postgres://h/d?password=a=PW",
        "postgres://127.0.0.1:1/d?sslpassword=PW",
        "host=127.0.0.1 port=1 password=PW",
        "host=h passwd=PW",
        "host=h password='PW",
        "host=h password=a PW",
        "host=h password = 'a b\\'PW' colour=blue",
        "host=u:PW@h port=1",
        "dbname=postgres://u:PW@h",
        "user=u:PW@h host=127.0.0.1 port=1",
        "service=u:PW@h",
    ]
    .map(near)
    .to_vec()
}

#[test]
fn commands_that_take_a_connection_string_do_not_repeat_it() {
    let lab = Lab::with(&scripted(1, "", ""));
    for text in connection_strings() {
        for arguments in [
            &["waits", "--seconds", "0.1", &text][..],
            &["waits", "--json", "--seconds", "0.1", &text],
            &["survey", "--server", &text, "--volume", ".", "--output", "survey.json"],
            // Where it does not belong.
            &[&text],
            &["waits", "postgres://h", &text],
            &["show", &text],
            &["history", &text],
            &["report", &text],
            &["export", &text, "--format", "json"],
            &["serve", &text, "--port", "0"],
            &["compare", &text, &text],
            &["run", &text],
            &["check", &text],
            &["run", "e.toml", "--server", &text],
            &["disk", &text, "--duration", "0.1"],
            &["survey", "--volume", &text],
            &["run", "e.toml", "--overwrite", &text, "--limit", &text],
        ] {
            let mut command = lab.command(arguments);
            command.env("HOME", lab.path("")).env("PGCONNECT_TIMEOUT", "1");
            let ended = Ended::from(command.output().unwrap());
            let is_told = ended.code == Some(0) && arguments[0] != "survey";
            assert!(!is_told, "{arguments:?} {ended:?}");
            kept(&lab, &ended, &format!("{arguments:?}"));
        }
    }
}

#[test]
fn variables_with_a_password_are_not_repeated() {
    let lab = Lab::with(
        &scripted(1, "", "")
            .replace("engine = \"null\"", "engine = \"postgres\"\nurl = \"host=127.0.0.1 port=1\""),
    );
    let near = format!("postgres://u:{SECRET}@h");
    for variables in [
        &[("PGPASSWORD", SECRET)][..],
        &[("PGDATABASE", &near)],
        &[("PGHOST", &near)],
        &[("PGUSER", &near)],
        &[("PGSERVICE", &near)],
        &[("PGPASSFILE", &near)],
        &[("PGHOSTADDR", &near)],
    ] {
        for arguments in
            [&["waits", "--seconds", "0.1"][..], &["check", "e.toml"], &["run", "e.toml", "--json"]]
        {
            let mut command = lab.command(arguments);
            command.env("HOME", lab.path("")).envs(variables.iter().copied());
            let ended = Ended::from(command.output().unwrap());
            kept(&lab, &ended, &format!("{arguments:?} {variables:?}"));
        }
    }
}

/// A string of TOML, with escapes for letters that names of secrets are made of.
fn toml(text: &str, escaped: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t");
    let escaped = if escaped { text.replace('w', "\\u0077").replace(':', "\\u003a") } else { text };
    format!("\"{escaped}\"")
}

#[test]
fn a_setting_with_a_password_is_refused_and_not_repeated() {
    let lab = Lab::new();
    for text in connection_strings() {
        for escaped in [false, true] {
            let value = toml(&text, escaped);
            for target in [
                format!("url = {value}"),
                format!("url = \"\"\nsettings.primary_conninfo = {value}"),
                format!("url = {value}\ncolour = 1"),
            ] {
                let file = scripted(1, "", "")
                    .replace("engine = \"null\"", &format!("engine = \"postgres\"\n{target}"));
                lab.write(
                    "e.toml",
                    &file.replace("\"target.data_files\" = [1, 2]", "\"target.data_files\" = [1]"),
                );
                for arguments in
                    [&["check", "e.toml"][..], &["check", "e.toml", "--json"], &["run", "e.toml"]]
                {
                    let ended = lab.steelbench(arguments);
                    kept(&lab, &ended, &format!("{arguments:?} {target}"));
                }
            }
        }
    }
    for text in [format!("postgres://u:{SECRET}@h"), format!("host=h password={SECRET}")] {
        let file = scripted(1, "", "")
            .replace("engine = \"null\"", &format!("engine = \"postgres\"\nurl = \"{text}\""));
        lab.write("e.toml", &file);
        lab.steelbench(&["run", "e.toml"]).expect(2).says("use PGPASSWORD or ~/.pgpass");
    }
    assert!(!lab.path("results").exists());
}

#[test]
fn what_hooks_and_comments_hold_is_neither_recorded_nor_shown() {
    let near = format!("postgres://u:{SECRET}@h/d");
    let hooks = format!(
        "# psql {near}\n[hooks]\nbefore_run = 'echo {near}; PGPASSWORD={SECRET} sh hook.sh'\n\
         before_trial = \"echo '{{\\\"pass\\u0077ord\\\": \\\"{SECRET}\\\"}}'; sh hook.sh --password {SECRET}\"\n\
         after_trial = 'echo password={SECRET}; test $STEELBENCH_BLOCK = 1'\n\
         [[volume]]\nname = \"v\"\npath = \"v\"\nprepare = 'mkdir -p v; echo u:{SECRET}@h'\n"
    );
    let file = scripted(2, "volume = \"v\"", &hooks);
    let lab = Lab::with(&file);
    lab.write(
        "hook.sh",
        &format!("export MYSQL_PWD='{SECRET}'\nenv | grep PWD\necho \"ALTER ROLE a PASSWORD '{SECRET}'\"\n"),
    );
    // Trials of the second block fail with what the hook has printed.
    for arguments in [
        &["check", "e.toml"][..],
        &["check", "e.toml", "--json"],
        &["run", "e.toml"],
        &["run", "e.toml", "--fresh", "--json"],
        &["run", "e.toml"],
        &["show", "t"],
        &["show", "t", "--json"],
        &["show", "t", "--md"],
        &["report", "t"],
        &["history", "t"],
        &["export", "t", "--format", "json"],
        &["export", "t", "--format", "csv"],
    ] {
        let ended = lab.steelbench(arguments);
        assert!(ended.code.is_some_and(|code| code < 2), "{arguments:?} {ended:?}");
        kept(&lab, &ended, &format!("{arguments:?}"));
    }
    assert_eq!(lab.rows("t", "SELECT count(*) FROM runs"), ["2"], "the recorded file is the same file");
    assert_eq!(
        lab.rows("t", "SELECT count(*) FROM trials WHERE status = 'failed' AND cause LIKE '%password=***%'"),
        ["4"]
    );
    // A hook around the run that fails ends it with what it has printed.
    lab.write(
        "e.toml",
        &file.replace("; test $STEEL", "; true $STEEL").replace("sh hook.sh'", "sh hook.sh; false'"),
    );
    let ended = lab.run_with(&["--fresh"], 1).says("hook before_run failed");
    kept(&lab, &ended, "before_run");
}

#[test]
fn the_title_of_the_process_does_not_show_a_password() {
    // A server that accepts and says nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let lab = Lab::new();
    for url in [
        format!("postgres://u:{SECRET}@127.0.0.1:{port}/d"),
        format!("host=127.0.0.1 port={port} password='{SECRET}' user=u"),
    ] {
        let child = lab.start_with(&["waits", "--seconds", "0.1", &url]);
        let title = || std::fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap_or_default();
        wait_until("the title is changed", || title().contains("****"));
        let title = title();
        assert!(!title.contains("SECRET") && title.contains(&port.to_string()), "{title}");
        common::signal(&child, libc::SIGKILL);
        end(child);
    }
}

//! The files that commands write, and those that they leave alone.

use crate::common::{Exit, Lab, end, scripted};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::Command;

const PRECIOUS: &str = "salaries";

/// A finished run, surrounded by files that Steelbench did not write.
fn recorded() -> Lab {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    lab.write("precious", PRECIOUS);
    lab
}

/// All files below a folder with their contents; links are not followed.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(contents(&path));
            found.insert(path.display().to_string(), Vec::new());
        } else if kind.is_file() {
            found.insert(path.display().to_string(), std::fs::read(&path).unwrap());
        } else {
            let target = std::fs::read_link(&path).unwrap_or_default();
            found.insert(path.display().to_string(), target.to_string_lossy().into_owned().into());
        }
    }
    found
}

#[test]
fn no_name_in_a_results_file_decides_where_something_is_written() {
    for (name, outside) in [
        ("../victim/salaries", "../victim/salaries"),
        ("/abs", "abs"),
        ("..", ".."),
        ("a/b", "a"),
        ("a\0b", "a"),
    ] {
        let lab = Lab::new();
        for folder in ["desk/results", "victim"] {
            std::fs::create_dir_all(lab.path(folder)).unwrap();
        }
        let run = Lab::with(&scripted(1, "", ""));
        run.run(0);
        std::fs::copy(run.path("results/t.steelbench"), lab.path("desk/results/mine.steelbench"))
            .unwrap();
        let absolute = lab.path("abs").display().to_string();
        let name = if name == "/abs" { &absolute } else { name };
        let file = rusqlite::Connection::open(lab.path("desk/results/mine.steelbench")).unwrap();
        file.execute("UPDATE runs SET name = ?1", [name]).unwrap();
        drop(file);
        for victim in ["victim/salaries.xlsx", "abs.xlsx"] {
            lab.write(victim, PRECIOUS);
        }
        let before = contents(&lab.path(""));
        for arguments in [
            &["export", "--format", "xlsx"][..],
            &["export", "--format", "csv"],
            &["export", "--format", "parquet"],
            &["export", "--format", "json"],
            &["report"],
            &["show"],
            &["history"],
        ] {
            let mut command = lab.command(arguments);
            let ended =
                Exit::from(command.current_dir(lab.path("desk")).output().unwrap()).expect(0);
            assert!(!ended.stdout.contains("victim/salaries.xlsx"), "{ended:?}");
        }
        let mut after = contents(&lab.path(""));
        after.retain(|path, content| before.get(path) != Some(content));
        let desk = lab.path("desk").display().to_string();
        let mut new: Vec<&str> =
            after.keys().map(|path| path.strip_prefix(&desk).unwrap_or(path)).collect();
        new.retain(|path| !path.starts_with("/mine-export/"));
        assert_eq!(new, ["/mine-export", "/mine.xlsx", "/results/mine.html"], "{name} {outside}");
    }
}

/// Exports and reports with this name for their output; they fail and change nothing.
#[track_caller]
fn refused(lab: &Lab, arguments: &[&str], words: &str) {
    let before = contents(&lab.path(""));
    lab.steelbench(arguments).expect(1).says(words);
    let mut after = contents(&lab.path(""));
    after.retain(|path, content| before.get(path) != Some(content));
    assert_eq!(after.keys().collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn a_file_that_another_program_wrote_is_not_overwritten() {
    let lab = recorded();
    let foreign = "was not written by Steelbench";
    for (file, arguments) in [
        ("t.xlsx", &["export", "t", "--format", "xlsx"][..]),
        ("results/t.html", &["report", "t"]),
        ("mine.xlsx", &["export", "t", "--format", "xlsx", "--output", "mine.xlsx"]),
        ("mine.json", &["export", "t", "--format", "json", "--output", "mine.json"]),
        ("mine.html", &["report", "t", "--output", "mine.html"]),
        ("inventory", &["survey", "--output", "inventory"]),
    ] {
        for content in [
            PRECIOUS,
            "<!DOCTYPE html>\n<title>my notes on Steelbench</title>",
            "{\"a\":1}",
            "PK\u{3}\u{4}",
        ] {
            lab.write(file, content);
            refused(&lab, arguments, foreign);
        }
        // What we wrote ourselves is replaced, and an empty file has nothing to lose.
        lab.write(file, "");
        lab.steelbench(arguments).expect(0);
        lab.steelbench(arguments).expect(0);
    }
    for format in ["csv", "parquet"] {
        std::fs::create_dir(lab.path("sheets")).unwrap();
        lab.write(&format!("sheets/trials.{format}"), PRECIOUS);
        refused(&lab, &["export", "t", "--format", format, "--output", "sheets"], foreign);
        std::fs::remove_dir_all(lab.path("sheets")).unwrap();
        for _ in 0..2 {
            lab.steelbench(&["export", "t", "--format", format, "--output", "sheets"]).expect(0);
        }
        std::fs::remove_dir_all(lab.path("sheets")).unwrap();
    }
    // The report beside the results is written after each run: the run itself is recorded.
    lab.write("results/t.html", PRECIOUS);
    lab.run_with(&["--fresh"], 0).says(foreign);
    assert_eq!((lab.read("results/t.html").as_str(), lab.trials("t")), (PRECIOUS, 4));
    // A results file whose name ends in .html is not a report.
    lab.run_with(&["--results", "mine2.html"], 0).says(foreign);
    lab.steelbench(&["show", "mine2.html", "--full"]).expect(0).shows("2 trials done");
}

#[test]
fn no_link_is_followed_to_a_file_that_would_be_overwritten() {
    let lab = recorded();
    let precious = lab.path("precious");
    for (link, arguments) in [
        ("t.xlsx", &["export", "t", "--format", "xlsx"][..]),
        ("results/t.html", &["report", "t"]),
        ("mine.json", &["export", "t", "--format", "json", "--output", "mine.json"]),
    ] {
        let _ = std::fs::remove_file(lab.path(link));
        symlink(&precious, lab.path(link)).unwrap();
        refused(&lab, arguments, "links are not followed");
        std::fs::remove_file(lab.path(link)).unwrap();
        // Nor is one that waits where the file is written before it is complete.
        let partial = lab.path(&format!("{link}.partial"));
        symlink(&precious, &partial).unwrap();
        lab.steelbench(arguments).expect(0);
        assert_eq!(lab.read("precious"), PRECIOUS, "{link}");
        assert_eq!(std::fs::read_link(&partial).unwrap(), precious);
    }
    // /dev/stdout is a link to a pipe.
    let ended =
        lab.steelbench(&["export", "t", "--format", "json", "--output", "/dev/stdout"]).expect(0);
    assert!(ended.stdout.starts_with("{\"schema\":"), "{ended:?}");
}

/// Steelbench writes to a pipe only while another process reads from it.
#[test]
fn nobody_is_waited_for_at_the_other_end_of_a_pipe() {
    let lab = recorded();
    let path = lab.path("pipe");
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let export = ["export", "t", "--format", "json", "--output", "pipe"];
    let time = ["time", "-r", "1", "-N", "true", "--export-json", "pipe"];
    for arguments in [&export[..], &time] {
        end(lab.start_with(arguments))
            .expect(1)
            .says("cannot write pipe: no process has this pipe open for reading");
    }
    let mut reader =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
    lab.steelbench(&time).expect(0);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(text.contains("\"results\""), "{text}");
}

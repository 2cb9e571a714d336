//! Loads that are killed or interrupted, or that do not fit on their disk; a libduckdb that is
//! none; columns that are not there.

use crate::common::{Exit, Lab, SmallDisk, end, signal, skipped, wait_until};
use crate::servers;
use crate::servers::installed::duckdb_libraries;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn file(target: &str, workload: &str, more: &str) -> String {
    format!(
        "[experiment]\nname = \
         \"t\"\n[target]\n{target}\n[workload]\n{workload}\n[repeats]\nblocks = 2\n{more}"
    )
}

fn scans(rows: &str, length: &str) -> String {
    format!("probe = \"scan\"\nrows = \"{rows}\"\n{length}")
}

/// A target line for each installed DuckDB.
fn duckdb() -> Vec<String> {
    let of = |path: String| format!("engine = \"duckdb\"\nlibrary = \"{path}\"");
    let libraries = duckdb_libraries().into_iter();
    libraries.map(|path| path.map_or("engine = \"duckdb\"".into(), of)).collect()
}

/// Bytes of all files below a folder.
fn bytes_below(folder: &Path) -> u64 {
    let entries =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let size = |path: std::path::PathBuf| match path.symlink_metadata() {
        Ok(found) if found.is_dir() => bytes_below(&path),
        found => found.map_or(0, |found| found.len()),
    };
    entries.map(size).sum()
}

/// `run e.toml` with a cache of its own.
fn command(lab: &Lab, arguments: &[&str]) -> Command {
    let mut command = lab.command(&[&["run", "e.toml"], arguments].concat());
    command.env("XDG_CACHE_HOME", lab.path("cache"));
    command
}

fn run(lab: &Lab, arguments: &[&str], code: i32) -> Exit {
    Exit::from(command(lab, arguments).output().unwrap()).expect(code)
}

#[test]
fn a_load_into_duckdb_that_is_killed_or_interrupted_leaves_nothing_and_is_done_again() {
    for target in duckdb() {
        for (sent, code) in [(libc::SIGKILL, None), (libc::SIGINT, Some(130))] {
            let lab = Lab::with(&file(&target, &scans("300k", "scans = 1"), ""));
            let child = command(&lab, &[]).stderr(Stdio::piped()).spawn().unwrap();
            // In DuckDB's files, or in those of a cache.
            wait_until("rows are being loaded", || bytes_below(&lab.path("")) > 2 << 20);
            signal(&child, sent);
            assert_eq!(end(child).code, code, "{target}");
            assert_eq!(lab.trials("t"), 0);
            if sent == libc::SIGINT {
                assert_eq!(lab.work_folders(), Vec::<std::path::PathBuf>::new());
            }
            run(&lab, &[], 0);
            assert_eq!(lab.rows("t", "SELECT status, count(*) FROM trials"), ["done|2"]);
            servers::nothing_is_left(&lab);
        }
    }
}

#[test]
fn a_scan_of_duckdb_is_interrupted_in_its_middle() {
    for target in duckdb() {
        let lab = Lab::with(&file(&target, &scans("1000", "duration = \"600 s\""), ""));
        let mut child = command(&lab, &["--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let measures = |line: &std::io::Result<String>| {
            line.as_ref().is_ok_and(|line| line.contains("\"progress\""))
        };
        assert!(lines.into_iter().any(|line| measures(&line)), "it never came to measure");
        signal(&child, libc::SIGINT);
        end(child).expect(130);
        assert_eq!(lab.trials("t"), 0);
        servers::nothing_is_left(&lab);
        // A single endless statement is cancelled too.
        let endless = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b;\n";
        let workload = "probe = \"script\"\nscript = \"s.sql\"\nconnections = 1\ntransactions = 1";
        let lab = Lab::with(&file(&target, workload, "[limits]\ntrial_time = \"600 s\"\n"));
        lab.write("s.sql", endless);
        let child = command(&lab, &[]).stderr(Stdio::piped()).spawn().unwrap();
        let busy = || {
            let stat =
                std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
            let times = stat
                .rsplit_once(") ")
                .map(|(_, rest)| rest.split(' ').skip(11).take(2).collect::<Vec<_>>());
            // Ticks of user and system time: more than half a second of work.
            times.is_some_and(|times| {
                times.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() > 150
            })
        };
        wait_until("it works on the statement", busy);
        signal(&child, libc::SIGINT);
        end(child).expect(130);
        servers::nothing_is_left(&lab);
    }
}

/// A hook fills the disk in the second block, as long as there is a file `fill`.
fn filling(kilobytes_left: u64) -> String {
    format!(
        "[[volume]]\nname = \"small\"\npath = \"small\"\n[hooks]\nbefore_trial = 'if test -e fill \
         && test $STEELBENCH_BLOCK = 2; then cat /dev/zero > small/filler; truncate -s \
         -{kilobytes_left}K small/filler; fi; true'\n"
    )
}

#[test]
fn a_disk_that_is_full_in_the_middle_of_a_load_is_named_and_the_run_goes_on_later() {
    let servers = servers::installed::installations().into_iter().map(|found| {
        let version = found.version.major;
        (
            format!(
                "engine = \"postgres\"\nversion = {version}\nsettings = {{ fsync = false, \
                 max_wal_size = \"64MB\" }}\nreset = \"checkpoint\""
            ),
            "size=600m",
        )
    });
    let embedded = [("engine = \"sqlite\"".to_owned(), "size=100m")];
    for (target, size) in embedded
        .into_iter()
        .chain(duckdb().into_iter().map(|library| (library, "size=100m")))
        .chain(servers)
    {
        // 9 MB in rows of 300 bytes, on a volume with room for 2 MB. The second block reloads,
        // because updates change the rows.
        let workload =
            "probe = \"update\"\nrows = \"30k\"\nrows_per_page = 20\nupdates = 10\nconnections = 1";
        let lab =
            servers::lab(&file(&format!("{target}\nvolume = \"small\""), workload, &filling(2000)));
        lab.write("fill", "");
        let folder = lab.path("small");
        std::fs::create_dir(&folder).unwrap();
        let Some(disk) = SmallDisk::mount(folder, size) else { return };
        run(&lab, &[], 1);
        assert_eq!(
            lab.rows("t", "SELECT block, status FROM trials ORDER BY id"),
            ["1|done", "2|failed"],
            "{target}"
        );
        let cause = servers::causes(&lab).remove(0);
        assert!(
            ["no space left", "disk is full", "full"]
                .iter()
                .any(|part| cause.to_lowercase().contains(part)),
            "{target}: {cause}"
        );
        std::fs::remove_file(lab.path("fill")).unwrap();
        std::fs::remove_file(lab.path("small/filler")).unwrap();
        run(&lab, &["--retry-failed"], 0);
        assert_eq!(
            lab.rows("t", "SELECT count(*) FROM trials WHERE status = 'done'"),
            ["2"],
            "{target}"
        );
        servers::nothing_is_left(&lab);
        assert_eq!(std::fs::read_dir(lab.path("small")).unwrap().count(), 0, "{target}");
        drop(disk);
    }
}

#[test]
fn a_scale_that_does_not_fit_the_disk_is_told_before_anything_runs() {
    for engine in ["engine = \"sqlite\"".to_owned()].into_iter().chain(duckdb()) {
        let lab = Lab::with(&file(
            &engine,
            "probe = \"scan\"\ndata = \"lineitem\"\nscale = 100000\nscans = 1",
            "",
        ));
        lab.steelbench(&["check", "e.toml"])
            .expect(0)
            .shows("not ready yet: ")
            .shows("a trial needs ");
        run(&lab, &[], 1).says("a trial needs ").says("(estimate from its rows alone)");
        assert_eq!((lab.trials("t"), lab.work_folders().len()), (0, 0));
    }
}

#[test]
fn a_column_that_is_not_there_is_named_with_those_that_are() {
    for (workload, place) in [
        ("aggregates = \"sum(c99)\"", "e.toml:9:14"),
        ("aggregates = \"sum(c2x)\"", "did you mean `c2`?"),
        ("filter = \"nope < 3\"", "e.toml:9:10"),
        ("group_by = \"nope\"", "e.toml:9:12"),
    ] {
        let lab = Lab::with(&file(
            "engine = \"duckdb\"",
            &format!("{}\n{workload}", scans("10", "scans = 1")),
            "",
        ));
        for command in ["check", "run"] {
            lab.steelbench(&[command, "e.toml"])
                .expect(2)
                .says("unknown column of table synthetic")
                .says(place);
        }
        assert!(!lab.path("results").exists());
    }
}

/// `check` says that the run cannot begin, and `run` does not begin it.
#[track_caller]
fn is_no_library(lab: &Lab, variable: Option<&str>, words: &[&str]) {
    for (arguments, code) in [(["check", "e.toml"], 0), (["run", "e.toml"], 1)] {
        let mut command = lab.command(&arguments);
        command.env_remove("STEELBENCH_DUCKDB_LIB").env_remove("LD_LIBRARY_PATH");
        command.envs(variable.map(|name| ("STEELBENCH_DUCKDB_LIB", name)));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let ended = end(child.unwrap());
        let text = format!("{}{}", ended.stdout, ended.stderr);
        // What is wrong with a path in the file is an error of the file.
        assert!(ended.code == Some(code) || ended.code == Some(2), "{ended:#?}");
        for word in words.iter().chain(&["install libduckdb 1.2 or later", "STEELBENCH_DUCKDB_LIB"])
        {
            assert!(text.contains(word), "{word:?} is not in {ended:#?}");
        }
    }
    assert_eq!(lab.work_folders().len(), 0);
}

#[test]
fn without_libduckdb_the_names_that_were_tried_are_told() {
    let workload = scans("10", "scans = 1");
    let lab = Lab::with(&file("engine = \"duckdb\"", &workload, ""));
    is_no_library(&lab, Some("/nowhere/libduckdb.so"), &["/nowhere/libduckdb.so"]);
    is_no_library(
        &lab,
        Some("libno-such-duckdb.so"),
        &["libno-such-duckdb.so", "cannot open shared object file"],
    );
    // In a place that the loader does not know.
    if lab
        .command(&["check", "e.toml"])
        .env_remove("STEELBENCH_DUCKDB_LIB")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("not ready"))
    {
        is_no_library(
            &lab,
            None,
            &["target.library and STEELBENCH_DUCKDB_LIB are not set", "libduckdb.so"],
        );
    }
    let lab =
        Lab::with(&file("engine = \"duckdb\"\nlibrary = \"/nowhere/libduckdb.so\"", &workload, ""));
    is_no_library(&lab, None, &["target.library", "file /nowhere/libduckdb.so does not exist"]);
}

#[test]
fn a_library_that_is_none_of_duckdbs_or_too_old_or_cut_off_is_named() {
    let lab = Lab::with("");
    lab.write(
        "text.so",
        "no library, but a text that is longer than the header of one would be, all in all\n",
    );
    assert!(Command::new("mkfifo").arg(lab.path("pipe.so")).status().unwrap().success());
    let mut places = vec![
        ("text.so", "invalid ELF header"),
        ("pipe.so", "not a regular file"),
        ("empty.so", ""),
    ];
    lab.write("empty.so", "");
    std::fs::create_dir(lab.path("folder.so")).unwrap();
    places.push(("folder.so", "not a regular file"));
    for (name, lines, text) in [
        ("other.so", "int nothing(void) { return 0; }\n", "is not DuckDB"),
        (
            "old.so",
            "const char *duckdb_library_version(void) { return \"v1.1.3\"; }\n",
            "is DuckDB 1.1.3; 1.2 or later is required",
        ),
    ] {
        lab.write("x.c", lines);
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-o", name, "x.c"])
            .current_dir(lab.path(""))
            .status();
        if made.is_ok_and(|status| status.success()) {
            places.push((name, text));
        } else {
            skipped("no C compiler");
        }
    }
    if let Some(Some(library)) = duckdb_libraries().first() {
        let whole = std::fs::read(library).unwrap();
        for (name, share) in [("cut.so", 2), ("beginning.so", 100_000)] {
            std::fs::write(lab.path(name), &whole[..whole.len() / share]).unwrap();
            places.push((name, " is truncated: "));
        }
    }
    let workload = scans("10", "scans = 1");
    for (name, message) in places {
        let path = lab.path(name);
        let path = path.to_str().unwrap();
        lab.write("e.toml", &file("engine = \"duckdb\"", &workload, ""));
        is_no_library(&lab, Some(path), &[path, message]);
        lab.write(
            "e.toml",
            &file(&format!("engine = \"duckdb\"\nlibrary = \"{path}\""), &workload, ""),
        );
        is_no_library(&lab, None, &[path, message]);
    }
}

//! `steelbench disk` on directories and files.

use crate::common::{Exit, Lab};
use std::path::Path;

/// A lab with these directories.
fn lab(directories: &[&str]) -> Lab {
    let lab = Lab::new();
    for directory in directories {
        std::fs::create_dir(lab.path(directory)).unwrap();
    }
    lab
}

/// `disk`, quickly: on small files, once, without a warm-up.
fn quick(lab: &Lab, arguments: &[&str]) -> Exit {
    let short = ["--duration", "300ms", "--warmup", "0", "--blocks", "1"];
    lab.steelbench(&[&["disk", "--full"], arguments, &short].concat())
}

fn is_empty(lab: &Lab, directory: &str) -> bool {
    std::fs::read_dir(lab.path(directory)).unwrap().next().is_none()
}

const RESPONSES: &str = "SELECT DISTINCT name FROM responses ORDER BY name";

#[test]
fn lists_are_a_grid() {
    let lab = lab(&["d"]);
    let lists = [
        "d",
        "--size",
        "4m",
        "--pattern",
        "randread,write",
        "--block",
        "4k,64k",
        "--threads",
        "1,2",
        "--depth",
        "1,4",
    ];
    quick(&lab, &lists).expect(0).shows("16 trials done");
    let levels = "SELECT name || '=' || group_concat(label) FROM (SELECT f.name, l.label FROM \
                  factors f JOIN levels l ON l.factor = f.id ORDER BY f.name, l.position) GROUP \
                  BY name ORDER BY name";
    assert_eq!(
        lab.rows("disk", levels),
        [
            "workload.block_size=4 KiB,64 KiB",
            "workload.pattern=random-read,sequential-write",
            "workload.queue_depth=1,4",
            "workload.threads=1,2"
        ]
    );
    assert!(is_empty(&lab, "d"));
    // Another use of the command is another run of the same experiment.
    quick(&lab, &["d", "--size", "4m"]).expect(0).shows("Run 2");
    assert_eq!(lab.trials("disk"), 17);
}

#[test]
fn several_paths_are_loaded_together_or_compared() {
    let lab = lab(&["one", "two"]);
    quick(&lab, &["one", "two", "--size", "4m"]).expect(0);
    let responses = lab.rows("disk", RESPONSES);
    for name in ["iops", "one.iops", "two.iops", "two.latency_p99.9"] {
        assert!(responses.contains(&name.to_owned()), "{name}: {responses:?}");
    }
    // All together are the sum of both.
    let sum = "SELECT abs(sum(CASE name WHEN 'iops' THEN -value ELSE value END)) < 0.001 FROM \
               responses WHERE name LIKE '%iops'";
    assert_eq!(lab.rows("disk", sum), ["1"]);
    quick(&lab, &["one", "two", "--compare", "--size", "4m", "--name", "versus"])
        .expect(0)
        .shows("two");
    assert_eq!(lab.trials("versus"), 2);
    assert!(!lab.rows("versus", RESPONSES).contains(&"one.iops".to_owned()));
    assert!(is_empty(&lab, "one") && is_empty(&lab, "two"));
}

#[test]
fn a_mix_can_have_its_log_elsewhere() {
    let lab = lab(&["data", "other"]);
    quick(&lab, &["data", "--mix", "oltp", "--log-on", "other", "--size", "4m"]).expect(0);
    let responses = lab.rows("disk", RESPONSES);
    for name in ["oltp-data.read_iops", "log.latency_mean", "checkpoint.iops"] {
        assert!(responses.contains(&name.to_owned()), "{name}: {responses:?}");
    }
    let devices = lab.rows("disk", "SELECT DISTINCT volume FROM devices ORDER BY volume");
    // Here both are on one device.
    assert_eq!(devices, ["data, log"]);
}

#[test]
fn the_printed_file_runs_and_is_the_same_experiment() {
    let lab = lab(&["d", "e"]);
    for arguments in [
        &["d", "--size", "4m", "--depth", "1,2"][..],
        &[
            "d",
            "e",
            "--size",
            "4m",
            "--pattern",
            "randrw",
            "--reads",
            "30%",
            "--sync",
            "fsync",
            "--sync-every",
            "8",
        ],
        &[
            "d",
            "--size",
            "4m",
            "--stream",
            "a threads=2",
            "--stream",
            "log block_size=4KiB",
            "--compress",
            "50%",
        ],
        &[
            "d",
            "--size",
            "4m",
            "--rate",
            "100/s",
            "--buffered",
            "--working-set",
            "1m",
            "--align",
            "16k",
            "--seed",
            "7",
        ],
    ] {
        let text = quick(&lab, &[arguments, &["--print"]].concat()).expect(0).stdout;
        lab.write("e.toml", &text);
        lab.steelbench(&["check", "e.toml"]).expect(0);
        quick(&lab, arguments).expect(0);
        lab.run_with(&["--fresh"], 0);
        let keys = "SELECT group_concat(key) FROM (SELECT run, key FROM configurations ORDER BY \
                    run DESC, position) GROUP BY run ORDER BY run DESC LIMIT 2";
        let keys = lab.rows("disk", keys);
        assert_eq!(keys[0], keys[1], "{text}");
    }
}

/// fio's names of options, where they mean the same.
#[test]
fn names_of_fio_are_ours() {
    let lab = lab(&[]);
    std::fs::create_dir_all(lab.path("d")).unwrap();
    let printed = |options: &str| {
        let arguments: Vec<&str> =
            ["disk", "d", "--print"].into_iter().chain(options.split(' ')).collect();
        lab.steelbench(&arguments).expect(0).stdout
    };
    for (fio, ours) in [
        ("--rw=randread,randwrite", "--pattern random-read,random-write"),
        ("--bs=4k,1m", "--block 4k,1m"),
        ("--iodepth=1,64", "--depth 1,64"),
        ("--numjobs=4", "--threads 4"),
        ("--size=16m", "--size 16m"),
        ("--runtime=3", "--duration 3"),
        ("--direct=0", "--buffered"),
        ("--direct=1 --bs=8k", "--block 8k"),
        ("--ioengine=io_uring", "--io-engine io_uring"),
    ] {
        assert_eq!(printed(fio), printed(ours), "{fio}");
    }
    assert_ne!(printed("--direct=0"), printed("--direct=1"));
    lab.steelbench(&["disk", "d", "--direct=2", "--print"]).expect(2);
}

#[test]
fn an_existing_file_is_read_but_not_written() {
    let lab = lab(&[]);
    let content: Vec<u8> = (0..4 << 20).map(|i| (i / 512) as u8).collect();
    std::fs::write(lab.path("mine"), &content).unwrap();
    let unchanged = || std::fs::read(lab.path("mine")).unwrap() == content;
    quick(&lab, &["mine"]).expect(0);
    assert!(unchanged());
    let refused = "allow it with --overwrite mine";
    quick(&lab, &["mine", "--pattern", "randwrite"]).expect(2).says(refused);
    quick(&lab, &["mine", "--pattern", "read,rw"]).expect(2).says(refused);
    // Which streams write is known when a trial begins.
    quick(&lab, &["mine", "--mix", "oltp-data"]).expect(1).says(refused);
    quick(&lab, &["mine", "--stream", "a pattern=random-write"]).expect(1).says(refused);
    assert!(unchanged());
    for allowed in [&["mine", "--overwrite"][..], &["mine", "--overwrite", "./mine"]] {
        std::fs::write(lab.path("mine"), &content).unwrap();
        quick(&lab, &[allowed, &["--pattern", "write"]].concat()).expect(0);
        assert!(!unchanged());
        assert_eq!(lab.path("mine").metadata().unwrap().len(), content.len() as u64);
    }
    // The same of a file that is written.
    std::fs::write(lab.path("mine"), &content).unwrap();
    lab.write(
        "e.toml",
        &quick(&lab, &["mine", "--overwrite", "--pattern", "write", "--print"]).expect(0).stdout,
    );
    lab.run_with(&["--fresh"], 1).says("--overwrite mine");
    assert!(unchanged());
    lab.run_with(&["--fresh", "--overwrite", "mine"], 0);
    assert!(!unchanged());
}

#[test]
fn what_cannot_be_meant_is_code_2() {
    let lab = lab(&["d", "e"]);
    lab.write("file", "x");
    for (arguments, words) in [
        (&[][..], "PATH"),
        (&["missing"], "missing: No such file or directory"),
        (&["/dev/null"], "not a directory, file or block device"),
        (&["d", "file"], "cannot be mixed"),
        (&["d", "d/../d"], "is given twice"),
        (&["d", "--pattern", "zigzag"], "random-read"),
        (&["d", "--block", "8x"], "`8x` is not allowed"),
        (&["d", "--block", "100"], "512"),
        (&["d", "--block", "8k,8k"], "block_size"),
        (&["d", "--depth", "0"], "queue_depth"),
        (&["d", "--threads", "many"], "--threads"),
        (&["d", "--mix", "oltq"], "did you mean `oltp`?"),
        (&["d", "--stream", "a depth=4"], "queue_depth"),
        (&["d", "--sync", "often"], "fdatasync"),
        (&["d", "--mix", "oltp", "--stream", "a"], "--stream"),
        (&["file", "--size", "1g"], "no PATH is a directory"),
        (&["d", "e", "--files", "2"], "--files"),
        (&["d", "--destroy", "/dev/sda"], "not one of the paths"),
        (&["d", "--find-max", "--depth", "4"], "--depth"),
        (&["d", "--fio", "x.fio"], "--fio"),
        (&["d", "--name", "No Name"], "No Name"),
    ] {
        lab.steelbench(&[&["disk"], arguments].concat()).expect(2).says(words);
    }
    assert!(!Path::new(&lab.path("results")).exists(), "something was run");
    assert!(is_empty(&lab, "d") && is_empty(&lab, "e"));
}

#[test]
fn what_fails_while_it_runs_is_code_1() {
    let lab = lab(&[]);
    lab.write("small", "less than a block");
    quick(&lab, &["small"]).expect(1).says("small");
}

#[test]
fn the_maximum_is_searched_in_two_recorded_runs() {
    let lab = lab(&["d"]);
    let ended = lab.steelbench(&[
        "disk",
        "d",
        "--size",
        "16m",
        "--find-max",
        "--full",
        "--duration",
        "100ms",
        "--warmup",
        "0",
        "--blocks",
        "2",
        "--name",
        "top",
    ]);
    let ended = ended.expect(0).shows("Knee").says("Coarse: knee near");
    assert!(lab.trials("top-coarse") >= 5, "{ended:?}");
    // Two of each, and at least four levels around the knee.
    assert!(lab.trials("top") >= 8, "{ended:?}");
}

#[test]
fn a_volume_is_inspected_without_running_anything() {
    let lab = lab(&["d"]);
    lab.steelbench(&["disk", "d", "--inspect"]).expect(0).shows("File system");
    let facts = lab.json(&["disk", "d", "--inspect"]);
    assert_eq!(facts[0]["kind"], "volume");
    assert_eq!(facts[0]["path"], "d");
    lab.steelbench(&["disk", "missing", "--inspect"]).expect(2).says("missing");
    assert!(!lab.path("results").exists());
}

#[test]
fn json_has_the_events_and_the_summary() {
    let lab = lab(&["d"]);
    let ended = quick(&lab, &["d", "--size", "4m", "--json"]).expect(0);
    let events: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "run_started");
    assert_eq!(events.last().unwrap()["summary"]["overview"]["done"], 1);
}

#[test]
fn the_ready_experiments_run() {
    let names = ["grid", "oltp", "partition-offset", "log", "scan", "backup", "million"];
    for name in names.map(|name| format!("disk-{name}")) {
        let lab = lab(&["results"]);
        let text = testing::ready::text(&name);
        // Smaller, shorter, once.
        let scaled = |line: &str| match line.split(" = ").next() {
            Some("file_size") => "file_size = \"8 MiB\"".to_owned(),
            Some("log_size") => "log_size = \"8 MiB\"".to_owned(),
            Some("duration") => "duration = \"50 ms\"".to_owned(),
            Some("warmup") => "warmup = 0".to_owned(),
            Some("blocks") => "blocks = 1".to_owned(),
            _ => line.to_owned(),
        };
        let text = text.lines().map(scaled).collect::<Vec<_>>().join("\n");
        lab.write("e.toml", &text);
        lab.run(0);
        assert!(lab.trials(&name) >= 2, "{name}");
    }
}

/// Permission covers the target that the link had when the run started.
#[test]
fn a_link_that_leads_elsewhere_in_mid_run_permits_nothing_there() {
    for fails in ["", "; test $STEELBENCH_BLOCK != 2"] {
        let lab = Lab::with(&format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"files\"\npaths = \
             [\"link\"]\n[workload]\nprobe = \"disk\"\npattern = \"random-write\"\nduration = \
             \"100 ms\"\nwarmup = \"0 s\"\ndirect = false\n[repeats]\nblocks = \
             3\n[hooks]\nbefore_trial = 'if test $STEELBENCH_BLOCK = 2; then ln -sfn victim link; \
             fi'\nafter_trial = 'true{fails}'\n"
        ));
        for file in ["mine", "victim"] {
            std::fs::write(lab.path(file), vec![7; 1 << 20]).unwrap();
        }
        std::os::unix::fs::symlink("mine", lab.path("link")).unwrap();
        let ended = lab.run_with(&["--overwrite", "link"], i32::from(!fails.is_empty()));
        assert!(std::fs::read(lab.path("mine")).unwrap() != vec![7; 1 << 20], "{ended:?}");
        assert!(std::fs::read(lab.path("victim")).unwrap() == vec![7; 1 << 20], "{ended:?}");
    }
}

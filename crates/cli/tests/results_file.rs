//! Results files that cannot be used, or not now.

use crate::common::{Lab, SmallDisk, end, scripted, signal, wait_until};
use std::path::Path;
use std::process::Command;

const FILE: &str = "results/t.steelbench";

fn recorded() -> Lab {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    lab
}

#[test]
fn two_runs_on_one_results_file_exclude_each_other() {
    let lab = Lab::with(&scripted(1, "real_delay = \"100 s\"", ""));
    let first = lab.start();
    wait_until("a trial runs", || !lab.work_folders().is_empty());
    lab.run(1).says(&format!("in use by another run (process {})", first.id()));
    // By whatever name or link: it is the file that is claimed, and no file beside it is written
    // to.
    lab.write("precious", "salaries");
    std::os::unix::fs::symlink(lab.path("precious"), lab.path("results/hard.steelbench.lock"))
        .unwrap();
    std::fs::hard_link(lab.path(FILE), lab.path("results/hard.steelbench")).unwrap();
    std::os::unix::fs::symlink(lab.path(FILE), lab.path("link.steelbench")).unwrap();
    for name in ["results/hard.steelbench", "link.steelbench"] {
        lab.run_with(&["--results", name], 1).says("in use by another run");
    }
    assert_eq!(lab.read("precious"), "salaries");
    // Reading needs no claim: there is a run, without trials so far.
    let shown = lab.steelbench(&["show", "t", "--runs"]).expect(0);
    assert!(shown.stdout.starts_with("run 1: t, "), "{shown:?}");
    signal(&first, libc::SIGKILL);
    assert_eq!(end(first).code, None);
    // A killed run leaves no claim.
    lab.write("e.toml", &scripted(1, "", ""));
    lab.run(0).says("left by a killed run");
    assert_eq!(lab.work_folders().len(), 0);
}

/// `run` and `show` both refuse the file with this code and words, and leave it as it is.
#[track_caller]
fn refused(lab: &Lab, code: i32, words: &str) {
    let before = std::fs::read(lab.path(FILE)).unwrap();
    lab.run(code).says(words).says(FILE);
    lab.steelbench(&["show", "t"]).expect(code).says(words);
    assert!(std::fs::read(lab.path(FILE)).unwrap() == before, "the file was changed");
    assert_eq!(lab.work_folders().len(), 0);
}

#[test]
fn a_file_of_another_program_is_refused() {
    let lab = Lab::with(&scripted(1, "", ""));
    std::fs::create_dir(lab.path("results")).unwrap();
    lab.write(
        FILE,
        "a shopping list, longer than a header: milk, bread, and whatever else is needed",
    );
    refused(&lab, 2, "not a Steelbench results file");
    std::fs::remove_file(lab.path(FILE)).unwrap();
    rusqlite::Connection::open(lab.path(FILE))
        .unwrap()
        .execute_batch("CREATE TABLE bookmarks (url TEXT)")
        .unwrap();
    refused(&lab, 2, "not a Steelbench results file");
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let lab = recorded();
    lab.results("t").pragma_update(None, "user_version", 1_000_000).unwrap();
    refused(&lab, 2, "use a newer Steelbench");
}

#[test]
fn a_truncated_file_is_refused() {
    let lab = recorded();
    let bytes = std::fs::read(lab.path(FILE)).unwrap();
    for length in [bytes.len() / 2, bytes.len() - 1, 100] {
        std::fs::write(lab.path(FILE), &bytes[..length]).unwrap();
        refused(&lab, 1, "is damaged");
    }
}

#[test]
fn an_empty_file_has_nothing_to_show_and_can_be_run_into() {
    let lab = Lab::with(&scripted(1, "", ""));
    std::fs::create_dir(lab.path("results")).unwrap();
    lab.write(FILE, "");
    lab.steelbench(&["show", "t"]).expect(2).says("is empty");
    lab.run(0);
    assert_eq!(lab.trials("t"), 2);
}

#[test]
fn results_that_are_not_there_are_named() {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.steelbench(&["show"]).expect(2).says("no results file in results/");
    lab.steelbench(&["show", "t"]).expect(2).says("results/t.steelbench");
    lab.steelbench(&["export", "t", "--format", "csv"]).expect(2).says("results/t.steelbench");
    lab.steelbench(&["run", "none.toml"]).expect(2).says("none.toml");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.write("results", "a file where the folder should be");
    lab.run(1).says("results: cannot create it");
}

/// Reading another results file of the folder, or listing it, must not run SQL planted in it.
#[test]
fn a_results_file_that_never_ends_hangs_neither_itself_nor_others() {
    let lab = recorded();
    std::fs::copy(lab.path(FILE), lab.path("results/evil.steelbench")).unwrap();
    let endless = "ALTER TABLE runs RENAME TO theirs;
        CREATE VIEW runs AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT i AS id, '1' AS seed, 'x' AS name, NULL AS question, '' AS source, NULL AS \
                   response, NULL AS baseline,
               1 AS started_ms, '' AS steelbench FROM n";
    lab.results("evil").execute_batch(endless).unwrap();
    for arguments in
        [&["show", "evil"][..], &["history", "evil"], &["export", "evil", "--format", "json"]]
    {
        end(lab.start_with(arguments)).expect(2).says("differs from Steelbench's schema");
    }
    end(lab.start_with(&["show", "t", "--full"])).expect(0).shows("2 trials done");
    lab.run_with(&["--results", "results/evil.steelbench"], 2)
        .says("differs from Steelbench's schema");
}

#[test]
fn a_pipe_in_place_of_a_file_is_refused_at_once() {
    let lab = Lab::with(&scripted(1, "", ""));
    std::fs::create_dir(lab.path("results")).unwrap();
    assert!(Command::new("mkfifo").arg(lab.path(FILE)).status().unwrap().success());
    end(lab.start()).expect(2).says("not a regular file");
    lab.steelbench(&["show", "t"]).expect(2).says("not a regular file");
    // The newest of the others is shown all the same.
    lab.run_with(&["--results", "results/old.steelbench"], 0);
    std::fs::rename(lab.path(FILE), lab.path("results/new.steelbench")).unwrap();
    Command::new("touch").arg(lab.path("results/new.steelbench")).status().unwrap();
    lab.steelbench(&["show", "--full"]).expect(0).shows("2 trials done");
    std::fs::rename(lab.path("results/new.steelbench"), lab.path(FILE)).unwrap();
    // The same where the report is to be written.
    std::fs::remove_file(lab.path(FILE)).unwrap();
    assert!(Command::new("mkfifo").arg(lab.path("results/t.html")).status().unwrap().success());
    end(lab.start()).expect(0).says("cannot write results/t.html");
}

/// Returns the name of the super-journal in a journal (`writeSuperJournal` in SQLite's `pager.c`).
fn super_journal(path: &Path) -> Vec<u8> {
    let name = path.to_str().unwrap().as_bytes();
    let sum = name.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    [&[0, 4, 0, 0], name, &(name.len() as u32).to_be_bytes(), &sum.to_be_bytes(), &magic].concat()
}

/// A results file comes with the journal of a killed run, which is rolled back. Older versions of
/// SQLite delete the super-journal that a journal names: any file.
#[test]
fn a_journal_beside_a_results_file_harms_no_other_file_and_keeps_nobody_waiting() {
    let lab = recorded();
    lab.write("salaries", "precious");
    let (whole, journal) =
        (std::fs::read(lab.path(FILE)).unwrap(), lab.path("results/t.steelbench-journal"));
    let file = lab.results("t");
    file.execute_batch("PRAGMA cache_size = 1; BEGIN").unwrap();
    let grow = "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) UPDATE runs \
                SET source = (SELECT group_concat(hex(randomblob(200))) FROM n)";
    file.execute_batch(grow).unwrap();
    let (halfway, rolls_back) =
        (std::fs::read(lab.path(FILE)).unwrap(), std::fs::read(&journal).unwrap());
    file.execute_batch("ROLLBACK").unwrap();
    drop(file);
    assert!(halfway != whole, "nothing to roll back");
    for arguments in [&["show", "t"][..], &["history", "t"], &["run", "e.toml"], &["report", "t"]] {
        std::fs::write(lab.path(FILE), &halfway).unwrap();
        std::fs::write(
            &journal,
            [rolls_back.clone(), super_journal(&lab.path("salaries"))].concat(),
        )
        .unwrap();
        let ended = lab.steelbench(arguments);
        assert_eq!(lab.read("salaries"), "precious", "{arguments:?}: {ended:?}");
        ended.expect(0);
    }
    // A genuine journal is rolled back.
    std::fs::write(&journal, &rolls_back).unwrap();
    lab.steelbench(&["show", "t", "--full"]).expect(0).shows("2 trials done");
    assert!(std::fs::read(lab.path(FILE)).unwrap() == whole && !journal.exists());
    // A pipe in place of a journal blocks no reader, not even of another file of the folder.
    std::fs::copy(lab.path(FILE), lab.path("results/other.steelbench")).unwrap();
    for ending in ["-journal", "-wal", "-shm"] {
        let pipe = lab.path(&format!("{FILE}{ending}"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        end(lab.start_with(&["show", "t"])).expect(2).says("is not a regular file");
        end(lab.start_with(&["show", "other", "--full"])).expect(0);
        std::fs::remove_file(&pipe).unwrap();
    }
}

/// A hook fills the disk in the second block, `hook` tells when.
fn fills(hook: &str, path: &str) -> String {
    format!(
        "[hooks]\n{hook} = 'if test $STEELBENCH_BLOCK = 2; then cat /dev/zero > {path}/filler; \
         fi; true'\n"
    )
}

#[test]
fn a_disk_that_fills_up_in_the_middle_loses_no_earlier_trial() {
    // Before the trial it is the folder of the trial that cannot be made, after it the record.
    for (hook, words) in [
        ("before_trial", "No space left on device"),
        ("after_trial", "no space left; earlier trials are kept"),
    ] {
        let file = scripted(2, "", &fills(hook, "results"));
        let lab = Lab::with(&file);
        let folder = lab.path("results");
        std::fs::create_dir(&folder).unwrap();
        let Some(disk) = SmallDisk::mount(folder, "size=80m") else { return };
        lab.run(1).says(words);
        assert_eq!(lab.trials("t"), 2, "{hook}");
        lab.steelbench(&["show", "t", "--full"]).expect(0).shows("2 trials done");
        std::fs::remove_file(lab.path("results/filler")).unwrap();
        lab.write("e.toml", &file.replace("= 2; then", "= 3; then"));
        lab.run(2).says("hooks.");
        lab.write("e.toml", &file);
        std::fs::create_dir(lab.path("results/filler")).unwrap();
        lab.run(0).says("2 already recorded");
        assert_eq!((lab.trials("t"), lab.work_folders().len()), (4, 0));
        drop(disk);
    }
}

#[test]
fn a_volume_that_fills_up_fails_its_trials_only() {
    let volumes = "[[volume]]\nname = \"small\"\npath = \"small\"\n[[volume]]\nname = \
                   \"large\"\npath = \"large\"\n";
    let file = scripted(2, "", &format!("{volumes}{}", fills("before_trial", "small")))
        .replace("\"target.data_files\" = [1, 2]", "\"target.volume\" = [\"small\", \"large\"]")
        .replace("\"null\"", "\"sqlite\"");
    let lab = Lab::with(&file);
    let folder = lab.path("small");
    std::fs::create_dir(&folder).unwrap();
    std::fs::create_dir(lab.path("large")).unwrap();
    let Some(disk) = SmallDisk::mount(folder, "size=80m") else { return };
    lab.run(1);
    let trials = "SELECT c.label, block, status FROM trials t JOIN configurations c ON c.id = \
                  t.configuration ORDER BY 1, 2";
    assert_eq!(
        lab.rows("t", trials),
        [
            "volume=large|1|done",
            "volume=large|2|done",
            "volume=small|1|done",
            "volume=small|2|failed"
        ]
    );
    let cause =
        lab.rows("t", "SELECT cause FROM trials WHERE status = 'failed'").remove(0).to_lowercase();
    assert!(["space", "full"].iter().any(|word| cause.contains(word)), "{cause}");
    assert_eq!(lab.work_folders().len(), 0);
    drop(disk);
}

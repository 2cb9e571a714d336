//! Volumes: prepared before use, cleaned after it, whatever happens.

use crate::common::{Lab, end, scripted, signal, wait_until};

fn volume(name: &str, prepare: &str) -> String {
    format!(
        "[[volume]]\nname = \"{name}\"\npath = \"{name}\"\nprepare = 'echo prepare \
         $STEELBENCH_VOLUME $STEELBENCH_VOLUME_PATH >> log; {prepare}'\ncleanup = 'echo cleanup \
         $STEELBENCH_VOLUME >> log; rm -rf \"$STEELBENCH_VOLUME_PATH\"'\nhook_timeout = \"30 s\"\n"
    )
}

/// A factor of two volumes.
fn file(prepare_a: &str, target: &str) -> String {
    let volumes = volume("a", prepare_a) + &volume("b", "mkdir b");
    scripted(2, target, &volumes)
        .replace("[factors]\n", "[factors]\n\"target.volume\" = [\"a\", \"b\"]\n")
}

#[test]
fn each_volume_is_prepared_once_and_cleaned_before_the_next() {
    // The commands alone make the factor hard to change.
    let lab = Lab::with(&file("mkdir a", ""));
    lab.run(0);
    let of = |name: &str| [format!("prepare {name} {name}"), format!("cleanup {name}")];
    let log = lab.read("log");
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines == [of("a"), of("b")].concat() || lines == [of("b"), of("a")].concat(), "{log}");
    assert_eq!(lab.trials("t"), 8);
    assert!(!lab.path("a").exists() && !lab.path("b").exists());
    let hooks = lab.rows("t", "SELECT DISTINCT hook FROM hooks ORDER BY 1");
    assert!(hooks.contains(&"volume a: prepare".to_owned()), "{hooks:?}");
}

/// Each level is set up twice, also where the second set-up begins with the level that the first
/// ended with.
#[test]
fn repeated_set_ups_prepare_volumes_anew() {
    for seed in 1..=4 {
        let file = file("mkdir a", "")
            .replace("[repeats]", &format!("[repeats]\nsetups = 2\nseed = {seed}"));
        let lab = Lab::with(&file);
        lab.run(0);
        let log = lab.read("log");
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 8, "{log}");
        for pair in lines.chunks(2) {
            let [prepare, cleanup] = pair else { panic!("{log}") };
            assert!(prepare.starts_with("prepare") && cleanup.starts_with("cleanup"), "{log}");
            assert_eq!(prepare.split(' ').nth(1), cleanup.split(' ').nth(1));
        }
        let of_setups = "SELECT t.setup, l.level, min(t.block), max(t.block), count(*) FROM \
                         trials t
                         JOIN configuration_levels l ON l.configuration = t.configuration
                         WHERE l.factor = 'target.volume' GROUP BY 1, 2 ORDER BY 1, 2";
        assert_eq!(lab.rows("t", of_setups), ["1|a|1|1|2", "1|b|1|1|2", "2|a|2|2|2", "2|b|2|2|2"]);
    }
}

#[test]
fn a_volume_that_cannot_be_prepared_fails_its_trials_only() {
    let lab = Lab::with(&file("echo no such device; exit 1", ""));
    lab.run(1).says("hook volume a: prepare failed: exit status: 1: no such device");
    let by_volume = "SELECT l.level, t.status, count(*) FROM trials t
                     JOIN configuration_levels l ON l.configuration = t.configuration
                     WHERE l.factor = 'target.volume' GROUP BY 1, 2 ORDER BY 1";
    assert_eq!(lab.rows("t", by_volume), ["a|failed|4", "b|done|4"]);
    // What a failed command has half done is cleaned up.
    assert_eq!(
        lab.read("log").matches("prepare a").count(),
        lab.read("log").matches("cleanup a").count()
    );
}

#[test]
fn a_volume_that_is_not_there_after_its_preparation_fails_its_trials() {
    let lab = Lab::with(&file("true", ""));
    lab.run(1).says("volume a: a does not exist");
}

#[test]
fn an_interrupted_run_cleans_its_volumes() {
    let lab = Lab::with(&file("mkdir a", "real_delay = \"100 s\""));
    let child = lab.start();
    wait_until("a trial runs", || {
        lab.work_folders().iter().any(|path| !path.ends_with("t.steelbench.work"))
    });
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    let log = lab.read("log");
    let [prepare, cleanup] = log.lines().collect::<Vec<_>>()[..] else { panic!("{log}") };
    assert_eq!(prepare.split(' ').nth(1), cleanup.split(' ').nth(1));
    assert!(prepare.starts_with("prepare") && cleanup.starts_with("cleanup"), "{log}");
    assert_eq!((lab.trials("t"), lab.work_folders().len()), (0, 0));
}

#[test]
fn an_interrupted_preparation_is_cleaned_up() {
    let both = volume("a", "touch begun; sleep 300");
    let lab = Lab::with(&scripted(1, "volume = \"a\"", &both));
    let child = lab.start();
    wait_until("the preparation has begun", || lab.path("begun").exists());
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    assert_eq!(lab.read("log"), "prepare a a\ncleanup a\n");
    assert_eq!(lab.trials("t"), 0);
}

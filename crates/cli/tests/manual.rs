//! Steps that a person has to do.

use crate::common::{Lab, scripted};

fn file(blocks: u32, target: &str, more: &str) -> String {
    let levels = "[[level]]\nfactor = \"array\"\nname = \"raid 5\"\nset = {}\n[[level]]\nfactor = \
                  \"array\"\nname = \"raid 10\"\nset = {}\n[[manual]]\nfactor = \"array\"\ntext = \
                  \"Rebuild the array as {level}.\"\n";
    scripted(blocks, target, &format!("{levels}{more}"))
}

const ARRAYS: &str = "SELECT l.level, count(*) FROM trials t JOIN configuration_levels l ON \
                      l.configuration = t.configuration
     WHERE l.factor = 'array' GROUP BY l.level ORDER BY min(t.id)";

#[test]
fn without_a_terminal_a_manual_step_stops_the_run() {
    let lab = Lab::with(&file(3, "", ""));
    let first = lab.run(3).says("Stopped for a manual step.").says("--manual-done");
    assert!(first.stdout.is_empty(), "there is nothing to show yet: {}", first.stdout);
    let step = |stderr: &str| {
        stderr.lines().find(|line| line.starts_with("manual step:")).unwrap().to_owned()
    };
    assert!(step(&first.stderr).starts_with("manual step: Rebuild the array as raid "));
    // Without the assurance it is still to be done.
    assert_eq!(step(&lab.run(3).stderr), step(&first.stderr));
    assert_eq!(lab.trials("t"), 0);

    let second = lab.run_with(&["--manual-done"], 3);
    assert_eq!(lab.trials("t"), 6, "a level has all its trials after one step");
    assert!(!second.stderr.trim_end().ends_with(&step(&first.stderr)));
    // The assurance was for one step.
    assert_eq!(second.stderr.matches("manual step: Rebuild").count(), 2, "{}", second.stderr);
    let done = lab.run_with(&["--manual-done"], 0);
    assert_eq!(done.stderr.matches("manual step: Rebuild").count(), 1, "{}", done.stderr);
    let arrays = lab.rows("t", ARRAYS);
    assert!(
        arrays == ["raid 5|6", "raid 10|6"] || arrays == ["raid 10|6", "raid 5|6"],
        "{arrays:?}"
    );
    assert!(step(&first.stderr).contains(arrays[0].split('|').next().unwrap()));
}

#[test]
fn no_step_is_repeated_while_its_level_stays() {
    // Six trials of half a second for each level.
    let limited = file(3, "real_delay = \"50 ms\"", "[limits]\nrun_time = \"1 s\"\n");
    let lab = Lab::with(&limited);
    lab.run_with(&["--manual-done"], 1).says("limits.run_time");
    let before = lab.trials("t");
    assert!((1..6).contains(&before), "{before}");
    lab.write("e.toml", &limited.replace("1 s", "100 s"));
    let ended = lab.run(3);
    assert_eq!(ended.stderr.matches("manual step: Rebuild").count(), 1, "{}", ended.stderr);
    assert_eq!(lab.trials("t"), 6);
}

#[test]
fn steps_that_are_due_together_are_one_stop() {
    let second = "[[level]]\nfactor = \"cable\"\nname = \"short\"\nset = {}\n[[level]]\nfactor = \
                  \"cable\"\nname = \"long\"\nset = {}\n[[manual]]\nfactor = \"cable\"\ntext = \
                  \"Use the {level} cable.\"\n";
    let lab = Lab::with(&file(1, "", second));
    let ended = lab.run(3);
    assert!(
        ended.stderr.contains("Rebuild the array as") && ended.stderr.contains("Use the"),
        "{ended:?}"
    );
    let events = lab.json(&["run", "e.toml"]);
    let steps: Vec<_> = events.iter().filter(|event| event["event"] == "manual_step").collect();
    assert_eq!(steps.len(), 1, "{events:?}");
}

#[test]
fn check_tells_of_manual_steps() {
    Lab::with(&file(1, "", ""))
        .steelbench(&["check", "e.toml"])
        .expect(0)
        .shows("manual step when array changes: Rebuild the array as {level}.");
}

//! Races from `check` to the report.

use crate::common::{Lab, end, on_screen, signal, wait_until};

/// Elapsed time is the delay times the number of transactions: the two fast ones are the same.
const SCRIPTED: &str = r#"
[experiment]
name = "raced"
response = "elapsed"
[target]
engine = "null"
spread = "5%"
[workload]
probe = "insert"
connections = 1
rows = 40
rows_per_transaction = 10
[design]
kind = "race"
[[level]]
factor = "candidate"
name = "slow"
set = { "target.delay" = "3 ms" }
[[level]]
factor = "candidate"
name = "fast"
set = { "target.delay" = "1 ms" }
[[level]]
factor = "candidate"
name = "as fast"
set = { "target.delay" = "1 ms", "target.data_files" = 2 }
[[level]]
factor = "candidate"
name = "broken"
set = { "target.delay" = "1 ms", "target.fail_while_exists" = "broken" }
[[level]]
factor = "candidate"
name = "slower"
set = { "target.delay" = "2 ms" }
[repeats]
blocks = 8
"#;

const ORDER: &str =
    "SELECT configuration, block, sequence, attempt, status FROM trials ORDER BY id";
const BLOCKS: &str = "SELECT l.level || ' ' || max(t.block) FROM trials t JOIN \
                      configuration_levels l ON l.configuration = t.configuration GROUP BY \
                      l.level ORDER BY 1";

#[test]
fn losers_and_failures_leave_and_the_report_says_why() {
    let lab = Lab::with(SCRIPTED);
    lab.write("broken", "");
    lab.steelbench(&["check", "e.toml"])
        .expect(0)
        .shows("design: race, 5 candidates: all run 5 blocks")
        .shows("25 trials at least if none fails, 40 at most");
    assert_eq!(lab.json(&["check", "e.toml"])[0]["design"]["first"], 5);
    lab.run(1)
        .says("candidate=broken left after 1 block: a trial failed.")
        .says("candidate=slow left after 5 blocks: candidate=");
    assert_eq!(
        lab.rows("raced", BLOCKS),
        ["as fast 8", "broken 1", "fast 8", "slow 5", "slower 5"]
    );
    assert_eq!(lab.trials("raced"), 5 + 4 * 4 + 3 * 2);

    let shown = lab.steelbench(&["show", "raced", "--full"]).expect(0).stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Race after 8 blocks: 2 of 5 candidates remaining",
        "leads after 8 blocks, not significantly better than",
        "candidate=slower left after 5 blocks: candidate=",
        "is 2.00x better (p < 0.001 at a level of 7.60e-3)",
        "candidate=broken left after 1 block: a trial failed.",
        "The race took 27 trials; all candidates in all of its blocks would take 40.",
        "3 of 5 candidates left the race in 27 trials",
    ] {
        assert!(words.contains(part), "{part} is missing in\n{shown}");
    }
    // No comparison that holds for a fixed number of blocks.
    for part in ["vs baseline", "best level", "No level of", "Power:"] {
        assert!(!words.contains(part), "{part} is in\n{shown}");
    }
    let race = &lab.json(&["show", "raced"])[0]["race"];
    let candidates = race["candidates"].as_array().unwrap();
    assert_eq!((candidates.len(), &race["trials"]), (5, &27.into()));
    assert_eq!(candidates[4]["departure"]["reason"], "failed");
    let reason = &candidates[3]["departure"]["reason"]["worse"];
    assert!((reason["by"].as_f64().unwrap() - 2.0).abs() < 1e-6, "{race}");
    let behind = &candidates[1]["behind"];
    let [low, high] = ["low", "high"].map(|end| behind[end].as_f64().unwrap());
    assert!(low < 1.0 && high > 1.0, "{race}");

    let screen = on_screen(&lab, &["show", "raced"]);
    // The title says how long it took.
    insta::assert_snapshot!(screen.split_once('\n').unwrap().1);

    // After fixing the cause the candidate catches up, block by block.
    std::fs::remove_file(lab.path("broken")).unwrap();
    lab.run_with(&["--retry-failed"], 0);
    assert_eq!(lab.rows("raced", BLOCKS)[1], "broken 8");
    lab.steelbench(&["show", "raced", "--full"])
        .expect(0)
        .shows("Race after 8 blocks: 3 of 5 candidates");
}

#[test]
fn a_killed_race_takes_the_same_decisions() {
    let file = SCRIPTED.replace("spread", "real_delay = \"5 ms\"\nspread");
    let whole = Lab::with(&file);
    whole.write("broken", "");
    whole.run(1);
    let lab = Lab::with(&file);
    lab.write("broken", "");
    for recorded in [2, 22, 25] {
        let child = lab.start();
        wait_until("trials are recorded", || lab.trials("raced") >= recorded);
        signal(&child, libc::SIGKILL);
        end(child);
    }
    lab.run(1);
    assert_eq!(lab.rows("raced", ORDER), whole.rows("raced", ORDER));
    let race = |lab: &Lab| lab.json(&["show", "raced"])[0]["race"].clone();
    assert_eq!(race(&lab), race(&whole));
    // More blocks prolong it.
    lab.write("e.toml", &file.replace("blocks = 8", "blocks = 10"));
    lab.run(1).says("repeats.blocks: 8 -> 10");
    assert_eq!(lab.rows("raced", BLOCKS)[0], "as fast 10");
    lab.write("e.toml", &file.replace("\"race\"", "\"race\"\nfirst = 4"));
    lab.run(2).says("design.first: 5 -> 4");
}

#[test]
fn a_winner_ends_the_race() {
    let start = SCRIPTED.find("[[level]]").unwrap();
    let factors = "[factors]\n\"target.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\"]\n[repeats]\nblocks \
                   = 9\n";
    let lab = Lab::with(&format!("{}{factors}", &SCRIPTED[..start]));
    lab.run(0).says("no more repeats needed: 12 trials fewer, 15 in total");
    assert_eq!(lab.trials("raced"), 15);
    let shown = lab.steelbench(&["show", "raced", "--full"]).expect(0).stdout;
    assert!(
        shown.contains("delay=1 ms wins the race: all others left within 5 blocks."),
        "{shown}"
    );
    lab.run(0).says("the run is complete");
}

#[test]
fn a_race_is_printed_as_it_was() {
    let lab = Lab::with(SCRIPTED);
    lab.run(0);
    insta::assert_snapshot!(lab.shown("raced"));
}

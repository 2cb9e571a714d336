//! The first output of `run` and `show` fits a screen of forty lines of eighty columns.

use crate::common::{Lab, end, on_screen, signal, wait_until};

/// An experiment on the scripted engine, with its factors and repeats.
fn scripted(factors: &str, repeats: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\nquestion = \"How long is a delay?\"\n[target]\nengine = \
         \"null\"\nspread = \"5%\"\n[workload]\nprobe = \"insert\"\nconnections = 2\nrows = \
         400\nrows_per_transaction = 10\n{factors}\n[repeats]\n{repeats}\n"
    )
}

/// The screen without how long the run took.
fn screen(lab: &Lab) -> String {
    let shown = on_screen(lab, &["show", "t"]);
    let (title, rest) = shown.split_once('\n').unwrap();
    let parts: Vec<&str> =
        title.split(", ").filter(|part| !part.ends_with(" s") && !part.ends_with(" min")).collect();
    format!("{}\n{rest}", parts.join(", "))
}

fn ran(factors: &str, repeats: &str, code: i32) -> Lab {
    let lab = Lab::with(&scripted(factors, repeats));
    lab.run(code);
    lab
}

#[test]
fn grids_fit_a_screen() {
    for (name, factors, repeats) in [
        ("one_configuration", "", "blocks = 5"),
        ("two_levels", "[factors]\n\"target.delay\" = [\"1 ms\", \"2 ms\"]", "blocks = 5"),
        (
            "five_levels",
            "[factors]\n\"target.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\", \"4 ms\", \"5 ms\"]",
            "blocks = 5",
        ),
        (
            "two_factors",
            "[factors]\n\"target.delay\" = [\"1 ms\", \"2 ms\"]\n\"workload.rows_per_transaction\" \
             = [10, 20]",
            "blocks = 5",
        ),
        (
            "forty_configurations",
            "[factors]\n\"target.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\", \"4 ms\", \"5 \
             ms\"]\n\"workload.rows_per_transaction\" = [1, 2, 4, 5, 8, 10, 20, 40]",
            "blocks = 3",
        ),
        ("no_difference", "[factors]\n\"target.data_files\" = [1, 2]", "blocks = 3"),
        ("one_block", "[factors]\n\"target.delay\" = [\"1 ms\", \"2 ms\"]", "blocks = 1"),
    ] {
        insta::assert_snapshot!(name, screen(&ran(factors, repeats, 0)));
    }
}

#[test]
fn a_failed_configuration_is_on_the_screen() {
    let factors = "[[level]]\nfactor = \"way\"\nname = \"works\"\nset = { \"target.delay\" = \"1 \
                   ms\" }\n[[level]]\nfactor = \"way\"\nname = \"broken\"\nset = { \
                   \"target.delay\" = \"1 ms\", \"target.fail_while_exists\" = \"e.toml\" }";
    insta::assert_snapshot!(screen(&ran(factors, "blocks = 3", 1)));
}

#[test]
fn an_interrupted_run_is_on_the_screen() {
    let file = scripted("", "blocks = 50")
        .replace("spread = \"5%\"", "spread = \"5%\"\nreal_delay = \"20 ms\"");
    let lab = Lab::with(&file);
    let child = lab.start();
    wait_until("two trials are recorded", || lab.trials("t") >= 2);
    signal(&child, libc::SIGINT);
    end(child);
    let shown = screen(&lab);
    assert!(shown.contains("\nthroughput ") && shown.contains(" trials in "), "{shown}");
}

#[test]
fn sections_are_printed_by_name() {
    let lab = ran("[factors]\n\"target.delay\" = [\"1 ms\", \"2 ms\"]", "blocks = 3", 0);
    let full = lab.steelbench(&["show", "t", "--full"]).expect(0).stdout;
    let waits = lab.steelbench(&["show", "t", "waits"]).expect(0).stdout;
    assert!(waits.contains("2 sessions x") && !waits.contains("Environment"), "{waits}");
    let names = ["why", "study", "configurations", "responses", "latency", "waits", "devices"];
    let others = ["statements", "plans", "models", "profile", "stability", "machines"];
    let names = [&names[..], &others, &["warnings", "environment"]].concat();
    let all = lab.steelbench(&[&["show", "t"], &names[..]].concat()).expect(0).stdout;
    // All sections are those of --full, in the same order.
    assert_eq!(all, full);
    lab.steelbench(&["show", "t", "wait"]).expect(2).says("waits");
    lab.steelbench(&["show", "--legend"]).expect(0).shows("95 % confidence interval");
}

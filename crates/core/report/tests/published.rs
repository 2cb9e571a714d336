//! The published wait tables, from figures of a recording to the text on the terminal, to the
//! letter.

use analysis::summarize;
use observations::{Observations, Recording, Wait, WaitClass::*};
use report::{Medium, Style, terminal};
use testing::reports::{data_files, done, observed, wait};

/// Four files. `Wait_S` of the third row was rounded on its own: its parts have a third decimal.
const FOUR: &str = "\
WaitType        Wait_S     Resource_S  Signal_S  WaitCount  Percentage  AvgWait_S  AvgRes_S  \
                    AvgSig_S
PAGEIOLATCH_EX  154611.39  128056.51   26554.88  45295507   71.83       0.0034     0.0028    0.0006
PAGELATCH_UP    37948.31   36988.52    959.79    2314370    17.63       0.0164     0.016     0.0004
PAGELATCH_SH    16976      13823.71    3152.3    3751811    7.89        0.0045     0.0037    0.0008
";

/// Eight files: another width of the first columns, a zero average, the row that crosses 95 %.
const EIGHT: &str = "\
WaitType             Wait_S     Resource_S  Signal_S  WaitCount  Percentage  AvgWait_S  AvgRes_S  \
                     AvgSig_S
PAGEIOLATCH_EX       244703.77  210859.63   33844.14  45169863   89.47       0.0054     0.0047    \
                     0.0007
SOS_SCHEDULER_YIELD  12500.15   0.99        12499.16  823658     4.57        0.0152     0         \
                     0.0152
PAGELATCH_SH         5777.54    3749.18     2028.36   476618     2.11        0.0121     0.0079    \
                     0.0043
";

fn four() -> Vec<Wait> {
    vec![
        wait("PAGELATCH_SH", Latch, 13_823.706, 3152.297, 3_751_811),
        wait("PAGEIOLATCH_EX", DataRead, 128_056.51, 26_554.88, 45_295_507),
        wait("PAGELATCH_UP", Latch, 36_988.52, 959.79, 2_314_370),
        // The rest of 100 %, below the cut; a client and an idle wait, which are not in the base.
        wait("REST", Other, 5711.0, 0.0, 1),
        wait("ASYNC_NETWORK_IO", Client, 250.0, 0.0, 9),
        wait("SLEEP_TASK", Idle, 1e9, 0.0, 9),
    ]
}

fn eight() -> Vec<Wait> {
    vec![
        wait("PAGEIOLATCH_EX", DataRead, 210_859.63, 33_844.14, 45_169_863),
        wait("SOS_SCHEDULER_YIELD", CpuQueue, 0.99, 12_499.16, 823_658),
        wait("PAGELATCH_SH", Latch, 3749.18, 2028.36, 476_618),
        wait("REST_1", Other, 5261.0, 0.0, 1),
        wait("REST_2", Other, 5261.0, 0.0, 1),
    ]
}

fn published() -> Recording {
    let mut recording = data_files(&["4", "8"], &[]);
    for (configuration, waits) in [four(), eight()].into_iter().enumerate() {
        recording.trials.push(done(configuration, 1, Observations { waits, ..observed(3580.0) }));
    }
    recording
}

#[test]
fn tables_are_printed_as_published() {
    let document = report::run(&summarize(&published()), &[], Medium::Any);
    for width in [110, 200] {
        let text = terminal(&document, width, Style::Plain);
        for table in [FOUR, EIGHT] {
            assert!(text.contains(table), "{text}");
        }
    }
    // What is too narrow for the nine columns has the first of them, or a list for each row.
    for (width, shown) in [(80, "Percentage\n"), (40, "  Wait_S: ")] {
        let text = terminal(&document, width, Style::Plain);
        assert!(
            text.contains(shown) && text.lines().all(|line| line.chars().count() <= width),
            "{text}"
        );
    }
    let text = terminal(&document, 100, Style::Plain);
    assert!(text.contains("\nWaits: data_files=4\n") && text.contains("\nWaits: data_files=8\n"));
    assert!(!text.contains("REST"), "below the top 95 %");
    assert!(text.contains("Waits for the client (250 s) are not included.\n"));
    assert!(text.contains("Excluded as idle or benign: 1000000000 s (SLEEP_TASK).\n"));
}

#[test]
fn colour_does_not_move_a_column() {
    let document = report::run(&summarize(&published()), &[], Medium::Any);
    let coloured = terminal(&document, 100, Style::Colour);
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(&rest[..start]);
        rest = rest[start..].split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_ne!(plain, coloured);
    assert_eq!(plain, terminal(&document, 100, Style::Plain));
}

#[test]
fn markdown_has_the_same_cells() {
    let text = report::markdown(&report::run(&summarize(&published()), &[], Medium::Any));
    for line in FOUR.lines().chain(EIGHT.lines()) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert!(text.contains(&format!("| {} |\n", cells.join(" | "))), "{line}");
    }
}

//! Levels that do not differ significantly are not thereby equivalent.

use analysis::{FindingKind, Standing, summarize};
use testing::recordings::{data_files, done, observed, recording};

/// The slowest of three, 1.35 s against 0.389 s, in two blocks that vary: once "= as good".
#[test]
fn the_slowest_is_not_as_good_for_want_of_blocks() {
    let run = data_files(&["1", "2", "4"], &[&[0.30, 0.478], &[0.6, 0.75], &[0.45, 2.25]]);
    let summary = summarize(&run);
    let slowest = &summary.configurations[2];
    assert!((slowest.response.as_ref().unwrap().mean - 1.35).abs() < 1e-9);
    assert_eq!(slowest.standing, Standing::NotDistinguished);
    // The interval of the ratio says how much slower it may be.
    let against = slowest.against_best.as_ref().unwrap();
    let interval = against.interval.unwrap();
    let possible = against.possible_difference().unwrap();
    assert!(
        (possible - (interval.high.max(1.0 / interval.low) - 1.0)).abs() < 1e-12 && possible > 10.0
    );
}

/// Once "a difference of up to 1164640 % is possible".
#[test]
fn two_blocks_that_vary_bound_no_difference() {
    let run = data_files(&["1", "2", "4"], &[&[8.0, 9.6], &[2.0, 8.0], &[0.46, 0.53]]);
    let findings = summarize(&run).findings();
    let verdict =
        &findings.iter().find(|finding| finding.kind == FindingKind::Verdict).unwrap().text;
    assert!(
        verdict
            .ends_with("2 is not significantly different; 2 blocks do not bound the difference."),
        "{verdict}"
    );
    let against = summarize(&run).configurations[1].against_best.clone().unwrap();
    assert_eq!(against.possible("s"), None);
    // What two blocks do bound is a factor from 100 % on.
    let steady = data_files(&["1", "2", "4"], &[&[8.0, 9.6], &[0.52, 0.65], &[0.46, 0.53]]);
    let against = summarize(&steady).configurations[1].against_best.clone().unwrap();
    let possible = against.possible("s").unwrap();
    assert!(against.possible_difference().unwrap() > 1.0 && possible.ends_with('x'), "{possible}");
}

#[test]
fn a_verdict_says_how_large_a_difference_may_be() {
    let run = data_files(
        &["1", "2", "4"],
        &[
            &[20.0, 20.2, 19.8, 20.1, 19.9],
            &[10.0, 11.5, 9.2, 10.9, 9.6],
            &[10.2, 10.1, 10.9, 9.4, 10.3],
        ],
    );
    let texts = |margin: f64| {
        let mut run = run.clone();
        run.run.equivalence_margin = margin;
        let verdict = summarize(&run)
            .findings()
            .into_iter()
            .find(|finding| finding.kind == FindingKind::Verdict);
        verdict.unwrap().text
    };
    let narrow = texts(0.05);
    assert!(
        narrow
            .contains("2 is not significantly different; the true difference could be up to 24 %"),
        "{narrow}"
    );
    let wide = texts(0.3);
    assert!(wide.ends_with("2 is equivalent within 30 %."), "{wide}");
    // Without a margin nothing is equivalent to anything.
    assert!(texts(0.0).contains("not significantly different"));
}

/// P-values by scipy: two paired one-sided t-tests of log ratios, each against a difference of 5 %.
#[test]
fn equal_to_scipy() {
    let all: serde_json::Value =
        serde_json::from_str(include_str!("scipy_reference.json")).unwrap();
    let cases = all["equivalence"].as_array().unwrap();
    assert!(cases.len() > 3);
    let mut equivalent = 0;
    for case in cases {
        let values = |key: &str| -> Vec<f64> { serde_json::from_value(case[key].clone()).unwrap() };
        let mut run = recording(&[("a", &["1", "2"])]);
        for (block, (a, b)) in (1..).zip(values("first").into_iter().zip(values("second"))) {
            run.trials.push(done(0, block, observed(a)));
            run.trials.push(done(1, block, observed(b)));
        }
        let factor = summarize(&run).configurations[1].factor.clone().unwrap();
        let p = case["p"].as_f64().unwrap();
        assert!((factor.equivalence_p.unwrap() - p).abs() < 1e-9, "{factor:?} {p}");
        equivalent += usize::from(factor.is_equivalent());
    }
    assert!((1..cases.len()).contains(&equivalent), "{equivalent}");
}

//! Runs with little, odd or broken data: never a panic, never a claim.

use analysis::{FindingKind, MatchedCells, Method, Scale, Standing, compare_over, summarize};
use observations::{Observations, Profile, Recording, Response};
use testing::recordings;
use testing::recordings::{data_files, done, failed, observed, recording};

#[test]
fn empty_and_failed_runs() {
    let empty = Recording::default();
    let summary = summarize(&empty);
    assert!(
        summary.response.is_none()
            && summary.configurations.is_empty()
            && summary.waits().is_empty()
    );
    let mut run = recording(&[("target.data_files", &["1", "2"])]);
    let texts = |run: &Recording| {
        summarize(run).findings().iter().map(|f| f.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&run), ["No trial has been run yet."]);
    run.trials =
        vec![failed(0, 1, "no space left on device"), failed(1, 1, "no space left on device")];
    let summary = summarize(&run);
    assert_eq!(summary.failures()[0].configurations, ["data_files=1", "data_files=2"]);
    assert!(
        summary.configurations.iter().all(|row| row.lost_blocks == 1 && row.accounting.is_none())
    );
    assert!(summary.configurations.iter().all(|row| row.standing == Standing::Unknown));
    assert_eq!(texts(&run)[0], "Every trial failed: there is nothing to compare.");
    assert!(compare_over(&run, &MatchedCells::pair(0, 0)).is_none());
}

#[test]
fn missing_blocks_are_left_out_of_pairs() {
    let mut run = data_files(&["1", "2"], &[&[10.0, 20.0, 40.0], &[5.0, 10.0, 20.0]]);
    run.trials.retain(|t| (t.configuration, t.block) != (1, 2));
    run.trials.push(failed(1, 2, "database is locked"));
    let factor = summarize(&run).configurations[1].factor.clone().unwrap();
    assert_eq!((factor.method, factor.blocks), (Method::PairedT, 2));
    assert!((factor.value - 2.0).abs() < 1e-12);
    // Blocks 1 and 2 of one, 3 and 4 of the other: no pair, so apart.
    run.trials = [(0, 1, 10.0), (0, 2, 11.0), (1, 3, 5.0), (1, 4, 5.5)]
        .map(|(configuration, block, elapsed)| done(configuration, block, observed(elapsed)))
        .into();
    let factor = summarize(&run).configurations[1].factor.clone().unwrap();
    assert_eq!(factor.method, Method::Welch);
    assert!((factor.value - 2.0).abs() < 1e-12);
}

#[test]
fn a_retry_replaces_the_failed_attempt() {
    let mut run = data_files(&["1"], &[&[10.0]]);
    run.trials.insert(0, failed(0, 1, "database is locked"));
    let row = &summarize(&run).configurations[0];
    assert_eq!((row.done, row.failed, row.lost_blocks), (1, 1, 0));
}

/// Whatever a damaged file says of its limit.
#[test]
fn a_trial_that_was_done_has_not_timed_out() {
    let mut run = data_files(&["1"], &[&[10.0, 11.0]]);
    run.trials.insert(0, failed(0, 1, "database is locked"));
    for observations in run.trials.iter_mut().filter_map(|trial| trial.observations.as_mut()) {
        observations.timeout_s = Some(9.0);
    }
    let run = run.in_range();
    let summary = summarize(&run);
    let row = &summary.configurations[0];
    assert_eq!((row.done, row.failed, row.timeouts), (2, 1, 0));
    let findings = summary.findings();
    assert!(findings.iter().any(|finding| finding.text.starts_with("1 attempt failed")));
}

/// Samples whose rate is unknown are no time: the rest of a damaged file remains.
#[test]
fn a_profile_without_a_rate_is_left_out() {
    for (hz, is_kept) in [(100.0, true), (0.0, false), (f64::INFINITY, false)] {
        let mut run = data_files(&["1"], &[&[10.0]]);
        let profile = Profile { hz, ..Profile::default() };
        run.trials[0].observations.as_mut().unwrap().profile = Some(profile);
        let observations = run.in_range().trials.remove(0).observations.unwrap();
        assert_eq!(observations.profile.is_some(), is_kept, "{hz}");
    }
}

/// Where a damaged file has no session time, no time is explained.
#[test]
fn trials_without_session_time_explain_nothing() {
    let mut run = data_files(&["1", "2"], &[&[10.0, 10.1, 10.2], &[5.0, 5.1, 5.2]]);
    let compared = |run: &Recording| compare_over(run, &MatchedCells::pair(0, 1)).unwrap();
    assert!(compared(&run).decomposition.is_some());
    for trial in &mut run.trials {
        trial.observations.as_mut().unwrap().time.session_s = -1.0;
    }
    let run = run.in_range();
    assert!(compared(&run).comparison.is_some() && compared(&run).decomposition.is_none());
}

/// A response that is zero somewhere has no ratio: differences instead, better is above 0.
#[test]
fn zero_and_negative_values_are_compared_by_difference() {
    let mut run = data_files(&["1", "2"], &[&[1.0; 3], &[1.0; 3]]);
    run.run.response = Some("lost".to_owned());
    for trial in &mut run.trials {
        let value = if trial.configuration == 0 { 5.0 + f64::from(trial.block) } else { 0.0 };
        trial.observations.as_mut().unwrap().responses =
            vec![Response::lower("lost", "rows", value)];
    }
    let summary = summarize(&run);
    let factor = summary.configurations[1].factor.as_ref().unwrap();
    assert_eq!((factor.scale, factor.value), (Scale::Difference, 7.0));
    // The direction is significant; of three blocks nothing else can be claimed.
    let low = factor.interval.unwrap().low;
    assert!(low > 0.0 && low < 1e-9 && factor.is_better());
    let verdict = summary.findings().into_iter().find(|f| f.kind == FindingKind::Verdict).unwrap();
    assert!(
        verdict.text.contains("7.00 rows [>0, 12.7] better than the baseline"),
        "{}",
        verdict.text
    );
}

#[test]
fn higher_is_better_turns_the_factor_round() {
    let mut run = data_files(&["1", "2"], &[&[10.0; 2], &[5.0; 2]]);
    run.run.response = Some("throughput".to_owned());
    let summary = summarize(&run);
    let row = &summary.configurations[1];
    assert!((row.factor.as_ref().unwrap().value - 2.0).abs() < 1e-12);
    assert_eq!(row.standing, Standing::Best);
    assert_eq!(row.throughput.as_ref().unwrap().unit, "rows/s");
    assert!((row.throughput.as_ref().unwrap().mean - 2000.0).abs() < 1e-9);
}

/// A scripted engine repeats its figures to the last digit, or almost.
#[test]
fn equal_figures_are_equal() {
    let run = data_files(&["1", "2", "4"], &[&[0.3; 5], &[0.1 + 0.2; 5], &[0.6; 5]]);
    let summary = summarize(&run);
    let equal = summary.configurations[1].factor.as_ref().unwrap();
    assert_eq!((equal.p_value, equal.supported()), (Some(1.0), false));
    let half = summary.configurations[2].factor.as_ref().unwrap();
    assert!(half.supported() && (half.value - 0.5).abs() < 1e-9);
    assert_eq!(summary.drift(), None);
}

#[test]
fn not_a_number_is_no_value() {
    let mut run = data_files(&["1", "2"], &[&[10.0, f64::NAN, 11.0], &[f64::NAN; 3]]);
    let broken = Observations { elapsed_s: f64::INFINITY, ..Observations::default() };
    run.trials.push(done(0, 4, broken));
    // A trial of a configuration that the run does not have.
    run.trials.push(done(99, 1, observed(1.0)));
    let summary = summarize(&run);
    assert_eq!(summary.configurations[0].elapsed.as_ref().unwrap().n, 2);
    assert_eq!(summary.configurations[1].elapsed, None);
    assert_eq!(summary.configurations[1].factor, None);
    assert_eq!(compare_over(&run, &MatchedCells::pair(0, 1)).unwrap().comparison, None);
    assert!(compare_over(&run, &MatchedCells::pair(0, 99)).is_none());
}

#[test]
fn a_baseline_out_of_range_compares_with_nothing() {
    let mut run = data_files(&["1", "2"], &[&[10.0; 2], &[5.0; 2]]);
    run.run.baseline = Some(7);
    let summary = summarize(&run);
    assert!(summary.configurations.iter().all(|row| row.factor.is_none()));
    run.run.baseline = None;
    assert!(summarize(&run).findings()[0].text.contains("the first level data_files=1"));
}

/// Exclusions leave the fast setting only with 4 files: levels are compared where all others are
/// equal.
#[test]
fn exclusions_do_not_confound_factors() {
    let factors: [recordings::Factor; 2] = [("files", &["1", "4"]), ("sync", &["full", "off"])];
    let mut run = recording(&factors);
    for block in 1..=3 {
        for (configuration, elapsed) in [(0, 20.0), (2, 20.0), (3, 2.0)] {
            run.trials.push(done(configuration, block, observed(elapsed + f64::from(block))));
        }
    }
    run.configurations.remove(1);
    for trial in &mut run.trials {
        trial.configuration = trial.configuration.saturating_sub(1);
    }
    let summary = summarize(&run);
    let level = &summary.factors.effects[0].levels[1];
    assert!((level.comparison.as_ref().unwrap().value - 1.0).abs() < 1e-9);
    let mean =
        |level: usize| summary.factors.effects[0].levels[level].response.as_ref().unwrap().mean;
    assert!((mean(0) - mean(1)).abs() < 1e-9);
}

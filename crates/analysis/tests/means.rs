//! Means of a factor's levels must not differ by what else was measured with them.

mod common;

use analysis::{Standing, summarize};
use common::{done, failed, observed, recording};

/// 16384 failed wherever the other factor makes everything slow. Over all of its figures it took 472 ms against 928 ms,
/// though it is slower (0.90x) wherever both were measured.
#[test]
fn failed_cells_are_left_out_of_every_level() {
    let mut run = recording(&[("work_mem", &["4096", "16384"]), ("size", &["small", "large"])]);
    for block in 1..=5 {
        let noise = 1.0 + 0.002 * f64::from(block % 3);
        run.trials.push(done(0, block, observed(0.427 * noise)));
        run.trials.push(done(1, block, observed(1.427 * noise)));
        run.trials.push(done(2, block, observed(0.4715 * noise)));
        run.trials.push(failed(3, block, "out of memory"));
    }
    let summary = summarize(&run);
    let effect = &summary.factors.effects[0];
    let means: Vec<_> = effect.levels.iter().map(|level| level.response.as_ref().unwrap()).collect();
    // 0.427 and 0.4715 times the mean noise of 1.002.
    assert!((means[0].mean - 0.427 * 1.0024).abs() < 1e-4, "{}", means[0].mean);
    assert!((means[1].mean - 0.4715 * 1.0024).abs() < 1e-4, "{}", means[1].mean);
    let ratio = effect.levels[1].comparison.as_ref().unwrap().value;
    assert!((means[0].mean / means[1].mean - ratio).abs() < 1e-3, "{ratio}");
    assert_eq!((effect.best, effect.left_out), (Some(0), 5));
    assert_eq!(effect.levels[1].standing, Standing::Worse);
    // The other factor: small against large at 4096 only.
    let size = &summary.factors.effects[1];
    assert!((size.levels[0].response.as_ref().unwrap().mean - 0.427 * 1.0024).abs() < 1e-4);
    assert_eq!(size.left_out, 5);
}

/// A level that hardly ever ran is set beside nothing, and does not cost the others their figures.
#[test]
fn a_level_with_few_figures_does_not_spoil_the_others() {
    let mut run = recording(&[("work_mem", &["1", "2", "3"]), ("size", &["small", "large"])]);
    for block in 1..=5 {
        for configuration in 0..6 {
            let elapsed = 1.0 + 0.001 * f64::from(block) + configuration as f64;
            run.trials.push(match (configuration, block) {
                (4, 1) | (0..4, _) => done(configuration, block, observed(elapsed)),
                _ => failed(configuration, block, "out of memory"),
            });
        }
    }
    let summary = summarize(&run);
    let effect = &summary.factors.effects[0];
    let n: Vec<_> = effect.levels.iter().map(|level| level.response.as_ref().map(|own| own.n)).collect();
    assert_eq!((n, effect.left_out), (vec![Some(5), Some(5), None], 1));
    assert_eq!(effect.levels[2].trials, 1);
}

/// No pair of levels was measured in the same place: nothing is set beside anything.
#[test]
fn levels_that_never_meet_have_no_means_to_compare() {
    let mut run = recording(&[("work_mem", &["1", "2"]), ("size", &["small", "large"])]);
    for block in 1..=3 {
        run.trials.push(done(0, block, observed(1.0)));
        run.trials.push(done(3, block, observed(9.0)));
    }
    let summary = summarize(&run);
    let effect = &summary.factors.effects[0];
    assert_eq!(effect.levels.iter().filter(|level| level.response.is_some()).count(), 1);
    let texts: Vec<String> = summary.findings().into_iter().map(|finding| finding.text).collect();
    assert!(!texts[0].starts_with("Only"), "{texts:?}");
}

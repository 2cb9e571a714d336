//! Means of a factor's levels must not differ by what else was measured with them.

use analysis::{Standing, summarize};
use testing::recordings::{done, failed, observed, recording};

/// 16384 failed wherever the other factor makes everything slow. Over all of its figures it took
/// 472 ms against 928 ms, though it is slower (0.90x) wherever both were measured.
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
    let means: Vec<_> =
        effect.levels.iter().map(|level| level.response.as_ref().unwrap()).collect();
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
    let n: Vec<_> = effect
        .levels
        .iter()
        .map(|level| level.response.as_ref().map(|response| response.n))
        .collect();
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

/// Levels of a factor that have different probes are different work: a scan that is shorter than a
/// load is not better.
#[test]
fn other_work_is_not_compared() {
    let mut run = recording(&[("work", &["load", "scan"]), ("compression", &["off", "on"])]);
    for (configuration, probe) in
        run.configurations.iter_mut().zip(["bulk-load", "bulk-load", "scan", "scan"])
    {
        configuration.settings.insert("workload.probe".to_owned(), probe.into());
    }
    for block in 1..=5 {
        let noise = 1.0 + 0.002 * f64::from(block % 3);
        for (configuration, elapsed_s) in (0..).zip([8.0, 10.0, 1.0, 1.5]) {
            run.trials.push(done(configuration, block, observed(elapsed_s * noise)));
        }
    }
    let summary = summarize(&run);
    let [work, compression] = &summary.factors.effects[..] else { panic!("two factors") };
    assert!(
        work.other_work
            && work.best.is_none()
            && work.levels.iter().all(|level| level.comparison.is_none())
    );
    // Of both works: 1 / 1.25 and 1 / 1.5.
    let ratio = compression.levels[1].comparison.as_ref().unwrap().value;
    assert!((ratio - (1.0_f64 / (1.25 * 1.5)).sqrt()).abs() < 1e-3, "{ratio}");
    let compared =
        summary.configurations.iter().map(|row| row.factor.is_some()).collect::<Vec<_>>();
    assert_eq!(compared, [false, true, false, false]);
    assert!(summary.configurations.iter().all(|row| row.standing == Standing::Unknown));
    let text: Vec<String> = summary.findings().into_iter().map(|finding| finding.text).collect();
    assert!(
        text.iter()
            .any(|text| text == "The levels of work do different work and are not compared."),
        "{text:?}"
    );
    assert!(
        !text.iter().any(|text| text.contains("work=scan") || text.contains("best configuration")),
        "{text:?}"
    );
}

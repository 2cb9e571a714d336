//! Runs whose set-ups differ, simulated with known truth.

use crate::runs::compare_runs;
use analysis::{MatchedCells, Verdict, compare_over, summarize};
use command_line::Responses;
use testing::recordings::Random;
use testing::recordings::coverage::Coverage;
use testing::recordings::split_plot::SplitPlot;

const EXPERIMENTS: usize = 400;

#[test]
fn intervals_hold_the_spread_of_set_ups() {
    let mut random = Random::new(43);
    let [mut drives, mut files, mut heads, mut means] = [(); 4].map(|()| Coverage::default());
    let mut differ = 0;
    for _ in 0..EXPERIMENTS {
        let effect = [0.1 * random.normal(), 0.1 * random.normal()];
        let design =
            SplitPlot { setups: 3, declared: true, spread: 0.03, spread_of_files: 0.02, effect };
        let recording = design.measure(&mut random);
        let summary = summarize(&recording);
        let of = |factor: usize| {
            summary.factors.effects[factor].levels[1].comparison.as_ref().unwrap().interval
        };
        drives.interval(of(0), (-effect[0]).exp());
        files.interval(of(1), (-effect[1]).exp());
        // Another drive and more files.
        let both = compare_over(&recording, &MatchedCells::pair(0, 3)).unwrap().comparison.unwrap();
        heads.interval(both.interval, (-effect[0] - effect[1]).exp());
        means.interval(
            summary.configurations[3].response.as_ref().unwrap().interval,
            10.0 * (effect[0] + effect[1]).exp(),
        );
        // Nothing changed from one run to the other but the set-ups.
        let again = design.measure(&mut random);
        let compared = compare_runs(&recording, &again, Responses::Primary).unwrap();
        let verdicts =
            compared.responses[0].configurations.iter().map(|configuration| configuration.verdict);
        differ += usize::from(
            verdicts
                .into_iter()
                .any(|verdict| !matches!(verdict, Verdict::NotSeen | Verdict::Unknown)),
        );
        let once = SplitPlot { setups: 1, ..design };
        let [measure, other] = [(); 2].map(|()| once.measure(&mut random));
        let compared = compare_runs(&measure, &other, Responses::Primary).unwrap();
        assert!(
            compared.responses[0]
                .configurations
                .iter()
                .all(|configuration| configuration.verdict == Verdict::Unknown)
        );
    }
    println!("runs that differ: {differ} of {EXPERIMENTS}");
    // At most 5 %, within three standard errors.
    let all = EXPERIMENTS as f64;
    assert!(differ as f64 <= 0.05 * all + 3.0 * (0.05 * 0.95 * all).sqrt(), "{differ}");
    drives.check_at_least("main effect of a drive", EXPERIMENTS);
    files.check_at_least("main effect within set-ups", EXPERIMENTS);
    heads.check_at_least("configurations on two drives", EXPERIMENTS);
    means.check("means of configurations", EXPERIMENTS);
}

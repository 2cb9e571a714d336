//! Two levels over the levels of another factor, against arithmetic by hand and against the effect
//! of the factor.

use analysis::{compare_over, matched_cells, summarize};
use testing::recordings::{Random, done, observed, recording};

#[test]
fn levels_are_compared_by_the_mean_of_their_pairs_in_each_block() {
    let mut run =
        recording(&[("target.sync", &["on", "off"]), ("workload.connections", &["1", "4"])]);
    let mut random = Random::new(5);
    let mut logs = vec![Vec::new(); 4];
    for block in 1..=3 {
        for (at, level) in [1.0, 2.0, 0.7, 1.9].into_iter().enumerate() {
            let elapsed_s: f64 = level * (0.05 * random.normal()).exp();
            logs[at].push(elapsed_s.ln());
            run.trials.push(done(at, block, observed(elapsed_s)));
        }
    }
    let cells = matched_cells(&run, [&[0, 1], &[2, 3]], &["target.sync"]);
    assert_eq!((cells.pairs.as_slice(), cells.unmatched), (&[(0, 2), (1, 3)][..], 0));
    let compared = compare_over(&run, &cells).unwrap();
    let comparison = compared.comparison.as_ref().unwrap();
    // Less time is better: the logarithm of on / off, the mean of both pairs in a block.
    let blocks: Vec<f64> =
        (0..3).map(|b| f64::midpoint(logs[0][b] - logs[2][b], logs[1][b] - logs[3][b])).collect();
    let mean = blocks.iter().sum::<f64>() / 3.0;
    let variance = blocks.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2.0;
    // Of a significant difference in three blocks the far end is that of a 99 % interval.
    let half = 9.924_843_2 * (variance / 3.0).sqrt();
    let near =
        |ours: f64, expected: f64| assert!((ours - expected).abs() < 1e-6, "{ours} {expected}");
    near(comparison.value.ln(), mean);
    let low = comparison.interval.unwrap().low;
    assert!(low > 1.0 && low < mean.exp() && comparison.supported());
    near(comparison.interval.unwrap().high.ln(), mean + half);
    assert_eq!((comparison.blocks, compared.pairs), (3, 2));
    let elapsed: f64 = logs[..2].iter().flatten().map(|log| log.exp()).sum::<f64>() / 6.0;
    near(compared.from.unwrap().mean, elapsed);
    // The effect of the factor is the same comparison.
    let effect = &summarize(&run).factors.effects[0];
    let off = effect.levels.iter().find_map(|level| level.comparison.as_ref()).unwrap();
    near(off.value, comparison.value);
    // A cell that one side does not have is left out.
    let cells = matched_cells(&run, [&[0, 1], &[3]], &["target.sync"]);
    assert_eq!((cells.pairs.as_slice(), cells.unmatched), (&[(1, 3)][..], 1));
}

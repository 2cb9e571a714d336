//! Recordings as races: who leaves after the blocks so far, and why.

use analysis::summarize;
use designs::race::analysis::{race, sentence};
use designs::race::racing::{Reason, Rules};
use testing::recordings::{Random, data_files, failed, timed_out};

#[test]
fn losers_failures_and_time_outs_of_a_recording_leave() {
    let mut random = Random::new(36);
    let mut times = |mean: f64, blocks: usize| -> Vec<f64> {
        (0..blocks).map(|_| mean * (1.0 + 0.02 * random.normal())).collect()
    };
    let [best, near, loser, fails] = [times(1.0, 6), times(1.01, 6), times(1.5, 6), times(0.9, 2)];
    let mut recording =
        data_files(&["1", "2", "3", "4", "5"], &[&best, &near, &loser, &fails, &[]]);
    recording.trials.push(failed(3, 3, "no space"));
    for block in 1..=6 {
        recording.trials.push(timed_out(4, block, 4.0));
    }
    let summary = summarize(&recording);
    let race = race(&summary, Rules::new(true)).unwrap();
    let left: Vec<(usize, usize)> =
        race.departures.iter().map(|departure| (departure.candidate, departure.after)).collect();
    assert_eq!(left[0], (3, 3), "{race:?}");
    assert!(left.contains(&(2, 5)) && left.contains(&(4, 5)), "{race:?}");
    assert!(matches!(race.departures[0].reason, Reason::Failed));
    let survivors: Vec<usize> = race.survivors.iter().map(|survivor| survivor.candidate).collect();
    assert_eq!((survivors.len(), race.blocks, race.is_over()), (2, 6, false), "{race:?}");
    let behind = race.survivors[1].behind.unwrap();
    assert!(behind.contains(1.01) && behind.low > 0.5, "{behind:?}");
    let sentence: Vec<String> =
        race.departures.iter().map(|departure| sentence(departure, &summary)).collect();
    assert_eq!(sentence[0], "data_files=4 left after 3 blocks: a trial failed.");
    assert!(
        sentence
            .iter()
            .any(|sentence| sentence.starts_with("data_files=3 left after 5 blocks: data_files=")
                && sentence.contains("x better (p ")),
        "{sentence:?}"
    );
    assert_eq!(race.trials, 3 * 5 + 2 * 4 + 2);
}

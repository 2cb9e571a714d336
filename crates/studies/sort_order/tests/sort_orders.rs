//! Sort orders: how good the advice and the predictions were, from what trials recorded.

use analysis::summarize;
use observations::{Fact, Observations, Recording, Response};
use sort_order::analysis::sort_orders;
use testing::recordings::{done, recording};

/// Orders with their megabytes, those that were predicted, and the columns that they sort by.
const ORDERS: [(&str, f64, f64, &[&str]); 4] = [
    ("none", 100.0, 102.0, &[]),
    ("random", 120.0, 117.6, &[]),
    ("advise", 81.0, 80.0, &["b", "a"]),
    ("b", 80.0, 84.0, &["b"]),
];

fn recorded() -> Recording {
    let levels: Vec<&str> = ORDERS.iter().map(|order| order.0).collect();
    let mut recording = recording(&[("workload.order", &levels)]);
    for (configuration, order) in recording.configurations.iter_mut().zip(levels) {
        configuration.settings.insert("workload.probe".into(), "sort-order".to_owned().into());
        configuration.settings.insert("workload.order".into(), order.to_owned().into());
    }
    for block in 1..=3 {
        for (configuration, (_, mb, predicted, columns)) in ORDERS.iter().enumerate() {
            let fact = |name: String, value: f64| Fact { name, unit: String::new(), value };
            let mut facts: Vec<Fact> = columns
                .iter()
                .zip(1..)
                .map(|(name, place)| fact(format!("order_{name}"), f64::from(place)))
                .collect();
            facts.push(fact("predicted_bytes".into(), predicted * 1e6));
            facts.push(fact("bytes_a".into(), mb * 0.75e6));
            facts.push(fact("bytes_b".into(), mb * 0.25e6));
            facts.push(fact("row_groups".into(), 10.0));
            facts.push(fact("row_groups_skipped".into(), 4.0));
            let cpu = mb / 1000.0 * (1.0 + f64::from(block) / 100.0);
            let responses = vec![
                Response::lower("size", "MB", *mb),
                Response::lower("cpu_per_row", "us/row", cpu),
                Response::lower("row_groups_read", "%", 60.0),
            ];
            let observations = Observations {
                elapsed_s: 1.0,
                connections: 1,
                facts,
                responses,
                ..Observations::default()
            };
            recording.trials.push(done(configuration, block, observations));
        }
    }
    recording
}

#[test]
fn the_advice_is_placed_and_predictions_are_held_against_what_was_measured() {
    let recorded = recorded();
    let all = sort_orders(&summarize(&recorded));
    let [orders] = &all[..] else { panic!("{}", all.len()) };
    assert_eq!((orders.generated, orders.smallest, orders.advised), (Some(0), 3, Some((2, 2))));
    let errors: Vec<f64> = orders.rows.iter().map(|row| row.error.unwrap_or(f64::NAN)).collect();
    for (error, expected) in errors.iter().zip([0.02, -0.02, -1.0 / 81.0, 0.05]) {
        assert!((error - expected).abs() < 1e-12, "{errors:?}");
    }
    assert_eq!(orders.worst, Some(3));
    assert!((orders.error_median.unwrap_or(0.0) - 0.02).abs() < 1e-12);
    // Ranks 3 4 1 2 against 3 4 2 1: 1 - 6 x 2 / (4 x 15).
    assert!((orders.rank_correlation.unwrap_or(0.0) - 0.8).abs() < 1e-12);
    let advised = &orders.rows[2];
    assert_eq!(advised.columns, ["b", "a"]);
    assert_eq!(advised.skipped, Some((4.0, 10.0)));
    assert_eq!(advised.by_column[0].bytes.to_bits(), (81.0 * 0.75e6_f64).to_bits());
    let gain = |gain: &Option<analysis::Comparison>| gain.as_ref().map_or(0.0, |gain| gain.value);
    assert!((gain(&advised.size_gain) - 100.0 / 81.0).abs() < 1e-9);
    assert!((gain(&advised.cpu_gain) - 100.0 / 81.0).abs() < 1e-9);
    assert!(orders.rows[0].size_gain.is_none());
}

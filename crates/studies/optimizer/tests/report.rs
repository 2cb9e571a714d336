//! The finding and the sections, of a recording with a known crossover.

use analysis::{Study, summarize_with};
use observations::{Observations, Recording, Response, Value};
use optimizer::analysis::{ByTime, crossovers};
use optimizer::facts::{
    BY_FORMULAS, BY_PLANS, FIRST_PLAN, PARALLEL_CHANGE, PARALLEL_FIRST, PLAN_CHANGES,
    PLAN_CROSSOVER, SELECTED,
};
use probe::data::TABLE_ROWS;
use testing::recordings::{Random, done, recording};

const STUDIES: &[&Study] = &[&optimizer::STUDY];

/// Times of a scan are 10 ms, those of the index grow with the share and are equal at 4 %. The
/// optimizer changes its plan at 0.9 %.
fn crossing(blocks: u32, seed: u64) -> Recording {
    let levels = ["0.001", "0.01", "0.02", "0.1"];
    let mut recording = recording(&[
        ("workload.selectivity", levels.as_slice()),
        ("workload.alternative", &["chosen", "scan", "index"]),
    ]);
    let mut random = Random::new(seed);
    for configuration in &mut recording.configurations {
        let share: f64 = configuration.level("workload.selectivity").unwrap().parse().unwrap();
        let name = configuration.level("workload.alternative").unwrap().to_owned();
        let settings = &mut configuration.settings;
        settings.insert("workload.probe".to_owned(), "optimizer".to_owned().into());
        settings.insert("workload.selectivity".to_owned(), Value::Float(share));
        settings.insert("workload.alternative".to_owned(), name.into());
    }
    for block in 1..=blocks {
        for (position, configuration) in recording.configurations.clone().iter().enumerate() {
            let share: f64 = configuration.get("workload.selectivity").unwrap();
            let name: String = configuration.get("workload.alternative").unwrap();
            let is_scan = name == "scan" || (name == "chosen" && share >= 0.009);
            let ms = if is_scan { 10.0 } else { 10.0 * share / 0.04 };
            let ms = ms * (0.03 * random.normal()).exp();
            let mut observations = Observations {
                elapsed_s: ms / 1e3,
                connections: 1,
                responses: vec![Response::lower("query_time", "ms", ms)],
                ..Observations::default()
            };
            observations.facts = vec![SELECTED.record(1e5 * share)];
            if name == "chosen" {
                observations.facts.extend([
                    FIRST_PLAN.record("Index Scan t (i)", 1.0),
                    PLAN_CHANGES.record("1: Index Scan t (i) -> Seq Scan t", 0.009),
                    PLAN_CROSSOVER.record(0.009),
                    BY_FORMULAS.record("random_page_cost = 4", 0.009),
                    BY_PLANS.record("random_page_cost = 4", 0.0091),
                ]);
            }
            recording.trials.push(done(position, block, observations));
        }
    }
    recording
}

/// Plans turn parallel at 50 % of the rows. A parallel one takes 10 ms to start its workers, then
/// half as long: both take 20 ms at 10 %.
fn parallel(blocks: u32, rises: bool) -> Recording {
    let levels = ["0.01", "0.09", "0.11", "1"];
    let mut recording = recording(&[
        ("workload.selectivity", levels.as_slice()),
        ("workload.alternative", &["chosen", "serial", "parallel"]),
    ]);
    let mut random = Random::new(7);
    for configuration in &mut recording.configurations {
        let share: f64 = configuration.level("workload.selectivity").unwrap().parse().unwrap();
        let name = configuration.level("workload.alternative").unwrap().to_owned();
        let settings = &mut configuration.settings;
        settings.insert("workload.probe".to_owned(), "optimizer".to_owned().into());
        settings.insert("workload.selectivity".to_owned(), Value::Float(share));
        settings.insert("workload.alternative".to_owned(), name.into());
    }
    for block in 1..=blocks {
        for (position, configuration) in recording.configurations.clone().iter().enumerate() {
            let share: f64 = configuration.get("workload.selectivity").unwrap();
            let name: String = configuration.get("workload.alternative").unwrap();
            let is_parallel = name == "parallel" || (name == "chosen" && share >= 0.5);
            // One way round the workers take the work, the other way they hand over its rows.
            let ms = match (is_parallel, rises) {
                (true, _) => 10.0 + 100.0 * share,
                (false, true) => 200.0 * share,
                (false, false) => 20.0,
            };
            let ms = ms * (0.02 * random.normal()).exp();
            let mut observations = Observations {
                elapsed_s: ms / 1e3,
                connections: 1,
                responses: vec![Response::lower("query_time", "ms", ms)],
                ..Observations::default()
            };
            observations.facts = vec![SELECTED.record(1e5 * share), TABLE_ROWS.record(1e5)];
            if name == "chosen" {
                observations.facts.extend([
                    FIRST_PLAN.record("Seq Scan t", 1.0),
                    PARALLEL_FIRST.record(f64::from(u8::from(!rises))),
                    PARALLEL_CHANGE.record(0.5),
                ]);
            }
            recording.trials.push(done(position, block, observations));
        }
    }
    recording
}

#[test]
fn the_size_at_which_parallelism_pays_comes_back() {
    for (rises, plan, pays) in [
        (true, "is parallel from 50.0 % of the rows (50,000) on; ", "parallelism pays from "),
        (false, "is parallel below 50.0 % of the rows (50,000); ", "parallelism pays up to "),
    ] {
        let recording = parallel(6, rises);
        let summary = summarize_with(&recording, STUDIES, Vec::new());
        let all = crossovers(&summary);
        let parallelism = all[0].parallelism.as_ref().unwrap();
        let ByTime::At { share, interval: Some(interval), blocks: 6 } = &parallelism.by_time else {
            panic!("{:?}", parallelism.by_time)
        };
        assert!((share / 0.1 - 1.0).abs() < 0.1, "{share}");
        assert!(interval.low < *share && *share < interval.high, "{interval:?}");
        let findings = summary.findings();
        let finding = findings.iter().find(|finding| finding.text.contains(plan));
        let finding = finding.unwrap_or_else(|| panic!("{findings:?}"));
        println!("{}\n{}", finding.text, finding.evidence);
        assert!(
            finding.text.contains(pays) && !finding.text.contains("to a scan"),
            "{}",
            finding.text
        );
        assert!(finding.evidence.starts_with("crossover by time: interval over 6 blocks"));
    }
}

#[test]
fn the_crossover_and_the_cost_of_the_choice_come_back() {
    let recording = crossing(6, 5);
    let summary = summarize_with(&recording, STUDIES, Vec::new());
    let all = crossovers(&summary);
    assert_eq!((all.len(), all[0].levels.len()), (1, 4));
    let ByTime::At { share, interval: Some(interval), blocks: 6 } = &all[0].by_time else {
        panic!("{:?}", all[0].by_time)
    };
    assert!((share / 0.04 - 1.0).abs() < 0.1 && interval.contains(*share), "{share}");
    let worst = all[0].worst.as_ref().unwrap();
    // At 1 % the choice is a scan, which takes 4x as long as the index.
    assert!(
        (worst.regret.ratio / 4.0 - 1.0).abs() < 0.1 && worst.regret.best == "index",
        "{worst:?}"
    );
    let findings = summary.findings();
    let finding =
        findings.iter().find(|finding| finding.text.starts_with("The plan changes to a scan"));
    let finding = finding.unwrap_or_else(|| panic!("{findings:?}"));
    println!("{}\n{}", finding.text, finding.evidence);
    assert!(
        finding.text.contains("at 0.900 % of the rows; by time it should at 4."),
        "{}",
        finding.text
    );
    assert!(finding.text.contains("; the choice costs up to"), "{}", finding.text);
}

/// The interval of the crossover by time holds it as often as it promises.
#[test]
fn intervals_of_the_crossover_hold() {
    const EXPERIMENTS: u64 = 200;
    let held = (0..EXPERIMENTS).filter(|seed| {
        let recording = crossing(5, 100 + seed);
        let summary = summarize_with(&recording, STUDIES, Vec::new());
        match &crossovers(&summary)[0].by_time {
            ByTime::At { interval: Some(interval), .. } => interval.contains(0.04),
            other => panic!("{other:?}"),
        }
    });
    let share = held.count() as f64 / EXPERIMENTS as f64;
    println!("{share:.3} of the intervals hold the crossover");
    assert!((0.9..=0.99).contains(&share), "{share}");
}

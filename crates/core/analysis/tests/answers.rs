//! The first finding answers the question, and says what its answer costs.

use analysis::{FindingKind, Standing, Summary, summarize};
use experiment::{DurabilityRule, Risk};
use observations::{Recording, Response, Value};
use testing::recordings::{Factor, Random, done, failed, observed, recording};

/// Five blocks with these elapsed times, and a noise of 1 %.
fn measure(factors: &[Factor], elapsed_s: &[f64]) -> Recording {
    let mut random = Random::new(71);
    let mut run = recording(factors);
    for block in 1..=5 {
        for (configuration, seconds) in elapsed_s.iter().enumerate() {
            let seconds = seconds * (0.01 * random.normal()).exp();
            run.trials.push(done(configuration, block, observed(seconds)));
        }
    }
    run
}

fn texts(summary: &Summary) -> Vec<String> {
    summary.findings().into_iter().map(|finding| finding.text).collect()
}

/// The number of connections does more than what is asked about: it is named after that.
#[test]
fn the_factor_that_was_asked_about_comes_first() {
    let factors: [Factor; 2] =
        [("target.settings.sync", &["on", "off"]), ("workload.connections", &["1", "8"])];
    let small = measure(&factors, &[10.0, 3.0, 9.0, 2.7]);
    let summary = summarize(&small);
    assert!(
        texts(&summary)[0].starts_with("The best level of sync is off"),
        "{:?}",
        texts(&summary)
    );
    // Also where it does nothing, and whichever comes first in the file.
    let none = measure(&factors, &[10.0, 3.0, 10.0, 3.0]);
    let first = texts(&summarize(&none)).remove(0);
    assert!(first.starts_with("No level of sync differs significantly"), "{first}");
    let factors: [Factor; 2] = [factors[1], factors[0]];
    let none = measure(&factors, &[10.0, 10.0, 3.0, 3.0]);
    let first = texts(&summarize(&none)).remove(0);
    assert!(first.starts_with("No level of sync differs significantly"), "{first}");
}

#[test]
fn no_difference_says_how_many_more_blocks_would_show_one() {
    let mut random = Random::new(72);
    let mut run = recording(&[("target.data_files", &["1", "4"])]);
    for block in 1..=4 {
        for configuration in 0..2 {
            let seconds = 10.0 * (0.1 * random.normal()).exp();
            run.trials.push(done(configuration, block, observed(seconds)));
        }
    }
    run.run.equivalence_margin = 0.05;
    let summary = summarize(&run);
    let first = summary.headline().unwrap().text;
    let detectable = summary.factors.effects[0].detectable.unwrap();
    let more = detectable.blocks_for(0.05).unwrap() - 4;
    assert!(first.contains(&format!(", {more} more would detect 5 %")), "{first}");
    assert!(more > 20, "{more}");
}

/// A response that was not asked for is neither first nor the headline.
#[test]
fn side_responses_come_last() {
    let mut run = measure(&[("target.data_files", &["1", "4"])], &[10.0, 10.0]);
    for trial in &mut run.trials {
        let latency = if trial.configuration == 0 { 5.0 } else { 1.0 };
        let latency = latency + 0.001 * f64::from(trial.block);
        let observations = trial.observations.as_mut().unwrap();
        observations.responses.push(Response::lower("latency_p99", "ms", latency));
    }
    let summary = summarize(&run);
    let findings = summary.findings();
    assert_eq!(findings.last().unwrap().kind, FindingKind::Responses);
    assert_eq!(findings[0].kind, FindingKind::NoDifference);
    assert_eq!(summary.headline().unwrap().kind, FindingKind::NoDifference);
}

/// More work needs more space, which is no worse.
#[test]
fn amounts_of_different_work_are_not_ranked() {
    let of = |is_fixed: bool| {
        let mut run = measure(&[("target.data_files", &["1", "4"])], &[10.0, 10.0]);
        for trial in &mut run.trials {
            let observations = trial.observations.as_mut().unwrap();
            let size = [100.0, 300.0][trial.configuration];
            if !is_fixed {
                observations.work.amount *= [1, 3][trial.configuration];
            }
            let size = size + 0.01 * f64::from(trial.block);
            observations.responses.push(Response::lower("space", "MB", size));
        }
        texts(&summarize(&run)).iter().any(|text| text.contains("space"))
    };
    assert_eq!([of(true), of(false)], [true, false]);
}

/// Queries are not ranked against each other, engines are.
#[test]
fn levels_that_compute_something_else_are_different_work() {
    let mut run = measure(
        &[("target.engine", &["a", "b"]), ("query", &["count", "sum"])],
        &[10.0, 80.0, 2.0, 20.0],
    );
    for configuration in &mut run.configurations {
        let aggregate = configuration.levels[1].level.clone();
        configuration.settings.insert("workload.aggregates".into(), Value::Text(aggregate));
    }
    let summary = summarize(&run);
    let [engine, query] = &summary.factors.effects[..] else { panic!("two factors") };
    assert!(query.other_work && query.levels.iter().all(|level| level.comparison.is_none()));
    assert!(engine.winner().is_some());
    let all = texts(&summary);
    assert!(all[0].starts_with("The best level of engine is b"), "{all:?}");
    assert!(!all.iter().any(|text| text.contains("best configuration")), "{all:?}");
    assert!(summary.configurations.iter().all(|row| row.standing != Standing::Best));
}

const RULES: &[DurabilityRule] = &[DurabilityRule {
    path: "target.settings.sync",
    risk: Risk::Commits,
    keeps: &["on"],
    applied: [Some("on"), Some("off")],
}];

fn with_engines(run: &mut Recording, engines: &[&str], syncs: &[&str]) {
    for (configuration, (engine, sync)) in
        run.configurations.iter_mut().zip(engines.iter().zip(syncs))
    {
        configuration.settings.insert("target.engine".into(), Value::Text((*engine).into()));
        configuration.settings.insert("target.settings.sync".into(), Value::Text((*sync).into()));
    }
}

const PAGES: &[DurabilityRule] = &[DurabilityRule { risk: Risk::Pages, ..RULES[0] }];

#[test]
fn a_level_that_weakens_durability_says_so() {
    for (elapsed_s, begins) in [
        ([10.0, 5.0], "The best level of sync is off"),
        ([10.0, 20.0], "No level of sync beats the first level sync=on"),
        ([10.0, 10.0], "No level of sync differs significantly"),
    ] {
        let mut run = measure(&[("target.settings.sync", &["on", "off"])], &elapsed_s);
        run.run.baseline = None;
        with_engines(&mut run, &["a", "a"], &["on", "off"]);
        let mut summary = summarize(&run);
        assert!(!summary.findings()[0].text.contains("crash"));
        summary.durability = vec![("a", RULES)];
        let first = summary.headline().unwrap().text;
        assert!(first.starts_with(begins), "{first}");
        assert!(first.ends_with(" With sync=off, commits may be lost after a crash."), "{first}");
        summary.durability = vec![("a", PAGES)];
        let first = summary.headline().unwrap().text;
        assert!(first.ends_with(" With sync=off, pages may be torn after a crash."), "{first}");
    }
}

#[test]
fn unequal_durability_of_engines_is_a_finding() {
    let answer = |syncs: [&str; 2]| {
        let mut run = measure(&[("target.engine", &["a", "b"])], &[10.0, 5.0]);
        with_engines(&mut run, &["a", "b"], &syncs);
        let mut summary = summarize(&run);
        summary.durability = vec![("a", RULES), ("b", RULES)];
        let all = texts(&summary);
        (all[0].clone(), all.into_iter().find(|text| text.starts_with("Durability is unequal")))
    };
    let (first, unequal) = answer(["on", "off"]);
    assert!(first.contains("With engine=b (sync=off), commits may be lost"), "{first}");
    let unequal = unequal.unwrap();
    assert!(unequal.contains("with b (sync=off) commits may be lost"), "{unequal}");
    assert!(unequal.contains("a keeps every commit"), "{unequal}");
    assert_eq!(answer(["on", "on"]).1, None);
    assert_eq!(answer(["off", "off"]).1, None);
}

/// The machine slows down, and one level fails in the slow blocks: its mean is the lowest.
#[test]
fn a_level_that_fails_in_slow_blocks_is_not_marked_best_for_it() {
    let mut random = Random::new(73);
    let (mut marked, mut lowest) = (0, 0);
    for _ in 0..300 {
        let mut run = recording(&[("target.data_files", &["1", "2", "4"])]);
        for block in 1..=6 {
            for configuration in 0..3 {
                let machine = 0.1 * f64::from(block);
                let seconds = 10.0 * (machine + 0.03 * random.normal()).exp();
                run.trials.push(match (configuration, block) {
                    (2, 4..) => failed(configuration, block, "disk full"),
                    _ => done(configuration, block, observed(seconds)),
                });
            }
        }
        let summary = summarize(&run);
        let mean = |index: usize| summary.configurations[index].response.as_ref().unwrap().mean;
        lowest += usize::from(mean(2) < mean(0).min(mean(1)));
        marked += usize::from(summary.configurations[2].standing == Standing::Best);
        assert_eq!(summary.factors.effects[0].best == Some(2), {
            summary.configurations[2].standing == Standing::Best
        });
    }
    println!("marked best {marked}, lowest mean {lowest} of 300; 100 expected");
    assert!(lowest > 290 && (60..140).contains(&marked), "{lowest} {marked}");
}

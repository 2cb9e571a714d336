//! Machines that share a plan: planted differences are found, and without any few are claimed.

use agent::machine_effects::{machine_effects, verdict};
use analysis::summarize;
use observations::Recording;
use testing::recordings::{Random, done, observed, recording};

const MACHINES: [&str; 2] = ["a", "b"];

/// A check of five repeats and eight blocks on two machines. `factors` multiply the seconds of the
/// second machine: with the first level, and with the second one.
fn shared(random: &mut Random, factors: [f64; 2]) -> Recording {
    let mut run = recording(&[("files", &["1", "4"])]);
    let mut seconds = |mean: f64| observed(mean * (0.02 * random.normal()).exp());
    for (at, machine) in MACHINES.into_iter().enumerate() {
        let factor = |level: usize| if at == 1 { factors[level] } else { 1.0 };
        for repeat in 1..=5 {
            let mut trial = done(0, 0, seconds(2.0 * factor(0)));
            (trial.sequence, trial.machine) = (repeat, Some(machine.into()));
            run.checks.push(trial);
        }
        for block in (1..=8).filter(|block| block % 2 == at as u32) {
            for (level, mean) in [2.0, 1.0].into_iter().enumerate() {
                let mut trial = done(level, block, seconds(mean * factor(level)));
                trial.machine = Some(machine.into());
                run.trials.push(trial);
            }
        }
    }
    run
}

#[test]
fn a_slower_machine_is_found_by_the_check_and_by_the_plan() {
    let run = shared(&mut Random::new(1), [1.3, 1.3]);
    let verdicts = verdict(&run);
    assert_eq!(verdicts.len(), 1);
    let text = &verdicts[0].text;
    assert!(verdicts[0].differs, "{text}");
    assert!(text.starts_with("check of machines: elapsed on b is 1."), "{text}");
    assert!(text.ends_with("] slower than on a"), "{text}");

    let summary = summarize(&run);
    let report = machine_effects(&run).unwrap();
    assert_eq!(report.machines, MACHINES);
    let plan = report.plan.unwrap();
    let effect = plan.effects.last().unwrap();
    let comparison = effect.levels[1].comparison.as_ref().unwrap();
    assert_eq!((effect.factor.as_str(), comparison.blocks), ("machine", 4));
    let interval = comparison.interval.unwrap();
    assert!(interval.contains(1.0 / 1.3) && !interval.contains(1.0), "{comparison:?}");
    // The gain of the factor is the same on both.
    assert_eq!(plan.interactions.len(), 1);
    assert!(!plan.interactions[0].supported(), "{:?}", plan.interactions[0]);
    // The machine is in no comparison of the factor itself: its blocks are complete.
    let gain = summary.factors.effects[0].levels[1].comparison.as_ref().unwrap();
    assert!(gain.supported() && gain.interval.unwrap().contains(2.0), "{gain:?}");
}

#[test]
fn a_gain_that_depends_on_the_machine_is_an_interaction() {
    let run = shared(&mut Random::new(2), [1.0, 1.5]);
    let plan = machine_effects(&run).unwrap().plan.unwrap();
    let interaction = &plan.interactions[0];
    assert!(interaction.supported(), "{interaction:?}");
    assert_eq!((plan.effects[interaction.factor].factor.as_str(), interaction.by), ("files", 1));
    assert_eq!([interaction.most, interaction.least], [0, 1]);
    // One test of the machine and one interaction: the family of this section.
    assert_eq!(plan.family, 2);
}

/// 95 of 100 checks of equal machines claim no difference.
#[test]
fn equal_machines_are_seldom_called_different() {
    let mut random = Random::new(3);
    let mut claimed = [0; 2];
    for _ in 0..400 {
        let run = shared(&mut random, [1.0, 1.0]);
        claimed[0] += usize::from(verdict(&run)[0].differs);
        let plan = machine_effects(&run).unwrap().plan.unwrap();
        let effect = plan.effects[1].levels[1].comparison.as_ref().unwrap();
        claimed[1] += usize::from(effect.supported() || plan.interactions[0].supported());
    }
    // 5 % of 400, within three standard deviations.
    assert!(claimed.iter().all(|claimed| (2..=33).contains(claimed)), "{claimed:?}");
}

#[test]
fn a_block_that_another_machine_repeats_counts_once() {
    let mut run = shared(&mut Random::new(4), [1.0, 1.0]);
    let before = run.done().count();
    // Machine b had run half of block 2 before it was lost; a repeats all of it.
    let mut lost = done(0, 2, observed(99.0));
    lost.machine = Some("b".into());
    run.trials.insert(0, lost);
    assert_eq!(run.done().count(), before);
    assert!(run.done().all(|(_, observations)| observations.elapsed_s < 99.0));
    assert!(machine_effects(&run).is_some());
}

#[test]
fn a_run_on_one_machine_has_no_such_section() {
    let mut run = shared(&mut Random::new(5), [1.0, 1.0]);
    run.checks.clear();
    run.trials.iter_mut().for_each(|trial| trial.machine = None);
    assert_eq!(machine_effects(&run), None);
    assert_eq!(verdict(&run), []);
}

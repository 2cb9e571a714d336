//! The order of the trials.

use crate::common;
use crate::common::{DESIGN, EVERYTHING, experiment};
use experiment::{Experiment, Plan, PlannedTrial};
use std::collections::BTreeSet;

fn order(plan: &Plan, group: usize, block: u32) -> Vec<usize> {
    plan.block(group, block).iter().map(|trial| trial.configuration).collect()
}

fn with_seed(seed: u32) -> Experiment {
    experiment(&DESIGN.replace("seed = 1", &format!("seed = {seed}")))
}

/// Computed with Python from the published algorithms (`SplitMix64` seeding `xoshiro256++`, Fisher
/// and Yates' shuffle, Lemire's multiplication), without any of our code: a run that is resumed
/// with a later version must see the order that it began with.
#[test]
fn the_order_never_changes() {
    let plan = Plan::new(&experiment(DESIGN));
    assert_eq!(order(&plan, 0, 1), [1, 0, 4, 6, 5, 3, 9, 7, 2, 8]);
    assert_eq!(order(&plan, 0, 2), [5, 3, 8, 4, 9, 6, 0, 7, 1, 2]);
    assert_eq!(order(&plan, 0, 3), [9, 7, 6, 1, 0, 8, 5, 2, 4, 3]);
    assert_eq!(plan.data_seed(1), 0xd4c8_9229_42ae_89db);
}

#[test]
fn each_configuration_runs_once_in_each_block() {
    let experiment = experiment(DESIGN);
    let plan = Plan::new(&experiment);
    let trials: Vec<PlannedTrial> = plan.trials().collect();
    assert_eq!((plan.groups(), plan.len(), trials.len()), (1, 50, 50));
    for block in 1..=5 {
        let mut configurations: Vec<usize> = trials
            .iter()
            .filter(|trial| trial.block == block)
            .map(|trial| trial.configuration)
            .collect();
        configurations.sort_unstable();
        assert_eq!(configurations, (0..10).collect::<Vec<_>>());
    }
    // One block after the other, numbered through.
    assert!(trials.windows(2).all(|pair| pair[0].block <= pair[1].block));
    assert!(trials.iter().zip(1..).all(|(trial, sequence)| trial.sequence == sequence));
}

#[test]
fn blocks_and_seeds_have_orders_of_their_own() {
    let orders: BTreeSet<Vec<usize>> = (1..=20)
        .flat_map(|seed| {
            let plan = Plan::new(&with_seed(seed));
            (1..=5).map(move |block| order(&plan, 0, block))
        })
        .collect();
    // 100 orders of 3,628,800: that two are the same has a chance of 0.14 %.
    assert_eq!(orders.len(), 100);
}

/// A block is the same whenever it is asked for, also beyond the blocks that the file gives.
#[test]
fn blocks_do_not_depend_on_what_was_asked_before() {
    let plan = Plan::new(&experiment(DESIGN));
    let forward: Vec<_> = (1..=9).map(|block| plan.block(0, block)).collect();
    let backward: Vec<_> =
        (1..=9).rev().map(|block| Plan::new(&experiment(DESIGN)).block(0, block)).collect();
    assert!(forward.iter().eq(backward.iter().rev()));
    let more = Plan::new(&experiment(&DESIGN.replace("blocks = 5", "blocks = 9")));
    assert!(
        forward.iter().eq((1..=9).map(|block| more.block(0, block)).collect::<Vec<_>>().iter())
    );
}

/// Over many blocks each configuration is as often at each position: 10 x 10 counts of 200 expected
/// each, chi squared with 81 degrees of freedom; 0.1 % of random orders lie above 126.1.
#[test]
fn positions_are_balanced() {
    let mut counts = [[0_u32; 10]; 10];
    for seed in 1..=20 {
        let plan = Plan::new(&with_seed(seed));
        for block in 1..=100 {
            for (position, configuration) in order(&plan, 0, block).into_iter().enumerate() {
                counts[position][configuration] += 1;
            }
        }
    }
    let chi_squared: f64 =
        counts.iter().flatten().map(|count| (f64::from(*count) - 200.0).powi(2) / 200.0).sum();
    assert!(chi_squared < 126.1, "{chi_squared}");
}

/// The levels of hard-to-change factors change as seldom as they can.
#[test]
fn a_split_plot_changes_hard_factors_seldom() {
    let experiment = experiment(EVERYTHING);
    let plan = Plan::new(&experiment);
    // 2 arrays x 2 volumes.
    assert_eq!(plan.groups(), 4);
    assert_eq!(plan.len(), 20 * 16);
    let trials: Vec<PlannedTrial> = plan.trials().collect();
    let levels = |factor: usize| -> Vec<&str> {
        let mut labels: Vec<&str> = trials
            .iter()
            .map(|trial| {
                experiment.configurations[trial.configuration].levels[factor].label.as_str()
            })
            .collect();
        labels.dedup();
        labels
    };
    // The array, a manual step, is changed once; the volume once for each array and, as its order
    // is random within each, perhaps not between them.
    assert_eq!(levels(3).len(), 2);
    assert!((3..=4).contains(&levels(1).len()));
    // All blocks of a group, each whole and in an order of its own, then the next group.
    for group in 0..4 {
        for block in 1..=20 {
            let set: BTreeSet<usize> = order(&plan, group, block).into_iter().collect();
            assert_eq!(set, plan.group(group).iter().copied().collect());
        }
        let orders: BTreeSet<Vec<usize>> =
            (1..=20).map(|block| order(&plan, group, block)).collect();
        assert!(orders.len() > 5, "of 24 orders, 20 blocks have {}", orders.len());
    }
    assert!(trials.iter().zip(1..).all(|(trial, sequence)| trial.sequence == sequence));
}

/// Factors listed in `order` change in that order, whatever the order of the file.
#[test]
fn the_first_hard_factor_is_the_slowest() {
    let hard = "[order]\nhard_to_change = [\"target.settings.synchronous\", \
                \"target.data_files\"]\n[repeats]";
    let experiment = experiment(&DESIGN.replace("[repeats]", hard));
    assert_eq!(experiment.hard_to_change, [1, 0]);
    let plan = Plan::new(&experiment);
    assert_eq!(plan.groups(), 10);
    let mut synchronous: Vec<&str> = plan
        .trials()
        .map(|trial| experiment.configurations[trial.configuration].levels[1].label.as_str())
        .collect();
    synchronous.dedup();
    assert_eq!(synchronous.len(), 2);
}

/// The group that comes first is random, too.
#[test]
fn groups_come_in_random_order() {
    let first_is_raid_0 = (1..=100)
        .filter(|seed| {
            let seed = *seed;
            let source = EVERYTHING.replace("seed = 7", &format!("seed = {seed}"));
            let experiment = experiment(&source);
            let plan = Plan::new(&experiment);
            experiment.configurations[plan.group(0)[0]].levels[3].label == "raid-0"
        })
        .count();
    // Binomial: outside of this with a chance of 0.1 %.
    assert!((34..=66).contains(&first_is_raid_0), "{first_is_raid_0}");
}

#[test]
fn changes_are_those_that_need_more_than_a_setting() {
    let experiment = experiment(EVERYTHING);
    let plan = Plan::new(&experiment);
    let find = |label: &str| {
        experiment
            .configurations
            .iter()
            .find(|configuration| configuration.label() == label)
            .unwrap()
    };
    let changes = |previous: Option<&str>, next: &str| -> Vec<String> {
        let changes = plan.changes(previous.map(find), find(next));
        changes.into_iter().map(|level| format!("{} {}", level.factor, level.label)).collect()
    };
    let first = "data_files=1 volume=fast log=rollback array=raid-0";
    assert_eq!(changes(None, first), ["target.volume fast", "array raid-0"]);
    assert!(changes(Some(first), "data_files=4 volume=fast log=rollback array=raid-0").is_empty());
    assert_eq!(
        changes(Some(first), "data_files=1 volume=fast log=rollback array=raid-1"),
        ["array raid-1"]
    );
    assert_eq!(
        changes(Some(first), "data_files=1 volume=fast+slow log=rollback array=raid-0"),
        ["target.volume fast+slow"]
    );

    // A factor of volumes with commands is hard to change without being listed, after the others.
    let unlisted = EVERYTHING.replace("hard_to_change = [\"target.volume\"]", "");
    let unlisted = common::experiment(&unlisted);
    let (a, b) = (&unlisted.configurations[0], &unlisted.configurations[4]);
    assert_ne!(a.levels[1], b.levels[1]);
    assert_eq!(unlisted.hard_to_change, [3, 1]);
    assert_eq!(Plan::new(&unlisted).changes(Some(a), b)[0], b.levels[1]);

    // Without commands it is not, and its changes are noticed all the same.
    let lines: Vec<&str> = EVERYTHING
        .lines()
        .filter(|line| !(line.starts_with("prepare") || line.starts_with("cleanup")))
        .collect();
    let text = lines.join("\n").replace("hard_to_change = [\"target.volume\"]", "");
    let plain = common::experiment(&text);
    assert!(!plain.factors[1].hard_to_change);
    assert_eq!(Plan::new(&plain).changes(Some(a), b)[0], b.levels[1]);
}

#[test]
fn the_data_of_a_block_are_the_same_for_all() {
    let plan = Plan::new(&experiment(DESIGN));
    assert_eq!(plan.data_seed(3), Plan::new(&experiment(DESIGN)).data_seed(3));
    let seeds: BTreeSet<u64> = (1..=100).map(|block| plan.data_seed(block)).collect();
    assert_eq!(seeds.len(), 100);
}

/// Each level of a hard-to-change factor is set up as often as the file says, each time with its
/// share of the blocks.
#[test]
fn set_ups_are_repeated() {
    let hard = "[order]\nhard_to_change = [\"target.settings.synchronous\"]\n[repeats]\nsetups = 3";
    let source = DESIGN.replace("[repeats]", hard).replace("blocks = 5", "blocks = 7");
    let experiment = experiment(&source);
    let plan = Plan::new(&experiment);
    let once = Plan::new(&common::experiment(&source.replace("setups = 3", "setups = 1")));
    let trials: Vec<PlannedTrial> = plan.trials().collect();
    assert_eq!((plan.groups(), plan.len(), trials.len()), (6, once.len(), once.len()));
    assert!(trials.iter().zip(1..).all(|(trial, sequence)| trial.sequence == sequence));
    // 7 blocks in 3 set-ups are 3, 2 and 2; set-up follows set-up.
    let blocks: BTreeSet<(u32, u32)> =
        trials.iter().map(|trial| (trial.setup, trial.block)).collect();
    assert_eq!(
        blocks.into_iter().collect::<Vec<_>>(),
        [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7)]
    );
    assert!(trials.is_sorted_by_key(|trial| trial.setup));
    // Every configuration once in every block, as with one set-up.
    let cells = |plan: &Plan| -> BTreeSet<(usize, u32)> {
        plan.trials().map(|trial| (trial.configuration, trial.block)).collect()
    };
    assert_eq!(cells(&plan), cells(&once));
    // In each set-up each level in one stretch.
    let mut stretches: Vec<_> = trials
        .iter()
        .map(|trial| (trial.setup, &experiment.configurations[trial.configuration].levels[1].label))
        .collect();
    stretches.dedup();
    assert_eq!(stretches.len(), 6, "{stretches:?}");
    // The levels come in an order of their own in each set-up.
    let first = |seed: u32| -> Vec<String> {
        let experiment = common::experiment(&source.replace("seed = 1", &format!("seed = {seed}")));
        let plan = Plan::new(&experiment);
        [0, 2, 4]
            .map(|group| experiment.configurations[plan.group(group)[0]].levels[1].label.clone())
            .into()
    };
    assert!((1..20).any(|seed| first(seed)[0] != first(seed)[1]));
}

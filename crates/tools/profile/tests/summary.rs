//! Profiles summed up and merged, against counts by hand.

use ::profile::{FlameNode, flame, merged, profile, profiles};
use analysis::summarize;
use observations::{Observations, Profile, Recording};
use report::Medium;
use testing::profiles::with_stacks;
use testing::recordings::{done, observed, recording};

#[test]
fn a_summary_counts_what_is_in_the_stacks() {
    // `parse` calls itself: it counts once for each sample.
    let summary = profile(&with_stacks(&[(&[0, 1, 1, 2], 60), (&[0, 1], 30), (&[0, 3], 10)]));
    assert_eq!((summary.all.samples, summary.kernel.samples), (100, 10));
    assert!((summary.all.seconds - 1.0).abs() < 1e-12);
    let modules: Vec<_> = summary
        .modules
        .iter()
        .map(|module| (module.module.as_str(), module.hits.samples))
        .collect();
    assert_eq!(modules, [("/lib/libc.so", 60), ("/bin/db", 30), ("[kernel]", 10)]);
    let parse = &summary.modules[1].functions[0];
    assert_eq!(
        (parse.function.as_str(), parse.hits.samples, parse.total.samples),
        ("parse", 30, 90)
    );
    assert_eq!(summary.stacks[0].functions, ["main", "parse", "parse", "memcpy"]);
    let of_modules: f64 = summary.modules.iter().map(|module| module.hits.share).sum();
    assert!((of_modules - 1.0).abs() < 1e-12);
}

fn depth(node: &FlameNode) -> usize {
    1 + node.children.iter().map(depth).max().unwrap_or(0)
}

#[test]
fn a_flame_graph_keeps_every_sample_in_its_place() {
    let root = flame(&with_stacks(&[(&[0, 1, 1, 2], 60), (&[0, 1], 30), (&[0, 3], 10)]));
    assert_eq!((root.samples, root.hits, depth(&root)), (100, 0, 5));
    let main = &root.children[0];
    let below: Vec<_> = main
        .children
        .iter()
        .map(|child| (child.function.as_str(), child.samples, child.hits))
        .collect();
    assert_eq!(below, [("parse", 90, 30), ("vfs_read", 10, 10)]);
    assert!(main.children[1].kernel);
}

#[test]
fn merged_profiles_are_the_sum_whatever_their_numbering() {
    let a = with_stacks(&[(&[0, 1], 30), (&[0, 3], 10)]);
    let mut b = with_stacks(&[(&[0, 1], 5), (&[0, 2], 7)]);
    // The same functions in another order.
    b.frames.reverse();
    b.modules.reverse();
    b.frames.iter_mut().for_each(|frame| frame.module = 2 - frame.module);
    b.stacks
        .iter_mut()
        .for_each(|stack| stack.frames.iter_mut().for_each(|frame| *frame = 3 - *frame));
    let both = merged([&a, &b]).unwrap();
    assert!(both.is_consistent());
    let expected = profile(&with_stacks(&[(&[0, 1], 35), (&[0, 3], 10), (&[0, 2], 7)]));
    let found = profile(&both);
    assert_eq!((found.modules, found.stacks), (expected.modules, expected.stacks));
    assert!((both.elapsed_s - 20.0).abs() < 1e-12);
    assert_eq!(merged([]), None);
    let other_rate = Profile { hz: 99.0, ..b };
    assert_eq!(merged([&a, &other_rate]), None);
}

/// A damaged file may hold any counts.
#[test]
fn counts_of_any_size_are_added_up() {
    let largest = Profile { lost: u64::MAX, ..with_stacks(&[(&[0, 1], u64::MAX)]) };
    let both = merged([&largest, &largest]).unwrap();
    assert_eq!((both.lost, both.stacks[0].samples), (u64::MAX, u64::MAX));
    let twice = with_stacks(&[(&[0, 1], u64::MAX), (&[0, 1], u64::MAX)]);
    assert_eq!(flame(&twice).samples, u64::MAX);
}

fn samples(run: &Recording) -> Vec<u64> {
    let found = profiles(&summarize(run));
    found.iter().map(|found| found.profile.all.samples).collect()
}

fn page(run: &Recording) -> String {
    report::web::page(&report::run(&summarize(run), &[::profile::SECTIONS], Medium::Page))
}

/// The code of trials that were profiled is known without the others.
#[test]
fn the_profiled_trials_of_a_configuration_are_summed_up() {
    let mut run = recording(&[("files", &["1", "4"])]);
    for block in 1..=3 {
        for (configuration, samples) in [(0, 10 * u64::from(block)), (1, 7)] {
            let profile = Some(with_stacks(&[(&[0, 1], samples)]));
            let trial = Observations { profile, ..observed(2.0) };
            run.trials.push(done(configuration, block, trial));
        }
    }
    assert_eq!(samples(&run), [60, 21]);
    let html = page(&run);
    assert!(html.contains("Width: CPU time of a function") && html.contains("<svg xmlns"));
    run.trials[0].observations.as_mut().unwrap().profile = None;
    assert_eq!(samples(&run), [50, 21]);
    for trial in &mut run.trials {
        trial.observations.as_mut().unwrap().profile = Some(with_stacks(&[]));
    }
    assert!(page(&run).contains("<p class=\"muted\">No samples.</p>"));
}

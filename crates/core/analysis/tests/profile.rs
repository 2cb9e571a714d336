//! Profiles summed up, merged, compared: against what is counted by hand and drawn by chance.

use analysis::{compare_profiles, flame, merged, profile};
use observations::{Frame, Profile, Stack};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const FUNCTIONS: [(&str, usize, bool); 4] =
    [("main", 0, false), ("parse", 0, false), ("memcpy", 1, false), ("vfs_read", 2, true)];

/// A profile with the functions above, whose stacks have so many samples.
fn with(stacks: &[(&[usize], u64)]) -> Profile {
    let frame = |&(function, module, kernel): &(&str, usize, bool)| Frame {
        function: function.into(),
        module,
        kernel,
    };
    let stack = |&(frames, samples): &(&[usize], u64)| Stack { frames: frames.to_vec(), samples };
    Profile {
        target: "test".into(),
        elapsed_s: 10.0,
        hz: 100.0,
        threads: 2,
        modules: vec!["/bin/db".into(), "/lib/libc.so".into(), "[kernel]".into()],
        frames: FUNCTIONS.iter().map(frame).collect(),
        stacks: stacks.iter().map(stack).collect(),
        ..Profile::default()
    }
}

#[test]
fn a_summary_counts_what_is_in_the_stacks() {
    // `parse` calls itself: it counts once for each sample.
    let summary = profile(&with(&[(&[0, 1, 1, 2], 60), (&[0, 1], 30), (&[0, 3], 10)]));
    assert_eq!((summary.all.samples, summary.kernel.samples), (100, 10));
    assert!((summary.all.seconds - 1.0).abs() < 1e-12);
    let modules: Vec<_> =
        summary.modules.iter().map(|module| (module.module.as_str(), module.own.samples)).collect();
    assert_eq!(modules, [("/lib/libc.so", 60), ("/bin/db", 30), ("[kernel]", 10)]);
    let parse = &summary.modules[1].functions[0];
    assert_eq!(
        (parse.function.as_str(), parse.own.samples, parse.total.samples),
        ("parse", 30, 90)
    );
    assert_eq!(summary.stacks[0].functions, ["main", "parse", "parse", "memcpy"]);
    let of_modules: f64 = summary.modules.iter().map(|module| module.own.share).sum();
    assert!((of_modules - 1.0).abs() < 1e-12);
}

#[test]
fn a_flame_graph_keeps_every_sample_in_its_place() {
    let root = flame(&with(&[(&[0, 1, 1, 2], 60), (&[0, 1], 30), (&[0, 3], 10)]));
    assert_eq!((root.samples, root.own, root.depth()), (100, 0, 5));
    let main = &root.children[0];
    let below: Vec<_> = main
        .children
        .iter()
        .map(|child| (child.function.as_str(), child.samples, child.own))
        .collect();
    assert_eq!(below, [("parse", 90, 30), ("vfs_read", 10, 10)]);
    assert!(main.children[1].kernel);
}

#[test]
fn merged_profiles_are_the_sum_whatever_their_numbering() {
    let a = with(&[(&[0, 1], 30), (&[0, 3], 10)]);
    let mut b = with(&[(&[0, 1], 5), (&[0, 2], 7)]);
    // The same functions in another order.
    b.frames.reverse();
    b.modules.reverse();
    b.frames.iter_mut().for_each(|frame| frame.module = 2 - frame.module);
    b.stacks
        .iter_mut()
        .for_each(|stack| stack.frames.iter_mut().for_each(|frame| *frame = 3 - *frame));
    let both = merged([&a, &b]).unwrap();
    assert!(both.is_consistent());
    let expected = profile(&with(&[(&[0, 1], 35), (&[0, 3], 10), (&[0, 2], 7)]));
    let found = profile(&both);
    assert_eq!((found.modules, found.stacks), (expected.modules, expected.stacks));
    assert!((both.elapsed_s - 20.0).abs() < 1e-12);
    assert_eq!(merged([]), None);
    let other_rate = Profile { hz: 99.0, ..b };
    assert_eq!(merged([&a, &other_rate]), None);
}

#[test]
fn a_known_difference_is_found_and_the_rest_is_not() {
    // B copies for 4 s more, and does the rest as A did: what else stays the same in seconds has a
    // smaller share.
    let a = with(&[(&[0, 1], 500), (&[0, 2], 200), (&[0, 3], 300)]);
    let b = with(&[(&[0, 1], 510), (&[0, 2], 600), (&[0, 3], 295)]);
    let compared = compare_profiles(&a, &b);
    let first = &compared.functions[0];
    assert_eq!((first.function.as_deref(), first.module.as_str()), (Some("memcpy"), "libc.so"));
    assert!(
        (first.seconds.value - 4.0).abs() < 1e-12
            && first.seconds.is_beyond
            && first.share.is_beyond
    );
    assert!(first.seconds.interval.contains(4.0) && first.seconds.interval.low > 3.0, "{first:?}");
    assert!((first.share.value - (600.0 / 1405.0 - 0.2)).abs() < 1e-12, "{first:?}");
    for same in &compared.functions[1..] {
        assert!(!same.seconds.is_beyond && same.share.is_beyond, "{same:?}");
        assert!(same.seconds.interval.contains(0.0), "{same:?}");
    }
    // Differences add up to the whole, in both tables and both ways.
    for table in [&compared.modules, &compared.functions] {
        let seconds: f64 = table.iter().map(|change| change.seconds.value).sum();
        let shares: f64 = table.iter().map(|change| change.share.value).sum();
        assert!((seconds - 4.05).abs() < 1e-9 && shares.abs() < 1e-9, "{seconds} {shares}");
    }
}

#[test]
fn a_function_of_one_side_only_and_an_empty_profile_are_compared_too() {
    let a = with(&[(&[0, 1], 50)]);
    let b = with(&[(&[0, 1], 50), (&[0, 3], 40)]);
    let compared = compare_profiles(&a, &b);
    let new = compared
        .functions
        .iter()
        .find(|change| change.function.as_deref() == Some("vfs_read"))
        .unwrap();
    assert!(new.seconds.is_beyond && new.a.samples == 0 && new.kernel, "{new:?}");
    let nothing = with(&[]);
    assert!(compare_profiles(&nothing, &nothing).functions.is_empty());
    let from_nothing = compare_profiles(&nothing, &a);
    assert!(from_nothing.functions[0].share.value.is_finite());
}

#[test]
fn profiles_of_the_same_program_rarely_differ_beyond_the_error() {
    // 400 pairs with the same shares: at 95 % over a table, at most 5 % may seem to differ; 4
    // standard errors more fail.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut draw = || {
        let mut counts = [0_u64; 4];
        for _ in 0..500 {
            let place = match random.next_u64() % 100 {
                0..60 => 0,
                60..85 => 1,
                85..99 => 2,
                _ => 3,
            };
            counts[place] += 1;
        }
        with(&[(&[0], counts[0]), (&[1], counts[1]), (&[2], counts[2]), (&[3], counts[3])])
    };
    let (mut shares, mut seconds) = (0, 0);
    for _ in 0..400 {
        let compared = compare_profiles(&draw(), &draw());
        shares += i32::from(compared.functions.iter().any(|change| change.share.is_beyond));
        seconds += i32::from(compared.functions.iter().any(|change| change.seconds.is_beyond));
    }
    assert!(shares <= 37 && seconds <= 37, "{shares} and {seconds} of 400");
}

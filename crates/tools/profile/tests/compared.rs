//! Profiles compared, against counts by hand and chance.

use profile::compare_profiles;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use testing::profiles::with_stacks;

#[test]
fn a_known_difference_is_found_and_the_rest_is_not() {
    // B copies for 4 s more, and does the rest as A did: what else stays the same in seconds has a
    // smaller share.
    let a = with_stacks(&[(&[0, 1], 500), (&[0, 2], 200), (&[0, 3], 300)]);
    let b = with_stacks(&[(&[0, 1], 510), (&[0, 2], 600), (&[0, 3], 295)]);
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
    let a = with_stacks(&[(&[0, 1], 50)]);
    let b = with_stacks(&[(&[0, 1], 50), (&[0, 3], 40)]);
    let compared = compare_profiles(&a, &b);
    let new = compared
        .functions
        .iter()
        .find(|change| change.function.as_deref() == Some("vfs_read"))
        .unwrap();
    assert!(new.seconds.is_beyond && new.a.samples == 0 && new.kernel, "{new:?}");
    let nothing = with_stacks(&[]);
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
        with_stacks(&[(&[0], counts[0]), (&[1], counts[1]), (&[2], counts[2]), (&[3], counts[3])])
    };
    let (mut shares, mut seconds) = (0, 0);
    for _ in 0..400 {
        let compared = compare_profiles(&draw(), &draw());
        shares += i32::from(compared.functions.iter().any(|change| change.share.is_beyond));
        seconds += i32::from(compared.functions.iter().any(|change| change.seconds.is_beyond));
    }
    assert!(shares <= 37 && seconds <= 37, "{shares} and {seconds} of 400");
}

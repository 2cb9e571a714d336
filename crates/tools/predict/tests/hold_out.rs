//! Predictions for held-out levels of systems with known truth.

use predict::models::curve::{Curve, Level, Model};
use predict::models::hold_out::{self, FittedModel, JudgeError};
use predict::models::network::{Service, Station, throughputs};
use predict::models::usl::Usl;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const LEVELS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// Trials of each level around a truth.
fn levels(
    truth: &dyn Fn(f64) -> f64,
    cpu_s: Option<f64>,
    normal: &mut dyn FnMut() -> f64,
) -> Vec<Level> {
    LEVELS
        .iter()
        .map(|n| Level {
            n: *n,
            trials: (0..3).map(|_| truth(*n) * (1.0 + 0.03 * normal())).collect(),
            cpu_s,
            ..Level::default()
        })
        .collect()
}

/// A target with processors, a lock and a client, by the network itself.
fn target(processors: u32, cpu_s: f64, serial_s: f64, delay_s: f64) -> impl Fn(f64) -> f64 {
    let queue = |demand_s, servers| Station { demand_s, service: Service::Servers(servers) };
    let client = Station { demand_s: delay_s, service: Service::Delay };
    let stations = [queue(cpu_s, processors), queue(serial_s, 1), client];
    move |n| throughputs(&stations, n as usize).unwrap()[n as usize - 1]
}

/// The demands that were put in come out.
#[test]
fn the_network_finds_what_takes_time() {
    let truth = target(4, 0.002, 0.0008, 0.005);
    let found =
        Curve::fit(Model::Network, &levels(&truth, Some(0.002), &mut || 0.0), Some(4)).unwrap();
    let Curve::Network(network) = found else { panic!("a network") };
    assert!(
        (network.serial_s / 0.0008 - 1.0).abs() < 0.02
            && (network.delay_s / 0.005 - 1.0).abs() < 0.02,
        "{network:?}"
    );
}

/// Targets of several kinds, most of which match no model exactly: noise of 3 %, the levels 32 and
/// 64 held out.
#[test]
fn intervals_of_levels_that_were_not_seen_hold_what_they_promise() {
    type Target<'a> = (&'a dyn Fn(f64) -> f64, Option<f64>);
    const EXPERIMENTS: u64 = 8;
    let usl = |contention, coherency| {
        let law = Usl { gamma: 900.0, contention, coherency };
        move |n: f64| law.throughput(n)
    };
    // Two processors that lose 3 % of their speed with each doubling, as caches get colder.
    let colder = target(2, 0.002, 0.0001, 0.003);
    // Group commit: each sync takes those who wait, up to 20 of them.
    let group_commit = [(0.004, 20), (0.001, 2)];
    let group_commit = group_commit
        .map(|(demand_s, servers)| Station { demand_s, service: Service::Servers(servers) });
    let targets: [Target; 6] = [
        (&target(2, 0.002, 0.0, 0.001), Some(0.002)),
        (&target(8, 0.002, 0.0005, 0.01), Some(0.002)),
        (&usl(0.02, 0.0005), None),
        (&usl(0.3, 0.01), None),
        (&move |n| colder(n) * 0.97_f64.powf(n.log2()), Some(0.002)),
        (&move |n| throughputs(&group_commit, n as usize).unwrap()[n as usize - 1], Some(0.001)),
    ];
    let (mut held, mut all, mut errors) = (0_u32, 0_u32, Vec::new());
    for (at, (truth, cpu_s)) in targets.into_iter().enumerate() {
        for seed in 0..EXPERIMENTS {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut uniform = || ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
            let levels = levels(truth, cpu_s, &mut || {
                (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
            });
            let held_out = LEVELS.map(|n| n > 16.0);
            let processors = if at == 1 { 8 } else { 2 };
            let judged = hold_out::judge(&levels, Some(processors), &held_out).unwrap();
            for level in &judged.candidates[0].tested {
                held += u32::from(level.covered);
                all += 1;
                errors.push(level.error.abs());
            }
        }
    }
    errors.sort_by(f64::total_cmp);
    let (share, median) = (f64::from(held) / f64::from(all), errors[errors.len() / 2]);
    println!("held {share:.3} of {all}, median error {median:.3}");
    assert!(share >= 0.9, "{share}");
    assert!(median < 0.1, "{median}");
}

/// Farther from what was measured an interval is wider.
#[test]
fn error_grows_with_the_distance() {
    let truth = target(2, 0.002, 0.0005, 0.004);
    let levels = levels(&truth, Some(0.002), &mut || 0.0);
    for model in [Model::Amdahl, Model::Universal, Model::Network] {
        let fitted = FittedModel::fit(model, &levels, Some(2)).unwrap();
        let width = |n: f64| {
            let predict = fitted.predict(n).unwrap();
            (predict.distance, (predict.interval.high / predict.interval.low).ln())
        };
        let (inside, near, far) = (width(48.0), width(128.0), width(512.0));
        assert_eq!(
            (inside.0.to_bits(), near.0.to_bits(), far.0.to_bits()),
            (1.0_f64.to_bits(), 2.0_f64.to_bits(), 8.0_f64.to_bits())
        );
        assert!(inside.1 < near.1 && near.1 < far.1, "{model:?}");
    }
}

#[test]
fn too_little_to_tell_is_refused() {
    let truth = target(2, 0.002, 0.0005, 0.004);
    let all = levels(&truth, Some(0.002), &mut || 0.0);
    let judge = |levels: &[Level], held_out: &[bool]| {
        hold_out::judge(levels, Some(2), held_out).unwrap_err()
    };
    assert_eq!(judge(&all[..3], &[false, false, true]), JudgeError::TooFewLevels { levels: 3 });
    let most = LEVELS.map(|n| n > 2.0);
    assert_eq!(judge(&all, &most), JudgeError::TooFewLeft { left: 2, held_out: 5 });
    assert_eq!(judge(&all, &[false; 7]), JudgeError::NoneHeldOut);
    let mut stopped = all.clone();
    stopped[2].trials[0] = 0.0;
    assert_eq!(judge(&stopped, &LEVELS.map(|n| n > 16.0)), JudgeError::NotPositive);
    assert_eq!([4, 5, 6, 7, 9].map(hold_out::automatic), [1, 1, 2, 2, 3]);
    // No variation at all: every model says so, and none divides by it.
    let flat = levels(&|_| 500.0, None, &mut || 0.0);
    let judged = hold_out::judge(&flat, None, &LEVELS.map(|n| n > 16.0)).unwrap();
    assert!(
        judged.candidates[0].tested.iter().all(|level| level.error.abs() < 0.02 && level.covered),
        "{judged:?}"
    );
}

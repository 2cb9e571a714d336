//! Trials of a given time that are stopped because their rate cannot reach the leader's, with noise
//! from trial to trial and noise within a trial.

use crate::independent::Independent;
use crate::noise::Random;
use runner::RateWatch as _;
use statistics::mean;
use tune::optimiser::{Courses, Optimiser, Outcome, Point, RateBound, RateWatch, Space, Trial};

/// Seconds of a trial, and words of it in a second.
const WINDOW_S: f64 = 30.0;
const SECOND: usize = 10;
const WORDS: usize = 300;
/// The noise of a trial, of its cost, and of a tenth of a second within one.
const CV: f64 = 0.03;
const OWN_CV: f64 = 0.15;
const SEARCHES: u64 = 8;
const ROUND: usize = 8;
const ROUNDS: usize = 5;
/// Trials that are drawn for each limit.
const DRAWS: usize = 60;

/// The course of the rate within a trial; its mean over the window is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    Normal,
    Lognormal,
    /// One word in twenty tells of a fifth of the rate.
    Stalls,
    /// Two regimes that differ by 35 %, three changes a trial.
    Regimes,
    /// A tenth of the rate has an autocorrelation of 0.9 from second to second.
    Correlated,
    /// Rises from 0.5 to 1.5.
    Rising,
    /// A cache fills: from 0.5 on, with a time constant of a third of the window.
    Filling,
    /// Rises from 0.5 to 2 with the square of the time.
    Accelerating,
    /// Falls from 1.5 to 0.5.
    Falling,
    /// Twice the rate from half of the window on: nothing in the trial tells it before.
    Step,
}

const ALL: [Course; 10] = [
    Course::Normal,
    Course::Lognormal,
    Course::Stalls,
    Course::Regimes,
    Course::Correlated,
    Course::Rising,
    Course::Filling,
    Course::Accelerating,
    Course::Falling,
    Course::Step,
];

impl Course {
    /// Rates of a trial, one for each word.
    fn rates(self, random: &mut Random) -> Vec<f64> {
        let (mut slow, mut regime) = (random.normal(), f64::from(random.uniform() < 0.5));
        let step = 0.9_f64.powf(1.0 / SECOND as f64);
        let mut rates = Vec::with_capacity(WORDS);
        for at in 0..WORDS {
            let (draw, place) = (random.normal(), (at as f64 + 0.5) / WORDS as f64);
            slow = step * slow + (1.0 - step * step).sqrt() * random.normal();
            if random.uniform() < 3.0 / WORDS as f64 {
                regime = 1.0 - regime;
            }
            let stalls = random.uniform() < 0.05;
            let course = match self {
                Self::Normal | Self::Lognormal => 1.0,
                Self::Stalls => (if stalls { 0.2 } else { 1.0 }) / 0.96,
                Self::Regimes => 0.85 + 0.3 * regime,
                Self::Correlated => 1.0 + 0.1 * slow,
                Self::Rising => 0.5 + place,
                Self::Filling => (1.0 - 0.6 * (-3.0 * place).exp()) / 0.81,
                Self::Accelerating => 0.5 + 1.5 * place * place,
                Self::Falling => 1.5 - place,
                Self::Step => (if place < 0.5 { 2.0 } else { 4.0 }) / 3.0,
            };
            rates.push(match self {
                Self::Lognormal => (0.5 * draw - 0.125).exp(),
                _ => (course * (1.0 + OWN_CV * draw)).max(0.0),
            });
        }
        rates
    }
}

/// Costs of a valley: the best is 0.
fn cost(point: &[Option<f64>]) -> f64 {
    let at = |knob: usize| point[knob].unwrap();
    1.2 * (at(0) - 0.3).abs() + (at(1) - 0.8).powi(2)
}

/// The state of a search before a round.
struct Limit {
    /// The leader's rate.
    leader: f64,
    bound: RateBound,
}

fn bound(least: f64, courses: &[Vec<f64>]) -> RateBound {
    let all: Vec<&[f64]> = courses.iter().map(Vec::as_slice).collect();
    let courses = Courses::from_trials(&all).unwrap();
    RateBound { least, unit: "rows/s".into(), window_s: WINDOW_S, courses }
}

/// The bounds of rounds of searches whose trials have this course.
fn limits(course: Course) -> Vec<Limit> {
    let domains = crate::domains(2);
    let mut limits = Vec::new();
    for seed in 0..SEARCHES {
        let space = Space { domains: &domains, rules: &Independent };
        let optimiser = Optimiser { space, seed, first: ROUND };
        let mut random = Random::new(seed);
        let (mut tried, mut courses): (Vec<Trial>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            let known = tried.iter().map(|attempt| cost(&attempt.point));
            let leader = (-known.fold(f64::INFINITY, f64::min)).exp();
            if let Some(limit) = optimiser.stop_beyond(&tried) {
                limits.push(Limit { leader, bound: bound((-limit).exp(), &courses) });
            }
            if round == ROUNDS {
                break;
            }
            let present: Point = vec![Some(0.8), Some(0.4)];
            let proposed = optimiser.propose(&tried, ROUND);
            for point in std::iter::once(present).chain(proposed) {
                let rates = course.rates(&mut random);
                let measured = cost(&point) + CV * random.normal() - mean(&rates).ln();
                courses.push(rates.chunks(SECOND).map(mean).collect());
                tried.push(Trial { point, outcome: Outcome::Cost(measured) });
            }
        }
    }
    limits
}

/// Trials of one speed, against the leader's.
#[derive(Debug, Default)]
struct Counts {
    trials: f64,
    stopped: f64,
    /// Tests whose rate over the whole window exceeds the bound with which they were stopped.
    above: f64,
    /// Shares of windows that were not measured, added up.
    saved: f64,
}

fn draw(limits: &[Limit], course: Course, speed: f64) -> Counts {
    let mut random = Random::new(7);
    let mut counts = Counts::default();
    for Limit { leader, bound } in limits.iter().flat_map(|limit| std::iter::repeat_n(limit, DRAWS))
    {
        let level = leader * speed * (CV * random.normal()).exp();
        let rates = course.rates(&mut random);
        let mut watch = RateWatch::new(bound.clone());
        watch.hear(0.0, 0.0);
        counts.trials += 1.0;
        let mut words = rates.iter().zip(1..);
        let stopped = words.find_map(|(rate, at)| {
            let elapsed_s = f64::from(at) / SECOND as f64;
            watch.hear(elapsed_s, level * rate).map(|at_most| (elapsed_s, at_most))
        });
        if let Some((elapsed_s, at_most)) = stopped {
            counts.stopped += 1.0;
            counts.above += f64::from(level * mean(&rates) > at_most);
            counts.saved += 1.0 - elapsed_s / WINDOW_S;
        }
    }
    counts
}

/// Of points that are as good as the leader at most one in a hundred is stopped with normal noise,
/// and one in fifty whatever the course of the rate. The bound with which a trial is stopped holds.
#[test]
fn rates_that_can_reach_the_leader_are_rarely_stopped() {
    for course in ALL {
        let limits = limits(course);
        let [equal, third, half] = [1.0, 1.0 / 1.3, 0.5].map(|speed| draw(&limits, course, speed));
        let wrong = equal.stopped / equal.trials;
        let above = (third.above + half.above) / (third.trials + half.trials);
        println!(
            "{course:?}: wrong {wrong:.4}, above {above:.4}; 1.3x: {:.2} stopped, {:.2} saved; 2x: \
             {:.2}, {:.2}",
            third.stopped / third.trials,
            third.saved / third.trials,
            half.stopped / half.trials,
            half.saved / half.trials,
        );
        assert!(wrong <= 0.02 && above <= 0.02, "{course:?}: {wrong} {above}");
        if course == Course::Normal {
            assert!(wrong <= 0.01, "{wrong}");
            assert!(third.saved >= 0.15 * third.trials, "{third:?}");
            assert!(half.saved >= 0.45 * half.trials, "{half:?}");
        }
    }
}

/// A rate that rises where those of the other trials did not is not stopped either. A sudden rise
/// that no trial had before cannot be foreseen: the share of these is only printed.
#[test]
fn a_rate_may_rise_otherwise_than_those_before() {
    let limits = limits(Course::Normal);
    for course in [Course::Rising, Course::Filling, Course::Accelerating, Course::Step] {
        let equal = draw(&limits, course, 1.0);
        let wrong = equal.stopped / equal.trials;
        println!("{course:?} among flat ones: wrong {wrong:.4}");
        assert!(wrong <= 0.02 || course == Course::Step, "{course:?}: {wrong}");
    }
}

/// The second of the measurement at which it is stopped; words come ten times a second.
fn stopped_at(bound: &RateBound, rate: impl Fn(f64) -> f64) -> Option<f64> {
    let mut watch = RateWatch::new(bound.clone());
    // The warm-up does not count, nor does what was heard before "go".
    let before = [-0.2, -0.1, 0.0, 0.1, 0.2].map(|at_s| watch.hear(at_s, 1e9));
    assert_eq!(before, [None; 5]);
    watch.hear(0.02, 1e9);
    (1..=300).map(|at| 0.1 * f64::from(at)).find(|at_s| watch.hear(*at_s, rate(*at_s)).is_some())
}

#[test]
fn a_rate_is_judged_by_its_course() {
    let flat = bound(100.0, &[vec![1.0; 30], vec![2.0; 30]]);
    let wave = |at_s: f64| 1.0 + 0.05 * (7.0 * at_s).sin();
    let half = stopped_at(&flat, |at_s| 50.0 * wave(at_s)).unwrap();
    assert!((7.5..9.1).contains(&half), "the first looks: {half}");
    assert_eq!(stopped_at(&flat, |at_s| 101.0 * wave(at_s)), None);
    assert_eq!(stopped_at(&flat, |at_s| 5.0 * at_s), None, "it rises");
    assert_eq!(stopped_at(&flat, |_| 0.0), None, "without progress nothing is known");
    // Other trials doubled their rate later: this one may do so too.
    let step: Vec<f64> = (0..30).map(|at| if at < 15 { 1.0 } else { 2.0 }).collect();
    let later = bound(100.0, &[vec![1.0; 30], step]);
    let early = stopped_at(&later, |at_s| 72.0 * wave(at_s));
    assert!(early.is_none_or(|at_s| at_s > 15.0), "{early:?}");
    let known = stopped_at(&flat, |at_s| 72.0 * wave(at_s)).unwrap();
    assert!(known < 15.0, "{known}");
    assert!(stopped_at(&later, |at_s| 50.0 * wave(at_s)).is_some());
    assert_eq!(Courses::from_trials(&[&[1.0; 4]]), None);
    assert_eq!(Courses::from_trials(&[]), None);
}

/// Intervals are regular, whenever words come.
#[test]
fn words_are_divided_into_equal_intervals() {
    let mut watch = RateWatch::new(bound(1.0, &[vec![1.0; 30]]));
    watch.hear(0.05, 7.0);
    for (at_s, rate) in [(0.25, 10.0), (0.5, 20.0), (1.05, 40.0)] {
        watch.hear(at_s, rate);
    }
    let expected = [(0.2 * 10.0 + 0.1 * 20.0) / 0.3, (0.15 * 20.0 + 0.15 * 40.0) / 0.3, 40.0];
    assert!((watch.interval_s() - 0.3).abs() < 1e-12);
    assert_eq!(watch.rates().len(), 3);
    for (rate, expected) in watch.rates().iter().zip(expected) {
        assert!((rate - expected).abs() < 1e-9, "{:?}", watch.rates());
    }
}

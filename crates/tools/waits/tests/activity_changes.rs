//! Observations of a server of known truth: how often is a change of waits claimed where there is
//! none, and how often is one found that is there? What sessions do at one moment resembles what
//! they did a moment before.

use observations::{ActivityPart, ActivityRecord, ServerActivity};
use testing::recordings::Random;
use waits::summary::{Tendency, compare_activities};

const PAIRS: usize = 1_000;

/// An observation of `seconds` in which `sessions` wait on average, with a standard deviation of 1
/// and a correlation time of `memory_s`.
fn observe(random: &mut Random, seconds: usize, memory_s: f64, sessions: f64) -> ActivityRecord {
    const POLLS: usize = 10;
    let kept = (-1.0 / (POLLS as f64 * memory_s)).exp();
    let mut now = random.normal();
    let part = |_| {
        let mut waiting = 0.0;
        for _ in 0..POLLS {
            waiting += (sessions + now).max(0.0);
            now = kept * now + (1.0 - kept * kept).sqrt() * random.normal();
        }
        // The resolution of a part is a tenth of a session.
        let samples = vec![(Some("Lock:tuple".to_owned()), None, waiting.round() as u64)];
        ActivityPart { polls: POLLS as u64, samples }
    };
    let parts = (0..seconds).map(part).collect();
    ActivityRecord {
        activity: ServerActivity { parts, ..ServerActivity::default() },
        ..ActivityRecord::default()
    }
}

/// The share of pairs in which a change is claimed.
fn claimed(seconds: usize, memory_s: f64, change: f64) -> f64 {
    let mut random = Random::new(seconds as u64);
    let claims = (0..PAIRS).filter(|_| {
        let before = observe(&mut random, seconds, memory_s, 10.0);
        let after = observe(&mut random, seconds, memory_s, 10.0 + change);
        matches!(
            compare_activities(&before, &after).waits[0].tendency,
            Tendency::More | Tendency::Fewer
        )
    });
    claims.count() as f64 / PAIRS as f64
}

#[test]
fn rates_of_false_changes() {
    for seconds in [10, 20, 60] {
        for memory_s in [0.1, 1.0, 3.0, 10.0] {
            let rate = claimed(seconds, memory_s, 0.0);
            // 5 % is the claim; of 1,000 pairs 7.5 % are 3.6 standard errors more.
            assert!(rate <= 0.075, "{seconds} s, memory {memory_s} s: {rate}");
        }
    }
}

#[test]
fn changes_that_are_there_are_found() {
    for (seconds, memory_s, change) in [(10, 0.1, 1.0), (60, 1.0, 1.5), (60, 3.0, 4.0)] {
        let rate = claimed(seconds, memory_s, change);
        assert!(rate >= 0.8, "{seconds} s, memory {memory_s} s, change {change}: {rate}");
    }
}

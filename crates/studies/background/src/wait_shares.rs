//! Shares of the sessions' time by phase and class of wait, over blocks.

use crate::facts::{
    CPU, SAMPLE_S, SESSION, WAITS_AFTER, WAITS_BEFORE, WAITS_DURING, WAITS_UNDIVIDED,
};
use analysis::Estimate;
use observations::{Direction, FactFamily, Observations, WaitClass};
use serde::Serialize;

/// The time that no wait and no CPU time explains.
pub const UNACCOUNTED: &str = "unaccounted";

/// Samples of which one is expected to see what takes more of the time than this many of them:
/// beyond that share, seeing nothing has a probability below 5 % (the rule of three).
const SAMPLES_UNSEEN: f64 = 3.0;

/// The time of the sessions of a configuration by phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitShares {
    /// A row for CPU time, each class that was seen, and the unaccounted time: the shares of a
    /// phase sum to 100 %.
    pub rows: Vec<WaitRow>,
    /// Waits by class that the server counted and no sample saw, which are in no phase: means over
    /// the trials, in seconds.
    pub undivided: Vec<Undivided>,
}

/// A class of waits that is in no phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undivided {
    /// The name.
    pub class: &'static str,
    /// Seconds of a trial.
    pub mean_s: f64,
}

/// A class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitRow {
    /// The name, `cpu` or [`UNACCOUNTED`].
    pub class: &'static str,
    /// The share before the action.
    pub before: WaitShare,
    /// While it works.
    pub during: WaitShare,
    /// From its end on.
    pub after: WaitShare,
    /// The share while it works less the share before, by trials, in percentage points.
    pub change: Option<Estimate>,
}

/// A share of the sessions' time in a phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WaitShare {
    /// In percent; `None`: the phase was not observed, or nothing of the class was seen in it.
    pub share: Option<Estimate>,
    /// Upper bound in percent where samples saw nothing of the class; `None` where waits are
    /// counted, so that nothing is 0.
    pub below: Option<f64>,
}

/// Describes trials of one configuration; `None` where their waits were not divided.
pub fn wait_shares(trials: &[&Observations]) -> Option<WaitShares> {
    let divided: Vec<&Observations> = trials
        .iter()
        .copied()
        .filter(|trial| WAITS_DURING.read(SESSION, trial).is_some())
        .collect();
    if divided.is_empty() {
        return None;
    }
    let classes = WaitClass::ALL.into_iter().map(WaitClass::name);
    let names = std::iter::once(CPU).chain(classes).chain([UNACCOUNTED]);
    let rows = names.filter_map(|class| row(&divided, class)).collect();
    let undivided = WaitClass::ALL.into_iter().filter_map(|class| {
        let all = divided
            .iter()
            .filter_map(|observations| WAITS_UNDIVIDED.read(class.name(), observations));
        let mean_s = all.sum::<f64>() / divided.len() as f64;
        (mean_s > 0.0).then_some(Undivided { class: class.name(), mean_s })
    });
    Some(WaitShares { rows, undivided: undivided.collect() })
}

/// The row of a class; `None` if it was seen in no phase.
fn row(trials: &[&Observations], class: &'static str) -> Option<WaitRow> {
    let [before, during, after] =
        [WAITS_BEFORE, WAITS_DURING, WAITS_AFTER].map(|family| share(trials, class, family));
    let shares = [&before, &during, &after];
    let is_seen =
        shares.iter().filter_map(|share| share.share.as_ref()).any(|share| share.max != 0.0);
    if class != UNACCOUNTED && !is_seen {
        return None;
    }
    let changes = trials.iter().filter_map(|trial| {
        Some(percent(trial, class, WAITS_DURING)? - percent(trial, class, WAITS_BEFORE)?)
    });
    let changes: Vec<f64> = changes.collect();
    let change = Estimate::from_values(&changes, "%", Direction::LowerIsBetter);
    Some(WaitRow { class, before, during, after, change })
}

fn share(trials: &[&Observations], class: &str, family: FactFamily) -> WaitShare {
    let all: Vec<f64> = trials.iter().filter_map(|trial| percent(trial, class, family)).collect();
    let is_seen = class == CPU || class == UNACCOUNTED || all.iter().any(|share| *share > 0.0);
    let summarise =
        if class == UNACCOUNTED { Estimate::from_values } else { Estimate::from_amounts };
    let share = summarise(&all, "%", Direction::LowerIsBetter);
    let Some(samples) = samples(trials, family).filter(|_| !is_seen) else {
        return WaitShare { share, below: None };
    };
    let below = Some(100.0 * SAMPLES_UNSEEN / samples).filter(|percent| percent.is_finite());
    WaitShare { share: None, below: below.filter(|_| !all.is_empty()) }
}

/// The share of a class in a phase of one trial, in percent; `None`: the phase was not observed.
fn percent(observations: &Observations, class: &str, family: FactFamily) -> Option<f64> {
    let session_s = family.read(SESSION, observations).filter(|family| *family > 0.0)?;
    let part_s = if class == UNACCOUNTED {
        let others = family.members(observations).filter(|(name, _)| *name != SESSION);
        session_s - others.map(|(_, seconds)| seconds).sum::<f64>()
    } else {
        family.read(class, observations).unwrap_or(0.0)
    };
    Some(100.0 * part_s / session_s)
}

/// Samples of sessions in a phase of all trials; `None` where waits are counted.
fn samples(trials: &[&Observations], family: FactFamily) -> Option<f64> {
    let all = trials.iter().filter_map(|trial| {
        let sample_s = SAMPLE_S.read(trial).filter(|sample_s| *sample_s > 0.0)?;
        Some(family.read(SESSION, trial)? / sample_s)
    });
    all.reduce(|sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "figures that are exact in binary")]

    use super::{UNACCOUNTED, wait_shares};
    use crate::facts::{CPU, SAMPLE_S, SESSION, WAITS_BEFORE, WAITS_DURING, WAITS_UNDIVIDED};
    use observations::Observations;

    /// A trial with 8 s of session time before an action and 16 s during it.
    fn trial(lock_s: f64) -> Observations {
        let facts = vec![
            WAITS_BEFORE.record(SESSION, 8.0),
            WAITS_BEFORE.record(CPU, 2.0),
            WAITS_BEFORE.record("client", 6.0),
            WAITS_DURING.record(SESSION, 16.0),
            WAITS_DURING.record(CPU, 2.0),
            WAITS_DURING.record("client", 8.0),
            WAITS_DURING.record("lock", lock_s),
            WAITS_UNDIVIDED.record("log", 0.5),
            SAMPLE_S.record(0.04),
        ];
        Observations { facts, ..Observations::default() }
    }

    #[test]
    fn shares_of_a_phase_sum_to_all_of_it_and_unseen_is_a_bound() {
        let trials = [trial(4.0), trial(6.0)];
        let all: Vec<&Observations> = trials.iter().collect();
        let shares = wait_shares(&all).unwrap();
        let names: Vec<&str> = shares.rows.iter().map(|row| row.class).collect();
        assert_eq!(names, [CPU, "lock", "client", UNACCOUNTED]);
        let mean = |of: fn(&super::WaitRow) -> &super::WaitShare| -> f64 {
            shares.rows.iter().filter_map(|row| Some(of(row).share.as_ref()?.mean)).sum()
        };
        assert_eq!((mean(|shares| &shares.before), mean(|shares| &shares.during)), (100.0, 100.0));
        let lock = &shares.rows[1];
        assert_eq!(lock.during.share.as_ref().unwrap().mean, 31.25);
        // 3 of the 400 samples of both trials.
        assert_eq!((lock.before.share.clone(), lock.before.below), (None, Some(0.75)));
        assert_eq!(lock.change.as_ref().unwrap().mean, 31.25);
        // Nothing was observed after the action: neither a share nor a bound.
        assert_eq!((lock.after.share.clone(), lock.after.below), (None, None));
        assert_eq!((shares.undivided[0].class, shares.undivided[0].mean_s), ("log", 0.5));
        assert_eq!(wait_shares(&[&Observations::default()]), None);
    }

    #[test]
    fn counted_waits_that_did_not_occur_are_zero() {
        let mut trial = trial(4.0);
        trial.facts.retain(|fact| fact.name != SAMPLE_S.record(0.0).name);
        let shares = wait_shares(&[&trial]).unwrap();
        assert_eq!(shares.rows[1].before.share.as_ref().map(|share| share.mean), Some(0.0));
        assert_eq!(shares.rows[1].before.below, None);
    }
}

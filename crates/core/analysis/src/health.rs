//! Reasons to trust a trial less, with the thresholds and why they are where they are.

use crate::Accounting;
use observations::{Observations, Warning, WarningKind, Work, number};
use serde::Serialize;

/// Above this share of its sessions' time the generator is a good part of what is measured: the
/// target could be at most a quarter faster than the figure says.
pub(crate) const CLIENT_SHARE: f64 = 0.25;
/// Late starts beyond this share shift the percentiles that a reader looks at (p99).
pub(crate) const SENDS_MISSED_SHARE: f64 = 0.01;
/// Use of the machine by others beyond this is more than a quiet system's daemons need, and is of
/// the size of the differences that experiments look for.
pub(crate) const OTHER_LOAD_SHARE: f64 = 0.05;
/// Stolen time beyond this is as large as the noise of a steady trial.
pub(crate) const STEAL_SHARE: f64 = 0.01;
/// The kernel counts a machine's time in ticks of 10 ms, in several counters: of less processor
/// time than this, a tick or two too many would be a warning.
pub(crate) const MACHINE_S: f64 = 1.0;
/// The promise of the accounting rule where the engine is instrumented.
pub(crate) const UNACCOUNTED_SHARE: f64 = 0.03;
/// An open loop is overloaded when no connection was free for a start in the rest of its schedule,
/// from this share of it on. Where the target keeps up, connections become free again and again;
/// where it does not, the queue grows from the first moment, and latencies measure how long the
/// trial was.
pub(crate) const OVERLOADED_FROM: f64 = 0.5;
/// Start-up, scheduling and one late checkpoint are of the order of 10 ms: 1 % of this.
pub(crate) const SHORT_S: f64 = 1.0;

/// The number of trials that carry a warning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WarningCount {
    /// Kind of warning.
    pub kind: WarningKind,
    /// Trials that carry it.
    pub trials: usize,
    /// The first such warning's sentence, as an example.
    pub detail: String,
    /// The largest share behind it: of the sessions' time, or of the processors; `None` of other
    /// kinds.
    pub share_max: Option<f64>,
}

/// Trials of two sides that are compared, and how many of them carry which warning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WarningsCompared {
    /// Trials of the first side.
    pub from_trials: usize,
    /// Trials of the second side.
    pub to_trials: usize,
    /// Each kind that any of them carries.
    pub kinds: Vec<WarningSides>,
}

/// The numbers of trials of two sides that carry a warning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WarningSides {
    /// Kind of warning.
    pub kind: WarningKind,
    /// Trials of the first side that carry it.
    pub from: usize,
    /// Trials of the second side that carry it.
    pub to: usize,
    /// The sentence of one such warning, as an example.
    pub detail: String,
}

impl WarningsCompared {
    /// The warnings of the trials of both sides.
    pub fn compare(from: &[&Observations], to: &[&Observations]) -> Self {
        let sides = [count(from), count(to)];
        let mut kinds: Vec<WarningSides> = Vec::new();
        for WarningCount { kind, detail, .. } in sides.iter().flatten() {
            if kinds.iter().all(|warning| warning.kind != *kind) {
                let [from, to] = [0, 1].map(|side| {
                    sides[side]
                        .iter()
                        .find(|side| side.kind == (*kind))
                        .map_or(0, |side| side.trials)
                });
                kinds.push(WarningSides { kind: *kind, from, to, detail: detail.clone() });
            }
        }
        Self { from_trials: from.len(), to_trials: to.len(), kinds }
    }
}

/// The warnings that a trial earns by its own figures; the runner adds them when the trial ends.
///
/// Figures of a scripted engine come from a virtual clock: only what the script itself can
/// get wrong is warned, not the machine under it.
pub fn warnings(observations: &Observations) -> Vec<Warning> {
    let above = |kind, limit: f64, text: &dyn Fn(String) -> String| {
        let share = share(kind, observations).filter(|share| *share > limit);
        (kind, share.map(|share| text(number::percent(share, 1))))
    };
    let too_much = Accounting::for_trial(observations).unaccounted_s <= 0.0;
    let is_of_runs = observations.work.unit == Work::RUN;
    // A run of a command can use several processors at once.
    let parallel = is_of_runs && too_much;
    let is_short = !observations.synthetic && observations.elapsed_s < SHORT_S && !is_of_runs;
    // Rounded down: what is too short never reads as long enough.
    let elapsed_s = (observations.elapsed_s * 1e3).floor() / 1e3;
    let short = || format!("the measurement lasted only {elapsed_s:.3} s (less than {SHORT_S} s)");
    let found = [
        (WarningKind::LoadLimited, load_limited(observations)),
        (WarningKind::Overloaded, overloaded(observations)),
        above(WarningKind::OtherLoad, OTHER_LOAD_SHARE, &|share| {
            format!("other processes used {share} of the CPUs")
        }),
        above(WarningKind::Steal, STEAL_SHARE, &|share| format!("CPU steal: {share}")),
        above(
            WarningKind::Unaccounted,
            if parallel { f64::INFINITY } else { UNACCOUNTED_SHARE },
            &|share: String| {
                let (before, after) =
                    if too_much { ("more than", "accounted") } else { ("of", "unaccounted") };
                format!("{share} {before} the sessions' time is {after} for")
            },
        ),
        (WarningKind::Short, is_short.then(short)),
    ];
    found.into_iter().filter_map(|(kind, detail)| Some(Warning { kind, detail: detail? })).collect()
}

fn load_limited(observations: &Observations) -> Option<String> {
    let load = &observations.load;
    if load.client_share > CLIENT_SHARE {
        let share = number::percent(load.client_share, 1);
        return Some(format!("the load generator itself used {share} of the sessions' time"));
    }
    let missed = load.sends_missed as f64 / load.sends_intended.max(1) as f64;
    (missed > SENDS_MISSED_SHARE).then(|| {
        format!(
            "the load generator started {} of the transactions late",
            number::percent(missed, 1)
        )
    })
}

/// Returns whether the trial warns of an open loop that could not keep its rate.
pub(crate) fn is_overloaded(observations: &Observations) -> bool {
    observations.warnings.iter().any(|warning| warning.kind == WarningKind::Overloaded)
}

/// Returns the number of the intended starts that were made: every transaction that was meant to
/// start has ended, while I/Os for which there was no room in time never begin.
pub(crate) fn starts_done(observations: &Observations) -> u64 {
    if is_of_ios(observations) {
        observations.work.amount
    } else {
        observations.load.sends_intended
    }
}

fn is_of_ios(observations: &Observations) -> bool {
    observations.work.unit == "I/O"
}

fn overloaded(observations: &Observations) -> Option<String> {
    let load = &observations.load;
    let (schedule_s, free_until_s) = (load.schedule_s?, load.free_until_s?);
    (free_until_s < OVERLOADED_FROM * schedule_s && observations.elapsed_s > 0.0).then(|| {
        let grouped = number::grouped(load.sends_intended as f64 / schedule_s);
        let unit = if is_of_ios(observations) { "I/Os" } else { "transactions" };
        let done = number::grouped(starts_done(observations) as f64 / observations.elapsed_s);
        format!(
            "requested {grouped} {unit}/s, achieved {done}/s: latency from the intended start \
             grows with the length of the trial"
        )
    })
}

/// The share that a warning of this kind is about; `None` of other kinds, and of the machine in a
/// scripted trial.
fn share(kind: WarningKind, observations: &Observations) -> Option<f64> {
    let machine = &observations.machine;
    let capacity_s = f64::from(machine.cpus) * observations.elapsed_s;
    let of_machine = |seconds: f64| {
        let is_known = !observations.synthetic && capacity_s >= MACHINE_S;
        is_known.then_some(seconds / capacity_s)
    };
    match kind {
        WarningKind::OtherLoad => of_machine(machine.busy_s - machine.own_s),
        WarningKind::Steal => of_machine(machine.steal_s),
        WarningKind::Unaccounted => {
            Some(Accounting::for_trial(observations).unaccounted_share().abs())
        }
        _ => None,
    }
}

/// Counts the trials that carry each warning, in the order in which the kinds first occur.
pub(crate) fn count(trials: &[&Observations]) -> Vec<WarningCount> {
    let mut counts: Vec<WarningCount> = Vec::new();
    for observations in trials {
        for (i, warning) in observations.warnings.iter().enumerate() {
            if observations.warnings[..i].iter().any(|earlier| earlier.kind == warning.kind) {
                continue;
            }
            let share = share(warning.kind, observations).filter(|share| *share > 0.0);
            match counts.iter_mut().find(|count| count.kind == warning.kind) {
                Some(count) => {
                    count.trials += 1;
                    count.share_max = count.share_max.into_iter().chain(share).reduce(f64::max);
                }
                None => counts.push(WarningCount {
                    kind: warning.kind,
                    trials: 1,
                    detail: warning.detail.clone(),
                    share_max: share,
                }),
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use observations::{LoadHealth, MachineLoad, TimeUse};

    fn healthy() -> Observations {
        Observations {
            elapsed_s: 10.0,
            connections: 2,
            time: TimeUse { session_s: 20.0, cpu_s: 19.5, cpu_user_s: None, ..TimeUse::default() },
            load: LoadHealth {
                client_share: 0.25,
                sends_intended: 1000,
                sends_missed: 10,
                ..LoadHealth::default()
            },
            machine: MachineLoad {
                cpus: 2,
                busy_s: 11.0,
                own_s: 10.0,
                steal_s: 0.2,
                iowait_s: 9.0,
            },
            ..Observations::default()
        }
    }

    fn kinds(change: impl Fn(&mut Observations)) -> Vec<WarningKind> {
        let mut observations = healthy();
        change(&mut observations);
        warnings(&observations).into_iter().map(|warning| warning.kind).collect()
    }

    #[test]
    fn warns_of_what_is_beyond_a_threshold_and_nothing_at_it() {
        assert_eq!(kinds(|_| ()), []);
        assert_eq!(kinds(|o| o.load.client_share = 0.26), [WarningKind::LoadLimited]);
        assert_eq!(kinds(|o| o.load.sends_missed = 11), [WarningKind::LoadLimited]);
        assert_eq!(kinds(|o| o.machine.busy_s = 11.1), [WarningKind::OtherLoad]);
        assert_eq!(kinds(|o| o.machine.steal_s = 0.21), [WarningKind::Steal]);
        assert_eq!(kinds(|o| o.time.cpu_s = 19.3), [WarningKind::Unaccounted]);
        assert_eq!(kinds(|o| o.time.cpu_s = 20.7), [WarningKind::Unaccounted]);
        assert_eq!(
            kinds(|o| o.elapsed_s = 0.999),
            [WarningKind::OtherLoad, WarningKind::Steal, WarningKind::Short]
        );
    }

    #[test]
    fn what_is_too_short_does_not_read_as_long_enough() {
        let short = Observations { elapsed_s: 0.999_9, ..healthy() };
        let warning =
            warnings(&short).into_iter().find(|warning| warning.kind == WarningKind::Short);
        assert_eq!(warning.unwrap().detail, "the measurement lasted only 0.999 s (less than 1 s)");
    }

    #[test]
    fn a_scripted_trial_is_not_held_against_the_machine() {
        assert_eq!(
            kinds(|o: &mut Observations| {
                o.synthetic = true;
                o.elapsed_s = 0.5;
                o.machine.busy_s = 100.0;
            }),
            []
        );
    }

    #[test]
    fn counts_trials_not_warnings() {
        let warning = |kind| Warning { kind, detail: "x".into() };
        let twice = Observations {
            warnings: vec![
                warning(WarningKind::Short),
                warning(WarningKind::Short),
                warning(WarningKind::Steal),
            ],
            ..healthy()
        };
        let counts: Vec<_> =
            count(&[&twice, &twice, &healthy()]).iter().map(|c| (c.kind, c.trials)).collect();
        assert_eq!(counts, [(WarningKind::Short, 2), (WarningKind::Steal, 2)]);
    }
}

//! The use of all of the sessions' time.

use observations::{Observations, WaitClass};
use serde::Serialize;
use std::collections::BTreeMap;

/// Use of the sessions' time, in seconds summed over connections (mean of a trial when several are
/// merged).
///
/// Identity: `session_s` = `cpu_s` + the sum of `resource_s` + `signal_s` + `client_s` +
/// `unaccounted_s`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Accounting {
    /// Connections x elapsed.
    pub session_s: f64,
    /// Elapsed seconds (mean of a trial).
    pub elapsed_s: f64,
    /// Connections (mean of a trial).
    pub connections: f64,
    /// On a processor.
    pub cpu_s: f64,
    /// Suspended, by class, in the order of [`WaitClass::ALL`]; classes without time are left out.
    pub resource_s: Vec<(WaitClass, f64)>,
    /// Runnable, waiting for a processor: the signal part of all waits and the whole of class
    /// `cpu-queue`.
    pub signal_s: f64,
    /// Waiting for the client.
    pub client_s: f64,
    /// The rest; negative when more was accounted for than there was. Where waits are sampled and
    /// the kernel counts the time on a processor and in the run queue, these two disagree on it.
    pub unaccounted_s: f64,
    /// The figures of samples and kernel, where both exist.
    pub check: Option<Check>,
    /// Number of trials averaged.
    pub trials: usize,
}

/// Two independent measurements of the time in which sessions were on a processor or ready for one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Check {
    /// By samples.
    pub samples_s: f64,
    /// By the kernel: on a processor and in the run queue.
    pub kernel_s: f64,
}

impl Accounting {
    /// Returns the use of the time of one trial's sessions.
    ///
    /// Waits of class `cpu-queue` are signal wait, whatever part the engine books them under; waits
    /// of class `client` are client time; waits of class `idle` are those of sessions without work
    /// and are left out.
    pub fn for_trial(observations: &Observations) -> Self {
        Self::mean(&[observations]).unwrap_or_default()
    }

    /// The mean of several trials; `None` of none. The identity holds for the mean as for each.
    pub fn mean(trials: &[&Observations]) -> Option<Self> {
        let mut resource = BTreeMap::new();
        let (mut signal_s, mut client_s) = (0.0, 0.0);
        for wait in
            trials.iter().flat_map(|trial| &trial.waits).filter(|wait| wait.wait_s().is_finite())
        {
            match wait.class {
                WaitClass::Idle => {}
                WaitClass::Client => client_s += wait.wait_s(),
                WaitClass::CpuQueue => signal_s += wait.wait_s(),
                class => {
                    *resource.entry(class).or_insert(0.0) += wait.resource_s;
                    signal_s += wait.signal_s;
                }
            }
        }
        let mean = |sum: f64| sum / trials.len() as f64;
        let of =
            |value: fn(&Observations) -> f64| mean(trials.iter().map(|trial| value(trial)).sum());
        let classes = WaitClass::ALL
            .into_iter()
            .filter_map(|class| Some((class, mean(*resource.get(&class)?))));
        let mut all = Self {
            session_s: of(|trial| trial.time.session_s),
            elapsed_s: of(|trial| trial.elapsed_s),
            connections: of(|trial| f64::from(trial.connections)),
            cpu_s: of(|trial| trial.time.cpu_s),
            resource_s: classes.filter(|(_, seconds)| *seconds != 0.0).collect(),
            signal_s: mean(signal_s),
            client_s: mean(client_s),
            unaccounted_s: 0.0,
            check: None,
            trials: trials.len(),
        };
        all.unaccounted_s = all.session_s - all.accounted_s();
        let both = trials.iter().all(|trial| trial.time.sampled_running_s.is_some());
        all.check = both.then(|| Check {
            samples_s: of(|trial| trial.time.sampled_running_s.unwrap_or(0.0)),
            kernel_s: all.cpu_s + all.signal_s,
        });
        (!trials.is_empty()).then_some(all)
    }

    /// Resource wait of a class.
    pub fn resource(&self, class: WaitClass) -> f64 {
        self.resource_s
            .iter()
            .find(|(known, _)| *known == class)
            .map_or(0.0, |(_, seconds)| *seconds)
    }

    /// Everything that is accounted for.
    pub fn accounted_s(&self) -> f64 {
        self.cpu_s
            + self.resource_s.iter().map(|(_, s)| s).sum::<f64>()
            + self.signal_s
            + self.client_s
    }

    /// Share (1 = all) of the sessions' time; 0 when there was none.
    pub fn share(&self, seconds: f64) -> f64 {
        if self.session_s > 0.0 { seconds / self.session_s } else { 0.0 }
    }

    /// Share not accounted for, with its sign.
    pub fn unaccounted_share(&self) -> f64 {
        self.share(self.unaccounted_s)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "figures that are exact in binary")]

    use super::*;
    use observations::{TimeUse, Wait, WaitSource};

    fn wait(class: WaitClass, resource_s: f64, signal_s: f64) -> Wait {
        let wait_type = class.name().to_owned();
        Wait { wait_type, class, count: Some(1), resource_s, signal_s, source: WaitSource::Counted }
    }

    #[test]
    fn books_each_class_where_it_belongs() {
        let observations = Observations {
            elapsed_s: 10.0,
            connections: 4,
            time: TimeUse { session_s: 40.0, cpu_s: 10.0, cpu_user_s: None, ..TimeUse::default() },
            waits: vec![
                wait(WaitClass::Log, 8.0, 1.0),
                wait(WaitClass::Lock, 6.0, 0.5),
                wait(WaitClass::CpuQueue, 0.25, 3.0),
                wait(WaitClass::Client, 4.0, 2.0),
                wait(WaitClass::Idle, 1000.0, 1.0),
            ],
            ..Observations::default()
        };
        let accounting = Accounting::for_trial(&observations);
        assert_eq!(accounting.resource_s, [(WaitClass::Log, 8.0), (WaitClass::Lock, 6.0)]);
        assert_eq!((accounting.signal_s, accounting.client_s), (4.75, 6.0));
        assert_eq!(accounting.unaccounted_s, 5.25);
        assert_eq!(accounting.unaccounted_share(), 5.25 / 40.0);
        assert_eq!(accounting.resource(WaitClass::Latch), 0.0);
    }

    #[test]
    fn samples_and_kernel_check_each_other() {
        let observations = Observations {
            time: TimeUse {
                session_s: 40.0,
                cpu_s: 15.5,
                sampled_running_s: Some(18.0),
                ..TimeUse::default()
            },
            waits: vec![wait(WaitClass::Log, 21.0, 0.0), wait(WaitClass::CpuQueue, 0.0, 3.5)],
            ..Observations::default()
        };
        let accounting = Accounting::for_trial(&observations);
        assert_eq!(accounting.check, Some(Check { samples_s: 18.0, kernel_s: 19.0 }));
        assert_eq!(accounting.unaccounted_s, 0.0);
    }

    #[test]
    fn shows_more_than_there_was_as_a_negative_rest() {
        let time = TimeUse { session_s: 1.0, cpu_s: 1.5, cpu_user_s: None, ..TimeUse::default() };
        let accounting = Accounting::for_trial(&Observations { time, ..Observations::default() });
        assert_eq!(accounting.unaccounted_share(), -0.5);
        assert_eq!(Accounting::for_trial(&Observations::default()).unaccounted_share(), 0.0);
        assert_eq!(Accounting::mean(&[]), None);
    }
}

//! From counters and samples to waits that add up.

use super::sampler::Samples;
use super::types::{self, COMMITTING, IDLE, REDO_LOG, ROW_LOCK, WAIT_TYPES};
use engine::WaitType;
use observations::wait_type::CPU_QUEUE;
use observations::{TimeUse, Wait, WaitClass, WaitSource};
use observe::ThreadTimes;
use std::collections::BTreeMap;

/// Counters of a measurement, summed over sessions.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Sessions x interval.
    pub session_s: f64,
    /// By name of the event: how often, and wall seconds.
    pub events: BTreeMap<String, (u64, f64)>,
    /// The number of times that sessions waited for row locks, and wall seconds.
    pub row_locks: (u64, f64),
    /// Of the sessions' threads, where the kernel reports them.
    pub times: Option<ThreadTimes>,
    /// Waits that the server times.
    pub instruments: Instruments,
}

/// The suffix of the process list's states of waits for locks of metadata.
const METADATA_LOCK: &str = "metadata lock";

/// The waits that the server times; the others are sampled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is of its own")]
pub(crate) struct Instruments {
    /// Waits for the next statement.
    pub idle: bool,
    /// Waits for the client within a statement.
    pub sockets: bool,
    /// Waits of one thread for another, locks of metadata among them.
    pub conditions: bool,
    /// Waits for locks of metadata, by an instrument of their own.
    pub metadata: bool,
}

impl Instruments {
    /// Returns whether it times this wait of the process list.
    fn have(self, wait: &str) -> bool {
        match WaitType::class_of(WAIT_TYPES, wait) {
            _ if wait == IDLE => self.idle,
            _ if wait == ROW_LOCK => false,
            WaitClass::Client if wait != "User sleep" => self.sockets,
            _ if wait.ends_with(METADATA_LOCK) => self.metadata || self.conditions,
            _ => self.conditions,
        }
    }
}

impl Counts {
    /// Waits and the use of the sessions' time.
    ///
    /// Let S be `session_s`, C and R the seconds on a processor and in the run queue. Sessions were
    /// suspended for S - C - R (without the kernel's figures: for S at most). The server's wall
    /// time of a wait ends when the session runs again. It contains the processor time of the
    /// wait's system calls and of its spinning.
    ///
    /// So where the waits come to more than S - C - R, the excess is attributed in this order:
    /// - up to R is their signal part, divided in proportion. Of a wait for the client this is
    ///   `CPU_QUEUE`, as is the rest of R;
    /// - up to C is processor time in waits, which counts as processor time;
    /// - the rest cannot be real: it makes the unaccounted time negative.
    ///
    /// The server does not time a commit's wait for the redo log. Samples show how long sessions
    /// were in the state `Commit`. Less the timed waits of commits, that is the wait `REDO_LOG`,
    /// limited to S less C and the timed waits. Other states that name a wait are treated likewise,
    /// if the server does not time them. The rest of S is unaccounted.
    pub fn account(&self, samples: &Samples) -> (Vec<Wait>, TimeUse) {
        let seconds =
            |ns: fn(ThreadTimes) -> u64| self.times.map_or(0.0, |times| ns(times) as f64 / 1e9);
        let (cpu_s, queue_s) = (seconds(|times| times.cpu_ns), seconds(|times| times.run_delay_ns));
        let suspended_s = (self.session_s - cpu_s - queue_s).max(0.0);
        let mut waits: Vec<Wait> = self.timed().collect();
        waits.extend(self.sampled(samples));
        let timed_s: f64 = waits.iter().map(Wait::wait_s).sum();
        waits.extend(self.redo_log(samples, self.session_s - cpu_s - timed_s));
        let wall_s: f64 = waits.iter().map(Wait::wait_s).sum();
        let over_s = (wall_s - suspended_s).clamp(0.0, queue_s + cpu_s);
        let signal_s = over_s.min(queue_s);
        let part = |seconds: f64| if wall_s > 0.0 { seconds / wall_s } else { 0.0 };
        for wait in &mut waits {
            let own_s = wait.resource_s;
            wait.resource_s = part(wall_s - over_s) * own_s;
            wait.signal_s =
                if wait.class == WaitClass::Client { 0.0 } else { part(signal_s) * own_s };
        }
        let queue_s = queue_s - waits.iter().map(|wait| wait.signal_s).sum::<f64>();
        let queue = Wait::counted(CPU_QUEUE, WaitClass::CpuQueue, 0, 0.0, queue_s);
        waits.extend(queue.map(|wait| Wait { count: None, ..wait }));
        let time = TimeUse { session_s: self.session_s, cpu_s, ..TimeUse::default() };
        (waits, time)
    }

    /// Returns the waits that the server timed.
    fn timed(&self) -> impl Iterator<Item = Wait> {
        let row_locks = (ROW_LOCK, self.row_locks);
        let timed =
            self.events.iter().map(|(name, timed)| (name.as_str(), *timed)).chain([row_locks]);
        timed.filter_map(|(name, (count, wall_s))| {
            Wait::counted(name, WaitType::class_of(WAIT_TYPES, name), count, wall_s, 0.0)
        })
    }

    /// Returns the waits of the process list that the server does not time.
    fn sampled(&self, samples: &Samples) -> impl Iterator<Item = Wait> {
        let shown = samples.states.iter().filter(move |(state, _)| {
            let is_counted = COMMITTING.contains(&state.as_str())
                || self.instruments.have(state)
                || (*state == ROW_LOCK && self.row_locks.1 > 0.0);
            types::of_state(state).is_some() && !is_counted
        });
        shown.map(|(state, count)| {
            let share = *count as f64 / samples.all.max(1) as f64;
            self.sampled_wait(state, samples, *count, share * self.session_s)
        })
    }

    fn sampled_wait(&self, name: &str, samples: &Samples, count: u64, resource_s: f64) -> Wait {
        let all = samples.all.max(1) as f64;
        let share = count as f64 / all;
        let error_s = Some(self.session_s * (share * (1.0 - share) / all).sqrt());
        Wait {
            wait_type: name.to_owned(),
            class: WaitType::class_of(WAIT_TYPES, name),
            count: None,
            resource_s,
            signal_s: 0.0,
            source: WaitSource::Sampled { hz: samples.hz, samples: Some(count), error_s },
        }
    }

    /// The wait for the redo log, limited to `room_s`.
    fn redo_log(&self, samples: &Samples, room_s: f64) -> Option<Wait> {
        let committing = COMMITTING.iter().filter_map(|state| samples.states.get(*state)).sum();
        let share = committing as f64 / samples.all.max(1) as f64;
        let timed_s: f64 = self
            .events
            .iter()
            .filter(|(name, _)| WaitType::class_of(WAIT_TYPES, name) == WaitClass::Log)
            .map(|(_, (_, wall_s))| wall_s)
            .sum();
        let resource_s = (share * self.session_s - timed_s).min(room_s);
        (resource_s > 0.0).then(|| self.sampled_wait(REDO_LOG, samples, committing, resource_s))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "exactly nothing")]

    use super::*;

    fn seconds(waits: &[Wait], name: &str) -> f64 {
        waits.iter().filter(|wait| wait.wait_type == name).map(Wait::wait_s).sum()
    }

    fn samples(states: &[(&str, u64)]) -> Samples {
        let states = states.iter().map(|(state, count)| ((*state).to_owned(), *count)).collect();
        Samples { hz: 100.0, all: 4000, states }
    }

    /// 4 sessions for 10 s: 10 s idle, 4 s of row locks, 2 s of the binary log.
    fn counted() -> Counts {
        let events = [("idle", (100, 10.0)), ("wait/io/file/sql/binlog", (50, 2.0))];
        Counts {
            session_s: 40.0,
            events: events.map(|(name, event)| (name.to_owned(), event)).into(),
            row_locks: (7, 4.0),
            times: Some(ThreadTimes { cpu_ns: 8_000_000_000, run_delay_ns: 3_000_000_000 }),
            instruments: Instruments {
                idle: true,
                sockets: true,
                conditions: true,
                metadata: false,
            },
        }
    }

    #[test]
    fn waits_cpu_and_run_queue_add_up_and_the_redo_log_is_the_rest_of_the_commits() {
        // 30 % of the samples: 12 s, of which the binary log took 2; 29 s suspended leave room for
        // 13.
        let samples = samples(&[("Commit", 1200)]);
        let (waits, time) = counted().account(&samples);
        assert!((seconds(&waits, REDO_LOG) - 10.0).abs() < 1e-9);
        assert!((seconds(&waits, CPU_QUEUE) - 3.0).abs() < 1e-9 && (time.cpu_s - 8.0).abs() < 1e-9);
        let all = time.cpu_s + waits.iter().map(Wait::wait_s).sum::<f64>();
        assert!(
            (time.session_s - all - 3.0).abs() < 1e-9,
            "{all} of 40 s, and 3 s are unaccounted"
        );
    }

    #[test]
    fn the_redo_log_has_room_in_the_run_queue_too() {
        let mut counted = counted();
        counted.events.insert("idle".into(), (100, 23.0));
        // 29 s of waits fill the time of suspension: of the 10 s that samples say, the 3 s in the
        // run queue were in waits.
        let (waits, time) = counted.account(&samples(&[("Commit", 1200)]));
        assert!((seconds(&waits, REDO_LOG) - 3.0).abs() < 1e-9);
        assert!((seconds(&waits, CPU_QUEUE) - 3.0 * 23.0 / 32.0).abs() < 1e-9);
        let all = time.cpu_s + waits.iter().map(Wait::wait_s).sum::<f64>();
        assert!((all - 40.0).abs() < 1e-9);
    }

    #[test]
    fn waits_that_leave_no_room_have_the_run_queue_in_them_and_then_processor_time() {
        let mut counted = counted();
        counted.row_locks.1 = 24.0;
        // No room is left for the redo log. 36 s of waits for 29 s of suspension: 3 s in the run
        // queue were in them, 10 of 36 parts of it after the client had done its part, and
        // 4 s on a processor, half of the processor time.
        let (waits, time) = counted.account(&samples(&[("Commit", 1200)]));
        assert!(waits.iter().all(|wait| wait.wait_type != REDO_LOG));
        assert!((seconds(&waits, ROW_LOCK) - 24.0 * 32.0 / 36.0).abs() < 1e-9);
        assert!((seconds(&waits, "idle") - 10.0 * 29.0 / 36.0).abs() < 1e-9);
        assert!((seconds(&waits, CPU_QUEUE) - 3.0 * 10.0 / 36.0).abs() < 1e-9);
        let all = time.cpu_s + waits.iter().map(Wait::wait_s).sum::<f64>();
        assert!((all - 40.0).abs() < 1e-9);
    }

    #[test]
    fn waits_that_no_processor_time_explains_are_a_negative_rest() {
        let mut counted = counted();
        // 47 s of waits, of which 29 s were suspended, 3 s in the run queue and at most 8 s on a
        // processor.
        counted.row_locks.1 = 35.0;
        let (waits, time) = counted.account(&samples(&[]));
        let all = time.cpu_s + waits.iter().map(Wait::wait_s).sum::<f64>();
        assert!((all - 47.0).abs() < 1e-9, "{all}");
    }

    #[test]
    fn what_the_server_does_not_time_is_sampled_and_nothing_twice() {
        let states = [
            ("idle", 1000),
            ("Waiting for table metadata lock", 400),
            ("Writing to net", 40),
            ("Updating", 9),
        ];
        let mut counted = counted();
        // 10 ms a sample: a row for each state that says what is waited for, but for those that are
        // timed.
        for (instruments, expected) in [
            (Instruments::default(), [10.0, 4.0, 0.4]),
            (Instruments { idle: true, ..Instruments::default() }, [10.0, 4.0, 0.4]),
            (Instruments { idle: true, sockets: true, ..Instruments::default() }, [10.0, 4.0, 0.0]),
            (Instruments { metadata: true, ..Instruments::default() }, [10.0, 0.0, 0.4]),
            (
                Instruments { idle: true, sockets: true, conditions: true, metadata: false },
                [10.0, 0.0, 0.0],
            ),
        ] {
            counted.instruments = instruments;
            counted.events.retain(|name, _| name != IDLE || instruments.idle);
            counted.events.extend(instruments.idle.then(|| (IDLE.to_owned(), (100, 10.0))));
            let (waits, _) = counted.account(&samples(&states));
            for ((state, _), expected_s) in states.iter().zip(expected) {
                assert!(
                    (seconds(&waits, state) - expected_s).abs() < 1e-9,
                    "{state} {instruments:?}"
                );
            }
            assert_eq!(seconds(&waits, "Updating"), 0.0);
        }
    }
}

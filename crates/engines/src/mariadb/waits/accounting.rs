//! From counters and samples to waits that add up.

use super::sampler::Samples;
use super::types::{CPU_QUEUE, REDO_LOG, ROW_LOCK, WAIT_TYPES};
use crate::WaitType;
use observations::{TimeUse, Wait, WaitClass, WaitSource};
use observe::ThreadTimes;
use std::collections::BTreeMap;

/// What of a measurement was counted, summed over sessions.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// Sessions x interval.
    pub session_s: f64,
    /// By name of the event: how often, and wall seconds.
    pub events: BTreeMap<String, (u64, f64)>,
    /// How often sessions waited for row locks, and wall seconds.
    pub row_locks: (u64, f64),
    /// Of the sessions' threads, where the kernel tells us.
    pub times: Option<ThreadTimes>,
}

/// Times of the threads of sessions.
#[derive(Debug, Clone, Copy)]
pub struct SessionTimes(ThreadTimes);

impl SessionTimes {
    /// Those of threads of a process; `None` when one cannot be seen.
    pub fn of(pid: i32, threads: &[i32]) -> Option<Self> {
        let mut sum = ThreadTimes::default();
        for thread in threads {
            let times = ThreadTimes::of(pid, *thread)?;
            sum.cpu_ns += times.cpu_ns;
            sum.run_delay_ns += times.run_delay_ns;
        }
        Some(Self(sum))
    }

    /// What was used since an earlier reading of the same threads.
    pub fn since(self, earlier: Self) -> ThreadTimes {
        self.0.since(earlier.0)
    }
}

impl Counted {
    /// Waits and the use of the sessions' time.
    ///
    /// Let S be `session_s`, C and R the seconds on a processor and in the run queue. Sessions were suspended for S - C - R
    /// (without the kernel's figures: for S at most). A wait's wall time, as the server measures it, has the processor time
    /// of its system calls in it and the run queue behind it: where the waits come to more than S - C - R, each is shorter
    /// in proportion, and how much that is, is told (`corrected_s`). R is the wait `CPU_QUEUE`.
    ///
    /// The server does not time a commit's wait for the redo log. Samples say how long sessions were in the state `Commit`;
    /// less the waits of a commit that are timed, that is the wait `REDO_LOG`, as far as the suspended time has room for it.
    /// What is left of S is unaccounted.
    pub fn account(&self, samples: &Samples) -> (Vec<Wait>, TimeUse) {
        let seconds = |ns: fn(ThreadTimes) -> u64| self.times.map_or(0.0, |times| ns(times) as f64 / 1e9);
        let (cpu_s, queue_s) = (seconds(|times| times.cpu_ns), seconds(|times| times.run_delay_ns));
        let suspended_s = (self.session_s - cpu_s - queue_s).max(0.0);
        let events = self.events.iter().map(|(name, (count, wall_s))| (name.as_str(), *count, *wall_s));
        let timed: Vec<(&str, u64, f64)> =
            events.chain([(ROW_LOCK, self.row_locks.0, self.row_locks.1)]).collect();
        let wall_s: f64 = timed.iter().map(|(_, _, wall_s)| wall_s).sum();
        let scale = if wall_s > suspended_s { suspended_s / wall_s } else { 1.0 };
        let class = |name: &str| WaitType::class_of(WAIT_TYPES, name);
        let mut waits: Vec<Wait> = timed
            .iter()
            .filter_map(|(name, count, wall_s)| Wait::counted(name, class(name), *count, scale * wall_s, 0.0))
            .collect();
        waits.extend(self.redo_log(samples, suspended_s - scale * wall_s));
        waits.extend(
            Wait::counted(CPU_QUEUE, WaitClass::CpuQueue, 0, 0.0, queue_s)
                .map(|wait| Wait { count: None, ..wait }),
        );
        let time = TimeUse {
            session_s: self.session_s,
            cpu_s,
            corrected_s: Some((1.0 - scale) * wall_s),
            ..TimeUse::default()
        };
        (waits, time)
    }

    /// The wait for the redo log, for which there is so much room.
    fn redo_log(&self, samples: &Samples, room_s: f64) -> Option<Wait> {
        let all = samples.all.max(1) as f64;
        let share = samples.committing as f64 / all;
        let is_of_commit = |name: &str| WaitType::class_of(WAIT_TYPES, name) == WaitClass::Log;
        let timed_s: f64 =
            self.events.iter().filter(|(name, _)| is_of_commit(name)).map(|(_, (_, wall_s))| wall_s).sum();
        let resource_s = (share * self.session_s - timed_s).min(room_s);
        let error_s = Some(self.session_s * (share * (1.0 - share) / all).sqrt());
        let source = WaitSource::Sampled { hz: samples.hz, samples: Some(samples.committing), error_s };
        (resource_s > 0.0).then(|| Wait {
            wait_type: REDO_LOG.into(),
            class: WaitClass::Log,
            count: None,
            resource_s,
            signal_s: 0.0,
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(waits: &[Wait], name: &str) -> f64 {
        waits.iter().filter(|wait| wait.wait_type == name).map(Wait::wait_s).sum()
    }

    /// 4 sessions for 10 s: 10 s idle, 4 s of row locks, 2 s of the binary log.
    fn counted() -> Counted {
        let events = [("idle", (100, 10.0)), ("wait/io/file/sql/binlog", (50, 2.0))];
        Counted {
            session_s: 40.0,
            events: events.map(|(name, event)| (name.to_owned(), event)).into(),
            row_locks: (7, 4.0),
            times: Some(ThreadTimes { cpu_ns: 8_000_000_000, run_delay_ns: 3_000_000_000 }),
        }
    }

    #[test]
    fn waits_cpu_and_run_queue_add_up_and_the_redo_log_is_the_rest_of_the_commits() {
        // 30 % of the samples: 12 s, of which the binary log took 2; 29 s suspended leave room for 13.
        let samples = Samples { hz: 100.0, all: 4000, committing: 1200 };
        let (waits, time) = counted().account(&samples);
        assert!((seconds(&waits, REDO_LOG) - 10.0).abs() < 1e-9);
        assert!((seconds(&waits, CPU_QUEUE) - 3.0).abs() < 1e-9 && (time.cpu_s - 8.0).abs() < 1e-9);
        let all = time.cpu_s + waits.iter().map(Wait::wait_s).sum::<f64>();
        assert!((time.session_s - all - 3.0).abs() < 1e-9, "{all} of 40 s, and 3 s are unaccounted");
        assert_eq!(time.corrected_s, Some(0.0));
    }

    #[test]
    fn no_more_is_waited_than_sessions_were_suspended() {
        let mut counted = counted();
        counted.row_locks.1 = 24.0;
        let (waits, time) = counted.account(&Samples { hz: 100.0, all: 4000, committing: 1200 });
        assert!(waits.iter().all(|wait| wait.wait_type != REDO_LOG));
        assert!((seconds(&waits, ROW_LOCK) - 24.0 * 29.0 / 36.0).abs() < 1e-9);
        let all = time.cpu_s + waits.iter().map(Wait::wait_s).sum::<f64>();
        assert!((all - 40.0).abs() < 1e-9 && (time.corrected_s.unwrap() - 7.0).abs() < 1e-9);
    }
}

use std::fs::File;
use std::os::unix::fs::FileExt;

/// How long a thread has been on a processor and in the run queue, since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// Nanoseconds on a processor.
    pub cpu_ns: u64,
    /// Nanoseconds ready to run, waiting for a processor.
    pub run_delay_ns: u64,
}

impl ThreadTimes {
    /// The times that passed since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            run_delay_ns: self.run_delay_ns.saturating_sub(earlier.run_delay_ns),
        }
    }
}

/// Reads the times of the thread that opened it. A reading costs about a microsecond.
///
/// The CPU time comes from `CLOCK_THREAD_CPUTIME_ID`, which is right to the nanosecond, because
/// the first field of `schedstat` is only brought up to date at ticks and switches. The run-queue
/// delay comes from the second field of `/proc/thread-self/schedstat`; a running thread's value
/// there is exact. Where the file cannot be read (no `CONFIG_SCHED_INFO`), the delay reads 0,
/// and time in the run queue looks like any other time off the processor.
#[derive(Debug)]
pub struct ThreadClock {
    schedstat: Option<File>,
}

impl ThreadClock {
    /// Opens the clock of the calling thread.
    pub fn of_this_thread() -> Self {
        Self { schedstat: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// The times of the thread so far. Call it on the thread that opened the clock.
    pub fn read(&self) -> ThreadTimes {
        let mut buffer = [0_u8; 96];
        let run_delay_ns = self
            .schedstat
            .as_ref()
            .and_then(|file| file.read_at(&mut buffer, 0).ok())
            .and_then(|length| second_number(&buffer[..length]))
            .unwrap_or(0);
        ThreadTimes { cpu_ns: thread_cpu_ns(), run_delay_ns }
    }

    /// What the thread has used so far. Call it on the thread that opened the clock.
    pub fn usage(&self) -> ThreadUse {
        let usage = crate::machine::usage(libc::RUSAGE_THREAD);
        ThreadUse {
            times: self.read(),
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }
}

/// What a thread has used of processors, and how often it left one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadUse {
    /// On a processor and in the run queue.
    pub times: ThreadTimes,
    /// How often it left its processor to wait for something; 0 when the system does not tell.
    pub voluntary_switches: u64,
    /// How often it lost its processor to another thread, or offered it.
    pub involuntary_switches: u64,
}

impl ThreadUse {
    /// What was used since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            times: self.times.since(earlier.times),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
        }
    }
}

fn second_number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result; the clock exists since Linux 2.6.12.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::{ThreadClock, second_number};
    use std::time::{Duration, Instant};

    #[test]
    fn cpu_and_run_delay_never_exceed_the_wall_clock() {
        let clock = ThreadClock::of_this_thread();
        let (start, before) = (Instant::now(), clock.read());
        let mut sum = 0_u64;
        while start.elapsed() < Duration::from_millis(50) {
            sum = std::hint::black_box(sum + 1);
        }
        let used = clock.read().since(before);
        let wall_ns = start.elapsed().as_nanos() as u64;
        // The two counters are read one after the other: allow a tick between them.
        assert!(
            used.cpu_ns > 0 && used.cpu_ns + used.run_delay_ns <= wall_ns + 4_000_000,
            "{used:?} of {wall_ns}"
        );
    }

    #[test]
    fn sleeping_is_not_cpu_time() {
        let clock = ThreadClock::of_this_thread();
        let before = clock.read();
        std::thread::sleep(Duration::from_millis(60));
        assert!(clock.read().since(before).cpu_ns < 30_000_000);
    }

    #[test]
    fn sleeping_is_a_voluntary_switch() {
        let clock = ThreadClock::of_this_thread();
        let before = clock.usage();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(clock.usage().since(before).voluntary_switches >= 3);
    }

    #[test]
    fn reads_the_second_field() {
        assert_eq!(second_number(b"12 345 6\n"), Some(345));
        assert_eq!(second_number(b"12"), None);
    }
}

//! Processor and run-queue times of threads and processes, from the kernel.

use crate::processes::{self, stat_fields};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The time that a thread has been on a processor and in the run queue, since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTimes {
    /// Nanoseconds on a processor.
    pub cpu_ns: u64,
    /// Nanoseconds ready to run, waiting for a processor.
    pub run_delay_ns: u64,
}

impl ThreadTimes {
    /// CPU times of a thread of another process, from `/proc/<pid>/task/<tid>/schedstat`. The time
    /// on a CPU is as of the last tick or switch. `None` when the thread has ended, or the kernel
    /// does not tell.
    pub fn read(pid: i32, thread: i32) -> Option<Self> {
        let schedstat = processes::text(pid, &format!("task/{thread}/schedstat"))?;
        let mut numbers =
            schedstat.split_ascii_whitespace().map_while(|number| number.parse().ok());
        Some(Self { cpu_ns: numbers.next()?, run_delay_ns: numbers.next()? })
    }

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

/// The kernel's number of the calling thread. glibc has a function for it since 2.30 only.
pub fn thread_id() -> i32 {
    // SAFETY: it has no arguments and cannot fail.
    (unsafe { libc::syscall(libc::SYS_gettid) }) as i32
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

    /// Returns the thread's use so far. Call it on the thread that opened the clock.
    pub fn usage(&self) -> ThreadUse {
        let usage = usage(libc::RUSAGE_THREAD);
        ThreadUse {
            times: self.read(),
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }
}

/// CPU time of a piece of work on one thread.
#[derive(Debug)]
pub struct CpuUse {
    before_ns: u64,
}

impl CpuUse {
    /// Begins with the calling thread's work from now on.
    pub fn of_this_thread() -> Self {
        Self { before_ns: thread_cpu_ns() }
    }

    /// Returns the CPU seconds since then. Call it on the same thread.
    pub fn seconds(&self) -> f64 {
        (thread_cpu_ns() - self.before_ns) as f64 / 1e9
    }
}

/// CPU use of a thread, and its context switches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// On a processor and in the run queue.
    pub times: ThreadTimes,
    /// The number of times that it left its processor to wait for something; 0 when the system does
    /// not report it.
    pub voluntary_switches: u64,
    /// The number of times that it lost its processor to another thread, or offered it.
    pub involuntary_switches: u64,
}

impl ThreadUse {
    /// Returns the use since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            times: self.times.since(earlier.times),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
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

/// The kernel's times of a single-threaded process, or of a thread, since its start.
///
/// PostgreSQL runs each session in such a process, so that these are the times of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessTimes {
    /// Nanoseconds on a processor.
    pub cpu_ns: u64,
    /// Clock ticks of it in user mode, by the kernel's own division.
    pub user_ticks: u64,
    /// Clock ticks of it in the kernel.
    pub system_ticks: u64,
    /// Nanoseconds ready to run, waiting for a processor.
    pub run_delay_ns: u64,
    /// When the process began, in clock ticks after boot: distinguishes processes with a reused
    /// number.
    pub started_ticks: u64,
}

impl ProcessTimes {
    /// Reads the times of a process (of its first thread): `/proc/<pid>/task/<pid>/schedstat` and
    /// `stat`, see proc(5). A reading costs about ten microseconds. `None` when the process has
    /// ended, or the kernel does not tell.
    pub fn read(pid: i32) -> Option<Self> {
        Self::of_thread(pid, pid)
    }

    /// Reads the times of a thread of a process, such as a MariaDB session: `task/<tid>/schedstat`
    /// and `stat`.
    pub fn of_thread(pid: i32, thread: i32) -> Option<Self> {
        let ThreadTimes { cpu_ns, run_delay_ns } = ThreadTimes::read(pid, thread)?;
        let stat = processes::text(pid, &format!("task/{thread}/stat"))?;
        // utime, stime, starttime
        let [user_ticks, system_ticks, started_ticks] = stat_fields(&stat, [14, 15, 22])?;
        Some(Self { cpu_ns, user_ticks, system_ticks, run_delay_ns, started_ticks })
    }

    /// The times that passed since an earlier reading of the same process.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            user_ticks: self.user_ticks.saturating_sub(earlier.user_ticks),
            system_ticks: self.system_ticks.saturating_sub(earlier.system_ticks),
            run_delay_ns: self.run_delay_ns.saturating_sub(earlier.run_delay_ns),
            started_ticks: self.started_ticks,
        }
    }
}

/// Nanoseconds on a processor of each of the kernel's own threads. Their work for a file system
/// (writing back, compressing, decompressing) is not charged to a process.
#[derive(Debug)]
pub struct KernelThreads(HashMap<i32, u64>);

impl KernelThreads {
    /// Reads them: the children of the thread that starts them all, see proc(5). `None` where the
    /// system does not show them, as within a container.
    pub fn read() -> Option<Self> {
        let first = processes::name(2)?;
        let children = processes::text(2, "task/2/children")?;
        let threads = children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
        let threads = threads.filter_map(|pid| Some((pid, ProcessTimes::read(pid)?.cpu_ns)));
        (first == "kthreadd").then(|| Self(threads.collect()))
    }

    /// Processor seconds since an earlier reading, without those of threads that have ended since
    /// then.
    pub fn since(&self, earlier: &Self) -> f64 {
        self.0
            .iter()
            .map(|(pid, now)| {
                now.saturating_sub(earlier.0.get(pid).copied().unwrap_or(0)) as f64 / 1e9
            })
            .sum()
    }
}

/// Returns a process's title where it sets one, as PostgreSQL's sessions do.
pub fn process_title(pid: i32) -> Option<String> {
    Some(processes::text(pid, "cmdline")?.replace('\0', " ").trim_end().to_owned())
}

/// Returns the kernel's counters of this process, its children or the calling thread (see
/// getrusage(2)).
pub(crate) fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: `usage` is a valid place for the result, and zeroed is a valid value of it.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    }
}

/// Processor seconds of the children of a process that have ended and that it has waited for:
/// `cutime` and `cstime` of `/proc/<pid>/stat`, in ticks of 10 ms. `None` when the process has
/// ended.
pub fn ended_children_cpu_s(pid: i32) -> Option<f64> {
    cpu_s(pid, [16, 17])
}

/// Processor seconds of all threads of a process: `utime` and `stime` of `/proc/<pid>/stat`, in
/// ticks of 10 ms. `None` when it has ended.
pub fn process_cpu_s(pid: i32) -> Option<f64> {
    cpu_s(pid, [14, 15])
}

/// Ticks of the kernel's clock in a second.
pub(crate) fn ticks_a_second() -> f64 {
    // SAFETY: a constant of the system.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64
}

fn cpu_s(pid: i32, fields: [usize; 2]) -> Option<f64> {
    let [user_ticks, system_ticks] = processes::stat(pid, fields)?;
    Some((user_ticks + system_ticks) as f64 / ticks_a_second())
}

/// Bytes that were read from storage for a process, and for those of its children that have ended:
/// `read_bytes` of `/proc/<pid>/io`. `None` when the kernel does not count them or we may not see
/// them.
pub fn storage_read_bytes(pid: i32) -> Option<u64> {
    processes::value(pid, "io", "read_bytes")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{
        ProcessTimes, ThreadClock, ThreadTimes, process_cpu_s, process_title, second_number,
        stat_fields, thread_id,
    };
    use std::process::{Command, Stdio};
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

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 141 151 0 0 20 0 1 0 221 99 1";
        assert_eq!(stat_fields(stat, [14, 15, 22]), Some([141, 151, 221]));
        assert_eq!(stat_fields("7 (x) S 1 2", [14]), None);
        assert_eq!(stat_fields("", [14]), None);
    }

    #[test]
    #[expect(
        clippy::zombie_processes,
        reason = "it is waited for by wait4, which tells what it used"
    )]
    fn times_of_another_process_are_those_that_the_system_reports_when_it_ends() {
        // Busy in user mode for the most part, until a line on its input ends it.
        let mut child = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; echo; read line"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.as_mut().unwrap();
        std::io::Read::read_exact(stdout, &mut [0]).unwrap();
        let pid = child.id() as i32;
        let times = ProcessTimes::read(pid).unwrap();
        assert!(process_title(pid).unwrap().starts_with("sh -c i=0"));
        drop(child.stdin.take());
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the child is ours and was not waited for; `usage` is a valid place for the
        // result.
        let usage = unsafe {
            assert_eq!(libc::wait4(pid, std::ptr::null_mut(), 0, usage.as_mut_ptr()), pid);
            usage.assume_init()
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let (reported, read) =
            (seconds(usage.ru_utime) + seconds(usage.ru_stime), times.cpu_ns as f64 / 1e9);
        assert!(
            read > 0.0 && read <= reported + 0.02 && reported - read < 0.2,
            "{read} of {reported}"
        );
        assert_eq!(ProcessTimes::read(pid), None);
    }

    #[test]
    fn the_times_of_a_thread_are_its_own_and_part_of_its_process() {
        let pid = std::process::id() as i32;
        let thread = thread_id();
        let clock = ThreadClock::of_this_thread();
        while clock.read().cpu_ns < 60_000_000 {
            std::hint::spin_loop();
        }
        std::thread::yield_now();
        let (kernel_times, clock) = (ThreadTimes::read(pid, thread).unwrap(), clock.read());
        // The kernel's figure is as of the last tick.
        assert!(
            kernel_times.cpu_ns <= clock.cpu_ns && clock.cpu_ns - kernel_times.cpu_ns < 30_000_000,
            "{kernel_times:?} {clock:?}"
        );
        assert!(process_cpu_s(pid).unwrap() >= 0.03);
        assert_eq!(ThreadTimes::read(pid, 0), None);
    }
}

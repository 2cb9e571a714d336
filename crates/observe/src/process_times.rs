use std::path::PathBuf;

/// What the kernel knows of the time that a process with one thread has used, since it began.
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
    /// When the process began, in clock ticks after boot: tells two processes with one number apart.
    pub started_ticks: u64,
}

impl ProcessTimes {
    /// Reads the times of a process (of its first thread): `/proc/<pid>/schedstat` and `stat`, see
    /// proc(5). A reading costs about ten microseconds. `None` when the process has ended, or the
    /// kernel does not tell.
    pub fn of(pid: i32) -> Option<Self> {
        let schedstat = std::fs::read_to_string(proc(pid, "schedstat")).ok()?;
        let mut numbers = schedstat.split_ascii_whitespace().map_while(|number| number.parse().ok());
        let (cpu_ns, run_delay_ns) = (numbers.next()?, numbers.next()?);
        let stat = std::fs::read_to_string(proc(pid, "stat")).ok()?;
        let [user_ticks, system_ticks, started_ticks] = stat_fields(&stat)?;
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

/// What a process calls itself: its title where it sets one, as PostgreSQL's sessions do.
pub fn process_title(pid: i32) -> Option<String> {
    let title = std::fs::read(proc(pid, "cmdline")).ok()?;
    Some(String::from_utf8_lossy(&title).replace('\0', " ").trim_end().to_owned())
}

fn proc(pid: i32, file: &str) -> PathBuf {
    format!("/proc/{pid}/{file}").into()
}

/// Fields 14, 15 and 22: utime, stime, starttime. The second field, the name, may hold anything.
fn stat_fields(stat: &str) -> Option<[u64; 3]> {
    let after_name = stat.get(stat.rfind(')')? + 1..)?;
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse().ok();
    Some([number(14)?, number(15)?, number(22)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 141 151 0 0 20 0 1 0 221 99 1";
        assert_eq!(stat_fields(stat), Some([141, 151, 221]));
        assert_eq!(stat_fields("7 (x) S 1 2"), None);
        assert_eq!(stat_fields(""), None);
    }

    #[test]
    #[expect(clippy::zombie_processes, reason = "it is waited for by wait4, which tells what it used")]
    fn times_of_another_process_are_those_that_the_system_reports_when_it_ends() {
        // Busy until it is told to end, in user mode for the most part.
        let mut child = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; echo; read line"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.as_mut().unwrap();
        std::io::Read::read_exact(stdout, &mut [0]).unwrap();
        let pid = child.id() as i32;
        let times = ProcessTimes::of(pid).unwrap();
        assert!(process_title(pid).unwrap().starts_with("sh -c i=0"));
        drop(child.stdin.take());
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the child is ours and was not waited for; `usage` is a valid place for the result.
        let usage = unsafe {
            assert_eq!(libc::wait4(pid, std::ptr::null_mut(), 0, usage.as_mut_ptr()), pid);
            usage.assume_init()
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let (reported, read) = (seconds(usage.ru_utime) + seconds(usage.ru_stime), times.cpu_ns as f64 / 1e9);
        assert!(read > 0.0 && read <= reported + 0.02 && reported - read < 0.2, "{read} of {reported}");
        assert_eq!(ProcessTimes::of(pid), None);
    }
}

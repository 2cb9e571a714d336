//! A command that is run to its end as the leader of a process group of its own, and what it used.

mod answer;
mod start;

pub use answer::{answer, output_within};
pub use start::Streams;

use crate::processes;
use crate::times::usage;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use start::Start;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Interval at which waiting callers check whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The end of what is printed on one stream that is kept.
pub const KEPT_BYTES_MAX: usize = 4 << 20;
/// Bytes read at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// Bytes of the blocks in which getrusage(2) counts what was read from and sent to storage.
const BLOCK_BYTES: u64 = 512;

/// The streams of a command that are read, in the place of those that it is given.
#[derive(Debug, Clone, Copy, Default)]
pub struct Capture {
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
}

/// The end of a command.
#[derive(Debug)]
pub struct Exit {
    /// The exit code or signal.
    pub status: ExitStatus,
    /// From just before it was started until the kernel reported its end.
    pub elapsed: Duration,
    /// The resource use.
    pub used: ProcessUse,
    /// The output, if the stream is read.
    pub stdout: Printed,
    /// The error output, if the stream is read.
    pub stderr: Printed,
    /// It was killed with its group, because the user asked to stop.
    pub stopped: bool,
    /// Processes of its group were still there; they were killed.
    pub left_group: bool,
}

/// Resource use of a process and of its descendants that were waited for (see getrusage(2)).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProcessUse {
    /// Seconds on a processor in user mode.
    pub user_s: f64,
    /// Seconds on a processor in the kernel.
    pub system_s: f64,
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// The number of times that one of them left its processor to wait for something.
    pub voluntary_switches: u64,
    /// The number of times that one of them lost its processor.
    pub involuntary_switches: u64,
    /// Largest resident set of any one of them; `None` where it is not larger than that of the
    /// process which started them: the kernel counts what a process has until it executes
    /// another program.
    pub peak_bytes: Option<u64>,
    /// Bytes that they had read from storage and sent to it; `None`: the kernel does not report it.
    pub storage_bytes: Option<(u64, u64)>,
    /// Seconds in which the first thread of the first process was ready and waited for a
    /// processor; `None`: the kernel does not report it.
    pub run_delay_s: Option<f64>,
}

/// The end of what was printed on a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    bytes: Vec<u8>,
    cut: bool,
}

impl Printed {
    /// As text; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns whether earlier output was dropped.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    fn add(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        // Rarely moved, and never much larger.
        if self.bytes.len() > 2 * KEPT_BYTES_MAX {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let surplus = self.bytes.len().saturating_sub(KEPT_BYTES_MAX);
        self.bytes.drain(..surplus);
        self.cut |= surplus > 0;
    }
}

/// Runs a command with these streams to its end, or kills its group when `stop` says so, which is
/// asked twenty times a second. What of its group is left at its end is killed. Streams that were
/// set in the command itself are not used.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn run(
    command: &Command,
    streams: Streams,
    received: Capture,
    stop: &dyn Fn() -> bool,
) -> io::Result<Exit> {
    Ready::new(command, streams, received)?.run(stop)
}

/// Runs a child without ending the rest of its group, unless `stop` ended it.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn run_beside(
    command: &Command,
    streams: Streams,
    received: Capture,
    stop: &dyn Fn() -> bool,
) -> io::Result<Exit> {
    Ready::new(command, streams, received)?.run_leader(stop).map(|(ended, _)| ended)
}

/// A command that is made ready once, to be run again and again with the same streams: what is read
/// of its output is read through the same pipes. A process that it has left behind outside of its
/// group and that prints later is heard with the run at hand then.
pub struct Ready {
    start: Start,
    pipes: [Pipe; 2],
}

impl Ready {
    /// A command with these streams; those that were set in the command itself are not used.
    ///
    /// # Errors
    /// A zero byte in one of its texts; no memory; no file descriptor.
    pub fn new(command: &Command, mut streams: Streams, received: Capture) -> io::Result<Self> {
        // The other ends stay open here too, so a pipe does not report that a process has closed
        // it. That avoids a wake-up just before the process ends.
        let pipes = [
            Pipe::in_place_of(received.stdout, &mut streams[1])?,
            Pipe::in_place_of(received.stderr, &mut streams[2])?,
        ];
        Ok(Self { start: Start::new(command, streams)?, pipes })
    }

    /// Gives a variable of its environment another value, for the runs from now on.
    ///
    /// # Errors
    /// A zero byte in the value.
    pub fn set(&mut self, name: &str, value: &str) -> io::Result<()> {
        self.start.set(name, value)
    }

    /// As [`run`] does.
    ///
    /// # Errors
    /// When it cannot be started or waited for.
    pub fn run(&mut self, stop: &dyn Fn() -> bool) -> io::Result<Exit> {
        let (mut ended, leader) = self.run_leader(stop)?;
        ended.left_group = leader.kill_group();
        Ok(ended)
    }

    fn run_leader(&mut self, stop: &dyn Fn() -> bool) -> io::Result<(Exit, Leader)> {
        let start = Instant::now();
        let mut leader = Leader { pid: self.start.go()?, status: None };
        let pid = Pid::from_raw(leader.pid).ok_or(ErrorKind::NotFound)?;
        let ended = pidfd_open(pid, PidfdFlags::empty())?;
        let mut stopped = false;
        while !wait(&ended, &mut self.pipes)? {
            if !stopped && stop() {
                stopped = true;
                leader.kill_group();
            }
        }
        let elapsed = start.elapsed();
        // It still has its number: what the kernel knows of it can be read.
        let run_delay_s = run_delay_s(leader.pid);
        let (status, usage) = leader.reap()?;
        let [stdout, stderr] = self.pipes.each_mut().map(Pipe::rest);
        let used = ProcessUse { run_delay_s, ..ProcessUse::from(&usage) };
        Ok((Exit { status, elapsed, used, stdout, stderr, stopped, left_group: false }, leader))
    }
}

impl From<&libc::rusage> for ProcessUse {
    fn from(usage: &libc::rusage) -> Self {
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        // In KiB. Until its `exec` the child has our memory: vfork(2).
        let peak_bytes = (usage.ru_maxrss as u64) << 10;
        Self {
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
            peak_bytes: Some(peak_bytes).filter(|peak| is_above_own_peak(*peak)),
            storage_bytes: counts_storage().then_some((
                usage.ru_inblock as u64 * BLOCK_BYTES,
                usage.ru_oublock as u64 * BLOCK_BYTES,
            )),
            run_delay_s: None,
        }
    }
}

/// Sets variables of a command's environment; one without a value is not passed on.
pub fn set_variables(command: &mut Command, variables: &[(String, Option<String>)]) {
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Largest resident set that this process has had. The figure of getrusage(2) may include its
/// parent's. The largest number if unknown.
pub fn own_peak_bytes() -> u64 {
    let peak = processes::value(std::process::id() as i32, "status", "VmHWM");
    let kib = peak.and_then(|peak| peak.strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib << 10)
}

/// Returns whether a process exceeded this one's peak memory, which is read again only if the last
/// reading does not decide: the peak never falls.
fn is_above_own_peak(peak_bytes: u64) -> bool {
    static PEAK_BYTES: AtomicU64 = AtomicU64::new(0);
    if peak_bytes <= PEAK_BYTES.load(Ordering::Relaxed) {
        return false;
    }
    // The figure of getrusage(2) for this process may include its parent's, but it is never less
    // than its own, and faster to get.
    if peak_bytes > (usage(libc::RUSAGE_SELF).ru_maxrss as u64) << 10 {
        return true;
    }
    let self_peak = own_peak_bytes();
    PEAK_BYTES.store(self_peak, Ordering::Relaxed);
    peak_bytes > self_peak
}

/// A process that leads a group, ended with it unless it is waited for.
struct Leader {
    pid: libc::pid_t,
    status: Option<ExitStatus>,
}

impl Leader {
    /// Kills all processes of the group; returns whether there were any.
    fn kill_group(&self) -> bool {
        // SAFETY: a system call without pointers. The group is the leader's own: its number is not
        // reused until the leader is reaped and the group is empty.
        unsafe { libc::killpg(self.pid, libc::SIGKILL) == 0 }
    }

    fn reap(&mut self) -> io::Result<(ExitStatus, libc::rusage)> {
        let mut status = 0;
        // SAFETY: zeroed is a valid value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the child is ours and was not waited for; both are valid places for the results.
        if unsafe { libc::wait4(self.pid, &raw mut status, 0, &raw mut usage) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let status = ExitStatus::from_raw(status);
        self.status = Some(status);
        Ok((status, usage))
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill_group();
            // A destructor cannot report an error.
            let _ = self.reap();
        }
    }
}

/// A stream that is read without waiting for it; `None`: it is not read.
#[derive(Default)]
struct Pipe {
    stream: Option<PipeReader>,
    printed: Printed,
}

impl Pipe {
    /// Replaces a stream by a pipe, if its output is read.
    fn in_place_of(is_heard: bool, stream: &mut Option<OwnedFd>) -> io::Result<Self> {
        if !is_heard {
            return Ok(Self::default());
        }
        let (reader, writer) = io::pipe()?;
        fcntl_setfl(&reader, OFlags::NONBLOCK)?;
        *stream = Some(writer.into());
        Ok(Self { stream: Some(reader), printed: Printed::default() })
    }

    /// Reads once; whether there was anything.
    fn read(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        let mut chunk = [0; CHUNK_BYTES];
        match stream.read(&mut chunk) {
            Ok(length @ 1..) => {
                self.printed.add(&chunk[..length]);
                true
            }
            Err(error) => error.kind() == ErrorKind::Interrupted,
            Ok(_) => false,
        }
    }

    /// All that is there: what a process that was left behind prints later is not waited for, and
    /// one that prints without end is not listened to.
    fn rest(&mut self) -> Printed {
        let reads = 2 * KEPT_BYTES_MAX / CHUNK_BYTES;
        (0..reads).take_while(|_| self.read()).for_each(drop);
        self.printed.shorten();
        std::mem::take(&mut self.printed)
    }
}

/// Waits until the process has ended or for [`LOOK_EVERY`], and reads what is printed until then.
/// Returns whether it has ended.
fn wait(ended: &OwnedFd, pipes: &mut [Pipe; 2]) -> io::Result<bool> {
    let poll = |fd: libc::c_int| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // The kernel passes over negative numbers.
    let stream = |pipe: &Pipe| pipe.stream.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let mut polled = [poll(ended.as_raw_fd()), poll(stream(&pipes[0])), poll(stream(&pipes[1]))];
    // SAFETY: `polled` is an array of this length.
    let ready =
        unsafe { libc::poll(polled.as_mut_ptr(), 3, LOOK_EVERY.as_millis() as libc::c_int) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == ErrorKind::Interrupted { Ok(false) } else { Err(error) };
    }
    if polled[0].revents != 0 {
        return Ok(true);
    }
    for (pipe, polled) in pipes.iter_mut().zip(&polled[1..]) {
        if polled.revents != 0 {
            pipe.read();
        }
    }
    Ok(false)
}

/// Seconds in which the first thread of a process that has ended was ready and waited for a
/// processor: the second number of `schedstat`, see proc(5).
fn run_delay_s(pid: libc::pid_t) -> Option<f64> {
    let text = processes::text(pid, "schedstat")?;
    let delay_ns: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(delay_ns as f64 / 1e9)
}

/// Returns whether the kernel counts storage I/O of processes (`CONFIG_TASK_IO_ACCOUNTING`);
/// without it getrusage(2) returns zeros.
fn counts_storage() -> bool {
    static COUNTS: LazyLock<bool> =
        LazyLock::new(|| processes::path(std::process::id() as i32, "io").exists());
    *COUNTS
}

/// Opens what a child reads or writes, without waiting for a process at the other end of a pipe:
/// such a wait could not be interrupted.
///
/// # Errors
/// When it cannot be opened; for a pipe to write to, also when no process has it open for reading.
pub fn open_at_once(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NONBLOCK).open(path)?;
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::{Capture, Exit, KEPT_BYTES_MAX, Printed, Ready, run};
    use std::io;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    fn shell(text: &str, stop: &dyn Fn() -> bool) -> io::Result<Exit> {
        run(Command::new("sh").args(["-c", text]), [None, None, None], BOTH, stop)
    }

    const BOTH: Capture = Capture { stdout: true, stderr: true };

    #[test]
    fn both_streams_and_the_exit_code_are_told() {
        let ended = shell("echo out; echo err >&2; exit 3", &|| false).unwrap();
        assert_eq!((ended.status.code(), ended.stopped, ended.left_group), (Some(3), false, false));
        assert_eq!((ended.stdout.text(), ended.stderr.text()), ("out\n".into(), "err\n".into()));
        assert!(!ended.stdout.is_cut());
    }

    #[test]
    fn a_command_that_is_ready_is_run_again_and_each_run_is_heard_alone() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $RUN out; echo $RUN err >&2; exit $RUN"]).env("RUN", "none");
        let mut ready = Ready::new(&command, [None, None, None], BOTH).unwrap();
        for code in [3, 0, 7] {
            ready.set("RUN", &code.to_string()).unwrap();
            let ended = ready.run(&|| false).unwrap();
            let outputs = (ended.stdout.text(), ended.stderr.text());
            assert_eq!(
                (ended.status.code(), outputs),
                (Some(code), (format!("{code} out\n"), format!("{code} err\n")))
            );
        }
        ready.set("NEW", "new").unwrap();
        assert!(ready.set("RUN", "a\0b").is_err());
        assert_eq!(ready.run(&|| false).unwrap().status.code(), Some(7));
    }

    #[test]
    fn of_endless_output_the_end_is_kept() {
        // 24 MiB and a last line.
        let ended = shell("head -c 25165824 /dev/zero; echo the end", &|| false).unwrap();
        let text = ended.stdout.text();
        assert!(
            ended.stdout.is_cut() && text.len() == KEPT_BYTES_MAX && text.ends_with("the end\n")
        );
        assert_eq!(ended.stderr, Printed::default());
    }

    #[test]
    fn the_whole_group_is_killed_on_request_and_what_it_leaves_behind_is_told() {
        let stop = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                stop.store(true, Ordering::Relaxed);
            });
            shell("sleep 1000 & sleep 1000", &|| stop.load(Ordering::Relaxed)).unwrap()
        });
        assert!(ended.stopped && ended.status.code().is_none());
        let ended = shell("sleep 1000 & exit 0", &|| false).unwrap();
        assert!(ended.left_group && ended.status.success());
    }

    #[test]
    fn a_command_has_its_own_environment_and_folder_and_is_found_where_it_says() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $NEW ${HOME-none} $PWD $PATH"]).current_dir("/");
        command.env("NEW", "new").env_remove("HOME").env("PATH", "/nowhere:/bin:/usr/bin");
        let ended = run(&command, [None, None, None], BOTH, &|| false).unwrap();
        assert_eq!(ended.stdout.text(), "new none / /nowhere:/bin:/usr/bin\n");
        command.env("PATH", "/nowhere");
        let error = run(&command, [None, None, None], BOTH, &|| false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let error =
            run(&Command::new("/nowhere/sh"), [None, None, None], BOTH, &|| false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}

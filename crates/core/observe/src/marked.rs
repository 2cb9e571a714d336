//! Processes that are identified by a variable in their environment, even if they have changed
//! their group or session; of commands also by a limit that they inherited, even if they have
//! cleared it and have another parent.

use crate::child::{Capture, Exit, Streams, run};
use crate::processes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::HashSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The time between SIGTERM and counting a process as left behind.
const GRACE: Duration = Duration::from_millis(500);
/// The time after which it is looked for again.
const PAUSE: Duration = Duration::from_millis(5);
/// A killed process may just have started another: rounds of looking for them.
const ROUNDS: u32 = 10;

/// The resource whose limit identifies what we started.
const LIMITED: Resource = Resource::Rttime;

/// Script of the guard: it waits for the end of its input, which is the end of this process, and
/// kills processes with our mark, whose prefix is its first argument. proc(5): `environ` has a zero
/// behind each variable.
const GUARD: &str = "while read -r _; do :; done\nfor _ in 1 2 3 4 5 6 7 8 9 10; \
                     do\nmarked=$(grep -lsz \"^$0\" /proc/[0-9]*/environ); [ \"$marked\" ] || \
                     exit\nfor file in $marked; do pid=${file#/proc/}; kill -KILL \
                     \"${pid%/environ}\"; done\ndone";

/// A mark in the environment of processes. While one exists, a guard process watches this one: if
/// this one is killed, the guard kills all processes that bear its mark.
#[derive(Debug)]
pub struct Mark {
    value: String,
    /// Processes that were there before it was given to any.
    before: OnceLock<HashSet<i32>>,
    /// Our limit before that which identifies what we start.
    limit: Option<Rlimit>,
    _guard: Option<Arc<Guard>>,
}

impl Mark {
    /// The variable that a process has to have in its environment.
    pub const VARIABLE: &str = "STEELBENCH_TRIAL";

    /// A mark that no process bears yet.
    pub fn new() -> Self {
        static MARKS: AtomicU64 = AtomicU64::new(0);
        let value = format!("{}{}", Self::begin(), MARKS.fetch_add(1, Ordering::Relaxed));
        // Without the guard a command may outlive us if we are killed; that does not make it
        // unmeasurable.
        Self { value, before: OnceLock::new(), limit: None, _guard: Guard::shared().ok() }
    }

    /// A mark of all that this process starts while it lives, also of daemons that clear their
    /// environment. They inherit a soft limit that names us (getrlimit(2)). It is for the time that
    /// a process of a real-time policy runs without a system call, and far beyond any.
    pub fn with_limit() -> Self {
        let mut mark = Self::new();
        let before = getrlimit(LIMITED);
        // Where no limit as high is permitted, daemons are found by their environment alone.
        let limited = setrlimit(LIMITED, Rlimit { current: Some(limit()), ..before });
        mark.limit = limited.is_ok().then_some(before);
        mark
    }

    /// Returns the prefix of the values of all our marks.
    fn begin() -> String {
        format!("{}-", std::process::id())
    }

    /// The value, to be given to processes from now on.
    pub fn value(&self) -> &str {
        self.before.get_or_init(|| processes::all().collect());
        &self.value
    }

    /// Kills every process that bears it; their names. One that is about to end has a moment for
    /// that.
    pub fn kill(&self) -> Vec<String> {
        let grace = Instant::now() + GRACE;
        let mut bearers = self.bearers();
        while !bearers.is_empty() && Instant::now() < grace {
            std::thread::sleep(PAUSE);
            bearers = self.bearers();
        }
        let mut killed = Vec::new();
        for _ in 0..ROUNDS {
            if bearers.is_empty() {
                break;
            }
            for pid in bearers {
                let name = processes::name(pid).unwrap_or_default();
                // SAFETY: a system call without pointers; the process was ours a moment ago.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                killed.push(format!("{name} (pid {pid})"));
            }
            std::thread::sleep(PAUSE);
            bearers = self.bearers();
        }
        killed.sort_unstable();
        killed.dedup();
        killed
    }

    /// Processes with this mark; with a limit those too that lost any, and have no ancestor here.
    fn bearers(&self) -> Vec<i32> {
        let Some(before) = self.before.get() else { return Vec::new() };
        let (mut bearers, mut without) = (Vec::new(), Vec::new());
        for pid in processes::all().filter(|pid| !before.contains(pid)) {
            match mark_of(pid) {
                Some(mark) if mark == self.value => bearers.push(pid),
                None if self.limit.is_some() && has_limit(pid) => without.push(pid),
                _ => {}
            }
        }
        if !without.is_empty() {
            // Later than the processes themselves: what was just started is of the family, and may
            // not have its environment yet.
            let family = processes::with_descendants(&[std::process::id() as i32]);
            without.retain(|pid| {
                family.binary_search(pid).is_err()
                    && processes::is_alive(*pid)
                    && mark_of(*pid).is_none()
            });
            bearers.extend(without);
        }
        bearers
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if let Some(before) = self.limit.take() {
            // A limit that stays does no harm.
            let _ = setrlimit(LIMITED, before);
        }
    }
}

/// Microseconds that no process runs, and no other Steelbench has for its limit.
fn limit() -> u64 {
    (1 << 62) + u64::from(std::process::id())
}

/// Returns whether a process inherited our limit.
fn has_limit(pid: i32) -> bool {
    let limits = processes::text(pid, "limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"));
    let current = line.and_then(|line| line.split_ascii_whitespace().next());
    current.and_then(|current| current.parse().ok()) == Some(limit())
}

/// The mark in the environment of a process.
fn mark_of(pid: i32) -> Option<String> {
    let environment = processes::text(pid, "environ")?;
    let mut parts = environment.split('\0');
    parts.find_map(|part| Some(part.strip_prefix(Mark::VARIABLE)?.strip_prefix('=')?.to_owned()))
}

impl Default for Mark {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs a command as [`run`] does, then kills all that it has started and left behind. If we are
/// killed, it is too.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn run_marked(
    command: &mut Command,
    streams: Streams,
    received: Capture,
    stop: &dyn Fn() -> bool,
) -> io::Result<Exit> {
    let mark = Mark::new();
    let ended = run(command.env(Mark::VARIABLE, mark.value()), streams, received, stop);
    mark.kill();
    ended
}

/// A process that outlives us if we are killed.
///
/// `PR_SET_PDEATHSIG` would end the command itself, but nothing that it has started, and it has to
/// be set between fork(2) and execve(2): without it, commands are started by vfork(2), which takes
/// less time.
#[derive(Debug)]
struct Guard(Child);

impl Guard {
    /// The one of this process, started if need be.
    fn shared() -> io::Result<Arc<Self>> {
        static SHARED: Mutex<Weak<Guard>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guard) = shared.upgrade() {
            return Ok(guard);
        }
        let marks = format!("{}={}", Mark::VARIABLE, Mark::begin());
        let mut command = Command::new("sh");
        // In a process group of its own: a signal that ends our group does not end it.
        command.args(["-c", GUARD, &marks]).current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let guard = Arc::new(Self(command.spawn()?));
        *shared = Arc::downgrade(&guard);
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It has nothing to do any more; one that is gone needs no end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::{Capture, Mark, run};
    use std::process::Command;

    /// Runs a script of the shell that leaves a process behind; what was found of it and killed,
    /// and whether the end of its group did that before.
    fn left_behind(script: &str) -> (Vec<String>, bool) {
        let mark = Mark::with_limit();
        let mut command = Command::new("sh");
        command.args(["-c", script]).env(Mark::VARIABLE, mark.value());
        let ended = run(&command, [None, None, None], Capture::default(), &|| false).unwrap();
        assert!(ended.status.success());
        // While it starts another program, it has no environment.
        let looks = std::iter::repeat_with(|| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            mark.kill()
        });
        let killed = looks.take(200).find(|killed| ended.left_group || !killed.is_empty());
        assert_eq!(mark.kill(), Vec::<String>::new());
        (killed.unwrap_or_default(), ended.left_group)
    }

    #[test]
    fn who_flees_is_found_by_the_environment_or_the_limit() {
        // On its way into its own session the end of the group can have hit it.
        let (killed, with_group) = left_behind("setsid sleep 1000 > /dev/null 2>&1 & exit 0");
        assert!(with_group || killed.len() == 1, "{killed:?}");
        // A daemon that forks twice and has no variables. Of two marks at the same time the
        // first that looks finds it: not in another test.
        let script = "env -i setsid --wait sh -c '/bin/sleep 1000 > /dev/null 2>&1 & exit 0'";
        let (killed, _) = left_behind(script);
        assert!(matches!(&killed[..], [daemon] if daemon.starts_with("sleep (")), "{killed:?}");
    }
}

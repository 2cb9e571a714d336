use crate::processes;
use crate::times::{ended_children_cpu_s, process_cpu_s, ticks_a_second, usage};
use observations::MachineLoad;
use std::time::Instant;

/// Watches what the whole machine does between start and stop.
#[derive(Debug)]
pub struct MachineMonitor {
    start: Option<Processors>,
    scope: Scope,
    own_start_s: f64,
    started: Instant,
}

/// The processes whose time is ours.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// This process, and its children that have ended.
    WithEnded,
    /// Ended children, and descendants that run: private servers with their sessions.
    WithServers,
}

/// Seconds of all processors since boot, from the first line of `/proc/stat` (see proc(5)).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Processors {
    busy_s: f64,
    steal_s: f64,
    iowait_s: f64,
}

impl MachineMonitor {
    /// Starts watching. The caller adds the time of servers, which it knows by session.
    pub fn start() -> Self {
        Self::watch(Scope::WithEnded)
    }

    /// Starts watching, where nothing else counts the processor time of private servers.
    pub fn start_with_servers() -> Self {
        Self::watch(Scope::WithServers)
    }

    fn watch(scope: Scope) -> Self {
        let started = Instant::now();
        Self { start: Processors::read(), scope, own_start_s: scope.cpu_s(), started }
    }

    /// Stops watching. Figures that the system does not report are 0.
    pub fn stop(self) -> MachineLoad {
        let cpus = processors_online();
        let own_s = (self.scope.cpu_s() - self.own_start_s).max(0.0);
        let (Some(start), Some(end)) = (self.start, Processors::read()) else {
            return MachineLoad { cpus, own_s, ..MachineLoad::default() };
        };
        // The kernel counts /proc/stat in ticks: figures of a short time are rounded down.
        let most_s = f64::from(cpus) * self.started.elapsed().as_secs_f64();
        MachineLoad {
            cpus,
            busy_s: (end.busy_s - start.busy_s).max(own_s.min(most_s)),
            own_s,
            steal_s: (end.steal_s - start.steal_s).max(0.0),
            iowait_s: (end.iowait_s - start.iowait_s).max(0.0),
        }
    }
}

impl Processors {
    fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?, ticks_a_second())
    }

    fn parse(text: &str, ticks_a_second: f64) -> Option<Self> {
        let [user, nice, system, _, iowait, irq, softirq, steal] = ticks(text)?;
        Some(Self {
            busy_s: (user + nice + system + irq + softirq) / ticks_a_second,
            steal_s: steal / ticks_a_second,
            iowait_s: iowait / ticks_a_second,
        })
    }
}

/// Ticks of all processors since boot, from `/proc/stat`: user nice system idle iowait irq softirq
/// steal (guest is counted in user).
pub(crate) fn ticks(stat: &str) -> Option<[f64; 8]> {
    let words = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let ticks: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    ticks.first_chunk().copied()
}

/// A setting of the kernel (sysctl), by its name: `kernel.hostname`. `None` when it is not there or
/// not readable.
pub fn kernel_setting(name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok()
}

/// Processors online in the whole machine, including those that this process may not use.
pub fn processors_online() -> u32 {
    // SAFETY: a constant of the system.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.max(1) as u32
}

impl Scope {
    /// Processor seconds so far.
    fn cpu_s(self) -> f64 {
        let usages = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(usage);
        let times = usages.iter().flat_map(|usage| [usage.ru_utime, usage.ru_stime]);
        let ended_s: f64 = times.map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6).sum();
        match self {
            Self::WithEnded => ended_s,
            Self::WithServers => ended_s + running_descendants_cpu_s(),
        }
    }
}

/// Processor seconds of the processes that this one has started, that they have started and so on,
/// and of those among them that have ended.
fn running_descendants_cpu_s() -> f64 {
    let us = std::process::id() as i32;
    let below = processes::with_descendants(&[us]).into_iter().filter(|pid| *pid != us);
    let times = below.flat_map(|pid| [process_cpu_s(pid), ended_children_cpu_s(pid)]);
    times.flatten().sum()
}

#[cfg(test)]
mod tests {
    use super::{MachineMonitor, Processors};
    use std::io::Read;
    use std::time::{Duration, Instant};

    #[test]
    fn reads_the_fields_that_proc_documents() {
        let text = "cpu  100 20 30 4000 50 6 7 80 9 10\ncpu0 1 2 3\n";
        let read = Processors::parse(text, 100.0).unwrap();
        assert_eq!(read, Processors { busy_s: 1.63, steal_s: 0.8, iowait_s: 0.5 });
        assert_eq!(Processors::parse("intr 1 2", 100.0), None);
    }

    #[test]
    fn own_work_is_own_and_busy() {
        let (monitor, start) = (MachineMonitor::start(), Instant::now());
        let mut sum = 0_u64;
        while start.elapsed() < Duration::from_millis(200) {
            sum = std::hint::black_box(sum + 1);
        }
        let load = monitor.stop();
        assert!(load.own_s > 0.0 && load.busy_s >= load.own_s * 0.99, "{load:?}");
    }

    #[test]
    fn a_running_child_and_its_child_are_ours_where_they_are_asked_for() {
        let spin = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo; cat'; true";
        let with_servers = MachineMonitor::start_with_servers();
        let mut child = std::process::Command::new("sh")
            .args(["-c", spin])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0];
        child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
        let ended_s = with_servers.scope.cpu_s() - super::Scope::WithEnded.cpu_s();
        let stop = with_servers.stop();
        drop(child.stdin.take());
        child.wait().unwrap();
        // It has counted to 300,000, which takes more than some ticks.
        assert!(ended_s > 0.05 && stop.own_s > 0.05, "{ended_s} s, {stop:?}");
    }
}

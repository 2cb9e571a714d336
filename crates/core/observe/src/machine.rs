use observations::MachineLoad;
use std::time::Instant;

/// Watches what the whole machine does between start and stop.
#[derive(Debug)]
pub struct MachineMonitor {
    start: Option<Processors>,
    own_start_s: f64,
    started: Instant,
}

/// Seconds of all processors since boot, from the first line of `/proc/stat` (see proc(5)).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Processors {
    busy_s: f64,
    steal_s: f64,
    iowait_s: f64,
}

impl MachineMonitor {
    /// Starts watching.
    pub fn start() -> Self {
        Self { start: Processors::read(), own_start_s: own_cpu_s(), started: Instant::now() }
    }

    /// Stops watching. Figures that the system does not report are 0.
    pub fn stop(self) -> MachineLoad {
        let cpus = processors_online();
        let own_s = own_cpu_s() - self.own_start_s;
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

/// Processors online in the whole machine, including those that this process may not use.
pub fn processors_online() -> u32 {
    // SAFETY: a constant of the system.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.max(1) as u32
}

fn ticks_a_second() -> f64 {
    // SAFETY: a constant of the system.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64
}

/// Processor seconds of this process and of its children that have ended.
fn own_cpu_s() -> f64 {
    let usages = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(usage);
    let times = usages.iter().flat_map(|usage| [usage.ru_utime, usage.ru_stime]);
    times.map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6).sum()
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

#[cfg(test)]
mod tests {
    use super::{MachineMonitor, Processors};
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
}

use observe::ProcessTimes;
use std::collections::HashMap;

/// Follows the time that the server's processes use, as the kernel counts it.
///
/// Processes are read about once a second, so that one that ends is counted up to its last reading.
#[derive(Debug, Default)]
pub struct KernelWatch {
    last: HashMap<i32, ProcessTimes>,
    /// CPU use of each process in this window, by number.
    used: HashMap<i32, ProcessTimes>,
    begun: bool,
}

impl KernelWatch {
    /// Takes the times of the sessions that there are. The first call of a watch begins its first
    /// window.
    pub fn read(&mut self, sessions: impl Iterator<Item = (i32, ProcessTimes)>) {
        for (session, times) in sessions {
            self.see(session, times);
        }
        self.begun = true;
    }

    fn see(&mut self, pid: i32, times: ProcessTimes) {
        // A process that begins in a window, or has the number of one that has ended, began at 0.
        let newborn =
            ProcessTimes { started_ticks: times.started_ticks, ..ProcessTimes::default() };
        let last =
            self.last.insert(pid, times).filter(|last| last.started_ticks == times.started_ticks);
        let last = last.unwrap_or(if self.begun { newborn } else { times });
        add(self.used.entry(pid).or_default(), times.since(last));
    }

    /// Ends a window and begins the next: the time used by each process, by its number.
    pub fn take(&mut self) -> HashMap<i32, ProcessTimes> {
        self.last.retain(|pid, _| self.used.contains_key(pid));
        std::mem::take(&mut self.used)
    }
}

/// Adds the use of a later interval.
pub(super) fn add(sum: &mut ProcessTimes, more: ProcessTimes) {
    sum.cpu_ns += more.cpu_ns;
    sum.user_ticks += more.user_ticks;
    sum.system_ticks += more.system_ticks;
    sum.run_delay_ns += more.run_delay_ns;
    sum.started_ticks = more.started_ticks;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(started_ticks: u64, cpu_ns: u64) -> ProcessTimes {
        ProcessTimes { started_ticks, cpu_ns, run_delay_ns: cpu_ns / 10, ..ProcessTimes::default() }
    }

    fn cpu(used: &HashMap<i32, ProcessTimes>) -> Vec<(i32, u64)> {
        let mut used: Vec<_> = used.iter().map(|(pid, times)| (*pid, times.cpu_ns)).collect();
        used.sort_unstable();
        used
    }

    #[test]
    fn old_new_ended_and_replaced_processes_count_for_what_they_used() {
        let mut watch = KernelWatch::default();
        watch.see(1, times(5, 1000));
        watch.see(2, times(5, 1000));
        watch.begun = true;
        // 3 is new, 2 has ended and its number was reused, 1 continues.
        watch.see(2, times(5, 1300));
        watch.see(2, times(9, 50));
        watch.see(3, times(9, 70));
        watch.see(1, times(5, 1010));
        assert_eq!(cpu(&watch.take()), [(1, 10), (2, 350), (3, 70)]);
        // In the next window 3 is gone and 1 continues.
        watch.see(1, times(5, 1030));
        watch.see(2, times(9, 60));
        assert_eq!(cpu(&watch.take()), [(1, 20), (2, 10)]);
    }
}

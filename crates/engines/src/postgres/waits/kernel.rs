use crate::postgres::local::is_local;
use observe::ProcessTimes;
use pgclient::Client;
use std::collections::HashMap;

/// Follows the time that the server's processes use, as the kernel counts it.
///
/// Processes are read about once a second, so that one that ends is counted up to its last reading.
#[derive(Debug, Default)]
pub(super) struct KernelWatch {
    /// Times when the window began; 0 of a process that began later.
    first: HashMap<i32, ProcessTimes>,
    last: HashMap<i32, ProcessTimes>,
    /// Of processes whose number was given to another one since.
    replaced: HashMap<i32, ProcessTimes>,
    begun: bool,
}

impl KernelWatch {
    /// A watch, if the server's processes are processes of this machine.
    pub(super) fn of(client: &Client, user: &str) -> Option<Self> {
        // `of` fails where the kernel does not keep the time of the run queue.
        (is_local(client, user) && ProcessTimes::of(client.backend_pid()).is_some()).then(Self::default)
    }

    /// Reads the processes that there are. The first call of a watch begins its first window.
    pub(super) fn read(&mut self, pids: impl Iterator<Item = i32>) {
        for pid in pids {
            let Some(times) = ProcessTimes::of(pid) else { continue };
            self.see(pid, times);
        }
        self.begun = true;
    }

    fn see(&mut self, pid: i32, times: ProcessTimes) {
        let newborn = ProcessTimes { started_ticks: times.started_ticks, ..ProcessTimes::default() };
        let begun = self.begun;
        let first = self.first.entry(pid).or_insert(if begun { newborn } else { times });
        if first.started_ticks != times.started_ticks {
            if let Some(last) = self.last.get(&pid) {
                add(self.replaced.entry(pid).or_default(), last.since(*first));
            }
            *first = newborn;
        }
        self.last.insert(pid, times);
    }

    /// Ends a window and begins the next: the time used by each process, by its number.
    pub(super) fn take(&mut self) -> HashMap<i32, ProcessTimes> {
        let mut used = std::mem::take(&mut self.replaced);
        for (pid, last) in &self.last {
            let first = self.first.get(pid).copied().unwrap_or_default();
            add(used.entry(*pid).or_default(), last.since(first));
        }
        self.first = std::mem::take(&mut self.last);
        used
    }
}

fn add(sum: &mut ProcessTimes, more: ProcessTimes) {
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
        // 3 is new, 2 has ended and its number was given to another, 1 goes on.
        watch.see(2, times(5, 1300));
        watch.see(2, times(9, 50));
        watch.see(3, times(9, 70));
        watch.see(1, times(5, 1010));
        assert_eq!(cpu(&watch.take()), [(1, 10), (2, 350), (3, 70)]);
        // In the next window 3 is not seen any more and 1 goes on.
        watch.see(1, times(5, 1030));
        watch.see(2, times(9, 60));
        assert_eq!(cpu(&watch.take()), [(1, 20), (2, 10)]);
    }
}

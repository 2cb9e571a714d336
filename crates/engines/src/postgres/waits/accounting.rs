use super::types::CPU_QUEUE;
use super::{Window, class};
use observations::{TimeUse, Wait, WaitClass, WaitSource};
use observe::ProcessTimes;
use std::collections::BTreeMap;

/// What samples and the kernel say about the same sessions in the same time.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionSamples {
    /// Sessions x interval, in seconds.
    pub session_s: f64,
    /// Samples without a wait event: on a processor, or ready for one.
    pub running: u64,
    /// Samples by wait type.
    pub waits: Vec<(String, u64)>,
    /// Samples a second.
    pub hz: f64,
    /// Exact times of the sessions' processes.
    pub kernel: Option<KernelTime>,
}

/// Time of processes as the kernel counts it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct KernelTime {
    /// Seconds on a processor.
    pub cpu_s: f64,
    /// Seconds of it in user mode.
    pub cpu_user_s: f64,
    /// Seconds in the run queue.
    pub run_queue_s: f64,
}

impl SessionSamples {
    /// What a window has of chosen processes. Time in which they were idle is the wait `idle`, if one is given.
    pub(super) fn of(window: &Window, is_chosen: impl Fn(i32) -> bool, idle: Option<&str>) -> Self {
        let mut running = 0;
        let mut waits: BTreeMap<String, u64> = BTreeMap::new();
        for (sample, count) in window.samples.iter().filter(|(sample, _)| is_chosen(sample.pid)) {
            match idle.filter(|_| sample.idle).or(sample.wait.as_deref()) {
                Some(wait) => *waits.entry(wait.to_owned()).or_insert(0) += count,
                None => running += count,
            }
        }
        let session_s = (running + waits.values().sum::<u64>()) as f64 * window.sample_s();
        let kernel = window.kernel.as_ref().map(|kernel| {
            let chosen = kernel.iter().filter(|(pid, _)| is_chosen(**pid));
            KernelTime::sum(chosen.map(|(_, times)| times))
        });
        Self { session_s, running, waits: waits.into_iter().collect(), hz: window.hz, kernel }
    }

    /// Waits and CPU time of the sessions.
    ///
    /// With S = `session_s`, the samples without a wait event, a share n, were n x S seconds on a
    /// processor or in the run queue. The kernel says exactly how long that was: C on a processor, R in
    /// the run queue. There are two cases.
    ///
    /// - n x S > C + R: some of these samples were neither. They stay unaccounted.
    /// - n x S < C + R: the rest fell into samples with a wait event. That is so with the system
    ///   calls with which a wait begins and ends, with pages that the page cache serves; and on few
    ///   processors a sample is taken rather when the load has just lost one to it. The waits are
    ///   shorter by that much, each in proportion to its samples.
    ///
    /// So waits suspend sessions for min(S - n x S, S - C - R), divided by samples. Of the run queue,
    /// min(R, n x S - C) is the wait `CPU_QUEUE`, the rest is the signal part of the other waits, again by
    /// samples. But a session that waits for its client is ready to run only when the client has done
    /// its part: from then on it waits for a processor, and that is `CPU_QUEUE` too.
    pub(super) fn account(&self) -> (Vec<Wait>, TimeUse) {
        let (running_s, waiting_s) = self.sampled();
        let Some(kernel) = self.kernel else {
            let time = TimeUse { session_s: self.session_s, cpu_s: running_s, cpu_user_s: None };
            return (self.divide(waiting_s, 0.0), time);
        };
        let queue_s = kernel.run_queue_s.min((running_s - kernel.cpu_s).max(0.0));
        let signal_s = kernel.run_queue_s - queue_s;
        let resource_s = waiting_s.min(self.session_s - kernel.cpu_s - kernel.run_queue_s).max(0.0);
        let mut waits = self.divide(resource_s, signal_s);
        let of_client = waits.iter_mut().filter(|wait| wait.class == WaitClass::Client);
        let queue_s = queue_s + of_client.map(|wait| std::mem::take(&mut wait.signal_s)).sum::<f64>();
        if queue_s > 0.0 {
            waits.push(Wait { source: WaitSource::Counted, ..self.wait(CPU_QUEUE, 0.0, queue_s) });
        }
        let time =
            TimeUse { session_s: self.session_s, cpu_s: kernel.cpu_s, cpu_user_s: Some(kernel.cpu_user_s) };
        (waits, time)
    }

    /// Factors of the seconds that a sample without a wait event stands for, and one with a wait event, with which the
    /// kernel's figures come out.
    pub(super) fn correction(&self) -> (f64, f64) {
        let (running_s, waiting_s) = self.sampled();
        let exact_s = self.kernel.map_or(0.0, |kernel| kernel.cpu_s + kernel.run_queue_s);
        if exact_s <= running_s || running_s == 0.0 || waiting_s == 0.0 {
            return (1.0, 1.0);
        }
        let rest_s = (self.session_s - exact_s).max(0.0);
        (exact_s / running_s, rest_s / waiting_s)
    }

    /// Seconds without and with a wait event, as sampled.
    fn sampled(&self) -> (f64, f64) {
        let waiting = self.waits.iter().map(|(_, samples)| samples).sum::<u64>();
        let second_s = self.session_s / (self.running + waiting).max(1) as f64;
        (self.running as f64 * second_s, waiting as f64 * second_s)
    }

    /// Divides seconds among the wait types by their samples.
    fn divide(&self, resource_s: f64, signal_s: f64) -> Vec<Wait> {
        let all = self.waits.iter().map(|(_, samples)| samples).sum::<u64>().max(1) as f64;
        let one = |(name, samples): &(String, u64)| {
            let share = *samples as f64 / all;
            self.wait(name, share * resource_s, share * signal_s)
        };
        self.waits.iter().map(one).collect()
    }

    fn wait(&self, name: &str, resource_s: f64, signal_s: f64) -> Wait {
        Wait {
            wait_type: name.to_owned(),
            class: class(name),
            count: None,
            resource_s,
            signal_s,
            source: WaitSource::Sampled { hz: self.hz },
        }
    }
}

impl KernelTime {
    pub(super) fn sum<'a>(processes: impl Iterator<Item = &'a ProcessTimes>) -> Self {
        let mut sum = Self::default();
        for process in processes {
            let cpu_s = process.cpu_ns as f64 / 1e9;
            let ticks = process.user_ticks + process.system_ticks;
            sum.cpu_s += cpu_s;
            // The kernel's division has the resolution of a tick, its sum is exact.
            sum.cpu_user_s += cpu_s * (process.user_ticks as f64 / ticks.max(1) as f64);
            sum.run_queue_s += process.run_delay_ns as f64 / 1e9;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 sessions for 10 s, of which a quarter of the samples has no wait event.
    fn sessions(kernel: Option<KernelTime>) -> SessionSamples {
        SessionSamples {
            session_s: 40.0,
            running: 1000,
            waits: vec![("Client:ClientRead".into(), 2000), ("IO:WalSync".into(), 1000)],
            hz: 100.0,
            kernel,
        }
    }

    fn shown(waits: &[Wait]) -> Vec<(&str, f64, f64)> {
        waits.iter().map(|wait| (wait.wait_type.as_str(), wait.resource_s, wait.signal_s)).collect()
    }

    #[test]
    fn samples_alone_call_everything_without_a_wait_cpu() {
        let (waits, time) = sessions(None).account();
        assert_eq!(shown(&waits), [("Client:ClientRead", 20.0, 0.0), ("IO:WalSync", 10.0, 0.0)]);
        assert_eq!((time.session_s, time.cpu_s, time.cpu_user_s), (40.0, 10.0, None));
    }

    #[test]
    fn the_run_queue_is_a_wait_of_its_own_as_far_as_samples_leave_room_for_it() {
        // Of 10 s without a wait event 7 were on a processor: 3 of 4 s in the run queue were among
        // them, the fourth in the 30 s of waits, of which 29 were suspended; two thirds of it after
        // the client had sent something.
        let kernel = KernelTime { cpu_s: 7.0, cpu_user_s: 5.0, run_queue_s: 4.0 };
        let (waits, time) = sessions(Some(kernel)).account();
        assert_eq!(waits[2].class, WaitClass::CpuQueue);
        for ((name, resource_s, signal_s), expected) in shown(&waits).into_iter().zip([
            ("Client:ClientRead", 29.0 * 2.0 / 3.0, 0.0),
            ("IO:WalSync", 29.0 / 3.0, 1.0 / 3.0),
            (CPU_QUEUE, 0.0, 3.0 + 2.0 / 3.0),
        ]) {
            assert_eq!(name, expected.0);
            assert!((resource_s - expected.1).abs() < 1e-9 && (signal_s - expected.2).abs() < 1e-9, "{name}");
        }
        let all = time.cpu_s + waits.iter().map(Wait::wait_s).sum::<f64>();
        assert!((all - 40.0).abs() < 1e-9, "{all}");
    }

    #[test]
    fn what_the_kernel_does_not_confirm_stays_unaccounted() {
        let unaccounted = |cpu_s, run_queue_s| {
            let kernel = KernelTime { cpu_s, cpu_user_s: 0.0, run_queue_s };
            let (waits, time) = sessions(Some(kernel)).account();
            time.session_s - time.cpu_s - waits.iter().map(Wait::wait_s).sum::<f64>()
        };
        // 10 s without a wait event, of which the kernel knows 6.
        assert!((unaccounted(5.0, 1.0) - 4.0).abs() < 1e-9);
        // More on a processor than samples without a wait event: it was inside of waits.
        assert!(unaccounted(12.0, 1.0).abs() < 1e-9);
        // More than there was of the sessions: something is wrong, and it shows.
        assert!((unaccounted(41.0, 2.0) + 3.0).abs() < 1e-9);
    }

    #[test]
    fn corrected_samples_add_up_to_the_kernels_figures() {
        let correction =
            |cpu_s| sessions(Some(KernelTime { cpu_s, cpu_user_s: 0.0, run_queue_s: 1.0 })).correction();
        // 16 s of 40 instead of 10: then 24 s of waits instead of 30.
        assert_eq!(correction(15.0), (1.6, 0.8));
        assert_eq!(correction(5.0), (1.0, 1.0));
        assert_eq!(sessions(None).correction(), (1.0, 1.0));
    }

    #[test]
    fn no_samples_are_no_waits() {
        let (waits, time) = SessionSamples { session_s: 40.0, ..SessionSamples::default() }.account();
        assert!(waits.is_empty() && time.cpu_s == 0.0);
    }
}

use super::class;
use super::counters::ServerCounts;
use super::types::CPU_QUEUE;
use observations::{TimeUse, Wait, WaitClass, WaitSource};
use observe::ProcessTimes;
use servers::activity::{Process, Window};
use std::collections::BTreeMap;

/// Samples and kernel times of the same sessions in the same interval.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionSamples {
    /// Sessions x interval, in seconds.
    pub session_s: f64,
    /// Samples without a wait event: on a processor, or ready for one.
    pub running: u64,
    /// Samples by wait type.
    pub waits: Vec<WaitSamples>,
    /// Samples a second.
    pub hz: f64,
    /// Exact times of the sessions' processes.
    pub kernel: Option<KernelTime>,
}

/// Samples of a wait type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WaitSamples {
    pub name: String,
    /// Of the sessions.
    pub own: u64,
    /// Of all processes that work for clients, and of all processes there are.
    pub of_clients: u64,
    pub of_all: u64,
    /// Variance of the number in which samples that are taken at the same time find it, summed
    /// over these times; `None` when that is not known.
    pub variance: Option<f64>,
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
    /// Selects the chosen processes of a window. Their idle time becomes the wait `idle`, if one is
    /// given.
    pub(super) fn select(
        window: &Window,
        is_chosen: impl Fn(i32) -> bool,
        idle: Option<&str>,
    ) -> Self {
        let mut running = 0;
        let mut waits: BTreeMap<&str, WaitSamples> = BTreeMap::new();
        for (sample, count) in &window.samples {
            let chosen = is_chosen(sample.pid);
            let Some(name) = idle.filter(|_| sample.idle).or(sample.wait.as_deref()) else {
                running += if chosen { *count } else { 0 };
                continue;
            };
            let wait = waits.entry(name).or_default();
            wait.own += if chosen { *count } else { 0 };
            let for_client = window.processes.get(&sample.pid).is_none_or(Process::for_client);
            wait.of_clients += if for_client { *count } else { 0 };
            wait.of_all += count;
        }
        let waits: Vec<WaitSamples> = waits
            .into_iter()
            .filter(|(_, wait)| wait.own > 0)
            .map(|(name, wait)| WaitSamples {
                name: name.to_owned(),
                variance: window.variance(name).filter(|_| wait.own == wait.of_clients),
                ..wait
            })
            .collect();
        let session_s =
            (running + waits.iter().map(|wait| wait.own).sum::<u64>()) as f64 * window.sample_s();
        let kernel = window.kernel.as_ref().map(|kernel| {
            let chosen = kernel.iter().filter(|(pid, _)| is_chosen(**pid));
            KernelTime::sum(chosen.map(|(_, times)| times))
        });
        Self { session_s, running, waits, hz: window.hz, kernel }
    }

    /// Waits and CPU time of the sessions.
    ///
    /// With S = `session_s`, the samples without a wait event, a share n, were n x S seconds on a
    /// processor or in the run queue. The kernel says exactly how long that was: C on a processor,
    /// R in the run queue. There are two cases.
    ///
    /// - n x S > C + R: some of these samples were neither.
    /// - n x S < C + R: the rest fell into samples with a wait event. That is so with the system
    ///   calls with which a wait begins and ends, with pages that the page cache serves; and on few
    ///   processors a sample is taken rather when the load has just lost one to it. The waits are
    ///   shorter by that much, each in proportion to its samples.
    ///
    /// So waits suspend sessions for min(S - n x S, S - C - R), divided by samples. Of the run
    /// queue, min(R, n x S - C) is the wait `CPU_QUEUE`, the rest is the signal part of the
    /// other waits, again by samples. But a session that waits for its client is ready to run
    /// only when the client has done its part: from then on it waits for a processor, and that
    /// is `CPU_QUEUE` too.
    ///
    /// Reports what was taken off the waits beside them, as well as the n x S seconds: samples and
    /// kernel are independent, and their difference is not accounted for, whichever is larger.
    ///
    /// A wait that the server itself has timed, by what it `counted`, is not taken from samples;
    /// where a counter is that of more sessions than these, their share of it is that of their
    /// samples.
    pub(super) fn account(&self, counted: ServerCounts) -> (Vec<Wait>, TimeUse) {
        let (running_s, waiting_s) = self.sampled();
        let Some(kernel) = self.kernel else {
            let time =
                TimeUse { session_s: self.session_s, cpu_s: running_s, ..TimeUse::default() };
            let mut waits = self.divide(waiting_s, 0.0);
            self.take_counted(&mut waits, counted);
            return (waits, time);
        };
        let queue_s = kernel.run_queue_s.min((running_s - kernel.cpu_s).max(0.0));
        let signal_s = kernel.run_queue_s - queue_s;
        let resource_s = waiting_s.min(self.session_s - kernel.cpu_s - kernel.run_queue_s).max(0.0);
        let mut waits = self.divide(resource_s, signal_s);
        let (replaced, excess_s) = self.take_counted(&mut waits, counted);
        let sampled_share = 1.0 - replaced as f64 / self.waiting().max(1) as f64;
        let of_client = waits.iter_mut().filter(|wait| wait.class == WaitClass::Client);
        let of_client_s: f64 = of_client.map(|wait| std::mem::take(&mut wait.signal_s)).sum();
        let queue_s = queue_s + excess_s + of_client_s;
        if queue_s > 0.0 {
            waits.push(Self::counted(CPU_QUEUE, 0.0, queue_s));
        }
        let time = TimeUse {
            session_s: self.session_s,
            cpu_s: kernel.cpu_s,
            cpu_user_s: Some(kernel.cpu_user_s),
            sampled_running_s: Some(running_s),
            corrected_s: Some(sampled_share * (waiting_s - resource_s)),
        };
        (waits, time)
    }

    /// Takes waits that the server has timed from its counters. Returns the samples that are not
    /// needed then, and the seconds in the run queue that have no room in such a wait.
    fn take_counted(&self, waits: &mut [Wait], counted: ServerCounts) -> (u64, f64) {
        let (mut replaced, mut excess_s) = (0, 0.0);
        for (wait, samples) in waits.iter_mut().zip(&self.waits) {
            let Some(timed) = counted.timed(&samples.name) else { continue };
            let of = if timed.is_of_clients { samples.of_clients } else { samples.of_all };
            let share = samples.own as f64 / of as f64;
            let wait_s = share * timed.wall_s;
            let signal_s = wait.signal_s.min(wait_s);
            replaced += samples.own;
            excess_s += wait.signal_s - signal_s;
            let error_s =
                (share < 1.0).then(|| timed.wall_s * (share * (1.0 - share) / of as f64).sqrt());
            *wait = Wait {
                count: Some((share * timed.count as f64).round() as u64),
                resource_s: wait_s - signal_s,
                signal_s,
                source: WaitSource::Server { counter: timed.counter.to_owned(), error_s },
                ..wait.clone()
            };
        }
        (replaced, excess_s)
    }

    /// Factors of the seconds that a sample without a wait event stands for, and one with a wait
    /// event, with which the kernel's figures come out.
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
        let waiting = self.waiting();
        let second_s = self.session_s / (self.running + waiting).max(1) as f64;
        (self.running as f64 * second_s, waiting as f64 * second_s)
    }

    /// Samples with a wait event.
    fn waiting(&self) -> u64 {
        self.waits.iter().map(|wait| wait.own).sum()
    }

    /// Divides seconds among the wait types by their samples.
    fn divide(&self, resource_s: f64, signal_s: f64) -> Vec<Wait> {
        let all = self.waiting().max(1) as f64;
        self.waits
            .iter()
            .map(|wait| {
                let share = wait.own as f64 / all;
                let error_s = self.error_in_samples(wait) / all * (resource_s + signal_s);
                let source = WaitSource::Sampled {
                    hz: self.hz,
                    samples: Some(wait.own),
                    error_s: Some(error_s),
                };
                Wait { source, ..Self::counted(&wait.name, share * resource_s, share * signal_s) }
            })
            .collect()
    }

    /// Standard error of a number of samples. Sessions that are sampled at the same time may wait
    /// for the same thing: where the spread from time to time is more than that of independent
    /// samples, it counts.
    fn error_in_samples(&self, wait: &WaitSamples) -> f64 {
        let own = wait.own as f64;
        let all = (self.running + self.waiting()).max(1) as f64;
        let independent = own * (1.0 - own / all);
        independent.max(wait.variance.unwrap_or(0.0)).sqrt()
    }

    fn counted(name: &str, resource_s: f64, signal_s: f64) -> Wait {
        Wait {
            wait_type: name.to_owned(),
            class: class(name),
            count: None,
            resource_s,
            signal_s,
            source: WaitSource::Counted,
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
    use observations::Operation;

    fn samples(name: &str, own: u64) -> WaitSamples {
        WaitSamples { name: name.into(), own, of_clients: own, of_all: own, variance: None }
    }

    /// 4 sessions for 10 s, of which a quarter of the samples has no wait event.
    fn sessions(kernel: Option<KernelTime>) -> SessionSamples {
        SessionSamples {
            session_s: 40.0,
            running: 1000,
            waits: vec![samples("Client:ClientRead", 2000), samples("IO:WalSync", 1000)],
            hz: 100.0,
            kernel,
        }
    }

    fn shown(waits: &[Wait]) -> Vec<(&str, f64, f64)> {
        waits.iter().map(|wait| (wait.wait_type.as_str(), wait.resource_s, wait.signal_s)).collect()
    }

    #[test]
    fn samples_alone_call_everything_without_a_wait_cpu() {
        let (waits, time) = sessions(None).account(ServerCounts::default());
        assert_eq!(shown(&waits), [("Client:ClientRead", 20.0, 0.0), ("IO:WalSync", 10.0, 0.0)]);
        assert_eq!((time.session_s, time.cpu_s, time.cpu_user_s), (40.0, 10.0, None));
    }

    #[test]
    fn the_run_queue_is_a_wait_of_its_own_as_far_as_samples_leave_room_for_it() {
        // Of 10 s without a wait event 7 were on a processor: 3 of 4 s in the run queue were among
        // them, the fourth in the 30 s of waits, of which 29 were suspended; two thirds of it after
        // the client had sent something.
        let kernel = KernelTime { cpu_s: 7.0, cpu_user_s: 5.0, run_queue_s: 4.0 };
        let (waits, time) = sessions(Some(kernel)).account(ServerCounts::default());
        assert_eq!(waits[2].class, WaitClass::CpuQueue);
        for ((name, resource_s, signal_s), expected) in shown(&waits).into_iter().zip([
            ("Client:ClientRead", 29.0 * 2.0 / 3.0, 0.0),
            ("IO:WalSync", 29.0 / 3.0, 1.0 / 3.0),
            (CPU_QUEUE, 0.0, 3.0 + 2.0 / 3.0),
        ]) {
            assert_eq!(name, expected.0);
            assert!(
                (resource_s - expected.1).abs() < 1e-9 && (signal_s - expected.2).abs() < 1e-9,
                "{name}"
            );
        }
        let all = time.cpu_s + waits.iter().map(Wait::wait_s).sum::<f64>();
        assert!((all - 40.0).abs() < 1e-9, "{all}");
    }

    /// Returns the rest of the sessions' time, and the reduction of the waits.
    fn rest(cpu_s: f64, run_queue_s: f64, counted: ServerCounts) -> (f64, f64) {
        let kernel = KernelTime { cpu_s, cpu_user_s: 0.0, run_queue_s };
        let (waits, time) = sessions(Some(kernel)).account(counted);
        assert_eq!(time.sampled_running_s, Some(10.0));
        let rest_s = time.session_s - time.cpu_s - waits.iter().map(Wait::wait_s).sum::<f64>();
        (rest_s - time.corrected_s.unwrap(), time.corrected_s.unwrap())
    }

    #[test]
    fn what_samples_and_kernel_disagree_on_stays_unaccounted_whichever_is_more() {
        // 10 s without a wait event, of which the kernel knows 6, 13 or, which cannot be, more than
        // there was.
        for (cpu_s, run_queue_s, unaccounted_s, corrected_s) in
            [(5.0, 1.0, 4.0, 0.0), (12.0, 1.0, -3.0, 3.0), (41.0, 2.0, -33.0, 30.0)]
        {
            let (rest_s, taken_s) = rest(cpu_s, run_queue_s, ServerCounts::default());
            assert!((rest_s - unaccounted_s).abs() < 1e-9, "{rest_s} is not {unaccounted_s}");
            assert!((taken_s - corrected_s).abs() < 1e-9, "{taken_s} is not {corrected_s}");
        }
    }

    #[test]
    fn a_wait_that_the_server_timed_is_not_sampled() {
        let timed =
            |name: &str, count, wall_s| Operation { name: name.into(), count, bytes: 0, wall_s };
        let operations =
            [timed("WAL sync", 500, 12.0), timed("IO client backend wal init fsync", 3, 8.0)];
        for (version, seconds, count) in [(15, 12.0, 500), (18, 8.0, 3)] {
            let counted = ServerCounts { operations: &operations, version };
            let kernel = KernelTime { cpu_s: 12.0, cpu_user_s: 0.0, run_queue_s: 1.0 };
            let (waits, _) = sessions(Some(kernel)).account(counted);
            assert!((waits[1].wait_s() - seconds).abs() < 1e-9);
            assert_eq!(waits[1].count, Some(count));
            assert!(matches!(&waits[1].source, WaitSource::Server { error_s: None, .. }));
            // 3 s were taken off 30 s of samples, 20 s of them in the wait that is still sampled;
            // the server's clock says something else than the 10 s of samples in the
            // other, a third of the second in the run queue included.
            let (rest_s, taken_s) = rest(12.0, 1.0, counted);
            assert!((taken_s - 2.0).abs() < 1e-9, "{taken_s}");
            assert!((rest_s - (-3.0 + 10.0 - (seconds - 1.0 / 3.0))).abs() < 1e-9, "{rest_s}");
            // Half of the samples are of other processes: so is half of what a counter of all has
            // timed.
            let mut shared = sessions(Some(kernel));
            shared.waits[1].of_all = 2000;
            let (waits, _) = shared.account(counted);
            let share = if version == 15 { 0.5 } else { 1.0 };
            assert!((waits[1].wait_s() - share * seconds).abs() < 1e-9);
            assert_eq!(waits[1].source.error_s().is_some(), version == 15);
        }
    }

    #[test]
    fn sampled_waits_have_their_error() {
        let (waits, _) = sessions(None).account(ServerCounts::default());
        // 2,000 and 1,000 of 4,000 samples, each for 10 ms: independent samples have a binomial
        // variance.
        for (wait, variance) in waits.iter().zip([2000.0 * 0.5, 1000.0 * 0.75]) {
            assert!(
                (wait.source.error_s().unwrap() - 0.01 * f64::sqrt(variance)).abs() < 1e-12,
                "{wait:?}"
            );
        }
        // All four in each of 500 of 1,000 polls: as if only a quarter of the samples had been
        // taken.
        let mut together = sessions(None);
        together.waits[0].variance = Some(500.0 * 16.0 - 2000.0 * 2000.0 / 1000.0);
        let (waits, _) = together.account(ServerCounts::default());
        assert!((waits[0].source.error_s().unwrap() - 0.01 * f64::sqrt(4000.0)).abs() < 1e-12);
    }

    #[test]
    fn corrected_samples_add_up_to_the_kernels_figures() {
        let correction = |cpu_s| {
            sessions(Some(KernelTime { cpu_s, cpu_user_s: 0.0, run_queue_s: 1.0 })).correction()
        };
        // 16 s of 40 instead of 10: then 24 s of waits instead of 30.
        assert_eq!(correction(15.0), (1.6, 0.8));
        assert_eq!(correction(5.0), (1.0, 1.0));
        assert_eq!(sessions(None).correction(), (1.0, 1.0));
    }

    #[test]
    fn no_samples_are_no_waits() {
        let (waits, time) = SessionSamples { session_s: 40.0, ..SessionSamples::default() }
            .account(ServerCounts::default());
        assert!(waits.is_empty() && time.cpu_s == 0.0);
    }
}

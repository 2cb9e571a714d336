use super::counters::ServerCounts;
use super::types::class;
use observations::wait_type::CPU_QUEUE;
use observations::{TimeUse, Wait, WaitClass, WaitSource};
use observe::ProcessTimes;
use servers::activity::{Process, Window};
use std::collections::BTreeMap;

/// Samples and kernel times of the same sessions in the same interval.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionSamples {
    /// Sessions x interval, in seconds.
    pub session_s: f64,
    /// Samples without a wait event.
    pub running: SampleCounts,
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
    pub sessions: SampleCounts,
    /// Of all processes that work for clients, and of all processes there are.
    pub of_clients: u64,
    pub of_all: u64,
    /// Variance of the number in which samples that are taken at the same time find it, summed
    /// over these times; `None` when that is not known.
    pub variance: Option<f64>,
}

/// Samples, and the scheduler's states at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SampleCounts {
    /// Number of samples.
    pub samples: u64,
    /// Of these, with a known state.
    pub with_state: u64,
    /// Of these, on a processor or in the run queue.
    pub runnable: u64,
}

impl SampleCounts {
    fn add(&mut self, count: u64, runnable: Option<bool>) {
        self.samples += count;
        self.with_state += if runnable.is_some() { count } else { 0 };
        self.runnable += if runnable == Some(true) { count } else { 0 };
    }

    /// Share on a processor or in the run queue; `None` if no state is known.
    fn runnable_share(&self) -> Option<f64> {
        (self.with_state > 0).then(|| self.runnable as f64 / self.with_state as f64)
    }
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
        let mut running = SampleCounts::default();
        let mut waits: BTreeMap<&str, WaitSamples> = BTreeMap::new();
        for (sample, count) in &window.samples {
            let chosen = is_chosen(sample.pid);
            let Some(name) = idle.filter(|_| sample.idle).or(sample.wait.as_deref()) else {
                running.add(if chosen { *count } else { 0 }, sample.runnable);
                continue;
            };
            let wait = waits.entry(name).or_default();
            wait.sessions.add(if chosen { *count } else { 0 }, sample.runnable);
            let for_client = window.processes.get(&sample.pid).is_none_or(Process::for_client);
            wait.of_clients += if for_client { *count } else { 0 };
            wait.of_all += count;
        }
        let waits: Vec<WaitSamples> = waits
            .into_iter()
            .filter(|(_, wait)| wait.sessions.samples > 0)
            .map(|(name, wait)| WaitSamples {
                name: name.to_owned(),
                variance: window
                    .variance(name)
                    .filter(|_| wait.sessions.samples == wait.of_clients),
                ..wait
            })
            .collect();
        let waiting: u64 = waits.iter().map(|wait| wait.sessions.samples).sum();
        let session_s = (running.samples + waiting) as f64 * window.sample_s();
        let kernel = window.kernel.as_ref().map(|kernel| {
            let chosen = kernel.iter().filter(|(pid, _)| is_chosen(**pid));
            KernelTime::sum(chosen.map(|(_, times)| times))
        });
        Self { session_s, running, waits, hz: window.hz, kernel }
    }

    /// Waits and CPU time of the sessions.
    ///
    /// The kernel counts C seconds on a processor and R in the run queue, exactly. Samples and the
    /// scheduler's states at the same time divide the sessions' time S into four parts:
    ///
    /// - wait event, suspended: the resource wait of that type;
    /// - wait event, runnable (X seconds): the wait is over, or begins or ends with a system call;
    /// - no wait event, runnable (N seconds);
    /// - no wait event, suspended: unaccounted.
    ///
    /// Sessions were suspended for exactly S - C - R seconds; samples only divide them. N + X is an
    /// independent figure of C + R. Of the run queue, min(R, N - C) is the wait `CPU_QUEUE`. The
    /// rest is the signal part of the waits, in proportion to X. But a session that waits for its
    /// client is ready to run only when the client has done its part: from then on it waits for a
    /// processor, and that is `CPU_QUEUE` too.
    ///
    /// Where states are not known (a profile), X is what N lacks of C + R, in proportion to the
    /// samples.
    ///
    /// A wait that the server itself has timed, by what it `counted`, is not taken from samples;
    /// where a counter is that of more sessions than these, their share of it is that of their
    /// samples.
    pub(super) fn account(&self, counted: ServerCounts) -> (Vec<Wait>, TimeUse) {
        let Some(kernel) = self.kernel else {
            let cpu_s = self.running.samples as f64 * self.sample_s();
            let time = TimeUse { session_s: self.session_s, cpu_s, ..TimeUse::default() };
            let mut waits: Vec<Wait> =
                self.waits.iter().map(|wait| self.wait(wait, self.sampled_s(wait), 0.0)).collect();
            self.take_counted(&mut waits, counted);
            return (waits, time);
        };
        let running_s = self.runnable_without_wait_s();
        let runnable_s = self.runnable_in_waits_s(kernel);
        let in_waits_s: f64 = runnable_s.iter().sum();
        let queue_s = kernel.run_queue_s.min((running_s - kernel.cpu_s).max(0.0));
        let signal_s = (kernel.run_queue_s - queue_s).min(in_waits_s);
        let signal_share = if in_waits_s > 0.0 { signal_s / in_waits_s } else { 0.0 };
        let suspended_s = (self.session_s - kernel.cpu_s - kernel.run_queue_s).max(0.0);
        let by_samples_s = self.session_s - running_s - in_waits_s;
        let is_divided = self.has_states() && by_samples_s > 0.0;
        let factor = if is_divided { suspended_s / by_samples_s } else { 1.0 };
        let mut waits: Vec<Wait> = self
            .waits
            .iter()
            .zip(runnable_s)
            .map(|(wait, runnable_s)| {
                let resource_s = factor * (self.sampled_s(wait) - runnable_s);
                self.wait(wait, resource_s, signal_share * runnable_s)
            })
            .collect();
        let excess_s = self.take_counted(&mut waits, counted);
        let of_client = waits.iter_mut().filter(|wait| wait.class == WaitClass::Client);
        let of_client_s: f64 = of_client.map(|wait| std::mem::take(&mut wait.signal_s)).sum();
        let queue_s = kernel.run_queue_s - signal_s + excess_s + of_client_s;
        if queue_s > 0.0 {
            waits.push(Self::counted(CPU_QUEUE, 0.0, queue_s));
        }
        let sampled_s = if self.has_states() { running_s + in_waits_s } else { running_s };
        let time = TimeUse {
            session_s: self.session_s,
            cpu_s: kernel.cpu_s,
            cpu_user_s: Some(kernel.cpu_user_s),
            sampled_running_s: Some(sampled_s),
        };
        (waits, time)
    }

    /// Takes waits that the server has timed from its counters. Returns the seconds in the run
    /// queue that have no room in such a wait.
    fn take_counted(&self, waits: &mut [Wait], counted: ServerCounts) -> f64 {
        let mut excess_s = 0.0;
        for (wait, samples) in waits.iter_mut().zip(&self.waits) {
            let Some(timed) = counted.timed(&samples.name) else { continue };
            let of = if timed.is_of_clients { samples.of_clients } else { samples.of_all };
            let share = samples.sessions.samples as f64 / of as f64;
            let wait_s = share * timed.wall_s;
            let signal_s = wait.signal_s.min(wait_s);
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
        excess_s
    }

    /// Factors of the seconds that a sample without a wait event stands for, and one with a wait
    /// event, with which the kernel's figures come out where no scheduler states are known.
    pub(super) fn correction(&self) -> (f64, f64) {
        let running_s = self.running.samples as f64 * self.sample_s();
        let waiting_s = self.waiting() as f64 * self.sample_s();
        let exact_s = self.kernel.map_or(0.0, |kernel| kernel.cpu_s + kernel.run_queue_s);
        if self.has_states() || exact_s <= running_s || running_s == 0.0 || waiting_s == 0.0 {
            return (1.0, 1.0);
        }
        let rest_s = (self.session_s - exact_s).max(0.0);
        (exact_s / running_s, rest_s / waiting_s)
    }

    /// Seconds that a sample stands for.
    fn sample_s(&self) -> f64 {
        self.session_s / (self.running.samples + self.waiting()).max(1) as f64
    }

    /// Samples with a wait event.
    fn waiting(&self) -> u64 {
        self.waits.iter().map(|wait| wait.sessions.samples).sum()
    }

    /// Returns whether scheduler states are known.
    fn has_states(&self) -> bool {
        self.running.with_state > 0 || self.waits.iter().any(|wait| wait.sessions.with_state > 0)
    }

    /// Seconds on a processor or in the run queue without a wait event.
    fn runnable_without_wait_s(&self) -> f64 {
        let all_s = self.running.samples as f64 * self.sample_s();
        all_s * self.running.runnable_share().unwrap_or(1.0)
    }

    /// Seconds on a processor or in the run queue with a wait event, of each wait.
    fn runnable_in_waits_s(&self, kernel: KernelTime) -> Vec<f64> {
        let mut all = SampleCounts::default();
        for wait in &self.waits {
            all.with_state += wait.sessions.with_state;
            all.runnable += wait.sessions.runnable;
        }
        let missing_s = kernel.cpu_s + kernel.run_queue_s - self.runnable_without_wait_s();
        let waiting_s = self.waiting() as f64 * self.sample_s();
        let usual = if self.has_states() {
            all.runnable_share().unwrap_or(0.0)
        } else {
            (missing_s / waiting_s).clamp(0.0, 1.0)
        };
        self.waits
            .iter()
            .map(|wait| self.sampled_s(wait) * wait.sessions.runnable_share().unwrap_or(usual))
            .collect()
    }

    /// Seconds that the samples of a wait stand for.
    fn sampled_s(&self, wait: &WaitSamples) -> f64 {
        wait.sessions.samples as f64 * self.sample_s()
    }

    /// A sampled wait.
    fn wait(&self, wait: &WaitSamples, resource_s: f64, signal_s: f64) -> Wait {
        let source = WaitSource::Sampled {
            hz: self.hz,
            samples: Some(wait.sessions.samples),
            error_s: Some(self.error_in_samples(wait) * self.sample_s()),
        };
        Wait { source, ..Self::counted(&wait.name, resource_s, signal_s) }
    }

    /// Standard error of a number of samples. Sessions that are sampled at the same time may wait
    /// for the same thing: where the spread from time to time is more than that of independent
    /// samples, it counts.
    fn error_in_samples(&self, wait: &WaitSamples) -> f64 {
        let samples = wait.sessions.samples as f64;
        let all = (self.running.samples + self.waiting()).max(1) as f64;
        let independent = samples * (1.0 - samples / all);
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

    fn samples(name: &str, count: u64) -> WaitSamples {
        let sessions = SampleCounts { samples: count, ..SampleCounts::default() };
        let (of_clients, of_all) = (count, count);
        WaitSamples { name: name.into(), sessions, of_clients, of_all, variance: None }
    }

    /// 4 sessions for 10 s, of which a quarter of the samples has no wait event.
    fn sessions(kernel: Option<KernelTime>) -> SessionSamples {
        SessionSamples {
            session_s: 40.0,
            running: SampleCounts { samples: 1000, ..SampleCounts::default() },
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

    fn unaccounted_s(waits: &[Wait], time: &TimeUse) -> f64 {
        time.session_s - time.cpu_s - waits.iter().map(Wait::wait_s).sum::<f64>()
    }

    #[test]
    fn a_session_whose_wait_is_over_waits_for_a_processor() {
        // 10 s runnable without a wait event, 12 of 20 s of ClientRead and 1 of 10 s of WalSync:
        // 23 s, of which the kernel counts 22. The 18 s of suspension are divided by the rest.
        let mut sessions =
            sessions(Some(KernelTime { cpu_s: 12.0, cpu_user_s: 5.0, run_queue_s: 10.0 }));
        sessions.running = SampleCounts { samples: 1000, with_state: 500, runnable: 500 };
        sessions.waits[0].sessions =
            SampleCounts { samples: 2000, with_state: 1000, runnable: 600 };
        sessions.waits[1].sessions = SampleCounts { samples: 1000, with_state: 500, runnable: 50 };
        let (waits, time) = sessions.account(ServerCounts::default());
        for ((name, resource_s, signal_s), expected) in shown(&waits).into_iter().zip([
            ("Client:ClientRead", 18.0 * 8.0 / 17.0, 0.0),
            ("IO:WalSync", 18.0 * 9.0 / 17.0, 10.0 / 13.0),
            (CPU_QUEUE, 0.0, 120.0 / 13.0),
        ]) {
            assert_eq!(name, expected.0);
            assert!(
                (resource_s - expected.1).abs() < 1e-9 && (signal_s - expected.2).abs() < 1e-9,
                "{name}: {resource_s} {signal_s}"
            );
        }
        assert!(unaccounted_s(&waits, &time).abs() < 1e-9);
        assert!((time.sampled_running_s.unwrap() - 23.0).abs() < 1e-9);
        assert_eq!(sessions.correction(), (1.0, 1.0));
        // A tenth of the samples without a wait event was suspended: 1 s without a cause.
        sessions.running.runnable = 450;
        let (waits, time) = sessions.account(ServerCounts::default());
        assert!((unaccounted_s(&waits, &time) - 1.0).abs() < 1e-9);
        assert!((time.sampled_running_s.unwrap() - 22.0).abs() < 1e-9);
    }

    #[test]
    fn without_states_the_kernel_says_how_long_sessions_with_a_wait_event_were_runnable() {
        // 10 s without a wait event, of which the kernel knows 6, 13 or, which cannot be, more than
        // there was.
        for (cpu_s, run_queue_s, rest_s) in [(5.0, 1.0, 4.0), (12.0, 1.0, 0.0), (41.0, 2.0, -3.0)] {
            let kernel = KernelTime { cpu_s, cpu_user_s: 0.0, run_queue_s };
            let (waits, time) = sessions(Some(kernel)).account(ServerCounts::default());
            assert_eq!(time.sampled_running_s, Some(10.0));
            let found_s = unaccounted_s(&waits, &time);
            assert!((found_s - rest_s).abs() < 1e-9, "{found_s} is not {rest_s}");
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
            let (waits, time) = sessions(Some(kernel)).account(counted);
            assert!((waits[1].wait_s() - seconds).abs() < 1e-9);
            assert_eq!(waits[1].count, Some(count));
            assert!(matches!(&waits[1].source, WaitSource::Server { error_s: None, .. }));
            // 3 of 30 s of samples were on a processor or ready for one; the server's clock says
            // something else than the 10 s of samples, a third of the second in the run queue
            // included.
            let rest_s = unaccounted_s(&waits, &time);
            assert!((rest_s - (10.0 - 1.0 - seconds + 1.0 / 3.0)).abs() < 1e-9, "{rest_s}");
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

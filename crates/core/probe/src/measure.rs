//! The common part of all probes: conducts a load, observes its surroundings, and joins both into
//! the observations of the trial.

use crate::{ProbeError, Target, TrialContext};
use engine::{
    Ability, CacheReport, CacheState, Collection, EngineError, EngineUse, ServerProcess,
    SessionPart, WaitCollector,
};
use experiment::common::OBSERVE_PROFILE;
use observations::wait_type::{CONNECTION_DONE, CPU_QUEUE};
use observations::{
    Event, LoadHealth, MachineLoad, Observations, TimeUse, Wait, WaitClass, Warning, WarningKind,
};
use observe::devices::DeviceMonitor;
use observe::file_system::is_on_btrfs;
use observe::profiler::{ProfileError, Profiler, Samples};
use observe::{KernelThreads, MachineMonitor, ThreadUse};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use work::conductor::{Director, LOOK_EVERY, LoadProgress};

/// Samples for each second on a processor. Not 100: what happens 100 times a second would be found
/// each time or never.
const HZ: u32 = 99;

/// The thread that starts the kernel's own, which are the others below it.
const KERNEL_THREADS: i32 = 2;

/// A subject of measurement, without the work of its threads.
pub struct Subject<'a> {
    /// Where the data lies, by name: the devices under it are watched.
    pub storage: &'a [(String, PathBuf)],
    /// Units of work in all, where the amount is fixed.
    pub units: Option<u64>,
    /// Seconds of the measurement, where these are fixed.
    pub duration_s: Option<f64>,
    /// Unit of the rate of progress.
    pub rate_unit: &'static str,
    /// Units of that rate for each unit of work a second.
    pub rate_scale: f64,
}

/// Observations around a load.
pub struct Surroundings {
    collected: Collection,
    profile: Option<Result<Samples, ProfileError>>,
    /// The machine, the devices and the warnings.
    observations: Observations,
}

/// Conducts a load: `load` runs its threads under the director that it is given.
///
/// # Errors
/// The first error of a thread, at which the others stop; that the target fails or the trial is
/// asked to stop.
pub fn measure<L>(
    context: &TrialContext<'_>,
    subject: Subject<'_>,
    load: impl FnOnce(&mut dyn Director) -> Result<L, ProbeError>,
) -> Result<(L, Surroundings), ProbeError> {
    let mut conducted = LoadDirector::new(context, subject)?;
    let result = load(&mut conducted);
    let stopped = conducted.stop()?;
    // A load that was stopped on request was cancelled, whatever its threads did.
    let cancelled = context.cancel.is_cancelled();
    let load =
        result.map_err(|error| if cancelled { EngineError::Cancelled.into() } else { error })?;
    Ok((load, stopped.collect()?))
}

/// The director of a probe's load.
struct LoadDirector<'a> {
    context: &'a TrialContext<'a>,
    subject: Subject<'a>,
    collector: Option<Box<dyn WaitCollector>>,
    devices: DeviceMonitor,
    settled: Option<CacheReport>,
    profiler: Option<Result<Profiler, ProfileError>>,
    machine: Option<MachineMonitor>,
    kernel: Option<KernelThreads>,
    /// Limits of the observation with their reasons.
    unseen: Vec<String>,
    failure: Option<EngineError>,
    /// The last report of progress: when, at which second of the measurement, and the units until
    /// then.
    reported: (Instant, f64, u64),
}

impl<'a> LoadDirector<'a> {
    fn new(context: &'a TrialContext<'a>, subject: Subject<'a>) -> Result<Self, EngineError> {
        Ok(Self {
            context,
            collector: context.instance.wait_collector(),
            devices: DeviceMonitor::find(subject.storage),
            // A server may have to be restarted for it; connections would not survive that.
            settled: if context.target.abilities.contains(&Ability::Embedded) {
                None
            } else {
                Some(context.instance.settle(context.target.cache)?)
            },
            subject,
            profiler: None,
            machine: None,
            kernel: None,
            unseen: Vec::new(),
            failure: None,
            reported: (Instant::now(), 0.0, 0),
        })
    }

    /// Ends the observation of the machine, when the load has ended.
    fn stop(self) -> Result<Stopped, EngineError> {
        let profile = self.profiler.map(|profiler| profiler.and_then(Profiler::stop));
        let machine = self.machine.map(MachineMonitor::stop).unwrap_or_default();
        let kernel_cpu_s =
            self.kernel.and_then(|before| Some(KernelThreads::read()?.since(&before)));
        let devices = self.devices.stop();
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let (target, collector) = (self.context.target, self.collector);
        let (settled, unseen) = (self.settled, self.unseen);
        let observations = Observations { machine, devices, ..Observations::default() };
        Ok(Stopped { target, collector, settled, unseen, kernel_cpu_s, profile, observations })
    }

    fn prepare(&mut self) -> Result<(), EngineError> {
        if self.settled.is_none() {
            self.settled = Some(self.context.instance.settle(self.context.target.cache)?);
        }
        self.collector.as_mut().map_or(Ok(()), |collector| collector.start())?;
        self.profiler = self.profiler();
        self.kernel = self.is_on_btrfs().then(KernelThreads::read).flatten();
        self.machine = Some(MachineMonitor::start());
        self.devices.start();
        Ok(())
    }

    /// Returns whether the target is on a file system that works in kernel threads, whose CPU time
    /// is charged to no process.
    fn is_on_btrfs(&self) -> bool {
        self.subject.storage.iter().any(|(_, folder)| is_on_btrfs(folder))
    }

    /// Samples all that works for the trial on this machine: this process, and servers.
    fn profiler(&mut self) -> Option<Result<Profiler, ProfileError>> {
        if self.context.configuration.get(OBSERVE_PROFILE) != Some(true) {
            return None;
        }
        if self.context.target.abilities.contains(&Ability::Synthetic) {
            self.unseen.push("a profile: this engine reports elapsed time only".into());
            return None;
        }
        let mut pids = vec![std::process::id() as i32];
        let server = self.context.instance.parts().server;
        match server.map_or(Ok(None), ServerProcess::server_process) {
            Ok(server) => pids.extend(server),
            Err(error) => self.unseen.push(format!("the server in the profile: {error}")),
        }
        if self.is_on_btrfs() {
            let with_kernel = [&pids[..], &[KERNEL_THREADS]].concat();
            match Profiler::attach(&with_kernel, HZ) {
                Ok(profiler) => return Some(profiler.start()),
                Err(error) => {
                    self.unseen.push(format!("the kernel's threads in the profile: {error}"));
                }
            }
        }
        Some(Profiler::attach(&pids, HZ).and_then(Profiler::start))
    }
}

/// A director whose load has ended.
struct Stopped {
    target: Target,
    collector: Option<Box<dyn WaitCollector>>,
    settled: Option<CacheReport>,
    unseen: Vec<String>,
    kernel_cpu_s: Option<f64>,
    profile: Option<Result<Samples, ProfileError>>,
    /// The machine and the devices.
    observations: Observations,
}

impl Stopped {
    /// Collects the engine's waits and the warnings of a load that succeeded.
    fn collect(mut self) -> Result<Surroundings, EngineError> {
        let abilities = self.target.abilities;
        // A server forgets its counters of a connection when that is closed: the load still has it.
        let mut collected = match self.collector {
            Some(mut collector) => collector.stop()?,
            // The time of a server's sessions is not that of the load's threads.
            None => Collection {
                time: (!abilities.contains(&Ability::Embedded)).then(TimeUse::default),
                ..Collection::default()
            },
        };
        collected.used.kernel_cpu_s = self.kernel_cpu_s;
        self.unseen.append(&mut collected.lost);
        let unseen = self.unseen.into_iter();
        let mut warnings: Vec<Warning> =
            unseen.map(|detail| Warning { kind: WarningKind::NotObserved, detail }).collect();
        let missed = self.settled.filter(|report| !report.verified);
        warnings.extend(missed.map(|report| cache_warning(self.target.cache, &report)));
        let synthetic = abilities.contains(&Ability::Synthetic);
        let observations = Observations { warnings, synthetic, ..self.observations };
        Ok(Surroundings { collected, profile: self.profile, observations })
    }
}

impl LoadDirector<'_> {
    /// Announces the progress since the last report.
    fn report(&mut self, now: &LoadProgress) {
        let (_, last_s, last_units) = self.reported;
        self.reported = (Instant::now(), now.elapsed_s, now.done);
        let by_units = self.subject.units.map(|all| now.done as f64 / all.max(1) as f64);
        let by_time = self.subject.duration_s.map(|seconds| now.elapsed_s / seconds);
        let units = now.done.saturating_sub(last_units) as f64;
        (self.context.progress)(Event::Progress {
            elapsed_s: now.elapsed_s,
            fraction: by_units.or(by_time).unwrap_or(0.0).clamp(0.0, 1.0),
            rate: units * self.subject.rate_scale / (now.elapsed_s - last_s).max(1e-3),
            unit: self.subject.rate_unit.into(),
            latency_p99_ms: now.latency_p99_ns.map(|ns| ns as f64 / 1e6),
        });
    }
}

impl Director for LoadDirector<'_> {
    fn go(&mut self) -> bool {
        self.failure = self.prepare().err();
        // The rate that is reported next is that of the measurement alone.
        let done = self.reported.2;
        self.report(&LoadProgress { elapsed_s: 0.0, done, latency_p99_ns: None });
        self.failure.is_none()
    }

    fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
        if self.reported.0.elapsed() >= LOOK_EVERY {
            self.report(now);
        }
        (!self.context.cancel.is_cancelled() && self.failure.is_none()).then_some(LOOK_EVERY)
    }

    fn divide(&mut self) {
        if let Some(Err(error)) = self.collector.as_mut().map(|collector| collector.divide()) {
            self.failure.get_or_insert(error);
        }
    }
}

fn cache_warning(cache_state: CacheState, report: &CacheReport) -> Warning {
    let resident = report
        .resident_bytes
        .map_or_else(|| "an unknown part".into(), |bytes| format!("{bytes} bytes"));
    let name = cache_state.name();
    let detail = format!(
        "cache = {name} was requested, but {resident} of {} are in memory",
        report.file_bytes
    );
    Warning { kind: WarningKind::CacheState, detail }
}

impl Surroundings {
    /// Returns the work's use of the engine and of storage.
    pub fn engine_use(&self) -> EngineUse {
        self.collected.used
    }

    /// Takes the parts of a load that was divided, as the engine saw them.
    pub fn take_parts(&mut self) -> Vec<SessionPart> {
        std::mem::take(&mut self.collected.parts)
    }

    /// How sessions of the target used their time that are not the load's own: a program has opened
    /// them.
    pub fn sessions_of_others(&self) -> Option<TimeUse> {
        self.collected.time.clone().filter(|time| time.session_s > 0.0)
    }

    /// The observations that every load has, from what its threads used and waited for. The probe
    /// adds its work, responses and what else it knows. Finding the names in a profile takes
    /// its time.
    pub fn observations(
        self,
        elapsed_s: f64,
        connections: u32,
        threads: impl ExactSizeIterator<Item = ThreadUse>,
        waits: Vec<Wait>,
    ) -> Observations {
        let Collection { waits: mut all_waits, resources, operations, time, server_cpu_s, .. } =
            self.collected;
        let session_s = elapsed_s * f64::from(connections);
        // Servers are asked shortly before the load starts and after it has ended; in between,
        // sessions wait for their clients. Sessions that a program opens have no load threads, and
        // end at any time.
        if threads.len() > 0 {
            let beside_s = time.as_ref().map_or(0.0, |time| time.session_s - session_s);
            take_off_client(&mut all_waits, beside_s);
        }
        all_waits.extend(waits);
        let threads_s = elapsed_s * threads.len() as f64;
        let (mut cpu_ns, mut delay_ns, mut preemptions) = (0, 0, 0);
        for used in threads {
            cpu_ns += used.times.cpu_ns;
            delay_ns += used.times.run_delay_ns;
            preemptions += used.involuntary_switches;
        }
        let delay_s = seconds(delay_ns);
        let time = if let Some(time) = time {
            TimeUse { session_s, ..time }
        } else {
            // The run-queue delay that is not already the signal part of another wait.
            let elsewhere_s: f64 = all_waits.iter().map(|wait| wait.signal_s).sum();
            let signal_s = (delay_s - elsewhere_s).max(0.0);
            all_waits.extend(Wait::counted(
                CPU_QUEUE,
                WaitClass::CpuQueue,
                preemptions,
                0.0,
                signal_s,
            ));
            TimeUse { session_s, cpu_s: seconds(cpu_ns), cpu_user_s: None, ..TimeUse::default() }
        };
        let machine = self.observations.machine;
        let own_s = machine.own_s + server_cpu_s;
        let mut observations = Observations {
            elapsed_s,
            connections,
            waits: all_waits,
            resources,
            operations,
            time,
            load: LoadHealth {
                run_delay_share: if threads_s > 0.0 { delay_s / threads_s } else { 0.0 },
                ..LoadHealth::default()
            },
            // The kernel counts a machine's time in ticks, a process's in nanoseconds.
            machine: MachineLoad { own_s, busy_s: machine.busy_s.max(own_s), ..machine },
            ..self.observations
        };
        match self.profile {
            Some(Ok(samples)) => observations.profile = Some(samples.named()),
            Some(Err(error)) => {
                let detail = format!("a profile: {error}");
                observations.warnings.push(Warning { kind: WarningKind::NotObserved, detail });
            }
            None => {}
        }
        observations
    }
}

/// Takes seconds off the waits for clients, from each in proportion.
fn take_off_client(waits: &mut [Wait], seconds: f64) {
    let is_client = |wait: &&mut Wait| wait.class == WaitClass::Client;
    let all_s: f64 = waits.iter_mut().filter(is_client).map(|wait| wait.resource_s).sum();
    if all_s > 0.0 && seconds > 0.0 {
        let rest = (1.0 - seconds / all_s).max(0.0);
        waits.iter_mut().filter(is_client).for_each(|wait| wait.resource_s *= rest);
    }
}

/// Nanoseconds in seconds.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The time that threads which were done waited for the others, from when each of them ended.
pub fn connection_done(elapsed_s: f64, ends_s: impl ExactSizeIterator<Item = f64>) -> Option<Wait> {
    let threads = ends_s.len() as u64;
    let apart_s = ends_s.map(|end_s| (elapsed_s - end_s).max(0.0)).sum();
    Wait::counted(CONNECTION_DONE, WaitClass::Client, threads, apart_s, 0.0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "figures that are exact in binary")]

    use super::take_off_client;
    use observations::{Wait, WaitClass};

    #[test]
    fn time_beside_the_load_is_that_of_clients_and_of_nobody_else() {
        let wait = |name, class, seconds| Wait::counted(name, class, 1, seconds, 0.0).unwrap();
        let mut waits = [
            wait("idle", WaitClass::Client, 3.0),
            wait("socket", WaitClass::Client, 1.0),
            wait("lock", WaitClass::Lock, 2.0),
        ];
        for (beside_s, expected) in
            [(-0.5, [3.0, 1.0, 2.0]), (1.0, [2.25, 0.75, 2.0]), (9.0, [0.0, 0.0, 2.0])]
        {
            take_off_client(&mut waits, beside_s);
            assert_eq!(waits.each_ref().map(|wait| wait.resource_s), expected);
        }
    }
}

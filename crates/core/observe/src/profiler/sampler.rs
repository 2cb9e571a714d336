//! Sampling from start to stop.
//!
//! A thread opens the events itself, empties their rings and leaves itself out: where our own
//! process is sampled, what a sampled thread starts would be sampled too.

use super::error::kernel_unseen;
use super::events::Events;
use super::records::{self, Timed};
use super::stacks::Stacks;
use super::symbols::Symbols;
use super::{ProfileError, Result};
use crate::topology::all_online;
use crate::{ThreadClock, processes};
use observations::{Profile, redacted};
use perf_event::Counter;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Fewest samples for each second on a processor.
pub const HZ_MIN: u32 = 1;
/// Most samples for each second on a processor: more would disturb more and add little.
pub const HZ_MAX: u32 = 999;
/// The interval at which rings are emptied.
const ROUND: Duration = Duration::from_millis(100);

/// Samples processes until it is stopped. Dropped, it stops and forgets.
pub struct Profiler {
    roots: Vec<i32>,
    /// An order is to start; when this is gone, the collector ends.
    orders: Sender<()>,
    /// Reports that events are open, with the command that was started; then that sampling is on.
    answers: Receiver<Option<Child>>,
    collector: JoinHandle<Result<Samples>>,
}

impl Profiler {
    /// Opens events for every thread of these processes and of all below them; nothing is sampled
    /// before [`start`](Self::start). What they start later is sampled too. The caller's own
    /// process may be among them. `hz` is the number of samples for each second that a thread
    /// is on a processor, held to [`HZ_MIN`]`..=`[`HZ_MAX`].
    ///
    /// # Errors
    /// `NotPermitted`, `NotSupported`, `NoProcess`, `TooManyFiles`, `NoMemory`, `System`.
    pub fn attach(pids: &[i32], hz: u32) -> Result<Self> {
        if let Some(gone) = pids.iter().find(|pid| !processes::is_alive(**pid)) {
            return Err(ProfileError::NoProcess(*gone));
        }
        let names = pids
            .iter()
            .map(|pid| format!("pid {pid} ({})", processes::name(*pid).unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(", ");
        let roots = pids.to_vec();
        let (profiler, _) = Self::begin(names, pids.to_vec(), hz, move |hz| {
            Ok((Collector::of_processes(&roots, hz)?, None))
        })?;
        Ok(profiler)
    }

    /// Starts a command and samples it from its first instruction, with all that it starts.
    ///
    /// # Errors
    /// `Command` when it cannot be started; otherwise as [`attach`](Self::attach).
    pub fn spawn(mut command: Command, hz: u32) -> Result<(Self, Child)> {
        let words = [command.get_program()].into_iter().chain(command.get_args());
        let name =
            redacted(&words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "));
        let (profiler, child) = Self::begin(name, Vec::new(), hz, move |hz| {
            let events = Events::of_started(&all_online(), hz)?;
            let child = command.spawn().map_err(|error| {
                ProfileError::Command(command.get_program().to_string_lossy().into_owned(), error)
            })?;
            Ok((Collector::new(events, Vec::new(), Some(Instant::now())), Some(child)))
        })?;
        Ok((profiler, child.ok_or(ProfileError::Stopped)?))
    }

    fn begin(
        target: String,
        roots: Vec<i32>,
        hz: u32,
        open: impl FnOnce(u32) -> Result<(Collector, Option<Child>)> + Send + 'static,
    ) -> Result<(Self, Option<Child>)> {
        let hz = hz.clamp(HZ_MIN, HZ_MAX);
        let (orders, to_collector) = channel();
        let (from_collector, answers) = channel();
        let collector = std::thread::Builder::new()
            .name("profiler".to_owned())
            .spawn(move || {
                let clock = ThreadClock::of_this_thread();
                let (collector, child) = open(hz)?;
                let _ = from_collector.send(child);
                let (stacks, kernel, elapsed_s) =
                    collector.collect(&to_collector, &from_collector)?;
                let profiler_cpu_s = clock.read().cpu_ns as f64 / 1e9;
                let profile = Profile {
                    target,
                    elapsed_s,
                    hz: hz.into(),
                    profiler_cpu_s,
                    ..Profile::default()
                };
                Ok(Samples { stacks, kernel, profile })
            })
            .map_err(ProfileError::system("start the thread that collects samples"))?;
        let profiler = Self { roots, orders, answers, collector };
        match profiler.answers.recv() {
            Ok(child) => Ok((profiler, child)),
            Err(_) => Err(profiler.why_it_ended()),
        }
    }

    /// Begins to sample; returns when sampling is on. A command is sampled from its beginning
    /// anyway.
    pub fn start(self) -> Result<Self> {
        let sent = self.orders.send(());
        match sent.ok().and_then(|()| self.answers.recv().ok()) {
            Some(_) => Ok(self),
            None => Err(self.why_it_ended()),
        }
    }

    /// Returns whether any of the named processes still exists.
    pub fn is_target_alive(&self) -> bool {
        self.roots.iter().any(|pid| processes::is_alive(*pid))
    }

    /// Ends sampling.
    ///
    /// # Errors
    /// The error that ended the collector before.
    pub fn stop(self) -> Result<Samples> {
        drop(self.orders);
        self.collector.join().map_err(|_| ProfileError::Stopped)?
    }

    fn why_it_ended(self) -> ProfileError {
        self.stop().err().unwrap_or(ProfileError::Stopped)
    }
}

/// Samples by address.
pub struct Samples {
    stacks: Stacks,
    /// True if kernel time was sampled.
    kernel: bool,
    /// The profile without names.
    profile: Profile,
}

impl Samples {
    /// Gives names to what was found, which reads the symbols of all programs and libraries that
    /// were met: that may take a second.
    pub fn named(self) -> Profile {
        let Self { stacks, kernel, profile } = self;
        let (threads, lost) = (stacks.threads.len() as u64, stacks.lost);
        let mut named = Symbols::new(stacks.modules)
            .profile(&stacks.counts, Profile { threads, lost, ..profile });
        if !kernel {
            named.missing.insert(0, kernel_unseen());
        }
        named
    }
}

/// Empties the rings, and counts what is in them in the order of time.
struct Collector {
    events: Events,
    pids: Vec<i32>,
    started: Option<Instant>,
    stacks: Stacks,
    /// Records that earlier ones, of another processor, may still have to go before.
    pending: Vec<Timed>,
    /// Newest time of the round before: what is as old is complete.
    complete_until: u64,
}

impl Collector {
    fn new(events: Events, pids: Vec<i32>, started: Option<Instant>) -> Self {
        let stacks = Stacks::new(events.owners.clone());
        Self { events, pids, started, stacks, pending: Vec::new(), complete_until: 0 }
    }

    /// Of these processes and all below them.
    fn of_processes(roots: &[i32], hz: u32) -> Result<Self> {
        let pids = processes::with_descendants(roots);
        let thread = crate::thread_id();
        let threads =
            pids.iter().flat_map(|pid| processes::threads(*pid)).filter(|tid| *tid != thread);
        let events = Events::of_threads(&threads.collect::<Vec<_>>(), &all_online(), hz)?;
        if events.rings.is_empty() {
            return Err(ProfileError::NoProcess(roots.first().copied().unwrap_or(0)));
        }
        Ok(Self::new(events, pids, None))
    }

    /// Works until the sender of orders is dropped. Returns stacks, whether the kernel is in them,
    /// and the elapsed time.
    fn collect(
        mut self,
        orders: &Receiver<()>,
        answers: &Sender<Option<Child>>,
    ) -> Result<(Stacks, bool, f64)> {
        loop {
            match orders.recv_timeout(ROUND) {
                Ok(()) => {
                    self.start()?;
                    let _ = answers.send(None);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.round(),
            }
        }
        self.events.each(Counter::disable).map_err(ProfileError::system("switch sampling off"))?;
        let elapsed_s = self.started.map_or(0.0, |started| started.elapsed().as_secs_f64());
        self.round();
        self.complete_until = u64::MAX;
        self.round();
        Ok((self.stacks, self.events.kernel, elapsed_s))
    }

    fn start(&mut self) -> Result<()> {
        self.events.each(Counter::enable).map_err(ProfileError::system("switch sampling on"))?;
        self.started = Some(Instant::now());
        // After that: what is mapped from now on is in the rings.
        for pid in &self.pids {
            self.stacks.spaces.read(*pid, &mut self.stacks.modules);
        }
        Ok(())
    }

    fn round(&mut self) {
        let before = self.pending.len();
        for ring in &mut self.events.rings {
            records::drain(ring, &mut self.pending);
        }
        let newest = self.pending[before..].iter().map(|record| record.time).max();
        self.pending.sort_by_key(|record| record.time);
        let complete = self.pending.partition_point(|record| record.time <= self.complete_until);
        for record in self.pending.drain(..complete) {
            self.stacks.take(record);
        }
        self.complete_until = newest.unwrap_or(self.complete_until);
    }
}

//! Sampling from start to stop.

use crate::collector::{Answer, Collected, Order, Target, collect};
use crate::symbols::Symbols;
use crate::{ProfileError, Result, permission, processes};
use observations::Profile;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Fewest samples for each second on a processor.
pub const HZ_MIN: u32 = 1;
/// Most samples for each second on a processor: more would disturb more and add little.
pub const HZ_MAX: u32 = 999;

/// Samples processes until it is stopped. Dropped, it stops and forgets.
pub struct Profiler {
    name: String,
    hz: u32,
    roots: Vec<i32>,
    orders: Sender<Order>,
    answers: Receiver<Answer>,
    collector: JoinHandle<Result<Collected>>,
}

impl Profiler {
    /// Opens events for every thread of these processes and of all below them; nothing is sampled before
    /// [`start`](Self::start). What they start later is sampled too. The caller's own process may be among them.
    /// `hz` is the number of samples for each second that a thread is on a processor, held to
    /// [`HZ_MIN`]`..=`[`HZ_MAX`].
    ///
    /// # Errors
    /// `NotPermitted`, `NotSupported`, `NoProcess`, `TooManyFiles`, `NoMemory`, `System`.
    pub fn attach(pids: &[i32], hz: u32) -> Result<Self> {
        if let Some(gone) = pids.iter().find(|pid| !processes::is_alive(**pid)) {
            return Err(ProfileError::NoProcess(*gone));
        }
        let name = |pid: &i32| format!("pid {pid} ({})", processes::name(*pid).unwrap_or_default());
        let names = pids.iter().map(name).collect::<Vec<_>>().join(", ");
        let (profiler, _) = Self::begin(names, pids.to_vec(), Target::Processes(pids.to_vec()), hz)?;
        Ok(profiler)
    }

    /// Starts a command and samples it from its first instruction, with all that it starts.
    ///
    /// # Errors
    /// `Command` when it cannot be started; otherwise as [`attach`](Self::attach).
    pub fn spawn(command: Command, hz: u32) -> Result<(Self, Child)> {
        let words = [command.get_program()].into_iter().chain(command.get_args());
        let name = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let (profiler, child) = Self::begin(name, Vec::new(), Target::Command(Box::new(command)), hz)?;
        Ok((profiler, child.ok_or(ProfileError::Stopped)?))
    }

    fn begin(name: String, roots: Vec<i32>, target: Target, hz: u32) -> Result<(Self, Option<Child>)> {
        let hz = hz.clamp(HZ_MIN, HZ_MAX);
        let (orders, to_collector) = channel();
        let (from_collector, answers) = channel();
        let collector = std::thread::Builder::new()
            .name("profiler".to_owned())
            .spawn(move || collect(target, hz, &to_collector, &from_collector))
            .map_err(ProfileError::system("start the thread that collects samples"))?;
        let profiler = Self { name, hz, roots, orders, answers, collector };
        match profiler.answers.recv() {
            Ok(Answer::Ready(child)) => Ok((profiler, child)),
            _ => Err(profiler.why_it_ended()),
        }
    }

    /// Begins to sample; returns when sampling is on. A command is sampled from its beginning anyway.
    pub fn start(self) -> Result<Self> {
        let asked = self.orders.send(Order::Start);
        match asked.ok().and_then(|()| self.answers.recv().ok()) {
            Some(Answer::Started) => Ok(self),
            _ => Err(self.why_it_ended()),
        }
    }

    /// Whether any of the processes that were named is still there.
    pub fn is_target_alive(&self) -> bool {
        self.roots.iter().any(|pid| processes::is_alive(*pid))
    }

    /// Ends sampling.
    ///
    /// # Errors
    /// What ended the collector before.
    pub fn stop(self) -> Result<Samples> {
        // A collector that has ended says below why.
        let _ = self.orders.send(Order::Stop);
        let collected = self.collector.join().map_err(|_| ProfileError::Stopped)??;
        Ok(Samples { collected, target: self.name, hz: self.hz })
    }

    fn why_it_ended(self) -> ProfileError {
        drop(self.orders);
        match self.collector.join() {
            Ok(Err(error)) => error,
            _ => ProfileError::Stopped,
        }
    }
}

/// What was found, by address.
pub struct Samples {
    collected: Collected,
    target: String,
    hz: u32,
}

impl Samples {
    /// Gives names to what was found, which reads the symbols of all programs and libraries that were met: that may
    /// take a second.
    pub fn named(self) -> Profile {
        let Collected { stacks, kernel, elapsed_s, cpu_s } = self.collected;
        let mut missing = Vec::new();
        if !kernel {
            missing.push(permission::kernel_unseen());
        }
        let (threads, lost) = (stacks.threads.len() as u64, stacks.lost);
        let mut profile = Symbols::new(stacks.modules).profile(&stacks.counts);
        missing.append(&mut profile.missing);
        let (target, hz) = (self.target, self.hz.into());
        Profile { target, elapsed_s, hz, threads, lost, profiler_cpu_s: cpu_s, missing, ..profile }
    }
}

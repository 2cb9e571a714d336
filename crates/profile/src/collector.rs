//! The thread that opens events and empties their rings.
//!
//! It opens the events itself and leaves itself out: where our own process is sampled, what a sampled thread starts
//! would be sampled too.

use crate::events::Events;
use crate::records::{self, Timed};
use crate::stacks::Stacks;
use crate::{ProfileError, Result, processes};
use observe::ThreadClock;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How often rings are emptied.
const ROUND: Duration = Duration::from_millis(100);

/// What is sampled.
pub(crate) enum Target {
    /// These processes and all below them.
    Processes(Vec<i32>),
    /// A command that is started for it, and all that it starts.
    Command(Box<Command>),
}

/// What the collector is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Start,
    Stop,
}

/// What the collector answers.
pub(crate) enum Answer {
    /// Events are open; of a command, it runs and is sampled.
    Ready(Option<Child>),
    /// Sampling is on.
    Started,
}

/// What was collected.
pub(crate) struct Collected {
    pub stacks: Stacks,
    pub kernel: bool,
    pub elapsed_s: f64,
    pub cpu_s: f64,
}

/// Works until it is told to stop, or nobody is left to tell it.
pub(crate) fn collect(
    target: Target,
    hz: u32,
    orders: &Receiver<Order>,
    answers: &Sender<Answer>,
) -> Result<Collected> {
    let clock = ThreadClock::of_this_thread();
    let (mut collector, ready) = Collector::open(target, hz)?;
    let _ = answers.send(Answer::Ready(ready));
    loop {
        match orders.recv_timeout(ROUND) {
            Ok(Order::Start) => {
                collector.start()?;
                let _ = answers.send(Answer::Started);
            }
            Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => collector.round(),
        }
    }
    collector.finish(&clock)
}

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
    fn open(target: Target, hz: u32) -> Result<(Self, Option<Child>)> {
        let cpus = processes::online_cpus();
        let (events, pids, child) = match target {
            Target::Processes(roots) => {
                let pids = processes::with_descendants(&roots);
                // SAFETY: it has no arguments and cannot fail.
                let own = unsafe { libc::gettid() };
                let threads: Vec<i32> =
                    pids.iter().flat_map(|pid| processes::threads(*pid)).filter(|tid| *tid != own).collect();
                let events = Events::of_threads(&threads, &cpus, hz)?;
                if events.rings.is_empty() {
                    return Err(ProfileError::NoProcess(roots.first().copied().unwrap_or(0)));
                }
                (events, pids, None)
            }
            Target::Command(mut command) => {
                let events = Events::of_started(&cpus, hz)?;
                let child = command.spawn().map_err(|source| ProfileError::Command {
                    command: command.get_program().to_string_lossy().into_owned(),
                    source,
                })?;
                (events, Vec::new(), Some(child))
            }
        };
        let stacks = Stacks::new(events.owners.clone());
        let started = child.is_some().then(Instant::now);
        let collector = Self { events, pids, started, stacks, pending: Vec::new(), complete_until: 0 };
        Ok((collector, child))
    }

    fn start(&mut self) -> Result<()> {
        self.events.enable().map_err(ProfileError::system("switch sampling on"))?;
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

    fn finish(mut self, clock: &ThreadClock) -> Result<Collected> {
        self.events.disable().map_err(ProfileError::system("switch sampling off"))?;
        let elapsed_s = self.started.map_or(0.0, |started| started.elapsed().as_secs_f64());
        self.round();
        self.complete_until = u64::MAX;
        self.round();
        let cpu_s = clock.read().cpu_ns as f64 / 1e9;
        Ok(Collected { stacks: self.stacks, kernel: self.events.kernel, elapsed_s, cpu_s })
    }
}

//! An agent's part of a trial's load.

use crate::bundle::{Bundle, NO_CONFIGURATION, permit, probe, refuse};
use crate::bus::Sender;
use crate::error::AgentError;
use crate::message::{BundleName, DonePart, Order, Reply, encode_reply, encode_result, to_run};
use crate::network::NetworkCounters;
use engine::{Instance, lock};
use experiment::Configuration;
use experiment::common::ENGINE;
use observations::{Event, MachineLoad, redacted_message};
use observe::MachineMonitor;
use probe::generation::{Generation, Part};
use probe::{LoadRecord, ProbeError, Target, TrialContext};
use runner::Registry;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use work::conductor::{Director, LOOK_EVERY, LoadProgress};
use work::{Cancel, CancelReason};

/// The part of the wait for the common start that is spent on the CPU, so that the start is
/// punctual.
const SPIN: Duration = Duration::from_micros(500);
/// Interval of reports on the progress.
const TELL_EVERY: Duration = Duration::from_millis(500);
/// Time that connections stay open at most for the coordinator to read the server's counters.
const OPEN_MAX: Duration = Duration::from_secs(100);

/// The experiments that an agent has fetched: the last one.
pub(crate) type Fetched = Arc<Mutex<Option<(BundleName, Arc<Vec<Configuration>>)>>>;

/// How an agent speaks about a trial.
#[derive(Clone)]
pub(crate) struct Voice {
    /// The connection.
    pub sender: Sender,
    /// The identity.
    pub id: String,
    /// The run that has claimed it.
    pub run: String,
}

impl Voice {
    /// Sends a reply to the coordinator.
    pub fn say(&self, reply: &Reply) {
        if let Ok(message) = encode_reply(reply) {
            self.publish(message);
        }
    }

    /// Sends a message that a trial needs, or the failure of the trial in its place.
    fn deliver(&self, trial: u64, message: Result<Vec<u8>, AgentError>) {
        match message {
            Ok(message) => self.publish(message),
            Err(error) => self.say(&Reply::Failed { trial, cause: error.to_string() }),
        }
    }

    /// Sends an encoded message to the coordinator.
    pub fn publish(&self, message: Vec<u8>) {
        self.sender.publish(to_run(&self.run, &self.id), message);
    }
}

/// A trial as the agent's main thread sees it.
#[derive(Debug, Default)]
pub struct Control {
    /// Nanoseconds of the common start on the agent's clock.
    go_ns: Mutex<Option<u64>>,
    changed: Condvar,
    cancel: Cancel,
    /// The coordinator has ended the trial.
    interrupt: Arc<AtomicBool>,
}

impl Control {
    /// Lets the load go at this time.
    pub fn go(&self, at_ns: u64) {
        *lock(&self.go_ns) = Some(at_ns);
        self.changed.notify_all();
    }

    /// Ends the trial, whatever its state. A load that still runs stops.
    pub fn end(&self) {
        // With the lock, so that no one begins to wait in between.
        let go_ns = lock(&self.go_ns);
        self.interrupt.store(true, Ordering::Relaxed);
        drop(go_ns);
        self.cancel.cancel(CancelReason::Interrupt);
        self.changed.notify_all();
    }

    /// Returns whether the trial was ended.
    pub fn is_ended(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Returns the flag that is set when the trial is ended.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Waits for the start; `None`: the trial has ended instead.
    fn start_ns(&self) -> Option<u64> {
        let is_waiting = |go_ns: &mut Option<u64>| go_ns.is_none() && !self.is_ended();
        let go_ns = self.changed.wait_while(lock(&self.go_ns), is_waiting);
        go_ns.unwrap_or_else(PoisonError::into_inner).filter(|_| !self.is_ended())
    }

    fn wait_for_end(&self, at_most: Duration) {
        let go_ns = lock(&self.go_ns);
        drop(self.changed.wait_timeout_while(go_ns, at_most, |_| !self.is_ended()));
    }
}

/// An order with what the agent needs to follow it.
pub struct Task {
    /// The order.
    pub order: Order,
    /// The trial.
    pub control: Arc<Control>,
    /// How the agent speaks.
    pub voice: Voice,
    /// Engines and probes.
    pub registry: Registry,
    /// Probes that the owner permits.
    pub allowed: Vec<String>,
    /// The owner permits commands.
    pub commands: bool,
    /// The experiment of the trial before.
    pub fetched: Fetched,
    /// The origin of the agent's clock.
    pub origin: Instant,
}

impl Task {
    /// Generates the part of the load and reports on it.
    pub fn work(self) {
        let result = self.generate();
        let cause = match result {
            Ok(()) => return,
            Err(_) if self.control.is_ended() => return,
            // It leaves this machine, and only here are its secrets known.
            Err(cause) => redacted_message(&cause.to_string()),
        };
        self.voice.say(&Reply::Failed { trial: self.order.trial, cause });
    }

    fn generate(&self) -> Result<(), AgentError> {
        let refused = |cause: &str| AgentError::Order(cause.to_owned());
        let Order { configuration: key, index, parts, attachment, .. } = &self.order;
        let configurations = self.configurations()?;
        let configuration = configurations.iter().find(|configuration| configuration.key() == *key);
        let configuration = configuration.ok_or_else(|| refused(NO_CONFIGURATION))?;
        let probe = probe(self.registry, configuration);
        let probe = probe.ok_or_else(|| refused("it has no such probe"))?;
        permit(&self.allowed, probe.declarations().name)?;
        if !self.commands {
            let folder = Path::new("");
            refuse(runner::reach_of_trials(self.registry, configuration, folder))?;
        }
        let engine = self.registry.engine(&configuration.get(ENGINE));
        let engine = engine.ok_or_else(|| refused("it has no such engine"))?;
        let sharing =
            engine.sharing.filter(|shared_use| shared_use.refusal(configuration).is_none());
        let sharing = sharing.ok_or_else(|| refused("the target admits no other processes"))?;
        if index >= parts || *parts > probe.connections(configuration) {
            return Err(refused("the order names no part of this load"));
        }
        let cancel = &self.control.cancel;
        let instance = sharing.attach(configuration, attachment, cancel)?;
        let part = AgentPart {
            task: self,
            instance: instance.as_ref(),
            late_ns: AtomicU64::new(0),
            machine: Mutex::new(None),
        };
        let context = TrialContext {
            configuration,
            instance: instance.as_ref(),
            target: Target::for_engine(engine, configuration),
            storage: &[],
            seed: self.order.seed,
            cancel,
            disturbances: &[],
            generation: Generation::Part(&part),
            progress: &|_: Event| {},
        };
        match probe.run(&context) {
            Err(ProbeError::Delivered) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => {
                let name = probe.declarations().name;
                Err(AgentError::Order(format!("the probe {name} cannot be divided")))
            }
        }
    }

    /// The configurations of the experiment, fetched once.
    fn configurations(&self) -> Result<Arc<Vec<Configuration>>, AgentError> {
        let mut fetched = lock(&self.fetched);
        if let Some((_, bundle)) = fetched.as_ref().filter(|(name, _)| *name == self.order.bundle) {
            return Ok(bundle.clone());
        }
        let bundle = Bundle::fetch(&self.voice.sender, &self.order.bundle)?;
        let configurations = Arc::new(bundle.configurations(self.registry)?);
        *fetched = Some((self.order.bundle.clone(), configurations.clone()));
        Ok(configurations)
    }
}

/// The seam between the load of this process and the coordinator.
struct AgentPart<'a> {
    task: &'a Task,
    instance: &'a dyn Instance,
    /// Nanoseconds between the common start and when the load was let go.
    late_ns: AtomicU64,
    machine: Mutex<Option<Monitor>>,
}

/// Watches the machine of the agent from the start of its load.
struct Monitor {
    machine: MachineMonitor,
    network: Option<NetworkCounters>,
}

impl Monitor {
    fn start() -> Self {
        Self { machine: MachineMonitor::start(), network: NetworkCounters::read() }
    }

    /// Bytes that the busiest network interface has carried so far.
    fn network_bytes(&self) -> Option<u64> {
        NetworkCounters::read()?.busiest_since(self.network.as_ref()?)
    }
}

impl Part for AgentPart<'_> {
    fn index(&self) -> u32 {
        self.task.order.index
    }

    fn parts(&self) -> u32 {
        self.task.order.parts
    }

    fn director(&self) -> Box<dyn Director + '_> {
        Box::new(AgentDirector { part: self, last_report: Instant::now() })
    }

    fn deliver(&self, record: LoadRecord) {
        let monitor = lock(&self.machine).take();
        let network_bytes = monitor.as_ref().and_then(Monitor::network_bytes);
        let part = DonePart {
            record,
            late_ns: self.late_ns.load(Ordering::Relaxed),
            machine: monitor.map_or_else(MachineLoad::default, |monitor| monitor.machine.stop()),
            network_bytes,
        };
        let trial = self.task.order.trial;
        let message = encode_result(&part, |bytes| Reply::Done { trial, bytes });
        self.task.voice.deliver(trial, message);
        self.task.control.wait_for_end(OPEN_MAX);
    }
}

/// The director of this process's load.
struct AgentDirector<'a> {
    part: &'a AgentPart<'a>,
    last_report: Instant,
}

impl Director for AgentDirector<'_> {
    fn go(&mut self) -> bool {
        let AgentPart { task, instance, late_ns, machine } = self.part;
        let sessions = instance.parts().shared.map(engine::Shared::sessions).unwrap_or_default();
        let trial = task.order.trial;
        task.voice.deliver(trial, encode_reply(&Reply::Ready { trial, sessions }));
        let Some(start_ns) = task.control.start_ns() else { return false };
        *lock(machine) = Some(Monitor::start());
        let start = task.origin + Duration::from_nanos(start_ns);
        let rest = start.saturating_duration_since(Instant::now());
        std::thread::sleep(rest.saturating_sub(SPIN));
        let now = loop {
            let now = Instant::now();
            if now >= start {
                break now;
            }
            std::hint::spin_loop();
        };
        late_ns.store((now - start).as_nanos() as u64, Ordering::Relaxed);
        !task.control.is_ended()
    }

    fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
        let AgentPart { task, .. } = self.part;
        if self.last_report.elapsed() >= TELL_EVERY {
            self.last_report = Instant::now();
            let LoadProgress { done, latency_p99_ns, .. } = *now;
            task.voice.say(&Reply::Progress { trial: task.order.trial, done, latency_p99_ns });
        }
        (!task.control.is_ended()).then_some(LOOK_EVERY)
    }
}

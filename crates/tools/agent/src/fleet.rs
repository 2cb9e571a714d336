//! The coordinator's view of all agents of a run. A thread hears them, claims those that say hello
//! and renews their leases.

use crate::agent::hash_of_program;
use crate::broker::PrivateBroker;
use crate::bundle::{Bundle, drop_stream, plan_of};
use crate::bus::{Bus, Incoming, Sender};
use crate::error::AgentError;
use crate::launch::{AgentProcess, Place};
use crate::message::{
    BlockOrder, BundleName, DonePart, HELLO, Hello, Reply, Word, decode, decode_reply, encode_word,
    sender_of, to_agent, to_run, unpack,
};
use crate::offenders::Offenders;
use crate::token;
use engine::lock;
use experiment::Experiment;
use observations::Secret;
use runner::ReportContent;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// An agent of which nothing is heard for this long is lost.
pub const SILENCE: Duration = Duration::from_secs(5);
/// Interval of leases.
const LEASE_EVERY: Duration = Duration::from_secs(1);
/// Longest wait of the listening thread.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Most refused agents that are remembered.
const REFUSED_MAX: usize = 64;
/// Most answers about the time, and most reports, of one agent that are kept: more are hostile, or
/// come again.
const TIMES_MAX: usize = 64;
const REPORTS_MAX: usize = 8;

/// The broker of a run.
pub enum Origin {
    /// A private one, and the agents that it is started with.
    Private(Vec<Place>),
    /// The user's, by URL.
    Url {
        /// The URL.
        url: String,
        /// The token.
        token: Secret,
    },
}

/// The agents that a run wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentDemand {
    /// Their number.
    pub agents: usize,
    /// Agents of other versions and builds may work too.
    pub allow_mixed: bool,
    /// Their names have to differ: trials are recorded by them.
    pub by_name: bool,
    /// Time to wait for them before each trial.
    pub within: Duration,
}

/// All agents of a run. Dropping it lets them go and stops what was started.
pub(crate) struct Fleet {
    pub(crate) sender: Sender,
    pub(crate) run: String,
    pub(crate) origin: Instant,
    pub(crate) trials: AtomicU64,
    pub(crate) shared: Arc<Roll>,
    machinery: Mutex<Machinery>,
    pub(crate) tasks: Mutex<Tasks>,
    bundle: Bundle,
    pub(crate) plan: String,
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

/// Processes and objects that a run has made. Agents end before their broker.
#[derive(Debug)]
struct Machinery {
    launched: Vec<AgentProcess>,
    broker: Option<PrivateBroker>,
    bundle: Option<BundleName>,
}

/// Work of the machines.
#[derive(Default)]
pub struct Tasks {
    /// By the name of the machine.
    pub working: BTreeMap<String, Task>,
    /// When ended processes were last started again.
    pub revived: Option<Instant>,
    /// Since when too few machines are there.
    pub short: Option<Instant>,
}

/// A part of the plan on a machine.
pub struct Task {
    /// Identity of the agent.
    pub id: String,
    /// The order.
    pub order: BlockOrder,
    /// When it was given.
    pub ordered: Instant,
}

/// The agents that the listening thread knows of.
pub(crate) struct Roll {
    members: Mutex<Members>,
    changed: Condvar,
    /// The agents that are wanted.
    pub demand: AgentDemand,
    binary: String,
}

/// Agents of a run.
#[derive(Default)]
pub(crate) struct Members {
    /// By identity.
    pub agents: BTreeMap<String, Member>,
    /// Names of agents that were refused, and why.
    pub refused: BTreeMap<String, String>,
    /// Agents that sent more than is permitted.
    offenders: Offenders,
}

/// An agent of a run.
pub struct Member {
    /// The description.
    pub hello: Hello,
    last_message: Instant,
    /// It works on a trial.
    pub busy: bool,
    /// The answers about the time: number, its time, and when the answer came.
    pub times: Vec<(u64, u64, Instant)>,
    /// Reports on its part of the plan that wait to be recorded.
    pub reports: VecDeque<(u64, ReportContent)>,
    /// Number of the last report that was recorded.
    pub recorded: u64,
    /// A report is being recorded.
    pub is_recording: bool,
    /// The trial, or part of the plan, that it speaks of, and its state in it.
    pub trial: u64,
    /// See `trial`.
    pub state: State,
}

/// State of an agent in a trial.
#[derive(Default)]
pub enum State {
    /// It prepares.
    #[default]
    Preparing,
    /// It is connected and warmed up, with these sessions.
    Ready(Vec<i64>),
    /// It has done this number of units, with this 99th percentile of latencies.
    Working(u64, Option<u64>),
    /// It is done.
    Done(Box<DonePart>),
    /// It has failed.
    Failed(String),
}

impl Members {
    /// The agent with this name.
    pub fn named(&mut self, name: &str) -> Option<&mut Member> {
        self.agents.values_mut().find(|member| member.hello.name == name)
    }

    fn has_name(&self, name: &str) -> bool {
        self.agents.values().any(|member| member.hello.name == name)
    }

    fn refuse(&mut self, hello: &Hello, cause: &str) {
        if self.refused.len() < REFUSED_MAX {
            self.refused.insert(hello.name.clone(), cause.to_owned());
        }
    }

    /// Counts a message of an agent that was larger than permitted, or a result that could not be
    /// read. At the second one the run does without the agent. Returns whether it is this one.
    fn count_excess(&mut self, id: &str) -> bool {
        if !self.agents.contains_key(id) || !self.offenders.count(id) {
            return false;
        }
        if let Some(Member { hello, .. }) = self.agents.remove(id) {
            self.refuse(&hello, &excessive(&hello));
        }
        true
    }
}

impl Roll {
    /// Locks the agents.
    pub fn lock(&self) -> MutexGuard<'_, Members> {
        lock(&self.members)
    }

    /// Waits for a change, for this long at most.
    pub fn wait(&self, at_most: Duration) {
        drop(self.changed.wait_timeout(self.lock(), at_most));
    }

    /// Returns why an agent cannot work for this run.
    fn objection(&self, hello: &Hello) -> Option<String> {
        let version = env!("CARGO_PKG_VERSION");
        let cause = if hello.version != version {
            format!("agent {} is Steelbench {}, the run is {version}", hello.name, hello.version)
        } else if hello.binary != self.binary {
            format!("agent {} is another build of Steelbench {version} than the run", hello.name)
        } else {
            return None;
        };
        (!self.demand.allow_mixed)
            .then(|| format!("{cause}; install the same, or use --allow-mixed"))
    }
}

impl Fleet {
    /// Connects to a broker, or starts a private one with agents.
    ///
    /// # Errors
    /// When there is no broker, it refuses the token, or a program cannot be started.
    pub fn begin(
        origin: Origin,
        demand: AgentDemand,
        experiment: &Experiment,
    ) -> Result<Self, AgentError> {
        let run = token::random_name(8)?;
        let (broker, places, url, token) = match origin {
            Origin::Private(places) => {
                let broker = PrivateBroker::start()?;
                let (url, token) = (broker.url(), broker.token().clone());
                (Some(broker), places, url, token)
            }
            Origin::Url { url, token } => (None, Vec::new(), url, token),
        };
        let bus = Bus::connect(&url, &token, &[HELLO.into(), to_run(&run, "*")])?;
        let mut machinery = Machinery { launched: Vec::new(), broker, bundle: None };
        for place in places {
            if let Some(broker) = &machinery.broker {
                machinery.launched.push(AgentProcess::start(place, broker)?);
            }
        }
        let shared = Arc::new(Roll {
            members: Mutex::default(),
            changed: Condvar::new(),
            demand,
            binary: hash_of_program()?,
        });
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, listener) = (bus.sender(), hear(bus, &run, &shared, &stop)?);
        Ok(Self {
            sender,
            run,
            origin: Instant::now(),
            trials: AtomicU64::new(0),
            shared,
            machinery: Mutex::new(machinery),
            tasks: Mutex::default(),
            bundle: Bundle::from_experiment(experiment),
            plan: plan_of(experiment),
            stop,
            listener: Some(listener),
        })
    }

    /// Starts the private broker and its agents again where they have ended.
    ///
    /// # Errors
    /// When that fails.
    pub fn revive(&self) -> Result<(), AgentError> {
        let mut machinery = lock(&self.machinery);
        let Machinery { launched, broker, bundle } = &mut *machinery;
        let Some(broker) = broker else { return Ok(()) };
        if broker.revive()? {
            *bundle = None;
        }
        launched.iter_mut().try_for_each(|agent| agent.revive(broker))
    }

    /// Strikes out agents whose process was started here and has ended: their silence need not be
    /// waited for.
    ///
    /// # Errors
    /// When the private broker has ended.
    pub fn strike_ended(&self) -> Result<(), AgentError> {
        let mut machinery = lock(&self.machinery);
        let Machinery { launched, broker, .. } = &mut *machinery;
        if broker.as_mut().is_some_and(PrivateBroker::has_ended) {
            return Err(AgentError::BrokerEnded { log: "its process was killed".into() });
        }
        let ended: Vec<u32> = launched.iter_mut().filter_map(AgentProcess::ended).collect();
        self.shared.lock().agents.retain(|_, member| !ended.contains(&member.hello.pid));
        Ok(())
    }

    /// Returns the name of the experiment in the broker, which gets it once.
    ///
    /// # Errors
    /// When the broker has no `JetStream`.
    pub fn bundle(&self) -> Result<BundleName, AgentError> {
        let mut machinery = lock(&self.machinery);
        if let Some(name) = &machinery.bundle {
            return Ok(name.clone());
        }
        let name = self.bundle.send(&self.sender, &self.run)?;
        machinery.bundle = Some(name.clone());
        Ok(name)
    }

    /// Returns the error that agents are missing, when this number is wanted.
    pub fn missing(&self, members: &Members, there: usize, expected: usize) -> AgentError {
        let refused = members.refused.values().cloned().collect();
        AgentError::TooFew {
            there,
            needed: expected,
            after_s: self.shared.demand.within.as_secs(),
            refused,
        }
    }

    /// Speaks to an agent.
    ///
    /// # Errors
    /// When the message is too large.
    pub fn say(&self, id: &str, word: &Word) -> Result<(), AgentError> {
        say(&self.sender, &self.run, id, word)
    }
}

/// Speaks to an agent for a run.
///
/// # Errors
/// When the message is too large.
pub fn say(sender: &Sender, run: &str, id: &str, word: &Word) -> Result<(), AgentError> {
    sender.publish(to_agent(id, run), encode_word(word)?);
    Ok(())
}

/// Why an agent is dropped that exceeds the limits.
fn excessive(hello: &Hello) -> String {
    format!("agent {} sent messages that were larger than permitted, or damaged", hello.name)
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let agents: Vec<String> = self.shared.lock().agents.keys().cloned().collect();
        for id in agents {
            let _ = self.say(&id, &Word::Dismiss);
        }
        let machinery = self.machinery.get_mut().unwrap_or_else(PoisonError::into_inner);
        if machinery.broker.is_none() && machinery.bundle.is_some() {
            drop_stream(&self.sender, &self.run);
        }
        self.sender.flush();
        self.stop.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// Starts the thread that hears the agents.
fn hear(
    bus: Bus,
    run: &str,
    shared: &Arc<Roll>,
    stop: &Arc<AtomicBool>,
) -> Result<JoinHandle<()>, AgentError> {
    let listener = Listener { sender: bus.sender(), run: run.to_owned(), shared: shared.clone() };
    let stop = stop.clone();
    let thread = Builder::new().name("agents".into()).spawn(move || {
        let mut leased = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            if let Some(incoming) = bus.next(LOOK_EVERY) {
                listener.hear(&incoming);
            }
            if leased.elapsed() >= LEASE_EVERY {
                leased = Instant::now();
                listener.lease();
            }
        }
    });
    thread.map_err(|source| AgentError::Start { program: "a thread".into(), source, advice: "" })
}

struct Listener {
    sender: Sender,
    run: String,
    shared: Arc<Roll>,
}

impl Listener {
    fn say(&self, id: &str, word: &Word) {
        let _ = say(&self.sender, &self.run, id, word);
    }

    /// Renews the leases, and strikes out agents that are lost.
    fn lease(&self) {
        let mut members = self.shared.lock();
        members.agents.retain(|_, member| member.last_message.elapsed() < SILENCE);
        members.agents.keys().for_each(|id| self.say(id, &Word::Lease));
        self.shared.changed.notify_all();
    }

    fn hear(&self, incoming: &Incoming) {
        if incoming.subject == HELLO {
            if let Ok(hello) = decode::<Hello>(&incoming.payload) {
                self.greet(&hello);
            }
            return;
        }
        let id = sender_of(&incoming.subject);
        let mut members = self.shared.lock();
        if members.offenders.is_dropped(id) {
            return;
        }
        if incoming.is_excess {
            return self.count_excess(&mut members, id);
        }
        let Ok((reply, packed)) = decode_reply(&incoming.payload) else { return };
        if let Reply::Claimed(hello) = reply {
            self.admit(&mut members, id, hello);
        } else if let Some(member) = members.agents.get_mut(id) {
            member.last_message = Instant::now();
            match reply {
                Reply::Done { trial, bytes } if member.works_on(trial) => {
                    drop(members);
                    self.take_record(id, trial, unpack(packed, bytes));
                }
                Reply::Report { trial, number, .. }
                    if trial != member.trial || number <= member.recorded =>
                {
                    // It is not wanted any more, or the answer to it was lost.
                    return self.say(id, &Word::Accept { trial, number });
                }
                Reply::Report { trial, number, bytes } if member.awaits(trial, number) => {
                    drop(members);
                    self.take_report(id, trial, number, unpack(packed, bytes));
                }
                reply => member.take(reply, incoming.at),
            }
        } else {
            // It was taken for lost: it can be claimed again.
            return self.say(id, &Word::Dismiss);
        }
        self.shared.changed.notify_all();
    }

    /// Takes in an agent that accepted a claim, or lets it go.
    fn admit(&self, members: &mut Members, id: &str, hello: Hello) {
        let is_known = members.agents.contains_key(id);
        let is_other = !self.shared.demand.by_name || !members.has_name(&hello.name);
        let has_room = is_known || (is_other && members.agents.len() < self.shared.demand.agents);
        if hello.id != id || !has_room || self.shared.objection(&hello).is_some() {
            return self.say(id, &Word::Dismiss);
        }
        members.agents.entry(id.to_owned()).or_insert_with(|| Member {
            hello,
            last_message: Instant::now(),
            busy: false,
            times: Vec::new(),
            reports: VecDeque::new(),
            recorded: 0,
            is_recording: false,
            trial: 0,
            state: State::Preparing,
        });
    }

    fn count_excess(&self, members: &mut Members, id: &str) {
        if members.count_excess(id) {
            self.say(id, &Word::Dismiss);
            self.shared.changed.notify_all();
        }
    }

    /// Takes the record of an agent's part of a trial. One that cannot be read fails the trial.
    fn take_record(&self, id: &str, trial: u64, record: Result<DonePart, AgentError>) {
        let mut members = self.shared.lock();
        let Some(member) = members.agents.get_mut(id).filter(|agent| agent.works_on(trial)) else {
            return;
        };
        match record {
            Ok(part) => member.state = State::Done(Box::new(part)),
            Err(error) => {
                member.state = State::Failed(error.to_string());
                self.count_excess(&mut members, id);
            }
        }
    }

    /// Takes a report on a part of the plan.
    fn take_report(
        &self,
        id: &str,
        trial: u64,
        number: u64,
        content: Result<ReportContent, AgentError>,
    ) {
        let mut members = self.shared.lock();
        let Some(member) = members.agents.get_mut(id) else { return };
        match content {
            Ok(content) if member.awaits(trial, number) => {
                member.reports.push_back((number, content));
            }
            Ok(_) => {}
            Err(_) => self.count_excess(&mut members, id),
        }
    }

    /// Claims a free agent while some are wanted.
    fn greet(&self, hello: &Hello) {
        let is_id = hello.id.len() <= 64 && hello.id.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_id || hello.id.is_empty() {
            return;
        }
        let mut members = self.shared.lock();
        if members.offenders.is_dropped(&hello.id) {
            self.say(&hello.id, &Word::Refuse(excessive(hello)));
        } else if let Some(cause) = self.shared.objection(hello) {
            members.refuse(hello, &cause);
            self.say(&hello.id, &Word::Refuse(cause));
        } else if members.agents.len() < self.shared.demand.agents {
            if self.shared.demand.by_name && members.has_name(&hello.name) {
                let cause = format!("another agent of this run is called {}", hello.name);
                return self.say(&hello.id, &Word::Refuse(cause));
            }
            self.say(&hello.id, &Word::Claim);
        }
    }
}

impl Member {
    /// Returns whether it works on this trial, and has not ended it.
    fn works_on(&self, trial: u64) -> bool {
        trial == self.trial && trial > 0 && !matches!(self.state, State::Done(_) | State::Failed(_))
    }

    /// Returns whether the report of this number on this part of the plan is the next one, and
    /// there is room for it.
    fn awaits(&self, trial: u64, number: u64) -> bool {
        let waiting = self.reports.len() as u64 + u64::from(self.is_recording);
        let is_next = trial == self.trial && number == self.recorded + waiting + 1;
        is_next && trial > 0 && self.reports.len() < REPORTS_MAX
    }

    fn take(&mut self, reply: Reply, at: Instant) {
        let (trial, state) = match reply {
            Reply::Alive { busy } => {
                self.busy = busy;
                return;
            }
            Reply::Time { number, at_ns } => {
                if self.times.len() < TIMES_MAX {
                    self.times.push((number, at_ns, at));
                }
                return;
            }
            Reply::Claimed(_) | Reply::Done { .. } | Reply::Report { .. } => return,
            Reply::Ready { trial, sessions } => (trial, State::Ready(sessions)),
            Reply::Progress { trial, done, latency_p99_ns } => {
                (trial, State::Working(done, latency_p99_ns))
            }
            Reply::Failed { trial, cause } => (trial, State::Failed(cause)),
        };
        if self.works_on(trial) {
            self.state = state;
        }
    }
}

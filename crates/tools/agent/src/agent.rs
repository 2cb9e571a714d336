//! `steelbench agent`: waits for work and generates its part of the load of trials.

use crate::block::{self, BlockTask, Outbox};
use crate::bus::{Bus, Incoming};
use crate::error::AgentError;
use crate::message::{
    BlockOrder, HELLO, Hello, Order, Reply, Word, decode, encode_hello, sender_of, to_agent,
};
use crate::offenders::Offenders;
use crate::part::{Control, Fetched, Task, Voice};
use crate::token;
use clap::Parser;
use command_line::{Context, ExitCode, Failure, Tool, output, signals};
use experiment::hash_of_file;
use observations::Secret;
use runner::Registry;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Interval of signs of life, and of hello while the agent is free.
const HELLO_EVERY: Duration = Duration::from_millis(500);
/// An agent that hears nothing of its coordinator for this long is free again.
const LEASE: Duration = Duration::from_secs(10);
/// The agent looks this often whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time for the work on a trial to end once it is asked to.
const END_MAX: Duration = Duration::from_secs(2);
/// Most characters of a name.
const NAME_MAX: usize = 64;

/// Generate load for `run --agents`, from this machine
#[derive(Debug, Parser)]
#[command(name = "agent")]
pub struct Agent {
    /// URL of the broker: `nats://HOST:4222`, or `tls://HOST:4222`
    #[arg(long, value_name = "URL")]
    broker: String,
    /// File with the broker's token, which only its owner can read; -: the first line of standard
    /// input, whose end also ends the agent
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// Name in messages and reports [default: the name of the machine]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Probes that this agent runs [default: all but command]. `command` also permits hooks,
    /// commands, private servers and client programs in trials of `[machines]`.
    #[arg(long, value_name = "PROBE", value_delimiter = ',')]
    allow: Vec<String>,
    /// Folder for the data of whole trials (`[machines]`)
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// The probe that runs commands, and the permission to run any.
const COMMAND: &str = "command";

impl Tool for Agent {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench agent --broker tls://broker.example:4222 --token-file token",
        "steelbench agent --broker nats://10.0.0.5:4222 --token-file token --allow script",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let stop = signals::stop_flag()?;
        let hello = self.hello(context.registry)?;
        let token = self.token(&stop).map_err(Failure::failed)?;
        let bus = Bus::connect(&self.broker, &token, &[to_agent(&hello.id, "*")]);
        let bus = bus.map_err(Failure::failed)?;
        let permitted = match self.allow.as_slice() {
            [] => "all probes, and no commands".to_owned(),
            some => some.join(", "),
        };
        output::complain(&format!("agent {} is connected and permits {permitted}", hello.name));
        block::remove_abandoned(context.registry, &self.folder);
        let mut waiting = Session {
            bus,
            hello,
            registry: context.registry,
            origin: Instant::now(),
            claim: None,
            work: None,
            fetched: Fetched::default(),
            outbox: Arc::default(),
            commands: self.allow.iter().any(|name| name == COMMAND),
            folder: self.folder.clone(),
            refused: String::new(),
            offenders: Offenders::default(),
        };
        waiting.wait(&stop);
        Ok(ExitCode::Ok)
    }
}

impl Agent {
    /// The token. With `-`, standard input is watched from then on.
    fn token(&self, stop: &Arc<AtomicBool>) -> Result<Secret, AgentError> {
        if self.token_file != Path::new("-") {
            return token::read(&self.token_file);
        }
        let mut input = BufReader::new(std::io::stdin());
        let token = token::read_line(&mut input, &self.token_file)?;
        let stop = stop.clone();
        // Without the thread the agent ends with its lease and broker only.
        drop(Builder::new().name("input".into()).spawn(move || {
            let mut rest = [0; 64];
            while matches!(input.read(&mut rest), Ok(length) if length > 0) {}
            stop.store(true, Ordering::Relaxed);
        }));
        Ok(token)
    }

    fn hello(&self, registry: Registry) -> Result<Hello, Failure> {
        let host = observe::environment::capture(&[]).host.unwrap_or_else(|| "unknown".into());
        let name = self.name.clone().unwrap_or_else(|| host.clone());
        if name.is_empty()
            || name.len() > NAME_MAX
            || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        {
            let message = "a name of an agent has letters, digits, `-`, `_` and `.`, at most 64";
            return Err(Failure::usage(format!("--name {name}: {message}")));
        }
        let mut allowed: Vec<String> =
            registry.probes.iter().map(|probe| probe.declarations().name.to_owned()).collect();
        if let Some(other) = self.allow.iter().find(|name| !allowed.contains(name)) {
            let all = allowed.join(", ");
            return Err(Failure::usage(format!("--allow {other}: an agent can run only {all}")));
        }
        allowed.retain(|name| match self.allow.as_slice() {
            [] => name != COMMAND,
            some => some.contains(name),
        });
        Ok(Hello {
            id: token::random_name(8).map_err(Failure::failed)?,
            name,
            version: env!("CARGO_PKG_VERSION").into(),
            binary: hash_of_program().map_err(Failure::failed)?,
            host,
            pid: std::process::id(),
            cpus: std::thread::available_parallelism().map_or(0, |cpus| cpus.get() as u32),
            allowed,
        })
    }
}

/// SHA-256 of the program file of this process.
pub(crate) fn hash_of_program() -> Result<String, AgentError> {
    let path = PathBuf::from("/proc/self/exe");
    hash_of_file(&path).map_err(|source| AgentError::File { path, source })
}

/// An agent that is connected.
struct Session {
    bus: Bus,
    hello: Hello,
    registry: Registry,
    origin: Instant,
    claim: Option<Claim>,
    work: Option<Work>,
    fetched: Fetched,
    /// Reports on a part of the plan.
    outbox: Arc<Outbox>,
    /// The owner permits commands.
    commands: bool,
    /// Parent of the folders of whole trials.
    folder: PathBuf,
    /// The last refusal, which is printed once.
    refused: String,
    /// Runs whose messages were larger than permitted while the agent worked for them.
    offenders: Offenders,
}

/// The run that the agent works for.
struct Claim {
    run: String,
    last_message: Instant,
}

/// A trial that is worked on.
struct Work {
    trial: u64,
    control: Arc<Control>,
    thread: JoinHandle<()>,
}

impl Session {
    fn wait(&mut self, stop: &AtomicBool) {
        let mut instant: Option<Instant> = None;
        while !stop.load(Ordering::Relaxed) {
            if instant.is_none_or(|instant| instant.elapsed() >= HELLO_EVERY) {
                instant = Some(Instant::now());
                self.say_something();
            }
            if let Some(incoming) = self.bus.next(LOOK_EVERY) {
                self.hear(&incoming);
            }
            if self.work.take_if(|work| work.thread.is_finished()).is_some() {
                self.say_something();
            }
            if self.claim.as_ref().is_some_and(|claim| claim.last_message.elapsed() > LEASE) {
                self.free();
            }
            if let Some(voice) = self.voice() {
                self.outbox.send(&voice);
            }
        }
        self.free();
        // A part that is stopped closes its connections; a server may keep it from doing so.
        let until = Instant::now() + END_MAX;
        while self.work.as_ref().is_some_and(|work| !work.thread.is_finished())
            && Instant::now() < until
        {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Hello while it is free, else a sign of life.
    fn say_something(&self) {
        match self.voice() {
            Some(voice) => {
                let busy = self.work.is_some() || self.outbox.is_waiting();
                voice.say(&Reply::Alive { busy });
            }
            None if self.work.is_none() => {
                if let Ok(bytes) = encode_hello(&self.hello) {
                    self.bus.sender().publish(HELLO.into(), bytes);
                }
            }
            None => {}
        }
    }

    fn voice(&self) -> Option<Voice> {
        let run = self.claim.as_ref()?.run.clone();
        Some(Voice { sender: self.bus.sender(), id: self.hello.id.clone(), run })
    }

    /// The agent works for no run any more.
    fn free(&mut self) {
        if let Some(work) = &self.work {
            work.control.end();
        }
        self.outbox.clear();
        self.claim = None;
    }

    fn hear(&mut self, incoming: &Incoming) {
        let run = sender_of(&incoming.subject);
        let is_foreign = self.claim.as_ref().is_some_and(|claim| claim.run != run);
        if is_foreign || self.offenders.is_dropped(run) {
            return;
        }
        if incoming.is_excess {
            return self.count_excess(run);
        }
        let Ok(word) = decode(&incoming.payload) else { return };
        if let Word::Refuse(cause) = word {
            if self.claim.is_none() && self.refused != cause {
                output::complain(&format!("refused by a run: {cause}"));
                self.refused = cause;
            }
            return;
        }
        if self.claim.is_none() && matches!(word, Word::Claim) && is_run(run) {
            self.claim = Some(Claim { run: run.to_owned(), last_message: Instant::now() });
        }
        let Some(claim) = self.claim.as_mut() else { return };
        claim.last_message = Instant::now();
        let Some(voice) = self.voice() else { return };
        match word {
            Word::Claim => voice.say(&Reply::Claimed(self.hello.clone())),
            Word::Time(number) => {
                let at_ns = incoming.at.saturating_duration_since(self.origin).as_nanos() as u64;
                voice.say(&Reply::Time { number, at_ns });
            }
            Word::Prepare(order) => self.prepare(*order, &voice),
            Word::Block(order) => self.run_block(*order, voice),
            Word::Accept { trial, number } => self.outbox.accept(trial, number),
            Word::Go { trial, at_ns } => {
                if let Some(work) = self.work.as_ref().filter(|work| work.trial == trial) {
                    work.control.go(at_ns);
                }
            }
            Word::End(trial) => {
                if let Some(work) = self.work.as_ref().filter(|work| work.trial == trial) {
                    work.control.end();
                }
            }
            Word::Dismiss => self.free(),
            Word::Lease | Word::Refuse(_) => {}
        }
    }

    /// Counts a message of the agent's run that was larger than permitted; the agent leaves the run
    /// at the second one.
    fn count_excess(&mut self, run: &str) {
        if self.claim.is_some() && self.offenders.count(run) {
            output::complain(&format!("left run {run}: its messages were larger than permitted"));
            self.free();
        }
    }

    /// Runs a part of the plan. It may be ordered again: only the first order counts.
    fn run_block(&mut self, order: BlockOrder, voice: Voice) {
        if self.work.is_some() || self.outbox.is_waiting() {
            return;
        }
        let (trial, control) = (order.trial, Arc::new(Control::default()));
        let task = BlockTask {
            order,
            control: control.clone(),
            voice,
            outbox: self.outbox.clone(),
            registry: self.registry,
            allowed: self.hello.allowed.clone(),
            commands: self.commands,
            folder: self.folder.clone(),
            number: Mutex::default(),
        };
        // Without a thread the coordinator orders it again.
        if let Ok(thread) = Builder::new().name("block".into()).spawn(move || task.work()) {
            self.work = Some(Work { trial, control, thread });
        }
    }

    fn prepare(&mut self, order: Order, voice: &Voice) {
        let (trial, until) = (order.trial, Instant::now() + END_MAX);
        while let Some(work) = self.work.as_ref().filter(|work| !work.thread.is_finished()) {
            // A new order ends the trial before.
            work.control.end();
            if Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            let cause = "it still works on an earlier trial".into();
            return voice.say(&Reply::Failed { trial, cause });
        }
        let control = Arc::new(Control::default());
        let task = Task {
            order,
            control: control.clone(),
            voice: voice.clone(),
            registry: self.registry,
            allowed: self.hello.allowed.clone(),
            commands: self.commands,
            fetched: self.fetched.clone(),
            origin: self.origin,
        };
        match Builder::new().name("part".into()).spawn(move || task.work()) {
            Ok(thread) => self.work = Some(Work { trial, control, thread }),
            Err(error) => {
                let cause = format!("it cannot start a thread: {error}");
                voice.say(&Reply::Failed { trial, cause });
            }
        }
    }
}

/// Returns whether a text is the name of a run, which is part of a subject.
fn is_run(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric())
}

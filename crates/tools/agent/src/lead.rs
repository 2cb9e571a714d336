//! A trial's load on the agents of a run.

use crate::clock::{ClockOffset, ROUND_TRIPS, RoundTrip};
use crate::error::AgentError;
use crate::fleet::{Fleet, SILENCE, State, say};
use crate::message::{DonePart, Order, Word};
use engine::EngineError;
use observations::order;
use probe::ProbeError;
use probe::generation::{Generated, Generators, PartRecord, SharedLoad};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use work::conductor::{Director, LOOK_EVERY, LoadError, LoadProgress};

/// Interval at which ended agents are started again while too few are there.
const REVIVE_EVERY: Duration = Duration::from_secs(1);
/// Time for an agent to answer a question about the time.
const ANSWER: Duration = Duration::from_secs(2);
/// Time between the announcement of the common start and the start.
const LEAD_TIME: Duration = Duration::from_millis(150);

/// The agents of a trial, in the order of their parts. Dropping it ends the trial for them.
struct Crew {
    sender: crate::bus::Sender,
    run: String,
    trial: u64,
    agents: Vec<Hand>,
}

/// An agent of a trial.
#[derive(Clone)]
struct Hand {
    id: String,
    name: String,
}

impl Drop for Crew {
    fn drop(&mut self) {
        for hand in &self.agents {
            let _ = say(&self.sender, &self.run, &hand.id, &Word::End(self.trial));
        }
    }
}

impl Generators for Fleet {
    fn generate(
        &self,
        load: &SharedLoad<'_>,
        director: &mut dyn Director,
    ) -> Result<Generated, ProbeError> {
        let agents = self.gather(load.generators as usize, director)?;
        let bundle = self.bundle().map_err(|error| unreachable(&error))?;
        let trial = self.trials.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, run) = (self.sender.clone(), self.run.clone());
        let crew = Crew { sender, run, trial, agents };
        let attachment = load.target.attachment()?;
        for (index, hand) in (0..).zip(&crew.agents) {
            if let Some(member) = self.shared.lock().agents.get_mut(&hand.id) {
                (member.trial, member.state, member.busy) = (trial, State::Preparing, true);
            }
            let order = Order {
                trial,
                bundle: bundle.clone(),
                configuration: load.configuration.key(),
                seed: load.seed,
                index,
                parts: load.generators,
                attachment: attachment.clone(),
            };
            self.say(&hand.id, &Word::Prepare(Box::new(order))).map_err(ProbeError::study)?;
        }
        let mut sessions = Vec::new();
        self.watch(&crew, director, None, |state| match state {
            State::Ready(ready_sessions) => {
                sessions.append(ready_sessions);
                true
            }
            _ => false,
        })?;
        load.target.adopt(&sessions);
        if !director.go() {
            return Err(LoadError::Stopped.into());
        }
        let offsets = self.offsets(&crew)?;
        let start = Instant::now() + LEAD_TIME;
        for (hand, offset) in crew.agents.iter().zip(&offsets) {
            let at_ns = offset.there_ns((start - self.origin).as_nanos() as u64);
            self.say(&hand.id, &Word::Go { trial, at_ns }).map_err(ProbeError::study)?;
        }
        self.watch(&crew, director, Some(start), |state| matches!(state, State::Done(_)))?;
        let later = self.offsets(&crew)?;
        let drifts = offsets.iter().zip(later).map(|(offset, later)| offset.drift_ns(later));
        let parts = self.records(&crew, &offsets, &drifts.collect::<Vec<_>>())?;
        Ok(Generated { parts, connected: Box::new(crew) })
    }
}

/// A failure that no trial can do without: the run stops, resumably.
fn unreachable(error: &AgentError) -> ProbeError {
    EngineError::Unreachable { message: error.to_string() }.into()
}

fn lost(hand: &Hand) -> ProbeError {
    ProbeError::study(AgentError::Lost { agent: hand.name.clone(), silence_s: SILENCE.as_secs() })
}

impl Fleet {
    /// Waits for this number of agents that are free.
    fn gather(&self, count: usize, director: &mut dyn Director) -> Result<Vec<Hand>, ProbeError> {
        let (started, mut revived) = (Instant::now(), None::<Instant>);
        loop {
            // What was started may also end while it is waited for.
            if revived.is_none_or(|revived| revived.elapsed() >= REVIVE_EVERY) {
                revived = Some(Instant::now());
                self.revive().map_err(|error| unreachable(&error))?;
            }
            let members = self.shared.lock();
            let free = members.agents.values().filter(|member| !member.busy);
            let mut free: Vec<_> = free.map(|member| &member.hello).collect();
            if free.len() >= count {
                order::sort(&mut free, &|first, other| {
                    (&first.name, &first.id).cmp(&(&other.name, &other.id))
                });
                return Ok(hands(&free[..count]));
            }
            if started.elapsed() > self.shared.demand.within {
                return Err(unreachable(&self.missing(&members, free.len(), count)));
            }
            drop(members);
            let waiting = LoadProgress { elapsed_s: 0.0, done: 0, latency_p99_ns: None };
            if director.look(&waiting).is_none() {
                return Err(LoadError::Stopped.into());
            }
            self.shared.wait(LOOK_EVERY);
        }
    }

    /// Watches the agents of a trial until each has arrived at a state, once. `start`: the common
    /// start, if it is known.
    fn watch(
        &self,
        crew: &Crew,
        director: &mut dyn Director,
        start: Option<Instant>,
        mut has_arrived: impl FnMut(&mut State) -> bool,
    ) -> Result<(), ProbeError> {
        let mut arrived = vec![false; crew.agents.len()];
        let (mut done, mut looked) = (vec![0_u64; crew.agents.len()], Instant::now());
        loop {
            let mut latency_p99_ns = None;
            let mut members = self.shared.lock();
            for (at, hand) in crew.agents.iter().enumerate() {
                let member = members.agents.get_mut(&hand.id).ok_or_else(|| lost(hand))?;
                match &mut member.state {
                    State::Failed(cause) => {
                        let (agent, cause) = (hand.name.clone(), cause.clone());
                        return Err(ProbeError::study(AgentError::Failed { agent, cause }));
                    }
                    State::Working(units, p99_ns) => {
                        done[at] = *units;
                        latency_p99_ns = latency_p99_ns.max(*p99_ns);
                    }
                    State::Done(part) => done[at] = part.record.counts.units,
                    State::Preparing | State::Ready(_) => {}
                }
                arrived[at] = arrived[at] || has_arrived(&mut member.state);
            }
            drop(members);
            if arrived.iter().all(|arrived| *arrived) {
                return Ok(());
            }
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                self.strike_ended().map_err(ProbeError::study)?;
                let since = start.map(|start| looked.saturating_duration_since(start));
                let elapsed_s = since.map_or(0.0, |since| since.as_secs_f64());
                let done = done.iter().sum();
                if director.look(&LoadProgress { elapsed_s, done, latency_p99_ns }).is_none() {
                    return Err(LoadError::Stopped.into());
                }
            }
            self.shared.wait(LOOK_EVERY / 4);
        }
    }

    /// Offsets of the agents' clocks now.
    fn offsets(&self, crew: &Crew) -> Result<Vec<ClockOffset>, ProbeError> {
        crew.agents.iter().map(|hand| self.offset(hand)).collect()
    }

    fn offset(&self, hand: &Hand) -> Result<ClockOffset, ProbeError> {
        let since = |time: Instant| (time - self.origin).as_nanos() as u64;
        let mut trips = Vec::new();
        if let Some(member) = self.shared.lock().agents.get_mut(&hand.id) {
            member.times.clear();
        }
        for number in 0..u64::from(ROUND_TRIPS) {
            let sent = Instant::now();
            self.say(&hand.id, &Word::Time(number)).map_err(ProbeError::study)?;
            loop {
                let members = self.shared.lock();
                let member = members.agents.get(&hand.id).ok_or_else(|| lost(hand))?;
                let answer = member.times.iter().find(|(candidate, ..)| *candidate == number);
                if let Some((_, there_ns, received)) = answer {
                    let (sent_ns, received_ns) = (since(sent), since(*received));
                    trips.push(RoundTrip { sent_ns, received_ns, there_ns: *there_ns });
                    break;
                }
                drop(members);
                if sent.elapsed() > ANSWER {
                    return Err(lost(hand));
                }
                self.shared.wait(Duration::from_millis(20));
            }
        }
        ClockOffset::from_round_trips(&trips).ok_or_else(|| lost(hand))
    }

    /// The records of all agents of a trial.
    fn records(
        &self,
        crew: &Crew,
        offsets: &[ClockOffset],
        drifts_ns: &[u64],
    ) -> Result<Vec<PartRecord>, ProbeError> {
        let mut members = self.shared.lock();
        let clocks = offsets.iter().zip(drifts_ns);
        let parts = crew.agents.iter().zip(clocks).map(|(hand, (offset, drift_ns))| {
            let member = members.agents.get_mut(&hand.id).ok_or_else(|| lost(hand))?;
            let State::Done(part) = std::mem::take(&mut member.state) else {
                return Err(lost(hand));
            };
            let DonePart { record, late_ns, machine, network_bytes } = *part;
            Ok(PartRecord {
                generator: hand.name.clone(),
                record,
                late_ns,
                clock_uncertainty_ns: offset.uncertainty_ns,
                clock_drift_ns: *drift_ns,
                machine,
                network_bytes,
            })
        });
        parts.collect()
    }
}

/// The agents of a trial. Those of the same name get a number.
fn hands(agents: &[&crate::message::Hello]) -> Vec<Hand> {
    let mut hands: Vec<Hand> = Vec::new();
    for hello in agents {
        let same = hands.iter().filter(|hand| hand.name.split('#').next() == Some(&hello.name));
        let name = match same.count() {
            0 => hello.name.clone(),
            before => format!("{}#{}", hello.name, before + 1),
        };
        hands.push(Hand { id: hello.id.clone(), name });
    }
    hands
}

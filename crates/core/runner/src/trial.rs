//! A trial: prepare a target, run the probe, remove the target; and what limits or interrupts it.

use crate::hosts::HostEntry;
use crate::reading::Reading;
use engine::{Ability, Engine, EngineError, Instance, ServerProcess};
use experiment::Configuration;
use observations::{Event, Fact, FailureKind, Observations, RATE_AT_MOST, Series, number};
use probe::generation::Generation;
use probe::{Disturbance, Probe, ProbeError, SetUp, Target, TrialContext};
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use work::conductor::LoadError;
use work::{Cancel, CancelReason, while_watched};

/// A trial and its surroundings.
pub struct Trial<'a> {
    pub configuration: &'a Configuration,
    pub engine: &'static Engine,
    pub probe: &'static dyn Probe,
    pub disturbances: &'static [&'static dyn Disturbance],
    pub limit: Limit,
    pub seed: u64,
    pub interrupt: &'a Interrupt,
    /// The place where its load runs.
    pub generation: Generation<'a>,
    /// The set-up to make first, unless the previous trial made it.
    pub set_up: Option<&'a dyn SetUp>,
}

/// The end of a trial.
pub enum Outcome {
    /// Measured to the end.
    Done(Box<Observations>),
    /// Not measured to the end.
    Failed(Failed),
    /// Not to be recorded: the run stops.
    Stopped(CancelReason),
    /// Not to be recorded: its server is down, and the run stops.
    Down(String),
}

/// A trial that was not measured to the end.
pub struct Failed {
    pub cause: String,
    pub kind: FailureKind,
    /// Observations until then, if any.
    pub observations: Option<Box<Observations>>,
}

impl Outcome {
    /// Returns the end by an error, without observations.
    pub fn failed(cause: impl Into<String>) -> Self {
        Self::failed_as(FailureKind::Error, cause)
    }

    fn failed_as(kind: FailureKind, cause: impl Into<String>) -> Self {
        Self::Failed(Failed { cause: cause.into(), kind, observations: None })
    }
}

/// The progress of a trial.
struct Listener<'h> {
    announce: &'h mut (dyn FnMut(Event) + Send),
    /// The second after which it is stopped.
    futile_s: Option<f64>,
    progress: Progress,
}

/// A measurement as it was heard of.
#[derive(Default)]
struct Progress {
    /// The second at which it was last heard of.
    elapsed_s: f64,
    /// The rate, where a search judges that.
    rate: Option<Box<dyn RateWatch>>,
}

impl Progress {
    /// Adds the rate until the end, and its bound.
    fn add_rate(&self, observations: &mut Observations) {
        let Some(watch) = &self.rate else { return };
        let unit = watch.unit();
        observations.facts.extend(watch.at_most().map(|value| Fact {
            name: RATE_AT_MOST.into(),
            unit: unit.into(),
            value,
        }));
        observations.series.push(Series {
            name: "throughput".into(),
            unit: unit.into(),
            start_s: 0.0,
            interval_s: watch.interval_s(),
            values: watch.rates().to_vec(),
        });
    }
}

impl<'h> Listener<'h> {
    fn begin(announce: &'h mut (dyn FnMut(Event) + Send), bound: Option<&Futile>) -> Mutex<Self> {
        let (futile_s, rate) = match bound {
            None => (None, None),
            Some(Futile::Time(most_s)) => (Some(*most_s), None),
            Some(Futile::Rate(watch)) => (None, Some(watch.begin())),
        };
        Mutex::new(Self { announce, futile_s, progress: Progress { elapsed_s: 0.0, rate } })
    }

    /// Announces it; stops the trial when it cannot be better than the best one of its search.
    fn pass_on(listener: &Mutex<Self>, progress: Event, cancel: &Cancel) {
        let Ok(mut state) = listener.lock() else { return };
        if let Event::Progress { elapsed_s, rate, unit, .. } = &progress {
            state.progress.elapsed_s = *elapsed_s;
            let watch = state.progress.rate.as_mut().filter(|watch| watch.unit() == unit);
            let is_slow = watch.is_some_and(|watch| watch.hear(*elapsed_s, *rate).is_some());
            if is_slow || state.futile_s.is_some_and(|most| *elapsed_s > most) {
                cancel.cancel(CancelReason::Futile);
            }
        }
        (state.announce)(progress);
    }
}

impl Trial<'_> {
    /// Runs the trial on a target of this host, while those of other engines rest.
    pub fn run(
        &self,
        kept: &mut HostEntry,
        others: &mut [HostEntry],
        announce: &mut (dyn FnMut(Event) + Send),
    ) -> Outcome {
        let (cancel, limit) = (Cancel::new(), &self.limit);
        if let Some(set_up) = self.set_up {
            let begun =
                watched(limit, &cancel, self.interrupt, None, None, || set_up.begin(&cancel));
            if let Err(error) = begun {
                return self.ended(error, &cancel, None, &Progress::default());
            }
        }
        announce(Event::Step { text: format!("preparing {}", self.engine.name) });
        let prepare = || {
            others.iter_mut().try_for_each(|other| other.host.rest(&cancel))?;
            let connections = self.probe.connections(self.configuration);
            kept.host.prepare(self.configuration, connections, &cancel)
        };
        let reading = Reading::begin(self.engine.name, self.configuration, announce);
        let instance = match watched(limit, &cancel, self.interrupt, None, Some(reading), prepare) {
            Ok(instance) => instance,
            Err(error) => {
                if let EngineError::Remains { .. } = &error {
                    announce(Event::Warning { text: error.to_string() });
                }
                return self.failed(&error, &cancel, None, &Progress::default());
            }
        };
        let listener = Listener::begin(announce, limit.futile.as_ref());
        let result = watched(limit, &cancel, self.interrupt, Some(instance.as_ref()), None, || {
            self.probe.run(&TrialContext {
                generation: self.generation,
                configuration: self.configuration,
                instance: instance.as_ref(),
                target: Target::for_engine(self.engine, self.configuration),
                storage: &kept.storage,
                disturbances: self.disturbances,
                seed: self.seed,
                cancel: &cancel,
                progress: &|progress| Listener::pass_on(&listener, progress, &cancel),
            })
        });
        // Read while the target is still there.
        let server = instance.parts().server.filter(|_| result.is_err());
        let log = server.and_then(ServerProcess::log_tail);
        let full = cancel.reason() == Some(CancelReason::DiskSpace);
        let removed = watched(limit, &cancel, self.interrupt, None, None, || instance.remove());
        let Listener { announce, progress: state, .. } =
            listener.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A stopped trial has no record that names it.
        if let Err(error @ EngineError::Remains { .. }) = &removed
            && cancel.is_cancelled()
        {
            announce(Event::Warning { text: error.to_string() });
        }
        match (result, removed) {
            (Ok(_), _) if full => self.failed(&EngineError::Cancelled, &cancel, log, &state),
            (Ok(mut observations), Ok(())) => {
                observations.warnings.extend(analysis::health::warnings(&observations));
                Outcome::Done(Box::new(observations))
            }
            // The measurement itself came to its end.
            (Ok(_), Err(error @ (EngineError::Cancelled | EngineError::Remains { .. }))) => {
                self.failed(&error, &cancel, log, &Progress::default())
            }
            (Ok(_), Err(error)) => Outcome::failed(format!("removing the target: {error}")),
            (Err(error), removed) => match (self.ended(error, &cancel, log, &state), removed) {
                (Outcome::Failed(failed), Err(error)) => {
                    let cause = format!("{}\nremoving it failed too: {error}", failed.cause);
                    Outcome::Failed(Failed { cause, ..failed })
                }
                (outcome, _) => outcome,
            },
        }
    }

    /// Ended by an error of its probe.
    fn ended(
        &self,
        error: ProbeError,
        cancel: &Cancel,
        log: Option<String>,
        received: &Progress,
    ) -> Outcome {
        match error {
            ProbeError::Engine(error) => self.failed(&error, cancel, log, received),
            ProbeError::Load(error @ LoadError::Start { .. }) => {
                Outcome::failed_as(FailureKind::Machine, error.to_string())
            }
            error => Outcome::failed(error.to_string()),
        }
    }

    /// `heard`: what was heard of its measurement.
    fn failed(
        &self,
        error: &EngineError,
        cancel: &Cancel,
        log: Option<String>,
        received: &Progress,
    ) -> Outcome {
        let elapsed_s = received.elapsed_s;
        match (error, cancel.reason()) {
            (
                EngineError::Cancelled | EngineError::Remains { .. },
                Some(CancelReason::TrialTime),
            ) => {
                let limit_s = self.limit.trial_time_s;
                Outcome::Failed(Failed {
                    cause: format!(
                        "took longer than limits.trial_time ({})",
                        number::seconds(limit_s)
                    ),
                    kind: FailureKind::Error,
                    observations: (elapsed_s > 0.0)
                        .then(|| Box::new(self.seen_until(elapsed_s, limit_s))),
                })
            }
            (EngineError::Cancelled | EngineError::Remains { .. }, Some(CancelReason::Futile)) => {
                let most_s = match self.limit.futile {
                    Some(Futile::Time(most_s)) => most_s,
                    _ => elapsed_s,
                };
                let elapsed_s = elapsed_s.max(most_s);
                let mut observations = self.seen_until(elapsed_s, most_s);
                received.add_rate(&mut observations);
                let stopped = number::seconds(elapsed_s);
                Outcome::Failed(Failed {
                    cause: format!("stopped after {stopped}: cannot beat the leader"),
                    kind: FailureKind::Futile,
                    observations: Some(Box::new(observations)),
                })
            }
            (EngineError::Cancelled, Some(CancelReason::DiskSpace)) => Outcome::failed(
                "used more space than limits.disk_space, or a volume is nearly full",
            ),
            (EngineError::Cancelled | EngineError::Remains { .. }, Some(reason)) => {
                Outcome::Stopped(reason)
            }
            (EngineError::Unreachable { .. }, None) => Outcome::Down(error.to_string()),
            _ => {
                let cause = match log {
                    Some(log) => format!("{error}\nend of the server's log:\n{log}"),
                    None => error.to_string(),
                };
                let is_of_machine = error.is_of_machine();
                let kind = if is_of_machine { FailureKind::Machine } else { FailureKind::Error };
                Outcome::failed_as(kind, cause)
            }
        }
    }

    /// The observations of a trial that was stopped by a limit of its seconds.
    fn seen_until(&self, elapsed_s: f64, limit_s: f64) -> Observations {
        Observations {
            elapsed_s,
            connections: self.probe.connections(self.configuration),
            synthetic: self.engine.abilities.contains(&Ability::Synthetic),
            timeout_s: Some(limit_s),
            ..Observations::default()
        }
    }
}

/// Asks a run to stop at the next chance, resumably. Set by a signal handler.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl From<Arc<AtomicBool>> for Interrupt {
    /// An interruption that is requested by setting the flag, as signal handlers do.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

impl Interrupt {
    /// Returns whether a stop was requested.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The bound of a trial of a search: beyond it, it cannot be better than the best one.
#[derive(Debug, Clone)]
pub enum Futile {
    /// Seconds of measurement that it may take.
    Time(f64),
    /// A rate that it has to reach.
    Rate(Box<dyn RateWatch>),
}

/// Watches the rate of a trial, to end it when the rate can no longer reach a bound.
pub trait RateWatch: Debug + Send + Sync {
    /// A watch with the same bound, of a measurement that has not begun.
    fn begin(&self) -> Box<dyn RateWatch>;

    /// The unit of the rate.
    fn unit(&self) -> &str;

    /// Hears the mean rate since it last heard of the measurement, at this second of it. Returns
    /// the highest rate that the trial can reach, if that is below the bound.
    fn hear(&mut self, elapsed_s: f64, rate: f64) -> Option<f64>;

    /// The highest rate that the trial could have reached, once the bound was out of reach.
    fn at_most(&self) -> Option<f64>;

    /// The seconds of an interval.
    fn interval_s(&self) -> f64;

    /// The rates of the complete intervals so far.
    fn rates(&self) -> &[f64];
}

impl Clone for Box<dyn RateWatch> {
    fn clone(&self) -> Self {
        self.begin()
    }
}

/// Limits of a trial.
#[derive(Debug, Clone)]
pub struct Limit {
    pub trial_time_s: f64,
    pub trial_deadline: Instant,
    pub run_deadline: Option<Instant>,
    /// The bound beyond which it cannot be better than the best one of its search.
    pub futile: Option<Futile>,
    pub disk_space_bytes: Option<u64>,
    /// Directories whose file systems must not fill up.
    pub folders: Vec<PathBuf>,
}

/// Below this much free space databases begin to fail in ways that no error code tells, and the
/// results file itself may not get its last trial.
pub const FREE_BYTES_MIN: u64 = 64 << 20;

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Looking at space reads the file system: less often.
const SPACE_EVERY: Duration = Duration::from_millis(500);

/// Runs `work` while watching its limits; cancels it when one is exceeded. `instance` is the
/// target, once there is one; `reading` announces how far its set-up has come.
pub fn watched<T, E: From<EngineError>>(
    limit: &Limit,
    cancel: &Cancel,
    interrupt: &Interrupt,
    instance: Option<&dyn Instance>,
    mut reading: Option<Reading<'_>>,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let mut space_checked = Instant::now();
    let result = while_watched(
        "limits",
        LOOK_EVERY,
        || {
            reading.iter_mut().for_each(Reading::look);
            let mut reason = limit.exceeded(interrupt);
            if reason.is_none() && space_checked.elapsed() > SPACE_EVERY {
                space_checked = Instant::now();
                reason = limit.space_exceeded(instance).then_some(CancelReason::DiskSpace);
            }
            reason.inspect(|reason| cancel.cancel(*reason)).is_none()
        },
        work,
    );
    let result = result.map_err(|error| EngineError::no_thread(&error))?;
    // Short work can be over before anybody has looked.
    if instance.is_some_and(|instance| limit.too_large(instance)) {
        cancel.cancel(CancelReason::DiskSpace);
    }
    result
}

impl Limit {
    /// The limit on time that is exceeded, or the interruption.
    pub fn exceeded(&self, interrupt: &Interrupt) -> Option<CancelReason> {
        let now = Instant::now();
        if interrupt.requested() {
            Some(CancelReason::Interrupt)
        } else if self.run_deadline.is_some_and(|deadline| now >= deadline) {
            Some(CancelReason::RunTime)
        } else {
            (now >= self.trial_deadline).then_some(CancelReason::TrialTime)
        }
    }

    fn too_large(&self, instance: &dyn Instance) -> bool {
        self.disk_space_bytes
            .is_some_and(|limit| instance.space_bytes().is_some_and(|used| used > limit))
    }

    fn space_exceeded(&self, instance: Option<&dyn Instance>) -> bool {
        let too_large = instance.is_some_and(|instance| self.too_large(instance));
        too_large
            || self.folders.iter().any(|folder| {
                observe::file_system::space(folder)
                    .is_some_and(|(_, free_bytes)| free_bytes < FREE_BYTES_MIN)
            })
    }
}

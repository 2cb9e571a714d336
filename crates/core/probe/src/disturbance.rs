//! Disturbances of a load: actions beside it, which begin at a moment of the measurement, and the
//! transactions of the load one by one, from which their effect is computed.

use crate::load::{GENERATORS, RATE, Timed};
use crate::{Probe, ProbeError, TrialContext};
use conductor::{Director, LoadProgress};
use engine::{Ability, Engine, EngineError, lock};
use experiment::{Configuration, Invalid, OwnSection};
use observations::Observations;
use observe::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, scope};
use std::time::Duration;

/// The interval at which a waiting action checks whether the trial is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A kind of disturbance, with a section of its own in the file.
pub trait Disturbance: Send + Sync {
    /// Its section, whose settings have no defaults.
    fn section(&self) -> OwnSection;
    /// Paths of its settings that hold command lines.
    fn commands(&self) -> &'static [&'static str] {
        &[]
    }
    /// Objections to a configuration, found before anything runs.
    fn plan(&self, configuration: &Configuration, owners: Disturbed) -> Vec<Invalid>;
    /// Makes the action of a trial ready, once its target has its tables; `None` where the
    /// configuration does not ask for it.
    ///
    /// # Errors
    /// When the target fails or the trial is asked to stop.
    fn prepare<'a>(
        &self,
        context: &'a TrialContext<'_>,
    ) -> Result<Option<Box<dyn Action + 'a>>, ProbeError>;
}

/// The engine and the probe of a configuration that is disturbed.
#[derive(Clone, Copy)]
pub struct Disturbed {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The probe.
    pub probe: &'static dyn Probe,
}

impl Disturbed {
    /// The objection to a load without a fixed rate.
    pub fn needs_open_loop(&self, configuration: &Configuration) -> Option<Invalid> {
        if self.engine.abilities().contains(&Ability::Synthetic) {
            return Some(Invalid::new("target.engine", "this engine has no time of its own"));
        }
        if configuration.get(GENERATORS).is_some() {
            let message = "a disturbance is measured by one generator; remove this setting";
            return Some(Invalid::new(GENERATORS.path(), message));
        }
        let has_rate = self.probe.settings().iter().any(|own| own.path == RATE.path());
        let message = if !has_rate {
            "this probe has no fixed rate; disturbances are measured with probes that have \
             workload.rate, such as script, insert, update and lookup"
        } else if configuration.get(RATE).is_none() {
            "missing: a disturbance needs an open loop. In a closed loop each connection waits for \
             its answer, so that a stall also stops the transactions that would have shown it; \
             give a fixed rate (rate = \"200/s\")"
        } else {
            return None;
        };
        Some(Invalid::new(RATE.path(), message))
    }
}

/// The action of a trial.
pub trait Action: Send {
    /// Acts; called on a thread of its own when the measurement begins. It may last longer than the
    /// load.
    ///
    /// # Errors
    /// When it fails, or the trial is asked to stop. The load stops too.
    fn run(&mut self, load: &LoadClock<'_>) -> Result<(), ProbeError>;
    /// Adds its effect to the observations. `transactions`: those of the measurement, in the order
    /// in which they were due, in nanoseconds of [`LoadClock::now_ns`].
    ///
    /// # Errors
    /// When the target fails.
    fn finish(
        self: Box<Self>,
        transactions: &[Timed],
        seen: &mut Observations,
    ) -> Result<(), ProbeError>;
}

/// The time of a load, as actions beside it see it.
pub struct LoadClock<'a> {
    clock: &'a Clock,
    context: &'a TrialContext<'a>,
    /// "Go" on the clock, once the measurement has begun.
    go_ns: Mutex<Option<u64>>,
    changed: Condvar,
    over: AtomicBool,
    failed: AtomicBool,
}

impl LoadClock<'_> {
    /// Nanoseconds since the measurement began.
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.go_ns())
    }

    /// Waits until a time after "go", or until the load is over. Returns whether the load runs.
    ///
    /// # Errors
    /// When the trial is asked to stop.
    pub fn wait_until_ns(&self, then_ns: u64) -> Result<bool, EngineError> {
        while !self.is_over() {
            if self.context.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            let left_ns = then_ns.saturating_sub(self.now_ns());
            if left_ns == 0 {
                return Ok(true);
            }
            std::thread::sleep(LOOK_EVERY.min(Duration::from_nanos(left_ns)));
        }
        Ok(false)
    }

    /// Returns whether the load has ended.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// "Go" on the clock; 0 before.
    fn go_ns(&self) -> u64 {
        lock(&self.go_ns).unwrap_or(0)
    }

    fn go(&self) {
        *lock(&self.go_ns) = Some(self.clock.now_ns());
        self.changed.notify_all();
    }

    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        let _held = lock(&self.go_ns);
        self.changed.notify_all();
    }

    /// Waits for "go"; false when the load ends without it.
    fn has_begun(&self) -> bool {
        let go_ns = self
            .changed
            .wait_while(lock(&self.go_ns), |go_ns| go_ns.is_none() && !self.is_over())
            .unwrap_or_else(PoisonError::into_inner);
        go_ns.is_some()
    }
}

/// The actions beside a load.
pub struct Beside<'a> {
    actions: Vec<Box<dyn Action + 'a>>,
    clock: LoadClock<'a>,
}

impl<'a> Beside<'a> {
    /// Makes the actions of a trial ready.
    pub fn prepare(context: &'a TrialContext<'a>, clock: &'a Clock) -> Result<Self, ProbeError> {
        let mut actions = Vec::new();
        for disturbance in context.disturbances {
            actions.extend(disturbance.prepare(context)?);
        }
        let clock = LoadClock {
            clock,
            context,
            go_ns: Mutex::default(),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        };
        Ok(Self { actions, clock })
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Runs a load with the actions beside it. `load` gets what its director is wrapped in.
    pub fn run<R>(
        &mut self,
        load: impl FnOnce(&LoadClock<'_>) -> Result<R, ProbeError>,
    ) -> Result<R, ProbeError> {
        let clock = &self.clock;
        scope(|scope| {
            let mut threads = Vec::with_capacity(self.actions.len());
            for action in &mut self.actions {
                let work = move || {
                    let result = if clock.has_begun() { action.run(clock) } else { Ok(()) };
                    clock.failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    result
                };
                match Builder::new().name("beside".into()).spawn_scoped(scope, work) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        clock.end();
                        return Err(EngineError::no_thread(&error).into());
                    }
                }
            }
            let result = load(clock);
            clock.end();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    Err(EngineError::failed("an action beside the load", "it panicked").into())
                })
            });
            // The cause of a load that an action stopped is the action's error.
            ended.collect::<Result<Vec<()>, _>>().and(result)
        })
    }

    /// Adds the effects of the actions to the observations. `transactions` are on the clock.
    pub fn finish(
        self,
        mut transactions: Vec<Timed>,
        seen: &mut Observations,
    ) -> Result<(), ProbeError> {
        let go_ns = self.clock.go_ns();
        for own in &mut transactions {
            own.due_ns = own.due_ns.saturating_sub(go_ns);
            own.end_ns = own.end_ns.map(|end_ns| end_ns.saturating_sub(go_ns));
        }
        transactions.sort_unstable_by_key(|own| own.due_ns);
        self.actions.into_iter().try_for_each(|action| action.finish(&transactions, seen))
    }
}

/// A load's director, which also tells the actions when the measurement begins.
pub struct Announcing<'a> {
    /// The director.
    pub inner: &'a mut dyn Director,
    /// The clock of the actions.
    pub clock: &'a LoadClock<'a>,
}

impl Director for Announcing<'_> {
    fn go(&mut self) -> bool {
        let goes = self.inner.go();
        if goes {
            self.clock.go();
        }
        goes
    }

    fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
        self.inner.look(now).filter(|_| !self.clock.failed.load(Ordering::Relaxed))
    }
}

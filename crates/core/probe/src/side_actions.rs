//! Actions beside a load: each on a thread of its own, from the moment when the measurement begins.

use crate::load_clock::{Divisions, LoadClock, LoadSeen};
use crate::{Action, ProbeError, TrialContext};
use engine::EngineError;
use observations::Observations;
use observe::Clock;
use std::sync::Arc;
use std::thread::{Builder, scope};
use std::time::Duration;
use work::conductor::{Director, LoadProgress};

/// The load's director looks at least this often while an action may want the load to be divided.
const DIVIDE_WITHIN: Duration = Duration::from_millis(10);

/// The actions beside a load.
pub(crate) struct SideActions<'a> {
    actions: Vec<Box<dyn Action + 'a>>,
    clock: LoadClock<'a>,
}

impl<'a> SideActions<'a> {
    /// Makes the actions of a trial ready.
    pub fn prepare(context: &'a TrialContext<'a>, clock: &'a Clock) -> Result<Self, ProbeError> {
        let mut actions = Vec::new();
        for disturbance in context.disturbances {
            actions.extend(disturbance.prepare(context)?);
        }
        Ok(Self { actions, clock: LoadClock::new(clock, context.cancel) })
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// How often the load has been divided.
    pub fn divisions(&self) -> Arc<Divisions> {
        self.clock.divisions().clone()
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
                let spawned = Builder::new().name("beside".into()).spawn_scoped(scope, move || {
                    let result = if clock.has_begun() { action.run(clock) } else { Ok(()) };
                    if result.is_err() {
                        clock.fail();
                    }
                    result
                });
                match spawned {
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

    /// Adds the effects of the actions to the observations. The load's transactions are on the
    /// clock.
    pub fn finish(
        self,
        load: &mut LoadSeen,
        observations: &mut Observations,
    ) -> Result<(), ProbeError> {
        let go_ns = self.clock.go_ns();
        for transaction in &mut load.transactions {
            transaction.due_ns = transaction.due_ns.saturating_sub(go_ns);
            transaction.end_ns = transaction.end_ns.map(|end_ns| end_ns.saturating_sub(go_ns));
        }
        load.transactions.sort_unstable_by_key(|transaction| transaction.due_ns);
        self.actions.into_iter().try_for_each(|action| action.finish(load, observations))
    }
}

/// A load's director, which also tells the actions when the measurement begins.
pub(crate) struct Announcer<'a> {
    /// The director.
    pub inner: &'a mut dyn Director,
    /// The clock of the actions.
    pub clock: &'a LoadClock<'a>,
    /// True if there are any.
    pub has_actions: bool,
}

impl Director for Announcer<'_> {
    fn go(&mut self) -> bool {
        let goes = self.inner.go();
        if goes {
            self.clock.go();
        }
        goes
    }

    fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
        let divisions = self.clock.divisions();
        while divisions.is_wanted() {
            self.inner.divide();
            divisions.note();
        }
        let next = self.inner.look(now).filter(|_| !self.clock.has_failed())?;
        Some(if self.has_actions { next.min(DIVIDE_WITHIN) } else { next })
    }
}

//! The fault, and the take-over by the replica.

use super::settings::{AFTER, BEFORE, CUT, DETECTION, FAULT, Fault, RECOVERY_LIMIT};
use super::writer::Stage;
use engine::{Disturbance, EngineError};
use experiment::Configuration;
use observations::Event;
use probe::TrialContext;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use transport::relay::Relay;

/// Between two looks at the clients.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// When what happened, in nanoseconds of the trial.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Incident {
    /// The fault began.
    pub begun_ns: u64,
    /// It was complete: the server is gone, the link is cut.
    pub complete_ns: u64,
    /// Seconds of the promotion.
    pub promotion_s: Option<f64>,
    /// The replica accepted writes, or the link was there again.
    pub over_ns: u64,
    /// The load ended.
    pub end_ns: u64,
}

/// The director of the fault.
pub struct Director<'a> {
    /// The trial.
    pub context: &'a TrialContext<'a>,
    /// The clients.
    pub stage: &'a Stage<'a>,
    /// The relay between clients and primary, where the link is to be cut.
    pub relay: Option<&'a Relay>,
}

impl Director<'_> {
    /// Lets the clients write, makes the fault, and ends the load.
    ///
    /// # Errors
    /// When the fault or the promotion fails, or the trial is asked to stop.
    pub fn run(&self) -> Result<Incident, EngineError> {
        let happened = self.happen();
        // Also after an error: the clients wait for it.
        self.stage.is_over.store(true, Ordering::SeqCst);
        happened
    }

    fn happen(&self) -> Result<Incident, EngineError> {
        let configuration: &Configuration = self.context.configuration;
        let seconds = |setting| Duration::from_secs_f64(configuration.get(setting));
        let (stage, pair) = (self.stage, self.stage.pair);
        self.await_writes(stage.now_ns(), seconds(RECOVERY_LIMIT))?;
        self.pause(seconds(BEFORE))?;
        let mut incident = Incident { begun_ns: stage.now_ns(), ..Incident::default() };
        match configuration.get(FAULT) {
            Fault::Kill => pair.disturb(Disturbance::Kill)?,
            Fault::Stop => pair.disturb(Disturbance::Freeze)?,
            Fault::Switchover => pair.disturb(Disturbance::ShutDown)?,
            Fault::Cut => self.relay.into_iter().for_each(Relay::cut),
        }
        incident.complete_ns = stage.now_ns();
        match configuration.get(FAULT) {
            Fault::Cut => {
                self.pause(seconds(CUT))?;
                self.relay.into_iter().for_each(Relay::restore);
            }
            fault => {
                if fault != Fault::Switchover {
                    self.pause(seconds(DETECTION))?;
                }
                let started = Instant::now();
                pair.promote()?;
                incident.promotion_s = Some(started.elapsed().as_secs_f64());
                stage.is_taken_over.store(true, Ordering::SeqCst);
            }
        }
        incident.over_ns = stage.now_ns();
        self.await_writes(incident.over_ns, seconds(RECOVERY_LIMIT))?;
        self.pause(seconds(AFTER))?;
        incident.end_ns = stage.now_ns();
        Ok(incident)
    }

    /// Waits until each client has had a write acknowledged since this time, or the limit.
    fn await_writes(&self, since_ns: u64, limit: Duration) -> Result<(), EngineError> {
        let until = Instant::now() + limit;
        while self
            .stage
            .acknowledged
            .iter()
            .any(|time_ns| time_ns.load(Ordering::SeqCst) <= since_ns)
            && Instant::now() < until
        {
            self.pause(LOOK_EVERY)?;
        }
        Ok(())
    }

    fn pause(&self, time: Duration) -> Result<(), EngineError> {
        let until = Instant::now() + time;
        loop {
            if self.context.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(());
            }
            if time > REPORT_EVERY {
                (self.context.progress)(Event::Progress {
                    elapsed_s: self.stage.begun.elapsed().as_secs_f64(),
                    fraction: 0.0,
                    rate: 0.0,
                    unit: "writes/s".into(),
                    latency_p99_ms: None,
                });
            }
            std::thread::sleep(rest.min(REPORT_EVERY));
        }
    }
}

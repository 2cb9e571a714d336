//! The settings that every experiment has, whatever its engine and probe.

use crate::{Kind, settings};

settings! {
    /// The engine under test.
    pub ENGINE: String = "target.engine", Kind::Text => Engine;
    /// The workload of a trial.
    pub PROBE: String = "workload.probe", Kind::Text;
    /// Instrument waits; false shows the cost of instrumentation.
    pub OBSERVE_WAITS: bool = "observe.waits", Kind::Bool, "true";
    /// Length of an interval of the time series.
    pub OBSERVE_INTERVAL: f64 = "observe.interval", Kind::PositiveDuration, "1 s";
    /// Record latencies of insert and script loads (default: true); false shows the cost of
    /// recording.
    pub OBSERVE_LATENCIES: Option<bool> = "observe.latencies", Kind::Bool;
    /// Sample the code on the CPU during the measurement, 99 times per second of CPU time:
    /// Steelbench's own processes and, on this machine, the server's.
    pub OBSERVE_PROFILE: Option<bool> = "observe.profile", Kind::Bool;
    /// Record the command lines of the workload, hooks and volumes (default: true); false: a number
    /// for each, and no comment of the file.
    pub OBSERVE_COMMANDS: Option<bool> = "observe.commands", Kind::Bool;
}

//! The settings that every experiment has, whatever its engine and probe.

use crate::{Kind, settings};

settings! {
    /// The engine under test.
    pub ENGINE: String = "target.engine", Kind::Text => Engine;
    /// What a trial does and measures.
    pub PROBE: String = "workload.probe", Kind::Text;
    /// Whether waits are instrumented. Off shows what instrumenting costs.
    pub OBSERVE_WAITS: bool = "observe.waits", Kind::Bool, "true";
    /// Length of an interval of the time series.
    pub OBSERVE_INTERVAL: f64 = "observe.interval", Kind::PositiveDuration, "1 s";
    /// Whether a load of inserts or scripts records latencies: yes, unless it is false. Off shows
    /// what recording costs.
    pub OBSERVE_LATENCIES: Option<bool> = "observe.latencies", Kind::Bool;
    /// Whether the measurement is sampled 99 times a second of processor time, to see which code it
    /// goes to: the program's own processes and, on this machine, the server's.
    pub OBSERVE_PROFILE: Option<bool> = "observe.profile", Kind::Bool;
}

//! The settings that every experiment has, whatever its engine and probe.

use crate::{Kind, settings};

settings! {
    /// The engine under test.
    pub ENGINE: String = "target.engine", Kind::Text => Engine @Trial;
    /// The workload of a trial.
    pub PROBE: String = "workload.probe", Kind::Text => @Trial;
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
    /// Send the load through Steelbench's relay also without any of the settings below: shows the
    /// cost of the relay. They are named like toxiproxy's toxics.
    pub NETWORK_RELAY: Option<bool> = "network.relay", Kind::Bool;
    /// Delay of each answer of the server: a round trip takes that much longer.
    pub NETWORK_LATENCY: Option<f64> = "network.latency", Kind::Duration;
    /// The delay varies evenly by up to this much in both directions.
    pub NETWORK_JITTER: Option<f64> = "network.jitter", Kind::Duration;
    /// Bytes a second of each connection and direction.
    pub NETWORK_RATE: Option<f64> = "network.rate", Kind::Bandwidth;
    /// Bytes a second in each direction of a link that all connections share: a veth pair between
    /// two network namespaces with tbf. Needs root, ip and tc, and a private server.
    pub NETWORK_BANDWIDTH: Option<f64> = "network.bandwidth", Kind::Bandwidth;
    /// Each connection is reset after this time. Only loads that connect again survive it.
    pub NETWORK_RESET_PEER: Option<f64> = "network.reset_peer", Kind::PositiveDuration;
    /// The end of a connection is passed on after this time.
    pub NETWORK_SLOW_CLOSE: Option<f64> = "network.slow_close", Kind::Duration;
}

use crate::named;
use serde::{Deserialize, Serialize};

/// How the load generator fared: was it, and not the target, the limit?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadHealth {
    /// Share (0 to 1) of the sessions' time spent in the generator's own code.
    pub client_share: f64,
    /// Share (0 to 1) of the sessions' time that a ready thread waited for a processor.
    pub run_delay_share: f64,
    /// Transactions that an open-loop schedule intended.
    pub sends_intended: u64,
    /// Sends that an idle connection started later than 1 ms after the intended time.
    pub sends_missed: u64,
    /// The worst such delay in microseconds.
    pub send_delay_us_max: u64,
    /// Sends that were started later than 1 ms after the intended time because every connection
    /// was busy; `None`: not an open loop, or not counted.
    #[serde(default)]
    pub sends_late: Option<u64>,
    /// Seconds from "go" to the last intended start of an open loop.
    #[serde(default)]
    pub schedule_s: Option<f64>,
    /// The last intended start, in seconds after "go", for which a connection was free: those
    /// after it all had to wait.
    #[serde(default)]
    pub free_until_s: Option<f64>,
}

/// Load of the whole machine during the measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineLoad {
    /// Processors online.
    pub cpus: u32,
    /// Processor seconds that all processes used, interrupts included.
    pub busy_s: f64,
    /// Processor seconds of this process and its children, and of a local server under test.
    pub own_s: f64,
    /// Processor seconds that a hypervisor took away.
    pub steal_s: f64,
    /// Processor seconds idle while I/O was pending.
    pub iowait_s: f64,
}

/// A reason to trust a trial less, or a note that a reader must see beside the figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Kind of the reason.
    pub kind: WarningKind,
    /// A sentence with the figure behind it.
    pub detail: String,
}

named! {
    /// Kinds of [`Warning`]; their names are printed beside a trial.
    #[serde(rename_all = "snake_case")]
    pub enum WarningKind {
        /// The load generator, not the target, was the limit.
        LoadLimited = "load-limited",
        /// Other processes used the machine.
        OtherLoad = "other-load",
        /// A hypervisor took processor time away.
        Steal = "steal",
        /// An open loop asked for more than was done: its latencies grow with the length of the
        /// trial.
        Overloaded = "overloaded",
        /// The declared cache state could not be made or verified.
        CacheState = "cache-state",
        /// The measurement was too short for its figures to be steady.
        Short = "short",
        /// More of the sessions' time than promised is unaccounted for.
        Unaccounted = "unaccounted",
        /// Something could not be observed, for want of rights or because it is on another machine.
        NotObserved = "not-observed",
        /// Something was done in another way than the best one or than was asked for.
        Fallback = "fallback",
        /// Processes that the load started were still there when it had ended.
        LeftBehind = "left-behind",
        /// Some I/O failed: what it belonged to has no figures.
        IoErrors = "io-errors",
        /// The throughput had not settled within the measurement.
        NotSteady = "not-steady",
        /// The engine ran a statement in another way than in the first trial of the configuration.
        OtherPlan = "other-plan",
        /// The kernel's counters of the device do not agree with what the load did.
        DeviceDisagrees = "device-disagrees",
        /// The load generators did not start together, or one worked at another rate.
        Generators = "generators",
    }
}

//! Wait types of the load driver. Engines have their own, which are text.

/// Runnable, waiting for a CPU: run-queue delay that is not part of another wait.
pub const CPU_QUEUE: &str = "CPU_QUEUE";
/// The next start of an open loop is not due.
pub const ARRIVAL: &str = "ARRIVAL";
/// The pause before a failed transaction is tried again.
pub const RETRY_PAUSE: &str = "RETRY_PAUSE";
/// The connection has done its work before the last one has.
pub const CONNECTION_DONE: &str = "CONNECTION_DONE";
/// The time between two runs of a command.
pub const BETWEEN_RUNS: &str = "BETWEEN_RUNS";

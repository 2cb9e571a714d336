//! The settings of the study.

use experiment::{Kind, choice, settings};

choice! {
    /// The fault.
    pub enum Fault {
        /// All processes of the primary are killed (SIGKILL).
        Kill = "kill",
        /// All processes of the primary are stopped (SIGSTOP).
        Stop = "stop",
        /// The link between the clients and the primary is cut for a while.
        Cut = "cut",
        /// The primary is shut down, and the replica takes over.
        Switchover = "switchover",
    }
}

settings! {
    pub(crate) const SETTINGS = [];
    /// The fault: kill (SIGKILL of the primary), stop (SIGSTOP of the primary), cut (the link
    /// between clients and primary, by our relay), switchover (clean shutdown). After all but cut
    /// the replica is promoted.
    pub FAULT: Fault = "workload.fault", Fault::KIND, "kill";
    /// Commits wait for the replica: as target.settings.synchronous_commit says, or
    /// semi-synchronous as target.settings.rpl_semi_sync_master_wait_point says.
    pub SYNCHRONOUS: bool = "workload.synchronous", Kind::Bool, "false" => Durability;
    /// Clients, each with a connection of its own.
    pub CONNECTIONS: u32 =
        "workload.connections", Kind::Count { min: 1, max: 1000 }, "8" => Concurrency;
    /// Writes a second of all clients together. A client that waits for an answer writes later.
    pub RATE: f64 = "workload.rate", Kind::Rate, "800/s";
    /// Time from a kill or stop until the replica is promoted: how long a failure detector takes.
    pub DETECTION: f64 = "workload.detection", Kind::Duration, "1 s";
    /// Time that the link is cut.
    pub CUT: f64 = "workload.cut", Kind::PositiveDuration, "3 s";
    /// A client gives up a write, or a login, that is not answered in this time, and connects
    /// again. It then repeats the write.
    pub CLIENT_TIMEOUT: f64 = "workload.client_timeout", Kind::PositiveDuration, "1 s";
    /// Time of the load before the fault.
    pub BEFORE: f64 = "workload.before", Kind::PositiveDuration, "2 s" => Measurement;
    /// Time of the load after all connections write again.
    pub AFTER: f64 = "workload.after", Kind::PositiveDuration, "2 s" => Measurement;
    /// Longest time from the fault until all connections write again.
    pub RECOVERY_LIMIT: f64 =
        "workload.recovery_limit", Kind::PositiveDuration, "60 s" => Measurement;
}

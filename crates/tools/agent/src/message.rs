//! Messages between coordinator and agents, as JSON. Records of loads are compressed.

use crate::error::AgentError;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use observations::{Environment, MachineLoad, TrialRecord};
use probe::LoadRecord;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// Subject on which free agents say hello.
pub const HELLO: &str = "steelbench.hello";

/// Largest message, compressed and not: a hostile peer must not fill our memory.
pub const BYTES_MAX: usize = 1 << 20;
const UNPACKED_BYTES_MAX: usize = 16 << 20;

/// Subject of the messages to an agent.
pub fn to_agent(id: &str) -> String {
    format!("steelbench.agent.{id}")
}

/// Subject of the messages to the coordinator of a run.
pub fn to_run(run: &str) -> String {
    format!("steelbench.run.{run}")
}

/// Description of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Its random identity, which a new process does not share.
    pub id: String,
    /// Its name in messages and facts.
    pub name: String,
    /// Version of Steelbench.
    pub version: String,
    /// SHA-256 of its program file.
    pub binary: String,
    /// Name of its machine.
    pub host: String,
    /// Number of its process.
    pub pid: u32,
    /// CPUs online.
    pub cpus: u32,
    /// Probes that its owner permits.
    pub allowed: Vec<String>,
}

/// A message of a coordinator.
#[derive(Debug, Serialize, Deserialize)]
pub struct FromCoordinator {
    /// The run that it speaks for.
    pub run: String,
    /// Its content.
    pub word: Word,
}

/// The content of a message of a coordinator.
#[derive(Debug, Serialize, Deserialize)]
pub enum Word {
    /// The agent is to work for this run.
    Claim,
    /// The agent cannot work for this run, for this cause.
    Refuse(String),
    /// The run continues. An agent that hears nothing for some seconds is free again.
    Lease,
    /// Asks for the time.
    Time(u64),
    /// Prepare a part of a trial's load.
    Prepare(Box<Order>),
    /// Let the load of this trial go at this time on the agent's clock.
    Go {
        /// The trial.
        trial: u64,
        /// Nanoseconds on the agent's clock.
        at_ns: u64,
    },
    /// End this trial, whatever its state: the connections may close.
    End(u64),
    /// Run a part of the plan.
    Block(Box<BlockOrder>),
    /// The report of this number on a part of the plan is recorded.
    Accept {
        /// The part.
        trial: u64,
        /// The report.
        number: u64,
    },
    /// The run is over.
    Dismiss,
}

/// A part of a trial's load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// Number of the trial in this session of the run.
    pub trial: u64,
    /// Its experiment, in the broker.
    pub bundle: BundleName,
    /// Key of its configuration.
    pub configuration: String,
    /// Seed of its data.
    pub seed: u64,
    /// Position of this part, from 0, and the number of parts.
    pub index: u32,
    /// See `index`.
    pub parts: u32,
    /// Text by which the engine attaches to the target.
    pub attachment: String,
}

/// A part of the plan, which one machine runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BlockOrder {
    /// Its number, of which no trial of this session has the same.
    pub trial: u64,
    /// The experiment, in the broker.
    pub bundle: BundleName,
    /// SHA-256 of the keys of all configurations: the agent has to have the same.
    pub plan: String,
    /// Numbers of the blocks.
    pub blocks: Vec<u32>,
    /// Positions of the configurations.
    pub configurations: Vec<usize>,
}

/// An experiment in the broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleName {
    /// The stream that holds it.
    pub stream: String,
    /// The subject of its pieces, without their number.
    pub subject: String,
    /// Number of pieces.
    pub pieces: u32,
    /// SHA-256 of the whole.
    pub sha256: String,
}

/// A message of an agent to the coordinator that has claimed it.
#[derive(Debug, Serialize, Deserialize)]
pub struct FromAgent {
    /// The agent's identity.
    pub id: String,
    /// Its content.
    pub reply: Reply,
}

/// The content of a message of an agent.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// It works for this run.
    Claimed(Hello),
    /// It is there; `busy`: a trial is being worked on.
    Alive {
        /// A trial has not ended.
        busy: bool,
    },
    /// The time on its clock.
    Time {
        /// The number of the question.
        number: u64,
        /// Nanoseconds.
        at_ns: u64,
    },
    /// Connected and warmed up, with these sessions on the server.
    Ready {
        /// The trial.
        trial: u64,
        /// The server's numbers of the sessions.
        sessions: Vec<i64>,
    },
    /// Units of work done so far.
    Progress {
        /// The trial.
        trial: u64,
        /// Units.
        done: u64,
        /// 99th percentile of latencies.
        latency_p99_ns: Option<u64>,
    },
    /// Its part is done.
    Done {
        /// The trial.
        trial: u64,
        /// Its record.
        part: Box<DonePart>,
    },
    /// A report on a part of the plan. It is repeated until it is accepted.
    Report {
        /// The part.
        trial: u64,
        /// Number of the report in the part, from 1.
        number: u64,
        /// Its content.
        content: Content,
    },
    /// It cannot do its part.
    Failed {
        /// The trial.
        trial: u64,
        /// The cause.
        cause: String,
    },
}

/// The record of a part of a trial's load.
#[derive(Debug, Serialize, Deserialize)]
pub struct DonePart {
    /// The load; times count from when it was let go.
    pub record: LoadRecord,
    /// Nanoseconds between the common start and that time.
    pub late_ns: u64,
    /// Load of the agent's machine.
    pub machine: MachineLoad,
    /// Bytes that its busiest network interface carried.
    pub network_bytes: Option<u64>,
}

/// The content of a report on a part of the plan.
#[derive(Debug, Serialize, Deserialize)]
pub enum Content {
    /// The machine and its software.
    Environment(Box<Environment>),
    /// A trial that was run.
    Trial(Box<TrialRecord>),
    /// The part is over; with the cause if not all of it could be run.
    Ended(Option<String>),
}

/// Writes a message.
///
/// # Errors
/// When it is larger than [`BYTES_MAX`].
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, AgentError> {
    let unreadable = |cause: String| AgentError::Unreadable { cause };
    let text = serde_json::to_vec(message).map_err(|error| unreadable(error.to_string()))?;
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&text).map_err(|error| unreadable(error.to_string()))?;
    let packed = packed.finish().map_err(|error| unreadable(error.to_string()))?;
    if packed.len() > BYTES_MAX {
        return Err(AgentError::TooLarge { bytes: packed.len(), bytes_max: BYTES_MAX });
    }
    Ok(packed)
}

/// Reads a message.
///
/// # Errors
/// When it is too large, or not one of this protocol.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, AgentError> {
    if bytes.len() > BYTES_MAX {
        return Err(AgentError::TooLarge { bytes: bytes.len(), bytes_max: BYTES_MAX });
    }
    let mut text = Vec::new();
    let unreadable = |cause: String| AgentError::Unreadable { cause };
    ZlibDecoder::new(bytes)
        .take(UNPACKED_BYTES_MAX as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|error| unreadable(error.to_string()))?;
    if text.len() > UNPACKED_BYTES_MAX {
        return Err(AgentError::TooLarge { bytes: text.len(), bytes_max: UNPACKED_BYTES_MAX });
    }
    serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{DonePart, FromAgent, Reply, UNPACKED_BYTES_MAX, decode, encode};
    use crate::error::AgentError;
    use observations::{Histogram, MachineLoad};
    use probe::{Counts, LoadRecord};

    #[test]
    fn a_record_arrives_bucket_by_bucket() {
        let mut latency = Histogram::default();
        (0..100_000_u64).for_each(|value| latency.record(value * value % 700_000_001));
        let counts = Counts { units: 100_000, ..Counts::default() };
        let record = LoadRecord { latency, counts, ..LoadRecord::default() };
        let machine = MachineLoad { cpus: 4, busy_s: 0.1, ..MachineLoad::default() };
        let part = DonePart { record: record.clone(), late_ns: 5, machine, network_bytes: None };
        let reply = Reply::Done { trial: 3, part: Box::new(part) };
        let bytes = encode(&FromAgent { id: "a".into(), reply }).unwrap();
        let FromAgent { reply: Reply::Done { part, .. }, .. } = decode(&bytes).unwrap() else {
            panic!("another reply");
        };
        let arrived = part.record;
        assert!(arrived == record);
        assert!(Vec::from(arrived.latency) == Vec::from(record.latency), "a long list");
    }

    #[test]
    fn a_message_that_grows_without_limit_is_refused() {
        let bomb = encode(&" ".repeat(2 * UNPACKED_BYTES_MAX)).unwrap();
        let refused = decode::<String>(&bomb);
        assert!(matches!(refused, Err(AgentError::TooLarge { .. })), "{refused:?}");
        for bytes in [&b""[..], b"{}", &bomb[..40]] {
            let refused = decode::<FromAgent>(bytes);
            assert!(matches!(refused, Err(AgentError::Unreadable { .. })), "{refused:?}");
        }
    }
}

//! Messages between coordinator and agents: a line of JSON. Results follow theirs, compressed.
//!
//! A message of a hostile peer costs its reader little more than its sender. Each kind has a limit,
//! which is checked before anything is read. Only a result that the coordinator waits for is
//! unpacked.

use crate::error::AgentError;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use observations::MachineLoad;
use probe::LoadRecord;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// Subject on which free agents say hello.
pub(crate) const HELLO: &str = "steelbench.hello";
/// First part of the subjects of messages to agents.
const TO_AGENTS: &str = "steelbench.agent.";

/// Largest message of any kind.
pub const BYTES_MAX: usize = 1 << 20;
/// Largest hello.
const HELLO_BYTES_MAX: usize = 4 << 10;
/// Largest order, and largest reply without its result.
const LINE_BYTES_MAX: usize = 256 << 10;
/// Largest result, unpacked.
const RESULT_BYTES_MAX: usize = 16 << 20;

/// Subject of the messages of a run to an agent; run `*`: of all runs.
pub fn to_agent(id: &str, run: &str) -> String {
    format!("{TO_AGENTS}{id}.{run}")
}

/// Subject of the messages of an agent to the coordinator of a run; agent `*`: of all agents.
pub fn to_run(run: &str, id: &str) -> String {
    format!("steelbench.run.{run}.{id}")
}

/// Returns the sender in the subject of a message to an agent or to a run.
pub(crate) fn sender_of(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or_default()
}

/// Returns the largest payload of messages on a subject.
pub fn bytes_max(subject: &str) -> usize {
    if subject == HELLO {
        HELLO_BYTES_MAX
    } else if subject.starts_with(TO_AGENTS) {
        LINE_BYTES_MAX
    } else {
        BYTES_MAX
    }
}

/// Description of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The random identity, which a new process does not share.
    pub id: String,
    /// The name in messages and facts.
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
    /// The experiment, in the broker.
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
pub(crate) struct BlockOrder {
    /// The number, of which no trial of this session has the same.
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
pub(crate) struct BundleName {
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
pub(crate) enum Reply {
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
    /// The part is done. A [`DonePart`] follows.
    Done {
        /// The trial.
        trial: u64,
        /// Bytes of the result, unpacked.
        bytes: usize,
    },
    /// A report on a part of the plan, repeated until it is accepted. A
    /// [`runner::ReportContent`] follows.
    Report {
        /// The part.
        trial: u64,
        /// Number of the report in the part, from 1.
        number: u64,
        /// Bytes of the result, unpacked.
        bytes: usize,
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
pub(crate) struct DonePart {
    /// The load; times count from when it was let go.
    pub record: LoadRecord,
    /// Nanoseconds between the common start and that time.
    pub late_ns: u64,
    /// Load of the agent's machine.
    pub machine: MachineLoad,
    /// Bytes that its busiest network interface carried.
    pub network_bytes: Option<u64>,
}

/// Writes a hello.
///
/// # Errors
/// When it is too large.
pub(crate) fn encode_hello(hello: &Hello) -> Result<Vec<u8>, AgentError> {
    line(hello, HELLO_BYTES_MAX)
}

/// Writes a message of a coordinator.
///
/// # Errors
/// When it is too large.
pub(crate) fn encode_word(word: &Word) -> Result<Vec<u8>, AgentError> {
    line(word, LINE_BYTES_MAX)
}

/// Writes a message of an agent that has no result.
///
/// # Errors
/// When it is too large.
pub(crate) fn encode_reply(reply: &Reply) -> Result<Vec<u8>, AgentError> {
    line(reply, LINE_BYTES_MAX)
}

/// Writes a result and the reply that announces its length.
///
/// # Errors
/// When it is too large.
pub(crate) fn encode_result(
    result: &impl Serialize,
    reply: impl FnOnce(usize) -> Reply,
) -> Result<Vec<u8>, AgentError> {
    let text = line(result, RESULT_BYTES_MAX)?;
    let mut message = encode_reply(&reply(text.len()))?;
    message.push(b'\n');
    let mut packed = ZlibEncoder::new(message, Compression::fast());
    packed.write_all(&text).map_err(|error| unreadable(&error))?;
    let message = packed.finish().map_err(|error| unreadable(&error))?;
    within(message.len(), BYTES_MAX)?;
    Ok(message)
}

fn line(message: &impl Serialize, bytes_max: usize) -> Result<Vec<u8>, AgentError> {
    let text = serde_json::to_vec(message).map_err(|error| unreadable(&error))?;
    within(text.len(), bytes_max)?;
    Ok(text)
}

fn within(bytes: usize, bytes_max: usize) -> Result<(), AgentError> {
    if bytes > bytes_max { Err(AgentError::TooLarge { bytes, bytes_max }) } else { Ok(()) }
}

fn unreadable(error: &dyn std::fmt::Display) -> AgentError {
    AgentError::Unreadable { cause: error.to_string() }
}

/// Reads a hello or a message of a coordinator.
///
/// # Errors
/// When it is not one of this protocol.
pub fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, AgentError> {
    serde_json::from_slice(payload).map_err(|error| unreadable(&error))
}

/// Reads a message of an agent. Its result remains packed.
///
/// # Errors
/// When it is too large, or not one of this protocol.
pub(crate) fn decode_reply(payload: &[u8]) -> Result<(Reply, &[u8]), AgentError> {
    let end = payload.iter().position(|byte| *byte == b'\n').unwrap_or(payload.len());
    within(end, LINE_BYTES_MAX)?;
    Ok((decode(&payload[..end])?, payload.get(end + 1..).unwrap_or_default()))
}

/// Unpacks a result of this length, and no byte more.
///
/// # Errors
/// When it is too large, longer than announced, or not one of this protocol.
pub fn unpack<T: DeserializeOwned>(packed: &[u8], bytes: usize) -> Result<T, AgentError> {
    within(bytes, RESULT_BYTES_MAX)?;
    let mut text = Vec::with_capacity(bytes + 1);
    let mut unpacking = ZlibDecoder::new(packed).take(bytes as u64 + 1);
    unpacking.read_to_end(&mut text).map_err(|error| unreadable(&error))?;
    within(text.len(), bytes)?;
    decode(&text)
}

#[cfg(test)]
mod tests {
    use super::{
        BYTES_MAX, Compression, DonePart, HELLO, Hello, LINE_BYTES_MAX, RESULT_BYTES_MAX, Reply,
        Word, Write, ZlibEncoder, bytes_max, decode, decode_reply, encode_hello, encode_result,
        encode_word, sender_of, to_agent, to_run, unpack,
    };
    use crate::error::AgentError;
    use observations::{Histogram, MachineLoad};
    use probe::{Counts, LoadRecord};

    fn done(bytes: usize) -> Reply {
        Reply::Done { trial: 3, bytes }
    }

    #[test]
    fn a_record_arrives_bucket_by_bucket() {
        let mut latency = Histogram::default();
        (0..100_000_u64).for_each(|value| latency.record(value * value % 700_000_001));
        let counts = Counts { units: 100_000, ..Counts::default() };
        let record = LoadRecord { latency, counts, ..LoadRecord::default() };
        let machine = MachineLoad { cpus: 4, busy_s: 0.1, ..MachineLoad::default() };
        let part = DonePart { record: record.clone(), late_ns: 5, machine, network_bytes: None };
        let message = encode_result(&part, done).unwrap();
        let (Reply::Done { trial: 3, bytes }, packed) = decode_reply(&message).unwrap() else {
            panic!("another reply");
        };
        let arrived = unpack::<DonePart>(packed, bytes).unwrap().record;
        assert!(arrived == record);
        assert!(Vec::from(arrived.latency) == Vec::from(record.latency), "a long list");
    }

    #[test]
    fn a_result_is_unpacked_up_to_the_length_that_it_announces() {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&vec![b' '; 4 * RESULT_BYTES_MAX]).unwrap();
        let bomb = packed.finish().unwrap();
        assert!(bomb.len() < BYTES_MAX);
        let read = |announced: usize| match unpack::<DonePart>(&bomb, announced) {
            Err(AgentError::TooLarge { bytes, bytes_max }) => (bytes, bytes_max),
            other => panic!("{announced} bytes: {other:?}"),
        };
        for announced in [0, 1, 1000] {
            assert_eq!(read(announced), (announced + 1, announced));
        }
        // Not unpacked at all.
        for announced in [RESULT_BYTES_MAX + 1, usize::MAX] {
            assert_eq!(read(announced), (announced, RESULT_BYTES_MAX));
        }
    }

    #[test]
    fn each_kind_of_message_has_its_limit() {
        let (agent, run) = (to_agent("a", "r"), to_run("r", "a"));
        assert_eq!((sender_of(&agent), sender_of(&run)), ("r", "a"));
        assert!(bytes_max(HELLO) < bytes_max(&agent) && bytes_max(&agent) < bytes_max(&run));
        let long = |bytes: usize| "a".repeat(bytes);
        let too_large = |encoded: Result<Vec<u8>, AgentError>| {
            matches!(encoded, Err(AgentError::TooLarge { .. }))
        };
        let hello = Hello { name: long(bytes_max(HELLO)), ..Hello::default() };
        assert!(too_large(encode_hello(&hello)));
        assert!(too_large(encode_word(&Word::Refuse(long(bytes_max(&agent))))));
        assert!(too_large(encode_result(&long(RESULT_BYTES_MAX), done)));
        let brackets = vec![b'['; LINE_BYTES_MAX + 1];
        let reply = decode_reply(&brackets);
        assert!(matches!(reply, Err(AgentError::TooLarge { .. })), "{reply:?}");
    }

    #[test]
    fn rubbish_is_refused() {
        let brackets = "[".repeat(LINE_BYTES_MAX);
        for payload in [&b""[..], b"{}", b"\n", b"\"Alive\"\n", brackets.as_bytes()] {
            let reply = decode_reply(payload);
            assert!(matches!(reply, Err(AgentError::Unreadable { .. })), "{reply:?}");
            let word = decode::<Word>(payload);
            assert!(matches!(word, Err(AgentError::Unreadable { .. })), "{word:?}");
        }
        let cut = &encode_result(&"text", done).unwrap();
        let (_, packed) = decode_reply(cut).unwrap();
        let result = unpack::<String>(&packed[..packed.len() / 2], 6);
        assert!(matches!(result, Err(AgentError::Unreadable { .. })), "{result:?}");
    }
}

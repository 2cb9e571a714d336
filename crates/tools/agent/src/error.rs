//! Failures of brokers and agents.

use engine::EngineError;
use probe::ProbeError;
use std::path::PathBuf;

/// Why agents cannot work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentError {
    /// No broker answers.
    #[error("no broker answers at {url} ({cause}); start nats-server there, or correct --broker")]
    Unreachable {
        /// The URL.
        url: String,
        /// The client's words.
        cause: String,
    },
    /// The broker refuses the token.
    #[error("the broker at {url} refuses the token; --token-file needs the broker's token")]
    Refused {
        /// The URL.
        url: String,
    },
    /// The broker has no `JetStream`, which holds the experiment for the agents.
    #[error(
        "the broker has no JetStream ({cause}); enable it (`jetstream {{}}` in its configuration, \
         or nats-server -js)"
    )]
    NoJetStream {
        /// The broker's answer.
        cause: String,
    },
    /// The broker did not answer a request.
    #[error("the broker did not answer while {doing}: {cause}")]
    NoAnswer {
        /// The request.
        doing: &'static str,
        /// The client's words.
        cause: String,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}{advice}")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        source: std::io::Error,
        /// The remedy, with the sign before it.
        advice: &'static str,
    },
    /// The private broker ended.
    #[error("the private broker ended: {log}")]
    BrokerEnded {
        /// The end of its log.
        log: String,
    },
    /// A file cannot be used.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Other users can read the token.
    #[error("{path}: other users can read this token; use `chmod 600 {path}`")]
    OpenToken {
        /// The file.
        path: PathBuf,
    },
    /// A token has no characters, or some that no token has.
    #[error("{path}: no token in the first line; use at least 16 printable characters")]
    NoToken {
        /// The file.
        path: PathBuf,
    },
    /// A message is larger than the broker takes, or than is accepted.
    #[error("a message of {bytes} bytes is larger than the limit of {bytes_max} bytes")]
    TooLarge {
        /// The length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// A message is not one of this protocol.
    #[error("a message is not readable: {cause}")]
    Unreadable {
        /// The cause.
        cause: String,
    },
    /// The bundle in the broker is not the one that the order names.
    #[error("the experiment in the broker is damaged")]
    DamagedBundle,
    /// An agent lacks what a trial needs, or may not run it.
    #[error("{0}")]
    Order(String),
    /// The target of a part of a load.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The load of a part.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// An agent failed in a trial.
    #[error("load generator {agent}: {cause}")]
    Failed {
        /// The name.
        agent: String,
        /// The words.
        cause: String,
    },
    /// Too few agents said hello, or were admitted.
    #[error(
        "{there} of {needed} agents are there after {after_s} s{}{}; start `steelbench agent` on \
         their machines",
        if refused.is_empty() { "" } else { "; refused: " },
        refused.join("; ")
    )]
    TooFew {
        /// Agents that are free.
        there: usize,
        /// Agents that the trial or the run needs.
        needed: usize,
        /// Seconds that the run has waited (`--agents-within`).
        after_s: u64,
        /// Why each other agent was refused.
        refused: Vec<String>,
    },
    /// An agent has not been heard of.
    #[error(
        "load generator {agent} was lost: its process ended, or nothing was heard of it for \
         {silence_s} s"
    )]
    Lost {
        /// The name.
        agent: String,
        /// The time after which it counts as lost.
        silence_s: u64,
    },
}

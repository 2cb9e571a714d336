//! A client: journals a write, sends it until it is acknowledged, and connects again when its
//! connection is lost.

use super::journal::Journal;
use crate::node_session::NodeSession;
use crate::pair::{Node, Pair};
use engine::EngineError;
use observations::redacted_message;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use work::Cancel;

/// Between two attempts to connect.
const CONNECT_AGAIN: Duration = Duration::from_millis(10);
/// Characters of a message that distinguish kinds of errors.
const KIND_MAX: usize = 100;

/// The table of the writes.
pub const CREATE: &str = "CREATE TABLE failover (writer int NOT NULL, number bigint NOT NULL)";

/// The parts that all clients share.
pub struct Stage<'a> {
    /// The servers.
    pub pair: &'a Pair<'a>,
    /// The beginning of the trial's time.
    pub begun: Instant,
    /// True once the replica is the server to write to.
    pub is_taken_over: AtomicBool,
    /// Clients reach the primary through the relay.
    pub is_relayed: bool,
    /// The time for an answer.
    pub timeout: Duration,
    /// Between the writes of a client.
    pub every: Duration,
    /// The load is over.
    pub is_over: AtomicBool,
    /// Stop request of the trial.
    pub cancel: &'a Cancel,
    /// When each client's last write was acknowledged, in nanoseconds; 0: none was.
    pub acknowledged: Vec<AtomicU64>,
}

impl Stage<'_> {
    /// Nanoseconds of the trial until now.
    pub fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    /// Returns whether clients are to end.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }

    fn connect(&self) -> Result<NodeSession, EngineError> {
        let session = if self.is_taken_over.load(Ordering::SeqCst) {
            self.pair.connect(Node::Replica, false, self.timeout)
        } else {
            self.pair.connect(Node::Primary, self.is_relayed, self.timeout)
        };
        session.map(NodeSession::new)
    }
}

/// The writes of a client, and the errors that it saw.
#[derive(Debug, Default)]
pub(crate) struct WriteLog {
    /// The writes.
    pub journal: Journal,
    /// Errors by kind.
    pub errors: BTreeMap<String, u64>,
}

/// Writes until the load is over.
pub fn write(stage: &Stage<'_>, writer: usize) -> WriteLog {
    let mut client = Client { stage, session: None, errors: BTreeMap::new() };
    let mut journal = Journal::default();
    // Clients do not write at the same moment.
    let offset = stage.every.mul_f64(writer as f64 / stage.acknowledged.len() as f64);
    let mut due = Instant::now() + offset;
    loop {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if stage.is_over() {
            return WriteLog { journal, errors: client.errors };
        }
        let number = journal.add(stage.now_ns());
        let sql = format!("INSERT INTO failover VALUES ({writer}, {number})");
        // A write that was begun has one attempt also when the load ends now.
        loop {
            if client.attempt(&sql) {
                let now = stage.now_ns();
                journal.acknowledge(number, now);
                stage.acknowledged[writer].store(now, Ordering::SeqCst);
                break;
            }
            if stage.is_over() {
                break;
            }
        }
        due = (due + stage.every).max(Instant::now());
    }
}

struct Client<'a> {
    stage: &'a Stage<'a>,
    session: Option<NodeSession>,
    errors: BTreeMap<String, u64>,
}

impl Client<'_> {
    /// Sends a write once. Returns whether it was acknowledged.
    fn attempt(&mut self, sql: &str) -> bool {
        if self.session.is_none() {
            let Ok(session) = self.stage.connect() else {
                self.count("connecting failed".to_owned());
                std::thread::sleep(CONNECT_AGAIN);
                return false;
            };
            self.session = Some(session);
        }
        let result = self.request(sql);
        let is_acknowledged = matches!(result, Ok(true));
        if !is_acknowledged {
            // The outcome is not known: the next attempt is on a new connection.
            self.session = None;
            self.count(match result {
                Ok(_) => format!("no answer in {} s", self.stage.timeout.as_secs_f64()),
                Err(error) => kind(&error),
            });
        }
        is_acknowledged
    }

    /// Sends a request and waits for its answer; `false`: none came in time.
    fn request(&mut self, sql: &str) -> Result<bool, EngineError> {
        let Some(session) = &mut self.session else { return Ok(false) };
        Ok(session.run(sql, self.stage.timeout)?.is_some())
    }

    fn count(&mut self, kind: String) {
        *self.errors.entry(kind).or_default() += 1;
    }
}

/// The kind of an error: the server's words, or that the connection was lost.
fn kind(error: &EngineError) -> String {
    // Before it is cut: what is left of a secret could not be recognised.
    let text = redacted_message(&error.to_string());
    if text.contains("lost the connection") {
        return "connection lost".to_owned();
    }
    let words = text.split_once(": ").map_or(text.as_str(), |(_, words)| words);
    words.chars().take(KIND_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::kind;
    use engine::EngineError;

    #[test]
    fn errors_have_kinds() {
        let doing = "running a transaction";
        let lost = EngineError::failed(doing, "lost the connection to the server: reset by peer");
        assert_eq!(kind(&lost), "connection lost");
        let text = "FATAL: terminating connection due to administrator command (SQLSTATE 57P01)";
        assert_eq!(kind(&EngineError::failed(doing, text)), text);
    }
}

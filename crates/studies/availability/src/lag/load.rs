//! The threads of a trial: writers, the heartbeat, and the looks at the replica.

use super::heartbeat::Look;
use crate::node_session::NodeSession;
use crate::pair::{Node, Pair};
use engine::EngineError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use work::Cancel;

/// Between two heartbeats, and between two looks at the replica.
pub(crate) const BEAT_EVERY: Duration = Duration::from_millis(10);
/// Between two comparisons of log positions.
const COMPARE_EVERY: Duration = Duration::from_millis(50);
/// The time for an answer.
const ANSWER: Duration = Duration::from_secs(30);

/// The tables of the study.
pub const CREATE: [&str; 3] = [
    "CREATE TABLE lag_beat (number bigint NOT NULL)",
    "INSERT INTO lag_beat VALUES (0)",
    "CREATE TABLE lag_rows (writer int NOT NULL, number bigint NOT NULL, filler text)",
];
const LAST_BEAT: &str = "SELECT number FROM lag_beat";

/// The parts that all threads share.
pub struct Stage<'a> {
    /// The servers.
    pub pair: &'a Pair<'a>,
    /// The beginning of the trial's time.
    pub begun: Instant,
    /// The load is over.
    pub is_over: AtomicBool,
    /// Stop request of the trial.
    pub cancel: &'a Cancel,
}

/// The pace of a writer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Number of the writer.
    pub writer: usize,
    /// Between two writes.
    pub every: Duration,
    /// Bytes of the text of a row.
    pub row_bytes: usize,
}

impl Stage<'_> {
    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    fn session(&self, node: Node) -> Result<NodeSession, EngineError> {
        Ok(NodeSession::new(self.pair.connect(node, false, ANSWER)?))
    }

    /// Does something again and again, at this interval, until the load is over. One that takes
    /// longer is not made up for.
    fn every(
        &self,
        interval: Duration,
        mut step: impl FnMut() -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut due = Instant::now();
        while !self.is_over.load(Ordering::Relaxed) {
            if self.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            step().inspect_err(|_| self.is_over.store(true, Ordering::Relaxed))?;
            due = (due + interval).max(Instant::now());
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        Ok(())
    }
}

fn run(session: &mut NodeSession, sql: &str) -> Result<(), EngineError> {
    let answer = session.run(sql, ANSWER)?;
    answer.map(drop).ok_or_else(|| EngineError::failed(sql, "no answer"))
}

/// Writes rows at a pace. Returns when each was acknowledged.
pub fn write(stage: &Stage<'_>, pace: Pace) -> Result<Vec<u64>, EngineError> {
    let mut session = stage.session(Node::Primary)?;
    let (mut acknowledged, filler) = (Vec::new(), "x".repeat(pace.row_bytes));
    stage.every(pace.every, || {
        let (writer, number) = (pace.writer, acknowledged.len());
        let sql = format!("INSERT INTO lag_rows VALUES ({writer}, {number}, '{filler}')");
        run(&mut session, &sql)?;
        acknowledged.push(stage.now_ns());
        Ok(())
    })?;
    Ok(acknowledged)
}

/// Commits heartbeats. Returns when each was acknowledged.
pub fn beat(stage: &Stage<'_>) -> Result<Vec<u64>, EngineError> {
    let mut session = stage.session(Node::Primary)?;
    let mut committed = Vec::new();
    stage.every(BEAT_EVERY, || {
        let number = committed.len() + 1;
        run(&mut session, &format!("UPDATE lag_beat SET number = {number}"))?;
        committed.push(stage.now_ns());
        Ok(())
    })?;
    Ok(committed)
}

/// Looks which heartbeat the replica has.
pub fn look(stage: &Stage<'_>) -> Result<Vec<Look>, EngineError> {
    let mut session = stage.session(Node::Replica)?;
    let mut looks = Vec::new();
    stage.every(BEAT_EVERY, || {
        let sent_ns = stage.now_ns();
        let number = session.number(LAST_BEAT, ANSWER)? as u64;
        looks.push(Look { sent_ns, beat: number });
        Ok(())
    })?;
    Ok(looks)
}

/// Compares log positions. Returns the bytes behind with their time; nothing while the positions
/// are in different files.
pub fn compare(stage: &Stage<'_>) -> Result<Vec<(u64, f64)>, EngineError> {
    let mut primary = stage.session(Node::Primary)?;
    let mut replica = stage.session(Node::Replica)?;
    let mut behind = Vec::new();
    stage.every(COMPARE_EVERY, || {
        let at = stage.now_ns();
        let written = stage.pair.replication.written.read(&mut primary, ANSWER)?;
        // Read later: what is applied in between makes the difference smaller, never larger.
        let applied = stage.pair.replication.applied.read(&mut replica, ANSWER)?;
        if written.file == applied.file {
            behind.push((at, (written.bytes - applied.bytes).max(0.0)));
        }
        Ok(())
    })?;
    Ok(behind)
}

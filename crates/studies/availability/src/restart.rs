//! The probe: a trial writes until the last checkpoint is far enough back, kills the server, and
//! times its start until it answers a query.

use crate::node_session::NodeSession;
use crate::pair::{Node, Pair};
use crate::replication;
use ::probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use engine::{Ability, Disturbance, EngineError};
use experiment::common::{ENGINE, PROBE};
use experiment::{Configuration, Invalid, Kind, settings};
use observations::{FactName, Observations, Response, Work};
use observe::MachineMonitor;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The restart probe.
#[derive(Debug, Clone, Copy)]
pub struct Restart;

settings! {
    const SETTINGS = [];
    /// Bytes of log since the last checkpoint at which the server is killed, at least.
    pub DISTANCE: u64 =
        "workload.distance", Kind::Size { min: 0, max: 1 << 40 }, "32 MiB" => DataIdentity;
    /// Rows of a transaction that writes log.
    pub ROWS: u32 =
        "workload.rows_per_transaction", Kind::Count { min: 1, max: 10_000 }, "100" => DataIdentity;
}

/// Bytes of log since the last checkpoint when the server was killed.
pub const CHECKPOINT_DISTANCE: FactName = FactName::new("checkpoint_distance", "bytes");
/// Rows that were committed before the kill.
pub const COMMITTED: FactName = FactName::new("committed", "rows");
/// Rows that the server has after its recovery.
pub const PRESENT: FactName = FactName::new("present", "rows");

/// The time for the answer to a statement.
const ANSWER: Duration = Duration::from_secs(60);
/// Bytes of the text of a row.
const ROW_BYTES: usize = 1000;
/// Log that is written in addition to the distance before the study gives up: the server makes
/// checkpoints by itself.
const WRITTEN_MAX: u64 = 4;
/// Bytes of rows between two looks at the distance.
const LOOK_EVERY: u64 = 1 << 20;

impl Probe for Restart {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("restart", SETTINGS) }
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let is_supported = replication::for_engine(&configuration.get(ENGINE)).is_some();
        if !is_supported || !target.abilities.contains(&Ability::Statements) {
            let message = "this engine has no private servers to kill; use postgres or mariadb";
            return vec![Invalid::new(PROBE.path(), message)];
        }
        let by_url = configuration.value("target.url").is_some();
        let message = "the study kills its server: it needs a private one; remove target.url";
        by_url.then(|| Invalid::new("target.url", message)).into_iter().collect()
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let pair = replication::pair(context, "kills: it has no private server")?;
        pair.ask(Node::Primary, CREATE)?;
        // A clean shutdown ends with a checkpoint.
        pair.disturb(Disturbance::ShutDown)?;
        pair.start()?;
        let begun = Instant::now();
        let machine = MachineMonitor::start_with_servers();
        let filled = fill(context, &pair)?;
        pair.disturb(Disturbance::Kill)?;
        let killed = Instant::now();
        pair.start()?;
        let count = pair.ask(Node::Primary, COUNT)?;
        let recovery_s = killed.elapsed().as_secs_f64();
        let machine = machine.stop();
        let present = count.cell().and_then(|cell| cell.parse::<f64>().ok());
        let elapsed_s = begun.elapsed().as_secs_f64();
        let lost = present.map(|present| (filled.rows as f64 - present).max(0.0));
        let mut facts =
            vec![CHECKPOINT_DISTANCE.record(filled.distance), COMMITTED.record(filled.rows as f64)];
        facts.extend(present.map(|present| PRESENT.record(present)));
        let mut responses = vec![Response::lower("recovery", "s", recovery_s)];
        responses
            .extend(lost.map(|lost| Response::lower("lost_rows", "rows", lost).in_steps_of(1.0)));
        Ok(Observations {
            elapsed_s,
            connections: 1,
            work: Work {
                unit: "row".into(),
                amount: filled.rows,
                transactions: filled.rows / u64::from(context.configuration.get(ROWS)),
                ..Work::default()
            },
            responses,
            facts,
            machine,
            ..Observations::default()
        })
    }
}

const CREATE: &str = "CREATE TABLE restart_rows (id bigint NOT NULL, filler text)";
const COUNT: &str = "SELECT count(*) FROM restart_rows";

/// The writes that were acknowledged.
struct FillCount {
    rows: u64,
    distance: f64,
}

/// Writes before the kill until the log since the last checkpoint is long enough.
fn fill(context: &TrialContext<'_>, pair: &Pair<'_>) -> Result<FillCount, EngineError> {
    let configuration = context.configuration;
    let distance = configuration.get(DISTANCE);
    let each = u64::from(configuration.get(ROWS));
    let mut session = NodeSession::new(pair.connect(Node::Primary, false, ANSWER)?);
    let mut filled = FillCount { rows: 0, distance: 0.0 };
    let mut since_look = u64::MAX;
    loop {
        if context.cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        if since_look >= LOOK_EVERY.min(distance / 8) {
            filled.distance = session.number(pair.replication.since_checkpoint, ANSWER)?;
            if filled.distance >= distance as f64 {
                return Ok(filled);
            }
            since_look = 0;
        }
        if filled.rows * ROW_BYTES as u64 > WRITTEN_MAX * distance.max(LOOK_EVERY) {
            let message = format!(
                "the last checkpoint is {} bytes back after {} bytes of rows: the server makes \
                 checkpoints before {distance} bytes; allow more log between checkpoints \
                 (max_wal_size and checkpoint_timeout, innodb_log_file_size)",
                filled.distance,
                filled.rows * ROW_BYTES as u64,
            );
            return Err(EngineError::failed("writing log", message));
        }
        let sql = insert(filled.rows, each);
        if session.run(&sql, ANSWER)?.is_none() {
            return Err(EngineError::failed("writing log", "no answer"));
        }
        filled.rows += each;
        since_look = since_look.saturating_add(each * ROW_BYTES as u64);
    }
}

/// A statement that inserts rows from this number on.
fn insert(first: u64, rows: u64) -> String {
    let mut sql = String::from("INSERT INTO restart_rows VALUES ");
    for row in first..first + rows {
        let comma = if row > first { "," } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(sql, "{comma}({row},'{row:x>ROW_BYTES$}')");
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::{ROW_BYTES, insert};

    #[test]
    fn rows_have_their_number_and_size() {
        let sql = insert(7, 2);
        assert!(sql.starts_with("INSERT INTO restart_rows VALUES (7,'xxx"));
        assert!(sql.ends_with("xx8')"));
        assert_eq!(sql.matches('\'').count(), 4);
        assert!(sql.len() > 2 * ROW_BYTES && sql.len() < 2 * ROW_BYTES + 60);
    }
}

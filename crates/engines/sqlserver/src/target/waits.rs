//! Waits of a trial's sessions: differences of the server's own counters of these sessions
//! (`sys.dm_exec_session_wait_stats`), or without those of the whole server; and sampled resources.

use super::database::Database;
use super::failures::failed_at;
use super::load::Sessions;
use crate::BETWEEN_REQUESTS;
use crate::live::client::Client;
use crate::live::delta::{Delta, DeltaError, delta};
use crate::live::reading::without_benign;
use crate::live::sampler::Sampler;
use crate::live::samples::{Samples, name_pages};
use crate::live::views;
use engine::view::{NotShown, ViewRows, shown};
use engine::{
    Collection, EngineError, EngineUse, PageUse, Result, Row, Rows, View, WaitCollector, lock,
};
use observations::{Operation, TimeUse, Wait, WaitClass};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Samples a second of what the sessions wait for: few, because the load shares the server with
/// them.
const HZ: f64 = 5.0;

/// The operation, for errors of the server.
const DOING: &str = "observing the server's waits";

/// Takes the differences of the server's counters over a measurement, and samples what its sessions
/// wait for.
pub struct MssqlCollector {
    database: Arc<Database>,
    sessions: Arc<Sessions>,
    running: Option<(Client, Reading, Sampler)>,
}

/// The server's counters at a moment.
struct Reading {
    at: Instant,
    in_flight_ns: u64,
    started: ViewRows,
    of_sessions: ViewRows,
    /// Read where there is nothing about the sessions.
    of_server: Option<ViewRows>,
    used: ViewRows,
    files: ViewRows,
}

impl MssqlCollector {
    /// A collector for the sessions of a load.
    pub fn new(database: Arc<Database>, sessions: Arc<Sessions>) -> Self {
        Self { database, sessions, running: None }
    }

    fn connect(&self) -> Result<Client> {
        let mut client = self.database.connect()?;
        client.query(views::SESSION).map_err(failed_at("preparing the connection"))?;
        Ok(client)
    }

    /// The numbers of the load's sessions in a list; of none, NULL, which nothing is.
    fn ids(&self) -> String {
        let ids: Vec<String> = lock(&self.sessions.ids).iter().map(i32::to_string).collect();
        if ids.is_empty() { "NULL".to_owned() } else { ids.join(", ") }
    }

    fn read(&self, client: &mut Client) -> Result<Reading> {
        let ids = self.ids();
        let mut read = |view: &View| client.view(view).map_err(failed_at(DOING));
        let (started, files) = (read(&views::STARTED)?, read(&views::OWN_IO)?);
        let mut of =
            |name: &str, sql: &str| shown(name, client.query(sql)).map_err(failed_at(DOING));
        let mut used = of("sys.dm_exec_sessions", &views::session_use(&ids))?;
        let mut of_sessions = of("sys.dm_exec_session_wait_stats", &views::session_waits(&ids))?;
        if let Some(hidden) = hidden(&used, lock(&self.sessions.ids).len()) {
            used = Err(hidden.clone());
            of_sessions = of_sessions.and(Err(hidden));
        }
        let mut of_server = None;
        if of_sessions.is_err() {
            of_server = Some(of(views::WAITS.name, &views::WAITS.sql())?);
        }
        let in_flight_ns = self.sessions.in_flight_ns.load(Ordering::Relaxed);
        Ok(Reading {
            at: Instant::now(),
            in_flight_ns,
            started,
            of_sessions,
            of_server,
            used,
            files,
        })
    }
}

impl WaitCollector for MssqlCollector {
    fn start(&mut self) -> Result<()> {
        let (mut client, sampling) = (self.connect()?, self.connect()?);
        let sampler = Sampler::start(sampling, views::requests_of(&self.ids()), HZ);
        let sampler = sampler.map_err(|error| EngineError::failed(DOING, error))?;
        let before = self.read(&mut client)?;
        // What was seen before belongs to no measurement.
        sampler.take();
        self.running = Some((client, before, sampler));
        Ok(())
    }

    fn stop(&mut self) -> Result<Collection> {
        let Some((mut client, before, sampler)) = self.running.take() else {
            return Err(EngineError::failed(DOING, "the observer is not running"));
        };
        let (after, samples) = (self.read(&mut client)?, sampler.take());
        let mut collected = before.until(&after, lock(&self.sessions.ids).len());
        met(&mut client, &samples, &mut collected);
        collected.lost.extend(self.database.unseen());
        Ok(collected)
    }
}

/// Adds what the sessions were sampled to wait for.
fn met(client: &mut Client, samples: &Samples, collected: &mut Collection) {
    collected.resources = samples.resources();
    let unseen = samples.failed.as_ref().map(|why| format!("Sampled waits of sessions: {why}."));
    collected.lost.extend(unseen);
    collected.lost.extend(name_pages(client, &mut collected.resources));
}

impl Reading {
    /// Returns the waits and use of the sessions from this reading to `after`.
    fn until(&self, after: &Self, sessions: usize) -> Collection {
        let mut collected = Collection::default();
        if let Err(why) = &self.started {
            collected.lost.push(format!("Server restarts: {why}."));
        }
        self.waits(after, &mut collected);
        let session_s = sessions as f64 * after.at.duration_since(self.at).as_secs_f64();
        let in_flight_s = after.in_flight_ns.saturating_sub(self.in_flight_ns) as f64 / 1e9;
        let between_s = (session_s - in_flight_s).max(0.0);
        let between = Wait::counted(BETWEEN_REQUESTS, WaitClass::Client, 0, between_s, 0.0);
        collected.waits.extend(between.map(|wait| Wait { count: None, ..wait }));
        let mut time = TimeUse { session_s, ..TimeUse::default() };
        match (&self.used, &after.used) {
            (Ok(before), Ok(now)) => {
                if let Some(cpu_ms) = rise(before.first(), now.first(), "cpu_ms") {
                    time.cpu_s = cpu_ms as f64 / 1e3;
                } else {
                    collected
                        .lost
                        .push("CPU time of sessions: the server does not count it.".into());
                }
                let rise = |column| rise(before.first(), now.first(), column);
                let pages = rise("logical_reads")
                    .zip(rise("page_reads"))
                    .map(|(all, reads)| PageUse { hits: all.saturating_sub(reads), reads });
                collected.used = EngineUse { pages, ..EngineUse::default() };
            }
            (Err(why), _) | (_, Err(why)) => {
                collected.lost.push(format!("CPU time of sessions: {why}."));
            }
        }
        collected.time = Some(time);
        match (&self.files, &after.files) {
            (Ok(before), Ok(now)) => match operations(before, now) {
                Some(operations) => collected.operations = operations,
                None => collected.lost.push(
                    "Reads and writes of database files: the counters were reset during the \
                     measurement."
                        .into(),
                ),
            },
            (Err(why), _) | (_, Err(why)) => {
                collected.lost.push(format!("Reads and writes of database files: {why}."));
            }
        }
        collected
    }

    /// The waits of the sessions; where there is nothing about these, those of the whole server
    /// without benign ones.
    fn waits(&self, after: &Self, collected: &mut Collection) {
        let difference = |before: &ViewRows, now: &ViewRows| -> Result<Delta, DeltaError> {
            let shown = |answer: &ViewRows| answer.clone().map_err(DeltaError::from);
            let (before, now) = (&shown(before)?, &shown(now)?);
            delta([&self.started, &after.started], [before, now])
        };
        match difference(&self.of_sessions, &after.of_sessions) {
            Ok(delta) => {
                collected.lost.extend(delta.doubtful);
                collected.waits = delta.waits;
                return;
            }
            Err(why) => collected.lost.push(format!("Session waits: {why}.")),
        }
        let (Some(before), Some(now)) = (&self.of_server, &after.of_server) else { return };
        match difference(before, now) {
            Ok(delta) => {
                let all = delta.waits.into_iter().map(without_benign);
                collected.waits = all.filter(|wait| wait.class != WaitClass::Idle).collect();
                let whose = "Showing server-wide waits instead (sys.dm_os_wait_stats), without \
                             benign ones; they include other sessions.";
                collected.lost.push(whose.to_owned());
            }
            Err(why) => collected.lost.push(format!("Server-wide waits: {why}.")),
        }
    }
}

/// Objects to views that show fewer sessions than the load has: a login without VIEW SERVER STATE
/// sees its own session, without an error.
fn hidden(used: &ViewRows, sessions: usize) -> Option<NotShown> {
    let visible = used.as_ref().ok()?.first()?.parse::<usize>("sessions")?;
    (visible < sessions).then(|| {
        let message = format!(
            "this login sees {visible} of {sessions} sessions of the load; GRANT VIEW SERVER STATE"
        );
        NotShown::new("sys.dm_exec_sessions", message)
    })
}

/// By how much a counter has risen.
fn rise(before: Option<Row<'_>>, now: Option<Row<'_>>, column: &str) -> Option<u64> {
    now?.parse::<u64>(column)?.checked_sub(before?.parse(column)?)
}

/// Reads and writes of data files and of the log; `None` when a counter fell.
fn operations(before: &Rows, now: &Rows) -> Option<Vec<Operation>> {
    let mut operations = Vec::new();
    for row in now.iter() {
        let kind = row.text("kind");
        let then = before.iter().find(|old| old.get("kind") == Some(&kind));
        let prefix = if kind == "LOG" { "LOG" } else { "DATA" };
        for (what, columns) in [
            ("READ", ["reads", "read_bytes", "read_ms"]),
            ("WRITE", ["writes", "written_bytes", "write_ms"]),
        ] {
            let [count, bytes, ms] = columns.map(|column| {
                let known = then.and_then(|then| then.parse::<u64>(column)).unwrap_or(0);
                row.parse::<u64>(column).map_or(Some(0), |now| now.checked_sub(known))
            });
            let (count, bytes, ms) = (count?, bytes?, ms?);
            let wall_s = ms as f64 / 1e3;
            operations.push(Operation { name: format!("{prefix}_{what}"), count, bytes, wall_s });
        }
    }
    operations.retain(|operation| operation.count > 0);
    Some(operations)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "figures that are exact in binary")]

    use super::*;
    use std::time::Duration;
    use testing::rows::rows;

    const WAITS: &str = "wait_type | waits | wait_ms | signal_ms\n";

    /// Takes a view away.
    type Lacks = fn(&mut Reading);

    fn reading(at: Instant, seconds: u64, of_sessions: ViewRows, cpu_ms: &str) -> Reading {
        let files = "kind | reads | read_bytes | read_ms | writes | written_bytes | write_ms\n";
        let files = format!(
            "{files}LOG | 0 | 0 | 0 | {} | {} | {}",
            seconds * 10,
            seconds << 20,
            seconds * 500
        );
        Reading {
            at: at + Duration::from_secs(seconds),
            in_flight_ns: seconds * 3_000_000_000,
            started: Ok(rows("started\nA")),
            of_sessions,
            of_server: Some(Ok(rows(&format!(
                "{WAITS}LAZYWRITER_SLEEP | {seconds} | {0} | 0\nPAGELATCH_UP | {seconds} | {0} | 0",
                seconds * 250
            )))),
            used: Ok(rows(&format!(
                "cpu_ms | page_reads | logical_reads\n{cpu_ms} | 1 | {}",
                seconds * 8 + 1
            ))),
            files: Ok(rows(&files)),
        }
    }

    fn seconds(waits: &[Wait], name: &str) -> f64 {
        waits.iter().filter(|wait| wait.wait_type == name).map(Wait::wait_s).sum()
    }

    /// 4 sessions for 8 s, of which they had requests in flight for 24 s: 12 s of waits for the
    /// log, 2 s on a processor.
    #[test]
    fn waits_processor_time_and_the_time_between_requests_are_those_of_the_sessions() {
        let now = Instant::now();
        let before =
            reading(now, 0, Ok(rows(&format!("{WAITS}SOS_WORK_DISPATCHER | 1 | 5 | 0"))), "1000");
        let waits =
            format!("{WAITS}SOS_WORK_DISPATCHER | 3 | 1505 | 0\nWRITELOG | 40 | 12000 | 2000");
        let collected = before.until(&reading(now, 8, Ok(rows(&waits)), "3000"), 4);
        assert_eq!(
            (seconds(&collected.waits, "WRITELOG"), seconds(&collected.waits, BETWEEN_REQUESTS)),
            (12.0, 8.0)
        );
        assert_eq!(
            seconds(&collected.waits, "SOS_WORK_DISPATCHER"),
            1.5,
            "waits of our own are never left out"
        );
        let time = collected.time.unwrap();
        assert_eq!((time.session_s, time.cpu_s), (32.0, 2.0));
        assert_eq!(collected.used.pages, Some(PageUse { hits: 64, reads: 0 }));
        let [log] = &collected.operations[..] else { panic!("{:?}", collected.operations) };
        assert_eq!((&*log.name, log.count, log.bytes, log.wall_s), ("LOG_WRITE", 80, 8 << 20, 4.0));
        assert!(collected.lost.is_empty(), "{:?}", collected.lost);
    }

    #[test]
    fn without_waits_of_sessions_those_of_the_server_are_told_as_such() {
        let (now, missing) = (Instant::now(), || {
            Err(NotShown::new("sys.dm_exec_session_wait_stats", "error 208: no"))
        });
        let collected = reading(now, 0, missing(), "-").until(&reading(now, 8, missing(), "-"), 4);
        assert_eq!(
            (
                seconds(&collected.waits, "PAGELATCH_UP"),
                seconds(&collected.waits, "LAZYWRITER_SLEEP")
            ),
            (2.0, 0.0)
        );
        assert!(
            collected.lost[0].contains("error 208")
                && collected.lost[1].contains("server-wide waits")
        );
        assert!(collected.lost[2].contains("does not count it"), "{:?}", collected.lost);
        assert_eq!(collected.time.unwrap().cpu_s, 0.0);
    }

    #[test]
    fn sessions_that_are_hidden_are_told_and_not_taken_for_idle_ones() {
        let used = |sessions: &str| Ok(rows(&format!("sessions | cpu_ms\n{sessions} | -")));
        let why = hidden(&used("0"), 4).unwrap().to_string();
        assert!(why.contains("0 of 4 sessions") && why.contains("GRANT VIEW SERVER"), "{why}");
        assert_eq!((hidden(&used("4"), 4), hidden(&used("0"), 0)), (None, None));
        assert_eq!(hidden(&Err(NotShown::new("view", "no")), 4), None, "it has its own reason");
    }

    #[test]
    fn each_view_that_is_absent_is_told() {
        let now = Instant::now();
        let whole = |seconds: u64| {
            let waits = rows(&format!("{WAITS}WRITELOG | {seconds} | {seconds} | 0"));
            Reading { of_server: None, ..reading(now, seconds, Ok(waits), "1") }
        };
        let views: [(Lacks, &[&str]); 4] = [
            (
                |reading| reading.started = Err(NotShown::new("view", "no")),
                &["Server restarts: view: no."],
            ),
            (
                |reading| {
                    (reading.of_sessions, reading.of_server) =
                        (Err(NotShown::new("view", "no")), Some(Err(NotShown::new("other", "no"))));
                },
                &["Session waits: view: no.", "Server-wide waits: other: no."],
            ),
            (
                |reading| reading.used = Err(NotShown::new("view", "no")),
                &["CPU time of sessions: view: no."],
            ),
            (
                |reading| reading.files = Err(NotShown::new("view", "no")),
                &["Reads and writes of database files: view: no."],
            ),
        ];
        assert!(whole(0).until(&whole(8), 4).lost.is_empty());
        for (lacks, lost) in views {
            let [mut before, mut after] = [whole(0), whole(8)];
            lacks(&mut before);
            lacks(&mut after);
            assert_eq!(before.until(&after, 4).lost, lost);
        }
    }

    #[test]
    fn a_session_that_was_replaced_claims_nothing() {
        let now = Instant::now();
        let of = |waits: u32| Ok(rows(&format!("{WAITS}WRITELOG | {waits} | 10 | 0")));
        let collected = reading(now, 0, of(9), "1").until(&reading(now, 8, of(3), "2"), 4);
        assert_eq!(seconds(&collected.waits, "WRITELOG"), 0.0);
        assert!(
            collected.lost[0].contains("were reset between the snapshots"),
            "{:?}",
            collected.lost
        );
    }
}

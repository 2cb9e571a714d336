//! Waits of single queries on real engines: a lock that another session holds is in the query that
//! needs the table and in no other, and the queries of a power run sum to all of it.

use decision_support::{DecisionSupport, QueryPart, REST, read_parts};
use engine::EngineError;
use experiment::{CommonSection, Configuration, Invalid, Value};
use observations::{Observations, WaitClass};
use probe::{Action, Disturbance, Disturbed, LoadClock, LoadSeen, ProbeError, TrialContext};
use testing::trials::{Session, TestEngine, installed, text};
use work::Statement;

/// Three that do not read CUSTOMER run first, for long enough that another session can connect and
/// lock it; Q13 does; Q1 does not.
const QUERIES: [&str; 5] = ["Q9", "Q17", "Q21", "Q13", "Q1"];
/// The time for which a session is kept waiting.
const HELD_NS: u64 = 1_000_000_000;
/// The interval at which it is looked for.
const LOOK_NS: u64 = 10_000_000;

/// Another session, which locks CUSTOMER when the load begins and keeps it until a query has waited
/// for [`HELD_NS`].
struct Locker {
    lock: &'static [&'static str],
    /// Counts the sessions that wait; empty: the engine cannot tell.
    waiting: &'static str,
    release: &'static str,
}

static POSTGRES: Locker = Locker {
    lock: &["BEGIN", "LOCK TABLE customer IN ACCESS EXCLUSIVE MODE"],
    waiting: "SELECT count(*) FROM pg_locks WHERE NOT granted",
    release: "COMMIT",
};
static MARIADB: Locker = Locker {
    lock: &["LOCK TABLES customer WRITE"],
    waiting: "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for \
              table%lock'",
    release: "UNLOCK TABLES",
};
/// It locks the whole file, once the query that reads it has ended.
static SQLITE: Locker = Locker { lock: &["BEGIN EXCLUSIVE"], waiting: "", release: "COMMIT" };

impl Disturbance for Locker {
    fn section(&self) -> CommonSection {
        CommonSection { name: "locker", doc: "A lock.", settings: &[] }
    }

    fn plan(&self, _: &Configuration, _: Disturbed) -> Vec<Invalid> {
        Vec::new()
    }

    fn prepare<'a>(
        &self,
        context: &'a TrialContext<'_>,
    ) -> Result<Option<Box<dyn Action + 'a>>, ProbeError> {
        let Self { lock, waiting, release } = *self;
        Ok(Some(Box::new(Locking { locker: Self { lock, waiting, release }, context })))
    }
}

struct Locking<'a> {
    locker: Locker,
    context: &'a TrialContext<'a>,
}

impl Locking<'_> {
    fn is_waited_for(&self, session: &mut Session) -> Result<bool, EngineError> {
        if self.locker.waiting.is_empty() {
            return Ok(true);
        }
        let count = session.run(Statement::Text(self.locker.waiting))?;
        Ok(count.last[0].as_deref() != Some("0"))
    }
}

impl Action for Locking<'_> {
    fn run(&mut self, load: &LoadClock<'_>) -> Result<(), ProbeError> {
        let mut session = Session::open(self.context)?;
        for sql in self.locker.lock {
            session.run(Statement::Text(sql))?;
        }
        while !self.is_waited_for(&mut session)? && load.wait_until_ns(load.now_ns() + LOOK_NS)? {}
        load.wait_until_ns(load.now_ns() + HELD_NS)?;
        session.run(Statement::Text(self.locker.release))?;
        Ok(())
    }

    fn finish(self: Box<Self>, _: &LoadSeen, _: &mut Observations) -> Result<(), ProbeError> {
        Ok(())
    }
}

/// The queries and the part behind them sum to all waits that were seen and to the session's time.
fn assert_sums(parts: &[QueryPart], observations: &Observations, name: &str) {
    let sum = |of: &dyn Fn(&QueryPart) -> f64| parts.iter().map(of).sum::<f64>();
    let sessions_s = sum(&|part| part.session_s);
    assert!(
        (sessions_s - observations.time.session_s).abs() < 1e-3,
        "{name}: {sessions_s} {observations:?}"
    );
    let (cpu_s, whole_s) = (sum(&|part| part.cpu_s), observations.time.cpu_s);
    assert!((cpu_s - whole_s).abs() < 0.01 * whole_s + 1e-3, "{name}: {cpu_s} {whole_s}");
    for wait in &observations.waits {
        let same = |query_part: &QueryPart| {
            let all = query_part.waits.iter().filter(|candidate| candidate.event == wait.wait_type);
            all.map(|candidate| candidate.wait_s).sum::<f64>()
        };
        let undivided = format!("query_time_undivided.{}", wait.wait_type);
        let all_s = sum(&same) + observations.fact(&undivided).unwrap_or(0.0);
        assert!((all_s - wait.wait_s()).abs() < 1e-3, "{name}: {all_s} {wait:?} {parts:?}");
    }
}

/// Runs the queries beside a session that locks; returns the parts of the queries.
fn run(
    engine: &TestEngine,
    locker: &'static Locker,
    more: (&'static str, Value),
) -> Vec<QueryPart> {
    let settings = [("workload.queries", Value::List(QUERIES.map(text).to_vec())), more];
    let mut found = Vec::new();
    let removed = engine.measured_beside(&DecisionSupport, &settings, &[locker], |_, result| {
        let observations = result.unwrap_or_else(|error| panic!("{}: {error}", engine.name));
        found = read_parts(&observations);
        let names: Vec<&str> = found.iter().map(|part| part.query.as_str()).collect();
        assert_eq!(names, ["Q9", "Q17", "Q21", "Q13", "Q1", REST], "{}", engine.name);
        assert_sums(&found, &observations, &engine.name);
    });
    removed.unwrap();
    found
}

/// Power runs until one waits for the lock.
const TRIES: usize = 5;
const NO_WARMUP: (&str, Value) = ("workload.warmup", Value::Float(0.0));

#[test]
fn a_lock_of_another_session_is_in_the_query_that_waited_for_it_and_in_no_other() {
    for engine in installed() {
        let locker = match engine.engine.name {
            "postgres" => &POSTGRES,
            "mariadb" => &MARIADB,
            _ => continue,
        };
        // On a busy machine the query may hold the table before the lock is there, and its own
        // workers then wait for moments.
        let is_waited_for = |query_parts: &Vec<QueryPart>| {
            let waits_s =
                query_parts.iter().filter_map(|query_part| query_part.of_class(WaitClass::Lock));
            waits_s.sum::<f64>() > 0.5 * HELD_NS as f64 / 1e9
        };
        let mut runs = (0..TRIES).map(|_| run(&engine, locker, NO_WARMUP));
        let parts = runs.find(is_waited_for).unwrap_or_else(|| panic!("{}", engine.name));
        for part in &parts {
            let lock_s = part.of_class(WaitClass::Lock);
            if part.query == "Q13" {
                // Its own work takes a part of its time.
                let held_s = HELD_NS as f64 / 1e9;
                assert!(
                    lock_s.is_some_and(|lock_s| lock_s > 0.8 * held_s),
                    "{}: {part:?}",
                    engine.name
                );
            } else {
                assert_eq!(lock_s, None, "{}: {part:?}", engine.name);
            }
        }
    }
}

/// SQLite locks files: the lock is in the query that began when it was held.
#[test]
fn a_locked_file_of_sqlite_is_in_one_query() {
    let engine = installed().remove(0);
    let parts = run(&engine, &SQLITE, ("target.settings.journal_mode", text("delete")));
    let locks_s = parts.iter().map(|part| part.of_class(WaitClass::Lock).unwrap_or(0.0));
    let mut locks_s: Vec<f64> = locks_s.collect();
    locks_s.sort_by(f64::total_cmp);
    let [.., second_s, first_s] = locks_s[..] else { panic!("{parts:?}") };
    assert!(first_s > 0.5 * HELD_NS as f64 / 1e9 && second_s < 0.1 * first_s, "{parts:?}");
}

/// Each run of a query is a part, and what is behind the last; streams at the same time share their
/// waits.
#[test]
fn every_engine_divides_the_waits_of_one_stream_by_query() {
    for engine in installed() {
        let streams: &[i64] = if engine.engine.name == "sqlite" { &[1, 2] } else { &[1] };
        for streams in streams {
            let settings = [
                ("workload.queries", Value::List(vec![text("Q6"), text("Q1")])),
                ("workload.streams", Value::Integer(*streams)),
                ("workload.rounds", Value::Integer(2)),
            ];
            let removed = engine.measured(&DecisionSupport, &settings, |_, result| {
                let observations = result.unwrap();
                let parts = read_parts(&observations);
                let runs: Vec<u64> = parts.iter().map(|part| part.runs as u64).collect();
                let expected: &[u64] = if *streams == 1 { &[2, 2, 1] } else { &[] };
                assert_eq!(runs, expected, "{} {streams}", engine.name);
                if *streams == 1 {
                    assert_sums(&parts, &observations, &engine.name);
                }
            });
            removed.unwrap();
        }
    }
}

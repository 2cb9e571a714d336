//! The process list as a source of samples, and the threads of the server's process.

use super::reading::sessions;
use super::types::{self, IDLE, ROW_LOCK};
use crate::client::{Client, Config};
use engine::{ObserveOptions, Row, Rows, ServerError, while_doing};
use observe::ProcessTimes;
use servers::activity::{CONNECTION, Idle, Process, Roster, Sample, Source};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use work::sql::Syntax;
use work::sql::statement::{self, TEXT_MAX};

/// The time that the server caches its answer about transactions
/// (`storage/innobase/trx/trx0i_s.cc`).
const TRANSACTIONS_PERIOD: Duration = Duration::from_millis(150);

/// Kind of the threads of the server that have no name.
const SERVER_THREAD: &str = "server thread";

/// A connection on which a server is sampled.
#[derive(Debug)]
pub(crate) struct MariaSource {
    client: Client,
    options: ObserveOptions,
    roster: Roster,
    /// Process of the server, where it is one of this machine.
    pid: Option<i32>,
    /// Thread of each session in the system; of the server's own threads, with a number below 0.
    threads: HashMap<i32, i32>,
    has_performance_schema: bool,
    /// Sessions that waited for a row lock when that was last asked; `None` where we may not ask.
    row_locks: Option<HashSet<i32>>,
    row_locks_asked: Option<Instant>,
}

impl MariaSource {
    /// A source on a connection; our connections have these numbers.
    pub fn new(
        mut client: Client,
        options: ObserveOptions,
        excluded: &[u32],
        pid: Option<i32>,
    ) -> Result<Self, ServerError> {
        let is_on = client
            .cell("SELECT @@performance_schema")
            .map_err(while_doing("querying the server"))?;
        let mut roster = Roster::default();
        roster.observers.extend(excluded.iter().map(|id| *id as i32));
        Ok(Self {
            has_performance_schema: is_on.as_deref() == Some("1"),
            client,
            options,
            roster,
            pid,
            threads: HashMap::new(),
            row_locks: Some(HashSet::new()),
            row_locks_asked: None,
        })
    }

    fn rows(&mut self, doing: &str, sql: &str) -> Result<Rows, ServerError> {
        self.client.query(sql).map_err(while_doing(doing))
    }

    /// Asks who waits for a row lock, which the process list does not show.
    fn ask_row_locks(&mut self) {
        let is_fresh =
            self.row_locks_asked.is_some_and(|since| since.elapsed() < TRANSACTIONS_PERIOD);
        if is_fresh || self.row_locks.is_none() {
            return;
        }
        let sql = "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state \
                   = 'LOCK WAIT'";
        let waiting = self.client.query(sql).ok();
        self.row_locks = waiting.map(|rows| rows.iter().filter_map(|row| row.parse(0)).collect());
        self.row_locks_asked = Some(Instant::now());
    }

    fn sample_of(&mut self, row: Row<'_>) -> Option<Sample> {
        let pid = row.parse(0)?;
        let [command, state, info] = [4, 6, 7].map(|column| row.get(column).unwrap_or_default());
        if NOT_BUSY.contains(&command) || self.roster.observers.contains(&pid) {
            return None;
        }
        let end = info.char_indices().nth(TEXT_MAX).map_or(info.len(), |(end, _)| end);
        let info = &info[..end];
        let query_id = (!info.is_empty()).then(|| {
            let text = statement::shown(info, Syntax::MariaDb, false);
            let number = statement::number(&text);
            if self.options.statements {
                let kept = if self.options.literals {
                    statement::shown(info, Syntax::MariaDb, true)
                } else {
                    text
                };
                self.roster.keep(number, &kept);
            }
            number
        });
        let is_locked = self.row_locks.as_ref().is_some_and(|waiting| waiting.contains(&pid));
        let wait = types::of_state(state).map(|_| state).or(is_locked.then_some(ROW_LOCK));
        let (state, wait) = ("active".to_owned(), wait.map(str::to_owned));
        Some(Sample { pid, state, wait, query_id, idle: false, runnable: None })
    }

    /// The threads of the server that work for no session, by what the Performance Schema calls
    /// them.
    fn list_threads(&mut self) -> Result<(), ServerError> {
        let Some(pid) = self.pid else { return Ok(()) };
        let mut names = HashMap::new();
        if self.has_performance_schema {
            let sql = "SELECT thread_os_id, substring_index(name, '/', -1) FROM \
                       performance_schema.threads WHERE type = 'BACKGROUND' AND thread_os_id IS \
                       NOT NULL";
            let rows = self.rows("listing the server's threads", sql)?;
            names.extend(rows.iter().filter_map(|row| Some((row.parse::<i32>(0)?, row.text(1)))));
        }
        let sessions: HashSet<i32> = self.threads.values().copied().collect();
        for thread in observe::processes::threads(pid) {
            if !sessions.contains(&thread) {
                let kind = names.get(&thread).map_or(SERVER_THREAD, String::as_str).to_owned();
                self.roster.present.insert(-thread, Process { kind, ..Process::default() });
                self.threads.insert(-thread, thread);
            }
        }
        Ok(())
    }
}

impl Source for MariaSource {
    fn name(&self) -> &'static str {
        "the process list"
    }

    fn sample(&mut self) -> Result<Vec<Sample>, ServerError> {
        self.ask_row_locks();
        // For the table of the same name the server would make a temporary one on disk each time,
        // because texts are long.
        let rows = self.rows("sampling the process list", "SHOW FULL PROCESSLIST")?;
        Ok(rows.iter().filter_map(|row| self.sample_of(row)).collect())
    }

    fn list(&mut self) -> Result<(), ServerError> {
        let program = if self.has_performance_schema {
            "(SELECT max(attr_value) FROM performance_schema.session_connect_attrs AS attributes \
             WHERE attributes.processlist_id = sessions.id AND attr_name = 'program_name')"
        } else {
            "NULL"
        };
        let sql = format!(
            "SELECT id, command, user, db, tid, {program} FROM {}",
            sessions(&mut self.client)
        );
        let rows = self.rows("listing the server's sessions", &sql)?;
        self.roster.present.clear();
        self.threads.clear();
        for row in rows.iter() {
            let Some(id) = row.parse::<i32>(0) else { continue };
            let [_, command, user, database, thread, application] = row.texts();
            if let Some(thread) = thread.parse::<i32>().ok().filter(|thread| *thread > 0) {
                self.threads.insert(id, thread);
            }
            if self.roster.observers.contains(&id) {
                continue;
            }
            let is_client = command == "Sleep" || !NOT_BUSY.contains(&command.as_str());
            let kind = if is_client { CONNECTION.to_owned() } else { command.to_lowercase() };
            self.roster
                .present
                .insert(id, Process { kind, application, user, database, hidden: false });
        }
        self.list_threads()
    }

    fn roster(&self) -> &Roster {
        &self.roster
    }

    fn times(&self, session: i32) -> Option<ProcessTimes> {
        ProcessTimes::of_thread(self.pid?, *self.threads.get(&session)?)
    }

    fn is_runnable(&self, session: i32) -> Option<bool> {
        observe::processes::is_runnable(self.pid?, *self.threads.get(&session)?)
    }

    fn is_local(&self) -> bool {
        self.pid.is_some()
    }

    fn idle(&self) -> Idle {
        Idle { state: "idle", client: IDLE, background: IDLE }
    }
}

/// Commands of sessions that have nothing to do, or no client.
const NOT_BUSY: [&str; 7] =
    ["Sleep", "Daemon", "Binlog Dump", "Binlog Dump GTID", "Slave_IO", "Slave_SQL", "Slave_worker"];

/// Process of a server on this machine: that of the thread that serves this session. `None` when
/// the server is elsewhere, or does not give each session a thread.
pub(crate) fn local_process(client: &mut Client, config: &Config) -> Option<i32> {
    let is_apart = client.cell("SELECT @@thread_handling").ok()??.starts_with("one-thread");
    let sql = format!("SELECT tid FROM {} WHERE id = connection_id()", sessions(client));
    let thread: i32 = client.cell(&sql).ok()??.parse().ok()?;
    let pid: i32 = observe::processes::value(thread, "status", "Tgid")?.parse().ok()?;
    let title = observe::process_title(pid)?;
    let program = title.split(' ').next()?.rsplit('/').next()?;
    (is_apart && config.is_local() && ["mariadbd", "mysqld"].contains(&program)).then_some(pid)
}

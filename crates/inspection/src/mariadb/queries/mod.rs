//! Statements by the digests of the Performance Schema, indexes by `information_schema` and what
//! was read through them, plans by EXPLAIN. MySQL has the same views.
//!
//! <https://mariadb.com/kb/en/performance-schema-events_statements_summary_by_digest-table/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html>

mod counters;
mod explain;
mod health;
mod indexes;
mod snapshot;
mod storage;

use crate::OpenedReader;
use crate::query_reader::{QueryLimits, SampleCounts};
use engine::{AdminOptions, AdminSession, Row, Server, ServerError, View, while_doing};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;
use work::Stop;

/// The queries about statements.
const FILE: &str = include_str!("statements.sql");

/// Connects to a server.
pub(super) fn open(server: &Rc<dyn Server>, limits: QueryLimits, stop: &Stop) -> OpenedReader {
    Ok(Box::new(Reader::start(server, limits, stop)?))
}

/// Asks a server.
struct Reader {
    session: Box<dyn AdminSession>,
    limits: QueryLimits,
    stop: Stop,
    /// Texts with values that sessions were seen to run, by what statements with other values have
    /// in common.
    running: HashMap<String, String>,
    /// The samples by the server's statement number.
    sampled: HashMap<String, String>,
    /// The states of sessions, by what statements with other values have in common.
    waits: SampleCounts,
    /// The server's statement numbers by the same.
    digests: HashMap<String, String>,
}

impl Reader {
    fn start(
        server: &Rc<dyn Server>,
        limits: QueryLimits,
        stop: &Stop,
    ) -> Result<Self, ServerError> {
        // Counters are still wanted after the user asks to stop; the server limits its answers.
        let options = AdminOptions { grace: Duration::MAX, ..AdminOptions::default() };
        let mut session = server.session(&options, stop)?;
        session.limit(Duration::from_secs(30)).map_err(while_doing("limiting statement times"))?;
        // MySQL's newer JSON has no plan for changes of one table
        // (<https://dev.mysql.com/doc/refman/9.4/en/explain.html>). Servers that do not know the
        // variable have the older one alone.
        if !is_mariadb(&*session) {
            let _ = session.run("SET SESSION explain_json_format_version = 1");
        }
        Ok(Self {
            session,
            limits,
            stop: stop.clone(),
            running: HashMap::new(),
            sampled: HashMap::new(),
            waits: SampleCounts::default(),
            digests: HashMap::new(),
        })
    }

    /// The form of a query for MariaDB, or that for MySQL.
    fn form(&self, query: &View) -> String {
        let of_mysql = query.older().filter(|_| !is_mariadb(&*self.session));
        of_mysql.unwrap_or_else(|| query.sql())
    }

    /// Rows with `N` cells, NULL as an empty text.
    fn rows<const N: usize>(&mut self, sql: &str) -> Result<Vec<[String; N]>, ServerError> {
        Ok(self.session.query(sql)?.iter().map(Row::texts).collect())
    }
}

/// Returns whether the server is MariaDB, not MySQL.
fn is_mariadb(session: &dyn AdminSession) -> bool {
    session.server().product == "MariaDB"
}

//! Statements by the digests of the Performance Schema, indexes by `information_schema` and what
//! was read through them, plans by EXPLAIN. MySQL has the same views.
//!
//! <https://mariadb.com/kb/en/performance-schema-events_statements_summary_by_digest-table/>,
//! <https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html>

mod counters;
mod explain;
mod health;
mod indexes;
mod storage;

use super::cells::cells;
use super::explain::one_format;
use super::observing::{connect_to_observe, product, while_doing};
use crate::client::{Client, Config, Error};
use crate::plan_reader::ENGINE;
use crate::statement_rules::RULES;
use engine::ServerError;
use engine::query_reader::{
    MARK, QueryLimits, QueryReader, Sampled, StatementSamples, StorageDetail,
};
use observations::{Unread, Wait};
use statements::{Advice, Snapshot, Span, fingerprint};
use std::collections::HashMap;
use work::Stop;

/// Facts hidden by `performance_schema = OFF`, and the remedy.
const OFF: &str =
    "the Performance Schema is off: set performance_schema = ON and restart the server";

/// Asks a server.
pub(super) struct Reader {
    client: Client,
    limits: QueryLimits,
    stop: Stop,
    /// Texts with values that sessions were seen to run, by what statements with other values have
    /// in common.
    running: HashMap<String, String>,
    /// The samples by the server's statement number.
    sampled: HashMap<String, String>,
    /// The states of sessions, by what statements with other values have in common.
    waits: Sampled,
    /// The server's statement numbers by the same.
    digests: HashMap<String, String>,
}

impl Reader {
    pub fn start(config: &Config, limits: QueryLimits, stop: &Stop) -> Result<Self, ServerError> {
        let mut client = connect_to_observe(config, stop)?;
        // Counters are still wanted after the user asks to stop; the server limits its answers.
        client.set_stop(Stop::when(|| false));
        // MariaDB takes seconds; MySQL takes milliseconds and limits only SELECT.
        let limit = if client.is_mariadb() {
            "max_statement_time = 30"
        } else {
            "max_execution_time = 30000"
        };
        client
            .run(&format!("SET SESSION {limit}"))
            .map_err(while_doing("limiting statement times"))?;
        one_format(&mut client);
        Ok(Self {
            client,
            limits,
            stop: stop.clone(),
            running: HashMap::new(),
            sampled: HashMap::new(),
            waits: Sampled::default(),
            digests: HashMap::new(),
        })
    }

    /// Rows with `N` cells, NULL as an empty text.
    fn rows<const N: usize>(&mut self, sql: &str) -> Result<Vec<[String; N]>, Error> {
        Ok(self.client.query(sql)?.rows.into_iter().map(cells).collect())
    }
}

impl QueryReader for Reader {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        let sql = format!(
            "SELECT round(unix_timestamp(now(3)) * 1000), @@innodb_page_size, \
             @@performance_schema AS {MARK}"
        );
        let rows = self.rows(&sql).map_err(while_doing("reading the server's time"))?;
        let [now, page, instruments] = rows.into_iter().next().unwrap_or_default();
        let server = format!("{} {}", product(&self.client), self.client.version());
        let span = Span { to_ms: now.parse::<f64>().unwrap_or(0.0) as i64, ..Span::default() };
        let mut snapshot = Snapshot::new(ENGINE, server, span, page.parse().unwrap_or(16_384));
        let is_on = instruments == "1";
        if !is_on {
            let what = "statements and index usage".to_owned();
            snapshot.unread.push(Unread { what, why: OFF.into() });
        } else if let Err(error) = self.statements(&mut snapshot) {
            if error.is_silence() {
                return Err(while_doing("reading the statements")(error));
            }
            snapshot.unread.push(Unread { what: "statements".into(), why: error.to_string() });
        }
        if !self.limits.tables {
            return Ok(snapshot);
        }
        if let Err(error) = self.tables(&mut snapshot, is_on) {
            if error.is_silence() {
                return Err(while_doing("reading the tables")(error));
            }
            snapshot
                .unread
                .push(Unread { what: "tables and indexes".into(), why: error.to_string() });
        }
        if is_on && self.limits.storage > StorageDetail::Nothing {
            match self.files() {
                Ok(files) => {
                    if files.len() == storage::FILES_MAX {
                        let most = format!("Files: the {} with most time.", storage::FILES_MAX);
                        snapshot.notes.push(most);
                    }
                    snapshot.files = files;
                }
                Err(error) => {
                    snapshot.unread.push(Unread { what: "files".into(), why: error.to_string() });
                }
            }
        }
        Ok(snapshot)
    }

    fn waits(&mut self) -> Result<Option<Vec<Wait>>, ServerError> {
        let waits = self.waits_of_clients().map_err(while_doing("reading the waits"))?;
        // It counts none while the Performance Schema or its instruments are off.
        Ok(Some(waits).filter(|waits| !waits.is_empty()))
    }

    fn look(&mut self) -> Result<(), ServerError> {
        self.look_at_sessions().map_err(while_doing("reading running statements"))
    }

    fn samples(&mut self) -> Vec<StatementSamples> {
        let all = self.waits.take().into_iter();
        // The server numbers a statement when it has ended.
        let known = all.filter_map(|own| {
            let digest = self.digests.get(&own.digest)?.clone();
            Some(StatementSamples { digest, ..own })
        });
        known.collect()
    }

    fn explain(&mut self, snapshot: &mut Snapshot) {
        let each = snapshot.statements.iter();
        self.digests =
            each.map(|one| (fingerprint(&one.text, &RULES), one.digest.clone())).collect();
        explain::all(self, snapshot);
    }

    fn health(&mut self, snapshot: &mut Snapshot) -> Vec<Advice> {
        health::health(self, snapshot)
    }
}
